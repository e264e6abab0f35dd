extension OutputBuffer {
    /// Writes the lowest `size` bytes of `number`, the most significant first.
    @inline(__always)
    mutating func append(bigEndian number: UInt64, size: Int) {
        reserve(8)
        let shifted = size == 0 ? 0 : number << UInt64(64 - 8 * size)
        UnsafeMutableRawPointer(end).storeBytes(of: shifted.bigEndian, as: UInt64.self)
        advance(size)
    }

    /// Writes each number, `shift` added, in `size` bytes of 1, 2, 4 and 8.
    mutating func append(bigEndian numbers: UnsafeBufferPointer<some FixedWidthInteger>, plus shift: Int, size: Int) {
        reserve(numbers.count * size)
        let target = UnsafeMutableRawPointer(end)
        @inline(__always) func store<Number: FixedWidthInteger>(as type: Number.Type) {
            for at in numbers.indices {
                let number = Number(truncatingIfNeeded: Int(truncatingIfNeeded: numbers[at]) &+ shift)
                target.storeBytes(of: number.bigEndian, toByteOffset: at * MemoryLayout<Number>.size, as: type)
            }
        }
        switch size {
        case 1: store(as: UInt8.self)
        case 2: store(as: UInt16.self)
        case 4: store(as: UInt32.self)
        default: store(as: UInt64.self)
        }
        advance(numbers.count * size)
    }

    /// Writes the marker of an object with a count, and the count where it does not fit into the marker.
    @inline(__always)
    mutating func append(head marker: UInt8, count: Int) {
        if count < 15 {
            append(marker | UInt8(truncatingIfNeeded: count))
        } else {
            append(marker | 0x0F)
            append(binaryInteger: PropertyList.Integer(count))
        }
    }

    /// How many bytes `append(head:count:)` writes.
    static func lengthOfHead(_ count: Int) -> Int { count < 15 ? 1 : 2 + sizeOfUnsigned(UInt64(count)) }

    /// Writes an integer object.
    @inline(__always)
    mutating func append(binaryInteger number: PropertyList.Integer) {
        if number.isNegative {
            append(0x13 as UInt8)
            append(bigEndian: number.bits, size: 8)
        } else if number.bits >> 63 == 1 {
            append(0x14 as UInt8)
            append(bigEndian: 0, size: 8)
            append(bigEndian: number.bits, size: 8)
        } else {
            let size = sizeOfUnsigned(number.bits)
            append(0x10 | UInt8(truncatingIfNeeded: size.trailingZeroBitCount))
            append(bigEndian: number.bits, size: size)
        }
    }

    /// Writes a text object: one byte a character where all are ASCII, else UTF-16.
    @inline(__always)
    mutating func append(binaryText text: UnsafeBufferPointer<UInt8>) {
        if isASCII(text) {
            append(head: 0x50, count: text.count)
            append(text)
        } else {
            append(wideText: text)
        }
    }

    @inline(never)
    private mutating func append(wideText text: UnsafeBufferPointer<UInt8>) {
        var count = 0
        for byte in text where byte & 0xC0 != 0x80 { count += byte >= 0xF0 ? 2 : 1 }
        append(head: 0x60, count: count)
        reserve(2 * count + 8)
        var decoder = UTF8.ForwardParser()
        var bytes = text.makeIterator()
        while case .valid(let encoded) = decoder.parseScalar(from: &bytes) {
            for unit in UTF16.encode(UTF8.decode(encoded))! { append(bigEndian: UInt64(unit), size: 2) }
        }
    }
}

/// The least width, of 1, 2, 4 and 8 bytes, that holds `number`.
func sizeOfUnsigned(_ number: UInt64) -> Int {
    number <= 0xFF ? 1 : number <= 0xFFFF ? 2 : number <= 0xFFFF_FFFF ? 4 : 8
}
