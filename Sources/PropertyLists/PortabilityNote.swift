internal import Digests

/// A feature of a property list that was read, but that other readers may refuse or read differently.
package struct PortabilityNote: Hashable, Sendable {
    package let message: String
    /// The offset of the byte.
    package let offset: Int
    /// The line and column in a text, or nil in a binary file.
    package let location: TextLocation?
}

extension PropertyList {
    /// The notes on bytes that were read without a failure, at most one of each kind, ordered by offset.
    package static func portabilityNotes(on bytes: [UInt8], _ format: Format) -> [PortabilityNote] {
        format.facts.notes(bytes).sorted { $0.offset < $1.offset }.map { note in
            let place = DecodingFailure(.noValue, offset: note.offset, format: format)
            return PortabilityNote(message: note.message, offset: note.offset, location: place.location(in: bytes))
        }
    }

    static func binaryNotes(on bytes: [UInt8]) -> [(message: String, offset: Int)] {
        guard let trailer = try? BinaryTrailer(file: bytes) else { return [] }
        for object in 0..<trailer.objectCount {
            let place = trailer.tableOffset + object * trailer.offsetSize
            let offset = bytes.bigEndian(at: place, size: trailer.offsetSize)
            if offset < UInt64(trailer.tableOffset), bytes[Int(offset)] >> 4 == 0xC {
                return [("a set is read as an array", Int(offset))]
            }
        }
        return []
    }

    static func jsonNotes(on bytes: [UInt8]) -> [(message: String, offset: Int)] {
        integerOutOfRange(inJSON: bytes, ReadingOptions(allowsJSON5: true), where: { _ in true }).map {
            [("other readers may round an integer beyond 64 bits", $0.offset)]
        } ?? []
    }

    static func xmlNotes(on bytes: [UInt8]) -> [(message: String, offset: Int)] {
        guard let (encoding, start) = try? xmlEncoding(of: bytes) else { return [] }
        let text = DecodedText(bytes, as: encoding, from: start)
        var scan = XMLNoteScan(text: text.text(of: bytes))
        scan.run()
        return scan.found.map { ($0.key, text.originalOffset($0.value, in: bytes)) }
    }
}

/// A scan of a document that the reader has accepted.
private struct XMLNoteScan {
    let text: [UInt8]
    var at = 0
    /// The first offset of each note.
    private(set) var found: [String: Int] = [:]

    init(text: [UInt8]) { self.text = text }

    private mutating func note(_ message: String) { if found[message] == nil { found[message] = at } }

    private func hasPrefix(_ prefix: String, at place: Int) -> Bool {
        text[min(place, text.count)...].starts(with: prefix.utf8)
    }

    /// For each byte, whether it is no reason for a note, and ends neither text nor a part of a tag or comment.
    private static let isOrdinary = (0...255).map { isOrdinaryInText($0) && !">\"'-?".utf8.contains(UInt8($0)) }

    /// For each byte, whether it is no reason for a note, and does not end text.
    private static let isOrdinaryInText = (0...255).map(isOrdinaryInText)

    /// For each byte, whether it is a letter of a tag's name, or the slash before it.
    private static let isOfName = (0...255).map { $0 == 0x2F || (0x61...0x7A).contains($0) }

    private static func isOrdinaryInText(_ byte: Int) -> Bool {
        byte >= 0x20 && byte != 0xEF && !"<&]".utf8.contains(UInt8(byte)) || isXMLSpace(UInt8(byte))
    }

    private mutating func skip(_ isSkipped: [Bool]) {
        var place = at
        while place < text.count, isSkipped[Int(text[place])] { place += 1 }
        at = place
    }

    private mutating func skipOrdinary() { skip(Self.isOrdinary) }

