internal import Platform
internal import Preferences
internal import PropertyLists

/// The keys that `apply` has set and still manages, by the file of each domain and by set.
///
/// The record is itself a settings file, and is changed in the same transaction as the domains. A key is part of one
/// set. `keys` has those of the set `default`, as in records of earlier versions.
///
///     {
///         "/home/ada/.config/prefs/com.example.app.plist" = {
///             domain = "com.example.app"; keys = (size); sets = { "/home/ada/settings" = (theme); };
///         };
///     }
struct AppliedSets: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        let domain: DomainName
        var sets: [Name: Set<EntryPath.Component>]
    }

    /// The entries by the path of the domain's file, which distinguishes hosts and stores.
    private var entries: [Name: Entry] = [:]

    private static let ofSeveralFiles: Name = "default"

    init(_ values: PropertyList.Dictionary) {
        for entry in values {
            guard let name = entry.value["domain"]?.stringValue, let domain = try? DomainName(name) else { continue }
            var sets: [Name: Set<EntryPath.Component>] = [:]
            for (set, keys) in entry.value["sets"]?.dictionaryValue?.map({ ($0.name, $0.value) }) ?? [] {
                sets[Self.normal(set.text), default: []].formUnion(Self.keys(in: keys))
            }
            sets[Self.ofSeveralFiles, default: []].formUnion(Self.keys(in: entry.value["keys"]))
            entries[entry.name] = Entry(domain: domain, sets: sets)
        }
    }

    private static func keys(in value: PropertyList?) -> Set<EntryPath.Component> {
        Set((value?.arrayValue ?? []).compactMap { $0.stringValue.map { EntryPath.Component($0) } })
    }

    var values: PropertyList.Dictionary {
        PropertyList.Dictionary(
            entries.sorted { $0.key < $1.key }.map { path, entry in
                let lists = entry.sets.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { set, keys in
                    (set, PropertyList.array(keys.map(\.text).sorted { $0.isBefore($1) }.map { .string($0) }))
                }
                let named = lists.filter { $0.0 != Self.ofSeveralFiles }.map { ($0.0.text, $0.1) }
                var values: PropertyList.Dictionary = ["domain": .string(entry.domain.text)]
                values["keys"] = lists.first { $0.0 == Self.ofSeveralFiles }?.1 ?? .array([])
                if !named.isEmpty { values["sets"] = .dictionary(PropertyList.Dictionary(named)) }
                return (path.text, .dictionary(values))
            })
    }

    // MARK: Sets

    /// Returns the name of the set of a call: the given one, or the path of its single file or folder.
    static func name(_ word: String?, of arguments: [String], _ context: CommandContext) throws -> Name {
        if let word {
            guard !word.isEmpty else { throw CommandFailure(.usage, "apply: --set requires a name") }
            return Name(word)
        }
        guard arguments.count == 1, try !context.isStream(arguments[0]) else { return ofSeveralFiles }
        return normal(try context.absolutePath(arguments[0]).description)
    }

    /// Returns the name without slashes at the end, which earlier versions kept: a folder has one name.
    private static func normal(_ name: String) -> Name {
        var name = name
        while name.utf8.count > 1, name.utf8.first == UInt8(ascii: "/"), name.utf8.last == UInt8(ascii: "/") {
            name.removeLast()
        }
        return Name(name)
    }

    func keys(of set: Name, in file: DomainFile) -> Set<EntryPath.Component> {
        entries[Name(file.path.description)]?.sets[set] ?? []
    }

    /// Returns the set that has a key, or nil if none has it.
    func owner(of key: EntryPath.Component, in file: DomainFile) -> Name? {
        entries[Name(file.path.description)]?.sets.first { $0.value.contains(key) }?.key
    }

    /// Returns the domains in which a set has keys, in some layers. Those of other stores are left out, and those of
    /// other hosts than the one that the command names.
    func domains(of set: Name, in layers: [Layer], _ access: StoreAccess) throws -> Set<Declaration.Target> {
        let ofSet = try entries(in: layers, access).filter { !($0.entry.sets[set] ?? []).isEmpty }
        return Set(
            ofSet.map { Declaration.Target(name: $0.entry.domain, layer: $0.domain.layer, host: $0.domain.host) })
    }

    private func entries(
        in layers: [Layer], _ access: StoreAccess
    ) throws -> [(domain: AddressedDomain, entry: Entry)] {
        let hosts: [String?] = try access.host.map { [$0] } ?? access.hosts().map(\.host)
        return try entries.compactMap { path, entry in
            for layer in layers {
                for host in layer == .userHost ? hosts : [nil] {
                    let target = Declaration.Target(name: entry.domain, layer: layer, host: host)
                    do {
                        let domain = try target.domain(in: access)
                        if Name(domain.file.path.description) == path { return (domain, entry) }
                    } catch let failure as CommandFailure where failure.status == .usage {
                        // The domain has become a program's file, which does not have this layer.
                    }
                }
            }
            return nil
        }
    }

    /// Records what a call set and deleted in a domain.
    ///
    /// - Parameter takes: Whether keys of other sets become part of this one.
    mutating func change(
        _ domain: DomainName, _ file: DomainFile, set: Name, removing: Set<EntryPath.Component>,
        adding: [EntryPath.Component], takes: Bool
    ) {
        let path = Name(file.path.description)
        var entry = entries[path] ?? Entry(domain: domain, sets: [:])
        var keys = (entry.sets[set] ?? []).subtracting(removing)
        for key in adding {
            if let owner = owner(of: key, in: file), owner != set {
                guard takes else { continue }
                entry.sets[owner]?.remove(key)
            }
            keys.insert(key)
        }
        entry.sets[set] = keys
        entries[path] = entry.sets.values.contains { !$0.isEmpty } ? entry : nil
    }

    // MARK: Reading

    /// Reads the record of a store.
    static func read(_ store: StoreOfLayers, _ access: StoreAccess) throws -> AppliedSets {
        let contents = try store.folder.recordOfApplied.contents(on: access.system)
        access.warn(contents.recovery)
        return AppliedSets(contents.values)
    }

    /// Prints the sets and their keys.
    static func list(in stores: [StoreOfLayers], _ access: StoreAccess) throws {
        let entries = try stores.flatMap { try read($0, access).entries(in: $0.layers, access) }
            .sorted { ($0.entry.domain, $0.domain.layer) < ($1.entry.domain, $1.domain.layer) }
        for set in Set(entries.flatMap(\.entry.sets.keys)).sorted() {
            let lines = entries.flatMap { domain, entry in
                (entry.sets[set] ?? []).map(\.text).sorted { $0.isBefore($1) }
                    .map { "\(domain.labelOfLayer.onOneLine) \($0.onOneLine)" }
            }
            guard !lines.isEmpty else { continue }
            try access.context.say(set.text.onOneLine + ":")
            for line in lines { try access.context.say(line) }
        }
    }
}
