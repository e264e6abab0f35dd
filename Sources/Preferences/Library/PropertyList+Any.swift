internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    /// A value of a type that property lists do not support.
    struct Unstorable: Error, CustomStringConvertible {
        let type: String

        var description: String { "a value of type \(type) cannot be stored" }
    }

    /// Converts a value, and throws if it or a value in it has an unsupported type.
    init(any: Any) throws(Unstorable) {
        switch any {
        case let value as PropertyList: self = value
        case let text as String: self = .string(text)
        case let flag as Bool: self = .boolean(flag)
        case let number as Int: self = .integer(Integer(number))
        case let number as Double: self = .real(number)
        case let number as Float: self = .real(Double(number))
        case let number as any BinaryInteger:
            guard let integer = Integer(exactly: number) else { throw Unstorable(type: "\(type(of: any))") }
            self = .integer(integer)
        case let date as Date: self = .date(date)
        case let data as Data: self = .data(data)
        case let text as Substring: self = .string(String(text))
        case let elements as [Any]: self = .array(try Self.elements(elements))
        case let entries as [String: Any]:
            var values = Dictionary(minimumCapacity: entries.count)
            for (key, value) in entries.sorted(by: { $0.key < $1.key }) { values[key] = try PropertyList(any: value) }
            self = .dictionary(values)
        default: throw Unstorable(type: "\(type(of: any))")
        }
    }

    private static func elements(_ elements: [Any]) throws(Unstorable) -> [PropertyList] {
        var values: [PropertyList] = []
        for element in elements { values.append(try PropertyList(any: element)) }
        return values
    }

    /// The value as a Swift or Foundation type.
    var asAny: Any {
        switch self {
        case .string(let text): text
        case .boolean(let flag): flag
        case .integer(let number): Int(exactly: number).map { $0 as Any } ?? number.magnitude
        case .real(let number): number
        case .date(let date): date
        case .data(let data): data
        case .array(let elements): elements.map(\.asAny)
        case .dictionary(let entries): entries.asAny
        default: self
        }
    }
}

extension PropertyList.Dictionary {
    var asAny: [String: Any] {
        Swift.Dictionary(map { ($0.key, $0.value.asAny) }, uniquingKeysWith: { _, last in last })
    }
}

extension URL {
    /// The stored form of a URL: the path of a file URL, and the text of any other.
    var asSetting: String { isFileURL ? path(percentEncoded: false) : absoluteString }
}
