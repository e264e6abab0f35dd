extension PropertyList {
    /// The two readings of the text format: Core Foundation's, and GNUstep's with typed values.
    enum OpenStepDialect { case openstep, gnustep }

    static func readOpenStep(
        _ bytes: UnsafeBufferPointer<UInt8>, dialect: OpenStepDialect, limits: Limits, options: ReadingOptions
    ) throws(DecodingFailure) -> PropertyList {
        let (encoding, start) = TextEncoding.byteOrderMark(in: bytes) ?? (.utf8, 0)
        guard start < bytes.count else { throw DecodingFailure(.emptyInput, offset: 0, format: dialect.format) }
        return try DecodedText(bytes, as: encoding, from: start).read(bytes, as: dialect.format) { text, isASCII in
            OpenStepReader(text, dialect: dialect, isASCII: isASCII, limits: limits, options: options)
        }
    }
}

extension PropertyList.OpenStepDialect {
    var format: PropertyList.Format { self == .gnustep ? .gnustep : .openstep }
}

/// Reads the text format in one pass over UTF-8 that is known to be valid.
struct OpenStepReader: TextReader, ~Copyable {
    let bytes: UnsafeBufferPointer<UInt8>
    let base: UnsafePointer<UInt8>
    let count: Int
    /// The byte that is to be read next.
    var at = 0
    let dialect: PropertyList.OpenStepDialect
    let isASCII: Bool
    let bareCharacters: BareCharacters
    var builder: TreeBuilder
    /// Where text with escapes, and data, is put together.
    var scratch = OutputBuffer(capacity: 0)
    /// Where the quote of the last string is.
    var opening = 0
    /// Whether the root is a dictionary without braces, as strings files have it.
    private var isStringsFile = false
    /// Whether what failed was looked for behind a value, which is then the entry at fault.
    private var failedBehindValue = false

    init(
        _ text: UnsafeBufferPointer<UInt8>, dialect: PropertyList.OpenStepDialect, isASCII: Bool,
        limits: PropertyList.Limits, options: PropertyList.ReadingOptions
    ) {
        bytes = text
        base = text.baseAddress ?? UnsafePointer(bitPattern: 1)!
        count = text.count
        self.dialect = dialect
        self.isASCII = isASCII
        bareCharacters = dialect == .gnustep ? .gnustep : .openstep
        builder = TreeBuilder(limits: limits, options: options)
    }

    /// The way to the entry that is at fault.
    var path: EntryPath {
        var path = builder.path
        guard failedBehindValue else { return path }
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
            // White space alone is an empty strings file, and no file of GNUstep's.
            if dialect == .gnustep { throw Fault(.emptyInput, at: 0) }
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

    /// Reads a text at the root, which is the value or the first key of a strings file.
    private mutating func readFirstText() throws(Fault) {
        let start = at
        let text = try readText("a value")
        try skipSpace()
        guard at < count, base[at] == UInt8(ascii: "=") || base[at] == UInt8(ascii: ";") else {
            return builder.add(.string(text))
        }
        isStringsFile = true
        try builder.begin(dictionary: true, at: start)
        builder.addKey(text, bytes: nil, at: start)
        try readBehindKey()
    }

    private mutating func readEntry() throws(Fault) {
        try skipSpace()
        let isOpenEnded = isStringsFile && builder.depth == 1
        guard at < count else {
            guard isOpenEnded else { throw Fault(.unexpectedEnd(inside: "a dictionary"), at: count) }
            return try builder.endDictionary()
        }
        if base[at] == UInt8(ascii: "}"), !isOpenEnded {
            at += 1
            try endDictionary()
            return try readBehindValue()
        }
        let start = at
        builder.addKey(try readText("a key"), bytes: nil, at: start)
        try skipSpace()
        try readBehindKey()
    }

    private mutating func readBehindKey() throws(Fault) {
        guard at < count else { throw Fault(.unexpectedEnd(inside: "a dictionary"), at: count) }
        switch base[at] {
        case UInt8(ascii: "="):
            at += 1
            try skipSpace()
            try readValue()
        case UInt8(ascii: ";"):
            at += 1
            builder.add(.string(builder.lastKey))
        default: throw complaint(.expected("= or ; behind the key"))
        }
    }

    private mutating func readElement() throws(Fault) {
        try skipSpace()
        guard at < count else { throw Fault(.unexpectedEnd(inside: "an array"), at: count) }
        guard base[at] == UInt8(ascii: ")") else { return try readValue() }
        at += 1
        builder.endArray()
        try readBehindValue()
    }

    /// Reads a value with what separates it from the next, or the beginning of a container.
    private mutating func readValue() throws(Fault) {
        guard at < count else { throw Fault(.unexpectedEnd(inside: "a dictionary"), at: count) }
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
        try readBehindValue()
    }

    @inline(__always)
    private mutating func readBehindValue() throws(Fault) {
        let isInDictionary = builder.isInDictionary
        if at < count, base[at] == (isInDictionary ? UInt8(ascii: ";") : UInt8(ascii: ",")), builder.depth > 0 {
            at += 1
        } else {
            try readSeparator()
        }
    }

    /// The general case: white space before the separator, and its being left out.
    @inline(never)
    private mutating func readSeparator() throws(Fault) {
        guard builder.depth > 0 else { return }
        let end = at
        try skipSpace()
        let isInDictionary = builder.isInDictionary
        guard at < count else {
            failedBehindValue = true
            throw Fault(.unexpectedEnd(inside: isInDictionary ? "a dictionary" : "an array"), at: count)
        }
        switch base[at] {
        case UInt8(ascii: ";") where isInDictionary, UInt8(ascii: ",") where !isInDictionary: at += 1
        case UInt8(ascii: ")") where !isInDictionary: break
        default:
            failedBehindValue = true
            // The separator was to stand behind the value, which may be on a line above.
            throw complaint(.expected(isInDictionary ? "; behind the value" : ", or ) behind the element"), at: end)
        }
    }

    /// Ends a dictionary; in GNUstep's reading one that is exactly `{CF$UID = <*I…>;}` stands for a uid.
    private mutating func endDictionary() throws(Fault) {
        guard dialect == .gnustep else { return try builder.endDictionary() }
        try builder.endDictionary { dictionary throws(Fault) in
            dictionary.asUID.map { .uid($0) } ?? .dictionary(dictionary)
        }
    }
}
