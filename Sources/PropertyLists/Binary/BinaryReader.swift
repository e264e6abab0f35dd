#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    static func readBinary(
        _ bytes: UnsafeBufferPointer<UInt8>, limits: Limits, options: ReadingOptions
    ) throws(DecodingFailure) -> PropertyList {
        func failure(_ fault: Fault, _ path: EntryPath = EntryPath()) -> DecodingFailure {
            DecodingFailure(fault.problem, offset: fault.offset, path: path, format: .binary)
        }
        let trailer: BinaryTrailer
        do throws(Fault) {
            trailer = try BinaryTrailer(file: bytes)
            try trailer.checkOffsets(of: bytes)
        } catch {
            throw failure(error)
        }
        let memory = BytesInMemory(base: bytes.baseAddress!)
        var reader = BinaryReader(memory, trailer: trailer, limits: limits, options: options)
        do throws(Fault) {
            return try reader.read(object: trailer.root)
        } catch {
            throw failure(error, reader.path)
        }
    }
}

extension BinaryTrailer {
    /// Checks the beginning of a file and reads its end.
    init(file bytes: UnsafeBufferPointer<UInt8>) throws(Fault) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { throw Fault(.emptyInput, at: 0) }
        guard bytes.count >= Self.headerLength else {
            guard bytes.starts(with: "bplist00".utf8.prefix(bytes.count)) else {
                throw Fault(.expected("“bplist00”"), at: 0)
            }
            throw Fault(.unexpectedEnd(inside: "the header"), at: bytes.count)
        }
        try Self.checkHeader(base)
        guard bytes.count >= Self.headerLength + Self.length else {
            throw Fault(.unexpectedEnd(inside: "the trailer"), at: bytes.count)
        }
        try self.init(base + bytes.count - Self.length, fileLength: bytes.count)
    }

    /// Checks that every object begins among the objects, also one that nothing refers to.
    func checkOffsets(of bytes: UnsafeBufferPointer<UInt8>) throws(Fault) {
        let table = bytes.baseAddress! + tableOffset
        if offsetSize == 4, areInside(UnsafeRawPointer(table)) { return }
        for object in 0..<objectCount {
            let offset = bigEndian(table + object * offsetSize, offsetSize)
            guard offset >= UInt64(Self.headerLength), offset < UInt64(tableOffset) else {
                throw Fault(.invalidOffset(object: object, offset: offset), at: tableOffset + object * offsetSize)
            }
        }
    }
}

extension BinaryTrailer {
    /// Whether all offsets of four bytes are right, found out without looking which is not: so several at a time.
    private func areInside(_ table: UnsafeRawPointer) -> Bool {
        // An offset before the end of the header becomes the greatest of all.
        var greatest: UInt32 = 0
        for object in 0..<objectCount {
            let offset = UInt32(bigEndian: table.loadUnaligned(fromByteOffset: object * 4, as: UInt32.self))
            greatest = max(greatest, offset &- UInt32(Self.headerLength))
        }
        return Int(greatest) < tableOffset - Self.headerLength
    }
}

/// Reads objects of a binary file into values.
///
/// An object has a state. A container is marked as open while its children are read, so that a cycle shows. Most
/// objects are met once; what is met a second time is read a second time and then kept, and whoever refers to it later
/// shares it. What every value stands for when shared ones are counted each time is summed up on the way.
struct BinaryReader<Bytes: BinaryBytes & ~Copyable>: ~Copyable {
    var bytes: Bytes
    let trailer: BinaryTrailer
    let limits: PropertyList.Limits
    /// How many bytes the values may take if each shared value is counted each time.
    let mostBytes: Int
    var builder: TreeBuilder

    /// What is known of each object: nothing, met once, open, or kept at a place in `kept`.
    var states: UnsafeMutablePointer<UInt32>?
    var kept: [KeptObject] = []
    var open = Stack<BinaryFrame>()
    /// The container that was begun last.
    var begun = BinaryFrame()
    var recentKeys = RecentKeys()
    /// The encoded sizes of all objects met so far; more than the object area means that some overlap.
    var metBytes = 0
    var scratch = OutputBuffer(capacity: 0)

    init(
        _ bytes: consuming Bytes, trailer: BinaryTrailer, limits: PropertyList.Limits,
        options: PropertyList.ReadingOptions
    ) {
        self.bytes = bytes
        self.trailer = trailer
        self.limits = limits
        mostBytes = limits.expandedBytes(ofFile: trailer.fileLength)
        builder = TreeBuilder(limits: limits, options: options)
    }

    deinit { states?.deallocate() }

    var path: EntryPath { builder.path }

    /// Reads the object of that number and everything that it refers to.
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
                    frame.size.addLeaf(bytes: try addLeaf(child, head, at: offset))
                } else if let size = try visitContainer(child, head, at: offset) {
                    frame.size.add(size)
                } else {
                    open.push(frame)
                    frame = begun
                    continue
                }
                try check(frame.size, behind: child)
            }
            try close(frame)
            guard var outer = open.popLast() else { return builder.finish() }
            outer.size.add(frame.size)
            try check(outer.size, behind: frame.object)
            frame = outer
        }
    }

    private static var fewNodes: Int { 64 }

    mutating func close(_ frame: BinaryFrame) throws(Fault) {
        if frame.isDictionary { try builder.endDictionary() } else { builder.endArray() }
        // Until one that is met again is kept it is there twice, which only small ones may be.
        if frame.isAgain || frame.size.nodes > Self.fewNodes {
            keep(builder.last, frame.object, frame.size)
        } else {
            states?[frame.object] = ObjectState.met
        }
    }

    /// Checks a container's size with that of the child added last.
    @inline(__always)
    mutating func check(_ size: ExpandedSize, behind child: Int) throws(Fault) {
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
