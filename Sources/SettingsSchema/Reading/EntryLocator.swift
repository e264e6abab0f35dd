internal import PropertyLists

/// Finds where in a text an entry stands.
///
/// The text has been read before, so that what it means is known: this walk only counts keys and brackets, and gives up
/// where it meets what it does not know.
struct EntryLocator {
    private let bytes: [UInt8]
    private var walk: any EntryWalk

    /// Nil for bytes that are no text in UTF-8.
    init?(_ bytes: [UInt8]) {
        guard !bytes.starts(with: "bplist".utf8), !bytes.contains(0) else { return nil }
        self.bytes = bytes
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let first = bytes[start...].first { $0 > 0x20 }
        walk = first == UInt8(ascii: "<") ? XMLWalk(bytes, from: start) : BracketWalk(bytes, from: start)
    }

    /// Line and column of the entry at `path`, or of the last on the way to it that is there.
    func location(of path: EntryPath) -> TextLocation? {
        var walk = walk
        guard let offset = walk.offset(of: path.components[...]) else { return nil }
        // What places a failure of reading in a text places anything.
        return DecodingFailure(.noValue, offset: offset, format: .openstep).location(in: bytes)
    }
}

/// A walk over the text of a property list, from a value to what is inside it.
protocol EntryWalk: Sendable {
    /// Where the entry at `path` begins inside the value that begins here: at its key, where it has one.
    mutating func offset(of path: ArraySlice<EntryPath.Component>) -> Int?
}

/// The walk over OpenStep text and JSON, which differ in brackets and separators alone.
struct BracketWalk: EntryWalk {
    private let bytes: [UInt8]
    private var at: Int

    init(_ bytes: [UInt8], from start: Int) {
        self.bytes = bytes
        at = start
    }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    mutating func offset(of path: ArraySlice<EntryPath.Component>) -> Int? {
        skipSpace()
        guard let component = path.first else { return at }
        let start = at
        guard let opening = next else { return nil }
        let isDictionary =
            opening == UInt8(ascii: "{") || (opening != UInt8(ascii: "(") && opening != UInt8(ascii: "["))
        // A strings file is a dictionary without brackets.
        if !isDictionary || opening == UInt8(ascii: "{") { at += 1 }
        var index = 0
        var found: Int?
        while true {
            skipSpace()
            guard let byte = next, !isClosing(byte) else { return found ?? start }
            let place = at
            let key = isDictionary ? text() : String(index)
            if isDictionary {
                skipSpace()
                if next == UInt8(ascii: "=") || next == UInt8(ascii: ":") { at += 1 }
            }
            // A key that stands twice has the last value.
            if EntryPath.Component(key) == component {
                var inner = self
                found = path.count == 1 ? place : inner.offset(of: path.dropFirst()) ?? place
            }
            skipValue()
            skipSpace()
            if next == UInt8(ascii: ";") || next == UInt8(ascii: ",") { at += 1 }
            guard at > place else { return found }
            index += 1
        }
    }

    private func isClosing(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "}") || byte == UInt8(ascii: ")") || byte == UInt8(ascii: "]")
    }

    /// Skips a value with all that is inside it.
    private mutating func skipValue() {
        var depth = 0
        repeat {
            skipSpace()
            guard let byte = next else { return }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "["): (depth, at) = (depth + 1, at + 1)
            case UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"):
                guard depth > 0 else { return }
                (depth, at) = (depth - 1, at + 1)
            case UInt8(ascii: "<"): skip(to: UInt8(ascii: ">"))
            case UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: ":"):
                guard depth > 0 else { return }
                at += 1
            default: _ = text()
            }
        } while depth > 0
    }

    /// A text in quotes, or the bare one that stands here.
    private mutating func text() -> String {
        guard let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return bareText() }
        var characters: [UInt8] = []
        at += 1
        while let byte = next, byte != quote {
            if byte == UInt8(ascii: "\\") { at += 1 }
            if let byte = next { characters.append(byte) }
            at += 1
        }
        at += 1
        return String(decoding: characters, as: UTF8.self)
    }

    private mutating func bareText() -> String {
        let start = at
        while let byte = next, byte > 0x20, !"{}()[]=;,<\"'".utf8.contains(byte) { at += 1 }
        if at == start { at += 1 }
        return String(decoding: bytes[start..<min(at, bytes.count)], as: UTF8.self)
    }

    private mutating func skip(to end: UInt8) {
        while let byte = next, byte != end { at += 1 }
        at += 1
    }

    private mutating func skipSpace() {
        while let byte = next {
            if byte <= 0x20 {
                at += 1
            } else if byte == UInt8(ascii: "/"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "/") {
                skip(to: 0x0A)
            } else if byte == UInt8(ascii: "/"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "*") {
                at += 2
                while at + 1 < bytes.count, bytes[at] != UInt8(ascii: "*") || bytes[at + 1] != UInt8(ascii: "/") {
                    at += 1
                }
                at += 2
            } else {
                return
            }
        }
    }
}
