#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsBinary(_ options: WritingOptions) throws(EncodingFailure) -> Data {
        var writer = BinaryWriter(options)
        try ValueWalk.walk(self, into: &writer, options: options, format: .binary)
        return try writer.assembled()
    }
}

/// Writes the binary form in Apple's order: a dictionary, its keys, then its values, each followed by its contents.
///
/// The width of a reference depends on the number of objects, which is known only at the end. A first pass therefore
/// numbers the objects and encodes the scalars one after another. Then the file is put together: the scalars, and
/// between them the containers, which consist of references.
private struct BinaryWriter: ValueSink, ~Copyable {
    /// A container. Its references follow those of the previous container.
    private struct Container {
        let object: UInt32
        let isDictionary: Bool
        let count: Int

        var referenceCount: Int { isDictionary ? 2 * count : count }

        /// The length of the container in the file, in bytes.
        func length(_ referenceSize: Int) -> Int { OutputBuffer.lengthOfHead(count) + referenceCount * referenceSize }
    }

    private let options: PropertyList.WritingOptions
    private var scalars = ScalarPool()
    private var containers: [Container] = []
    private var references: [UInt32] = []
    /// The position of the next reference in the innermost open container. `outerPlaces` has those of the enclosing
    /// ones.
    private var place = 0
    private var outerPlaces: [Int] = []

    init(_ options: PropertyList.WritingOptions) {
        self.options = options
        references.reserveCapacity(256)
    }

    // MARK: Numbering

    mutating func begin(_ shape: ContainerShape) {
        let object = UInt32(truncatingIfNeeded: scalars.numberContainer())
        if object > 0 { refer(to: object) }
        outerPlaces.append(place)
        place = references.count
        containers.append(Container(object: object, isDictionary: shape.isDictionary, count: shape.count))
        if !shape.isDictionary { references.append(contentsOf: repeatElement(0, count: shape.count)) }
    }

    mutating func addKeys(of entries: Span<PropertyList.Dictionary.Entry>) {
        for at in entries.indices { references.append(scalars.number(of: entries[at].key)) }
        place = references.count
        references.append(contentsOf: repeatElement(0, count: entries.count))
    }

    mutating func addKey(_ key: borrowing String, isFirst: Bool) {}

    mutating func add(scalar: borrowing PropertyList) {
        let number = scalars.number(of: scalar)
        // The root may be a scalar, which has no reference.
        if !outerPlaces.isEmpty { refer(to: number) }
    }

    mutating func end(_ shape: ContainerShape) { place = outerPlaces.removeLast() }

    private mutating func refer(to object: UInt32) {
        references[place] = object
        place += 1
    }

    // MARK: Putting together

    /// The file.
    func assembled() throws(EncodingFailure) -> Data {
        let objectCount = scalars.count
        let referenceSize = sizeOfUnsigned(UInt64(objectCount))
        let containerBytes = containers.reduce(0) { $0 + $1.length(referenceSize) }
        let tableOffset = BinaryTrailer.headerLength + scalars.output.count + containerBytes
        let offsetSize = sizeOfUnsigned(UInt64(tableOffset))
        let length = tableOffset + objectCount * offsetSize + BinaryTrailer.length
        try checkExpansion(containerBytes, fileLength: length)
        var file = OutputBuffer(capacity: length + 8)
        file.append(BinaryTrailer.header)
        appendObjects(to: &file, referenceSize: referenceSize)
        appendOffsets(to: &file, offsetSize: offsetSize, referenceSize: referenceSize)
        file.append(repeating: 0, count: 5)
        let isSorted = options.marksSortedRoot && !options.keepsKeyOrder && containers.first?.isDictionary == true
        file.append(isSorted ? 1 as UInt8 : 0)
        file.append(UInt8(offsetSize))
        file.append(UInt8(referenceSize))
        file.append(bigEndian: UInt64(objectCount), size: 8)
        file.append(bigEndian: 0, size: 8)
        file.append(bigEndian: UInt64(tableOffset), size: 8)
        return file.data()
    }

    /// Refuses a file that a reader would refuse because its shared scalars, counted at each reference, exceed the
    /// limit of bytes.
    private func checkExpansion(_ containerBytes: Int, fileLength: Int) throws(EncodingFailure) {
        let limit = options.limits.expandedBytes(ofFile: fileLength)
        let room = limit - containerBytes
        // The length of the longest scalar usually rules this out.
        let (most, overflow) = references.count.multipliedReportingOverflow(by: scalars.longest)
        guard overflow || most > room else { return }
        var bytes = 0
        for object in references { bytes += scalars.length(of: Int(object)) }
        guard bytes <= room else { throw EncodingFailure(.tooManyBytes(limit: limit), format: .binary) }
    }

