package import PropertyLists

extension Differences {
    /// Returns a line for each entry: `+` for added, `-` for removed, both for changed.
    ///
    ///     - theme: "light"
    ///     + theme: "dark"
    ///     + :windows:1: {"x":10}
    package func text(masking: Masking = .none) -> String {
        entries.map { entry in
            let key = entry.label
            let old = entry.change.old.map { "- \(key): \(masking.text(of: $0, at: entry.path))\n" } ?? ""
            let new = entry.change.new.map { "+ \(key): \(masking.text(of: $0, at: entry.path))\n" } ?? ""
            return old + new
        }.joined()
    }

    /// Returns an array with a dictionary for each entry: `path`, `change`, and `old` and `new` if present.
    package func json(masking: Masking = .none) -> PropertyList {
        .array(entries.map { .dictionary($0.values(masking)) })
    }
}

extension Differences.Entry {
    /// The key or path, on one line.
    package var label: String { ((try? KeyArgument(path))?.spelling ?? path.description).onOneLine }

    /// Returns the entry as a dictionary, added to the location in `place`.
    func values(_ masking: Masking, in place: PropertyList.Dictionary = [:]) -> PropertyList.Dictionary {
        var values = place
        values["path"] = .string(path.description)
        values["change"] = .string(change.name)
        values["old"] = change.old.map { masking.hidden($0, at: path) }
        values["new"] = change.new.map { masking.hidden($0, at: path) }
        return values
    }
}

extension Differences.Change {
    package var name: String {
        switch self {
        case .added: "added"
        case .removed: "removed"
        case .changed: "changed"
        }
    }
}

extension Masking {
    /// Returns the value with everything sensitive masked.
    func hidden(_ value: PropertyList, at path: EntryPath) -> PropertyList {
        hides(path) ? .string(Self.dots) : masked(value, at: path)
    }

    /// Returns the value as lossless JSON on one line, which distinguishes 1, "1" and true.
    func text(of value: PropertyList, at path: EntryPath) -> String {
        if hides(path) { return Self.dots }
        return LosslessJSON.text(of: masked(value, at: path)) ?? "(\(value.kind.rawValue))"
    }
}
