internal import Preferences
internal import PropertyLists

/// The output of `watch`.
///
///     user com.example.app theme: "light" -> "dark"
///     site com.example.app :window:width: (none) -> 80
struct WatchReport {
    let access: StoreAccess
    let invocation: Invocation
    let key: KeyArgument?
    private let ignored: [Glob]

    init(_ access: StoreAccess, _ invocation: Invocation) throws {
        self.access = access
        self.invocation = invocation
        key = try invocation.key
        ignored = invocation.all(.ignore).map { Glob($0) }
    }

    /// Returns the lines for a change; empty if the command does not request it.
    func text(of change: WatchedChange) throws -> String {
        guard !isIgnored(change.domain.word) else { return "" }
        let (old, new) = asked(change.old.entries, change.new.entries)
        let masking = access.masking(change.domain)
        guard invocation.format != .commands else {
            let command = CommandSpelling(change.domain.word, in: change.domain.layer, invocation)
            return try CommandLines(from: old, to: new, command, masking: masking).text()
        }
        return Differences(from: old, to: new).entries.map { entry in
            let layer = change.layer(of: entry.path.components.first?.text ?? "")
            return invocation.format == .json
                ? json(entry, change.domain, layer, masking) : line(entry, change.domain, layer, masking)
        }.joined()
    }

    private func isIgnored(_ name: String) -> Bool { ignored.contains { $0.matches(name) } }

    // MARK: Selection

    /// Returns both states, reduced to the keys that the command requests.
    private func asked(
        _ old: PropertyList.Dictionary, _ new: PropertyList.Dictionary
    ) -> (PropertyList.Dictionary, PropertyList.Dictionary) {
        guard let key else {
            func seen(_ values: PropertyList.Dictionary) -> PropertyList.Dictionary {
                guard !ignored.isEmpty else { return values }
                return PropertyList.Dictionary(values.filter { !isIgnored($0.key) }.map { ($0.key, $0.value) })
            }
            return (seen(old), seen(new))
        }
        guard !isIgnored(key.key) else { return ([:], [:]) }
        func only(_ value: PropertyList?) -> PropertyList.Dictionary {
            value.map { [key.key: $0] } ?? [:]
        }
        let (former, later) = (only(old[key.key]), only(new[key.key]))
        let (entry, newEntry) = (PropertyList.dictionary(former)[key.path], PropertyList.dictionary(later)[key.path])
        if entry == newEntry { return ([:], [:]) }
        var root = PropertyList.dictionary(former)
        do throws(EntryPath.Failure) {
            if let newEntry { try root.set(newEntry, at: key.path) } else { try root.remove(at: key.path) }
        } catch {
            // A container on the path has been replaced, so the whole key is reported.
            return (former, later)
        }
        return (former, root.dictionaryValue ?? later)
    }

    // MARK: Text

    private func line(
        _ entry: Differences.Entry, _ domain: AddressedDomain, _ layer: Layer, _ masking: Masking
    ) -> String {
        func shown(_ value: PropertyList?) -> String {
            value.map { masking.text(of: $0, at: entry.path) } ?? "(none)"
        }
        let place = "\(layer) \(domain.word.onOneLine) \(entry.label)"
        return "\(place): \(shown(entry.change.old)) -> \(shown(entry.change.new))\n"
    }

    private func json(
        _ entry: Differences.Entry, _ domain: AddressedDomain, _ layer: Layer, _ masking: Masking
    ) -> String {
        let place: PropertyList.Dictionary = ["domain": .string(domain.word), "layer": .string(layer.name)]
        let line = entry.values(masking, in: place)
        return LosslessJSON.text(of: .dictionary(line)).map { $0 + "\n" } ?? ""
    }
}
