// What JSON5 adds to JSON: comments, trailing commas, single quotes and keys without quotes. Its further numbers and
// escapes are not read.
extension JSONReader {
    /// Skips the comments that begin here, with the white space around them.
    @inline(never)
    mutating func skipComments() throws(Fault) {
        while position + 1 < end, base[position] == UInt8(ascii: "/") {
            let start = position
            let isLine = base[start + 1] == UInt8(ascii: "/")
            guard isLine || base[start + 1] == UInt8(ascii: "*") else { return }
            guard options.allowsJSON5 else { throw Fault(.commentInJSON, at: start) }
            position += 2
            if isLine {
                while position < end, base[position] != 0x0A, base[position] != 0x0D { position += 1 }
            } else {
                while position + 1 < end, base[position] != UInt8(ascii: "*") || base[position + 1] != UInt8(ascii: "/")
                {
                    position += 1
                }
                guard position + 1 < end else { throw Fault(.unexpectedEnd(inside: "a comment"), at: end) }
                position += 2
            }
            while position < end, isXMLSpace(base[position]) { position += 1 }
        }
    }

    /// Reads a key that is not in double quotes.
    mutating func readUnusualKey() throws(Fault) -> String {
        let start = position
        guard options.allowsJSON5 else { throw Fault(.expected("a key in quotes"), at: start) }
        if base[start] == UInt8(ascii: "'") { return try readSingleQuoted() }
        while position < end, isIdentifierByte(base[position], isFirst: position == start) { position += 1 }
        guard position > start else { throw Fault(.expected("a key"), at: start) }
        return String(decoding: UnsafeBufferPointer(start: base + start, count: position - start), as: UTF8.self)
    }

    private func isIdentifierByte(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x80..., UInt8(ascii: "_"), UInt8(ascii: "$"): true
        case 0x30...0x39: !isFirst
        default: false
        }
    }

    /// Reads the string whose single quote is here.
    mutating func readSingleQuoted() throws(Fault) -> String {
        let opening = position
        scratch.truncate(to: 0)
        position += 1
        while position < end {
            switch base[position] {
            case UInt8(ascii: "'"):
                position += 1
                return String(
                    validated: UnsafeBufferPointer(start: scratch.base, count: scratch.count), isASCII: false)
            case UInt8(ascii: "\\"): _ = try readEscape(ofStringAt: opening)
            case let control where control < 0x20: throw Fault(.invalidCharacter(UInt32(control)), at: position)
            case let byte:
                scratch.append(byte)
                position += 1
            }
        }
        throw Fault(.unterminatedString, at: opening)
    }
}
