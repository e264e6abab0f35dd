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
        for object in 0..<objectCount {
            let offset = bigEndian(table + object * offsetSize, offsetSize)
            guard offset >= UInt64(Self.headerLength), offset < UInt64(tableOffset) else {
                throw Fault(.invalidOffset(object: object, offset: offset), at: tableOffset + object * offsetSize)
            }
        }
    }
}

/// How much a value is when each shared part is counted wherever it is met.
private struct ExpandedSize {
    var nodes = 1
    var bytes: Int
    /// How many containers stand inside one another.
    var height = 0

    @inline(__always)
    mutating func add(_ other: ExpandedSize) {
        nodes = Self.sum(nodes, other.nodes)
        bytes = Self.sum(bytes, other.bytes)
        height = max(height, other.height + 1)
    }

    @inline(__always)
    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : sum
    }
}

/// What a reader knows of an object; from `firstKept` on the states are places among the kept ones.
private enum ObjectState {
    static let new: UInt32 = 0
    static let met: UInt32 = 1
    static let open: UInt32 = 2
    static let firstKept: UInt32 = 3
}

private struct KeptObject {
    let value: PropertyList
    let size: ExpandedSize
}

/// A container whose children are being read.
private struct BinaryFrame {
    var object = 0
    var isDictionary = false
    /// Whether it was read before, so that its value is to be kept now.
    var isAgain = false
    /// Where the references to the children that remain stand.
    var references = 0
    var remaining = 0
    var size = ExpandedSize(bytes: 0)
}

/// Reads objects of a binary file into values.
///
/// An object has a state. A container is marked as open while its children are read, so that a cycle shows. Most objects
/// are met once; what is met a second time is read a second time and then kept, and whoever refers to it later shares
/// it. What every value stands for when shared ones are counted each time is summed up on the way.
struct BinaryReader<Bytes: BinaryBytes & ~Copyable>: ~Copyable {
    var bytes: Bytes
    let trailer: BinaryTrailer
    private let limits: PropertyList.Limits
    private var builder: TreeBuilder

    /// What is known of each object: nothing, met once, open, or kept at a place in `kept`.
    private var states: UnsafeMutablePointer<UInt32>?
    private var kept: [KeptObject] = []
    private var open: [BinaryFrame] = []
    /// The container that was begun last.
    private var begun = BinaryFrame()
    private var recentKeys = RecentKeys()
    /// The encoded sizes of all objects met so far; more than the object area means that some overlap.
    private var metBytes = 0
    private var scratch = OutputBuffer(capacity: 0)

    init(
        _ bytes: consuming Bytes, trailer: BinaryTrailer, limits: PropertyList.Limits,
        options: PropertyList.ReadingOptions
    ) {
        self.bytes = bytes
        self.trailer = trailer
        self.limits = limits
        builder = TreeBuilder(limits: limits, options: options)
    }

    deinit { states?.deallocate() }

    var path: EntryPath { builder.path }

    /// Reads the object of that number and everything that it refers to.
    mutating func read(object: Int) throws(Fault) -> PropertyList {
        guard try visit(object) == nil else { return builder.finish() }
        var frame = begun
        while true {
            while frame.remaining > 0 {
                let child = try reference(at: frame.references)
                frame.references += trailer.referenceSize
                frame.remaining -= 1
                if let size = try visit(child) {
                    frame.size.add(size)
                    try check(frame.size, behind: child)
                } else {
                    open.append(frame)
                    frame = begun
                }
            }
            try close(frame)
            guard var outer = open.popLast() else { return builder.finish() }
            outer.size.add(frame.size)
            try check(outer.size, behind: frame.object)
            frame = outer
        }
    }

    private mutating func close(_ frame: BinaryFrame) throws(Fault) {
        if frame.isDictionary { try builder.endDictionary() } else { builder.endArray() }
        if frame.isAgain {
            keep(builder.last, frame.object, frame.size)
        } else {
            states?[frame.object] = ObjectState.met
        }
    }

    /// Checks a container's size with that of the child added last.
    @inline(__always)
    private mutating func check(_ size: ExpandedSize, behind child: Int) throws(Fault) {
        if size.nodes > limits.expandedNodes || size.bytes > limits.expandedBytes {
            builder.dropValue()
            throw tooLarge(size, child)
        }
    }

