// Objects of Foundation as values of settings and property lists. `Preferences` itself does without Foundation, which
// makes a static executable 47 MB larger, and cannot tell a Boolean from a number in an object.
//
// A program that imports this module instead of `Preferences` can set, register and convert these objects anywhere.

public import Foundation
@_exported public import Preferences
public import PreferencesCoders
public import PropertyLists

/// An `NSNumber` is a Boolean, an integer or a real by its own type. An `NSDecimalNumber` that neither an integer nor a
/// real holds exactly is refused.
extension NSNumber: PropertyListObject {
    public func propertyListValue() throws(PropertyList.ConversionFailure) -> Any {
        if let decimal = self as? NSDecimalNumber { return decimal.decimalValue }
        // The two Booleans are objects of their own, although their type is that of a small integer.
        if self === NSNumber(value: true) || self === NSNumber(value: false) { return boolValue }
        // The type is a constant of the program that ends with a zero.
        return switch unsafe String(cString: objCType) {
        case "f": floatValue
        case "d": doubleValue
        case "Q", "L": uint64Value
        default: int64Value
        }
    }
}

extension NSString: PropertyListObject {
    public func propertyListValue() throws(PropertyList.ConversionFailure) -> Any { String(self) }
}

extension NSURL: PropertyListObject {
    public func propertyListValue() throws(PropertyList.ConversionFailure) -> Any { self as URL }
}

extension NSDate: PropertyListObject {
    public func propertyListValue() throws(PropertyList.ConversionFailure) -> Any {
        Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate)
    }
}

extension NSData: PropertyListObject {
    public func propertyListValue() throws(PropertyList.ConversionFailure) -> Any { Data(self) }
}

extension NSNull: PropertyListObject {
    public func propertyListValue() throws(PropertyList.ConversionFailure) -> Any { PropertyList.null }
}

extension NSArray: PropertyListObject {
    public func propertyListValue() throws(PropertyList.ConversionFailure) -> Any { map(\.self) }
}

extension NSDictionary: PropertyListObject {
    public func propertyListValue() throws(PropertyList.ConversionFailure) -> Any {
        var values: [String: Any] = [:]
        for (key, value) in self {
            guard let key = key as? String else {
                throw PropertyList.ConversionFailure(type: "\(type(of: key)) as a key")
            }
            values[key] = value
        }
        return values
    }
}

extension PropertyList {
    /// The value for functions of Foundation: numbers and Booleans as `NSNumber`, null as `NSNull`, the rest as Swift
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

// MARK: Dates in JSON, in the form of a formatter

extension PreferencesCoders.JSONEncoder.DateEncodingStrategy {
    /// The text that a formatter makes of a date.
    public static func formatted(_ formatter: DateFormatter) -> Self {
        .custom { date, encoder in try formatter.string(from: date).encode(to: encoder) }
    }
}

extension PreferencesCoders.JSONDecoder.DateDecodingStrategy {
    /// Text in the form of a formatter.
    public static func formatted(_ formatter: DateFormatter) -> Self {
        .custom { decoder in
            let text = try String(from: decoder)
            guard let date = formatter.date(from: text) else {
                let form = formatter.dateFormat ?? "the formatter"
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath, debugDescription: "“\(text)” is not a date of the form \(form)."
                    ))
            }
            return date
        }
    }
}
