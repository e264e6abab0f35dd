/// A run of bytes in an array, with indices that start at 0.
struct Bytes: RandomAccessCollection {
    let array: [UInt8]
    /// The start of the run in the array.
    let start: Int
    let count: Int

    init(_ array: [UInt8]) { self.init(array, 0..<array.count) }

    init(_ array: [UInt8], _ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= array.count)
        (self.array, start, count) = (array, range.lowerBound, range.count)
    }

    init(rebasing slice: Slice<Bytes>) {
        let base = slice.base
        self.init(base.array, base.start + slice.startIndex..<base.start + slice.endIndex)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(position: Int) -> UInt8 {
        precondition(position >= 0 && position < count)
        return array[start + position]
    }
}

extension [UInt8] {
    /// The eight bytes at `place`, with the first in the lowest byte. Bytes beyond the end are zeros.
    @inline(__always)
    func word(_ place: Int) -> UInt64 {
        guard place <= count - 8 else { return lastWord(place) }
        return span.word(place)
    }

    /// The big-endian number in the `size` bytes at `place`, at most eight.
    @inline(__always)
    func bigEndian(at place: Int, size: Int) -> UInt64 {
        word(place).byteSwapped &>> UInt64(truncatingIfNeeded: 64 &- 8 &* size)
    }

    @inline(never)
    private func lastWord(_ place: Int) -> UInt64 {
        span.lastWord(Swift.min(place, count))
    }

    /// Whether all bytes in a range are below 0x80.
    @inline(__always)
    func isASCII(in range: Range<Int>) -> Bool {
        var at = range.lowerBound
        var seen: UInt64 = 0
        while at + 8 <= range.upperBound {
            seen |= word(at)
            at += 8
        }
        if at < range.upperBound { seen |= word(at) & ~(~0 << UInt64(8 * (range.upperBound - at))) }
        return seen & ByteScan.highBits == 0
    }

    /// Adds the UTF-8 of a character.
    mutating func append(_ scalar: Unicode.Scalar) { for unit in UTF8.encode(scalar)! { append(unit) } }

    /// The text of a range of valid UTF-8.
    @inline(__always)
    func text(_ range: Range<Int>, isASCII: Bool) -> String {
        // Unsafe: the readers check that the whole text is valid UTF-8 first.
        let text = unsafe UTF8Span(unchecked: span.extracting(range), isKnownASCII: isASCII)
        return String(copying: text)
    }
}

/// Up to eight ASCII characters in the form that `word` returns.
@inline(__always)
func wordOf(
    _ a: Unicode.Scalar, _ b: Unicode.Scalar, _ c: Unicode.Scalar, _ d: Unicode.Scalar,
    _ e: Unicode.Scalar = "\0", _ f: Unicode.Scalar = "\0", _ g: Unicode.Scalar = "\0", _ h: Unicode.Scalar = "\0"
) -> UInt64 {
    let low = UInt64(a.value) | UInt64(b.value) << 8 | UInt64(c.value) << 16 | UInt64(d.value) << 24
    return low | UInt64(e.value) << 32 | UInt64(f.value) << 40 | UInt64(g.value) << 48 | UInt64(h.value) << 56
}
