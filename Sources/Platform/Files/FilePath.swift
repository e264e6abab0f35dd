/// The path of a file, as the bytes that the system uses.
///
/// File names on Linux are bytes and need not be valid text. Keeping the bytes means that every path from a folder
/// listing can be opened. A path is never empty and never contains a NUL, which would end it in a system call.
package struct FilePath: Hashable, Sendable {
    package let bytes: [UInt8]

    /// Creates a path, or returns nil if the bytes are empty or contain a NUL.
    package init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard !bytes.isEmpty, !bytes.contains(0) else { return nil }
        self.bytes = bytes
    }

    /// Creates a path, or returns nil if the text is empty or contains a NUL.
    package init?(_ text: some StringProtocol) { self.init(text.utf8) }

    private init(joined bytes: [UInt8]) { self.bytes = bytes }
}

extension FilePath {
    package static let root = FilePath(joined: [separator])

    package var isAbsolute: Bool { bytes[0] == Self.separator }

    /// The components, without empty ones for leading or repeated separators.
    package var components: [ArraySlice<UInt8>] { bytes.split(separator: Self.separator) }

    /// The last component, or nil if it is not a file name, as in `/`, `.` and `..`.
    package var lastComponent: FileName? { components.last.flatMap { FileName($0) } }

    /// The folder that contains the last component: `.` for `name`, and `/` for `/`.
    package var parent: FilePath {
        let end = bytes.lastIndex { $0 != Self.separator } ?? 0
        guard let separator = bytes[...end].lastIndex(of: Self.separator) else { return "." }
        guard let last = bytes[..<separator].lastIndex(where: { $0 != Self.separator }) else {
            return isAbsolute ? .root : "."
        }
        return FilePath(joined: Array(bytes[...last]))
    }

    /// The path without components `.`, repeated separators and separators at the end, so that different spellings
    /// compare equal.
    package var normalized: FilePath {
        let kept = components.filter { !$0.elementsEqual([UInt8(ascii: ".")]) }.joined(separator: [Self.separator])
        if isAbsolute { return FilePath(joined: [Self.separator] + kept) }
        return FilePath(Array(kept)) ?? "."
    }

    /// Returns the path of a file in this folder.
    package func appending(_ name: FileName) -> FilePath { joined(name.bytes) }

    /// Returns `path` relative to this folder; an absolute path is returned unchanged.
    package func resolving(_ path: FilePath) -> FilePath { path.isAbsolute ? path : joined(path.bytes) }

    private func joined(_ end: [UInt8]) -> FilePath {
        FilePath(joined: bytes.last == Self.separator ? bytes + end : bytes + [Self.separator] + end)
    }

    private static let separator = UInt8(ascii: "/")
}

extension FilePath: CustomStringConvertible {
    /// The path as text. Invalid UTF-8 becomes U+FFFD.
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension FilePath: Comparable {
    /// Compares bytes, so that the order is the same on every machine.
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
