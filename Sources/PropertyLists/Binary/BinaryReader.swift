#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    static func readBinary(
        _ bytes: [UInt8], limits: Limits, options: ReadingOptions, sources: inout SourceMap?
    ) throws(DecodingFailure) -> PropertyList {
        sources = nil
        let trailer: BinaryTrailer
        do throws(Fault) {
            trailer = try BinaryTrailer(file: bytes)
            try trailer.checkOffsets(of: bytes)
        } catch {
            throw error.inBinary()
        }
        var reader = BinaryReader(BinaryBytes(bytes), trailer: trailer, limits: limits, options: options)
        do throws(Fault) {
            return try reader.read(object: trailer.root)
        } catch {
            throw error.inBinary(at: reader.path)
        }
    }
}

extension BinaryTrailer {
    /// Checks the header of a file and reads its trailer.
    init(file bytes: [UInt8]) throws(Fault) {
        if bytes.isEmpty { throw Fault(.emptyInput, at: 0) }
        guard bytes.count >= Self.headerLength else {
            guard bytes.starts(with: "bplist00".utf8.prefix(bytes.count)) else {
                throw Fault(.expected("“bplist00”"), at: 0)
            }
            throw Fault(.unexpectedEnd(inside: "the header"), at: bytes.count)
        }
        try Self.checkHeader(bytes)
        guard bytes.count >= Self.headerLength + Self.length else {
            throw Fault(.unexpectedEnd(inside: "the trailer"), at: bytes.count)
        }
        try self.init(endOf: bytes, fileLength: bytes.count)
    }

    /// Checks that every object begins inside the object area, even if it is never referenced.
    func checkOffsets(of bytes: [UInt8]) throws(Fault) {
        for object in 0..<objectCount {
            let place = tableOffset + object * offsetSize
            let offset = bytes.bigEndian(at: place, size: offsetSize)
            guard offset >= UInt64(Self.headerLength), offset < UInt64(tableOffset) else {
                throw Fault(.invalidOffset(object: object, offset: offset), at: place)
            }
        }
    }
}

/// Reads objects of a binary file into values.
///
/// A container is marked as open while its children are read, so that cycles are detected. Most objects are referenced
/// once. A small container that is referenced again is read a second time and then kept, so that later references
/// share it. The reader also sums up the expanded size, in which a shared object is counted at each reference.
struct BinaryReader: ~Copyable {
    var bytes: BinaryBytes
    let trailer: BinaryTrailer
    let limits: PropertyList.Limits
    /// The limit of bytes in the values, where a shared value is counted at each reference.
    let mostBytes: Int
    var builder: TreeBuilder

    /// The state of each object: new, read once, open, or its position in `kept`. Empty before the first container.
    var states: [UInt32] = []
    var kept: [KeptObject] = []
    var open = Stack<BinaryFrame>()
    /// The container that was begun most recently.
    var begun = BinaryFrame()
    var recentKeys = RecentKeys()
    /// The encoded size of all objects read so far. If it exceeds the object area, some objects overlap.
    var readBytes = 0
    /// The buffer in which UTF-16 is decoded.
    var scratch: [UInt8] = []

    init(
        _ bytes: consuming BinaryBytes, trailer: BinaryTrailer, limits: PropertyList.Limits,
        options: PropertyList.ReadingOptions
    ) {
        self.bytes = bytes
        self.trailer = trailer
        self.limits = limits
        mostBytes = limits.expandedBytes(ofFile: trailer.fileLength)
        builder = TreeBuilder(limits: limits, options: options)
    }

    var path: EntryPath { builder.path }

    /// Reads an object and everything that it refers to.
    mutating func read(object: Int) throws(Fault) -> PropertyList {
        guard try begin(object) else { return builder.finish() }
        var frame = begun
        while true {
            while frame.remaining > 0 {
                let child = try reference(at: frame.references)
                frame.references += trailer.referenceSize
                frame.remaining -= 1
                let offset = try offset(of: child)
                let head = try head(at: offset)
                if head.marker < Head.firstOfContainer {
                    frame.size.add(ExpandedSize(bytes: try addLeaf(child, head, at: offset)))
                } else if let size = try visitContainer(child, head, at: offset) {
                    frame.size.add(size)
                } else {
                    open.push(frame)
                    frame = begun
                    continue
                }
                try check(frame.size, after: child)
            }
            try close(frame)
            guard var outer = open.popLast() else { return builder.finish() }
            outer.size.add(frame.size)
            try check(outer.size, after: frame.object)
            frame = outer
        }
    }