    /// Writes the scalars with the containers between them.
    private func appendObjects(to file: inout OutputBuffer, referenceSize: Int) {
        var (doneBytes, doneReferences) = (0, 0)
        for container in containers {
            let start = scalars.start(of: Int(container.object))
            scalars.output.withBytes { file.append($0.extracting(doneBytes..<start)) }
            file.append(head: container.isDictionary ? 0xD0 : 0xA0, count: container.count)
            let end = doneReferences + container.referenceCount
            file.append(bigEndian: references.span.extracting(doneReferences..<end), plus: 0, size: referenceSize)
            (doneBytes, doneReferences) = (start, end)
        }
        scalars.output.withBytes { file.append($0.extracting(doneBytes...)) }
    }

    private func appendOffsets(to file: inout OutputBuffer, offsetSize: Int, referenceSize: Int) {
        var shift = BinaryTrailer.headerLength
        var done = 0
        for container in containers {
            // The start of the container itself is not shifted by its own bytes.
            let next = Int(container.object) + 1
            file.append(bigEndian: scalars.starts.span.extracting(done..<next), plus: shift, size: offsetSize)
            done = next
            shift += container.length(referenceSize)
        }
        file.append(bigEndian: scalars.starts.span.extracting(done...), plus: shift, size: offsetSize)
    }
}

/// The encoded scalars of a binary file without duplicates, and the numbers of all objects.
///
/// A scalar is encoded at the end of the buffer and then looked up by its bytes. If an earlier object has the same
/// bytes, the new ones are removed. Scalars with different bytes therefore remain different objects: two normal forms
/// of a text, 0.0 and −0.0, the integer 1 and the real 1.
struct ScalarPool: ~Copyable {
    /// The encoded scalars, one after another.
    var output = OutputBuffer(capacity: 4096)
    /// The offset of each object among the scalars. A container has no bytes there.
    private(set) var starts: [Int] = []
    private var table = SlotTable(slotCount: 512)
    /// The length of the longest scalar.
    private(set) var longest = 0
    private let seed = KeyIndex.seed

    init() { starts.reserveCapacity(256) }

    /// The number of numbered objects.
    var count: Int { starts.count }

    func start(of object: Int) -> Int { starts[object] }

    /// The length of an object among the scalars, which is 0 for a container.
    func length(of object: Int) -> Int {
        (object + 1 < starts.count ? starts[object + 1] : output.count) - starts[object]
    }

    /// Assigns a number to a container.
    mutating func numberContainer() -> Int {
        starts.append(output.count)
        return starts.count - 1
    }

    /// The number of a text.
    mutating func number(of text: String) -> UInt32 {
        let start = output.count
        output.append(binaryText: text)
        return number(from: start)
    }

    /// The number of a scalar.
    mutating func number(of scalar: borrowing PropertyList) -> UInt32 {
        let start = output.count
        switch scalar {
        case .string(let text): return number(of: text)
        case .integer(let number): output.append(binaryInteger: number)
        case .real(let number):
            output.append(0x23 as UInt8)
            output.append(bigEndian: number.bitsInFile, size: 8)
        case .boolean(let flag): output.append(flag ? 0x09 as UInt8 : 0x08)
        case .date(let date):
            output.append(0x33 as UInt8)
            output.append(bigEndian: date.timeIntervalSinceReferenceDate.bitsInFile, size: 8)
        case .data(let data):
            output.append(head: 0x40, count: data.count)
            output.append(data.span)
        case .uid(let number):
            let size = sizeOfUnsigned(number)
            output.append(0x80 | UInt8(size - 1))
            output.append(bigEndian: number, size: size)
        case .null: output.append(0x00 as UInt8)
        case .array, .dictionary: break
        }
        return number(from: start)
    }

    /// The number of the object whose bytes begin at `start`. They are dropped if an earlier object has the same bytes.
    private mutating func number(from start: Int) -> UInt32 {
        let hash = UInt32(truncatingIfNeeded: output.withBytes { hashOfBytes($0.extracting(start...), seed: seed) })
        var slot = table.firstSlot(hash)
        while let (object, known) = table.entry(in: slot) {
            if known == hash {
                let other = starts[object]
                let end = object + 1 < starts.count ? starts[object + 1] : start
                if output.withBytes({ $0.extracting(other..<end).hasSameBytes(as: $0.extracting(start...)) }) {
                    output.truncate(to: start)
                    return UInt32(truncatingIfNeeded: object)
                }
            }
            slot = table.next(slot)
        }
        longest = max(longest, output.count - start)
        table.fill(slot, with: starts.count, hash)
        starts.append(start)
        return UInt32(truncatingIfNeeded: starts.count - 1)
    }
}

