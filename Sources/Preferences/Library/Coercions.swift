package import PropertyLists

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The conversions of the untyped accessors, compatible with Foundation's `UserDefaults` on Linux.
///
/// Arrays, dictionaries, data and dates are never converted; use `arrayValue` and its siblings. Where the result in
/// Foundation depends on the processor or is missing, these return the nearest number:
///
/// - A real outside the range of integers is clamped, and NaN is 0. Foundation on x86 always returns the least integer.
/// - Integers from 2⁶³−1 up are numbers. Foundation returns no value once they were in a file.
/// - −0.0 keeps its sign. In Foundation it loses the sign once it was in a file.
/// - A text with a character beyond U+FFFF or a combining character is read like any other. Foundation may trap, or
///   return false for `1` followed by such a character.
extension PropertyList {
    /// The value rounded towards zero, or 0 if it is not a number.
    package var asInteger: Int {
        switch self {
        case .integer(let number): Int(exactly: number) ?? (number < 0 ? .min : .max)
        case .real(let number): Int(clamping: number)
        case .boolean(let flag): flag ? 1 : 0
        case .string(let text): text.scanned { $0.integer() }
        default: 0
        }
    }

    package var asDouble: Double {
        switch self {
        case .integer(let number): number.asDouble
        case .real(let number): number
        case .boolean(let flag): flag ? 1 : 0
        case .string(let text): text.scanned { $0.real() }
        default: 0
        }
    }

    /// The nearest `Float`, or an infinity for a value beyond its range.
    package var asFloat: Float {
        switch self {
        case .integer(let number): number < 0 ? -Float(number.magnitude) : Float(number.magnitude)
        case .real(let number): Float(number)
        case .boolean(let flag): flag ? 1 : 0
        case .string(let text): text.scanned { $0.real() }
        default: 0
        }
    }

    /// Whether a number is not 0, or a text begins like a yes.
    package var asBoolean: Bool {
        switch self {
        case .integer(let number): number != 0
        case .real(let number): number != 0
        case .boolean(let flag): flag
        case .string(let text): text.scanned { $0.boolean() }
        default: false
        }
    }

    /// The text, a number in the fewest digits that identify it, or `1` or `0` for a Boolean.
    package var asString: String? {
        switch self {
        case .integer(let number): number.description
        case .real(let number): number.description
        case .boolean(let flag): flag ? "1" : "0"
        case .string(let text): text
        default: nil
        }
    }

    /// The strings of an array that contains nothing else.
    package var asStringArray: [String]? {
        guard case .array(let elements) = self else { return nil }
        let texts = elements.compactMap(\.stringValue)
        return texts.count == elements.count ? texts : nil
    }
}

extension String {
    fileprivate func scanned<Result>(_ read: (inout NumberScanner) -> Result) -> Result {
        var scanner = NumberScanner(self)
        return read(&scanner)
    }
}

extension Int {
    /// Rounds towards zero and clamps to the range of `Int`. NaN becomes 0.
    fileprivate init(clamping number: Double) {
        if number.isNaN {
            self = 0
        } else {
            self = Int(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
        }
    }
}

extension PropertyList {
    /// Converts the value to a URL. A text with a scheme is a URL, and any other text is the path of a file.
    ///
    /// A relative path starts in the working folder, and the URL of a folder ends in a slash. Both are resolved in the
    /// file system, like Foundation does. Data is a keyed archive of a URL, as Foundation on macOS stores it.
    ///
    /// - Parameter home: Returns the home of a user, or of the present user for nil. If it returns nil, the tilde is
    ///   not replaced.
    package func asURL(home: (_ user: String?) -> String?) -> URL? {
        switch self {
        case .string(let text):
            if text.hasScheme, let url = URL(string: text) { return url }
            return URL(filePath: text.expandingTilde(home), directoryHint: .checkFileSystem)
        case .data(let data): return Self.archivedURL(in: data)
        default: return nil
        }
    }

    /// Returns the URL at the root of a keyed archive.
    private static func archivedURL(in data: Data) -> URL? {
        guard let archive = try? PropertyList(parsing: data),
            case .array(let objects)? = archive["$objects"],
            let root = objects.object(archive["$top"]?["root"]),
            let text = objects.object(root["NS.relative"])?.stringValue
        else {
            return nil
        }
        guard let base = objects.object(root["NS.base"]) else { return nil }
        guard base["$class"] != nil else { return URL(string: text) }
        guard let baseText = objects.object(base["NS.relative"])?.stringValue, let url = URL(string: baseText) else {
            return nil
        }
        return URL(string: text, relativeTo: url)
    }
}

extension [PropertyList] {
    /// Resolves a reference inside an archive.
    fileprivate func object(_ reference: PropertyList?) -> PropertyList? {
        guard case .uid(let number)? = reference, let index = Int(exactly: number), indices.contains(index) else {
            return nil
        }
        return self[index]
    }
}

extension String {
    /// Whether the text begins with a scheme: a letter, then letters, digits, `+`, `-` or `.`, then a colon.
    fileprivate var hasScheme: Bool {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), let first = utf8.first else { return false }
        return first.isLetter
            && utf8[..<colon].allSatisfy {
                $0.isLetter || (0x30...0x39).contains($0) || "+-.".utf8.contains($0)
            }
    }

