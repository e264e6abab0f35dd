internal import Platform
internal import Preferences
internal import PropertyLists

/// The keys that `apply` has set and still manages, by the file of each domain.
///
/// The record is itself a settings file, and is changed in the same transaction as the domains.
///
///     { "/home/ada/.config/prefs/com.example.app.plist" = { domain = "com.example.app"; keys = (size, theme); }; }
struct AppliedRecord: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let domain: DomainName
        var keys: Set<EntryPath.Component>
    }

    /// The entries by the path of the domain's file, which distinguishes hosts and stores.
    private(set) var entries: [String: Entry] = [:]

    init(_ values: PropertyList.Dictionary) {
        for entry in values {
            guard let name = entry.value["domain"]?.stringValue, let domain = try? DomainName(name),
                let keys = entry.value["keys"]?.arrayValue
            else { continue }
            entries[entry.key] = Entry(
                domain: domain, keys: Set(keys.compactMap { $0.stringValue.map { EntryPath.Component($0) } }))
        }
    }

    subscript(file: DomainFile) -> Entry? {
        get { entries[file.path.description] }
        set { entries[file.path.description] = newValue.flatMap { $0.keys.isEmpty ? nil : $0 } }
    }

    var values: PropertyList.Dictionary {
        PropertyList.Dictionary(
            entries.sorted { $0.key.isBefore($1.key) }.map { path, entry in
                let keys = entry.keys.map(\.text).sorted { $0.isBefore($1) }
                return (
                    path, ["domain": .string(entry.domain.text), "keys": .array(keys.map { .string($0) })]
                )
            })
    }
}
