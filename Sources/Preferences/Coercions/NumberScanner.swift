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
