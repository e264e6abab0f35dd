internal import Digests

/// The name of a file in its folder. Whoever holds one knows that it cannot lead out of the folder.
package struct FileName: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Nil for what is no name: nothing at all, `.`, `..`, and anything with a slash or a NUL.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        let dot = UInt8(ascii: ".")
        guard !bytes.isEmpty, bytes != [dot], bytes != [dot, dot] else { return nil }
        guard !bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) else { return nil }
        self.bytes = bytes
    }

    package init?(_ text: some StringProtocol) { self.init(text.utf8) }

    /// The name with an ending that adds to it.
    package func appending(_ ending: FileName) -> FileName { FileName(joined: bytes + ending.bytes) }

    private init(joined bytes: [UInt8]) { self.bytes = bytes }
}

extension FileName {
    /// The name of a file that is still being written, as that of `number`.
    package static func temporary(_ number: UInt64) -> FileName {
        FileName(joined: temporaryPrefix.utf8 + Hexadecimal.digits(of: number, count: temporaryDigits))
    }

    /// The name of a file that is still being written, to be renamed to this one.
    ///
    /// It begins with a dot and is of one length, so that what a crash left behind can be told from everything else.
    /// Half of its digits come from this name, so that the holder of this file's lock can remove leftovers.
    package func temporaryName(_ number: UInt64) -> FileName {
        .temporary(UInt64(CRC32C.checksum(bytes)) << 32 | number & 0xFFFF_FFFF)
    }

    /// Whether a file of this name was being written to take the place of `other`.
    package func isTemporary(of other: FileName) -> Bool {
        let count = Self.temporaryPrefix.utf8.count + Self.temporaryDigits / 2
        return isTemporary && bytes.prefix(count) == other.temporaryName(0).bytes.prefix(count)
    }

    /// Whether this is the name of a file that was still being written.
    package var isTemporary: Bool {
        let prefix = Self.temporaryPrefix.utf8
        return bytes.count == prefix.count + Self.temporaryDigits && bytes.starts(with: prefix)
            && bytes.dropFirst(prefix.count).allSatisfy { Hexadecimal.value(ofDigit: $0).map(Hexadecimal.digit) == $0 }
    }

    private static let temporaryPrefix = ".prefs-"
    private static let temporaryDigits = 16
}

extension FileName: CustomStringConvertible {
    /// The name as text. What is no UTF-8 is shown as the replacement character.
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
