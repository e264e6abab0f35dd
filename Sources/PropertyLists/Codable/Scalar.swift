#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A type whose values are single values of a property list.
protocol Scalar: Codable, DirectlyDecoded, DirectlyEncoded {
    /// The value in this type, or nil if it is of another kind or out of range.
    init?(scalar value: PropertyList)

    /// Whether a value of this kind can be converted to this type if it is in range.
    static func isNear(_ kind: PropertyList.Kind) -> Bool

    /// The value in a property list, or nil if none can hold it.
    var scalar: PropertyList? { get }

    /// Whether the type can hold numbers that a real cannot.
    static var isExact: Bool { get }
    /// Creates the number that a JSON text spells. Only exact types support this.
    init?(spelling: String)

    /// Whether a coder can have forms of its own for this type.
    static var hasForms: Bool { get }

    /// Returns an array of this type, or a dictionary with values of this type; nil if the coder has its own form for
    /// them. The result is `Any`, because a result whose type depends on `Self` would be converted element by element.
    static func array(from decoder: ValueDecoder) throws -> Any?
    static func dictionary(from decoder: ValueDecoder) throws -> Any?
    /// The value of an array or a dictionary of these scalars; nil for anything else.
    static func encoded(arrayOrDictionary value: Any, in node: EncodingNode, at key: PathKey?) throws -> PropertyList?
}

extension Scalar {
    static func isNear(_ kind: PropertyList.Kind) -> Bool { false }
    static var isExact: Bool { false }
    static var hasForms: Bool { false }
    init?(spelling: String) { return nil }
}

extension Bool: Scalar {
    init?(scalar value: PropertyList) {
        guard case .boolean(let flag) = value else { return nil }
        self = flag
    }

    var scalar: PropertyList? { .boolean(self) }
}

extension String: Scalar {
    init?(scalar value: PropertyList) {
        guard case .string(let text) = value else { return nil }
        self = text
    }

    var scalar: PropertyList? { .string(self) }
}

extension PropertyList: Scalar {
    static var hasForms: Bool { true }

    init?(scalar value: PropertyList) { self = value }

    var scalar: PropertyList? { self }
}

extension PropertyList.Integer: Scalar {
    init?(scalar value: PropertyList) {
        guard case .integer(let number) = value else { return nil }
        self = number
    }

    var scalar: PropertyList? { .integer(self) }
}

// MARK: Numbers, which may change their type if nothing is lost

extension Scalar where Self: FixedWidthInteger {
    /// Creates an integer. A real without a fraction is one, as for Foundation, and a uid is an unsigned number.
    init?(scalar value: PropertyList) {
        switch value {
        case .integer(let number): self.init(exactly: number)
        // Beyond 2⁵³, the real may have been rounded from another integer.
        case .real(let number) where number.magnitude <= 0x1p53: self.init(exactly: number)
        case .uid(let number) where !Self.isSigned: self.init(exactly: number)
        default: return nil
        }
    }

    static func isNear(_ kind: PropertyList.Kind) -> Bool {
        kind == .integer || kind == .real || kind == .uid && !isSigned
    }

    var scalar: PropertyList? { PropertyList.Integer(exactly: self).map(PropertyList.integer) }

    static var isExact: Bool { true }

    init?(spelling: String) {
        // Through the widest types, so that no other one has its own code for digits.
        guard let text = DecimalDigits(spelling)?.integer else { return nil }
        if let number = Int128(text) {
            self.init(exactly: number)
        } else if let number = UInt128(text) {
            self.init(exactly: number)
        } else {
            return nil
        }
    }
}

extension Int: Scalar {}
extension Int8: Scalar {}
extension Int16: Scalar {}
extension Int32: Scalar {}
extension Int64: Scalar {}
extension Int128: Scalar { static var hasForms: Bool { true } }
extension UInt: Scalar {}
extension UInt8: Scalar {}
extension UInt16: Scalar {}
extension UInt32: Scalar {}
extension UInt64: Scalar {}
extension UInt128: Scalar { static var hasForms: Bool { true } }

extension Double: Scalar {
    static var hasForms: Bool { true }

    init?(scalar value: PropertyList) {
        switch value {
        case .real(let number): self = number
        case .integer(let number): self.init(exactly: number)
        default: return nil
        }
    }

    static func isNear(_ kind: PropertyList.Kind) -> Bool { kind == .integer }

    var scalar: PropertyList? { .real(self) }
}

extension Float: Scalar {
    static var hasForms: Bool { true }

