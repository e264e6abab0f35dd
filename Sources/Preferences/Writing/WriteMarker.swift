internal import Digests
package import Platform
internal import PropertyLists

/// The mark that a writer leaves in the domain's lock file before it replaces the domain's file: the new contents, and
/// the reason.
///
/// A file with the hash in the mark was written by the library. Any other file was written by another program.
package struct WriteMarker: Hashable, Sendable {
    /// The SHA-256 of the new file, or nil if it is removed.
    package var hash: [UInt8]?
    package var transaction: String
    package var author: WriteAuthor

    package init(hash: [UInt8]?, transaction: String, author: WriteAuthor) {
        self.hash = hash
        self.transaction = transaction
        self.author = author
    }

    /// The mark has a fixed length, so that no remainder of a longer one can follow it.
    private static let length = 384
    private static let beginning = "prefs 1"
    private static let deleted = "deleted"
    private static let (tab, newline) = (UInt8(ascii: "\t"), UInt8(ascii: "\n"))

    // Bytes, because processing characters would slow down each write.
    private var line: [UInt8] {
        var line = Array(Self.beginning.utf8)
        let fields = [
            hash.map { Hexadecimal.digits(of: $0) } ?? Array(Self.deleted.utf8), Array(transaction.utf8),
            Array(String(author.process).utf8), Array(author.reason.rawValue.utf8),
            Array(DomainName(encoding: author.program).text.utf8),
        ]
        for field in fields {
            line.append(Self.tab)
            line += field
        }
        let check = Self.check(of: line[...])
        line.append(Self.tab)
        line += check
        line += repeatElement(UInt8(ascii: " "), count: max(0, Self.length - 1 - line.count))
        line.append(Self.newline)
        return line
    }

    func write(to lock: any OpenFile) throws(SystemFailure) { try lock.write(line, at: 0) }

    /// Reads the mark in a lock file. Returns nil if there is none or it is incomplete.
    package init?(in lock: any OpenFile) {
        guard let bytes = try? lock.contents(limit: 4096) else { return nil }
        let line = bytes.drop { $0 == 0 }.prefix { $0 != Self.newline }
        let fields = line.split(separator: Self.tab)
        guard fields.count == 7, fields[0].elementsEqual(Self.beginning.utf8),
            let process = Int32(String(decoding: fields[3], as: UTF8.self)),
            let transaction = String(validating: fields[2], as: UTF8.self),
            let reason = String(validating: fields[4], as: UTF8.self),
            String(validating: fields[5], as: UTF8.self) != nil
        else { return nil }
        let check = fields[6].prefix { $0 != UInt8(ascii: " ") }
        guard check.elementsEqual(Self.check(of: line[..<(fields[6].startIndex - 1)])) else { return nil }
        let isDeleted = fields[1].elementsEqual(Self.deleted.utf8)
        let hash = isDeleted ? nil : Hexadecimal.bytes(ofDigits: fields[1])
        guard isDeleted || hash?.count == 32 else { return nil }
        self.init(
            hash: hash, transaction: transaction,
            author: WriteAuthor(
                program: KeptVersion.decoded(fields[5]), process: process, reason: WriteReason(rawValue: reason)))
    }

    private static func check(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        Hexadecimal.digits(of: Array(SHA256.hash(Array(bytes)).prefix(4)))
    }
}
