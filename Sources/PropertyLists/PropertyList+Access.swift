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
    public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
    public var integerValue: Integer? { if case .integer(let number) = self { number } else { nil } }
    public var realValue: Double? { if case .real(let number) = self { number } else { nil } }
    public var booleanValue: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    public var dateValue: Date? { if case .date(let date) = self { date } else { nil } }
    public var dataValue: Data? { if case .data(let data) = self { data } else { nil } }
    public var arrayValue: [PropertyList]? { if case .array(let elements) = self { elements } else { nil } }
    public var dictionaryValue: Dictionary? { if case .dictionary(let entries) = self { entries } else { nil } }
}
