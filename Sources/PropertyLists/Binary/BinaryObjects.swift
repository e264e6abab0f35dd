// Unsafe: `objectBytes` checks that the bytes at a pointer exist. The table of states has an element for each object,
// and `reference(at:)` checks every object number.

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension BinaryReader where Bytes: ~Copyable {
    /// Begins the root container and returns true, or adds the value of a root that is a scalar and returns false.
    @inline(never)
    mutating func begin(_ object: Int) throws(Fault) -> Bool {
        let offset = try offset(of: object)
        let head = try head(at: offset)
        if head.marker >= Head.firstOfContainer { return try visitContainer(object, head, at: offset) == nil }
        try check(ExpandedSize(bytes: try addLeaf(object, head, at: offset)), behind: object)
        return false
    }

    /// Adds a container that was kept and returns its size, or begins a container that must be read and returns nil.
    @inline(never)
    mutating func visitContainer(_ object: Int, _ head: Head, at offset: Int) throws(Fault) -> ExpandedSize? {
        let states = unsafe preparedStates()
        let state = unsafe states[object]
        if state == ObjectState.open { throw Fault(.cycle, at: offset) }
        if state >= ObjectState.firstKept { return try addKeptContainer(state, at: offset) }
        let isDictionary = head.marker >> 4 == 0xD
        let length = head.contents - offset + head.count * trailer.referenceSize * (isDictionary ? 2 : 1)
        if state == ObjectState.new { try meet(length, at: offset) }
        unsafe states[object] = ObjectState.open
        try builder.begin(dictionary: isDictionary, at: offset)
        builder.reserve(head.count)
        begun = BinaryFrame(
            object: object, isDictionary: isDictionary, isAgain: state == ObjectState.met, references: head.contents,
            remaining: head.count, size: ExpandedSize(bytes: length, height: 1))
        if isDictionary { try addKeys(head) }
        return nil
    }

    /// Returns the states of all objects. They are allocated with the first container, because a scalar root needs
    /// none.
    mutating func preparedStates() -> UnsafeMutablePointer<UInt32> {
        if let states = unsafe states { return unsafe states }
        let states = UnsafeMutablePointer<UInt32>.allocate(capacity: trailer.objectCount)
        unsafe states.initialize(repeating: ObjectState.new, count: trailer.objectCount)
        unsafe self.states = unsafe states
        return unsafe states
    }

    /// Counts the bytes of an object at its first reference.
    @inline(__always)
    mutating func meet(_ length: Int, at offset: Int) throws(Fault) {
        metBytes += length
        if haveOverlapped { throw Fault(.overlappingObjects, at: offset) }
    }

    /// Whether the objects read so far take more bytes than the object area, so that some of them overlap.
    @inline(__always)
    private var haveOverlapped: Bool { metBytes > trailer.tableOffset - BinaryTrailer.headerLength }

    /// Adds a container that was kept, unless it would exceed the nesting limit here.
    mutating func addKeptContainer(_ state: UInt32, at offset: Int) throws(Fault) -> ExpandedSize {
        let height = kept[Int(state - ObjectState.firstKept)].size.height
        guard builder.depth + height <= limits.nesting else {
            throw Fault(.nestedTooDeeply(limit: limits.nesting), at: offset)
        }
        return addKept(state)
    }

    mutating func addKept(_ state: UInt32) -> ExpandedSize {
        let kept = kept[Int(state - ObjectState.firstKept)]
        builder.add(kept.value)
        return kept.size
    }

    /// Keeps the value of an object for later references to it.
    mutating func keep(_ value: PropertyList, _ object: Int, _ size: ExpandedSize) {
        unsafe states?[object] = ObjectState.firstKept + UInt32(kept.count)
        kept.append(KeptObject(value: value, size: size))
    }

    /// Adds the keys of the innermost dictionary.
    @inline(__always)
    mutating func addKeys(_ head: Head) throws(Fault) {
        builder.isInKey = true
        for at in 0..<head.count {
            let place = head.contents + at * trailer.referenceSize
            begun.size.add(ExpandedSize(bytes: try addKey(try reference(at: place), at: place)))
        }
        if begun.size.nodes > limits.expandedNodes || begun.size.bytes > mostBytes {
            throw tooLarge(begun.size, begun.object)
        }
        builder.isInKey = false
        begun.references += head.count * trailer.referenceSize
    }

    /// Adds a key and returns its encoded length.
    @inline(__always)
    mutating func addKey(_ object: Int, at place: Int) throws(Fault) -> Int {
        if let key = unsafe recentKeys[object] {
            unsafe builder.addKey(key.pointee.text, at: place)
            return unsafe key.pointee.length
        }
        return try addNewKey(object, at: place)
    }

    @inline(never)
    mutating func addNewKey(_ object: Int, at place: Int) throws(Fault) -> Int {
        let offset = try offset(of: object)
        let head = try head(at: offset)
        let state = unsafe states.map { unsafe $0[object] } ?? ObjectState.new
        if state >= ObjectState.firstKept { return try addKeptKey(state, at: place) }
        let key: RecentKeys.Key
        switch head.marker >> 4 {
        case 0x5:
            let text = try unsafe asciiBytes(head)
            key = unsafe RecentKeys.Key(
                object: object, text: String(validated: text, isASCII: true),
                length: head.contents - offset + head.count)
        case 0x6:
            key = RecentKeys.Key(
                object: object, text: try wideString(head),
                length: head.contents - offset + 2 * head.count)
        default: throw Fault(.keyIsNotText, at: place)
        }
        builder.addKey(key.text, at: place)
        recentKeys.note(key)
        if state == ObjectState.new {
            unsafe states?[object] = ObjectState.met
            try meet(key.length, at: offset)
        } else if head.isWorthKeeping {
            keep(.string(key.text), object, ExpandedSize(bytes: key.length))
        }
        return key.length
    }

    mutating func addKeptKey(_ state: UInt32, at place: Int) throws(Fault) -> Int {
        let kept = kept[Int(state - ObjectState.firstKept)]
        guard case .string(let key) = kept.value else { throw Fault(.keyIsNotText, at: place) }
        builder.addKey(key, at: place)
        return kept.size.bytes
    }

    /// Adds a scalar and returns its encoded length.
    @inline(__always)
    mutating func addLeaf(_ object: Int, _ head: Head, at offset: Int) throws(Fault) -> Int {
        guard let states = unsafe states else { return try add(head, at: offset) }
        let state = unsafe states[object]
        if state >= ObjectState.firstKept { return addKept(state).bytes }
        let length = try add(head, at: offset)
        if state == ObjectState.new {
            unsafe states[object] = ObjectState.met
            metBytes += length
            if haveOverlapped {
                builder.dropValue()
                throw Fault(.overlappingObjects, at: offset)
            }
        } else if head.isWorthKeeping {
            keep(builder.last, object, ExpandedSize(bytes: length))
        }
        return length
    }

    @inline(never)
    mutating func add(_ head: Head, at offset: Int) throws(Fault) -> Int {
        switch head.marker >> 4 {
        case 0x5: unsafe builder.add(.string(String(validated: try asciiBytes(head), isASCII: true)))
        case 0x1:
            builder.add(.integer(try integer(head.marker, at: offset)))
            return 1 + 1 << Int(head.marker & 0x0F)
        case 0x6:
            builder.add(.string(try wideString(head)))
            return head.contents - offset + 2 * head.count
        case 0x4:
            unsafe builder.add(
                .data(Data(bytes: try objectBytes(at: head.contents, count: head.count), count: head.count)))
        default: return try addUnusual(head.marker, at: offset)
        }
        return head.contents - offset + head.count
    }

    mutating func addUnusual(_ marker: UInt8, at offset: Int) throws(Fault) -> Int {
        switch marker {
        case 0x00:
            guard builder.nulls == .kept else { throw Fault(.null, at: offset) }
            builder.add(.null)
            return 1
        case 0x08, 0x09:
            builder.add(.boolean(marker == 0x09))
            return 1
        case 0x22:
            let bits = unsafe UInt32(truncatingIfNeeded: bigEndian(try objectBytes(at: offset + 1, count: 4), 4))
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
}

extension BinaryReader where Bytes: ~Copyable {
    mutating func real(at place: Int) throws(Fault) -> Double {
        unsafe Double(bitPattern: bigEndian(try objectBytes(at: place, count: 8), 8))
    }

    /// The number in up to 16 bytes. All but the last eight must be zero.
    mutating func unsigned(at place: Int, size: Int, of offset: Int) throws(Fault) -> UInt64 {
        let bytes = try unsafe objectBytes(at: place, count: size)
        let extra = max(0, size - 8)
        guard (0..<extra).allSatisfy({ unsafe bytes[$0] == 0 }) else {
            throw Fault(.integerOutOfRange("\(size) bytes"), at: offset)
        }
        return unsafe bigEndian(bytes + extra, size - extra)
    }

    @inline(__always)
    mutating func integer(_ marker: UInt8, at offset: Int) throws(Fault) -> PropertyList.Integer {
        switch marker & 0x0F {
        case let power where power < 3:
            let size = 1 << Int(power)
            return unsafe PropertyList.Integer(bigEndian(try objectBytes(at: offset + 1, count: size), size))
        case 3:
            return unsafe PropertyList.Integer(
                Int64(bitPattern: bigEndian(try objectBytes(at: offset + 1, count: 8), 8)))
        case 4:
            let bytes = try unsafe objectBytes(at: offset + 1, count: 16)
            let (high, low) = unsafe (bigEndian(bytes, 8), bigEndian(bytes + 8, 8))
            if high == 0 { return PropertyList.Integer(low) }
            guard high == .max, low >> 63 == 1 else { throw Fault(.integerOutOfRange("16 bytes"), at: offset) }
            return PropertyList.Integer(Int64(bitPattern: low))
        default: throw Fault(.invalidSize("an integer of 2^\(marker & 0x0F) bytes"), at: offset)
        }
    }

    @inline(__always)
    mutating func asciiBytes(_ head: Head) throws(Fault) -> UnsafeBufferPointer<UInt8> {
        let text = unsafe UnsafeBufferPointer(
            start: try objectBytes(at: head.contents, count: head.count), count: head.count)
        guard unsafe isASCII(text) else {
            let offset = unsafe text.firstIndex { $0 >= 0x80 } ?? 0
            throw Fault(.invalidText(encoding: "ASCII"), at: head.contents + offset)
        }
        return unsafe text
    }

    mutating func wideString(_ head: Head) throws(Fault) -> String {
        let text = try unsafe objectBytes(at: head.contents, count: 2 * head.count)
        scratch.truncate(to: 0)
        scratch.reserve(3 * head.count)
        var at = 0
        var isASCII = true
        while at < head.count {
            let place = head.contents + 2 * at
            var code = unsafe UInt32(bigEndian(text + 2 * at, 2))
            at += 1
            if code & 0xF800 == 0xD800 {
                guard at < head.count,
                    let scalar = unsafe Unicode.Scalar(high: code, low: UInt32(bigEndian(text + 2 * at, 2)))
                else { throw Fault(.loneSurrogate, at: place) }
                code = scalar.value
                at += 1
            }
            if code >= 0x80 { isASCII = false }
            scratch.append(utf8Of: code)
        }
        return unsafe String(
            validated: UnsafeBufferPointer(start: scratch.base, count: scratch.count), isASCII: isASCII)
    }
}

extension OutputBuffer {
    /// Writes the character with this code, which is not a surrogate. The caller reserves four bytes.
    @inline(__always)
    mutating func append(utf8Of code: UInt32) {
        reserve(4)
        func byte(_ bits: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: bits) }
        switch code {
        case 0..<0x80:
            unsafe end[0] = byte(code)
            advance(1)
        case 0x80..<0x800:
            unsafe end[0] = byte(0xC0 | code >> 6)
            unsafe end[1] = byte(0x80 | code & 0x3F)
            advance(2)
        case 0x800..<0x10000:
            unsafe end[0] = byte(0xE0 | code >> 12)
            unsafe end[1] = byte(0x80 | code >> 6 & 0x3F)
            unsafe end[2] = byte(0x80 | code & 0x3F)
            advance(3)
        default:
            unsafe end[0] = byte(0xF0 | code >> 18)
            unsafe end[1] = byte(0x80 | code >> 12 & 0x3F)
            unsafe end[2] = byte(0x80 | code >> 6 & 0x3F)
            unsafe end[3] = byte(0x80 | code & 0x3F)
            advance(4)
        }
    }
}

/// Whether all bytes are below 0x80.
@inline(__always)
func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = text.baseAddress else { return true }
    let raw = unsafe UnsafeRawPointer(base)
    var at = 0
    var seen: UInt64 = 0
    while at + 8 <= text.count {
        unsafe seen |= raw.word(at)
        at += 8
    }
    if at < text.count { unsafe seen |= raw.tail(at, text.count - at, of: text.count) }
    return seen & ByteScan.highBits == 0
}

