internal import Digests

// The syntax that JSON5 adds to JSON, except escapes in keys without quotes.
extension JSONReader {
    /// Skips comments, and the white space around them.
    @inline(never)
    mutating func skipComments() throws(Fault) {
        skipJSON5Space()
        while position + 1 < end, base[position] == UInt8(ascii: "/") {
            let start = position
            let isLine = base[start + 1] == UInt8(ascii: "/")
            guard isLine || base[start + 1] == UInt8(ascii: "*") else { return }
            guard options.json != .strict else { throw Fault(.commentInJSON, at: start) }
            position += 2
            if isLine {
                while position < end, lengthOfLineEnd == 0 { position += 1 }
            } else {
                while position + 1 < end, base[position] != UInt8(ascii: "*") || base[position + 1] != UInt8(ascii: "/")
                {
                    position += 1
                }
                guard position + 1 < end else { throw Fault(.unexpectedEnd(inside: "a comment"), at: end) }
                position += 2
            }
            skipJSON5Space()
        }
    }

    private mutating func skipJSON5Space() {
        while position < end {
            if isXMLSpace(base[position]) {
                position += 1
            } else if options.allowsJSON5, lengthOfWideSpace > 0 {
                position += lengthOfWideSpace
            } else {
                return
            }
        }
    }

    /// The length of the white space here that only JSON5 allows: control characters and Unicode spaces.
    private var lengthOfWideSpace: Int {
        base[position] == 0x0B || base[position] == 0x0C ? 1 : base.lengthOfUnicodeSpace(at: position)
    }

    /// The length of the line break here, of five kinds, or 0.
    private var lengthOfLineEnd: Int {
        switch base[position] {
        case 0x0A: 1
        case 0x0D: position + 1 < end && base[position + 1] == 0x0A ? 2 : 1
        default: base.isLineSeparator(at: position) ? 3 : 0
        }
    }

    /// Reads a key that is not in double quotes.
    mutating func readUnusualKey() throws(Fault) -> String {
        let start = position
        guard options.allowsJSON5 else {
            if base[start] == UInt8(ascii: "'") { throw Fault(.lacksDoubleQuotes("strings"), at: start) }
            let isName = isIdentifierByte(base[start], isFirst: true)
            throw Fault(isName ? .lacksDoubleQuotes("keys") : .expected("a key in quotes"), at: start)
        }
        if base[start] == UInt8(ascii: "'") { return try readSingleQuoted() }
        while position < end, isIdentifierByte(base[position], isFirst: position == start), lengthOfWideSpace == 0 {
            position += 1
        }
        guard position > start else { throw Fault(.expected("a key"), at: start) }
        return String(decoding: base[start..<position], as: UTF8.self)
    }

    private func isIdentifierByte(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x80..., UInt8(ascii: "_"), UInt8(ascii: "$"): true
        case 0x30...0x39: !isFirst
        default: false
        }
    }

    /// Reads a string in single quotes.
    mutating func readSingleQuoted() throws(Fault) -> String {
        let opening = position
        scratch.removeAll(keepingCapacity: true)
        position += 1
        while position < end {
            switch base[position] {
            case UInt8(ascii: "'"):
                position += 1
                return scratch.text(0..<scratch.count, isASCII: false)
            case UInt8(ascii: "\\"): _ = try readEscape(ofStringAt: opening)
            case let byte where byte == 0x0A || byte == 0x0D:
                throw Fault(.invalidCharacter(UInt32(byte)), at: position)
            case let byte:
                scratch.append(byte)
                position += 1
            }
        }
        throw Fault(.unterminatedString, at: opening)
    }
}

// MARK: Numbers and escapes

extension JSONReader {
    /// Reads a hexadecimal number, or a signed infinity or NaN. Returns nil for any other number.
    mutating func readJSON5Number() throws(Fault) -> PropertyList? {
        let start = position
        let isNegative = base[start] == UInt8(ascii: "-")
        if isNegative || base[start] == UInt8(ascii: "+") { position += 1 }
        if skip("Infinity") { return .real(isNegative ? -.infinity : .infinity) }
        if skip("NaN") { return .real(.nan) }
        guard skip("0x") || skip("0X") else {
            position = start
            return nil
        }
        let first = position
        while position < end, Hexadecimal.value(ofDigit: base[position]) != nil { position += 1 }
        let digits = base[first..<position]
        let written = text(from: start, to: position)
        guard !digits.isEmpty else { throw Fault(.invalidNumber(written), at: start) }
        guard let magnitude = UInt64(digits: digits, radix: 16),
            let integer = PropertyList.Integer(magnitude: magnitude, isNegative: isNegative)
        else { throw Fault(.integerOutOfRange(written), at: start) }
        return .integer(integer)
    }

    /// Reads an escape that only JSON5 has, from its backslash. Returns whether the character is ASCII, or nil if the
    /// escape is unknown.
    mutating func readJSON5Escape() -> Bool? {
        position += 1
        if lengthOfLineEnd > 0 {
            position += lengthOfLineEnd
            return true
        }
        let escaped = base[position]
        position += 1
        switch escaped {
        case UInt8(ascii: "v"): scratch.append(0x0B as UInt8)
        case UInt8(ascii: "0") where position == end || base[position] &- 0x30 > 9: scratch.append(0 as UInt8)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return nil
        case UInt8(ascii: "x"):
            guard position + 1 < end, let high = Hexadecimal.value(ofDigit: base[position]),
                let low = Hexadecimal.value(ofDigit: base[position + 1])
            else { return nil }
            position += 2
            let scalar = Unicode.Scalar(UInt8(high) << 4 | UInt8(low))
            scratch.append(scalar)
            return scalar.isASCII
        default:
            // The remaining bytes of a longer character are read as text.
            scratch.append(escaped)
            return escaped < 0x80
        }
        return true
    }
}
