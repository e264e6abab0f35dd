internal import Digests
package import Platform
internal import PropertyLists

/// A version of a domain in the history. The name of its file has everything except the contents.
package struct KeptVersion: Hashable, Sendable {
    /// The number of the version. The newest has the greatest.
    package var sequence: Int
    /// The time of writing, to the millisecond.
    package var time: Timestamp
    package var author: WriteAuthor
    /// The identifier of the transaction, which is the same for all domains that changed with it: 16 hexadecimal
    /// digits.
    package var transaction: String
    /// The size of the file in bytes.
    package var size: Int
    /// The CRC-32C of the bytes in eight hexadecimal digits, or nil for a version of an older library.
    package var checksum: String?

    /// The name `sequence-milliseconds-process-reason-transaction-size-program.plist`, in which a dot and the checksum
    /// follow the transaction.
    package var fileName: FileName? {
        let number = Array(String(sequence).utf8)
        var name = [UInt8](repeating: UInt8(ascii: "0"), count: max(0, 10 - number.count)) + number
        for part in [
            String(time.milliseconds), String(author.process), author.reason.rawValue,
            transaction + (checksum.map { ".\($0)" } ?? ""), String(size), Self.encoded(author.program),
        ] {
            name.append(UInt8(ascii: "-"))
            name += part.utf8
        }
        return FileName(name + Self.ending.utf8)
    }

    package init(sequence: Int, time: Timestamp, author: WriteAuthor, transaction: String, size: Int) {
        self.sequence = sequence
        // The name can contain only digits, but the time of a file by another program may be before 1970.
        self.time = max(time, Timestamp(nanoseconds: 0))
        self.author = author
        self.transaction = transaction
        self.size = size
    }

    /// Returns nil for any other file name.
    init?(_ name: FileName) {
        // Bytes, because a writer parses the names of all versions.
        guard name.bytes.suffix(Self.ending.utf8.count).elementsEqual(Self.ending.utf8) else { return nil }
        var parts = Parts(rest: name.bytes.dropLast(Self.ending.utf8.count))
        guard let sequence = parts.number(), sequence > 0, let milliseconds = parts.number().map(Int64.init),
            let process = parts.number().flatMap({ Int32(exactly: $0) }), let reason = parts.text(),
            let transaction = parts.text(), let size = parts.number()
        else {
            return nil
        }
        let author = WriteAuthor(
            program: Self.decoded(parts.rest), process: process, reason: WriteReason(rawValue: reason))
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        let (name, checksum) = (transaction.prefix { $0 != "." }, transaction.drop { $0 != "." }.dropFirst())
        self.init(
            sequence: sequence, time: Timestamp(seconds: seconds, nanoseconds: rest * 1_000_000), author: author,
            transaction: String(name), size: size)
        self.checksum = checksum.isEmpty ? nil : String(checksum)
    }

    /// The remaining part of a name, which is parsed part by part.
    private struct Parts {
        private(set) var rest: ArraySlice<UInt8>

        mutating func next() -> ArraySlice<UInt8>? {
            guard let end = rest.firstIndex(of: UInt8(ascii: "-")) else { return nil }
            let part = rest[..<end]
            rest = rest[(end + 1)...]
            return part
        }

        mutating func text() -> String? {
            guard let part = next(), part.allSatisfy({ $0 < 0x80 }) else { return nil }
            return String(decoding: part, as: UTF8.self)
        }

        /// Parses a number of decimal digits.
        mutating func number() -> Int? {
            guard let digits = next(), !digits.isEmpty else { return nil }
            var number = 0
            for digit in digits {
                guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
                let (product, overflows) = number.multipliedReportingOverflow(by: 10)
                let (sum, overflowsToo) = product.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
                guard !overflows, !overflowsToo else { return nil }
                number = sum
            }
            return number
        }
    }

    static func checksum(of bytes: [UInt8]) -> String {
        Hexadecimal.text(of: UInt64(CRC32C.checksum(bytes)), count: 8)
    }

    /// Whether the bytes match the size and checksum in the name.
    func isMade(of bytes: [UInt8]) -> Bool {
        size == bytes.count && checksum.map { $0 == Self.checksum(of: bytes) } ?? true
    }

    private static let ending = ".plist"

    /// Encodes the program's name in characters that are valid in a file name.
    private static func encoded(_ program: String) -> String { DomainName(encoding: program).text }

    static func decoded(_ name: ArraySlice<UInt8>) -> String {
        guard name.contains(UInt8(ascii: "%")) else { return String(decoding: name, as: UTF8.self) }
        var bytes: [UInt8] = []
        var rest = name
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = Hexadecimal.bytes(ofDigits: digits)
            {
                bytes += value
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The author of a write: the program, and its reason.
package struct WriteAuthor: Hashable, Sendable {
    package var program: String
    package var process: Int32
    package var reason: WriteReason

    /// - Parameter program: The name of the program. It is truncated to 32 characters.
    package init(program: String, process: Int32, reason: WriteReason) {
        let most = 32
        self.program =
            program.utf8.count <= most
            ? program : String(String.UnicodeScalarView(program.unicodeScalars.prefix(most)))
        self.process = process
        self.reason = reason
    }

    private static let mirror = "mirror@"

    /// Returns the program for changes that a mirror brought from other hosts, named by their labels.
    package static func program(ofHosts labels: [String]) -> String { mirror + labels.joined(separator: ",") }

    /// The host that made the change, or several; nil if no mirror brought it.
    package var host: String? {
        program.utf8.starts(with: Self.mirror.utf8) && reason == .mirrored
            ? String(program.unicodeScalars.dropFirst(Self.mirror.unicodeScalars.count)) : nil
    }

    package init(_ reason: WriteReason, by system: SystemServices) {
        self.init(program: system.program, process: system.environment.process, reason: reason)
    }
}

/// The reason a domain was written, as one word.
package struct WriteReason: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    /// Removes all characters except lower-case letters and digits, because the word becomes part of a file name.
    package init(rawValue: String) {
        let isFit = { (byte: UInt8) in Self.letters ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
        let most = 24
        if rawValue.utf8.count <= most, rawValue.utf8.allSatisfy(isFit) {
            self.rawValue = rawValue
        } else {
            self.rawValue = String(decoding: Array(rawValue.utf8.lazy.filter(isFit).prefix(most)), as: UTF8.self)
        }
    }

    private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")

    package static let write = WriteReason(rawValue: "write")
    package static let delete = WriteReason(rawValue: "delete")
    /// A program's settings, written by the library shortly after they were set.
    package static let flush = WriteReason(rawValue: "flush")
    /// Contents written by another program, found before our first change.
    package static let found = WriteReason(rawValue: "found")
    /// A change that started from a kept version, because the file was damaged.
    package static let recovered = WriteReason(rawValue: "recovered")
    package static let restore = WriteReason(rawValue: "restore")
    /// A mirror brought the values from another host.
    package static let mirrored = WriteReason(rawValue: "mirror")
}

extension WriteReason {
    /// Returns the reason of an undo to a version, or to the state before the first if the number is 0.
    package static func undo(to sequence: Int) -> WriteReason { WriteReason(rawValue: "undo\(sequence)") }

    /// The version to which an undo returned, or nil for other reasons.
    package var undoTarget: Int? {
        rawValue.hasPrefix("undo") ? Int(rawValue.dropFirst("undo".count)) : nil
    }

    /// The reason without its number.
    package var word: String { String(decoding: rawValue.utf8.filter { Self.letters ~= $0 }, as: UTF8.self) }
}
