internal import Digests

/// The ASCII characters that are allowed in text without quotes.
struct BareCharacters {
    private let low: UInt64
    private let high: UInt64

    static let openstep = BareCharacters(alsoOf: "_$/:.-")
    static let gnustep = BareCharacters(alsoOf: "_$/:.-!#%&*+?@^|~")

    /// Creates the set of letters, digits and the characters in `marks`.
    private init(alsoOf marks: String) {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        var bits: (low: UInt64, high: UInt64) = (0, 0)
        for character in (letters + marks).utf8 {
            if character < 64 { bits.low |= 1 << UInt64(character) } else { bits.high |= 1 << UInt64(character & 63) }
        }
        (low, high) = bits
    }

    func contains(_ character: UInt8) -> Bool {
        let bits = character < 64 ? low : high
        return character < 128 && (bits &>> UInt64(character)) & 1 == 1
    }

    /// Whether text can be written without quotes. Empty text and text that looks like a comment cannot.
    func needsNoQuotes(_ text: Span<UInt8>) -> Bool {
        guard !text.isEmpty, text[0] != UInt8(ascii: "/") else { return false }
        for at in text.indices where !contains(text[at]) { return false }
        return true
    }
}

extension OpenStepReader {
    /// Reads text with or without quotes.
    mutating func readText(_ wanted: StaticString) throws(Fault) -> String {
        let first = base[at]
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") { return try readQuoted(first) }
        let start = at
        while at < count, bareCharacters.contains(base[at]) { at += 1 }
        guard at > start else { throw complaint(.expected(wanted.description)) }
        return base.text(start..<at, isASCII: true)
    }

    func run(_ start: Int, _ end: Int) -> Bytes {
        Bytes(base, start..<end)
    }

    private mutating func readQuoted(_ quote: UInt8) throws(Fault) -> String {
        opening = at
        at += 1
        let start = at
        let isASCII = try skipPlainCharacters(quote) || isASCII
        guard base[at] != quote else {
            defer { at += 1 }
            return base.text(start..<at, isASCII: isASCII)
        }
        return try readEscaped(quote, from: start)
    }

    /// Skips to the next quote or backslash. Returns whether the skipped text is ASCII.
    private mutating func skipPlainCharacters(_ quote: UInt8) throws(Fault) -> Bool {
        var seen: UInt64 = 0
        while at + 8 <= count {
            let word = base.word(at)
            let stops =
                ByteScan.matches(word, quote) | ByteScan.matches(word, UInt8(ascii: "\\")) | ByteScan.matches(word, 0)
            seen |= word
            guard stops == 0 else {
                at += stops.trailingZeroBitCount >> 3
                break
            }
            at += 8
        }
        while at < count, base[at] != quote, base[at] != UInt8(ascii: "\\"), base[at] != 0 {
            seen |= UInt64(base[at])
            at += 1
        }
        guard at < count else { throw Fault(.unterminatedString, at: opening) }
        guard base[at] != 0 else { throw Fault(.invalidCharacter(0), at: at) }
        return seen & ByteScan.highBits == 0
    }

    /// Reads the rest of text that began at `start` from its first backslash.
    private mutating func readEscaped(_ quote: UInt8, from start: Int) throws(Fault) -> String {
        scratch.removeAll(keepingCapacity: true)
        scratch += base[start..<at]
        while base[at] != quote {
            try readEscape()
            let plain = at
            _ = try skipPlainCharacters(quote)
            scratch += base[plain..<at]
        }
        at += 1
        return scratch.text(0..<scratch.count, isASCII: false)
    }

    private mutating func readEscape() throws(Fault) {
        let start = at
        guard at + 1 < count else { throw Fault(.unterminatedString, at: opening) }
        let mark = base[at + 1]
        at += 2
        switch mark {
        case UInt8(ascii: "a"): scratch.append(UInt8(0x07))
        case UInt8(ascii: "b"): scratch.append(UInt8(0x08))
        case UInt8(ascii: "f"): scratch.append(UInt8(0x0C))
        case UInt8(ascii: "n"): scratch.append(UInt8(0x0A))
        case UInt8(ascii: "r"): scratch.append(UInt8(0x0D))
        case UInt8(ascii: "t"): scratch.append(UInt8(0x09))
        case UInt8(ascii: "v"): scratch.append(UInt8(0x0B))
        case UInt8(ascii: "0")...UInt8(ascii: "7"): try readOctal(from: start)
        case UInt8(ascii: "U"): scratch.append(try readUnicode(from: start))
        case 0: throw Fault(.invalidCharacter(0), at: at - 1)
        // A quote, a backslash, a newline, or any other character represents itself.
        default: scratch.append(mark)
        }
    }

