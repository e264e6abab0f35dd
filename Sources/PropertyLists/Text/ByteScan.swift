/// Finds bytes in a word of eight at a time: in the result the highest bit of each matching byte is set.
///
/// Above the first match there may be false ones; whoever uses `trailingZeroBitCount` sees only the first.
enum ByteScan {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    static func matches(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference & highBits
    }

    /// Bytes below `bound`, which is at most 128.
    @inline(__always)
    static func below(_ word: UInt64, _ bound: UInt8) -> UInt64 {
        (word &- ones &* UInt64(bound)) & ~word & highBits
    }
}

/// The bytes that end a run of text in which every other byte stands for itself.
protocol RunEnds {
    /// The highest bit of each byte of a word that ends a run, as `ByteScan` finds them.
    static func stops(_ word: UInt64) -> UInt64
}

extension RunEnds {
    /// The end of the run that begins at `start`, and whether all of it is ASCII.
    @inline(__always)
    static func run(in base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> (end: Int, isASCII: Bool) {
        let raw = UnsafeRawPointer(base)
        var at = start
        var seen: UInt64 = 0
        while at + 8 <= end {
            let word = raw.word(at)
            let stops = stops(word)
            if stops != 0 {
                let length = stops.trailingZeroBitCount & ~7
                seen |= word & ~(~0 << UInt64(length))
                return (at + length >> 3, seen & ByteScan.highBits == 0)
            }
            seen |= word
            at += 8
        }
        while at < end, stops(ByteScan.ones &* UInt64(base[at])) == 0 {
            seen |= UInt64(base[at])
            at += 1
        }
        return (at, seen & ByteScan.highBits == 0)
    }
}

/// Up to eight bytes of ASCII as this machine reads them in a word; the rest is zero.
@inline(__always)
func wordOf(_ text: StaticString) -> UInt64 {
    var word: UInt64 = 0
    for at in 0..<text.utf8CodeUnitCount { word |= UInt64(text.utf8Start[at]) << UInt64(8 * at) }
    return UInt64(littleEndian: word)
}

/// What a look at all bytes of a text found.
struct TextTraits {
    /// The first byte that is not part of valid UTF-8.
    var firstInvalid: Int?
    var isASCII: Bool
}

/// Looks at all bytes once, so that no string made of them has to be checked again.
func textTraits(of bytes: UnsafeBufferPointer<UInt8>) -> TextTraits {
    var traits = TextTraits(isASCII: true)
    guard let base = bytes.baseAddress else { return traits }
    let raw = UnsafeRawPointer(base)
    let count = bytes.count
    var at = 0
    while at < count {
        while at + 32 <= count,
            (raw.word(at) | raw.word(at + 8) | raw.word(at + 16) | raw.word(at + 24)) & 0x8080_8080_8080_8080 == 0
        {
            at += 32
        }
        while at + 8 <= count, raw.word(at) & 0x8080_8080_8080_8080 == 0 { at += 8 }
        while at < count, base[at] < 0x80 { at += 1 }
        while at < count, base[at] >= 0x80 {
            traits.isASCII = false
            let length = lengthOfScalar(at: at, in: base, count: count)
            guard length > 0 else {
                traits.firstInvalid = at
                return traits
            }
            at += length
        }
    }
    return traits
}

/// How many bytes the character beyond ASCII at `at` takes; 0 where it is no valid UTF-8.
@inline(__always)
private func lengthOfScalar(at: Int, in base: UnsafePointer<UInt8>, count: Int) -> Int {
    @inline(__always) func continues(_ offset: Int) -> Bool { at + offset < count && base[at + offset] & 0xC0 == 0x80 }
    let lead = base[at]
    switch lead {
    case 0xC2...0xDF: return continues(1) ? 2 : 0
    case 0xE0...0xEF:
        guard continues(1), continues(2) else { return 0 }
        // Overlong forms, and the surrogates.
        if lead == 0xE0, base[at + 1] < 0xA0 { return 0 }
        if lead == 0xED, base[at + 1] >= 0xA0 { return 0 }
        return 3
    case 0xF0...0xF4:
        guard continues(1), continues(2), continues(3) else { return 0 }
        if lead == 0xF0, base[at + 1] < 0x90 { return 0 }
        if lead == 0xF4, base[at + 1] >= 0x90 { return 0 }
        return 4
    default: return 0
    }
}

extension Unicode.Scalar {
    /// The character that two units of UTF-16 stand for; nil where they are no pair.
    @inline(__always)
    init?(high: UInt32, low: UInt32) {
        guard high & 0xFC00 == 0xD800, low & 0xFC00 == 0xDC00 else { return nil }
        self.init(0x10000 + (high & 0x3FF) << 10 + low & 0x3FF)
    }
}