    /// Creates the `Float` nearest to a real, or equal to an integer. Returns nil for an integer that has no exact
    /// `Float`.
    init?(scalar value: PropertyList) {
        switch value {
        case .real(let number):
            self.init(number)
            if isInfinite, number.isFinite { return nil }
        case .integer(let number): self.init(exactly: number)
        default: return nil
        }
    }

    static func isNear(_ kind: PropertyList.Kind) -> Bool { kind == .integer || kind == .real }

    var scalar: PropertyList? { .real(shortestDouble) }

    /// The double that is written with the same digits: 0.1 for 0.1, not 0.10000000149011612.
    package var shortestDouble: Double {
        isFinite ? Double(description) ?? Double(self) : Double(self)
    }
}

extension BinaryFloatingPoint {
    /// Creates the same number in this type, or returns nil if the type cannot represent it exactly.
    init?(exactly number: PropertyList.Integer) {
        if number.isNegative {
            self.init(exactly: Int64(bitPattern: number.bits))
        } else {
            self.init(exactly: number.bits)
        }
    }
}

// MARK: Foundation

extension Date: Scalar {
    static var hasForms: Bool { true }

    init?(scalar value: PropertyList) {
        guard case .date(let date) = value else { return nil }
        self = date
    }

    var scalar: PropertyList? { .date(self) }
}

extension Data: Scalar {
    static var hasForms: Bool { true }

    init?(scalar value: PropertyList) {
        guard case .data(let data) = value else { return nil }
        self = data
    }

    var scalar: PropertyList? { .data(self) }
}

extension URL: Scalar {
    static var hasForms: Bool { true }

    init?(scalar value: PropertyList) {
        guard case .string(let text) = value else { return nil }
        self.init(string: text)
    }

    static func isNear(_ kind: PropertyList.Kind) -> Bool { kind == .string }

    var scalar: PropertyList? { .string(absoluteString) }
}

extension Decimal: Scalar {
    static var hasForms: Bool { true }

    /// The number in a string, or a number with the same digits.
    init?(scalar value: PropertyList) {
        switch value {
        case .string(let text): self.init(digits: text)
        case .integer(let number): self.init(digits: number.description)
        case .real(let number) where number.isFinite: self.init(digits: number.description)
        default: return nil
        }
    }

    static func isNear(_ kind: PropertyList.Kind) -> Bool { kind == .string || kind == .real }

    var scalar: PropertyList? { .string(description) }

    static var isExact: Bool { true }
    init?(spelling: String) { self.init(digits: spelling) }

    /// The number with exactly these digits. `Decimal` itself ignores text after the number, and rounds.
    private init?(digits text: String) {
        if text == Decimal.nan.description {
            self = .nan
            return
        }
        guard let digits = DecimalDigits(text), let number = Decimal(string: text),
            DecimalDigits(number.description) == digits
        else { return nil }
        self = number
    }
}

/// A decimal number such as `-12.5e3`, as its digits without leading and trailing zeros. The whole text must be the
/// number.
struct DecimalDigits: Equatable {
    private var digits: [UInt8] = []
    private var isNegative = false
    /// The power of ten of the last digit.
    private var exponent = 0

    init?(_ text: String) {
        var rest = text.utf8[...]
        isNegative = rest.takeSign()
        digits = rest.takeDigits()
        var count = digits.count
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = rest.takeDigits()
            (digits, exponent) = (digits + fraction, -fraction.count)
            count += fraction.count
        }
        guard count > 0 else { return nil }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            let sign = rest.takeSign() ? -1 : 1
            guard let power = Int(String(decoding: rest.takeDigits(), as: UTF8.self)), power < 1 << 40 else {
                return nil
            }
            exponent += sign * power
        }
        guard rest.isEmpty else { return nil }
        digits.removeSubrange(0..<digits.prefix { $0 == UInt8(ascii: "0") }.count)
        let zeros = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeLast(zeros)
        exponent += zeros
        if digits.isEmpty { (exponent, isNegative) = (0, false) }
    }

    /// The digits of an integer, or nil if it is not an integer or has more than 40 digits.
    var integer: String? {
        guard exponent >= 0, digits.count + exponent <= 40 else { return nil }
        let text = String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: exponent)
        return (isNegative ? "-" : "") + (text.isEmpty ? "0" : text)
    }
}

extension Substring.UTF8View {
    /// Takes a sign, and returns whether it is a minus.
    fileprivate mutating func takeSign() -> Bool {
        guard let sign = first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") else { return false }
        removeFirst()
        return sign == UInt8(ascii: "-")
    }

    /// Takes leading digits.
    fileprivate mutating func takeDigits() -> [UInt8] {
        let digits = prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        removeFirst(digits.count)
        return Array(digits)
    }
}
