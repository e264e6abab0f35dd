package import PropertyLists

/// The kind of a file's root. Only the root of a domain must be a dictionary. The elements of an array have their
/// indices as keys, and a scalar has the empty key, so that every file has values by key.
package enum FileRoot: Hashable, Sendable {
    case dictionary, array, scalar

    init(of root: PropertyList) {
        switch root {
        case .dictionary: self = .dictionary
        case .array: self = .array
        default: self = .scalar
        }
    }

    /// Returns the root with these values. An array has no gaps. Values that are not those of this kind of root are a
    /// dictionary.
    package func root(of values: PropertyList.Dictionary) -> PropertyList {
        switch self {
        case .dictionary: break
        case .array:
            let elements = values.compactMap { entry in Int(entry.key).map { (index: $0, value: entry.value) } }
            guard elements.count == values.count, values.keys.allSatisfy(\.isIndex) else { break }
            return .array(elements.sorted { $0.index < $1.index }.map(\.value))
        case .scalar:
            if values.count == 1, let value = values[""] { return value }
        }
        return .dictionary(values)
    }
}

extension String {
    /// Whether this is the key of an element.
    fileprivate var isIndex: Bool {
        guard utf8.count > 1 else { return true }
        return utf8.first != UInt8(ascii: "0") && utf8.allSatisfy { $0 &- 0x30 <= 9 }
    }
}

extension PropertyList {
    /// The values of a file with this root, by key.
    var valuesOfRoot: Dictionary {
        switch self {
        case .dictionary(let entries): entries
        case .array(let elements): Dictionary(elements.enumerated().map { (String($0.offset), $0.element) })
        default: ["": self]
        }
    }
}

extension DomainContents {
    /// The root of the file.
    package var root: PropertyList { rootKind.root(of: values) }
}

extension DomainState {
    /// The root of the file.
    package var root: PropertyList { rootKind.root(of: values) }
}

extension DomainDraft {
    /// The root of the new file.
    package var root: PropertyList {
        get { rootKind.root(of: values) }
        set { (rootKind, values) = (FileRoot(of: newValue), newValue.valuesOfRoot) }
    }
}
