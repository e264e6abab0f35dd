// Unsafe: the buffer owns its memory, and every write is preceded by a `reserve` of at least as many bytes.

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A growing buffer whose contents become `Data` without a copy if they are long.
@safe struct OutputBuffer: ~Copyable {
    private var base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 4096) {
        unsafe base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit { unsafe base.deallocate() }

    /// Makes room for `additional` bytes, which may then be written without checks.
    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if capacity - count < additional { grow(additional) }
    }

    @inline(never)
    private mutating func grow(_ additional: Int) {
        // Grows in few, large steps: unused pages cost nothing, but copied pages are written twice.
        let factor = capacity < 1 << 26 ? 4 : 2
        let larger = max(capacity * factor, count + additional + 4096)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        unsafe moved.update(from: base, count: count)
        unsafe base.deallocate()
        unsafe base = unsafe moved
        capacity = larger
    }

    /// The position after the written bytes.
    private var end: UnsafeMutablePointer<UInt8> { unsafe base + count }

    /// Adds bytes that were written at `end` to the count.
    private mutating func advance(_ written: Int) {
        count += written
        assert(count <= capacity)
    }

    /// Discards the bytes from `count` on.
    mutating func truncate(to count: Int) { self.count = count }

    mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe base[count] = byte
        count += 1
    }

    /// Writes a byte into reserved space.
    mutating func appendReserved(_ byte: UInt8) {
        unsafe base[count] = byte
        count += 1
    }

    /// Writes the lowest `count` bytes of a word, at most eight, beginning with the lowest.
    @inline(__always)
    mutating func append(word: UInt64, count: Int = 8) {
        reserve(8)
        unsafe UnsafeMutableRawPointer(end).storeBytes(of: word.littleEndian, as: UInt64.self)
        advance(count)
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        reserve(text.utf8CodeUnitCount)
        unsafe end.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        advance(text.utf8CodeUnitCount)
    }

    mutating func append(_ bytes: Span<UInt8>) {
        reserve(bytes.count)
        unsafe bytes.withUnsafeBufferPointer { bytes in
            if let source = bytes.baseAddress { unsafe end.update(from: source, count: bytes.count) }
        }
        advance(bytes.count)
    }

    mutating func append(text: String) {
        text.withBytes { append($0) }
    }

    /// Runs `body` on the bytes.
    func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let bytes = unsafe Span(_unsafeStart: base, count: count)
        return body(bytes)
    }

    mutating func append(repeating byte: UInt8, count repeated: Int) {
        reserve(repeated)
        unsafe end.update(repeating: byte, count: repeated)
        count += repeated
    }

    /// Returns the bytes.
    consuming func data() -> Data {
        let (taken, count) = unsafe (base, count)
        discard self
        // A short result is copied into a buffer of its size. Copying a long one would cost more than its unused end.
        if count < 1 << 16 {
            defer { unsafe taken.deallocate() }
            return unsafe Data(bytes: taken, count: count)
        }
        return unsafe Data(
            bytesNoCopy: taken, count: count,
            deallocator: .custom { pointer, _ in
                unsafe pointer.assumingMemoryBound(to: UInt8.self).deallocate()
            })
    }
}

/// The escapes of a format.
protocol TextEscaping: RunEnds {
    /// The greatest number of bytes that one byte becomes.
    static var growth: Int { get }
    /// The error for a character that cannot be written.
    associatedtype Failure: Error
    /// Writes the escape of the bytes at an offset, and returns their number. Space is reserved.
    static func append(
        _ text: Span<UInt8>, at offset: Int, to output: inout OutputBuffer
    ) throws(Failure) -> Int
}

extension OutputBuffer {
    /// Writes `text` word by word, and the bytes that end a run with `escaping`.
    mutating func append<Escaping: TextEscaping>(
        _ text: Span<UInt8>, escaping: Escaping.Type
    ) throws(Escaping.Failure) {
        reserve(text.count * Escaping.growth + 16)
        try appendReserved(text, escaping: escaping)
    }

    /// Writes `text` like `append`, after the caller has reserved its length times the growth, plus 16 bytes.
    @inline(__always)
    mutating func appendReserved<Escaping: TextEscaping>(
        _ text: Span<UInt8>, escaping: Escaping.Type
    ) throws(Escaping.Failure) {
        let length = text.count
        var at = 0
        while true {
            var target = unsafe UnsafeMutableRawPointer(end)
            let start = at
            var found: UInt64 = 0
            while length - at >= 8 {
                let word = text.word(at)
                unsafe target.storeBytes(of: word.littleEndian, as: UInt64.self)
                found = Escaping.stops(word)
                if found != 0 { break }
                at += 8
                unsafe target += 8
            }
            if found == 0 {
                if at == length { return advance(at - start) }
                // Spaces, which need no escape, fill the rest of the word.
                let word = text.lastWord(at) | (ByteScan.ones &* 0x20) << UInt64(8 * (length - at))
                unsafe target.storeBytes(of: word.littleEndian, as: UInt64.self)
                found = Escaping.stops(word)
                if found == 0 { return advance(length - start) }
            }
            at += found.trailingZeroBitCount >> 3
            advance(at - start)
            at += try Escaping.append(text, at: at, to: &self)
        }
    }
}
