#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension BinaryReader {
    /// Begins the root container and returns true, or adds the value of a root that is a scalar and returns false.
    @inline(never)
    mutating func begin(_ object: Int) throws(Fault) -> Bool {
        let offset = try offset(of: object)
        let head = try head(at: offset)
        if head.marker >= Head.firstOfContainer { return try visitContainer(object, head, at: offset) == nil }
        try check(ExpandedSize(bytes: try addLeaf(object, head, at: offset)), after: object)
        return false
    }

    /// Adds a container that was kept and returns its size, or begins a container that must be read and returns nil.
    @inline(never)
    mutating func visitContainer(_ object: Int, _ head: Head, at offset: Int) throws(Fault) -> ExpandedSize? {
        prepareStates()
        let state = states[object]
        if state == ObjectState.open { throw Fault(.cycle, at: offset) }
        if state >= ObjectState.firstKept { return try addKeptContainer(state, at: offset) }
        let isDictionary = head.marker >> 4 == 0xD
        let length = head.contents - offset + head.count * trailer.referenceSize * (isDictionary ? 2 : 1)
        if state == ObjectState.new { try countBytes(length, at: offset) }
        states[object] = ObjectState.open
        try builder.begin(dictionary: isDictionary, at: offset)
        builder.reserve(head.count)
        begun = BinaryFrame(
            object: object, isDictionary: isDictionary, isReadAgain: state == ObjectState.read,
            references: head.contents,
            remaining: head.count, size: ExpandedSize(bytes: length, height: 1))
        if isDictionary { try addKeys(head) }
        return nil
    }

    /// Allocates the states of all objects with the first container, because a scalar root needs none.
    mutating func prepareStates() {
        if states.isEmpty { states = Array(repeating: ObjectState.new, count: trailer.objectCount) }
    }

    /// Counts the bytes of an object at its first reference.
    mutating func countBytes(_ length: Int, at offset: Int) throws(Fault) {
        readBytes += length
        if haveOverlapped { throw Fault(.overlappingObjects, at: offset) }
    }

    /// Whether the objects read so far take more bytes than the object area, so that some of them overlap.
    private var haveOverlapped: Bool { readBytes > trailer.tableOffset - BinaryTrailer.headerLength }

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
        if !states.isEmpty { states[object] = ObjectState.firstKept + UInt32(kept.count) }
        kept.append(KeptObject(value: value, size: size))
    }

    /// Adds the keys of the innermost dictionary.
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
    mutating func addKey(_ object: Int, at place: Int) throws(Fault) -> Int {
        if let position = recentKeys.position(of: object) {
            let key = recentKeys.keys[position]
            builder.addKey(key.text, at: place, in: bytes.loaded, key.place)
            return key.length
        }
        return try addNewKey(object, at: place)
    }

    @inline(never)
    mutating func addNewKey(_ object: Int, at place: Int) throws(Fault) -> Int {
        let offset = try offset(of: object)
        let head = try head(at: offset)
        let state = states.isEmpty ? ObjectState.new : states[object]
        if state >= ObjectState.firstKept { return try addKeptKey(state, at: place) }
        let text: String
        var length = head.contents - offset + head.count
        var source = 0..<0
        switch head.marker >> 4 {
        case 0x5:
            text = try asciiString(head)
            if bytes.isWhole { source = head.contents..<head.contents + head.count }
        case 0x6:
            text = try wideString(head)
            length += head.count
        default: throw Fault(.keyIsNotText, at: place)
        }
        if state == ObjectState.new {
            if !states.isEmpty { states[object] = ObjectState.read }
            try countBytes(length, at: offset)
        } else {
            recentKeys.note(RecentKeys.Key(object: object, text: text, place: source, length: length))
            if head.isWorthKeeping { keep(.string(text), object, ExpandedSize(bytes: length)) }
        }
        builder.addKey(text, at: place, in: bytes.loaded, source)
        return length
    }

    mutating func addKeptKey(_ state: UInt32, at place: Int) throws(Fault) -> Int {
        let kept = kept[Int(state - ObjectState.firstKept)]
        guard case .string(let key) = kept.value else { throw Fault(.keyIsNotText, at: place) }
        builder.addKey(key, at: place)
        return kept.size.bytes
    }

    /// Adds a scalar and returns its encoded length.
    mutating func addLeaf(_ object: Int, _ head: Head, at offset: Int) throws(Fault) -> Int {
        if states.isEmpty { return try add(head, at: offset) }
        let state = states[object]
        if state >= ObjectState.firstKept { return addKept(state).bytes }
        let length = try add(head, at: offset)
        if state == ObjectState.new {
            states[object] = ObjectState.read
            readBytes += length
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
        case 0x5: builder.add(.string(try asciiString(head)))
        case 0x1:
            builder.add(.integer(try integer(head.marker, at: offset)))
            return 1 + 1 << Int(head.marker & 0x0F)
        case 0x6:
            builder.add(.string(try wideString(head)))
            return head.contents - offset + 2 * head.count
        case 0x4:
            let start = try load(head.contents, count: head.count)
            builder.add(.data(Data(bytes.loaded[start..<start + head.count])))
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
            let bits = try number(at: offset + 1, size: 4)
            builder.add(.real(Double(Float(bitPattern: UInt32(bits)))))
            return 5
        case 0x23:
            builder.add(.real(Double(bitPattern: try number(at: offset + 1, size: 8))))
            return 9
        case 0x33:
            let seconds = Double(bitPattern: try number(at: offset + 1, size: 8))
            builder.add(.date(Date(timeIntervalSinceReferenceDate: seconds)))
            return 9
        case 0x80...0x8F:
            let size = Int(marker & 0x0F) + 1
            builder.add(.uid(try unsigned(at: offset + 1, size: size, of: offset)))
            return 1 + size
        default: throw Fault(.unknownMarker(marker), at: offset)
        }
    }
}

