internal import Digests

extension PropertyList {
    static func readJSON(
        _ bytes: [UInt8], limits: Limits, options: ReadingOptions, sources: inout SourceMap?
    ) throws(DecodingFailure) -> PropertyList {
        let (encoding, start) = TextEncoding.byteOrderMark(in: bytes) ?? (.utf8, 0)
        let decoded = DecodedText(bytes, as: encoding, from: start)
        func read(_ options: ReadingOptions, _ sources: inout SourceMap?) throws(DecodingFailure) -> PropertyList {
            try decoded.read(bytes, as: .json, sources: &sources) { text, isASCII in
                JSONReader(text, isASCII: isASCII, limits: limits, options: options)
            }
        }
        do throws(DecodingFailure) {
            return try read(options, &sources)
        } catch {
            var (relaxed, none) = (options, SourceMap?.none)
            for syntax in JSONSyntax.allCases where syntax > options.json {
                relaxed.json = syntax
                guard (try? read(relaxed, &none)) != nil else { continue }
                throw DecodingFailure(
                    .onlyIn(syntax, error.problem), offset: error.offset, path: error.path, format: .json)
            }
            // A comment conceals the first error.
            relaxed.json = .withComments
            if error.problem == .commentInJSON { _ = try read(relaxed, &none) }
            throw error
        }
    }
}

/// Reads JSON from validated UTF-8, strictly as defined by RFC 8259 or with the additions of JSON5.
struct JSONReader: TextReader, ~Copyable {
    let base: [UInt8]
    let end: Int
    var position = 0
    var builder: TreeBuilder
    /// Whether every byte of the text is ASCII.
    let isASCII: Bool
    /// The buffer in which a string with escapes is decoded.
    var scratch: [UInt8] = []
    let options: PropertyList.ReadingOptions
    /// Whether a number that was read as a real is recorded in `numbers`, or nil if none is.
    var isRecorded: ((_ text: String, _ value: Double) -> Bool)?
    var numbers: [JSONNumber] = []

    init(
        _ text: [UInt8], isASCII: Bool, limits: PropertyList.Limits,
        options: PropertyList.ReadingOptions
    ) {
        base = text
        end = text.count
        builder = TreeBuilder(limits: limits, options: options)
        self.isASCII = isASCII
        self.options = options
    }

    var path: EntryPath { builder.path }

    mutating func read() throws(Fault) -> PropertyList {
        try skipSpace()
        guard position < end else { throw Fault(.emptyInput, at: 0) }
        try readValueOrOpen()
        while builder.depth > 0 { try readNext() }
        try skipSpace()
        guard position == end else { throw Fault(.trailingContent, at: position) }
        return builder.finish()
    }

    /// Reads the text after a value in a container: a comma and the next key or element, or the end.
    private mutating func readNext() throws(Fault) {
        try skipSpace()
        guard position < end else { throw Fault(.unexpectedEnd(inside: innermost), at: end) }
        let isInDictionary = builder.isInDictionary
        switch base[position] {
        case UInt8(ascii: ","):
            let comma = position
            position += 1
            try skipSpace()
            if isAtEnd(ofDictionary: isInDictionary) {
                guard options.json == .strict else { return }
                throw Fault(.trailingComma(before: isInDictionary ? "}" : "]"), at: comma)
            }
            if isInDictionary { try readKey() }
            try readValueOrOpen()
        case UInt8(ascii: "}") where isInDictionary:
            position += 1
            try endDictionary()
        case UInt8(ascii: "]") where !isInDictionary:
            position += 1
            builder.sources?.recordEnd(at: position)
            builder.endArray()
        default:
            throw Fault(.expected(isInDictionary ? "“,” or “}”" : "“,” or “]”"), at: position)
        }
    }

    private var innermost: String { builder.isInDictionary ? "an object" : "an array" }

