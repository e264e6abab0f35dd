/// What ends text that stands for itself: markup, and control characters, of which some are to be changed.
private enum XMLTextEnds: RunEnds {
    @inline(__always)
    static func stops(_ word: UInt64) -> UInt64 { XMLMarkupEnds.stops(word) | ByteScan.below(word, 0x20) }
}

/// What ends text whatever is in it.
private enum XMLMarkupEnds: RunEnds {
    @inline(__always)
    static func stops(_ word: UInt64) -> UInt64 {
        ByteScan.matches(word, UInt8(ascii: "<")) | ByteScan.matches(word, UInt8(ascii: "&"))
    }
}

/// The text of an element: a run of the input, or what the reader's scratch buffer holds.
struct XMLText {
    /// Where the run begins in the input; −1 where the text is in the scratch buffer.
    var start: Int
    var count: Int
    var isASCII: Bool

    @inline(__always)
    func withBytes<Result>(
        in base: UnsafePointer<UInt8>, _ scratch: borrowing OutputBuffer,
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        body(UnsafeBufferPointer(start: start < 0 ? UnsafePointer(scratch.base) : base + start, count: count))
    }
}

extension XMLReader {
    /// Reads text up to and including the closing tag of `element`.
    @inline(__always)
    mutating func readText(inside element: XMLElement) throws(Fault) -> XMLText {
        let start = position
        let (stop, isASCII) = plainRun(from: start)
        if stop + 1 < end, base[stop] == UInt8(ascii: "<"), base[stop + 1] == UInt8(ascii: "/") {
            position = stop
            try expectClosingTag(element)
            return XMLText(start: start, count: stop - start, isASCII: isASCII)
        }
        return try readMixedText(inside: element)
    }

    /// The end of the text that stands for itself: it has no tag, no reference, no control character.
    @inline(__always)
    private func plainRun(from start: Int) -> (end: Int, isASCII: Bool) {
        let run = XMLTextEnds.run(in: base, from: start, to: end)
        return (run.end, isASCII || run.isASCII)
    }

    /// The run up to the next tag if that closes `element`; control characters in it are the caller's to judge.
    mutating func readPlainRun(closedBy element: XMLElement) throws(Fault) -> XMLText? {
        let start = position
        let at = XMLMarkupEnds.run(in: base, from: start, to: end).end
        guard at + 1 < end, base[at] == UInt8(ascii: "<"), base[at + 1] == UInt8(ascii: "/") else { return nil }
        position = at
        try expectClosingTag(element)
        return XMLText(start: start, count: at - start, isASCII: true)
    }

    /// Reads text with references, sections, comments or line ends in it.
    @inline(never)
    private mutating func readMixedText(inside element: XMLElement) throws(Fault) -> XMLText {
        scratch.truncate(to: 0)
        var isASCII = true
        while true {
            let run = plainRun(from: position)
            isASCII = isASCII && run.isASCII
            scratch.append(UnsafeBufferPointer(start: base + position, count: run.end - position))
            position = run.end
            guard position < end else { throw Fault(.unexpectedEnd(inside: "<\(element.rawValue)>"), at: end) }
            switch base[position] {
            case UInt8(ascii: "&"): isASCII = try readReference() && isASCII
            case UInt8(ascii: "<"):
                if hasPrefix("</") {
                    try expectClosingTag(element)
                    return XMLText(start: -1, count: scratch.count, isASCII: isASCII)
                }
                if hasPrefix("<![CDATA[") {
                    isASCII = try readSection() && isASCII
                } else if try !skipCommentOrInstruction() {
                    let start = position
                    let name = try readTag().name.rawValue
                    throw Fault(.misplacedElement(name), at: start)
                }
            default: try readControl()
            }
        }
    }

    /// Takes the end of a line, which is always one newline, or another control character as it is.
    private mutating func readControl() throws(Fault) {
        switch base[position] {
        case 0x0D:
            scratch.append(UInt8(ascii: "\n"))
            if position + 1 < end, base[position + 1] == 0x0A { position += 1 }
        case 0: throw Fault(.invalidCharacter(0), at: position)
        case let other: scratch.append(other)
        }
        position += 1
    }

    /// Takes what stands between `<![CDATA[` and `]]>`; true if it is ASCII.
    private mutating func readSection() throws(Fault) -> Bool {
        position += 9
        var isASCII = true
        while position < end {
            if hasPrefix("]]>") {
                position += 3
                return isASCII
            }
            if base[position] < 0x20 {
                try readControl()
            } else {
                if base[position] >= 0x80 { isASCII = false }
                scratch.append(base[position])
                position += 1
            }
        }
        throw Fault(.unexpectedEnd(inside: "a section"), at: end)
    }

    /// Takes the character that a reference names; true if it is ASCII.
    private mutating func readReference() throws(Fault) -> Bool {
        let start = position
        var stop = start + 1
        while stop < end, !endsReference(base[stop]) { stop += 1 }
        let name = String(
            decoding: UnsafeBufferPointer(start: base + start + 1, count: stop - start - 1), as: UTF8.self)
        guard stop < end else { throw Fault(.unexpectedEnd(inside: "a reference"), at: end) }
        let isTerminated = base[stop] == UInt8(ascii: ";")
        guard let scalar = try XMLReader.scalar(ofReference: name, at: start) else {
            throw Fault(isTerminated ? .unknownEntity(name) : .bareAmpersand, at: start)
        }
        guard isTerminated else { throw Fault(.unterminatedReference(name), at: start) }
        position = stop + 1
        for unit in UTF8.encode(scalar)! { scratch.append(unit) }
        return scalar.isASCII
    }

    @inline(__always)
    private func endsReference(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, UInt8(ascii: ";"), UInt8(ascii: "<"), UInt8(ascii: "&"): true
        default: false
        }
    }

    private static func scalar(ofReference name: String, at start: Int) throws(Fault) -> Unicode.Scalar? {
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "apos": return "'"
        case "quot": return "\""
        default: break
        }
        guard name.utf8.first == UInt8(ascii: "#") else { return nil }
        let digits = name.utf8.dropFirst()
        let isHexadecimal = digits.first == UInt8(ascii: "x")
        guard let code = UInt64(digits: isHexadecimal ? digits.dropFirst() : digits, radix: isHexadecimal ? 16 : 10)
        else { return nil }
        guard let small = UInt32(exactly: code), let scalar = Unicode.Scalar(small), small != 0 else {
            throw Fault(.invalidCharacter(UInt32(clamping: code)), at: start)
        }
        return scalar
    }
}
