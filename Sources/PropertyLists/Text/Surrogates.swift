extension Unicode.Scalar {
    /// The character that two units of UTF-16 stand for; nil where they are no pair.
    @inline(__always)
    init?(high: UInt32, low: UInt32) {
        guard high & 0xFC00 == 0xD800, low & 0xFC00 == 0xDC00 else { return nil }
        self.init(0x10000 + (high & 0x3FF) << 10 + low & 0x3FF)
    }
}