    /// Reads a scalar, an empty container, or the beginning of a container up to and including its first scalar.
    @inline(__always)
    private mutating func readValueOrOpen() throws(Fault) {
        while true {
            guard position < end else { throw Fault(.unexpectedEnd(inside: "a value"), at: end) }
            let start = position
            switch base[start] {
            case UInt8(ascii: "\""): builder.add(.string(try readString()))
            case UInt8(ascii: "{"):
                try builder.begin(dictionary: true, at: start)
                position += 1
                try skipSpace()
                if isAtEnd(ofDictionary: true) {
                    position += 1
                    return try endDictionary()
                }
                try readKey()
                continue
            case UInt8(ascii: "["):
                try builder.begin(dictionary: false, at: start)
                position += 1
                try skipSpace()
                if isAtEnd(ofDictionary: false) {
                    position += 1
                    builder.sources?.recordEnd(at: position)
                    return builder.endArray()
                }
                continue
            case UInt8(ascii: "-"), 0x30...0x39: builder.add(try readNumber())
            case UInt8(ascii: "t") where skip(wordOf("t", "r", "u", "e"), length: 4): builder.add(.boolean(true))
            case UInt8(ascii: "f") where skip(wordOf("f", "a", "l", "s", "e"), length: 5): builder.add(.boolean(false))
            case UInt8(ascii: "n") where skip(wordOf("n", "u", "l", "l"), length: 4):
                guard options.nulls == .kept else { throw Fault(.null, at: start) }
                builder.add(.null)
            case UInt8(ascii: "'") where options.allowsJSON5: builder.add(.string(try readSingleQuoted()))
            case let sign where options.allowsJSON5 && (sign == UInt8(ascii: "+") || sign == UInt8(ascii: ".")):
                builder.add(try readNumber())
            case UInt8(ascii: "I") where options.allowsJSON5 && skip("Infinity"): builder.add(.real(.infinity))
            case UInt8(ascii: "N") where options.allowsJSON5 && skip("NaN"): builder.add(.real(.nan))
            case UInt8(ascii: "'"): throw Fault(.lacksDoubleQuotes("strings"), at: start)
            default: throw Fault(.expected("a value"), at: start)
            }
            return builder.record(start..<position)
        }
    }

    @inline(__always)
    private mutating func readKey() throws(Fault) {
        let start = position
        guard start < end else { throw Fault(.unexpectedEnd(inside: "an object"), at: end) }
        if base[start] == UInt8(ascii: "\"") {
            let key = try readString()
            // An escape is longer than the text that it represents.
            let isPlain = key.utf8.count == position - start - 2
            builder.addKey(key, at: start, in: base, isPlain ? start + 1..<position - 1 : 0..<0)
        } else {
            builder.addKey(try readUnusualKey(), at: start)
        }
        builder.sources?.recordKey(start..<position)
        try skipSpace()
        guard position < end else { throw Fault(.unexpectedEnd(inside: "an object"), at: end) }
        guard base[position] == UInt8(ascii: ":") else { throw Fault(.expected("“:”"), at: position) }
        position += 1
        try skipSpace()
    }

