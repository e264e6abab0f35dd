extension BinaryReader where Bytes: ~Copyable {
    /// The number of the object that is referred to at `place`.
    @inline(__always)
    mutating func reference(at place: Int) throws(Fault) -> Int {
        let number = try bytes.number(at: place, size: trailer.referenceSize)
        guard number < UInt64(trailer.objectCount) else { throw Fault(.invalidReference(number), at: place) }
        return Int(number)
    }

    /// Where the object of that number begins.
    @inline(__always)
    mutating func offset(of object: Int) throws(Fault) -> Int {
        let place = trailer.tableOffset + object * trailer.offsetSize
        let offset = try bytes.number(at: place, size: trailer.offsetSize)
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
        static var firstOfContainer: UInt8 { 0xA0 }
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
        let (length, overflow) = head.count.multipliedReportingOverflow(by: size)
        guard !overflow, length <= trailer.tableOffset - head.contents else {
            throw Fault(.invalidSize("\(head.count) is more than fits"), at: offset)
        }
        return head
    }

    @inline(never)
    mutating func headWithLongCount(_ marker: UInt8, at offset: Int) throws(Fault) -> Head {
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
