// A number may change its type where nothing is lost by it.

extension Scalar where Self: FixedWidthInteger {
    @inline(__always)
    init?(scalar value: PropertyList) {
        if case .integer(let number) = value {
            self.init(exactly: number)
        } else {
            self.init(otherScalar: value)
        }
    }

    static func isNear(_ kind: PropertyList.Kind) -> Bool {
        kind == .integer || kind == .real || kind == .uid && !isSigned
    }

    /// A real without a fraction counts as an integer, as it does for Foundation; a uid is an unsigned number.
    @inline(never)
    private init?(otherScalar value: PropertyList) {
        switch value {
        case .real(let number): self.init(exactly: number)
        case .uid(let number) where !Self.isSigned: self.init(exactly: number)
        default: return nil
        }
    }

    @inline(__always)
    var scalar: PropertyList? { PropertyList.Integer(exactly: self).map(PropertyList.integer) }
}

extension Int: Scalar {
    @inline(__always)
    var scalar: PropertyList? { .integer(PropertyList.Integer(self)) }
}

extension Int8: Scalar {}
extension Int16: Scalar {}
extension Int32: Scalar {}
extension Int64: Scalar {}
extension Int128: Scalar {}
extension UInt: Scalar {}
extension UInt8: Scalar {}
extension UInt16: Scalar {}
extension UInt32: Scalar {}
extension UInt64: Scalar {}
extension UInt128: Scalar {}

extension Double: Scalar {
    @inline(__always)
    init?(scalar value: PropertyList) {
        switch value {
        case .real(let number): self = number
        case .integer(let number): self.init(exactly: number)
        default: return nil
        }
    }

    static func isNear(_ kind: PropertyList.Kind) -> Bool { kind == .integer }

    @inline(__always)
    var scalar: PropertyList? { .real(self) }
}

extension Float: Scalar {
    /// The nearest `Float` to a real; an integer must be one exactly.
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
    var shortestDouble: Double {
        let wide = Double(self)
        guard magnitude >= 0x1p-10, magnitude < 0x1p24 else {
            return isFinite && self != 0 ? Double(description) ?? wide : wide
        }
        // Below 2⁵³ and up to 10²² both numbers of the quotient are exact, so it is the double nearest to the decimal.
        var power = 1.0
        while power <= 1e9 {
            let candidate = (wide * power).rounded(.toNearestOrEven) / power
            if Float(candidate) == self { return candidate }
            power *= 10
        }
        return Double(description) ?? wide
    }
}

extension BinaryFloatingPoint {
    /// The same number in this type, or nil where it has no such number.
    @inline(__always)
    init?(exactly number: PropertyList.Integer) {
        if number.isNegative {
            self.init(exactly: Int64(bitPattern: number.bits))
        } else {
            self.init(exactly: number.bits)
        }
    }
}