    private func isAtEnd(ofDictionary isDictionary: Bool) -> Bool {
        position < end && base[position] == (isDictionary ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    private mutating func endDictionary() throws(Fault) {
        builder.sources?.recordEnd(at: position)
        guard options.unwrapsJSON else { return try builder.endDictionary() }
        let place = position - 1
        try builder.endDictionary { dictionary throws(Fault) in try JSONWrapping.unwrapped(dictionary, at: place) }
    }

    @inline(__always)
    private mutating func skipSpace() throws(Fault) {
        while position < end, isXMLSpace(base[position]) { position += 1 }
        if position < end, base[position] == UInt8(ascii: "/") || options.allowsJSON5 { try skipComments() }
    }

    /// Skips `word` if it is next. Returns false otherwise.
    mutating func skip(_ word: String) -> Bool {
        guard base[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    /// Skips a word of `length` bytes if it is next. Returns false otherwise.
    private mutating func skip(_ word: UInt64, length: UInt64) -> Bool {
        guard base.word(position) & (.max >> (64 - 8 * length)) == word else { return false }
        position += Int(length)
        return true
    }
}

// MARK: Numbers

extension JSONReader {
    private mutating func readNumber() throws(Fault) -> PropertyList {
        let start = position
        if options.allowsJSON5, let number = try readJSON5Number() { return number }
        if let small = readShortInteger() { return .integer(small) }
        let scan = Decimal19.scan(base, from: start, to: end, allowsPlus: options.allowsJSON5)
        let hasDigits =
            options.allowsJSON5
            ? scan.wholeDigits + scan.fractionDigits > 0
            : scan.wholeDigits > 0 && (!scan.hasPoint || scan.fractionDigits > 0)
        guard hasDigits, !scan.beginsWithZero || scan.wholeDigits == 1, scan.hasDigitsInExponent else {
            throw Fault(.invalidNumber(text(from: start, to: scan.end)), at: start)
        }
        position = scan.end
        let bytes = Bytes(base, start..<scan.end)
        if !scan.hasPoint, scan.number.exponent == 0 || scan.isWholeButLong, !hasExponent(bytes),
            let integer = PropertyList.Integer(decimal: bytes)
        {
            return .integer(integer)
        }
        guard let number = double(of: scan.number, text: bytes) else {
            throw Fault(.realOutOfRange(text(from: start, to: scan.end)), at: start)
        }
        if options.inexactIntegers != .rounded, !scan.hasPoint, !hasExponent(bytes) {
            let text = text(from: start, to: scan.end)
            if options.inexactIntegers == .refused { throw Fault(.integerOutOfRange(text), at: start) }
            return options.inexactIntegers == .text ? .string(text) : .null
        }
        if isRecorded != nil { note(start..<scan.end, text(from: start, to: scan.end), number) }
        return .real(number)
    }

    /// Reads an integer of at most 18 digits. Returns nil for any other number.
    @inline(__always)
    private mutating func readShortInteger() -> PropertyList.Integer? {
        var at = position
        let isNegative = base[at] == UInt8(ascii: "-")
        if isNegative { at += 1 }
        let first = at
        var value: UInt64 = 0
        while at < end {
            let digit = base[at] &- 0x30
            if digit > 9 { break }
            value = value &* 10 &+ UInt64(digit)
            at += 1
        }
        let count = at - first
        guard count > 0, count <= 18, count == 1 || base[first] != 0x30 else { return nil }
        if at < end, base[at] == UInt8(ascii: ".") || base[at] | 0x20 == UInt8(ascii: "e") { return nil }
        position = at
        return PropertyList.Integer(magnitude: value, isNegative: isNegative)
    }

    private func hasExponent(_ text: Bytes) -> Bool {
        text.contains { $0 | 0x20 == UInt8(ascii: "e") }
    }

    func text(from start: Int, to stop: Int) -> String {
        String(decoding: base[start..<min(stop, end)], as: UTF8.self)
    }
}

extension Decimal19.Scan {
    /// Whether the number is whole and has more than 19 digits. Its exponent is the number of dropped digits.
    fileprivate var isWholeButLong: Bool { wholeDigits > 19 && fractionDigits == 0 }
}

extension JSONReader {
    /// Reads a string from its opening quote.
    @inline(__always)
    mutating func readString() throws(Fault) -> String {
        let start = position + 1
        let (stop, isASCII) = plainRun(from: start)
        guard stop < end, base[stop] == UInt8(ascii: "\"") else { return try readEscapedString(from: start) }
        position = stop + 1
        return base.text(start..<stop, isASCII: isASCII)
    }

    /// The end of the text before the next quote, escape or control character, and whether it is ASCII.
    @inline(__always)
    private func plainRun(from start: Int) -> (end: Int, isASCII: Bool) {
        let run = JSONEscaping.run(in: base, from: start)
        return (run.end, isASCII || run.isASCII)
    }

    @inline(never)
    private mutating func readEscapedString(from start: Int) throws(Fault) -> String {
        scratch.removeAll(keepingCapacity: true)
        var isASCII = true
        position = start
        while true {
            let run = plainRun(from: position)
            isASCII = isASCII && run.isASCII
            scratch += base[position..<run.end]
            position = run.end
            guard position < end else { throw Fault(.unterminatedString, at: start - 1) }
            switch base[position] {
            case UInt8(ascii: "\""):
                position += 1
                return scratch.text(0..<scratch.count, isASCII: isASCII)
            case UInt8(ascii: "\\"): isASCII = try readEscape(ofStringAt: start - 1) && isASCII
            case let control where options.allowsJSON5 && control != 0x0A && control != 0x0D:
                scratch.append(control)
                position += 1
            case let control: throw Fault(.invalidCharacter(UInt32(control)), at: position)
            }
        }
    }

    /// Reads an escape, and returns whether its character is ASCII.
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
            scratch.append(scalar)
            return scalar.isASCII
        default:
            position = start
            if options.allowsJSON5, let isASCII = readJSON5Escape() { return isASCII }
            throw Fault(.invalidEscape(shownEscape(start)), at: start)
        }
        return true
    }

    /// The escape at `start`, including all bytes of the character after the backslash.
    private func shownEscape(_ start: Int) -> String {
        let rest = base[start..<min(start + 6, end)]
        return String(String(decoding: rest, as: UTF8.self).unicodeScalars.prefix(2))
    }

    /// Reads the digits of `\u`, and the second escape of a surrogate pair.
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
