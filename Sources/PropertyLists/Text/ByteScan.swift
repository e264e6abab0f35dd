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
