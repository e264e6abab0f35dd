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
    @inline(__always)
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
    @inline(__always)
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
