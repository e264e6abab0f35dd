extension OpenStepReader {
    /// Goes on to the next byte that is neither white space nor part of a comment.
    @inline(__always)
    mutating func skipSpace() throws(Fault) {
        if at < count, base[at] > UInt8(ascii: "/"), base[at] < 0x80 { return }
        try skipSpaceAndComments()
    }

    /// Goes on to the next byte that is no white space.
    mutating func skipWhiteSpace() throws(Fault) { try skipSpaceAndComments(takesComments: false) }

    private mutating func skipSpaceAndComments(takesComments: Bool = true) throws(Fault) {
        let raw = UnsafeRawPointer(base)
        while at < count {
            switch base[at] {
            case 0x20:
                at += 1
                while at + 8 <= count, raw.word(at) == 0x2020_2020_2020_2020 { at += 8 }
                while at < count, base[at] == 0x20 { at += 1 }
            case 0x09...0x0D: at += 1
            case UInt8(ascii: "/") where takesComments:
                guard try skipComment() else { return }
            case 0xE2:
                // U+2028 and U+2029, which separate lines and paragraphs.
                guard at + 2 < count, base[at + 1] == 0x80, base[at + 2] | 1 == 0xA9 else { return }
                at += 3
            default: return
            }
        }
    }

    /// Skips the comment that begins here; false where none does.
    private mutating func skipComment() throws(Fault) -> Bool {
        guard at + 1 < count else { return false }
        switch base[at + 1] {
        case UInt8(ascii: "/"):
            at += 2
            while at < count, !isEndOfLine { try stepInComment() }
        case UInt8(ascii: "*"):
            at += 2
            while at + 1 < count, base[at] != UInt8(ascii: "*") || base[at + 1] != UInt8(ascii: "/") {
                try stepInComment()
            }
            guard at + 1 < count else { throw Fault(.unexpectedEnd(inside: "a comment"), at: count) }
            at += 2
        default: return false
        }
        return true
    }

    private var isEndOfLine: Bool {
        switch base[at] {
        case 0x0A, 0x0D: true
        case 0xE2: at + 2 < count && base[at + 1] == 0x80 && base[at + 2] | 1 == 0xA9
        default: false
        }
    }

    @inline(__always)
    private mutating func stepInComment() throws(Fault) {
        guard base[at] != 0 else { throw Fault(.invalidCharacter(0), at: at) }
        at += 1
    }
}

extension OpenStepReader {
    /// What to say where something else stands than was needed.
    ///
    /// A control character or one beyond ASCII is named: it may stand in quotes, and may be hard to see.
    func complaint(_ problem: DecodingFailure.Problem, at place: Int? = nil) -> Fault {
        let lead = base[at]
        guard lead < 0x20 || lead >= 0x7F else { return Fault(problem, at: place ?? at) }
        return Fault(.invalidCharacter(scalar(at: at)), at: at)
    }

    /// The character at `start`, where one begins.
    private func scalar(at start: Int) -> UInt32 {
        let lead = UInt32(base[start])
        let length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        guard length > 1, start + length <= count else { return lead }
        return (1..<length).reduce(lead & (0x7F >> UInt32(length))) { code, step in
            code << 6 | UInt32(base[start + step] & 0x3F)
        }
    }
}