    private static var fewNodes: Int { 64 }

    mutating func close(_ frame: BinaryFrame) throws(Fault) {
        if frame.isDictionary { try builder.endDictionary() } else { builder.endArray() }
        // A container that is kept only at its second reference exists twice in memory, so large ones are kept at once.
        if frame.isReadAgain || frame.size.nodes > Self.fewNodes {
            keep(builder.last, frame.object, frame.size)
        } else {
            states[frame.object] = ObjectState.read
        }
    }

    /// Checks the size of a container, which includes the child added last, against the limits.
    mutating func check(_ size: ExpandedSize, after child: Int) throws(Fault) {
        if size.nodes > limits.expandedNodes || size.bytes > mostBytes {
            builder.dropValue()
            throw tooLarge(size, child)
        }
    }

    func tooLarge(_ size: ExpandedSize, _ object: Int) -> Fault {
        let problem: DecodingFailure.Problem =
            size.nodes > limits.expandedNodes
            ? .tooManyNodes(limit: limits.expandedNodes) : .tooManyBytes(limit: mostBytes)
        return Fault(problem, at: trailer.tableOffset + object * trailer.offsetSize)
    }
}

extension BinaryReader {
    /// The number of the object that the reference at `place` names.
    mutating func reference(at place: Int) throws(Fault) -> Int {
        let number = try tableNumber(at: place, size: trailer.referenceSize)
        guard number < UInt64(trailer.objectCount) else { throw Fault(.invalidReference(number), at: place) }
        return Int(number)
    }

    /// The offset of an object.
    mutating func offset(of object: Int) throws(Fault) -> Int {
        let place = trailer.tableOffset + object * trailer.offsetSize
        let offset = try tableNumber(at: place, size: trailer.offsetSize)
        guard offset >= UInt64(BinaryTrailer.headerLength), offset < UInt64(trailer.tableOffset) else {
            throw Fault(.invalidOffset(object: object, offset: offset), at: place)
        }
        return Int(offset)
    }

    /// The number of `size` bytes at `place`, in the table of offsets or in a reference.
    private mutating func tableNumber(at place: Int, size: Int) throws(Fault) -> UInt64 {
        let start = try bytes.load(place, count: size)
        return bytes.loaded.bigEndian(at: start, size: size)
    }

    /// Loads the `count` bytes at `place`, and returns their position in `bytes.loaded`. Throws unless they are inside
    /// the object area.
    mutating func load(_ place: Int, count: Int) throws(Fault) -> Int {
        guard count <= trailer.tableOffset - place else {
            throw Fault(.unexpectedEnd(inside: "an object"), at: trailer.tableOffset)
        }
        return try bytes.load(place, count: count)
    }

    /// The marker of an object, the count in its lower half, and the offset of its contents.
    struct Head {
        let marker: UInt8
        static var firstOfContainer: UInt8 { 0xA0 }
        /// The number of bytes, code units or references that follow, for objects with a count.
        var count = 0
        var contents: Int

        /// Whether a value with these contents allocates memory, so that sharing it saves some.
        var isWorthKeeping: Bool { count > (marker >> 4 == 0x6 ? 5 : 14) }
    }

    /// Reads the marker of an object and its count, and checks that the contents fit into the file.
    mutating func head(at offset: Int) throws(Fault) -> Head {
        let start = try load(offset, count: 1)
        let marker = bytes.loaded[start]
        var head = Head(marker: marker, contents: offset + 1)
        guard marker >= 0x40, marker & 0xF0 != 0x80 else { return head }
        if marker & 0x0F == 0x0F {
            let start = try load(offset, count: 3)
            if bytes.loaded[start + 1] == 0x10 {
                head.count = Int(bytes.loaded[start + 2])
                head.contents = offset + 3
            } else {
                head = try headWithLongCount(marker, at: offset)
            }
        } else {
            head.count = Int(marker & 0x0F)
        }
        let size: Int
        switch marker >> 4 {
        case 0x4, 0x5: size = 1
        case 0x6: size = 2
        case 0xA, 0xC: size = trailer.referenceSize
        case 0xD: size = 2 * trailer.referenceSize
        default: throw Fault(.unknownMarker(marker), at: offset)
        }
        let (length, overflow) = head.count.multipliedReportingOverflow(by: size)
        guard !overflow, length <= trailer.tableOffset - head.contents else {
            throw Fault(.invalidSize("\(head.count) is more than fits"), at: offset)
        }
        return head
    }

