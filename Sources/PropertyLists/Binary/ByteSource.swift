/// A source from which parts of a binary property list are read, such as an open file.
package protocol ByteSource: Sendable {
    /// The number of bytes in the source.
    var byteCount: Int { get }

    /// The `count` bytes at `offset`. Throws if there are fewer bytes than requested.
    func bytes(at offset: Int, count: Int) throws -> [UInt8]
}

extension ByteSource {
    /// Exactly `count` bytes, even from a source that does not keep to the protocol.
    func checkedBytes(at offset: Int, count: Int) throws -> [UInt8] {
        let bytes = try bytes(at: offset, count: count)
        guard bytes.count == count else {
            throw DecodingFailure(.unexpectedEnd(inside: "the file"), offset: offset, format: .binary)
        }
        return bytes
    }
}

extension [UInt8]: ByteSource {
    package var byteCount: Int { count }

    package func bytes(at offset: Int, count: Int) -> [UInt8] { Array(self[offset..<offset + count]) }
}

/// The bytes of a binary file, all in memory or loaded from a source on demand.
struct BinaryBytes {
    /// The whole file, or the cached blocks of a source, followed by the last range that crossed the end of a block.
    private(set) var loaded: [UInt8]
    private let source: (any ByteSource)?
    /// Whether `loaded` is the whole file. Testing this is faster than testing `source`.
    let isWhole: Bool
    /// The number of bytes when the trailer was read, even if the source has changed since.
    private let byteCount: Int
    /// The error that the source threw, kept here because a reader throws only faults.
    private(set) var failure: (any Error)?

    // The blocks are small, because a binary search returns to the same places.
    private static let blockLength = 512
    private static let blockCount = 64
    /// The number of the block in each place of the cache, or −1.
    private var held: [Int] = []

    init(_ file: [UInt8]) {
        loaded = file
        isWhole = true
        source = nil
        byteCount = file.count
    }

    init(_ source: any ByteSource, byteCount: Int) {
        loaded = Array(repeating: 0, count: Self.blockLength * Self.blockCount)
        self.source = source
        isWhole = false
        self.byteCount = byteCount
        held = Array(repeating: -1, count: Self.blockCount)
    }

    /// Loads the `count` bytes at `offset`, which the caller has checked to exist. Returns their position in `loaded`,
    /// which is valid until the next call.
    mutating func load(_ offset: Int, count: Int) throws(Fault) -> Int {
        isWhole ? offset : try loadFromSource(offset, count: count)
    }

    @inline(never)
    private mutating func loadFromSource(_ offset: Int, count: Int) throws(Fault) -> Int {
        guard let source else { return offset }
        let (block, offsetInBlock) = offset.quotientAndRemainder(dividingBy: Self.blockLength)
        guard offsetInBlock + count <= Self.blockLength else {
            let cacheLength = Self.blockLength * Self.blockCount
            loaded.replaceSubrange(cacheLength..., with: try read(source, at: offset, count: count))
            return cacheLength
        }
        let place = block % Self.blockCount
        let start = place * Self.blockLength
        if held[place] != block {
            held[place] = -1
            let blockOffset = block * Self.blockLength
            let bytes = try read(source, at: blockOffset, count: min(Self.blockLength, byteCount - blockOffset))
            loaded.replaceSubrange(start..<start + bytes.count, with: bytes)
            held[place] = block
        }
        return start + offsetInBlock
    }

    private mutating func read(_ source: any ByteSource, at offset: Int, count: Int) throws(Fault) -> [UInt8] {
        do {
            return try source.checkedBytes(at: offset, count: count)
        } catch {
            failure = error
            throw Fault(.unexpectedEnd(inside: "the file"), at: offset)
        }
    }
}
