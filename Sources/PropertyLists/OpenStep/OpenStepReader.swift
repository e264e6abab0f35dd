internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    /// The two dialects of the text format: that of Core Foundation, and that of GNUstep with typed values.
    enum OpenStepDialect { case openstep, gnustep }

    static func readOpenStep(
        _ bytes: [UInt8], dialect: OpenStepDialect, limits: Limits, options: ReadingOptions,
        sources: inout SourceMap?
    ) throws(DecodingFailure) -> PropertyList {
        let (encoding, start) = TextEncoding.byteOrderMark(in: bytes) ?? (.utf8, 0)
        guard start < bytes.count else {
            guard !options.acceptsBlank else { return .dictionary([:]) }
            throw DecodingFailure(.emptyInput, offset: 0, format: dialect.format)
        }
        return try DecodedText(bytes, as: encoding, from: start).read(bytes, as: dialect.format, sources: &sources) {
            text, isASCII in
            OpenStepReader(text, dialect: dialect, isASCII: isASCII, limits: limits, options: options)
        }
    }
}

extension PropertyList.OpenStepDialect {
    var format: PropertyList.Format { self == .gnustep ? .gnustep : .openstep }
}

/// Reads the text format in one pass over valid UTF-8.
struct OpenStepReader: TextReader, ~Copyable {
    let base: [UInt8]
    let count: Int
    /// The position of the next byte.
    var at = 0
    let dialect: PropertyList.OpenStepDialect
    let isASCII: Bool
    let bareCharacters: BareCharacters
    var builder: TreeBuilder
    /// The buffer in which data, and text with escapes, is decoded.
    var scratch: [UInt8] = []
    /// The position of the last string's opening quote.
    var opening = 0
    private let acceptsBlank: Bool
    /// Whether the root is a dictionary without braces, as in a strings file.
    private var isStringsFile = false
    /// Whether a separator is missing after a value. `path` is then the path of that value.
    private var isSeparatorMissing = false

    init(
        _ text: [UInt8], dialect: PropertyList.OpenStepDialect, isASCII: Bool,
        limits: PropertyList.Limits, options: PropertyList.ReadingOptions
    ) {
        base = text
        count = text.count
        self.dialect = dialect
        self.isASCII = isASCII
        bareCharacters = dialect == .gnustep ? .gnustep : .openstep
        acceptsBlank = options.acceptsBlank
        builder = TreeBuilder(limits: limits, options: options)
    }

    /// The path to the invalid entry.
    var path: EntryPath {
        var path = builder.path
        guard isSeparatorMissing else { return path }
        if builder.isInDictionary {
            path.components.append(EntryPath.Component(builder.lastKey))
        } else {
            path.components[path.components.count - 1] = EntryPath.Component(builder.childCount - 1)
        }
        return path
    }

