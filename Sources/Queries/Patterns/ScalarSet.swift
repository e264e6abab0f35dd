/// A set of Unicode scalars: a literal, a class, or a complement.
struct ScalarSet: Hashable, Sendable {
    /// The members among the first 128 scalars as bits, since most text is ASCII.
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    /// The other members, as ranges in written order.
    private var ranges: [ClosedRange<UInt32>] = []
    private var isComplement = false

    init() {}

    init(_ scalar: Unicode.Scalar) { insert(scalar.value...scalar.value) }

    private init(_ ranges: [ClosedRange<UInt32>]) { for range in ranges { insert(range) } }

    var complement: ScalarSet {
        var result = self
        result.isComplement.toggle()
        return result
    }

    static let digits = ScalarSet([0x30...0x39])
    static let wordCharacters = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let spaces = ScalarSet([0x09...0x0D, 0x20...0x20])
    static let all = ScalarSet().complement
    static let allButNewline = ScalarSet([0x0A...0x0A]).complement

    mutating func insert(_ range: ClosedRange<UInt32>) {
        if range.lowerBound < 0x80 {
            for code in range.lowerBound...min(range.upperBound, 0x7F) {
                if code < 64 { low |= 1 << UInt64(code) } else { high |= 1 << UInt64(code - 64) }
            }
        }
        if range.upperBound >= 0x80 { ranges.append(max(range.lowerBound, 0x80)...range.upperBound) }
    }

    /// Adds the members of a set that is not a complement.
    mutating func formUnion(_ other: ScalarSet) {
        low |= other.low
        high |= other.high
        ranges += other.ranges
    }

    /// Returns whether a scalar or one of its other cases is listed; for a complement, whether none is.
    func contains(_ code: UInt32, or others: [UInt32]) -> Bool {
        if others.isEmpty { return contains(code) }
        let all = others + [code]
        return isComplement ? all.allSatisfy(contains) : all.contains(where: contains)
    }

    func contains(_ code: UInt32) -> Bool {
        let isListed: Bool
        if code < 64 {
            isListed = low >> UInt64(code) & 1 == 1
        } else if code < 128 {
            isListed = high >> UInt64(code - 64) & 1 == 1
        } else {
            isListed = ranges.contains { $0.contains(code) }
        }
        return isListed != isComplement
    }
}
