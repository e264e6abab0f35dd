package import PropertyLists

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
        _ old: PropertyList.Dictionary, _ new: PropertyList.Dictionary, at way: [EntryPath.Component]
    ) {
        let added = new.filter { old[$0.key] == nil }.map(\.key)
        let keys = (old.map(\.key) + added).sorted { $0.isBefore($1) }
        for key in keys { compare(old[key], new[key], at: way + [EntryPath.Component(key)]) }
    }

    private mutating func compare(_ old: [PropertyList], _ new: [PropertyList], at way: [EntryPath.Component]) {
        for index in 0..<max(old.count, new.count) {
            compare(
                index < old.count ? old[index] : nil, index < new.count ? new[index] : nil,
                at: way + [EntryPath.Component(index)])
        }
    }

    private mutating func compare(_ old: PropertyList?, _ new: PropertyList?, at way: [EntryPath.Component]) {
        let path = EntryPath(way)
        switch (old, new) {
        case (let old?, nil): entries.append(Entry(path: path, change: .removed(old)))
        case (nil, let new?): entries.append(Entry(path: path, change: .added(new)))
        case (.dictionary(let old)?, .dictionary(let new)?) where way.count < Self.greatestDepth:
            compare(old, new, at: way)
        case (.array(let old)?, .array(let new)?) where way.count < Self.greatestDepth:
            compare(old, new, at: way)
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
