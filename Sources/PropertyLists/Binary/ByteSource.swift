// Unsafe: a run of bytes is valid until the next call, and the caller has checked that it exists.

/// A source from which parts of a binary property list are read, such as an open file.
public protocol ByteSource: Sendable {
    /// The number of bytes in the source.
    var byteCount: Int { get }

    /// Fills `buffer` with the bytes at `offset`. Throws if there are fewer bytes than requested.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws
}

/// Access to the bytes of a binary file, one run at a time.
protocol BinaryBytes: ~Copyable {
    /// The `count` bytes at `offset`, valid until the next call. The caller has checked that they exist.
    mutating func run(at offset: Int, count: Int) throws(Fault) -> UnsafePointer<UInt8>

    /// The big-endian number in `size` bytes, from 1 to 8, before the trailer of the file.
    mutating func number(at offset: Int, size: Int) throws(Fault) -> UInt64
}

/// A file in memory.
@safe struct BytesInMemory: BinaryBytes {
    let base: UnsafePointer<UInt8>

    @inline(__always)
    func run(at offset: Int, count: Int) -> UnsafePointer<UInt8> { unsafe base + offset }

    /// Always loads eight bytes, which exist because the trailer follows.
    @inline(__always)
    func number(at offset: Int, size: Int) -> UInt64 {
        unsafe UInt64(bigEndian: UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self))
            &>> UInt64(truncatingIfNeeded: 64 &- 8 &* size)
    }
}

extension ContiguousArray: ByteSource where Element == UInt8 {
    public var byteCount: Int { count }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) {
        unsafe withUnsafeBytes {
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + buffer.count]))
        }
    }
}

/// The bytes of a source with a cache of small blocks, because a binary search returns to the same blocks.
@safe struct BytesOfSource: BinaryBytes, ~Copyable {
    private let source: any ByteSource
    /// The number of bytes when the trailer was read, even if the source has changed since.
    private let byteCount: Int
    /// The error that the source threw, kept here because a reader throws only faults.
    private(set) var failure: (any Error)?

    private static let blockLength = 512
    private static let blockCount = 64
    private let blocks = UnsafeMutablePointer<UInt8>.allocate(capacity: blockLength * blockCount)
    /// The number of the cached block in each place, or −1.
    private var held = InlineArray<64, Int>(repeating: -1)
    private var long = OutputBuffer(capacity: 0)

    init(_ source: any ByteSource, byteCount: Int) {
        self.source = source
        self.byteCount = byteCount
    }

    deinit { unsafe blocks.deallocate() }

    mutating func run(at offset: Int, count: Int) throws(Fault) -> UnsafePointer<UInt8> {
        let number = offset / Self.blockLength
        if count <= Self.blockLength, (offset + count - 1) / Self.blockLength == number {
            return try unsafe UnsafePointer(block(number)) + offset % Self.blockLength
        }
        long.truncate(to: 0)
        long.reserve(count)
        try unsafe read(into: long.end, at: offset, count: count)
        return unsafe UnsafePointer(long.base)
    }

    mutating func number(at offset: Int, size: Int) throws(Fault) -> UInt64 {
        unsafe bigEndian(try run(at: offset, count: size), size)
    }

    private mutating func block(_ number: Int) throws(Fault) -> UnsafeMutablePointer<UInt8> {
        let place = number % Self.blockCount
        let block = unsafe blocks + place * Self.blockLength
        if held[place] != number {
            held[place] = -1
            let start = number * Self.blockLength
            try unsafe read(into: block, at: start, count: min(Self.blockLength, byteCount - start))
            held[place] = number
        }
        return unsafe block
    }

    private mutating func read(into target: UnsafeMutablePointer<UInt8>, at offset: Int, count: Int) throws(Fault) {
        do {
            try unsafe source.read(into: UnsafeMutableRawBufferPointer(start: target, count: count), at: offset)
        } catch {
            failure = error
            throw Fault(.unexpectedEnd(inside: "the file"), at: offset)
        }
    }
}