    @inline(never)
    mutating func headWithLongCount(_ marker: UInt8, at offset: Int) throws(Fault) -> Head {
        let place = offset + 1
        let start = try load(place, count: 1)
        let sizeMarker = bytes.loaded[start]
        guard sizeMarker & 0xF0 == 0x10, sizeMarker & 0x0F <= 4 else {
            throw Fault(.invalidSize("the count is not an integer"), at: place)
        }
        let width = 1 << Int(sizeMarker & 0x0F)
        let count = try unsigned(at: place + 1, size: width, of: place)
        guard count <= UInt64(trailer.tableOffset) else {
            throw Fault(.invalidSize("\(count) is more than fits"), at: place)
        }
        return Head(marker: marker, count: Int(count), contents: place + 1 + width)
    }
}

/// The trailer of a binary file, which locates the table of offsets and the root.
///
///     00 00 00 00 00            unused
///     00                        sort version
///     01                        bytes of an offset
///     01                        bytes of a reference
///     00 00 00 00 00 00 00 03   objects
///     00 00 00 00 00 00 00 00   the root's number
///     00 00 00 00 00 00 00 0E   where the table of offsets begins
struct BinaryTrailer {
    static let length = 32
    static let headerLength = 8
    static let header: StaticString = "bplist00"
    /// The beginning of the header in every file of version 0. Apple's reader ignores the last character.
    static let version = "bplist0"

    /// 1 if the root's keys are sorted and unique, as in files of this package's store.
    var sortVersion: UInt8
    var offsetSize: Int
    var referenceSize: Int
    var objectCount: Int
    var root: Int
    var tableOffset: Int

    /// The length of the whole file including the trailer.
    var fileLength: Int { tableOffset + objectCount * offsetSize + Self.length }
}

extension BinaryTrailer {
    /// Reads the trailer at the end of `bytes`, and checks its fields against the `length` of the file.
    init(endOf bytes: [UInt8], fileLength length: Int) throws(Fault) {
        let place = length - Self.length
        let start = bytes.count - Self.length
        func number(_ offset: Int) -> UInt64 { bytes.bigEndian(at: start + offset, size: 8) }
        func fault(_ what: String, _ offset: Int) -> Fault { Fault(.invalidTrailer(what), at: place + offset) }

        sortVersion = bytes[start + 5]
        offsetSize = Int(bytes[start + 6])
        referenceSize = Int(bytes[start + 7])
        guard 1...8 ~= offsetSize else { throw fault("an offset of \(offsetSize) bytes", 6) }
        guard 1...8 ~= referenceSize else { throw fault("a reference of \(referenceSize) bytes", 7) }
        let (count, root, table) = (number(8), number(16), number(24))
        guard count >= 1 else { throw fault("no objects", 8) }
        guard table >= 9, table <= UInt64(place) else { throw fault("the table of offsets begins at \(table)", 24) }
        let tableLength = UInt64(place) - table
        guard count <= tableLength / UInt64(offsetSize), count * UInt64(offsetSize) == tableLength else {
            throw fault("\(count) objects do not fill the table of offsets", 8)
        }
        guard root < count else { throw fault("root \(root) of \(count) objects", 16) }
        if referenceSize < 8, count >> UInt64(8 * referenceSize) != 0 {
            throw fault("\(count) objects need wider references", 7)
        }
        if offsetSize < 8, table >> UInt64(8 * offsetSize) != 0 { throw fault("the table needs wider offsets", 6) }
        (objectCount, self.root, tableOffset) = (Int(count), Int(root), Int(table))
    }

    /// Checks the eight bytes that a file begins with.
    static func checkHeader(_ bytes: [UInt8]) throws(Fault) {
        if bytes.starts(with: version.utf8) { return }
        guard bytes.starts(with: "bplist".utf8) else { throw Fault(.expected("“bplist00”"), at: 0) }
        throw Fault(.unsupportedVersion(String(decoding: bytes[6..<headerLength], as: UTF8.self)), at: 6)
    }
}
