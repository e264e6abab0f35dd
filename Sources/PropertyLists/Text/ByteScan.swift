/// Finds bytes in a word. The result has the highest bit of each matching byte set.
///
/// Bits above the first match may be wrong, so only the first match may be used (`trailingZeroBitCount`).
enum ByteScan {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    static func matches(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference & highBits
    }

    /// Finds bytes below `bound`, which is at most 128.
    @inline(__always)
    static func below(_ word: UInt64, _ bound: UInt8) -> UInt64 {
        (word &- ones &* UInt64(bound)) & ~word & highBits
    }
}

/// The bytes that end a run of plain text.
protocol RunEnds {
    /// Returns the highest bit of each byte that ends a run, as `ByteScan` finds them.
    static func stops(_ word: UInt64) -> UInt64
}

extension RunEnds {
    /// The end of the run that begins at `start`, and whether all of it is ASCII.
    @inline(__always)
    static func run(in bytes: [UInt8], from start: Int) -> (end: Int, isASCII: Bool) {
        var at = start
        var seen: UInt64 = 0
        while at + 8 <= bytes.count {
            let word = bytes.word(at)
            let stops = stops(word)
            if stops != 0 {
                let length = stops.trailingZeroBitCount & ~7
                seen |= word & ~(~0 << UInt64(length))
                return (at + length >> 3, seen & ByteScan.highBits == 0)
            }
            seen |= word
            at += 8
        }
        while at < bytes.count, stops(ByteScan.ones &* UInt64(bytes[at])) == 0 {
            seen |= UInt64(bytes[at])
            at += 1
        }
        return (at, seen & ByteScan.highBits == 0)
    }
}

/// The result of a check of a whole text.
struct TextTraits {
    /// The offset of the first byte that is not valid UTF-8, or nil.
    var firstInvalid: Int?
    var isASCII: Bool

    /// Checks all bytes once, so that strings made of them need no further check.
    init(of text: [UInt8]) {
        isASCII = true
        var at = 0
        while true {
            at = Self.endOfASCII(text, from: at)
            guard at < text.count else { return }
            isASCII = false
            var end = at
            while end < text.count, text[end] >= 0x80 { end += 1 }
            do { _ = try UTF8Span(validating: text.span.extracting(at..<end)) } catch {
                firstInvalid = at + error.byteOffsets.lowerBound
                return
            }
            at = end
        }
    }

    private static func endOfASCII(_ text: [UInt8], from start: Int) -> Int {
        var at = start
        while at + 32 <= text.count,
            (text.word(at) | text.word(at + 8) | text.word(at + 16) | text.word(at + 24)) & ByteScan.highBits == 0
        {
            at += 32
        }
        while at < text.count, text[at] < 0x80 { at += 1 }
        return at
    }
}

extension Unicode.Scalar {
    /// Creates a character from a UTF-16 surrogate pair, or returns nil if the code units are not a pair.
    @inline(__always)
    init?(high: UInt32, low: UInt32) {
        guard high & 0xFC00 == 0xD800, low & 0xFC00 == 0xDC00 else { return nil }
        self.init(0x10000 + (high & 0x3FF) << 10 + low & 0x3FF)
    }
}
