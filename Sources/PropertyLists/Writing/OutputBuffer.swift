#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A run of bytes that grows at its end; what it holds is handed over without a copy.
struct OutputBuffer: ~Copyable {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 4096) {
        base = .allocate(capacity: capacity)
        self.capacity = capacity
    }

    deinit { base.deallocate() }

    /// Makes room for `additional` bytes, which may then be written without a check.
    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if capacity - count < additional { grow(additional) }
    }

    @inline(never)
    private mutating func grow(_ additional: Int) {
        // Pages that are never written cost nothing, pages written twice cost twice: so in few, large steps.
        let factor = capacity < 1 << 26 ? 4 : 2
        let larger = max(capacity * factor, count + additional + 4096)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = larger
    }

    /// The first byte that is not yet written.
    @inline(__always)
    var end: UnsafeMutablePointer<UInt8> { base + count }

    /// Counts bytes that were written behind the end.
    @inline(__always)
    mutating func advance(_ written: Int) {
        count += written
        assert(count <= capacity)
    }

    /// Forgets the bytes from `count` on.
    @inline(__always)
    mutating func truncate(to count: Int) { self.count = count }

    /// Writes on at `position`, where room was made for all that is written there.
    @inline(__always)
    mutating func seek(to position: Int) {
        count = position
        assert(count <= capacity)
    }

    /// Moves bytes that are written to where room was made for them.
    @inline(__always)
    mutating func move(_ range: Range<Int>, to position: Int) {
        assert(position + range.count <= capacity)
        (base + position).update(from: base + range.lowerBound, count: range.count)
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        base[count] = byte
        count += 1
    }

    /// Writes a byte for which there is room.
    @inline(__always)
    mutating func appendReserved(_ byte: UInt8) {
        base[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        end.update(from: source, count: bytes.count)
        count += bytes.count
    }

    @inline(__always)
    mutating func append(text: String) { text.withBytes { append($0) } }

    mutating func append(repeating byte: UInt8, count repeated: Int) {
        reserve(repeated)
        end.update(repeating: byte, count: repeated)
        count += repeated
    }

    /// Hands the bytes over and is empty.
    consuming func data() -> Data {
        let (taken, count) = (base, count)
        discard self
        // A short result is copied into a buffer of its size; a long one is worth its unused end.
        if count < 1 << 16 {
            defer { taken.deallocate() }
            return Data(bytes: taken, count: count)
        }
        return Data(
            bytesNoCopy: taken, count: count,
            deallocator: .custom { pointer, _ in
                pointer.assumingMemoryBound(to: UInt8.self).deallocate()
            })
    }
}
