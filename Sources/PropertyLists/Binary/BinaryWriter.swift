#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsBinary(_ options: WritingOptions) throws(EncodingFailure) -> Data {
        var writer = BinaryWriter(options)
        try ValueWalk.walk(self, into: &writer, options: options, format: .binary)
        return writer.assembled()
    }
}

/// Writes the binary form in Apple's order: a dictionary, its keys, then its values, each with all that is inside it.
///
/// References are as wide as the number of objects demands, which is known only at the end. So a first pass numbers
/// the objects and encodes the scalars one behind the other; the containers, which are made of references, are put
/// between them when everything is counted.
private struct BinaryWriter: ValueSink, ~Copyable {
    /// A container: its number, and where its references stand.
    private struct Container {
        let object: Int
        let isDictionary: Bool
        let count: Int
        let firstReference: Int

        var referenceCount: Int { isDictionary ? 2 * count : count }
    }

    private let options: PropertyList.WritingOptions
    private var scalars = ScalarPool()
    private var containers: ContiguousArray<Container> = []
    private var references = Stack<UInt32>(capacity: 256)
    /// Where the next child's reference goes, in the innermost open container, and in those around it.
    private var place = 0
    private var outerPlaces: [Int] = []

    init(_ options: PropertyList.WritingOptions) { self.options = options }

    // MARK: Numbering

    mutating func begin(_ shape: ContainerShape) {
        let object = scalars.numberContainer()
        if object > 0 { refer(to: UInt32(truncatingIfNeeded: object)) }
        outerPlaces.append(place)
        place = references.count
        containers.append(
            Container(object: object, isDictionary: shape.isDictionary, count: shape.count, firstReference: place))
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
    consuming func assembled() -> Data {
        let objectCount = scalars.count
        let referenceSize = Self.size(of: UInt64(objectCount))
        var containerBytes = 0
        for container in containers {
            containerBytes += OutputBuffer.lengthOfHead(container.count) + container.referenceCount * referenceSize
        }
        let tableOffset = BinaryTrailer.headerLength + scalars.byteCount + containerBytes
        let offsetSize = Self.size(of: UInt64(tableOffset))
        var output = OutputBuffer(capacity: tableOffset + objectCount * offsetSize + BinaryTrailer.length + 16)
        output.append(BinaryTrailer.header)
        appendObjects(to: &output, referenceSize: referenceSize)
        appendOffsets(to: &output, offsetSize: offsetSize, referenceSize: referenceSize)
        output.append(repeating: 0, count: 5)
        output.append(options.marksSortedRoot && !options.keepsKeyOrder && rootIsDictionary ? 1 as UInt8 : 0 as UInt8)
        output.append(UInt8(offsetSize))
        output.append(UInt8(referenceSize))
        output.append(bigEndian: UInt64(objectCount), size: 8)
        output.append(bigEndian: 0, size: 8)
        output.append(bigEndian: UInt64(tableOffset), size: 8)
        return output.data()
    }

    private var rootIsDictionary: Bool { containers.first?.isDictionary ?? false }

    /// The width, of 1, 2, 4 and 8, whose numbers go beyond `number`.
    private static func size(of number: UInt64) -> Int {
        switch number {
        case 0...0xFF: 1
        case 0x100...0xFFFF: 2
        case 0x1_0000...0xFFFF_FFFF: 4
        default: 8
        }
    }

    private borrowing func appendObjects(to output: inout OutputBuffer, referenceSize: Int) {
        var done = 0
        for container in containers {
            let start = scalars.start(of: container.object)
            output.append(scalars.bytes(from: done, to: start))
            done = start
            output.append(head: container.isDictionary ? 0xD0 : 0xA0, count: container.count)
            let all = container.firstReference..<container.firstReference + container.referenceCount
            output.append(bigEndian: references.elements(in: all), plus: 0, size: referenceSize)
        }
        output.append(scalars.bytes(from: done, to: scalars.byteCount))
    }

    private borrowing func appendOffsets(to output: inout OutputBuffer, offsetSize: Int, referenceSize: Int) {
        var shift = BinaryTrailer.headerLength
        var done = 0
        for container in containers {
            // The container itself still stands before its own bytes.
            let objects = scalars.starts(in: done..<container.object + 1)
            output.append(bigEndian: objects, plus: shift, size: offsetSize)
            done = container.object + 1
            shift += OutputBuffer.lengthOfHead(container.count) + container.referenceCount * referenceSize
        }
        output.append(bigEndian: scalars.starts(in: done..<scalars.count), plus: shift, size: offsetSize)
    }
}
