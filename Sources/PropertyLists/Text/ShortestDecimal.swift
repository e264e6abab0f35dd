/// The decimal number with the fewest digits that is read as a certain double, and of several the nearest to it (of two
/// the even one).
///
/// A double that has a fraction and is not small is `c × 2^q` with `c < 2^53` and `-66 ≤ q < 0`. What is read as it
/// reaches halfway to the doubles next to it. Times `10^n`, with `n` just great enough that an integer lies in there,
/// the double and both ends are fractions with a numerator of two words and a power of two below. So nothing here is
/// an estimate. For other doubles `5^n` would outgrow its word; they are rare and left to the standard library.
///
///     0.3 = 5404319552844595 × 2^-54     n = 17     least 29999999999999997     greatest 30000000000000001
///     digits 3, places 1
struct ShortestDecimal {
    private(set) var digits: UInt64
    /// How many of the digits stand behind the point.
    private(set) var places: Int

    /// The decimal of a number that has a fraction and is at least 10⁻⁴, or nil for any other.
    @inline(__always)
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

    /// The least `n` for which `10^n × 2^exponent` is over 4/3; where that is close, one more.
    ///
    /// From halfway below a power of two to halfway above it is 3/4 of that: an integer lies in between.
    @inline(__always)
    private static func leastPlaces(_ exponent: Int) -> Int {
        // The logarithms of 2 and of 4/3, in parts of 2^18 and rounded up.
        (-exponent * 78_914 + 32_753) >> 18 + 1
    }

    @inline(__always)
    private mutating func shorten(_ interval: ScaledInterval) {
        var (least, greatest, unit) = (interval.least, interval.greatest, 1 as UInt64)
        /// Takes zeros off the end as long as a number that has them there is in the interval.
        @inline(__always) func dropZeros(_ count: Int, _ factor: UInt64) {
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
        // The interval is shorter than 14, so there are several only of ones or of tens.
        let nearest = unit == 1 ? interval.nearest : interval.nearestTen
        digits = min(max(nearest, least), greatest)
    }
}

/// The numbers that are read as a certain double, times a power of ten.
private struct ScaledInterval {
    /// The double itself: what is before the point, and what is behind it in parts of 2^64.
    private let whole: UInt64
    private let fraction: UInt64
    /// The integers at both ends.
    let least: UInt64
    let greatest: UInt64

    /// The interval of `4 × significand × power / 2^shift`, where the shift is 2 to 50 and the product below 2^112.
    @inline(__always)
    init(significand: UInt64, power: UInt64, shift: UInt64, isPowerOfTwo: Bool) {
        let (high, low) = (significand << 2).multipliedFullWidth(by: power)
        let mask: UInt64 = ~(~0 << shift)
        whole = high << (64 - shift) | low >> shift
        let rest = low & mask
        fraction = low << (64 - shift)
        // A tie is read as the even one. Below a power of two the doubles lie twice as close.
        let includesEnds: UInt64 = significand & 1 ^ 1
        let (above, below) = (power << 1, isPowerOfTwo ? power : power << 1)
        let upper = rest &+ (above & mask)
        greatest = whole &+ above >> shift &+ upper >> shift &- (upper & mask == 0 ? 1 &- includesEnds : 0)
        let lower = rest &- (below & mask)
        let borrow = lower >> 63
        least = whole &- below >> shift &- borrow &+ (lower & mask == 0 ? 1 &- includesEnds : 1)
    }

    /// The integer next to the double; of two as near the even one.
    @inline(__always)
    var nearest: UInt64 {
        let half: UInt64 = 1 << 63
        return whole &+ (fraction > half || (fraction == half && whole & 1 == 1) ? 1 : 0)
    }

    /// The number of tens next to the double; of two as near the even one.
    @inline(__always)
    var nearestTen: UInt64 {
        let (tens, ones) = whole.quotientAndRemainder(dividingBy: 10)
        return tens &+ (ones > 5 || (ones == 5 && (fraction > 0 || tens & 1 == 1)) ? 1 : 0)
    }
}
