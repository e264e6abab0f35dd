// Objects of Foundation as values of property lists. `Preferences` itself does without Foundation, which makes a
// static executable 47 MB larger, and cannot tell a Boolean from a number in an object.

internal import Foundation
public import Preferences
public import PropertyLists

extension PropertyList {
    /// Converts what `PropertyListSerialization` and `JSONSerialization` return: objects of Foundation, Swift values,
    /// or a mixture of both.
    ///
    /// An `NSNumber` becomes a Boolean, an integer or a real by its own type, and `NSNull` becomes null. An
    /// `NSDecimalNumber` that neither an integer nor a real holds exactly is an error.
    public init(foundation object: Any) throws(ConversionFailure) {
        try self.init(any: try Self.swiftValue(object, EntryPath()))
    }

    private static func swiftValue(_ any: Any, _ path: EntryPath) throws(ConversionFailure) -> Any {
        guard type(of: any) is AnyObject.Type else {
            switch any {
            case let elements as [Any]: return try swiftValues(elements, path)
            case let entries as [String: Any]: return try swiftValues(entries, path)
            default: return any
            }
        }
        switch any as AnyObject {
        case let number as NSDecimalNumber: return number.decimalValue
        case let number as NSNumber: return number.propertyList
        case let text as NSString: return String(text)
        case let url as NSURL: return url as URL
        case let date as NSDate: return Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
        case let data as NSData: return Data(data)
        case is NSNull: return PropertyList.null
        case let elements as NSArray: return try swiftValues(elements.map(\.self), path)
        case let entries as NSDictionary:
            var values: [String: Any] = [:]
            for (key, value) in entries {
                guard let key = key as? String else {
                    throw ConversionFailure(type: "\(type(of: key)) as a key", path: path)
                }
                values[key] = value
            }
            return try swiftValues(values, path)
        default: throw ConversionFailure(type: "\(type(of: any))", path: path)
        }
    }

    private static func swiftValues(_ elements: [Any], _ path: EntryPath) throws(ConversionFailure) -> [Any] {
        var values: [Any] = []
        for (index, element) in elements.enumerated() {
            values.append(try swiftValue(element, EntryPath(path.components + [.init(index)])))
        }
        return values
    }

    private static func swiftValues(
        _ entries: [String: Any], _ path: EntryPath
    ) throws(ConversionFailure) -> [String: Any] {
        var values: [String: Any] = [:]
        for (key, value) in entries {
            values[key] = try swiftValue(value, EntryPath(path.components + [.init(key)]))
        }
        return values
    }

    /// The value for use with Foundation: numbers and Booleans as `NSNumber`, null as `NSNull`, the rest as Swift
    /// values.
    public var foundationValue: Any {
        switch self {
        case .boolean(let flag): NSNumber(value: flag)
        case .integer(let number):
            Int64(exactly: number).map { NSNumber(value: $0) } ?? NSNumber(value: number.magnitude)
        case .real(let number): NSNumber(value: number)
        case .array(let elements): elements.map(\.foundationValue)
        case .dictionary(let entries):
            [String: Any](entries.map { ($0.key, $0.value.foundationValue) }, uniquingKeysWith: { _, last in last })
        case .null: NSNull()
        default: anyValue
        }
    }
}

extension NSNumber {
    /// The number in the type that it was made of.
    fileprivate var propertyList: PropertyList {
        // The two Booleans are objects of their own, although their type is that of a small integer.
        if self === NSNumber(value: true) || self === NSNumber(value: false) { return .boolean(boolValue) }
        // The type is a constant of the program that ends with a zero.
        switch unsafe String(cString: objCType) {
        case "f": return (try? PropertyList(any: floatValue)) ?? .real(doubleValue)
        case "d": return .real(doubleValue)
        case "Q", "L": return .integer(PropertyList.Integer(uint64Value))
        default: return .integer(PropertyList.Integer(int64Value))
        }
    }
}

extension Defaults {
    /// Returns the value of a key as an object of Foundation or a Swift value.
    public func object(foundationForKey key: String) -> Any? { propertyList(forKey: key)?.foundationValue }

    /// Sets a value that may be or contain objects of Foundation, or removes the value for nil. Any value that a
    /// property list cannot hold is refused and reported as an issue.
    public func set(foundation object: Any?, forKey key: String) {
        guard let object else { return removeObject(forKey: key) }
        do {
            set(try PropertyList(foundation: object), forKey: key)
        } catch {
            post(refusal: error, of: key)
        }
    }

    /// Sets the values that are used where no other layer has one, such as those that `PropertyListSerialization` has
    /// read. Values that a property list cannot hold are refused and reported as issues.
    public func register(foundation values: [String: Any]) {
        var converted: [String: Any] = [:]
        for (key, value) in values {
            do {
                converted[key] = try PropertyList(foundation: value)
            } catch {
                post(refusal: error, of: key)
            }
        }
        register(defaults: converted)
    }
}
