package import PropertyLists
internal import SettingsSchema

/// The entries of a domain that are not shown because its schema declares them sensitive.
package struct Masking: Sendable {
    /// The text shown in place of a value.
    package static var dots: String { mask }

    private let isSensitive: @Sendable (EntryPath, PropertyList?) -> Bool
    /// Whether nothing is hidden.
    private(set) var isEmpty = false

    /// Creates a masking.
    ///
    /// - Parameter isSensitive: Called with the path of an entry, its key first, and its value if known.
    init(_ isSensitive: @escaping @Sendable (EntryPath, PropertyList?) -> Bool) { self.isSensitive = isSensitive }

    /// Creates a masking.
    ///
    /// - Parameter isSensitive: Called with the path of an entry, its key first.
    package init(_ isSensitive: @escaping @Sendable (EntryPath) -> Bool) {
        self.init { path, _ in isSensitive(path) }
    }

    /// Creates a masking that hides what either of two hides.
    init(_ one: Masking, _ other: Masking) {
        self.init { one.isSensitive($0, $1) || other.isSensitive($0, $1) }
    }

    /// Hides nothing.
    package static let none = {
        var masking = Masking { _ in false }
        masking.isEmpty = true
        return masking
    }()

    /// Returns whether the value at the path, or one that contains it, is sensitive.
    package func hides(_ path: EntryPath) -> Bool {
        (1...max(1, path.components.count)).contains {
            isSensitive(EntryPath(Array(path.components.prefix($0))), nil)
        }
    }

    /// Returns the value with everything sensitive masked.
    package func masked(_ value: PropertyList, at path: EntryPath) -> PropertyList {
        if isEmpty { return value }
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

    /// Returns the value without its sensitive parts, or nil if it is sensitive itself.
    func revealed(_ value: PropertyList, at path: EntryPath) -> PropertyList? {
        if isEmpty { return value }
        if !path.components.isEmpty, isSensitive(path, value) { return nil }
        switch value {
        case .array(let elements):
            return .array(
                elements.enumerated().compactMap { index, element in
                    revealed(element, at: EntryPath(path.components + [EntryPath.Component(index)]))
                })
        case .dictionary(let entries):
            return .dictionary(
                PropertyList.Dictionary(
                    entries.compactMap { entry in
                        let place = EntryPath(path.components + [EntryPath.Component(entry.key)])
                        return revealed(entry.value, at: place).map { (entry.key, $0) }
                    }))
        default: return value
        }
    }

    /// Returns whether the value contains or is inside something sensitive.
    package func touches(_ value: PropertyList, at path: EntryPath) -> Bool {
        hides(path) || masked(value, at: path) != value
    }
}
