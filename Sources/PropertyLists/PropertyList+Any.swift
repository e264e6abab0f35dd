#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension PropertyList {
    /// A value that cannot be converted to a property list.
    public struct ConversionFailure: Error, Hashable, Sendable {
        /// The name of the value's type.
        public let type: String
        /// The path of the value that cannot be converted.
        public let path: EntryPath
        let isObject: Bool

        /// Creates a failure of a value itself.
        public init(type: String) { self.init(type: type, path: EntryPath()) }

        package init(type: String, path: EntryPath, isObject: Bool = false) {
            (self.type, self.path, self.isObject) = (type, path, isObject)
        }
    }

    /// Converts a dictionary of Swift values. See `init(any:)` for their types.
    public init(_ values: [String: Any]) throws(ConversionFailure) {
        self = .dictionary(try Self.converted(values, EntryPath()))
    }

    /// Converts a Swift value: a string, a Boolean, a number, a date, data, a URL, an array or a dictionary.
    ///
    /// A URL becomes a string, and a `Float` becomes the number with the same digits. A number that a property list
    /// cannot hold exactly is an error. So is an object, unless its class is a `PropertyListObject`. The module
    /// `PreferencesFoundation` makes those of Foundation such classes.
    public init(any: Any) throws(ConversionFailure) { try self.init(any, at: EntryPath()) }

    private init(_ any: Any, at path: EntryPath) throws(ConversionFailure) {
        // An object can be cast to every type to which it can be bridged.
        if type(of: any) is AnyObject.Type {
            guard let object = any as? any PropertyListObject else {
                let type = "\(type(of: any))"
                let kinds = ["Number", "Boolean", "String", "URL", "Date", "Data", "Null", "Array", "Dictionary"]
                // The classes that `PreferencesFoundation` makes convertible have such names.
                throw ConversionFailure(type: type, path: path, isObject: kinds.contains(where: type.hasSuffix))
            }
            self = try Self.converted(object, path)
            return
        }
        switch any {
        case let value as PropertyList: self = value
        case let text as String: self = .string(text)
        case let flag as Bool: self = .boolean(flag)
        case let number as Int: self = .integer(Integer(number))
        case let number as Double: self = .real(number)
        case let date as Date: self = .date(date)
        case let data as Data: self = .data(data)
        case let url as URL: self = .string(url.asSetting)
        case let text as Substring: self = .string(String(text))
        case let elements as [Any]: self = .array(try Self.converted(elements, path))
        case let entries as [String: Any]: self = .dictionary(try Self.converted(entries, path))
        case let entries as Dictionary: self = .dictionary(entries)
        default:
            guard let number = Self.number(any) else {
                throw ConversionFailure(type: "\(type(of: any))", path: path)
            }
            self = number
        }
    }

    private static func converted(
        _ object: any PropertyListObject, _ path: EntryPath
    ) throws(ConversionFailure) -> PropertyList {
        let value: Any
        do throws(ConversionFailure) { value = try object.propertyListValue() } catch {
            throw ConversionFailure(type: error.type, path: path)
        }
        return try PropertyList(value, at: path)
    }

    private static func number(_ any: Any) -> PropertyList? {
        switch any {
        case let number as Float: .real(number.shortestDouble)
        case let number as any BinaryInteger: Integer(exactly: number).map { .integer($0) }
        case let number as any BinaryFloatingPoint: exactly(number).map { .real($0) }
        case let number as Integer: .integer(number)
        case let number as Decimal: PropertyList(exactly: number)
        default: nil
        }
    }

    private static func exactly(_ number: some BinaryFloatingPoint) -> Double? {
        number.isNaN ? .nan : Double(exactly: number)
    }

    private static func converted(_ elements: [Any], _ path: EntryPath) throws(ConversionFailure) -> [PropertyList] {
        var values: [PropertyList] = []
        values.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            values.append(try PropertyList(element, at: EntryPath(path.components + [.init(index)])))
        }
        return values
    }

    private static func converted(
        _ entries: [String: Any], _ path: EntryPath
    ) throws(ConversionFailure) -> Dictionary {
        var values = Dictionary(minimumCapacity: entries.count)
        for (key, value) in entries.sorted(by: { $0.key.isBefore($1.key) }) {
            values[key] = try PropertyList(value, at: EntryPath(path.components + [.init(key)]))
        }
        return values
    }

    /// The number as an integer or a real, or nil if neither holds it exactly.
    package init?(exactly number: Decimal) {
        if let integer = Int64(number.description) {
            self = .integer(Integer(integer))
        } else if let integer = UInt64(number.description) {
            self = .integer(Integer(integer))
        } else if let real = Double(number.description), Decimal(scalar: .real(real)) == number {
            self = .real(real)
        } else {
            return nil
        }
    }

    /// The value as a Swift type: `String`, `Bool`, `Int` or `UInt64`, `Double`, `Date`, `Data`, `[Any]` or
    /// `[String: Any]`. A uid or a null remains a `PropertyList`.
    public var anyValue: Any {
        switch self {
        case .string(let text): text
        case .boolean(let flag): flag
        case .integer(let number): Int(exactly: number).map { $0 as Any } ?? number.magnitude
        case .real(let number): number
        case .date(let date): date
        case .data(let data): data
        case .array(let elements): elements.map(\.anyValue)
        case .dictionary(let entries): entries.anyValue
        case .uid, .null: self
        }
    }
}

/// A class whose objects can be stored.
public protocol PropertyListObject: AnyObject {
    /// Returns the value of the object as a Swift value, which may contain other objects. Throws if it has none.
    func propertyListValue() throws(PropertyList.ConversionFailure) -> Any
}

extension PropertyList.Dictionary {
    /// The entries with their values as Swift types.
    public var anyValue: [String: Any] {
        Swift.Dictionary(map { ($0.key, $0.value.anyValue) }, uniquingKeysWith: { _, last in last })
    }
}

extension PropertyList.ConversionFailure: CustomStringConvertible {
    public var description: String {
        let place = path.components.isEmpty ? "" : " at \(path.shown)"
        guard isObject else { return "a value of type \(type) cannot be stored\(place)" }
        return "the type \(type)\(place) belongs to Foundation: import PreferencesFoundation to convert it"
    }
}

extension URL {
    /// The stored form of a URL: the path of a file URL, and the text of any other.
    package var asSetting: String { isFileURL ? path(percentEncoded: false) : absoluteString }
}
