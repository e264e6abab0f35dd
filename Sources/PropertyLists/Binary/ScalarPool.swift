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
    private var table = SlotTable(slotCount: 512)
    private var recentTexts = RecentTexts()
    private let seed = KeyIndex.seed

    /// How many objects have a number.
    var count: Int { starts.count }
    /// How many bytes all scalars take.
    var byteCount: Int { output.count }

    func start(of object: Int) -> Int { starts[object] }

    /// Where the objects of `range` begin.
    func starts(in range: Range<Int>) -> UnsafeBufferPointer<Int> { starts.elements(in: range) }

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
        if let number = recentTexts.number(of: text) { return number }
        let start = output.count
        text.withBytes { output.append(binaryText: $0) }
        let number = number(from: start)
        recentTexts.note(text, number)
        return number
    }

    /// The number of a value that is no container.
    @inline(__always)
    mutating func number(of scalar: borrowing PropertyList) -> UInt32 {
        let start = output.count
        switch scalar {
        case .string(let text): return number(of: text)
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
        let hash = UInt32(truncatingIfNeeded: hashOfBytes(bytes, seed: seed))
        var slot = table.firstSlot(hash)
        while let object = table.object(in: slot) {
            if table.hash(in: slot) == hash {
                let other = starts[object]
                let end = object + 1 < starts.count ? starts[object + 1] : start
                if end - other == bytes.count, sameBytes(output.base + other, bytes.baseAddress, bytes.count) {
                    output.truncate(to: start)
                    return UInt32(truncatingIfNeeded: object)
                }
            }
            slot = table.next(slot)
        }
        table.fill(slot, with: starts.count, hash)
        starts.push(start)
        return UInt32(truncatingIfNeeded: starts.count - 1)
    }
}

/// An open hash table of object numbers: a slot is a hash above the number plus one; 0 is free.
private struct SlotTable: ~Copyable {
    private var slots: UnsafeMutablePointer<UInt64>
    private var slotCount: Int
    private var filled = 0

    /// - Parameter slotCount: a power of two.
    init(slotCount: Int) {
        self.slotCount = slotCount
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: 0, count: slotCount)
    }

    deinit { slots.deallocate() }

    @inline(__always)
    func firstSlot(_ hash: UInt32) -> Int { Int(hash) & (slotCount - 1) }

    @inline(__always)
    func next(_ slot: Int) -> Int { (slot + 1) & (slotCount - 1) }

    @inline(__always)
    func object(in slot: Int) -> Int? {
        let entry = slots[slot]
        return entry == 0 ? nil : Int(entry & 0xFFFF_FFFF) - 1
    }

    @inline(__always)
    func hash(in slot: Int) -> UInt32 { UInt32(truncatingIfNeeded: slots[slot] >> 32) }

    @inline(__always)
    mutating func fill(_ slot: Int, with object: Int, _ hash: UInt32) {
        slots[slot] = UInt64(hash) << 32 | UInt64(truncatingIfNeeded: object + 1)
        filled += 1
        if filled * 2 > slotCount { grow() }
    }

    @inline(never)
    private mutating func grow() {
        let (former, formerCount) = (slots, slotCount)
        slotCount *= 4
        slots = .allocate(capacity: slotCount)
        slots.initialize(repeating: 0, count: slotCount)
        for at in 0..<formerCount where former[at] != 0 {
            var slot = firstSlot(UInt32(truncatingIfNeeded: former[at] >> 32))
            while slots[slot] != 0 { slot = next(slot) }
            slots[slot] = former[at]
        }
        former.deallocate()
    }
}

/// The numbers of texts met lately, found by the two words that a string is.
///
/// Equal words are equal texts: a short string lies in its words, a long one is named by the address of its bytes,
/// which the value being written keeps alive. So the keys of a thousand records are encoded once.
private struct RecentTexts: ~Copyable {
    private struct Text {
        var words: (UInt64, UInt64) = (0, 0)
        var number: UInt32 = 0
    }

    private static let count = 128
    private let texts = UnsafeMutablePointer<Text>.allocate(capacity: count)

    // Two zeros are no string: the empty one has a mark too.
    init() { texts.initialize(repeating: Text(), count: Self.count) }

    deinit { texts.deallocate() }

    @inline(__always)
    private func place(_ words: (UInt64, UInt64)) -> Int {
        let mixed = (words.0 ^ words.1 &* 3) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 57)
    }

    @inline(__always)
    func number(of text: String) -> UInt32? {
        let words = unsafeBitCast(text, to: (UInt64, UInt64).self)
        let known = texts[place(words)]
        return known.words == words ? known.number : nil
    }

    @inline(__always)
    mutating func note(_ text: String, _ number: UInt32) {
        let words = unsafeBitCast(text, to: (UInt64, UInt64).self)
        texts[place(words)] = Text(words: words, number: number)
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

    /// Writes each number, `shift` added, in `size` bytes of 1, 2, 4 and 8.
    mutating func append(bigEndian numbers: UnsafeBufferPointer<some FixedWidthInteger>, plus shift: Int, size: Int) {
        reserve(numbers.count * size)
        let target = UnsafeMutableRawPointer(end)
        @inline(__always) func store<Number: FixedWidthInteger>(as type: Number.Type) {
            for at in numbers.indices {
                let number = Number(truncatingIfNeeded: Int(truncatingIfNeeded: numbers[at]) &+ shift)
                target.storeBytes(of: number.bigEndian, toByteOffset: at * MemoryLayout<Number>.size, as: type)
            }
        }
        switch size {
        case 1: store(as: UInt8.self)
        case 2: store(as: UInt16.self)
        case 4: store(as: UInt32.self)
        default: store(as: UInt64.self)
        }
        advance(numbers.count * size)
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