    /// Returns the path with the home of a user in place of a leading `~` or `~name`.
    fileprivate func expandingTilde(_ home: (_ user: String?) -> String?) -> String {
        guard utf8.first == UInt8(ascii: "~") else { return self }
        let end = utf8.firstIndex(of: UInt8(ascii: "/")) ?? endIndex
        let user = String(self[..<end].dropFirst())
        guard let folder = home(user.isEmpty ? nil : user) else { return self }
        return folder + self[end...]
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}

/// A scanner for the number or boolean at the start of a text, compatible with Foundation's string accessors on Linux.
///
/// Text after the number is ignored: `12abc` is 12, and `1e3` as an integer is 1.
struct NumberScanner: ~Copyable {
    private var rest: Substring.UnicodeScalarView

    init(_ text: String) { rest = text[...].unicodeScalars }
}

extension NumberScanner {
    /// Scans white space, a sign, white space and digits. The result is clamped to the range of `Int`.
    mutating func integer() -> Int {
        skip(\.isSpaceOrNewline)
        let isNegative = takeSign() == "-"
        skip(\.isSpaceOrNewline)
        var number = 0
        while let digit = takeDigit() {
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                isNegative
                ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !overflow, !carry else { return isNegative ? .min : .max }
            number = sum
        }
        return number
    }

    /// Scans spaces, a sign, spaces, digits, a point, digits and an exponent. Returns 0 if an exponent has no digits.
    mutating func real<Number: LosslessStringConvertible & BinaryFloatingPoint>() -> Number {
        skip(\.isSpace)
        let sign = takeSign()
        skip(\.isSpace)
        var digits = takeDigits()
        var text = digits
        if take(where: { $0 == "." }) != nil {
            let fraction = takeDigits()
            text += "." + (fraction.isEmpty ? "0" : fraction)
            digits += fraction
        }
        guard !digits.isEmpty else { return 0 }
        if take(where: { $0 == "e" || $0 == "E" }) != nil {
            let sign = takeSign().map { String($0) } ?? ""
            text += "e" + sign + takeDigits()
        }
        guard let magnitude = Number(text.hasPrefix(".") ? "0" + text : text) else { return 0 }
        return sign == "-" ? -magnitude : magnitude
    }

    /// Whether the text begins with `t`, `T`, `y` or `Y`, or with a sign, zeros and a digit other than 0. White space
    /// is allowed before each of these.
    mutating func boolean() -> Bool {
        skip(\.isSpaceOrNewline)
        if let first = rest.first, "tTyY".unicodeScalars.contains(first) { return true }
        _ = takeSign()
        skip(\.isSpaceOrNewline)
        skip { $0 == "0" }
        skip(\.isSpaceOrNewline)
        return ("1"..."9").contains(rest.first ?? "0")
    }
}

extension NumberScanner {
    private mutating func skip(_ isSkipped: (Unicode.Scalar) -> Bool) { rest = rest.drop(while: isSkipped) }

    private mutating func take(where isTaken: (Unicode.Scalar) -> Bool) -> Unicode.Scalar? {
        guard let first = rest.first, isTaken(first) else { return nil }
        rest.removeFirst()
        return first
    }

    private mutating func takeSign() -> Unicode.Scalar? { take { $0 == "-" || $0 == "+" } }

    private mutating func takeDigit() -> Int? {
        take { ("0"..."9").contains($0) }.map { Int($0.value) - 0x30 }
    }

    private mutating func takeDigits() -> String {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        rest = rest.dropFirst(digits.count)
        return String(Substring(digits))
    }
}

extension Unicode.Scalar {
    /// Whether this is in Foundation's set `whitespaces`: the category Zs, the tab, and the zero-width space.
    var isSpace: Bool {
        switch value {
        case 0x09, 0x20, 0xA0, 0x1680, 0x2000...0x200B, 0x202F, 0x205F, 0x3000: true
        default: false
        }
    }

    /// Whether this is in Foundation's set `whitespacesAndNewlines`.
    var isSpaceOrNewline: Bool {
        switch value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: isSpace
        }
    }
}

/// The parser of the layer `arguments` of a program without declared settings: `-key value` pairs, as in Foundation.
package enum ArgumentDomain {
    /// Returns the values on a command line. The last value of a key is used.
    ///
    /// - Parameter arguments: The command line, with or without the name of the program.
    package static func values(in arguments: [String]) -> PropertyList.Dictionary {
        var values = PropertyList.Dictionary()
        var rest = arguments[...]
        while let key = rest.popFirst() {
            guard let value = rest.first, key.isDashed, !value.isDashed else { continue }
            rest.removeFirst()
            // A single dash is not a key, but its value is skipped.
            if key.count > 1 { values[String(key.dropFirst())] = self.value(value.trimmed) }
        }
        return values
    }

    /// Parses a text that looks like a property list, and returns any other text as a string.
    ///
    /// JSON is not parsed, because Foundation reads only XML and old-style text from arguments.
    private static func value(_ text: String) -> PropertyList {
        switch text.first {
        case "<":
            return value(text, as: .xml) ?? value(text, as: .openstep) ?? .string(text)
        case "{", "[", "(", "\"":
            return value(text, as: .openstep) ?? .string(text)
        default: return .string(text)
        }
    }

    private static func value(_ text: String, as format: PropertyList.Format) -> PropertyList? {
        try? PropertyList(parsing: text, as: format)
    }
}

extension String {
    fileprivate var isDashed: Bool { hasPrefix("-") }

    fileprivate var trimmed: String {
        let start = unicodeScalars.drop(while: \.isSpaceOrNewline)
        let count = start.reversed().drop(while: \.isSpaceOrNewline).count
        return String(Substring(start.prefix(count)))
    }
}
