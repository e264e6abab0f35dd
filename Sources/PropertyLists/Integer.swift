extension PropertyList {
    /// A whole number from −2⁶³ to 2⁶⁴−1: all that a property list can hold, exactly.
    public struct Integer: Hashable, Sendable {
        /// The number in two's complement.
        let bits: UInt64
        /// Whether `bits` are to be read as a negative `Int64`.
        let isNegative: Bool

        @inline(__always)
        init(bits: UInt64, isNegative: Bool) {
            self.bits = bits
            self.isNegative = isNegative
        }
    }
}

extension PropertyList.Integer {
    /// Holds a number of the machine's own size.
    @inline(__always)
    public init(_ number: Int) { self.init(bits: UInt64(bitPattern: Int64(number)), isNegative: number < 0) }

    /// Holds any signed number of 64 bits.
    @inline(__always)
    public init(_ number: Int64) { self.init(bits: UInt64(bitPattern: number), isNegative: number < 0) }

    /// Holds any unsigned number of 64 bits.
    @inline(__always)
    public init(_ number: UInt64) { self.init(bits: number, isNegative: false) }

    /// Holds any unsigned number, as the format does.
    public init(_ number: UInt) { self.init(UInt64(number)) }

    /// The number, or nil where no property list can hold it.
    public init?(exactly number: some BinaryInteger) {
        if let small = Int64(exactly: number) {
            self.init(small)
        } else if let large = UInt64(exactly: number) {
            self.init(large)
        } else {
            return nil
        }
    }

    /// The number that `magnitude` and a sign say, or nil below −2⁶³.
    @inline(__always)
    init?(magnitude: UInt64, isNegative: Bool) {
        guard isNegative, magnitude > 0 else {
            self.init(magnitude)
            return
        }
        guard magnitude <= 1 << 63 else { return nil }
        self.init(bits: 0 &- magnitude, isNegative: true)
    }

    /// The distance from zero.
    public var magnitude: UInt64 { isNegative ? 0 &- bits : bits }

    /// The nearest double.
    public var asDouble: Double { isNegative ? Double(Int64(bitPattern: bits)) : Double(bits) }
}

extension FixedWidthInteger {
    /// The same number in this type, or nil where it does not fit.
    public init?(exactly number: PropertyList.Integer) {
        if number.isNegative {
            self.init(exactly: Int64(bitPattern: number.bits))
        } else {
            self.init(exactly: number.bits)
        }
    }
}

extension PropertyList.Integer: Comparable {
    public static func < (left: Self, right: Self) -> Bool {
        left.isNegative == right.isNegative ? left.bits < right.bits : left.isNegative
    }
}

extension PropertyList.Integer: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self.init(value) }
}

extension PropertyList.Integer: CustomStringConvertible {
    public var description: String { isNegative ? Int64(bitPattern: bits).description : bits.description }
}