    mutating func read() throws(Fault) -> PropertyList {
        try skipSpace()
        guard at < count else {
            // White space alone is an empty strings file, but is not valid in GNUstep.
            if dialect == .gnustep, !acceptsBlank { throw Fault(.emptyInput, at: 0) }
            return .dictionary([:])
        }
        switch base[at] {
        case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "<"): try readValue()
        default: try readFirstText()
        }
        while builder.depth > 0 {
            if builder.isInDictionary { try readEntry() } else { try readElement() }
        }
        try skipSpace()
        guard at == count else { throw complaint(.trailingContent) }
        return builder.finish()
    }

    /// Reads text at the root, which is the value or the first key of a strings file.
    private mutating func readFirstText() throws(Fault) {
        let start = at
        let text = try readText("a value")
        let end = at
        try skipSpace()
        guard at < count, base[at] == UInt8(ascii: "=") || base[at] == UInt8(ascii: ";") else {
            builder.add(.string(text))
            return builder.record(start..<end)
        }
        isStringsFile = true
        try builder.begin(dictionary: true, at: start)
        builder.addKey(text, at: start)
        builder.sources?.recordKey(start..<end)
        try readAfterKey()
    }

    private mutating func readEntry() throws(Fault) {
        try skipSpace()
        let isOpenEnded = isStringsFile && builder.depth == 1
        guard at < count else {
            guard isOpenEnded else { throw Fault(.unexpectedEnd(inside: "a dictionary"), at: count) }
            builder.sources?.recordEnd(at: count)
            return try builder.endDictionary()
        }
        if base[at] == UInt8(ascii: "}"), !isOpenEnded {
            at += 1
            try endDictionary()
            return try readSeparatorAfterValue()
        }
        let start = at
        builder.addKey(try readText("a key"), at: start)
        builder.sources?.recordKey(start..<at)
        try skipSpace()
        try readAfterKey()
    }

    private mutating func readAfterKey() throws(Fault) {
        guard at < count else { throw Fault(.unexpectedEnd(inside: "a dictionary"), at: count) }
        switch base[at] {
        case UInt8(ascii: "="):
            at += 1
            try skipSpace()
            try readValue()
        case UInt8(ascii: ";"):
            let end = at
            at += 1
            builder.add(.string(builder.lastKey))
            builder.record(end..<end)
        default: throw complaint(.expected("= or ; after the key"))
        }
    }

    private mutating func readElement() throws(Fault) {
        try skipSpace()
        guard at < count else { throw Fault(.unexpectedEnd(inside: "an array"), at: count) }
        guard base[at] == UInt8(ascii: ")") else { return try readValue() }
        at += 1
        builder.sources?.recordEnd(at: at)
        builder.endArray()
        try readSeparatorAfterValue()
    }

    /// Reads a value with the separator after it, or the beginning of a container.
    private mutating func readValue() throws(Fault) {
        guard at < count else { throw Fault(.unexpectedEnd(inside: "a dictionary"), at: count) }
        let start = at
        switch base[at] {
        case UInt8(ascii: "{"):
            try builder.begin(dictionary: true, at: at)
            at += 1
            return
        case UInt8(ascii: "("):
            try builder.begin(dictionary: false, at: at)
            at += 1
            return
        case UInt8(ascii: "<"): builder.add(try readAngleBrackets())
        default: builder.add(.string(try readText("a value")))
        }
        builder.record(start..<at)
        try readSeparatorAfterValue()
    }

    private mutating func readSeparatorAfterValue() throws(Fault) {
        let isInDictionary = builder.isInDictionary
        if at < count, base[at] == (isInDictionary ? UInt8(ascii: ";") : UInt8(ascii: ",")), builder.depth > 0 {
            at += 1
        } else {
            try readSeparator()
        }
    }

    /// Reads a separator in the general case: after white space, or omitted after the last element.
    @inline(never)
    private mutating func readSeparator() throws(Fault) {
        guard builder.depth > 0 else { return }
        let end = at
        try skipSpace()
        let isInDictionary = builder.isInDictionary
        guard at < count else {
            isSeparatorMissing = true
            throw Fault(.unexpectedEnd(inside: isInDictionary ? "a dictionary" : "an array"), at: count)
        }
        switch base[at] {
        case UInt8(ascii: ";") where isInDictionary, UInt8(ascii: ",") where !isInDictionary: at += 1
        case UInt8(ascii: ")") where !isInDictionary: break
        default:
            isSeparatorMissing = true
            // The separator belongs directly after the value, which may be on an earlier line.
            throw complaint(.expected(isInDictionary ? "; after the value" : ", or ) after the element"), at: end)
        }
    }

    /// Ends a dictionary. In GNUstep's dialect, exactly `{CF$UID = <*I…>;}` is a uid.
    private mutating func endDictionary() throws(Fault) {
        builder.sources?.recordEnd(at: at)
        guard dialect == .gnustep else { return try builder.endDictionary() }
        try builder.endDictionary { $0.orUID }
    }
}

extension OpenStepReader {
    /// Skips white space and comments.
    mutating func skipSpace() throws(Fault) {
        if at < count, base[at] > UInt8(ascii: "/"), base[at] < 0x80 { return }
        try skipSpaceAndComments()
    }

    /// Skips white space.
    mutating func skipWhiteSpace() throws(Fault) { try skipSpaceAndComments(takesComments: false) }

