/// A step of a coding path: the key of a dictionary or the position in an array.
///
/// Paths are made when somebody asks. Until then only the keys of the value are at hand, not those of the types.
enum PathKey: CodingKey {
    case key(String)
    case index(Int)

    init(stringValue: String) { self = .key(stringValue) }
    init(intValue: Int) { self = .index(intValue) }

    var stringValue: String {
        switch self {
        case .key(let key): key
        case .index(let index): "Index \(index)"
        }
    }

    var intValue: Int? {
        switch self {
        case .key: nil
        case .index(let index): index
        }
    }

    /// The key of a superclass, where no other is given.
    static let superclass = PathKey.key("super")
}

/// How deep types may code themselves inside one another.
///
/// A level takes up to a kilobyte of stack, so the smallest stack of a thread, 512 KiB, has room for these. It ends the
/// encoding of a graph of objects that leads back to itself.
let mostCodingLevels = 384

extension String {
    /// Whether both strings are the same in memory, which says that they are equal; otherwise they may still be.
    ///
    /// Strings of up to 15 bytes lie in these words, so for most keys it is the whole comparison.
    @inline(__always)
    func isIdentical(to other: String) -> Bool {
        #if _pointerBitWidth(_64)
            unsafeBitCast(self, to: (UInt64, UInt64).self) == unsafeBitCast(other, to: (UInt64, UInt64).self)
        #else
            false
        #endif
    }

    /// Like `hasSameBytes(as:)`, fastest where the strings are equal and short.
    @inline(__always)
    func isSameKey(as other: String) -> Bool { isIdentical(to: other) || hasSameBytes(as: other) }
}
