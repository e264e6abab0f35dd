internal import Digests

/// The name of a file in its folder: a single path component, which cannot lead out of the folder.
package struct FileName: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Creates a name, or returns nil if the bytes are empty, `.` or `..`, or contain a slash or a NUL.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        let dot = UInt8(ascii: ".")
        guard !bytes.isEmpty, bytes != [dot], bytes != [dot, dot] else { return nil }
        guard !bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) else { return nil }
        self.bytes = bytes
    }

    package init?(_ text: some StringProtocol) { self.init(text.utf8) }

    /// Returns the name with `ending` appended.
    package func appending(_ ending: FileName) -> FileName { FileName(joined: bytes + ending.bytes) }

    private init(joined bytes: [UInt8]) { self.bytes = bytes }
}

extension FileName {
    /// Returns the name of a temporary file, with `number` in hexadecimal digits.
    package static func temporary(_ number: UInt64) -> FileName {
        FileName(joined: temporaryPrefix.utf8 + Hexadecimal.digits(of: number, count: temporaryDigits))
    }

    /// Returns a name for a temporary file that will be renamed to this name.
    ///
    /// It begins with a dot and has a fixed length, so that leftovers of a crash can be recognized. Half of the digits
    /// are a checksum of this name, so that the holder of this file's lock can remove its leftovers.
    package func temporaryName(_ number: UInt64) -> FileName {
        .temporary(UInt64(CRC32C.checksum(bytes)) << 32 | number & 0xFFFF_FFFF)
    }

    /// Returns whether this is the name of a temporary file that was to replace `other`.
    package func isTemporary(of other: FileName) -> Bool {
        let count = Self.temporaryPrefix.utf8.count + Self.temporaryDigits / 2
        return isTemporary && bytes.prefix(count) == other.temporaryName(0).bytes.prefix(count)
    }

    /// Whether this is the name of a temporary file.
    package var isTemporary: Bool {
        let prefix = Self.temporaryPrefix.utf8
        return bytes.count == prefix.count + Self.temporaryDigits && bytes.starts(with: prefix)
            && bytes.dropFirst(prefix.count).allSatisfy { Hexadecimal.value(ofDigit: $0).map(Hexadecimal.digit) == $0 }
    }

    private static let temporaryPrefix = ".prefs-"
    private static let temporaryDigits = 16
}

extension FileName: CustomStringConvertible {
    /// The name as text. Invalid UTF-8 becomes U+FFFD.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension FileName: Comparable {
    package static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension FileName: ExpressibleByStringLiteral {
    package init(stringLiteral text: StaticString) {
        let name = text.withUTF8Buffer { FileName($0) }
        precondition(name != nil, "a file cannot have this name")
        self = name ?? FileName(joined: [])
    }
}
