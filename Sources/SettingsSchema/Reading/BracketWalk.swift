internal import PropertyLists

/// A scanner that locates entries in OpenStep text and JSON, which differ only in brackets and separators.
struct BracketWalk {
    private let bytes: [UInt8]
    private var at: Int

    init(_ bytes: [UInt8], from start: Int) {
        self.bytes = bytes
        at = start
    }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    /// Scans the whole text.
    mutating func walk(_ search: inout EntrySearch) {
        skipSpace()
        search.begin(at: at)
        guard let opening = next else { return }
        // A strings file is a dictionary without brackets.
        let isStringsFile = opening != UInt8(ascii: "{") && opening != UInt8(ascii: "(") && opening != UInt8(ascii: "[")
        walkContainer(&search, isDictionary: isStringsFile || opening == UInt8(ascii: "{"), hasBracket: !isStringsFile)
    }

    /// Scans a value on the path to a wanted entry.
    private mutating func walkValue(_ search: inout EntrySearch) {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): walkContainer(&search, isDictionary: true, hasBracket: true)
        case UInt8(ascii: "("), UInt8(ascii: "["): walkContainer(&search, isDictionary: false, hasBracket: true)
        default: skipValue()
        }
    }

    private mutating func walkContainer(_ search: inout EntrySearch, isDictionary: Bool, hasBracket: Bool) {
        if hasBracket { at += 1 }
        var index = 0
        while true {
            skipSpace()
            guard let byte = next else { return }
            if isClosing(byte) {
                at += 1
                return
            }
            let place = at
            let key = isDictionary ? text() : String(index)
            if isDictionary { skipSeparator("=:") }
            if !search.meet(EntryPath.Component(key), at: place, inside: { walkValue(&$0) }) { skipValue() }
            skipSeparator(";,")
            guard at > place else { return }
            index += 1
        }
    }

    private mutating func skipSeparator(_ separators: String) {
        skipSpace()
        if let byte = next, separators.utf8.contains(byte) { at += 1 }
    }

    private func isClosing(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "}") || byte == UInt8(ascii: ")") || byte == UInt8(ascii: "]")
    }

    /// Skips a value and its contents.
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

    /// Reads a quoted or an unquoted string.
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
