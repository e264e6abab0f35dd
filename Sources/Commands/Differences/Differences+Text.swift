package import PropertyLists

extension Differences {
    /// A line for each entry: `+` for what came, `-` for what went, and both for what changed.
    ///
    ///     - theme: "light"
    ///     + theme: "dark"
    ///     + :windows:1: {"x":10}
    package func text(masking: Masking = .none) -> String {
        entries.map { entry in
            let key = entry.label
            let old = entry.change.old.map { "- \(key): \(Self.shown($0, entry.path, masking))\n" } ?? ""
            let new = entry.change.new.map { "+ \(key): \(Self.shown($0, entry.path, masking))\n" } ?? ""
            return old + new
        }.joined()
    }

    /// An array with a dictionary for each entry: `path`, `change`, and `old` and `new` as far as there are such.
    package func json(masking: Masking = .none) -> PropertyList {
        .array(
            entries.map { entry in
                var line: PropertyList.Dictionary = [
                    "path": .string(entry.path.description), "change": .string(entry.change.name),
                ]
                line["old"] = entry.change.old.map { masking.hidden($0, at: entry.path) }
                line["new"] = entry.change.new.map { masking.hidden($0, at: entry.path) }
                return .dictionary(line)
            })
    }

    /// The value as lossless JSON on one line, which tells 1 from "1" and true.
    private static func shown(_ value: PropertyList, _ path: EntryPath, _ masking: Masking) -> String {
        let hidden = masking.hidden(value, at: path)
        if masking.hides(path) { return Masking.dots }
        return LosslessJSON.text(of: hidden) ?? "(\(value.kind.rawValue))"
    }
}

extension Differences.Entry {
    /// The key or path, on one line whatever is in it.
    package var label: String { ((try? KeyArgument(path))?.spelling ?? path.description).onOneLine }
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
    /// The value as it may be shown, where it lies in something sensitive or holds it.
    func hidden(_ value: PropertyList, at path: EntryPath) -> PropertyList {
        hides(path) ? .string(Self.dots) : masked(value, at: path)
    }
}
