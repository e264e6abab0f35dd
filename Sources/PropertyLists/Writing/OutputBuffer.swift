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

    /// Writes the digits of `number`.
    mutating func append(decimal number: UInt64) {
        reserve(20)
        var rest = number
        var length = 1
        var bound: UInt64 = 10
        while length < 20, number >= bound {
            length += 1
            bound = bound &* 10
        }
        let digitPairs = digitPairs.utf8Start
        var at = length
        let start = end
        while rest >= 100 {
            let pair = Int(rest % 100)
            rest /= 100
            at -= 2
            start[at] = digitPairs[pair * 2]
            start[at + 1] = digitPairs[pair * 2 + 1]
        }
        if rest >= 10 {
            start[at - 2] = digitPairs[Int(rest) * 2]
            start[at - 1] = digitPairs[Int(rest) * 2 + 1]
        } else {
            start[at - 1] = 0x30 + UInt8(rest)
        }
        count += length
    }

    @inline(__always)
    mutating func append(_ number: PropertyList.Integer) {
        if number.isNegative { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
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

/// The two digits of each number below 100.
private let digitPairs: StaticString = """
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """
