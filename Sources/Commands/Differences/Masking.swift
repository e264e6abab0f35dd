package import PropertyLists
internal import SettingsSchema

/// Which entries of a domain are never shown: those that its schema calls sensitive.
package struct Masking: Sendable {
    /// What stands in place of a value.
    package static var dots: String { mask }

    private let isSensitive: @Sendable (EntryPath, PropertyList?) -> Bool

    /// - Parameter isSensitive: Is asked for an entry's path, its key first, and what stands there, where that is
    ///   known.
    init(_ isSensitive: @escaping @Sendable (EntryPath, PropertyList?) -> Bool) { self.isSensitive = isSensitive }

    /// - Parameter isSensitive: Is asked for an entry's path, its key first.
    package init(_ isSensitive: @escaping @Sendable (EntryPath) -> Bool) {
        self.init { path, _ in isSensitive(path) }
    }

    /// Hides what either of two hides.
    init(_ one: Masking, _ other: Masking) {
        self.init { one.isSensitive($0, $1) || other.isSensitive($0, $1) }
    }

    /// Shows everything.
    package static let none = Masking { _ in false }

    /// Whether the value at the path is to be hidden, itself or with what it lies in.
    package func hides(_ path: EntryPath) -> Bool {
        (1...max(1, path.components.count)).contains {
            isSensitive(EntryPath(Array(path.components.prefix($0))), nil)
        }
    }

    /// The value with dots in place of all that is sensitive.
    package func masked(_ value: PropertyList, at path: EntryPath) -> PropertyList {
        if !path.components.isEmpty, isSensitive(path, value) { return .string(Self.dots) }
        switch value {
        case .array(let elements):
            return .array(
                elements.enumerated().map { index, element in
                    masked(element, at: EntryPath(path.components + [EntryPath.Component(index)]))
                })
        case .dictionary(let entries):
            return .dictionary(
                PropertyList.Dictionary(
                    entries.map { entry in
                        let place = EntryPath(path.components + [EntryPath.Component(entry.key)])
                        return (entry.key, masked(entry.value, at: place))
                    }))
        default: return value
        }
    }

    /// Whether anything in the value is sensitive, or what it lies in.
    package func touches(_ value: PropertyList, at path: EntryPath) -> Bool {
        hides(path) || masked(value, at: path) != value
    }
}
