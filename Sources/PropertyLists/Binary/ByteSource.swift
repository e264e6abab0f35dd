// Unsafe: a run of bytes is valid until the next call, and its caller has checked that it exists.

/// Something that a binary property list can be read from piece by piece: an open file, mostly.
public protocol ByteSource: Sendable {
    /// How many bytes there are.
    var byteCount: Int { get }

    /// Fills `buffer` with the bytes from `offset` on; fewer than asked for is an error to be thrown.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws
}

/// The bytes of a binary file, of which a reader asks for one run at a time.
protocol BinaryBytes: ~Copyable {
    /// The `count` bytes from `offset` on, which the caller has checked to exist; valid until the next call.
    mutating func run(at offset: Int, count: Int) throws(Fault) -> UnsafePointer<UInt8>

    /// The number in `size` bytes, from 1 to 8, that stand before the file's trailer.
    mutating func number(at offset: Int, size: Int) throws(Fault) -> UInt64
}

/// A file that lies in memory.
@safe struct BytesInMemory: BinaryBytes {
    let base: UnsafePointer<UInt8>

    @inline(__always)
    func run(at offset: Int, count: Int) -> UnsafePointer<UInt8> { unsafe base + offset }

    /// Eight bytes are read, whatever the size: the trailer has more than those.
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

/// The bytes of a source, of which small blocks are kept: a search by halving comes back to the same ones.
@safe struct BytesOfSource: BinaryBytes, ~Copyable {
    private let source: any ByteSource
    /// How many bytes the source had when its trailer was read, whatever has become of it.
    private let byteCount: Int
    /// What the source threw; a reader in between knows of faults only.
    private(set) var failure: (any Error)?

    private static let blockLength = 512
    private static let blockCount = 64
    private let blocks = UnsafeMutablePointer<UInt8>.allocate(capacity: blockLength * blockCount)
    /// The number of the block of the file that each place holds; −1 is none.
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