    mutating func run() {
        let isOrdinaryInText = Self.isOrdinaryInText
        while true {
            skip(isOrdinaryInText)
            guard at < text.count else { return }
            let next = at + 1 < text.count ? text[at + 1] : 0
            if text[at] != UInt8(ascii: "<") {
                if hasPrefix("]]>", at: at) { note("bare “]]>” is not XML 1.0: write “]]&gt;”") }
                if text[at] == UInt8(ascii: "&") { noteReference() }
                step()
            } else if next != UInt8(ascii: "!"), next != UInt8(ascii: "?") {
                skipTag(isDate: next == UInt8(ascii: "d") && hasPrefix("<date>", at: at))
            } else if hasPrefix("<!--", at: at) {
                skipComment()
            } else if hasPrefix("<![CDATA[", at: at) {
                skip(past: "]]>")
            } else if hasPrefix("<?", at: at) {
                skip(past: "?>")
            } else {
                skipTag(isDate: false)
            }
        }
    }

    /// Skips one byte, and notes a character that is not valid in XML 1.0.
    private mutating func step() {
        let byte = text[at]
        if byte < 0x20, !isXMLSpace(byte) { note(codePoint: UInt32(byte)) }
        if byte == 0xEF, at + 2 < text.count, text[at + 1] == 0xBF, text[at + 2] >= 0xBE {
            note(codePoint: 0xFFFE + UInt32(text[at + 2] & 1))
        }
        at += 1
    }

    private mutating func note(codePoint code: UInt32) {
        note("the character \(PropertyLists.codePoint(code)) is not XML 1.0")
    }

    private mutating func noteReference() {
        guard hasPrefix("&#", at: at) else { return }
        let isHexadecimal = hasPrefix("&#x", at: at)
        let digits = text[(at + (isHexadecimal ? 3 : 2))...].prefix {
            Hexadecimal.value(ofDigit: $0) != nil
        }
        guard let code = UInt64(digits: digits, radix: isHexadecimal ? 16 : 10) else { return }
        switch code {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...: break
        default: note(codePoint: UInt32(clamping: code))
        }
    }

    private mutating func skip(past end: String) {
        skipOrdinary()
        while at < text.count, !hasPrefix(end, at: at) {
            step()
            skipOrdinary()
        }
        at = min(at + end.utf8.count, text.count)
    }

    private mutating func skipComment() {
        at += 4
        while at < text.count, !hasPrefix("-->", at: at) {
            if hasPrefix("--", at: at) { note("“--” in a comment is not XML 1.0") }
            step()
            skipOrdinary()
        }
        at = min(at + 3, text.count)
    }

    /// Skips a tag or a document type, and examines the date after an opening tag.
    private mutating func skipTag(isDate: Bool) {
        at += 1
        skip(Self.isOfName)
        var quote: UInt8?
        while at < text.count, text[at] != UInt8(ascii: ">") || quote != nil {
            let byte = text[at]
            if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if quote != nil, byte == UInt8(ascii: "&") {
                noteEntityInAttribute()
            }
            step()
            skipOrdinary()
        }
        at = min(at + 1, text.count)
        if isDate { noteDate() }
    }

    private mutating func noteEntityInAttribute() {
        noteReference()
        let name = String(
            decoding: text[(at + 1)...].prefix { $0 > 0x20 && !"<>;&\"'".utf8.contains($0) }, as: UTF8.self)
        let isKnown = ["lt", "gt", "amp", "apos", "quot"].contains(name) || name.hasPrefix("#")
        let isTerminated = hasPrefix(";", at: at + 1 + name.utf8.count)
        if !isKnown || !isTerminated { note("unknown entity “&\(shortened(name))” in an attribute") }
    }

    private mutating func noteDate() {
        let date = Bytes(Array(text[at...].prefix { $0 != UInt8(ascii: "<") }))
        guard let day = CivilDate(date), !day.isValid, day.isInRange else { return }
        var output = OutputBuffer(capacity: 64)
        output.append(CivilDate(secondsSinceReference: day.secondsSinceReference), separator: UInt8(ascii: "T"))
        let read = String(decoding: output.data(), as: UTF8.self)
        note("there is no date \(String(decoding: date, as: UTF8.self)): it is read as \(read)Z")
    }
}
