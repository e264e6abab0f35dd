/// The name of a file in a writer's folder: its kind, its number, and the beginning of its hash.
///
/// For example, `l/000000000041.2e9f0a77d1.log`, `b/000000000040.9e5bd17f02.base` or `who-0001.7b1d9a22c4`. Names have
/// only small letters, digits, dots and hyphens, which every file system preserves.
package struct PackName: Hashable, Sendable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// Transactions.
        case log = 0x6C
        /// Everything that the writer still contributes.
        case base = 0x62
        /// The name and platform of the writer's host.
        case note = 0x77
    }

    package let kind: Kind
    /// The first transaction of a log, the last transaction of a base, or the number of a note.
    package let number: UInt64
    /// The first 50 bits of the file's hash.
    package let hash: UInt64

    package init(kind: Kind, number: UInt64, hash: ContentHash) {
        self.kind = kind
        self.number = number
        self.hash = hash.prefix
    }

    package init(kind: Kind, number: UInt64, prefix: UInt64) {
        (self.kind, self.number, hash) = (kind, number, prefix)
    }

    /// Parses a path inside a writer's folder. Returns nil for any path that this type does not write.
    package init?(_ path: some StringProtocol) {
        for kind in Kind.allCases where path.hasPrefix(kind.prefix) && path.hasSuffix(kind.suffix) {
            let middle = path.utf8.dropFirst(kind.prefix.utf8.count).dropLast(kind.suffix.utf8.count)
            let parts = middle.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].count == kind.digits else { return nil }
            guard parts[0].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            guard let number = UInt64(String(decoding: parts[0], as: UTF8.self)) else { return nil }
            guard let hash = Base32.number(String(decoding: parts[1], as: UTF8.self), characters: 10) else {
                return nil
            }
            (self.kind, self.number, self.hash) = (kind, number, hash)
            return
        }
        return nil
    }

    /// The greatest transaction number that a name can contain.
    package static let greatestNumber: UInt64 = 999_999_999_999
}

extension PackName.Kind {
    fileprivate var prefix: String {
        switch self {
        case .log: "l/"
        case .base: "b/"
        case .note: "who-"
        }
    }

    fileprivate var suffix: String {
        switch self {
        case .log: ".log"
        case .base: ".base"
        case .note: ""
        }
    }

    fileprivate var digits: Int { self == .note ? 4 : 12 }
}

extension PackName: CustomStringConvertible {
    package var description: String {
        let number = String(number)
        let zeros = String(repeating: "0", count: max(0, kind.digits - number.utf8.count))
        return "\(kind.prefix)\(zeros)\(number).\(Base32.text(hash, bits: 50))\(kind.suffix)"
    }
}

extension PackName: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.kind.rawValue, left.number, left.hash) < (right.kind.rawValue, right.number, right.hash)
    }
}

/// A file of the mirror: its writer and its name.
package struct PackAddress: Hashable, Sendable, Comparable {
    package let writer: WriterID
    package let name: PackName

    package init(writer: WriterID, name: PackName) {
        self.writer = writer
        self.name = name
    }

    /// Parses a path inside the mirror's directory.
    package init?(_ path: some StringProtocol) {
        let parts = path.split(separator: "/", maxSplits: 2)
        guard parts.count == 3, parts[0] == "w", let writer = WriterID(parts[1]), let name = PackName(parts[2]) else {
            return nil
        }
        self.init(writer: writer, name: name)
    }

    package static func < (left: Self, right: Self) -> Bool { (left.writer, left.name) < (right.writer, right.name) }
}

extension PackAddress: CustomStringConvertible {
    /// The path inside the mirror's directory.
    package var description: String { "w/\(writer)/\(name)" }
}
