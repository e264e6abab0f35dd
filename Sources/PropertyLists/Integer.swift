extension PropertyList {
    /// An integer from −2⁶³ to 2⁶⁴−1, which is the range of property lists.
    public struct Integer: Hashable, Sendable {
        /// The number in two's complement.
        let bits: UInt64
        /// Whether `bits` represent a negative `Int64`.
        let isNegative: Bool
    }
}

extension PropertyList.Integer {
    /// Creates an integer from an `Int`.
    public init(_ number: Int) { self.init(bits: UInt64(bitPattern: Int64(number)), isNegative: number < 0) }

    /// Creates an integer from an `Int64`.
    public init(_ number: Int64) { self.init(bits: UInt64(bitPattern: number), isNegative: number < 0) }

    /// Creates an integer from a `UInt64`.
    public init(_ number: UInt64) { self.init(bits: number, isNegative: false) }

    /// Creates an integer from a `UInt`.
    public init(_ number: UInt) { self.init(UInt64(number)) }

    /// Creates an integer, or returns nil if the number is out of range.
    public init?(exactly number: some BinaryInteger) {
        if let small = Int64(exactly: number) {
            self.init(small)
        } else if let large = UInt64(exactly: number) {
            self.init(large)
        } else {
            return nil
        }
    }

    /// Creates an integer from its magnitude and sign, or returns nil if it is below −2⁶³.
    init?(magnitude: UInt64, isNegative: Bool) {
        guard isNegative, magnitude > 0 else {
            self.init(magnitude)
            return
        }
        guard magnitude <= 1 << 63 else { return nil }
        self.init(bits: 0 &- magnitude, isNegative: true)
    }

    /// The absolute value.
    public var magnitude: UInt64 { isNegative ? 0 &- bits : bits }

    /// The nearest double.
    public var asDouble: Double { isNegative ? Double(Int64(bitPattern: bits)) : Double(bits) }
}

extension FixedWidthInteger {
    /// Converts an integer of a property list, or returns nil if it is out of range.
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