extension Double {
    /// The bits as written. All NaNs are one object; the two zeros remain different.
    fileprivate var bitsInFile: UInt64 { isNaN ? Double.nan.bitPattern : bitPattern }
}

/// An open-addressing hash table of object numbers. The entries are in a separate array, so a free slot takes only four
/// bytes. A small table touches few pages of memory, and the first access to a page costs more than many later ones.
struct SlotTable {
    /// The positions of entries plus one, or 0 for a free slot.
    private var slots: [UInt32]
    /// The hash in the upper half and the object's number in the lower half.
    private var entries: [UInt64] = []

    /// - Parameter slotCount: The number of slots, a power of two.
    init(slotCount: Int) {
        slots = Array(repeating: 0, count: slotCount)
        entries.reserveCapacity(slotCount / 2)
    }

    func firstSlot(_ hash: UInt32) -> Int { Int(hash) & (slots.count - 1) }

    func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    /// The object in a slot and its hash, or nil if the slot is free.
    func entry(in slot: Int) -> (object: Int, hash: UInt32)? {
        let place = slots[slot]
        guard place > 0 else { return nil }
        let entry = entries[Int(place) - 1]
        return (Int(entry & 0xFFFF_FFFF), UInt32(truncatingIfNeeded: entry >> 32))
    }

    mutating func fill(_ slot: Int, with object: Int, _ hash: UInt32) {
        entries.append(UInt64(hash) << 32 | UInt64(truncatingIfNeeded: object))
        slots[slot] = UInt32(truncatingIfNeeded: entries.count)
        if entries.count * 2 > slots.count { grow() }
    }

    @inline(never)
    private mutating func grow() {
        slots = Array(repeating: 0, count: slots.count * (slots.count < 1 << 16 ? 4 : 2))
        for place in 0..<entries.count {
            var slot = firstSlot(UInt32(truncatingIfNeeded: entries[place] >> 32))
            while slots[slot] != 0 { slot = next(slot) }
            slots[slot] = UInt32(truncatingIfNeeded: place + 1)
        }
    }
}

extension OutputBuffer {
    /// Writes the lowest `size` bytes of `number` in big-endian order.
    mutating func append(bigEndian number: UInt64, size: Int) {
        append(word: (number << UInt64(64 - 8 * size)).byteSwapped, count: size)
    }

    /// Writes each number plus `shift` in `size` bytes.
    mutating func append(bigEndian numbers: Span<some FixedWidthInteger>, plus shift: Int, size: Int) {
        reserve(numbers.count * size + 8)
        for at in numbers.indices {
            append(bigEndian: UInt64(truncatingIfNeeded: numbers[at]) &+ UInt64(shift), size: size)
        }
    }

    /// Writes the marker of an object with its count, which is a separate number if it does not fit into the marker.
    mutating func append(head marker: UInt8, count: Int) {
        if count < 15 {
            append(marker | UInt8(truncatingIfNeeded: count))
        } else {
            append(marker | 0x0F)
            append(binaryInteger: PropertyList.Integer(count))
        }
    }

    /// The number of bytes that `append(head:count:)` writes.
    static func lengthOfHead(_ count: Int) -> Int { count < 15 ? 1 : 2 + sizeOfUnsigned(UInt64(count)) }

    /// Writes an integer object.
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

    /// Writes a text object in ASCII if possible, otherwise in UTF-16.
    mutating func append(binaryText text: String) {
        let isASCII = text.withBytes { bytes in
            guard bytes.isASCII else { return false }
            append(head: 0x50, count: bytes.count)
            append(bytes)
            return true
        }
        if !isASCII { append(wideText: text) }
    }

    @inline(never)
    private mutating func append(wideText text: String) {
        append(head: 0x60, count: text.utf16.count)
        for unit in text.utf16 { append(bigEndian: UInt64(unit), size: 2) }
    }
}

/// The least width, of 1, 2, 4 and 8 bytes, that holds `number`.
func sizeOfUnsigned(_ number: UInt64) -> Int {
    number <= 0xFF ? 1 : number <= 0xFFFF ? 2 : number <= 0xFFFF_FFFF ? 4 : 8
}