extension BinaryReader {
    /// The number in up to 8 bytes of an object.
    mutating func number(at place: Int, size: Int) throws(Fault) -> UInt64 {
        let start = try load(place, count: size)
        return bytes.loaded.bigEndian(at: start, size: size)
    }

    /// The number in up to 16 bytes. All but the last eight must be zero.
    mutating func unsigned(at place: Int, size: Int, of offset: Int) throws(Fault) -> UInt64 {
        let start = try load(place, count: size)
        let extra = max(0, size - 8)
        guard bytes.loaded[start..<start + extra].allSatisfy({ $0 == 0 }) else {
            throw Fault(.integerOutOfRange("\(size) bytes"), at: offset)
        }
        return bytes.loaded.bigEndian(at: start + extra, size: size - extra)
    }

    mutating func integer(_ marker: UInt8, at offset: Int) throws(Fault) -> PropertyList.Integer {
        switch marker & 0x0F {
        case let power where power < 3:
            return PropertyList.Integer(try number(at: offset + 1, size: 1 << Int(power)))
        case 3:
            return PropertyList.Integer(Int64(bitPattern: try number(at: offset + 1, size: 8)))
        case 4:
            let high = try number(at: offset + 1, size: 8)
            let low = try number(at: offset + 9, size: 8)
            if high == 0 { return PropertyList.Integer(low) }
            guard high == .max, low >> 63 == 1 else { throw Fault(.integerOutOfRange("16 bytes"), at: offset) }
            return PropertyList.Integer(Int64(bitPattern: low))
        default: throw Fault(.invalidSize("an integer of 2^\(marker & 0x0F) bytes"), at: offset)
        }
    }

    mutating func asciiString(_ head: Head) throws(Fault) -> String {
        let start = try load(head.contents, count: head.count)
        let text = start..<start + head.count
        guard bytes.loaded.isASCII(in: text) else {
            let offset = bytes.loaded[text].firstIndex { $0 >= 0x80 }! - start
            throw Fault(.invalidText(encoding: "ASCII"), at: head.contents + offset)
        }
        return bytes.loaded.text(text, isASCII: true)
    }

    mutating func wideString(_ head: Head) throws(Fault) -> String {
        let start = try load(head.contents, count: 2 * head.count)
        scratch.removeAll(keepingCapacity: true)
        scratch.reserveCapacity(3 * head.count)
        var at = 0
        var isASCII = true
        while at < head.count {
            let place = head.contents + 2 * at
            var code = UInt32(bytes.loaded.bigEndian(at: start + 2 * at, size: 2))
            at += 1
            if code & 0xF800 == 0xD800 {
                guard at < head.count,
                    let scalar = Unicode.Scalar(
                        high: code, low: UInt32(bytes.loaded.bigEndian(at: start + 2 * at, size: 2)))
                else { throw Fault(.loneSurrogate, at: place) }
                code = scalar.value
                at += 1
            }
            if code >= 0x80 { isASCII = false }
            scratch.append(Unicode.Scalar(code)!)
        }
        return scratch.text(0..<scratch.count, isASCII: isASCII)
    }
}

/// The size of a value in which a shared part is counted at each reference.
struct ExpandedSize {
    var nodes = 1
    var bytes: Int
    /// The number of nested containers.
    var height = 0

    mutating func add(_ other: ExpandedSize) {
        nodes = Self.sum(nodes, other.nodes)
        bytes = Self.sum(bytes, other.bytes)
        height = max(height, other.height + 1)
    }

    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : sum
    }
}

/// The state of an object. States from `firstKept` on are positions in the list of kept objects.
enum ObjectState {
    static let new: UInt32 = 0
    static let read: UInt32 = 1
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
    var isReadAgain = false
    /// The position of the references to the remaining children.
    var references = 0
    var remaining = 0
    var size = ExpandedSize(bytes: 0)
}

/// A cache of the repeated keys of a binary file, by object number.
///
/// Files with many similar dictionaries repeat the same few keys. With the cache, each is decoded only twice.
struct RecentKeys {
    struct Key {
        let object: Int
        let text: String
        /// The position of the literal text in the file, or empty.
        let place: Range<Int>
        /// The length of the encoded object.
        let length: Int
    }

    private static let count = 64
    /// Empty before the first repeated key.
    private(set) var keys: [Key] = []

    func position(of object: Int) -> Int? {
        if keys.isEmpty { return nil }
        let position = object & (Self.count - 1)
        return keys[position].object == object ? position : nil
    }

    mutating func note(_ key: Key) {
        if keys.isEmpty {
            keys = Array(repeating: Key(object: -1, text: "", place: 0..<0, length: 0), count: Self.count)
        }
        keys[key.object & (Self.count - 1)] = key
    }
}
