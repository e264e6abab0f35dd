internal import Digests
package import Platform
internal import PropertyLists

/// What a writer leaves in the domain's lock file before it replaces the domain's file: what will stand there, and why.
///
/// A file that has the mark's hash was written by us; any other one by a program that knows nothing of us.
package struct DomainMark: Hashable, Sendable {
    /// The SHA-256 of the file that will stand; nil for none.
    package var hash: [UInt8]?
    package var transaction: String
    package var note: WriteNote

    package init(hash: [UInt8]?, transaction: String, note: WriteNote) {
        self.hash = hash
        self.transaction = transaction
        self.note = note
    }

    /// One line of a fixed length, so that no rest of a longer one can stand behind it.
    private static let length = 384
    private static let beginning = "prefs 1"

    private var line: [UInt8] {
        let program = DomainName(encoding: note.program).text
        let fields = [
            Self.beginning, hash.map(Self.hexadecimal) ?? "deleted", transaction, String(note.process),
            note.reason.rawValue, program,
        ]
        let body = Array(fields.joined(separator: "\t").utf8)
        let check = Self.hexadecimal(SHA256.hash(body).prefix(4))
        let text = body + Array("\t\(check)".utf8)
        return text + repeatElement(UInt8(ascii: " "), count: max(0, Self.length - 1 - text.count)) + [0x0A]
    }

    func write(to lock: any OpenFile) throws(SystemFailure) { try lock.write(line, at: 0) }

    /// The mark in a lock file; nil where there is none, or only a part of one.
    package init?(in lock: any OpenFile) {
        guard let bytes = try? lock.contents(limit: 4096), let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        let fields = text.drop { $0 == "\u{0}" }.split(separator: "\n").first?.split(separator: "\t") ?? []
        guard fields.count == 7, fields[0] == Self.beginning, let process = Int32(fields[3]) else { return nil }
        let body = Array(fields.dropLast().joined(separator: "\t").utf8)
        let check = fields[6].prefix { $0 != " " }
        guard check == Self.hexadecimal(SHA256.hash(body).prefix(4)) else { return nil }
        let hash = fields[1] == "deleted" ? nil : Self.bytes(ofHexadecimal: fields[1])
        guard fields[1] == "deleted" || hash?.count == 32 else { return nil }
        self.init(
            hash: hash, transaction: String(fields[2]),
            note: WriteNote(
                program: String(fields[5]), process: process, reason: WriteReason(rawValue: String(fields[4]))))
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(ofHexadecimal text: Substring) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