    private func tooLarge(_ size: ExpandedSize, _ object: Int) -> Fault {
        let problem: DecodingFailure.Problem =
            size.nodes > limits.expandedNodes
            ? .tooManyNodes(limit: limits.expandedNodes) : .tooManyBytes(limit: limits.expandedBytes)
        return Fault(problem, at: trailer.tableOffset + object * trailer.offsetSize)
    }
}

// MARK: Where things stand

extension BinaryReader where Bytes: ~Copyable {
    /// The number of the object that is referred to at `place`.
    @inline(__always)
    mutating func reference(at place: Int) throws(Fault) -> Int {
        let number = bigEndian(try bytes.run(at: place, count: trailer.referenceSize), trailer.referenceSize)
        guard number < UInt64(trailer.objectCount) else { throw Fault(.invalidReference(number), at: place) }
        return Int(number)
    }

    /// Where the object of that number begins.
    @inline(__always)
    mutating func offset(of object: Int) throws(Fault) -> Int {
        let place = trailer.tableOffset + object * trailer.offsetSize
        let offset = bigEndian(try bytes.run(at: place, count: trailer.offsetSize), trailer.offsetSize)
        guard offset >= UInt64(BinaryTrailer.headerLength), offset < UInt64(trailer.tableOffset) else {
            throw Fault(.invalidOffset(object: object, offset: offset), at: place)
        }
        return Int(offset)
    }

    /// The `count` bytes from `place` on, if they are inside the object area.
    @inline(__always)
    mutating func objectBytes(at place: Int, count: Int) throws(Fault) -> UnsafePointer<UInt8> {
        guard count <= trailer.tableOffset - place else {
            throw Fault(.unexpectedEnd(inside: "an object"), at: trailer.tableOffset)
        }
        return try bytes.run(at: place, count: count)
    }

    /// The marker of an object, what its lower half says, and where its contents begin.
    struct Head {
        let marker: UInt8
        /// How many bytes, units or references follow, for objects that have a count.
        var count = 0
        var contents: Int

        /// Whether a value of these contents takes memory beside its own words, so that sharing it saves some.
        @inline(__always)
        var isWorthKeeping: Bool { count > (marker >> 4 == 0x6 ? 5 : 14) }
    }

