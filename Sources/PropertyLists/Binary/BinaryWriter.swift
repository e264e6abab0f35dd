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

/// Writes the binary form in Apple's order: a dictionary, its keys, then its values, each with all that is inside it.
///
/// References are as wide as the number of objects demands, which is known only at the end. So a first pass numbers
/// the objects and encodes the scalars one behind the other; the containers, which are made of references, are put
/// between them when everything is counted.
private struct BinaryWriter: ValueSink, ~Copyable {
    /// A container. Its references stand behind those of the container before it.
    private struct Container {
        let object: UInt32
        let isDictionary: Bool
        let count: Int

        var referenceCount: Int { isDictionary ? 2 * count : count }

        /// How many bytes it takes in the file.
        func length(_ referenceSize: Int) -> Int { OutputBuffer.lengthOfHead(count) + referenceCount * referenceSize }
    }

    private let options: PropertyList.WritingOptions
    private var scalars = ScalarPool()
    private var containers = Stack<Container>(capacity: 64)
    private var references = Stack<UInt32>(capacity: 256)
    /// Where the next child's reference goes, in the innermost open container, and in those around it.
    private var place = 0
    private var outerPlaces: [Int] = []

    init(_ options: PropertyList.WritingOptions) { self.options = options }

    // MARK: Numbering

    mutating func begin(_ shape: ContainerShape) {
        let object = UInt32(truncatingIfNeeded: scalars.numberContainer())
        if object > 0 { refer(to: object) }
        outerPlaces.append(place)
        place = references.count
        containers.push(Container(object: object, isDictionary: shape.isDictionary, count: shape.count))
        if !shape.isDictionary { references.push(0, times: shape.count) }
    }

    static var takesKeysFirst: Bool { true }

    mutating func addKeys(of entries: UnsafeBufferPointer<PropertyList.Dictionary.Entry>) {
        for at in entries.indices { references.push(entries.lent(at) { scalars.number(of: $0.value.key) }) }
        place = references.count
        references.push(0, times: entries.count)
    }

    @inline(__always)
    mutating func addKey(_ key: borrowing String, isFirst: Bool) {}

    @inline(__always)
    mutating func add(scalar: borrowing PropertyList) {
        let number = scalars.number(of: scalar)
        // The root may be a scalar, to which nothing refers.
        if !outerPlaces.isEmpty { refer(to: number) }
    }

    mutating func end(_ shape: ContainerShape) { place = outerPlaces.removeLast() }

    @inline(__always)
    private mutating func refer(to object: UInt32) {
        references[place] = object
        place += 1
    }

    // MARK: Putting together

    /// The file.
    consuming func assembled() throws(EncodingFailure) -> Data {
        let objectCount = scalars.count
        let referenceSize = Self.size(of: UInt64(objectCount))
        var tableOffset = BinaryTrailer.headerLength + scalars.output.count
        var containerBytes = 0
        for at in 0..<containers.count { containerBytes += containers[at].length(referenceSize) }
        tableOffset += containerBytes
        let offsetSize = Self.size(of: UInt64(tableOffset))
        let length = tableOffset + objectCount * offsetSize + BinaryTrailer.length
        try checkExpansion(containerBytes, fileLength: length)
        scalars.output.reserve(length - scalars.output.count)
        insertContainers(before: tableOffset, referenceSize: referenceSize)
        appendOffsets(offsetSize: offsetSize, referenceSize: referenceSize)
        scalars.output.append(repeating: 0, count: 5)
        scalars.output.append(options.marksSortedRoot && !options.keepsKeyOrder && rootIsDictionary ? 1 as UInt8 : 0)
        scalars.output.append(UInt8(offsetSize))
        scalars.output.append(UInt8(referenceSize))
        scalars.output.append(bigEndian: UInt64(objectCount), size: 8)
        scalars.output.append(bigEndian: 0, size: 8)
        scalars.output.append(bigEndian: UInt64(tableOffset), size: 8)
        return scalars.output.data()
    }

    /// Refuses a file that a reader would refuse, because scalars that are shared take too many bytes when each
    /// reference is counted.
    private func checkExpansion(_ containerBytes: Int, fileLength: Int) throws(EncodingFailure) {
        let limit = options.limits.expandedBytes(ofFile: fileLength)
        let room = limit - containerBytes
        // Mostly, the longest scalar shows that it cannot be.
        let (most, overflow) = references.count.multipliedReportingOverflow(by: scalars.longest)
        guard overflow || most > room else { return }
        var bytes = 0
        for at in 0..<references.count { bytes += scalars.length(of: Int(references[at])) }
        guard bytes <= room else { throw EncodingFailure(.tooManyBytes(limit: limit), format: .binary) }
    }

    private var rootIsDictionary: Bool { containers.count > 0 && containers[0].isDictionary }

    /// The width, of 1, 2, 4 and 8, whose numbers go beyond `number`.
    private static func size(of number: UInt64) -> Int {
        switch number {
        case 0...0xFF: 1
        case 0x100...0xFFFF: 2
        case 0x1_0000...0xFFFF_FFFF: 4
        default: 8
        }
    }

    /// Puts the containers between the scalars. All that is moved is moved towards the end, so the last goes first; a
    /// second buffer of that size would take longer to come by than to fill.
    private mutating func insertContainers(before tableOffset: Int, referenceSize: Int) {
        var (place, end, firstReference) = (tableOffset, scalars.output.count, references.count)
        for at in (0..<containers.count).reversed() {
            let container = containers[at]
            let start = scalars.start(of: Int(container.object))
            place -= end - start
            scalars.output.move(start..<end, to: place)
            end = start
            place -= container.length(referenceSize)
            scalars.output.seek(to: place)
            // What a long head writes beyond itself is written over by the references.
            scalars.output.append(head: container.isDictionary ? 0xD0 : 0xA0, count: container.count)
            firstReference -= container.referenceCount
            let all = firstReference..<firstReference + container.referenceCount
            scalars.output.append(bigEndian: references.elements(in: all), plus: 0, size: referenceSize)
        }
        scalars.output.move(0..<end, to: place - end)
        scalars.output.seek(to: 0)
        scalars.output.append(BinaryTrailer.header)
        scalars.output.seek(to: tableOffset)
    }

    private mutating func appendOffsets(offsetSize: Int, referenceSize: Int) {
        var shift = BinaryTrailer.headerLength
        var done = 0
        for at in 0..<containers.count {
            // The container itself still stands before its own bytes.
            let next = Int(containers[at].object) + 1
            scalars.output.append(bigEndian: scalars.starts(in: done..<next), plus: shift, size: offsetSize)
            done = next
            shift += containers[at].length(referenceSize)
        }
        scalars.output.append(bigEndian: scalars.starts(in: done..<scalars.count), plus: shift, size: offsetSize)
    }
}