    /// Reads `\ooo`: the lower eight bits in NeXTSTEP's encoding, or a Unicode character in GNUstep's dialect.
    private mutating func readOctal(from start: Int) throws(Fault) {
        var code: UInt32 = 0
        at = start + 1
        while at < count, at < start + 4, base[at] & 0xF8 == 0x30 {
            code = code << 3 | UInt32(base[at] & 7)
            at += 1
        }
        if dialect == .openstep { code = NeXTSTEPEncoding.character(UInt8(truncatingIfNeeded: code)) }
        guard let scalar = Unicode.Scalar(code) else { throw invalidEscape(from: start) }
        scratch.append(scalar)
    }

    /// Reads `\Uhhhh`, and the second half of a surrogate pair.
    private mutating func readUnicode(from start: Int) throws(Fault) -> Unicode.Scalar {
        guard let unit = readUnit() else {
            // At the end of the text, the escape may be truncated.
            guard at < count else { throw Fault(.unterminatedString, at: opening) }
            throw invalidEscape(from: start)
        }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        if unit < 0xDC00, at + 1 < count, base[at] == UInt8(ascii: "\\"), base[at + 1] == UInt8(ascii: "U") {
            at += 2
            if let low = readUnit(), let scalar = Unicode.Scalar(high: unit, low: low) { return scalar }
        }
        throw Fault(.loneSurrogate, at: start)
    }

    /// Reads one to four hexadecimal digits.
    private mutating func readUnit() -> UInt32? {
        let start = at
        var unit: UInt32 = 0
        while at < count, at < start + 4, let digit = Hexadecimal.value(ofDigit: base[at]) {
            unit = unit << 4 | UInt32(digit)
            at += 1
        }
        return at > start ? unit : nil
    }

    private func invalidEscape(from start: Int) -> Fault {
        Fault(.invalidEscape(String(decoding: run(start, at), as: UTF8.self)), at: start)
    }
}

/// The encoding of NeXTSTEP, in which `\341` in an old file is `Æ`.
enum NeXTSTEPEncoding {
    /// The character of a byte, or the replacement character for 0xFE and 0xFF, which are not assigned.
    static func character(_ byte: UInt8) -> UInt32 {
        if byte < 0x80 { return UInt32(byte) }
        return Int(byte) - 0x80 < upperHalf.count ? UInt32(upperHalf[Int(byte) - 0x80]) : 0xFFFD
    }
}

/// The characters of 0x80–0xFD.
private let upperHalf: [UInt16] = [
    0x00A0, 0x00C0, 0x00C1, 0x00C2, 0x00C3, 0x00C4, 0x00C5, 0x00C7, 0x00C8, 0x00C9, 0x00CA, 0x00CB,
    0x00CC, 0x00CD, 0x00CE, 0x00CF, 0x00D0, 0x00D1, 0x00D2, 0x00D3, 0x00D4, 0x00D5, 0x00D6, 0x00D9,
    0x00DA, 0x00DB, 0x00DC, 0x00DD, 0x00DE, 0x00B5, 0x00D7, 0x00F7, 0x00A9, 0x00A1, 0x00A2, 0x00A3,
    0x2044, 0x00A5, 0x0192, 0x00A7, 0x00A4, 0x2019, 0x201C, 0x00AB, 0x2039, 0x203A, 0xFB01, 0xFB02,
    0x00AE, 0x2013, 0x2020, 0x2021, 0x00B7, 0x00A6, 0x00B6, 0x2022, 0x201A, 0x201E, 0x201D, 0x00BB,
    0x2026, 0x2030, 0x00AC, 0x00BF, 0x00B9, 0x02CB, 0x00B4, 0x02C6, 0x02DC, 0x00AF, 0x02D8, 0x02D9,
    0x00A8, 0x00B2, 0x02DA, 0x00B8, 0x00B3, 0x02DD, 0x02DB, 0x02C7, 0x2014, 0x00B1, 0x00BC, 0x00BD,
    0x00BE, 0x00E0, 0x00E1, 0x00E2, 0x00E3, 0x00E4, 0x00E5, 0x00E7, 0x00E8, 0x00E9, 0x00EA, 0x00EB,
    0x00EC, 0x00C6, 0x00ED, 0x00AA, 0x00EE, 0x00EF, 0x00F0, 0x00F1, 0x0141, 0x00D8, 0x0152, 0x00BA,
    0x00F2, 0x00F3, 0x00F4, 0x00F5, 0x00F6, 0x00E6, 0x00F9, 0x00FA, 0x00FB, 0x0131, 0x00FC, 0x00FD,
    0x0142, 0x00F8, 0x0153, 0x00DF, 0x00FE, 0x00FF,
]
