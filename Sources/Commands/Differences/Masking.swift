internal import Preferences
package import PropertyLists
internal import SettingsSchema

/// The entries of a domain that are not shown. `Secrecy` knows which these are; this replaces them in values and text.
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

    /// Creates the masking of a domain.
    init(_ secrecy: Secrecy) {
        self.init { secrecy.hides($0, holding: $1) }
        isEmpty = secrecy.hidesNothing
    }

    /// Creates a masking that hides what schemas that could be read declare as sensitive.
    init(declaredBy secrecy: Secrecy) { self.init { secrecy.declares($0, holding: $1) } }

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
        replaced(value, at: path, by: .string(Self.dots)) ?? .string(Self.dots)
    }

    /// Returns the value without its sensitive parts, or nil if it is sensitive itself.
    func revealed(_ value: PropertyList, at path: EntryPath) -> PropertyList? { replaced(value, at: path, by: nil) }

    /// Returns the value with everything sensitive in it replaced, or removed if there is no replacement.
    private func replaced(_ value: PropertyList, at path: EntryPath, by mask: PropertyList?) -> PropertyList? {
        if isEmpty { return value }
        if !path.components.isEmpty, isSensitive(path, value) { return mask }
        func inside(_ component: EntryPath.Component, _ value: PropertyList) -> PropertyList? {
            replaced(value, at: EntryPath(path.components + [component]), by: mask)
        }
        switch value {
        case .array(let elements): return .array(elements.enumerated().compactMap { inside(.init($0), $1) })
        case .dictionary(let entries):
            return .dictionary(
                PropertyList.Dictionary(
                    entries.compactMap { entry in inside(.init(entry.key), entry.value).map { (entry.key, $0) } }))
        default: return value
        }
    }

    /// Returns whether the value contains or is inside something sensitive.
    package func touches(_ value: PropertyList, at path: EntryPath) -> Bool {
        hides(path) || masked(value, at: path) != value
    }

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
