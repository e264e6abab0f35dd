/// The place of a file, in the bytes that the system takes.
///
/// A name is bytes to Linux, and need not be valid text; so a path that came from a folder's list leads to its file
/// even where nobody could spell it. No path is empty or holds a NUL, at which the system would stop reading.
package struct FilePath: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Nil for no bytes, and for bytes with a NUL among them.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard !bytes.isEmpty, !bytes.contains(0) else { return nil }
        self.bytes = bytes
    }

    /// Nil for an empty text, and for one with a NUL in it.
    package init?(_ text: some StringProtocol) { self.init(text.utf8) }

    private init(joined bytes: [UInt8]) { self.bytes = bytes }
}

extension FilePath {
    package static let root = FilePath(joined: [separator])

    package var isAbsolute: Bool { bytes[0] == Self.separator }

    /// The names on the way; neither a leading nor a doubled separator makes one.
    package var components: [ArraySlice<UInt8>] { bytes.split(separator: Self.separator) }

    /// The last name, or nil where the path ends in none that a file can have: `/`, `.`, `..`.
    package var lastComponent: FileName? { components.last.flatMap { FileName($0) } }

    /// The folder that the path's last component stands in: of `name` it is `.`, of `/` itself.
    package var parent: FilePath {
        let end = bytes.lastIndex { $0 != Self.separator } ?? 0
        guard let separator = bytes[...end].lastIndex(of: Self.separator) else { return "." }
        guard let last = bytes[..<separator].lastIndex(where: { $0 != Self.separator }) else {
            return isAbsolute ? .root : "."
        }
        return FilePath(joined: Array(bytes[...last]))
    }

    /// The path of a file in this folder.
    package func appending(_ name: FileName) -> FilePath { joined(name.bytes) }

    /// `path` as seen from this folder: an absolute one stays as it is.
    package func resolving(_ path: FilePath) -> FilePath { path.isAbsolute ? path : joined(path.bytes) }

    private func joined(_ end: [UInt8]) -> FilePath {
        FilePath(joined: bytes.last == Self.separator ? bytes + end : bytes + [Self.separator] + end)
    }

    private static let separator = UInt8(ascii: "/")
}

extension FilePath: CustomStringConvertible {
    /// The path as text. What is no UTF-8 is shown as the replacement character.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension FilePath: Comparable {
    /// In the order of the bytes, which is the same on every machine.
    package static func < (left: FilePath, right: FilePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension FilePath: ExpressibleByStringLiteral {
    package init(stringLiteral text: StaticString) {
        let path = text.withUTF8Buffer { FilePath($0) }
        precondition(path != nil, "a path is neither empty nor has a NUL")
        self = path ?? .root
    }
}