    private mutating func skipSpaceAndComments(takesComments: Bool = true) throws(Fault) {
        while at < count {
            switch base[at] {
            case 0x20:
                at += 1
                while at + 8 <= count, base.word(at) == 0x2020_2020_2020_2020 { at += 8 }
                while at < count, base[at] == 0x20 { at += 1 }
            case 0x09...0x0D: at += 1
            case UInt8(ascii: "/") where takesComments:
                guard try skipComment() else { return }
            case 0xE2:
                guard base.isLineSeparator(at: at) else { return }
                at += 3
            default: return
            }
        }
    }

    /// Skips a comment. Returns false if no comment begins here.
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
        base[at] == 0x0A || base[at] == 0x0D || base.isLineSeparator(at: at)
    }

    private mutating func stepInComment() throws(Fault) {
        guard base[at] != 0 else { throw Fault(.invalidCharacter(0), at: at) }
        at += 1
    }
}

extension OpenStepReader {
    /// Returns the fault for unexpected text.
    ///
    /// If the text begins with a control character or one beyond ASCII, the fault names it, because it may be
    /// invisible.
    func complaint(_ problem: DecodingFailure.Problem, at place: Int? = nil) -> Fault {
        let lead = base[at]
        guard lead < 0x20 || lead >= 0x7F else { return Fault(problem, at: place ?? at) }
        return Fault(.invalidCharacter(scalar(at: at)), at: at)
    }

    /// The code of the character that begins at `start`.
    private func scalar(at start: Int) -> UInt32 {
        let lead = UInt32(base[start])
        let length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        guard length > 1, start + length <= count else { return lead }
        return (1..<length).reduce(lead & (0x7F >> UInt32(length))) { code, step in
            code << 6 | UInt32(base[start + step] & 0x3F)
        }
    }
}

extension OpenStepReader {
    /// Reads data, or a typed value of GNUstep, from its `<`.
    mutating func readAngleBrackets() throws(Fault) -> PropertyList {
        if at + 1 < count {
            let mark = base[at + 1]
            if mark == UInt8(ascii: "*") || mark == UInt8(ascii: "[") {
                guard dialect == .gnustep else {
                    throw Fault(.expected("data in hexadecimal digits; typed values are GNUstep's notation"), at: at)
                }
                return mark == UInt8(ascii: "*") ? try readTypedValue() : .data(try readBase64())
            }
        }
        return .data(try readHexadecimal())
    }

    /// Reads `<[aGVsbG8=]>`: base64 with white space between any two characters and optional padding.
    private mutating func readBase64() throws(Fault) -> Data {
        let start = at + 2
        let rest = Bytes(base, min(start, count)..<count)
        guard let length = rest.firstIndex(of: UInt8(ascii: "]")) else {
            throw Fault(.unexpectedEnd(inside: "data"), at: count)
        }
        let data = try base64Decoded(Bytes(rebasing: rest[..<length]), at: start, needsPadding: false)
        at = start + length + 1
        try skipSpace()
        guard at < count else { throw Fault(.unexpectedEnd(inside: "data"), at: count) }
        guard base[at] == UInt8(ascii: ">") else { throw complaint(.invalidData("expected >")) }
        at += 1
        return data
    }

    /// Reads `<0fbd77 1c2735ae>`: hexadecimal bytes with white space between any two of them.
    private mutating func readHexadecimal() throws(Fault) -> Data {
        at += 1
        scratch.removeAll(keepingCapacity: true)
        while true {
            guard at < count else { throw Fault(.unexpectedEnd(inside: "data"), at: count) }
            if let high = Hexadecimal.value(ofDigit: base[at]) {
                try readByte(high)
            } else if base[at] == UInt8(ascii: ">") {
                at += 1
                return Data(scratch)
            } else {
                let place = at
                // Core Foundation allows only white space here, and no comments.
                try skipWhiteSpace()
                guard at > place else { throw complaint(.invalidData("expected a hexadecimal digit or >")) }
            }
        }
    }

    private mutating func readByte(_ high: UInt8) throws(Fault) {
        guard at + 1 < count else { throw Fault(.unexpectedEnd(inside: "data"), at: count) }
        guard let low = Hexadecimal.value(ofDigit: base[at + 1]) else {
            at += 1
            throw complaint(.invalidData("an odd number of hexadecimal digits"))
        }
        scratch.append(high << 4 | low)
        at += 2
    }
}
