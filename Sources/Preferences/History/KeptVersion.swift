package import Platform
internal import PropertyLists

/// A version of a domain that is kept in a file of its own. All that is known of it without a look inside is its name.
package struct KeptVersion: Hashable, Sendable {
    /// The versions of a domain are counted; the newest has the greatest number.
    package var sequence: Int
    /// When it was written, to the millisecond.
    package var time: Timestamp
    /// Who wrote it, and why.
    package var note: WriteNote
    /// What binds it to versions of other domains that came in one step with it: 16 hexadecimal digits.
    package var transaction: String
    /// How many bytes its file has.
    package var size: Int

    /// `sequence-milliseconds-process-reason-transaction-size-program.plist`
    package var fileName: FileName? {
        let padded = String(repeating: "0", count: max(0, 10 - String(sequence).count)) + String(sequence)
        let parts = [
            padded, String(time.milliseconds), String(note.process), note.reason.rawValue, transaction, String(size),
        ]
        return FileName(parts.joined(separator: "-") + "-" + Self.encoded(note.program) + ".plist")
    }

    package init(sequence: Int, time: Timestamp, note: WriteNote, transaction: String, size: Int) {
        self.sequence = sequence
        self.time = time
        self.note = note
        self.transaction = transaction
        self.size = size
    }

    /// Nil for a file of another name.
    init?(_ name: FileName) {
        guard let text = String(validating: name.bytes, as: UTF8.self), text.hasSuffix(".plist") else { return nil }
        let parts = text.dropLast(".plist".count).split(
            separator: "-", maxSplits: 6, omittingEmptySubsequences: false)
        guard parts.count == 7, let sequence = Int(parts[0]), sequence > 0, let milliseconds = Int64(parts[1]),
            let process = Int32(parts[2]), let size = Int(parts[5]), size >= 0
        else {
            return nil
        }
        let note = WriteNote(
            program: Self.decoded(parts[6]), process: process, reason: WriteReason(rawValue: String(parts[3])))
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        self.init(
            sequence: sequence, time: Timestamp(seconds: seconds, nanoseconds: rest * 1_000_000), note: note,
            transaction: String(parts[4]), size: size)
    }

    /// The program's name in characters that a file's name may have.
    private static func encoded(_ program: String) -> String { DomainName(encoding: program).text }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let value = UInt8(Substring(digits), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Who changes a domain, and why.
package struct WriteNote: Hashable, Sendable {
    package var program: String
    package var process: Int32
    package var reason: WriteReason

    /// - Parameter program: What the program is called; of a long name the beginning is kept.
    package init(program: String, process: Int32, reason: WriteReason) {
        self.program = String(String.UnicodeScalarView(program.unicodeScalars.prefix(24)))
        self.process = process
        self.reason = reason
    }

    package init(_ reason: WriteReason, by machine: Machine) {
        self.init(program: machine.program, process: machine.environment.process, reason: reason)
    }
}

/// Why a domain was written: one word.
package struct WriteReason: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    /// Only lower-case letters and digits are kept: the word becomes part of a file's name.
    package init(rawValue: String) {
        let kept = rawValue.unicodeScalars.filter { ("a"..."z").contains($0) || ("0"..."9").contains($0) }
        self.rawValue = String(kept.prefix(24))
    }

    package static let write = WriteReason(rawValue: "write")
    package static let delete = WriteReason(rawValue: "delete")
    /// A program's settings, written by the library a little after they were set.
    package static let flush = WriteReason(rawValue: "flush")
    /// What another program had written, found before the first change of ours.
    package static let found = WriteReason(rawValue: "found")
    /// A change to what was kept, since the file itself was damaged.
    package static let recovered = WriteReason(rawValue: "recovered")
    package static let restore = WriteReason(rawValue: "restore")
}

extension WriteReason {
    /// A step back to the version of that number; 0 is the time before the first one.
    package static func undo(to sequence: Int) -> WriteReason { WriteReason(rawValue: "undo\(sequence)") }

    /// The version that an undo went back to; nil for any other reason.
    package var undoTarget: Int? {
        rawValue.hasPrefix("undo") ? Int(rawValue.dropFirst("undo".count)) : nil
    }

    /// The reason without the number in it.
    package var word: String { String(rawValue.unicodeScalars.filter { ("a"..."z").contains($0) }) }
}
