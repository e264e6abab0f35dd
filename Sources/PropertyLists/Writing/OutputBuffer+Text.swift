extension OutputBuffer {
    /// Writes `text` word by word, and gives the bytes at which `stops` finds something to `special`.
    ///
    /// - Parameters:
    ///   - growth: the most bytes that are written for one.
    ///   - stops: the highest bit of each byte that needs care, as `ByteScan` finds them.
    ///   - special: writes what stands for the bytes at an offset and returns how many it took. Room is reserved.
    @inline(__always)
    mutating func append<Failure: Error>(
        _ text: UnsafeBufferPointer<UInt8>, growth: Int, stops: (UInt64) -> UInt64,
        special: (inout OutputBuffer, UnsafeBufferPointer<UInt8>, Int) throws(Failure) -> Int
    ) throws(Failure) {
        guard let base = text.baseAddress else { return }
        let raw = UnsafeRawPointer(base)
        let count = text.count
        reserve(count * growth + 16)
        var at = 0
        while at < count {
            let length = min(8, count - at)
            let word = length == 8 ? raw.word(at) : raw.tail(at, length, of: count)
            UnsafeMutableRawPointer(end).storeBytes(of: word, as: UInt64.self)
            let found = stops(word)
            if found == 0 {
                advance(length)
                at += length
            } else {
                let plain = found.trailingZeroBitCount >> 3
                advance(plain)
                at += plain
                at += try special(&self, text, at)
            }
        }
    }

    /// Writes a real in the fewest digits that are read back as the same; a whole one without point or exponent
    /// unless `keepsPoint`.
    mutating func append(_ number: Double, keepsPoint: Bool) {
        let greatestWhole = keepsPoint ? 0x1p53 : 1e17
        if number.magnitude < greatestWhole, let whole = Int64(exactly: number), whole != 0 || number.sign == .plus {
            append(PropertyList.Integer(whole))
            if keepsPoint { append(".0") }
        } else {
            append(text: number.description)
        }
    }
}

extension UnsafeRawPointer {
    /// The last `length` bytes, fewer than eight, of `count` that begin at `offset`, filled up with spaces.
    @inline(__always)
    func tail(_ offset: Int, _ length: Int, of count: Int) -> UInt64 {
        let filling = (ByteScan.ones &* 0x20) << UInt64(8 * length)
        if count >= 8 { return word(count - 8) >> UInt64(8 * (8 - length)) | filling }
        if length >= 4 {
            let low = UInt64(loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            let high = UInt64(loadUnaligned(fromByteOffset: offset + length - 4, as: UInt32.self))
            return low | high << UInt64(8 * (length - 4)) | filling
        }
        var word = filling
        for at in 0..<length { word |= UInt64(load(fromByteOffset: offset + at, as: UInt8.self)) << UInt64(8 * at) }
        return word
    }
}
