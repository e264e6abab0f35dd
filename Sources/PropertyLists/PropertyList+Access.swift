#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PropertyList {
    /// The value under `key` in a dictionary; nil where there is none, or where this is no dictionary.
    public subscript(key: String) -> PropertyList? { dictionaryValue?[key] }

    /// The element at `index` of an array, the last one at −1; nil where there is none, or where this is no array.
    public subscript(index: Int) -> PropertyList? {
        guard case .array(let elements) = self, let position = elements.position(of: index) else { return nil }
        return elements[position]
    }
}

/// What a value holds, if it is of that kind and no other: nothing is converted.
extension PropertyList {
    /// The text if it is one.
    public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
    /// The integer if it is one.
    public var integerValue: Integer? { if case .integer(let number) = self { number } else { nil } }
    /// The number if it is a real one.
    public var realValue: Double? { if case .real(let number) = self { number } else { nil } }
    /// The truth if it is one.
    public var booleanValue: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    /// The date if it is one.
    public var dateValue: Date? { if case .date(let date) = self { date } else { nil } }
    /// The data if it is such.
    public var dataValue: Data? { if case .data(let data) = self { data } else { nil } }
    /// The elements if it is an array.
    public var arrayValue: [PropertyList]? { if case .array(let elements) = self { elements } else { nil } }
    /// The entries if it is a dictionary.
    public var dictionaryValue: Dictionary? { if case .dictionary(let entries) = self { entries } else { nil } }
}
