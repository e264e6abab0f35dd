package import PropertyLists
internal import Screens

/// The differences between two dictionaries: the paths of the entries that differ, sorted by key.
///
/// Nested dictionaries and arrays are compared entry by entry, arrays by index.
package struct Differences: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let path: EntryPath
        package let change: Change
    }

    package enum Change: Hashable, Sendable {
        case added(PropertyList)
        case removed(PropertyList)
        case changed(PropertyList, to: PropertyList)
    }

    package private(set) var entries: [Entry] = []

    package var isEmpty: Bool { entries.isEmpty }

    package init(from old: PropertyList.Dictionary, to new: PropertyList.Dictionary) {
        compare(old, new, at: [])
    }

    /// The maximum depth of the comparison. Values deeper than that are compared as a whole.
    static let greatestDepth = 64
}

extension Differences {
    private mutating func compare(
        _ old: PropertyList.Dictionary, _ new: PropertyList.Dictionary, at components: [EntryPath.Component]
    ) {
        let added = new.filter { old[$0.key] == nil }.map(\.key)
        let keys = (old.map(\.key) + added).sorted { $0.isBefore($1) }
        for key in keys { compare(old[key], new[key], at: components + [EntryPath.Component(key)]) }
    }

    private mutating func compare(_ old: [PropertyList], _ new: [PropertyList], at components: [EntryPath.Component]) {
        for index in 0..<max(old.count, new.count) {
            compare(
                index < old.count ? old[index] : nil, index < new.count ? new[index] : nil,
                at: components + [EntryPath.Component(index)])
        }
    }

    private mutating func compare(_ old: PropertyList?, _ new: PropertyList?, at components: [EntryPath.Component]) {
        let path = EntryPath(components)
        switch (old, new) {
        case (let old?, nil): entries.append(Entry(path: path, change: .removed(old)))
        case (nil, let new?): entries.append(Entry(path: path, change: .added(new)))
        case (.dictionary(let old)?, .dictionary(let new)?) where components.count < Self.greatestDepth:
            compare(old, new, at: components)
        case (.array(let old)?, .array(let new)?) where components.count < Self.greatestDepth:
            compare(old, new, at: components)
        case (let old?, let new?) where old != new:
            entries.append(Entry(path: path, change: .changed(old, to: new)))
        default: break
        }
    }
}

extension Differences.Change {
    package var old: PropertyList? {
        switch self {
        case .removed(let old), .changed(let old, _): old
        case .added: nil
        }
    }

    package var new: PropertyList? {
        switch self {
        case .added(let new), .changed(_, let new): new
        case .removed: nil
        }
    }
}

extension Differences {
    /// Returns the differences at some paths: of these entries, of their parts, and of what contains them.
    func touching(_ paths: [EntryPath]) -> Differences {
        var result = self
        result.entries = entries.filter { entry in
            paths.contains { zip($0.components, entry.path.components).allSatisfy { $0 == $1 } }
        }
        return result
    }

    /// Returns the lines of `lines(masking:)` without styles.
    package func text(masking: Masking = .none) -> String { lines(masking: masking).map { $0.plain + "\n" }.joined() }

    /// Returns a line for each entry: `+` for added, `-` for removed, both for changed.
    ///
    ///     - theme: "light"
    ///     + theme: "dark"
    ///     + :windows:1: {"x":10}
    func lines(masking: Masking) -> [StyledText] {
        entries.flatMap { entry in
            func line(_ sign: String, _ value: PropertyList) -> StyledText {
                var line = StyledText("\(sign) \(entry.label):", entry.change.style)
                line.append(" \(masking.text(of: value, at: entry.path))")
                return line
            }
            return [entry.change.old.map { line("-", $0) }, entry.change.new.map { line("+", $0) }].compactMap(\.self)
        }
    }

    /// Returns a line for each entry, with its domain: `+` for added, `-` for removed, `~` for changed.
    ///
    ///     ~ com.example.app theme: "light" → "dark"
    func lines(of domain: String, masking: Masking) -> [StyledText] {
        entries.map { entry in
            var line = StyledText("\(entry.change.sign) \(domain) \(entry.label):", entry.change.style)
            let values = [entry.change.old, entry.change.new].compactMap(\.self)
            line.append(" " + values.map { masking.text(of: $0, at: entry.path) }.joined(separator: " → "))
            return line
        }
    }

    /// Returns an array with a dictionary for each entry: `path`, `change`, and `old` and `new` if present.
    package func json(masking: Masking = .none) -> PropertyList {
        .array(entries.map { .dictionary($0.values(masking)) })
    }
}

extension Differences.Entry {
    /// The key or path, on one line.
    package var label: String { key.onOneLine }

    /// The key or path as an argument.
    var key: String { (try? KeyArgument(path))?.spelling ?? path.description }

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
    fileprivate var sign: String {
        switch self {
        case .added: "+"
        case .removed: "-"
        case .changed: "~"
        }
    }

    fileprivate var style: Style {
        switch self {
        case .added: .added
        case .removed: .removed
        case .changed: .changed
        }
    }

    package var name: String {
        switch self {
        case .added: "added"
        case .removed: "removed"
        case .changed: "changed"
        }
    }
}
