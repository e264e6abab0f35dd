#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    func writtenAsBinary(_ options: WritingOptions) throws(EncodingFailure) -> Data {
        var writer = BinaryWriter(options)
        try writer.flatten(self)
        return writer.assembled()
    }
}

/// Writes the binary form in Apple's order: a dictionary, its keys, then its values, each with all that is inside it.
///
/// References are as wide as the number of objects demands, which is known only at the end. So a first pass numbers
/// the objects and encodes the scalars one behind the other; the containers, which are made of references, are put
/// between them when everything is counted.
private struct BinaryWriter: ~Copyable {
    /// A container: its number, and where its references stand.
    private struct Container {
        let object: Int
        let isDictionary: Bool
        let count: Int
        let firstReference: Int

        var referenceCount: Int { isDictionary ? 2 * count : count }
    }

    /// A container whose values are being flattened.
    private struct Frame {
        let children: Children
        let firstReference: Int
        var next = 0
    }

    private enum Children {
        case array([PropertyList])
        case dictionary(ContiguousArray<PropertyList.Dictionary.Entry>)
    }

    private let options: PropertyList.WritingOptions
    private var scalars: ScalarPool
    private var containers: ContiguousArray<Container> = []
    private var references: ContiguousArray<UInt32> = []
    private var frames: [Frame] = []
    private var rootIsSorted = false

    init(_ options: PropertyList.WritingOptions) {
        self.options = options
        scalars = ScalarPool()
    }

    // MARK: Numbering

    /// Gives every object its number.
    mutating func flatten(_ root: PropertyList) throws(EncodingFailure) {
        guard root.isContainer else {
            _ = scalars.number(of: root)
            return
        }
        try open(root)
        while !frames.isEmpty {
            if let container = takeScalars() {
                try open(container)
            } else {
                frames.removeLast()
            }
        }
    }

    /// Numbers a container and, in a dictionary, its keys.
    private mutating func open(_ value: PropertyList) throws(EncodingFailure) {
        guard frames.count < options.nesting else {
            throw EncodingFailure(.nestedTooDeeply(limit: options.nesting), path: path, format: .binary)
        }
        let firstReference = references.count
        let object = scalars.numberContainer()
        if case .dictionary(let dictionary) = value {
            let entries = options.keepsKeyOrder ? dictionary.entries : dictionary.sortedEntries
            if object == 0 { rootIsSorted = !options.keepsKeyOrder || dictionary.isSorted }
            references.reserveCapacity(firstReference + 2 * entries.count, growing: true)
            for entry in entries { references.append(scalars.number(of: entry.key)) }
            references.append(contentsOf: repeatElement(0, count: entries.count))
            containers.append(
                Container(object: object, isDictionary: true, count: entries.count, firstReference: firstReference))
            frames.append(Frame(children: .dictionary(entries), firstReference: firstReference + entries.count))
        } else if case .array(let elements) = value {
            references.append(contentsOf: repeatElement(0, count: elements.count))
            containers.append(
                Container(object: object, isDictionary: false, count: elements.count, firstReference: firstReference))
            frames.append(Frame(children: .array(elements), firstReference: firstReference))
        }
    }

    /// Numbers the children up to the next container, which is returned; nil at the end.
    private mutating func takeScalars() -> PropertyList? {
        let last = frames.count - 1
        let first = frames[last].firstReference
        var next = frames[last].next
        defer { frames[last].next = next }
        switch frames[last].children {
        case .array(let elements):
            while next < elements.count {
                next += 1
                if elements[next - 1].isContainer {
                    references[first + next - 1] = UInt32(scalars.count)
                    return elements[next - 1]
                }
                references[first + next - 1] = scalars.number(of: elements[next - 1])
            }
        case .dictionary(let entries):
            while next < entries.count {
                next += 1
                if entries[next - 1].value.isContainer {
                    references[first + next - 1] = UInt32(scalars.count)
                    return entries[next - 1].value
                }
                references[first + next - 1] = scalars.number(of: entries[next - 1].value)
            }
        }
        return nil
    }

    private var path: EntryPath {
        EntryPath(
            frames.compactMap { frame in
                guard frame.next > 0 else { return nil }
                switch frame.children {
                case .array: return EntryPath.Component(frame.next - 1)
                case .dictionary(let entries): return EntryPath.Component(entries[frame.next - 1].key)
                }
            })
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
        output.append(options.marksSortedRoot && rootIsSorted ? 1 as UInt8 : 0 as UInt8)
        output.append(UInt8(offsetSize))
        output.append(UInt8(referenceSize))
        output.append(bigEndian: UInt64(objectCount), size: 8)
        output.append(bigEndian: 0, size: 8)
        output.append(bigEndian: UInt64(tableOffset), size: 8)
        return output.data()
    }

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
            output.reserve(container.referenceCount * referenceSize)
            references.withUnsafeBufferPointer { references in
                for at in container.firstReference..<container.firstReference + container.referenceCount {
                    output.append(bigEndian: UInt64(references[at]), size: referenceSize)
                }
            }
        }
        output.append(scalars.bytes(from: done, to: scalars.byteCount))
    }

    private borrowing func appendOffsets(to output: inout OutputBuffer, offsetSize: Int, referenceSize: Int) {
        var shift = BinaryTrailer.headerLength
        var nextContainer = 0
        output.reserve(scalars.count * offsetSize)
        for object in 0..<scalars.count {
            output.append(bigEndian: UInt64(scalars.start(of: object) + shift), size: offsetSize)
            if nextContainer < containers.count, containers[nextContainer].object == object {
                let container = containers[nextContainer]
                shift += OutputBuffer.lengthOfHead(container.count) + container.referenceCount * referenceSize
                nextContainer += 1
            }
        }
    }
}

extension ContiguousArray {
    /// Reserves like `reserveCapacity`, but never so little that many small steps become many copies.
    fileprivate mutating func reserveCapacity(_ minimum: Int, growing: Bool) {
        if minimum > capacity { reserveCapacity(Swift.max(minimum, 2 * capacity)) }
    }
}
