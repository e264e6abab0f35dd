extension OutputBuffer {
    @inline(__always)
    mutating func append(_ number: PropertyList.Integer) {
        if number.isNegative { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
    }

    /// Writes the digits of `number`.
    mutating func append(decimal number: UInt64) {
        reserve(20)
        let length = lengthOfDecimal(number)
        end.write(decimal: number, length: length)
        advance(length)
    }

    /// Writes a real in the fewest digits that are read back as the same; a whole one without point or exponent
    /// unless `keepsPoint`.
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

    @inline(__always)
    private mutating func append(_ decimal: ShortestDecimal) {
        reserve(48)
        let length = lengthOfDecimal(decimal.digits)
        let wholeLength = length - decimal.places
        guard wholeLength > 0 else {
            append("0.")
            append(repeating: UInt8(ascii: "0"), count: -wholeLength)
            return append(decimal: decimal.digits)
        }
        let start = end
        (start + 1).write(decimal: decimal.digits, length: length)
        for at in 0..<wholeLength { start[at] = start[at + 1] }
        start[wholeLength] = UInt8(ascii: ".")
        advance(length + 1)
    }
}

/// How many digits the decimal form of `number` has.
@inline(__always)
private func lengthOfDecimal(_ number: UInt64) -> Int {
    // Zero has one too; and no power of ten lies between an even number and the one behind it.
    let number = number | 1
    // The logarithm of 2 is 1233 / 4096, a trifle less.
    let length = ((64 - number.leadingZeroBitCount) * 1233) >> 12
    return number >= powerOfFive(length) << UInt64(length) ? length + 1 : length
}

extension UnsafeMutablePointer<UInt8> {
    /// Writes a number whose decimal form has `length` digits.
    @inline(__always)
    fileprivate func write(decimal number: UInt64, length: Int) {
        let pairs = digitPairs.utf8Start
        var rest = number
        var at = self + length
        while rest >= 100 {
            at -= 2
            at.copy(pairs, Int(truncatingIfNeeded: rest % 100))
            rest /= 100
        }
        if rest >= 10 {
            copy(pairs, Int(truncatingIfNeeded: rest))
        } else {
            pointee = 0x30 + UInt8(truncatingIfNeeded: rest)
        }
    }

    @inline(__always)
    private func copy(_ pairs: UnsafePointer<UInt8>, _ pair: Int) {
        let digits = UnsafeRawPointer(pairs).loadUnaligned(fromByteOffset: 2 * pair, as: UInt16.self)
        UnsafeMutableRawPointer(self).storeBytes(of: digits, as: UInt16.self)
    }
}

/// The two digits of each number below 100.
private let digitPairs: StaticString = """
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """
