#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension BinaryReader where Bytes: ~Copyable {
    /// Begins the object that stands around all others, or adds its value where it is no container: then false.
    @inline(never)
    mutating func begin(_ object: Int) throws(Fault) -> Bool {
        let offset = try offset(of: object)
        let head = try head(at: offset)
        if head.marker >= Head.firstOfContainer { return try visitContainer(object, head, at: offset) == nil }
        try check(ExpandedSize(bytes: try addLeaf(object, head, at: offset)), behind: object)
        return false
    }

    /// Adds the value of a container, or begins it where it is to be read: then nil.
    @inline(never)
    mutating func visitContainer(_ object: Int, _ head: Head, at offset: Int) throws(Fault) -> ExpandedSize? {
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
    mutating func meet(_ length: Int, at offset: Int) throws(Fault) {
        metBytes += length
        if haveOverlapped { throw Fault(.overlappingObjects, at: offset) }
    }

    /// Whether the objects met so far are together more than there is room for.
    @inline(__always)
    private var haveOverlapped: Bool { metBytes > trailer.tableOffset - BinaryTrailer.headerLength }

    /// Adds a container that was read before, if it is not too high for this place.
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

    /// Keeps the value of an object for whoever refers to it from now on.
    mutating func keep(_ value: PropertyList, _ object: Int, _ size: ExpandedSize) {
        states?[object] = ObjectState.firstKept + UInt32(kept.count)
        kept.append(KeptObject(value: value, size: size))
    }

    /// Adds the keys of the dictionary that was begun last.
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
        if let key = recentKeys[object] {
            builder.addKey(key.pointee.text, bytes: key.pointee.bytes, at: place)
            return key.pointee.length
        }
        return try addNewKey(object, at: place)
    }

    @inline(never)
    mutating func addNewKey(_ object: Int, at place: Int) throws(Fault) -> Int {
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

    mutating func addKeptKey(_ state: UInt32, at place: Int) throws(Fault) -> Int {
        let kept = kept[Int(state - ObjectState.firstKept)]
        guard case .string(let key) = kept.value else { throw Fault(.keyIsNotText, at: place) }
        builder.addKey(key, bytes: nil, at: place)
        return kept.size.bytes
    }

    /// Adds an object that is no container and returns its encoded length.
    @inline(__always)
    mutating func addLeaf(_ object: Int, _ head: Head, at offset: Int) throws(Fault) -> Int {
        guard let states else { return try add(head, at: offset) }
        let state = states[object]
        if state >= ObjectState.firstKept { return addKept(state).bytes }
        let length = try add(head, at: offset)
        if state == ObjectState.new {
            states[object] = ObjectState.met
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

    mutating func addUnusual(_ marker: UInt8, at offset: Int) throws(Fault) -> Int {
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
}