    /// Reads an object's marker and, where it has one, its count of things that take `size` bytes each.
    @inline(__always)
    mutating func head(at offset: Int) throws(Fault) -> Head {
        let marker = try objectBytes(at: offset, count: 1)[0]
        var head = Head(marker: marker, contents: offset + 1)
        guard marker >= 0x40, marker & 0xF0 != 0x80 else { return head }
        if marker & 0x0F == 0x0F {
            let size = try objectBytes(at: offset, count: 3)
            if size[1] == 0x10 {
                head.count = Int(size[2])
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
        guard head.count <= (trailer.tableOffset - head.contents) / size else {
            throw Fault(.invalidSize("\(head.count) is more than fits"), at: offset)
        }
        return head
    }

    @inline(never)
    private mutating func headWithLongCount(_ marker: UInt8, at offset: Int) throws(Fault) -> Head {
        let place = offset + 1
        let sizeMarker = try objectBytes(at: place, count: 1)[0]
        guard sizeMarker & 0xF0 == 0x10, sizeMarker & 0x0F <= 4 else {
            throw Fault(.invalidSize("the count is no integer"), at: place)
        }
        let width = 1 << Int(sizeMarker & 0x0F)
        let count = try unsigned(at: place + 1, size: width, of: place)
        guard count <= UInt64(trailer.tableOffset) else {
            throw Fault(.invalidSize("\(count) is more than fits"), at: place)
        }
        return Head(marker: marker, count: Int(count), contents: place + 1 + width)
    }
}

// MARK: Objects

extension BinaryReader where Bytes: ~Copyable {
    /// Adds the value of an object, or begins it where it is a container that is to be read: then nil.
    @inline(__always)
    private mutating func visit(_ object: Int) throws(Fault) -> ExpandedSize? {
        let offset = try offset(of: object)
        let head = try head(at: offset)
        if head.marker >= 0xA0 { return try visitContainer(object, head, at: offset) }
        return ExpandedSize(bytes: try addLeaf(object, head, at: offset))
    }

    @inline(never)
    private mutating func visitContainer(_ object: Int, _ head: Head, at offset: Int) throws(Fault) -> ExpandedSize? {
        let states = preparedStates()
        let state = states[object]
        if state == ObjectState.open { throw Fault(.cycle, at: offset) }
        if state >= ObjectState.firstKept { return try addKeptContainer(state, at: offset) }
        let isDictionary = head.marker >> 4 == 0xD
        let length = head.contents - offset + head.count * trailer.referenceSize * (isDictionary ? 2 : 1)
        if state == ObjectState.new { try meet(length, at: offset) }
        states[object] = ObjectState.open
        try builder.begin(dictionary: isDictionary, at: offset)
        builder.reserve(head.count)
        begun = BinaryFrame(
            object: object, isDictionary: isDictionary, isAgain: state == ObjectState.met, references: head.contents,
            remaining: head.count, size: ExpandedSize(bytes: length, height: 1))
        if isDictionary { try addKeys(head) }
        return nil
    }

    /// The states of all objects, from the time on when there may be an object that is met twice.
    mutating func preparedStates() -> UnsafeMutablePointer<UInt32> {
        if let states { return states }
        let states = UnsafeMutablePointer<UInt32>.allocate(capacity: trailer.objectCount)
        states.initialize(repeating: ObjectState.new, count: trailer.objectCount)
        self.states = states
        return states
    }

    /// Counts an object that is met for the first time.
    @inline(__always)
    private mutating func meet(_ length: Int, at offset: Int) throws(Fault) {
        metBytes += length
        if metBytes > trailer.tableOffset - BinaryTrailer.headerLength { throw Fault(.overlappingObjects, at: offset) }
    }

    /// Adds a container that was read before, if it is not too high for this place.
    private mutating func addKeptContainer(_ state: UInt32, at offset: Int) throws(Fault) -> ExpandedSize {
        let height = kept[Int(state - ObjectState.firstKept)].size.height
        guard builder.depth + height <= limits.nesting else {
            throw Fault(.nestedTooDeeply(limit: limits.nesting), at: offset)
        }
        return addKept(state)
    }

    private mutating func addKept(_ state: UInt32) -> ExpandedSize {
        let kept = kept[Int(state - ObjectState.firstKept)]
        builder.add(kept.value)
        return kept.size
    }

    /// Keeps the value of an object for whoever refers to it from now on.
    private mutating func keep(_ value: PropertyList, _ object: Int, _ size: ExpandedSize) {
        states?[object] = ObjectState.firstKept + UInt32(kept.count)
        kept.append(KeptObject(value: value, size: size))
    }

    /// Adds the keys of the dictionary that was begun last.
    @inline(__always)
    private mutating func addKeys(_ head: Head) throws(Fault) {
        builder.isInKey = true
        for at in 0..<head.count {
            let place = head.contents + at * trailer.referenceSize
            begun.size.add(ExpandedSize(bytes: try addKey(try reference(at: place), at: place)))
        }
        if begun.size.nodes > limits.expandedNodes || begun.size.bytes > limits.expandedBytes {
            throw tooLarge(begun.size, begun.object)
        }
        builder.isInKey = false
        begun.references += head.count * trailer.referenceSize
    }

    /// Adds a key and returns its encoded length.
    @inline(__always)
    private mutating func addKey(_ object: Int, at place: Int) throws(Fault) -> Int {
        if let key = recentKeys[object] {
            builder.addKey(key.text, bytes: key.bytes, at: place)
            return key.length
        }
        return try addNewKey(object, at: place)
    }

    @inline(never)
    private mutating func addNewKey(_ object: Int, at place: Int) throws(Fault) -> Int {
        let offset = try offset(of: object)
        let head = try head(at: offset)
        let state = states.map { $0[object] } ?? ObjectState.new
        if state >= ObjectState.firstKept { return try addKeptKey(state, at: place) }
        let key: RecentKeys.Key
        switch head.marker >> 4 {
        case 0x5:
            let text = try asciiBytes(head)
            key = RecentKeys.Key(
                object: object, text: String(validated: text, isASCII: true),
                bytes: Bytes.runsLast ? text : UnsafeBufferPointer<UInt8>?.none,
                length: head.contents - offset + head.count)
        case 0x6:
            key = RecentKeys.Key(
                object: object, text: try wideString(head), bytes: nil,
                length: head.contents - offset + 2 * head.count)
        default: throw Fault(.keyIsNotText, at: place)
        }
        builder.addKey(key.text, bytes: key.bytes, at: place)
        recentKeys.note(key)
        if state == ObjectState.new {
            states?[object] = ObjectState.met
            try meet(key.length, at: offset)
        } else if head.isWorthKeeping {
            keep(.string(key.text), object, ExpandedSize(bytes: key.length))
        }
        return key.length
    }

    private mutating func addKeptKey(_ state: UInt32, at place: Int) throws(Fault) -> Int {
        let kept = kept[Int(state - ObjectState.firstKept)]
        guard case .string(let key) = kept.value else { throw Fault(.keyIsNotText, at: place) }
        builder.addKey(key, bytes: nil, at: place)
        return kept.size.bytes
    }

    /// Adds an object that is no container and returns its encoded length.
    @inline(__always)
    private mutating func addLeaf(_ object: Int, _ head: Head, at offset: Int) throws(Fault) -> Int {
        guard let states else { return try add(head, at: offset) }
        let state = states[object]
        if state >= ObjectState.firstKept { return addKept(state).bytes }
        let length = try add(head, at: offset)
        if state == ObjectState.new {
            states[object] = ObjectState.met
            do throws(Fault) {
                try meet(length, at: offset)
            } catch {
                builder.dropValue()
                throw error
            }
        } else if head.isWorthKeeping {
            keep(builder.last, object, ExpandedSize(bytes: length))
        }
        return length
    }

    @inline(__always)
    private mutating func add(_ head: Head, at offset: Int) throws(Fault) -> Int {
        switch head.marker >> 4 {
        case 0x5: builder.add(.string(String(validated: try asciiBytes(head), isASCII: true)))
        case 0x1:
            builder.add(.integer(try integer(head.marker, at: offset)))
            return 1 + 1 << Int(head.marker & 0x0F)
        case 0x6:
            builder.add(.string(try wideString(head)))
            return head.contents - offset + 2 * head.count
        case 0x4:
            builder.add(.data(Data(bytes: try objectBytes(at: head.contents, count: head.count), count: head.count)))
        default: return try addUnusual(head.marker, at: offset)
        }
        return head.contents - offset + head.count
    }

    private mutating func addUnusual(_ marker: UInt8, at offset: Int) throws(Fault) -> Int {
        switch marker {
        case 0x00: throw Fault(.null, at: offset)
        case 0x08, 0x09:
            builder.add(.boolean(marker == 0x09))
            return 1
        case 0x22:
            let bits = UInt32(truncatingIfNeeded: bigEndian(try objectBytes(at: offset + 1, count: 4), 4))
            builder.add(.real(Double(Float(bitPattern: bits))))
            return 5
        case 0x23:
            builder.add(.real(try real(at: offset + 1)))
            return 9
        case 0x33:
            builder.add(.date(Date(timeIntervalSinceReferenceDate: try real(at: offset + 1))))
            return 9
        case 0x80...0x8F:
            let size = Int(marker & 0x0F) + 1
            builder.add(.uid(try unsigned(at: offset + 1, size: size, of: offset)))
            return 1 + size
        default: throw Fault(.unknownMarker(marker), at: offset)
        }
    }

    private mutating func real(at place: Int) throws(Fault) -> Double {
        Double(bitPattern: bigEndian(try objectBytes(at: place, count: 8), 8))
    }

    /// The number in up to sixteen bytes, of which all but the last eight must be zero.
    private mutating func unsigned(at place: Int, size: Int, of offset: Int) throws(Fault) -> UInt64 {
        let bytes = try objectBytes(at: place, count: size)
        let extra = max(0, size - 8)
        guard (0..<extra).allSatisfy({ bytes[$0] == 0 }) else {
            throw Fault(.integerOutOfRange("\(size) bytes"), at: offset)
        }
        return bigEndian(bytes + extra, size - extra)
    }

    @inline(__always)
    private mutating func integer(_ marker: UInt8, at offset: Int) throws(Fault) -> PropertyList.Integer {
        switch marker & 0x0F {
        case let power where power < 3:
            let size = 1 << Int(power)
            return PropertyList.Integer(bigEndian(try objectBytes(at: offset + 1, count: size), size))
        case 3: return PropertyList.Integer(Int64(bitPattern: bigEndian(try objectBytes(at: offset + 1, count: 8), 8)))
        case 4:
            let bytes = try objectBytes(at: offset + 1, count: 16)
            let (high, low) = (bigEndian(bytes, 8), bigEndian(bytes + 8, 8))
            if high == 0 { return PropertyList.Integer(low) }
            guard high == .max, low >> 63 == 1 else { throw Fault(.integerOutOfRange("16 bytes"), at: offset) }
            return PropertyList.Integer(Int64(bitPattern: low))
        default: throw Fault(.invalidSize("an integer of 2^\(marker & 0x0F) bytes"), at: offset)
        }
    }

    @inline(__always)
    private mutating func asciiBytes(_ head: Head) throws(Fault) -> UnsafeBufferPointer<UInt8> {
        let text = UnsafeBufferPointer(start: try objectBytes(at: head.contents, count: head.count), count: head.count)
        guard isASCII(text) else {
            let offset = text.firstIndex { $0 >= 0x80 } ?? 0
            throw Fault(.invalidText(encoding: "ASCII"), at: head.contents + offset)
        }
        return text
    }

    private mutating func wideString(_ head: Head) throws(Fault) -> String {
        let text = try objectBytes(at: head.contents, count: 2 * head.count)
        scratch.truncate(to: 0)
        scratch.reserve(3 * head.count)
        var at = 0
        var isASCII = true
        while at < head.count {
            let place = head.contents + 2 * at
            var code = UInt32(bigEndian(text + 2 * at, 2))
            at += 1
            if code & 0xF800 == 0xD800 {
                guard code < 0xDC00, at < head.count else { throw Fault(.loneSurrogate, at: place) }
                let low = UInt32(bigEndian(text + 2 * at, 2))
                guard low & 0xFC00 == 0xDC00 else { throw Fault(.loneSurrogate, at: place) }
                code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
                at += 1
            }
            if code >= 0x80 { isASCII = false }
            scratch.append(utf8Of: code)
        }
        return String(validated: UnsafeBufferPointer(start: scratch.base, count: scratch.count), isASCII: isASCII)
    }
}

extension OutputBuffer {
    /// Writes the character of that code, which is no surrogate; there is room for four bytes.
    @inline(__always)
    mutating func append(utf8Of code: UInt32) {
        reserve(4)
        func byte(_ bits: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: bits) }
        switch code {
        case 0..<0x80:
            end[0] = byte(code)
            advance(1)
        case 0x80..<0x800:
            end[0] = byte(0xC0 | code >> 6)
            end[1] = byte(0x80 | code & 0x3F)
            advance(2)
        case 0x800..<0x10000:
            end[0] = byte(0xE0 | code >> 12)
            end[1] = byte(0x80 | code >> 6 & 0x3F)
            end[2] = byte(0x80 | code & 0x3F)
            advance(3)
        default:
            end[0] = byte(0xF0 | code >> 18)
            end[1] = byte(0x80 | code >> 12 & 0x3F)
            end[2] = byte(0x80 | code >> 6 & 0x3F)
            end[3] = byte(0x80 | code & 0x3F)
            advance(4)
        }
    }
}

/// Whether all bytes are below 80.
@inline(__always)
func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = text.baseAddress else { return true }
    let raw = UnsafeRawPointer(base)
    var at = 0
    var seen: UInt64 = 0
    while at + 8 <= text.count {
        seen |= raw.word(at)
        at += 8
    }
    if at < text.count { seen |= raw.tail(at, text.count - at, of: text.count) }
    return seen & ByteScan.highBits == 0
}
