internal import Digests

/// A decimal number as written: `digits × 10^exponent`, where digits beyond the nineteenth are dropped.
struct Decimal19 {
    var digits: UInt64 = 0
    var exponent = 0
    var isNegative = false
    /// Whether digits that are not zero were dropped.
    var isTruncated = false

    /// The nearest double, or nil where the digits kept do not decide it or it lies outside the exact range.
    @inline(__always)
    var exactDouble: Double? {
        if digits == 0 { return isNegative ? -0.0 : 0 }
        guard !isTruncated else { return nil }
        let magnitude: Double
        if digits < 1 << 53, exponent >= -22, exponent <= 22 {
            // Both factors are exact, so one operation rounds once.
            let digits = Double(digits)
            magnitude = exponent < 0 ? digits / powerOfTen(-exponent) : digits * powerOfTen(exponent)
        } else if exponent < 0, exponent >= -27 {
            magnitude = quotient(digits, powerOfFive: -exponent)
        } else {
            return nil
        }
        return isNegative ? -magnitude : magnitude
    }
}

/// `digits / 10^power`, rounded once: an integer quotient of 64 bits, whose remainder decides a tie.
private func quotient(_ digits: UInt64, powerOfFive power: Int) -> Double {
    let divisor = powerOfFive(power)
    let divisorShift = divisor.leadingZeroBitCount
    let digitsShift = digits.leadingZeroBitCount
    // With both at full width and the dividend halved, the quotient has 63 or 64 bits.
    let dividend = digits << UInt64(digitsShift)
    let (whole, rest) = (divisor << UInt64(divisorShift)).dividingFullWidth((dividend >> 1, dividend << 63))
    // The sign is below the precision of a double: an odd last bit says that something is left.
    let sticky = rest == 0 ? whole : whole | 1
    let exponent = divisorShift - digitsShift - 63 - power
    return Double(sticky) * Double(sign: .plus, exponent: exponent, significand: 1)
}

@inline(__always)
private func powerOfTen(_ power: Int) -> Double {
    powerTable.withUnsafeBufferPointer { $0[power] }
}

/// A power of five that a word holds, of which there are 28.
@inline(__always)
func powerOfFive(_ power: Int) -> UInt64 {
    fiveTable.withUnsafeBufferPointer { $0[power] }
}

/// The powers of ten that a double holds exactly.
private let powerTable: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]

/// The powers of five that a word holds.
private let fiveTable: [UInt64] = [
    1, 5, 25, 125,
    625, 3_125, 15_625, 78_125,
    390_625, 1_953_125, 9_765_625, 48_828_125,
    244_140_625, 1_220_703_125, 6_103_515_625, 30_517_578_125,
    152_587_890_625, 762_939_453_125, 3_814_697_265_625, 19_073_486_328_125,
    95_367_431_640_625, 476_837_158_203_125, 2_384_185_791_015_625, 11_920_928_955_078_125,
    59_604_644_775_390_625, 298_023_223_876_953_125, 1_490_116_119_384_765_625, 7_450_580_596_923_828_125,
]

/// The nearest double to the decimal `text`, whose grammar has been checked and whose number is `decimal`.
///
/// Nil where it is beyond the greatest double; below the least one it is zero.
func double(of decimal: Decimal19, text: UnsafeBufferPointer<UInt8>) -> Double? {
    if let exact = decimal.exactDouble { return exact }
    guard let parsed = Double(String(decoding: text, as: UTF8.self)), parsed.isFinite else { return nil }
    return parsed
}

extension Decimal19 {
    /// What an attempt to read a number found.
    struct Scan {
        var number: Decimal19
        /// Where the number ends.
        var end: Int
        /// Digits before and behind the point.
        var wholeDigits: Int
        var fractionDigits: Int
        var hasPoint: Bool
        /// Whether an exponent's mark is followed by at least one digit.
        var hasDigitsInExponent: Bool
        var beginsWithZero: Bool
    }

    /// Reads sign, digits, point, digits and exponent as far as they go; what of it may be missing is the caller's to
    /// say.
    @inline(__always)
    static func scan(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int, allowsPlus: Bool) -> Scan {
        var number = Decimal19()
        var at = start
        if at < end, base[at] == UInt8(ascii: "-") || (allowsPlus && base[at] == UInt8(ascii: "+")) {
            number.isNegative = base[at] == UInt8(ascii: "-")
            at += 1
        }
        let wholeStart = at
        var significant = 0
        number.takeDigits(base, &at, end, &significant, isFraction: false)
        var scan = Scan(
            number: number, end: at, wholeDigits: at - wholeStart, fractionDigits: 0, hasPoint: false,
            hasDigitsInExponent: true, beginsWithZero: at > wholeStart && base[wholeStart] == 0x30)
        if at < end, base[at] == UInt8(ascii: ".") {
            scan.hasPoint = true
            at += 1
            let fractionStart = at
            number.takeDigits(base, &at, end, &significant, isFraction: true)
            scan.fractionDigits = at - fractionStart
        }
        if at < end, base[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            scan.hasDigitsInExponent = number.takeExponent(base, &at, end)
        }
        scan.number = number
        scan.end = at
        return scan
    }

    @inline(__always)
    private mutating func takeDigits(
        _ base: UnsafePointer<UInt8>, _ at: inout Int, _ end: Int, _ significant: inout Int, isFraction: Bool
    ) {
        while at < end {
            let digit = base[at] &- 0x30
            if digit > 9 { break }
            take(digit, &significant, isFraction: isFraction)
            at += 1
        }
    }

    /// Takes what stands behind the mark of an exponent; false where that is no digit.
    @inline(__always)
    private mutating func takeExponent(_ base: UnsafePointer<UInt8>, _ at: inout Int, _ end: Int) -> Bool {
        var isNegative = false
        if at < end, base[at] == UInt8(ascii: "-") || base[at] == UInt8(ascii: "+") {
            isNegative = base[at] == UInt8(ascii: "-")
            at += 1
        }
        let start = at
        var sum = 0
        while at < end {
            let digit = base[at] &- 0x30
            if digit > 9 { break }
            // No input has so many digits that they could make up for more.
            if sum < 1 << 40 { sum = sum * 10 + Int(digit) }
            at += 1
        }
        exponent += isNegative ? -sum : sum
        return at > start
    }

    @inline(__always)
    private mutating func take(_ digit: UInt8, _ significant: inout Int, isFraction: Bool) {
        if significant < 19 {
            digits = digits &* 10 &+ UInt64(digit)
            if digits > 0 { significant += 1 }
            if isFraction { exponent -= 1 }
        } else {
            significant += 1
            if digit != 0 { isTruncated = true }
            if !isFraction { exponent += 1 }
        }
    }
}

extension PropertyList.Integer {
    /// The integer that decimal digits behind an optional sign say, or nil where it does not fit.
    init?(decimal text: UnsafeBufferPointer<UInt8>) {
        var isNegative = false
        var digits = text[...]
        if let first = digits.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            isNegative = first == UInt8(ascii: "-")
            digits = digits.dropFirst()
        }
        guard let magnitude = UInt64(digits: digits, radix: 10) else { return nil }
        self.init(magnitude: magnitude, isNegative: isNegative)
    }
}

extension UInt64 {
    /// The number that `digits` say, or nil where there is none, another character, or too many.
    init?(digits: some Collection<UInt8>, radix: UInt64) {
        guard !digits.isEmpty else { return nil }
        var value: UInt64 = 0
        for character in digits {
            guard let digit = Hexadecimal.value(ofDigit: character), UInt64(digit) < radix else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: radix)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        self = value
    }
}
