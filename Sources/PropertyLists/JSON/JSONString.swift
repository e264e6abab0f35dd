internal import Digests

extension JSONReader {
    /// Reads the string whose quote stands here.
    @inline(__always)
    mutating func readString() throws(Fault) -> String { try readKeyText().key }

    /// Reads a key like any string, and says where its bytes lie if it has no escapes.
    @inline(__always)
    mutating func readKeyText() throws(Fault) -> (key: String, bytes: UnsafeBufferPointer<UInt8>?) {
        let start = position + 1
        let (stop, isASCII) = plainRun(from: start)
        guard stop < end, base[stop] == UInt8(ascii: "\"") else { return (try readEscapedString(from: start), nil) }
        position = stop + 1
        let bytes = UnsafeBufferPointer(start: base + start, count: stop - start)
        return (String(validated: bytes, isASCII: isASCII), bytes)
    }

    /// The end of the text that stands for itself.
    @inline(__always)
    private func plainRun(from start: Int) -> (end: Int, isASCII: Bool) {
        let run = JSONEscaping.run(in: base, from: start, to: end)
        return (run.end, isASCII || run.isASCII)
    }

    @inline(never)
    private mutating func readEscapedString(from start: Int) throws(Fault) -> String {
        scratch.truncate(to: 0)
        var isASCII = true
        position = start
        while true {
            let run = plainRun(from: position)
            isASCII = isASCII && run.isASCII
            scratch.append(UnsafeBufferPointer(start: base + position, count: run.end - position))
            position = run.end
            guard position < end else { throw Fault(.unterminatedString, at: start - 1) }
            switch base[position] {
            case UInt8(ascii: "\""):
                position += 1
                return String(
                    validated: UnsafeBufferPointer(start: scratch.base, count: scratch.count), isASCII: isASCII)
            case UInt8(ascii: "\\"): isASCII = try readEscape(ofStringAt: start - 1) && isASCII
            case let control where options.allowsJSON5 && control != 0x0A && control != 0x0D:
                scratch.append(control)
                position += 1
            case let control: throw Fault(.invalidCharacter(UInt32(control)), at: position)
            }
        }
    }

    /// Takes the character that an escape stands for; true if it is ASCII.
    mutating func readEscape(ofStringAt opening: Int) throws(Fault) -> Bool {
        let start = position
        guard start + 1 < end else { throw Fault(.unterminatedString, at: opening) }
        position += 2
        switch base[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scratch.append(base[start + 1])
        case UInt8(ascii: "b"): scratch.append(UInt8(8))
        case UInt8(ascii: "f"): scratch.append(UInt8(12))
        case UInt8(ascii: "n"): scratch.append(UInt8(10))
        case UInt8(ascii: "r"): scratch.append(UInt8(13))
        case UInt8(ascii: "t"): scratch.append(UInt8(9))
        case UInt8(ascii: "u"):
            let scalar = try readUnicodeEscape(from: start, ofStringAt: opening)
            for unit in UTF8.encode(scalar)! { scratch.append(unit) }
            return scalar.isASCII
        default:
            position = start
            if options.allowsJSON5, let isASCII = readJSON5Escape() { return isASCII }
            throw Fault(.invalidEscape(shownEscape(start)), at: start)
        }
        return true
    }

    /// The escape at `start`, with the whole of the character behind its backslash.
    private func shownEscape(_ start: Int) -> String {
        let rest = UnsafeBufferPointer(start: base + start, count: min(6, end - start))
        return String(String(decoding: rest, as: UTF8.self).unicodeScalars.prefix(2))
    }

    /// Reads the digits of `\u`, and those of the other half of a pair.
    private mutating func readUnicodeEscape(
        from start: Int, ofStringAt opening: Int
    ) throws(Fault) -> Unicode.Scalar {
        let high = try readUnit(from: start, ofStringAt: opening)
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, position + 1 < end, base[position] == UInt8(ascii: "\\"),
            base[position + 1] == UInt8(ascii: "u")
        else { throw Fault(.loneSurrogate, at: start) }
        position += 2
        guard let scalar = Unicode.Scalar(high: high, low: try readUnit(from: position - 2, ofStringAt: opening)) else {
            throw Fault(.loneSurrogate, at: start)
        }
        return scalar
    }

    private mutating func readUnit(from start: Int, ofStringAt opening: Int) throws(Fault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < end else { throw Fault(.unterminatedString, at: opening) }
            guard let digit = Hexadecimal.value(ofDigit: base[position]) else {
                throw Fault(.invalidEscape("\\u"), at: start)
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
