extension [UInt8] {
    /// Appends a number in groups of seven bits, lowest first.
    package mutating func append(leb128 number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    package mutating func append(littleEndian number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Appends bytes preceded by their length.
    package mutating func append(run: some Collection<UInt8>) {
        append(leb128: UInt64(run.count))
        append(contentsOf: run)
    }
}
