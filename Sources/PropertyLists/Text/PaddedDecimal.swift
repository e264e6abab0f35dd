extension Double {
    /// The number with 17 significant digits, as `%.17g` prints it: `0.10000000000000001`. It must be finite and not
    /// zero.
    var paddedText: String {
        let (digits, exponent) = roundedDigits
        let last = digits.lastIndex { $0 != 0 } ?? 0
        let text = digits[...last].map { String($0) }
        let sign = self < 0 ? "-" : ""
        func joined(_ digits: some Sequence<String>) -> String { digits.joined() }
        guard (-4..<Self.precision).contains(exponent) else {
            let fraction = text.count > 1 ? "." + joined(text.dropFirst()) : ""
            let power = String(abs(exponent))
            return "\(sign)\(text[0])\(fraction)e\(exponent < 0 ? "-" : "+")\(power.utf8.count < 2 ? "0" : "")\(power)"
        }
        guard exponent >= 0 else {
            return sign + "0." + String(repeating: "0", count: -exponent - 1) + joined(text)
        }
        let whole = joined(text.prefix(exponent + 1)) + String(repeating: "0", count: max(0, exponent + 1 - text.count))
        let fraction = text.dropFirst(exponent + 1)
        return sign + whole + (fraction.isEmpty ? "" : "." + joined(fraction))
    }

    private static let precision = 17

    /// The 17 significant digits of the exact value, rounded to the nearest and in a tie to even, and the power of ten
    /// of the first.
    private var roundedDigits: (digits: [UInt8], exponent: Int) {
        // The value is significand · 2^power, and a negative power of two is a power of five over one of ten.
        var (significand, power) = (significandBitPattern, Int(exponentBitPattern) - 1075)
        if exponentBitPattern == 0 { power += 1 } else { significand |= 1 << 52 }
        var number = DecimalNumber(significand)
        for _ in 0..<abs(power) { number.multiply(by: power < 0 ? 5 : 2) }
        var digits = number.digits
        var exponent = digits.count - 1 + min(power, 0)
        guard digits.count > Self.precision else {
            return (digits + [UInt8](repeating: 0, count: Self.precision - digits.count), exponent)
        }
        let rest = digits[Self.precision...]
        digits = Array(digits[..<Self.precision])
        let isTie = rest.first == 5 && rest.dropFirst().allSatisfy { $0 == 0 }
        guard isTie ? digits[Self.precision - 1] % 2 == 1 : (rest.first ?? 0) >= 5 else { return (digits, exponent) }
        var index = Self.precision - 1
        while index >= 0, digits[index] == 9 {
            digits[index] = 0
            index -= 1
        }
        if index >= 0 {
            digits[index] += 1
        } else {
            digits = [1] + digits.dropLast()
            exponent += 1
        }
        return (digits, exponent)
    }
}

/// A natural number of any size.
private struct DecimalNumber {
    /// Groups of nine decimal digits, with the lowest first.
    private var groups: [UInt64] = []
    private static let base: UInt64 = 1_000_000_000

    init(_ number: UInt64) {
        var rest = number
        while rest > 0 {
            groups.append(rest % Self.base)
            rest /= Self.base
        }
    }

    mutating func multiply(by factor: UInt64) {
        var carry: UInt64 = 0
        for index in groups.indices {
            let product = groups[index] * factor + carry
            groups[index] = product % Self.base
            carry = product / Self.base
        }
        if carry > 0 { groups.append(carry) }
    }

    /// The digits without leading zeros.
    var digits: [UInt8] {
        var digits: [UInt8] = []
        for var group in groups {
            for _ in 0..<9 {
                digits.append(UInt8(group % 10))
                group /= 10
            }
        }
        while digits.last == 0 { digits.removeLast() }
        return digits.reversed()
    }
}
