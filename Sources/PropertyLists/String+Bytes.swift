// Unsafe: the bytes of a string are used only inside a closure and within their count.

extension String {
    /// Runs `body` on the UTF-8 of this string, without a copy if it is contiguous.
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = unsafe utf8.withContiguousStorageIfAvailable(body) { return result }
        return unsafe withCopiedBytes(body)
    }

    // A separate function: inlined, it would retain every string, even one that need not be copied.
    @inline(never)
    private func withCopiedBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        unsafe ContiguousArray(utf8).withUnsafeBufferPointer(body)
    }

    /// Runs `body`, which may throw, on the UTF-8 of this string.
    @inline(__always)
    package func withBytesOrThrow<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe utf8Span.span.withUnsafeBufferPointer(body)
    }

    /// Whether both strings have the same bytes. (`==` compares by canonical equivalence.)
    @inline(__always)
    package func hasSameBytes(as other: String) -> Bool {
        unsafe other.withBytes { unsafe hasBytes($0) }
    }

    /// Adds the UTF-8 of this string to a hash.
    func hashBytes(into hasher: inout Hasher) {
        unsafe withBytes { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Whether the string consists of these bytes.
    @inline(__always)
    func hasBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe withBytes { unsafe $0.count == bytes.count && sameBytes($0.baseAddress, bytes.baseAddress, bytes.count) }
    }

    /// Creates a string from valid UTF-8.
    @inline(__always)
    init(validated bytes: UnsafeBufferPointer<UInt8>, isASCII: Bool) {
        let span = unsafe UTF8Span(unchecked: Span(_unsafeElements: bytes), isKnownASCII: isASCII)
        self.init(copying: span)
    }
}

/// Whether two runs of `count` bytes are equal.
@inline(__always)
func sameBytes(_ a: UnsafePointer<UInt8>?, _ b: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
    guard count > 0, let a = unsafe a, let b = unsafe b else { return true }
    let (x, y) = unsafe (UnsafeRawPointer(a), UnsafeRawPointer(b))
    if count >= 8 {
        var at = 0
        while at + 8 <= count {
            if unsafe x.word(at) != y.word(at) { return false }
            at += 8
        }
        return unsafe x.word(count - 8) == y.word(count - 8)
    }
    for at in 0..<count where unsafe a[at] != b[at] { return false }
    return true
}

extension UnsafeRawPointer {
    /// The eight bytes at `offset` as a word in native byte order.
    @inline(__always)
    func word(_ offset: Int) -> UInt64 { unsafe loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
}

/// Whether `a` sorts before `b` in the order of their UTF-16 code units, in which Apple sorts keys.
///
/// This is the byte order of UTF-8 with one exception: characters beyond U+FFFF are surrogates in UTF-16 and sort
/// before U+E000–U+FFFF, although their first byte (0xF0–0xF4) is greater (0xEE, 0xEF).
@inline(__always)
package func isBefore(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
    let shared = min(a.count, b.count)
    if shared > 0 {
        let (x, y) = unsafe (UnsafeRawPointer(a.baseAddress!), UnsafeRawPointer(b.baseAddress!))
        var at = 0
        while at + 8 <= shared, unsafe x.word(at) == y.word(at) { at += 8 }
        while at < shared {
            let (p, q) = unsafe (a[at], b[at])
            if p != q {
                if p >= 0xEE, q >= 0xEE, (p >= 0xF0) != (q >= 0xF0) { return p >= 0xF0 }
                return p < q
            }
            at += 1
        }
    }
    return a.count < b.count
}

extension String {
    /// Whether this key sorts before `other`.
    package func isBefore(_ other: String) -> Bool {
        unsafe withBytes { a in unsafe other.withBytes { b in unsafe PropertyLists.isBefore(a, b) } }
    }
}
