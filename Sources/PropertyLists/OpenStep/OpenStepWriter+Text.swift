internal import Digests

extension OpenStepWriter {
    @inline(__always)
    mutating func write(text: String) { text.withBytes { write(text: $0) } }

    /// Writes a text as it is where every reader takes it for one, else in quotes.
    mutating func write(text: UnsafeBufferPointer<UInt8>) {
        if BareCharacters.openstep.canStand(text) { return output.append(text) }
        write(quoted: text)
    }

    mutating func write(quoted text: String) { text.withBytes { write(quoted: $0) } }

    private mutating func write(quoted text: UnsafeBufferPointer<UInt8>) {
        output.append(UInt8(ascii: "\""))
        var rest = UnsafeBufferPointer(rebasing: text[...])
        while true {
            let plain = lengthOfPlainRun(rest)
            output.append(UnsafeBufferPointer(rebasing: rest[..<plain]))
            guard plain < rest.count else { break }
            let taken = writeEscape(UnsafeBufferPointer(rebasing: rest[plain...]))
            rest = UnsafeBufferPointer(rebasing: rest[(plain + taken)...])
        }
        output.append(UInt8(ascii: "\""))
    }

    /// How many characters stand before the first that needs an escape.
    @inline(__always)
    private func lengthOfPlainRun(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        guard let base = text.baseAddress else { return 0 }
        let raw = UnsafeRawPointer(base)
        let tops: UInt64 = options.escapesNonASCII ? 0x8080_8080_8080_8080 : 0
        var at = 0
        while at + 8 <= text.count {
            let word = UInt64(littleEndian: raw.word(at))
            let controls = zeroBytes(word & 0xE0E0_E0E0_E0E0_E0E0) | zeroBytes(word ^ 0x7F7F_7F7F_7F7F_7F7F)
            let marks = zeroBytes(word ^ 0x2222_2222_2222_2222) | zeroBytes(word ^ 0x5C5C_5C5C_5C5C_5C5C)
            let stops = controls | marks | (word & tops)
            if stops != 0 { return at + stops.trailingZeroBitCount >> 3 }
            at += 8
        }
        while at < text.count, !needsEscape(base[at]) { at += 1 }
        return at
    }

    @inline(__always)
    private func needsEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "\\"): true
        case 0x80...: options.escapesNonASCII
        default: false
        }
    }

    /// Writes the character with which `text` begins as an escape, and says how many bytes it took.
    private mutating func writeEscape(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        let lead = text[0]
        switch lead {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            output.append(UInt8(ascii: "\\"))
            output.append(lead)
        case 0..<0x80:
            output.append(UInt8(ascii: "\\"))
            for shift: UInt8 in [6, 3, 0] { output.append(0x30 + lead >> shift & 7) }
        default: return writeUnits(text)
        }
        return 1
    }

    /// Writes one character beyond ASCII as its UTF-16 units, `\Uhhhh`.
    private mutating func writeUnits(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var bytes = text.makeIterator()
        var decoder = UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&bytes) else { return 1 }
        for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
            output.append("\\U")
            for shift: UInt16 in [12, 8, 4, 0] {
                output.append(Hexadecimal.digit(UInt8(truncatingIfNeeded: unit >> shift & 15)))
            }
        }
        return UTF8.width(scalar)
    }
}
