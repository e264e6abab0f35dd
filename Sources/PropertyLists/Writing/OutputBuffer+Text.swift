/// What a format writes in place of bytes that cannot stand for themselves.
protocol TextEscaping: RunEnds {
    /// The most bytes that are written for one.
    static var growth: Int { get }
    /// What it throws at a character that cannot be written at all.
    associatedtype Failure: Error
    /// Writes what stands for the bytes at an offset and returns how many these are. Room is reserved.
    static func append(
        _ text: UnsafeBufferPointer<UInt8>, at offset: Int, to output: inout OutputBuffer
    ) throws(Failure) -> Int
}

extension OutputBuffer {
    /// Writes `text` word by word, with what `escaping` has to say of single bytes.
    @inline(__always)
    mutating func append<Escaping: TextEscaping>(
        _ text: UnsafeBufferPointer<UInt8>, escaping: Escaping.Type
    ) throws(Escaping.Failure) {
        reserve(text.count * Escaping.growth + 16)
        try appendReserved(text, escaping: escaping)
    }

    /// Writes `text` like `append`, where room for it and its growth, and sixteen bytes, has been made.
    @inline(__always)
    mutating func appendReserved<Escaping: TextEscaping>(
        _ text: UnsafeBufferPointer<UInt8>, escaping: Escaping.Type
    ) throws(Escaping.Failure) {
        guard let base = text.baseAddress else { return }
        let raw = UnsafeRawPointer(base)
        let count = text.count
        var at = 0
        while true {
            var target = UnsafeMutableRawPointer(end)
            let start = at
            var found: UInt64 = 0
            while count - at >= 8 {
                let word = raw.word(at)
                target.storeBytes(of: word, as: UInt64.self)
                found = Escaping.stops(word)
                if found != 0 { break }
                at += 8
                target += 8
            }
            if found == 0 {
                if at == count { return advance(at - start) }
                let word = raw.tail(at, count - at, of: count)
                target.storeBytes(of: word, as: UInt64.self)
                found = Escaping.stops(word)
                if found == 0 { return advance(count - start) }
            }
            at += found.trailingZeroBitCount >> 3
            advance(at - start)
            at += try Escaping.append(text, at: at, to: &self)
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