/// The size of a value in which a shared part is counted at each reference.
struct ExpandedSize {
    var nodes = 1
    var bytes: Int
    /// The number of nested containers.
    var height = 0

    @inline(__always)
    mutating func add(_ other: ExpandedSize) {
        nodes = Self.sum(nodes, other.nodes)
        bytes = Self.sum(bytes, other.bytes)
        height = max(height, other.height + 1)
    }

    /// Adds a scalar.
    @inline(__always)
    mutating func addLeaf(bytes: Int) {
        nodes = Self.sum(nodes, 1)
        self.bytes = Self.sum(self.bytes, bytes)
        height = max(height, 1)
    }

    @inline(__always)
    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : sum
    }
}

/// The state of an object. States from `firstKept` on are positions in the list of kept objects.
enum ObjectState {
    static let new: UInt32 = 0
    static let met: UInt32 = 1
    static let open: UInt32 = 2
    static let firstKept: UInt32 = 3
}

struct KeptObject {
    let value: PropertyList
    let size: ExpandedSize
}

/// A container whose children are being read.
struct BinaryFrame {
    var object = 0
    var isDictionary = false
    /// Whether the container was read before, so that its value must be kept now.
    var isAgain = false
    /// The position of the references to the remaining children.
    var references = 0
    var remaining = 0
    var size = ExpandedSize(bytes: 0)
}

/// The recently used keys of a binary file, by object number.
///
/// Files with records repeat the same few keys, which are decoded only once.
@safe struct RecentKeys: ~Copyable {
    struct Key {
        let object: Int
        let text: String
        /// The length of the encoded object.
        let length: Int
    }

    private static let count = 128
    private let keys = UnsafeMutablePointer<Key>.allocate(capacity: count)

    init() {
        unsafe keys.initialize(repeating: Key(object: -1, text: "", length: 0), count: Self.count)
    }

    deinit {
        unsafe keys.deinitialize(count: Self.count)
        unsafe keys.deallocate()
    }

    /// The key of an object, valid until another key is added, or nil.
    @inline(__always)
    subscript(object: Int) -> UnsafePointer<Key>? {
        let key = unsafe keys + object & (Self.count - 1)
        return unsafe key.pointee.object == object ? UnsafePointer(key) : nil
    }

    @inline(__always)
    mutating func note(_ key: Key) { unsafe keys[key.object & (Self.count - 1)] = key }
}
