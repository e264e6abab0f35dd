/// The end of a binary file, which says where everything is.
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
    /// The beginning of the header in every file of version 0: Apple's reader ignores the last character.
    static let version: StaticString = "bplist0"

    /// 1 where the root's keys are sorted and unique, as this package's store writes them.
    var sortVersion: UInt8
    var offsetSize: Int
    var referenceSize: Int
    var objectCount: Int
    var root: Int
    var tableOffset: Int

    /// The length of the whole file, of which the trailer is the end.
    var fileLength: Int { tableOffset + objectCount * offsetSize + Self.length }
}

extension BinaryTrailer {
    /// Reads the trailer of a file of `length` bytes and checks everything in it against that length.
    init(_ bytes: UnsafePointer<UInt8>, fileLength length: Int) throws(Fault) {
        let place = length - Self.length
        func number(_ offset: Int) -> UInt64 { bigEndian(bytes + offset, 8) }
        func fault(_ what: String, _ offset: Int) -> Fault { Fault(.invalidTrailer(what), at: place + offset) }

        sortVersion = bytes[5]
        offsetSize = Int(bytes[6])
        referenceSize = Int(bytes[7])
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
    static func checkHeader(_ bytes: UnsafePointer<UInt8>) throws(Fault) {
        if sameBytes(bytes, version.utf8Start, version.utf8CodeUnitCount) { return }
        let start = UnsafeBufferPointer(start: bytes, count: headerLength)
        guard start.starts(with: "bplist".utf8) else { throw Fault(.expected("“bplist00”"), at: 0) }
        throw Fault(.unsupportedVersion(String(decoding: start.dropFirst(6), as: UTF8.self)), at: 6)
    }
}

/// The unsigned number in `size` bytes, at most eight, the most significant first.
@inline(__always)
func bigEndian(_ bytes: UnsafePointer<UInt8>, _ size: Int) -> UInt64 {
    switch size {
    case 1: return UInt64(bytes[0])
    case 2: return UInt64(UInt16(bigEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt16.self)))
    case 4: return UInt64(UInt32(bigEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt32.self)))
    case 8: return UInt64(bigEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
    default:
        var value: UInt64 = 0
        for at in 0..<size { value = value << 8 | UInt64(bytes[at]) }
        return value
    }
}
