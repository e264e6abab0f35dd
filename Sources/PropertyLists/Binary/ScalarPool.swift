#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The encoded scalars of a binary file, each once, and the numbers of all objects.
///
/// A scalar is encoded behind the others and then looked up by its bytes: if they are there already, the new ones are
/// dropped. So whatever differs in the file stays apart: two normal forms of a text, 0.0 and −0.0, integer 1 and real 1.
struct ScalarPool: ~Copyable {
    private var output = OutputBuffer(capacity: 4096)
    /// Where each object begins among the scalars; a container takes no room there.
    private var starts = Stack<Int>(capacity: 256)
    /// A slot is 32 bits of the hash of an object's bytes above its number plus one; 0 is free.
    private var slots = [UInt64](repeating: 0, count: 512)
    private var scalarCount = 0

    /// How many objects have a number.
    var count: Int { starts.count }
    /// How many bytes all scalars take.
    var byteCount: Int { output.count }

    func start(of object: Int) -> Int { starts[object] }

    func bytes(from start: Int, to end: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: output.base + start, count: end - start)
    }

    /// Gives a container its number.
    mutating func numberContainer() -> Int {
        starts.push(output.count)
        return starts.count - 1
    }

    /// The number of a text.
    @inline(__always)
    mutating func number(of text: String) -> UInt32 {
        let start = output.count
        text.withBytes { output.append(binaryText: $0) }
        return number(from: start)
    }

    /// The number of a value that is no container.
    @inline(__always)
    mutating func number(of scalar: borrowing PropertyList) -> UInt32 {
        let start = output.count
        switch scalar {
        case .string(let text): text.withBytes { output.append(binaryText: $0) }
        case .integer(let number): output.append(binaryInteger: number)
        case .real(let number):
            output.append(0x23 as UInt8)
            output.append(bigEndian: number.bitPattern, size: 8)
        case .boolean(let flag): output.append(flag ? 0x09 as UInt8 : 0x08)
        case .date(let date):
            output.append(0x33 as UInt8)
            output.append(bigEndian: date.timeIntervalSinceReferenceDate.bitPattern, size: 8)
        case .data(let data):
            output.append(head: 0x40, count: data.count)
            data.withUnsafeBytes { output.append($0.bindMemory(to: UInt8.self)) }
        case .uid(let number):
            let size = sizeOfUnsigned(number)
            output.append(0x80 | UInt8(size - 1))
            output.append(bigEndian: number, size: size)
        case .array, .dictionary: break
        }
        return number(from: start)
    }

    /// The number of the object whose bytes were written from `start` on, which are dropped if they stand elsewhere.
    @inline(__always)
    private mutating func number(from start: Int) -> UInt32 {
        let bytes = UnsafeBufferPointer(start: output.base + start, count: output.count - start)
        let hash = hashOfBytes(bytes, seed: KeyIndex.seed)
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            if (slots[slot] ^ hash) >> 32 == 0 {
                let object = Int(slots[slot] & 0xFFFF_FFFF) - 1
                let other = starts[object]
                let end = object + 1 < starts.count ? starts[object + 1] : start
                if end - other == bytes.count, sameBytes(output.base + other, bytes.baseAddress, bytes.count) {
                    output.truncate(to: start)
                    return UInt32(object)
                }
            }
            slot = (slot + 1) & mask
        }
        slots[slot] = hash & ~0xFFFF_FFFF | UInt64(starts.count + 1)
        starts.push(start)
        scalarCount += 1
        if scalarCount * 2 > slots.count { grow() }
        return UInt32(starts.count - 1)
    }

    private mutating func grow() {
        var larger = [UInt64](repeating: 0, count: slots.count * 4)
        let mask = larger.count - 1
        for filled in slots where filled != 0 {
            let object = Int(filled & 0xFFFF_FFFF) - 1
            let end = object + 1 < starts.count ? starts[object + 1] : output.count
            let hash = hashOfBytes(bytes(from: starts[object], to: end), seed: KeyIndex.seed)
            var slot = Int(truncatingIfNeeded: hash) & mask
            while larger[slot] != 0 { slot = (slot + 1) & mask }
            larger[slot] = filled
        }
        slots = larger
    }
}

/// The least width, of 1, 2, 4 and 8 bytes, that holds `number`.
private func sizeOfUnsigned(_ number: UInt64) -> Int {
    number <= 0xFF ? 1 : number <= 0xFFFF ? 2 : number <= 0xFFFF_FFFF ? 4 : 8
}

extension OutputBuffer {
    /// Writes the lowest `size` bytes of `number`, the most significant first.
    @inline(__always)
    mutating func append(bigEndian number: UInt64, size: Int) {
        reserve(8)
        let shifted = size == 0 ? 0 : number << UInt64(64 - 8 * size)
        UnsafeMutableRawPointer(end).storeBytes(of: shifted.bigEndian, as: UInt64.self)
        advance(size)
    }

    /// Writes the marker of an object with a count, and the count where it does not fit into the marker.
    @inline(__always)
    mutating func append(head marker: UInt8, count: Int) {
        if count < 15 {
            append(marker | UInt8(truncatingIfNeeded: count))
        } else {
            append(marker | 0x0F)
            append(binaryInteger: PropertyList.Integer(count))
        }
    }

    /// How many bytes `append(head:count:)` writes.
    static func lengthOfHead(_ count: Int) -> Int { count < 15 ? 1 : 2 + sizeOfUnsigned(UInt64(count)) }

    /// Writes an integer object.
    @inline(__always)
    mutating func append(binaryInteger number: PropertyList.Integer) {
        if number.isNegative {
            append(0x13 as UInt8)
            append(bigEndian: number.bits, size: 8)
        } else if number.bits >> 63 == 1 {
            append(0x14 as UInt8)
            append(bigEndian: 0, size: 8)
            append(bigEndian: number.bits, size: 8)
        } else {
            let size = sizeOfUnsigned(number.bits)
            append(0x10 | UInt8(truncatingIfNeeded: size.trailingZeroBitCount))
            append(bigEndian: number.bits, size: size)
        }
    }

    /// Writes a text object: one byte a character where all are ASCII, else UTF-16.
    @inline(__always)
    mutating func append(binaryText text: UnsafeBufferPointer<UInt8>) {
        if isASCII(text) {
            append(head: 0x50, count: text.count)
            append(text)
        } else {
            append(wideText: text)
        }
    }

    @inline(never)
    private mutating func append(wideText text: UnsafeBufferPointer<UInt8>) {
        var count = 0
        for byte in text where byte & 0xC0 != 0x80 { count += byte >= 0xF0 ? 2 : 1 }
        append(head: 0x60, count: count)
        reserve(2 * count + 8)
        var decoder = UTF8.ForwardParser()
        var bytes = text.makeIterator()
        while case .valid(let encoded) = decoder.parseScalar(from: &bytes) {
            for unit in UTF16.encode(UTF8.decode(encoded))! { append(bigEndian: UInt64(unit), size: 2) }
        }
    }
}
