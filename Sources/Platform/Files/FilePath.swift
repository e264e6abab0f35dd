// Unsafe: a string literal lends its bytes for one call.
internal import Digests

/// The path of a file, as the bytes that the system uses.
///
/// File names on Linux are bytes and need not be valid text. Because the bytes are stored, every path from a folder
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
        let parts = components.filter { !$0.elementsEqual([UInt8(ascii: ".")]) }.joined(separator: [Self.separator])
        if isAbsolute { return FilePath(joined: [Self.separator] + parts) }
        return FilePath(Array(parts)) ?? "."
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
    /// The path as text. A byte that is not part of valid UTF-8 is written as `\xE9`.
    package var description: String { bytes.shown }
}

extension FilePath: Comparable {
    /// Compares bytes, so that the order is the same on every machine.
    package static func < (left: FilePath, right: FilePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension FilePath: ExpressibleByStringLiteral {
    package init(stringLiteral text: StaticString) {
        let path = text.withUTF8Buffer { unsafe FilePath($0) }
        precondition(path != nil, "a path is neither empty nor has a NUL")
        self = path ?? .root
    }
}

extension FilePath {
    /// Returns the path with all symbolic links, `.` and `..` resolved. Its last components need not exist.
    ///
    /// - Parameter user: The user who is about to use the path, or nil to trust all links. Throws `notPermitted` for a
    ///   link that another user has created in a folder where anyone can create files. Links of root and of the
    ///   folder's owner are trusted.
    package func resolvingLinks(
        in fileSystem: some FileSystem, for user: UInt32? = nil
    ) throws(SystemFailure) -> FilePath {
        var (resolved, rest, links) = (FilePath.root, Array(components.reversed()), 0)
        while let component = rest.popLast() {
            guard let name = FileName(component) else {
                // The only components that are not file names are `.` and `..`.
                if component.count == 2 { resolved = resolved.parent }
                continue
            }
            guard let destination = try fileSystem.destination(ofLink: resolved.appending(name)) else {
                resolved = resolved.appending(name)
                continue
            }
            if let user { try resolved.checkLink(name, for: user, in: fileSystem) }
            links += 1
            guard links <= 40 else { throw SystemFailure(.tooManySymbolicLinks, .readLink, self) }
            if destination.isAbsolute { resolved = .root }
            rest += destination.components.reversed()
        }
        return resolved
    }

    private func checkLink(
        _ name: FileName, for user: UInt32, in fileSystem: some FileSystem
    ) throws(SystemFailure) {
        guard let folder = try fileSystem.status(of: self), folder.isOpenToAll,
            let link = try fileSystem.status(of: appending(name), followingLink: false),
            ![user, folder.owner, 0].contains(link.owner)
        else { return }
        throw SystemFailure(.notPermitted, .followPlanted, appending(name))
    }

    /// Returns the target of the path for `user`, who is about to replace the file there.
    ///
    /// Throws `notPermitted` for a link or file that another user has created in a folder where anyone can create
    /// files.
    ///
    /// - Parameter checksFolders: Whether links in place of the parent folders are checked in the same way.
    package func leadingToTarget(
        for user: UInt32, in fileSystem: some FileSystem, checksFolders: Bool = false
    ) throws(SystemFailure) -> FilePath {
        var path = self
        for _ in 0..<40 {
            if checksFolders { _ = try path.parent.resolvingLinks(in: fileSystem, for: user) }
            let found = try fileSystem.status(of: path, followingLink: false)
            let isOwn = found.map { $0.owner == user && [.file, .symbolicLink].contains($0.kind) } ?? true
            if !isOwn, try fileSystem.status(of: path.parent)?.isOpenToAll == true {
                throw SystemFailure(.notPermitted, .replacePlanted, path)
            }
            guard found?.kind == .symbolicLink, let destination = try fileSystem.destination(ofLink: path) else {
                return path
            }
            path = path.parent.resolving(destination)
        }
        throw SystemFailure(.tooManySymbolicLinks, .readLink, self)
    }

    /// Returns the path with symbolic links at its end followed. The target need not exist.
    package func followingLinks(in fileSystem: some FileSystem) throws(SystemFailure) -> FilePath {
        var path = self
        for _ in 0..<40 {
            guard let destination = try fileSystem.destination(ofLink: path) else { return path }
            path = path.parent.resolving(destination)
        }
        throw SystemFailure(.tooManySymbolicLinks, .readLink, self)
    }
}

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
    /// The name as text. A byte that is not part of valid UTF-8 is written as `\xE9`.
    package var description: String { bytes.shown }
}

extension [UInt8] {
    /// The bytes of a name as text for messages. Names that differ look different, even if they are not valid UTF-8.
    fileprivate var shown: String {
        if let text = String(validating: self, as: UTF8.self) { return text }
        var (text, rest) = ("", self[...])
        while let first = rest.first {
            let scalar = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
            text += scalar ?? "\\x" + String(first, radix: 16, uppercase: true)
            rest.removeFirst(scalar?.utf8.count ?? 1)
        }
        return text
    }
}

extension FileName: Comparable {
    package static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension FileName: ExpressibleByStringLiteral {
    package init(stringLiteral text: StaticString) {
        let name = text.withUTF8Buffer { unsafe FileName($0) }
        precondition(name != nil, "a file cannot have this name")
        self = name ?? FileName(joined: [])
    }
}
