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

    /// Whether U+2028 or U+2029, the line and paragraph separators, is at `place`.
    func isLineSeparator(at place: Int) -> Bool {
        place + 2 < count && self[place] == 0xE2 && self[place + 1] == 0x80 && self[place + 2] | 1 == 0xA9
    }

    /// The length of the Unicode space of JSON5 at `place`, or 0 if there is none.
    func lengthOfUnicodeSpace(at place: Int) -> Int {
        guard place + 1 < count, self[place] >= 0xC0 else { return 0 }
        if self[place] == 0xC2 { return self[place + 1] == 0xA0 ? 2 : 0 }
        guard place + 2 < count, self[place] & 0xF0 == 0xE0 else { return 0 }
        let rest = UInt32(self[place + 1] & 0x3F) << 6 | UInt32(self[place + 2] & 0x3F)
        switch UInt32(self[place] & 0x0F) << 12 | rest {
        case 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF: return 3
        default: return 0
        }
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
func wordOf(
    _ a: Unicode.Scalar, _ b: Unicode.Scalar, _ c: Unicode.Scalar, _ d: Unicode.Scalar,
    _ e: Unicode.Scalar = "\0", _ f: Unicode.Scalar = "\0", _ g: Unicode.Scalar = "\0", _ h: Unicode.Scalar = "\0"
) -> UInt64 {
    let low = UInt64(a.value) | UInt64(b.value) << 8 | UInt64(c.value) << 16 | UInt64(d.value) << 24
    return low | UInt64(e.value) << 32 | UInt64(f.value) << 40 | UInt64(g.value) << 48 | UInt64(h.value) << 56
}

extension Span<UInt8> {
    /// The eight bytes at `place`, with the first in the lowest byte.
    @inline(__always)
    func word(_ place: Int) -> UInt64 {
        let s = extracting(place..<place + 8)
        // The optimizer compiles this into a single load.
        return UInt64(s[0]) | UInt64(s[1]) << 8 | UInt64(s[2]) << 16 | UInt64(s[3]) << 24
            | UInt64(s[4]) << 32 | UInt64(s[5]) << 40 | UInt64(s[6]) << 48 | UInt64(s[7]) << 56
    }

    /// The four bytes at `place`, with the first in the lowest byte.
    private func halfWord(_ place: Int) -> UInt64 {
        let s = extracting(place..<place + 4)
        return UInt64(s[0]) | UInt64(s[1]) << 8 | UInt64(s[2]) << 16 | UInt64(s[3]) << 24
    }

    /// The bytes from `place` to the end, fewer than eight, with the first in the lowest byte and zeros above them.
    @inline(__always)
    func lastWord(_ place: Int) -> UInt64 {
        if count >= 8 { return place == count ? 0 : word(count - 8) >> UInt64(8 * (8 - (count - place))) }
        if place == 0, count >= 4 { return halfWord(0) | halfWord(count - 4) << UInt64(8 * (count - 4)) }
        var word: UInt64 = 0
        for at in place..<count { word |= UInt64(self[at]) << UInt64(8 * (at - place)) }
        return word
    }

    /// Whether all bytes are below 0x80.
    var isASCII: Bool {
        var at = 0
        var seen: UInt64 = 0
        while at + 8 <= count {
            seen |= word(at)
            at += 8
        }
        return (seen | lastWord(at)) & ByteScan.highBits == 0
    }

    @inline(__always)
    func hasSameBytes(as other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        var at = 0
        while at + 8 <= count {
            if word(at) != other.word(at) { return false }
            at += 8
        }
        return lastWord(at) == other.lastWord(at)
    }

    /// Whether these bytes sort before `other` in the order of their UTF-16 code units, in which Apple sorts keys.
    ///
    /// This is the byte order of UTF-8 with one exception: characters beyond U+FFFF are surrogates in UTF-16 and sort
    /// before U+E000–U+FFFF, although their first byte (0xF0–0xF4) is greater (0xEE, 0xEF).
    @inline(__always)
    func isBefore(_ other: Span<UInt8>) -> Bool {
        let shared = Swift.min(count, other.count)
        var at = 0
        while at + 8 <= shared, word(at) == other.word(at) { at += 8 }
        while at < shared {
            let (p, q) = (self[at], other[at])
            if p != q {
                if p >= 0xEE, q >= 0xEE, (p >= 0xF0) != (q >= 0xF0) { return p >= 0xF0 }
                return p < q
            }
            at += 1
        }
        return count < other.count
    }
}

extension String {
    /// Runs `body` on the UTF-8 of this string, without a copy if it is contiguous.
    ///
    /// Unlike `utf8Span`, the compiler can inline it, which halves the time of writing short texts.
    @inline(__always)
    func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        // Unsafe: the span is used only while the buffer exists.
        let result = unsafe utf8.withContiguousStorageIfAvailable { buffer in
            let bytes = unsafe Span(_unsafeElements: buffer)
            return body(bytes)
        }
        return result ?? withCopiedBytes(body)
    }

    // A separate function: inlined, it would retain every string, even one that need not be copied.
    @inline(never)
    private func withCopiedBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(ContiguousArray(utf8).span)
    }

    /// Whether both strings have the same bytes. (`==` compares by canonical equivalence.)
    @inline(__always)
    package func hasSameBytes(as other: String) -> Bool {
        withBytes { a in other.withBytes { b in a.hasSameBytes(as: b) } }
    }

    /// Adds the UTF-8 of this string to a hash.
    package func hashBytes(into hasher: inout Hasher) {
        // Unsafe: the hasher takes a pointer, which is valid during the call.
        withBytes { unsafe $0.withUnsafeBytes { unsafe hasher.combine(bytes: $0) } }
    }

    /// Whether this key sorts before `other`.
    package func isBefore(_ other: String) -> Bool {
        withBytes { a in other.withBytes { b in a.isBefore(b) } }
    }
}

// MARK: Searching words for bytes

/// Finds bytes in a word. The result has the highest bit of each matching byte set.
///
/// Bits above the first match may be wrong, so only the first match may be used (`trailingZeroBitCount`).
enum ByteScan {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let highBits: UInt64 = 0x8080_8080_8080_8080

    static func matches(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (ones &* UInt64(byte))
        return (difference &- ones) & ~difference & highBits
    }

    /// Finds bytes below `bound`, which is at most 128.
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
    init?(high: UInt32, low: UInt32) {
        guard high & 0xFC00 == 0xD800, low & 0xFC00 == 0xDC00 else { return nil }
        self.init(0x10000 + (high & 0x3FF) << 10 + low & 0x3FF)
    }
}
