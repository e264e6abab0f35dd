internal import Digests

/// A decimal number as written: `digits × 10^exponent`. Digits beyond the nineteenth are dropped.
struct Decimal19 {
    var digits: UInt64 = 0
    var exponent = 0
    var isNegative = false
    /// Whether nonzero digits were dropped.
    var isTruncated = false

    /// The nearest double, or nil if the remaining digits do not determine it or it is outside the exact range.
    var exactDouble: Double? {
        if digits == 0 { return isNegative ? -0.0 : 0 }
        guard !isTruncated else { return nil }
        let magnitude: Double
        if digits < 1 << 53, exponent >= -22, exponent <= 22 {
            // Both operands are exact, so there is a single rounding.
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

/// Returns `digits / 10^power`, rounded once, from an integer quotient of 64 bits. The remainder decides a tie.
private func quotient(_ digits: UInt64, powerOfFive power: Int) -> Double {
    let divisor = powerOfFive(power)
    let divisorShift = divisor.leadingZeroBitCount
    let digitsShift = digits.leadingZeroBitCount
    // With both operands at full width and the dividend halved, the quotient has 63 or 64 bits.
    let dividend = digits << UInt64(digitsShift)
    let (whole, rest) = (divisor << UInt64(divisorShift)).dividingFullWidth((dividend >> 1, dividend << 63))
    // The last bit is below the precision of a double. Setting it records that there is a remainder.
    let sticky = rest == 0 ? whole : whole | 1
    let exponent = divisorShift - digitsShift - 63 - power
    return Double(sticky) * Double(sign: .plus, exponent: exponent, significand: 1)
}

private func powerOfTen(_ power: Int) -> Double {
    powerTable[power]
}

/// A power of five that fits into a word. There are 28.
func powerOfFive(_ power: Int) -> UInt64 {
    fiveTable[power]
}

/// The powers of ten that are exact as doubles.
private let powerTable: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]

/// The powers of five that fit into a word.
private let fiveTable: [UInt64] = [
    1, 5, 25, 125,
    625, 3_125, 15_625, 78_125,
    390_625, 1_953_125, 9_765_625, 48_828_125,
    244_140_625, 1_220_703_125, 6_103_515_625, 30_517_578_125,
    152_587_890_625, 762_939_453_125, 3_814_697_265_625, 19_073_486_328_125,
    95_367_431_640_625, 476_837_158_203_125, 2_384_185_791_015_625, 11_920_928_955_078_125,
    59_604_644_775_390_625, 298_023_223_876_953_125, 1_490_116_119_384_765_625, 7_450_580_596_923_828_125,
]

/// Returns the double nearest to the decimal `text`, whose syntax is valid and whose number is `decimal`.
///
/// Returns nil if the number is beyond the greatest double, and zero if it is below the least one.
func double(of decimal: Decimal19, text: Bytes) -> Double? {
    if let exact = decimal.exactDouble { return exact }
    guard let parsed = Double(String(decoding: text, as: UTF8.self)), parsed.isFinite else { return nil }
    return parsed
}

extension Decimal19 {
    /// The result of scanning a number.
    struct Scan {
        var number: Decimal19
        /// The end of the number.
        var end: Int
        /// The number of digits before and after the point.
        var wholeDigits: Int
        var fractionDigits: Int
        var hasPoint: Bool
        /// Whether an exponent, if there is one, has at least one digit.
        var hasDigitsInExponent: Bool
        var beginsWithZero: Bool
    }

    /// Scans a sign, digits, a point, digits and an exponent. Any of these may be missing; the caller decides which
    /// must not be.
    static func scan(_ base: [UInt8], from start: Int, to end: Int, allowsPlus: Bool) -> Scan {
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

    private mutating func takeDigits(
        _ base: [UInt8], _ at: inout Int, _ end: Int, _ significant: inout Int, isFraction: Bool
    ) {
        while at < end {
            let digit = base[at] &- 0x30
            if digit > 9 { break }
            take(digit, &significant, isFraction: isFraction)
            at += 1
        }
    }

    /// Reads the exponent after its mark. Returns false if it does not begin with a digit.
    private mutating func takeExponent(_ base: [UInt8], _ at: inout Int, _ end: Int) -> Bool {
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
            // No input has enough digits to compensate for a greater exponent.
            if sum < 1 << 40 { sum = sum * 10 + Int(digit) }
            at += 1
        }
        exponent += isNegative ? -sum : sum
        return at > start
    }

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

extension Bytes {
    /// Parses a decimal number, or `nan`, `inf` or `infinity` in any case, with an optional sign. The number is nil for
    /// other text, and for a decimal number out of range.
    func real() -> (number: Double?, isDecimal: Bool) {
        let scan = Decimal19.scan(array, from: start, to: start + count, allowsPlus: true)
        if scan.end == start + count, scan.wholeDigits + scan.fractionDigits > 0, scan.hasDigitsInExponent {
            return (double(of: scan.number, text: self), true)
        }
        guard count <= "-infinity".utf8.count else { return (nil, false) }
        var name = String(decoding: self, as: UTF8.self).lowercased()
        let isNegative = name.hasPrefix("-")
        if isNegative || name.hasPrefix("+") { name.removeFirst() }
        switch name {
        case "nan": return (.nan, false)
        case "inf", "infinity": return (isNegative ? -.infinity : .infinity, false)
        default: return (nil, false)
        }
    }
}

extension PropertyList.Integer {
    /// Parses decimal digits with an optional sign. Returns nil if the text is invalid or the integer is out of range.
    init?(decimal text: Bytes) {
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
    /// Parses digits. Returns nil if there are none, if one is invalid, or if the number is out of range.
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

/// The shortest decimal number that is read as a given double. Of several, it is the nearest, and of two equally near,
/// the even one.
///
/// A double that has a fraction and is not small is `c × 2^q` with `c < 2^53` and `-66 ≤ q < 0`. The numbers that are
/// read as this double form an interval that reaches halfway to the neighboring doubles. It is scaled by `10^n`, with
/// the least `n` for which the interval contains an integer. Then the double and both ends are fractions with a
/// numerator of two words and a power of two as the denominator, so all computations are exact. For other doubles,
/// `5^n` would exceed a word. They are rare, and the standard library handles them.
///
///     0.3 = 5404319552844595 × 2^-54     n = 17     least 29999999999999997     greatest 30000000000000001
///     digits 3, places 1
struct ShortestDecimal {
    private(set) var digits: UInt64
    /// The number of digits after the point.
    private(set) var places: Int

    /// Creates the decimal of a number that has a fraction and is at least 10⁻⁴. Returns nil for other numbers.
    init?(_ number: Double) {
        guard number >= 1e-4, number < 0x1p52, number != number.rounded(.towardZero) else { return nil }
        let fraction = number.bitPattern & ~(~0 << 52)
        let exponent = Int(truncatingIfNeeded: number.bitPattern >> 52) - 1075
        places = Self.leastPlaces(exponent)
        let interval = ScaledInterval(
            significand: fraction | 1 << 52, power: powerOfFive(places), shift: UInt64(2 - exponent - places),
            isPowerOfTwo: fraction == 0)
        digits = 0
        shorten(interval)
    }

    /// The least `n` for which `10^n × 2^exponent` exceeds 4/3, or one more if that is close.
    ///
    /// The narrowest intervals, those around powers of two, have a width of `3/4 × 2^exponent`, so they contain an
    /// integer.
    private static func leastPlaces(_ exponent: Int) -> Int {
        // The decimal logarithms of 2 and 4/3 as multiples of 2^-18, rounded up.
        (-exponent * 78_914 + 32_753) >> 18 + 1
    }

    private mutating func shorten(_ interval: ScaledInterval) {
        var (least, greatest, unit) = (interval.least, interval.greatest, 1 as UInt64)
        /// Removes trailing zeros while the interval contains a number that ends with them.
        func dropZeros(_ count: Int, _ factor: UInt64) {
            while true {
                let quotient = greatest / factor
                guard quotient &* factor >= least else { return }
                least = (least &+ (factor - 1)) / factor
                greatest = quotient
                unit = unit &* factor
                places -= count
            }
        }
        dropZeros(8, 100_000_000)
        dropZeros(1, 10)
        digits = least
        if least == greatest { return }
        // The interval is shorter than 14, so it contains several multiples only of 1 or 10.
        let nearest = unit == 1 ? interval.nearest : interval.nearestTen
        digits = min(max(nearest, least), greatest)
    }
}

/// The interval of numbers that are read as a given double, scaled by a power of ten.
private struct ScaledInterval {
    /// The scaled double: its integer part, and its fraction as a multiple of 2^-64.
    private let whole: UInt64
    private let fraction: UInt64
    /// The least and the greatest integer in the interval.
    let least: UInt64
    let greatest: UInt64

    /// Creates the interval of `4 × significand × power / 2^shift`. The shift is 2 to 50 and the product is below
    /// 2^112.
    init(significand: UInt64, power: UInt64, shift: UInt64, isPowerOfTwo: Bool) {
        let (high, low) = (significand << 2).multipliedFullWidth(by: power)
        let mask: UInt64 = ~(~0 << shift)
        whole = high << (64 - shift) | low >> shift
        let rest = low & mask
        fraction = low << (64 - shift)
        // A tie is read as the even double. Below a power of two, the distance between doubles is half as large.
        let includesEnds: UInt64 = significand & 1 ^ 1
        let (above, below) = (power << 1, isPowerOfTwo ? power : power << 1)
        let upper = rest &+ (above & mask)
        greatest = whole &+ above >> shift &+ upper >> shift &- (upper & mask == 0 ? 1 &- includesEnds : 0)
        let lower = rest &- (below & mask)
        let borrow = lower >> 63
        least = whole &- below >> shift &- borrow &+ (lower & mask == 0 ? 1 &- includesEnds : 1)
    }

    /// The integer nearest to the double, or the even one of two.
    var nearest: UInt64 {
        let half: UInt64 = 1 << 63
        return whole &+ (fraction > half || (fraction == half && whole & 1 == 1) ? 1 : 0)
    }

    /// The multiple of ten nearest to the double, divided by ten, or the even one of two.
    var nearestTen: UInt64 {
        let (tens, ones) = whole.quotientAndRemainder(dividingBy: 10)
        return tens &+ (ones > 5 || (ones == 5 && (fraction > 0 || tens & 1 == 1)) ? 1 : 0)
    }
}

extension OutputBuffer {
    mutating func append(_ number: PropertyList.Integer) {
        if number.isNegative { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
    }

    /// Writes the digits of `number`, with zeros before them up to `width`.
    mutating func append(decimal number: UInt64, width: Int = 1) {
        let (upper, lower) = number.quotientAndRemainder(dividingBy: 100_000_000)
        let digits = eightDigits(of: lower)
        if upper > 0 || width > 8 {
            append(decimal: upper, width: width - 8)
            append(word: digits)
        } else {
            let zeros = min((digits ^ ByteScan.ones &* 0x30).trailingZeroBitCount / 8, 8 - width)
            append(word: digits >> UInt64(8 * zeros), count: 8 - zeros)
        }
    }

    /// Writes a real with the fewest digits that are read back as the same number. A whole number has neither a point
    /// nor an exponent unless `keepsPoint`.
    mutating func append(_ number: Double, keepsPoint: Bool) {
        let greatestWhole = keepsPoint ? 0x1p53 : 1e17
        if let decimal = ShortestDecimal(number.magnitude) {
            if number < 0 { append(UInt8(ascii: "-")) }
            append(decimal)
        } else if number.magnitude < greatestWhole, let whole = Int64(exactly: number),
            whole != 0 || number.sign == .plus
        {
            append(PropertyList.Integer(whole))
            if keepsPoint { append(".0") }
        } else {
            append(text: number.description)
        }
    }

    private mutating func append(_ decimal: ShortestDecimal) {
        let whole = decimal.places < powersOfTen.count ? decimal.digits / powersOfTen[decimal.places] : 0
        append(decimal: whole)
        append(UInt8(ascii: "."))
        let fraction = whole == 0 ? decimal.digits : decimal.digits - whole * powersOfTen[decimal.places]
        append(decimal: fraction, width: decimal.places)
    }
}

/// The eight digits of a number below 10⁸, with the first in the lowest byte.
private func eightDigits(of number: UInt64) -> UInt64 {
    // Divides groups of four, of two and of one digit side by side, with products that round down to the quotient.
    let fours = number / 10_000 | (number % 10_000) << 32
    let hundreds = (fours &* 10_486) >> 20 & 0x0000_007F_0000_007F
    let twos = hundreds | (fours &- hundreds &* 100) << 16
    let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
    return (tens | (twos &- tens &* 10) << 8) &+ ByteScan.ones &* 0x30
}

/// The powers of ten that fit into a word.
private let powersOfTen: [UInt64] = [
    1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
    100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
    10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
]
