#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PropertyList {
    /// The formats of property lists.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        case xml, binary
        /// The text of NeXTSTEP: strings, data, arrays and dictionaries. Also what `.strings` files are in.
        case openstep
        /// OpenStep with GNUstep's notation for the types that it lacks.
        case gnustep
        case json
    }

    /// What a reader accepts beyond the definition of a format, or refuses.
    public struct ReadingOptions: Hashable, Sendable {
        /// What becomes of a null in JSON or a binary file.
        public var nulls = Nulls.kept
        /// Reads `{"$date": …}` and its like in JSON as the values that `WritingOptions.wrapsInJSON` wrote so.
        public var unwrapsJSON = false
        /// Refuses a duplicate key in a dictionary; otherwise the last value is used.
        public var refusesDuplicateKeys = false
        /// Accepts in JSON what JSON5 adds, such as comments, trailing commas and keys without quotes.
        public var allowsJSON5 = false
        /// What an integer beyond 64 bits in JSON is read as.
        package var inexactIntegers = InexactIntegers.rounded
        /// Reads a number, `true`, `false` or a string in quotes as JSON where no format is named.
        ///
        /// Apple's tools read all of these as OpenStep strings.
        public var readsScalarsAsJSON = true

        /// What becomes of a null: a value, an error, or nothing. One at the root is never left out.
        public enum Nulls: Sendable {
            case kept, refused, omitted
        }

        /// What an integer beyond 64 bits in JSON is read as: a real, nothing, or a string with its digits.
        package enum InexactIntegers: Sendable {
            case rounded, refused, text
        }

        /// The options with the defaults for everything that is not given.
        public init(
            nulls: Nulls = .kept, unwrapsJSON: Bool = false, refusesDuplicateKeys: Bool = false,
            allowsJSON5: Bool = false, readsScalarsAsJSON: Bool = true
        ) {
            self.nulls = nulls
            self.unwrapsJSON = unwrapsJSON
            self.refusesDuplicateKeys = refusesDuplicateKeys
            self.allowsJSON5 = allowsJSON5
            self.readsScalarsAsJSON = readsScalarsAsJSON
        }
    }

    /// The layout that a writer uses, and what it does with a value that the format lacks.
    public struct WritingOptions: Hashable, Sendable {
        /// Keeps the order of the keys. Otherwise they are sorted, so that equal values give equal bytes.
        public var keepsKeyOrder = false
        /// Sets JSON out over lines with two spaces a level.
        public var isPretty = false
        /// Writes a value of a type that the format lacks as the text or number nearest to it.
        public var coerces = false
        /// Drops what the format cannot hold: in XML, the fraction of a second.
        public var isLossy = false
        /// Wraps what JSON lacks: `{"$date": …}`, `{"$data": …}`, `{"$uid": …}`, `{"$real": …}`.
        public var wrapsInJSON = false
        /// Writes a real in JSON that is not finite as JSON5 does: `Infinity`, `-Infinity` or `NaN`.
        package var writesJSON5 = false
        /// Writes OpenStep text in ASCII, other characters as `\U` and four digits.
        public var escapesNonASCII = false
        /// Notes in a binary file that the root's keys are sorted and unique, for readers that search by halving.
        /// Nothing is noted where the order of keys is kept.
        public var marksSortedRoot = false
        /// What a writer refuses to go beyond: the limits of a reader, so that what is written can be read.
        public var limits = Limits.default

        /// Writes as the defaults of the options say.
        public init() {}

        /// What is used where nothing else is asked for.
        public static let `default` = WritingOptions()
    }
}

extension PropertyList {
    /// Reads a value from `bytes`; without a `format`, in the one that the bytes look like.
    public init(
        parsing bytes: some Sequence<UInt8>, as format: Format? = nil, limits: Limits = .default,
        options: ReadingOptions = ReadingOptions()
    ) throws(DecodingFailure) {
        var sources: SourceMap?
        let bytes = bytes as? [UInt8] ?? Array(bytes)
        self = try Self.read(bytes, as: format, limits: limits, options: options, sources: &sources)
    }

    /// Reads a value from a text.
    public init(
        parsing text: String, as format: Format? = nil, limits: Limits = .default,
        options: ReadingOptions = ReadingOptions()
    ) throws(DecodingFailure) {
        try self.init(parsing: text.utf8, as: format, limits: limits, options: options)
    }

    /// Reads a value, and returns the format that the bytes or the name of their file have shown.
    ///
    /// - Parameter name: The name of the file, for its extension; nil for a domain or a stream.
    public static func sniffed(
        _ bytes: [UInt8], named name: String? = nil, limits: Limits = .default,
        options: ReadingOptions = ReadingOptions()
    ) throws(DecodingFailure) -> (value: PropertyList, format: Format) {
        let named = name.flatMap { NamedFormat(fileName: $0) }
        var options = options
        if named == .json5 || named == .jsonc { options.allowsJSON5 = true }
        guard bytes.count <= limits.inputBytes else {
            throw DecodingFailure(.tooLarge(limit: limits.inputBytes), offset: limits.inputBytes, format: .xml)
        }
        var sources: SourceMap?
        return try readSniffed(bytes, as: named?.format, limits: limits, options: options, sources: &sources)
    }

    /// Reads a value and, unless `sources` is nil, the source ranges of its entries; those of a binary file are nil.
    static func read(
        _ bytes: [UInt8], as format: Format?, limits: Limits, options: ReadingOptions,
        sources: inout SourceMap?
    ) throws(DecodingFailure) -> PropertyList {
        guard bytes.count <= limits.inputBytes else {
            throw DecodingFailure(
                .tooLarge(limit: limits.inputBytes), offset: limits.inputBytes, format: format ?? .xml)
        }
        switch format {
        case .xml: return try readXML(bytes, limits: limits, options: options, sources: &sources)
        case .binary:
            sources = nil
            return try readBinary(bytes, limits: limits, options: options)
        case .json: return try readJSON(bytes, limits: limits, options: options, sources: &sources)
        case .openstep, .gnustep:
            let dialect: OpenStepDialect = format == .gnustep ? .gnustep : .openstep
            return try readOpenStep(bytes, dialect: dialect, limits: limits, options: options, sources: &sources)
        case nil: return try readSniffed(bytes, limits: limits, options: options, sources: &sources).value
        }
    }

    /// The value in `format`. Equal values give equal bytes, unless the options keep the order of keys, or one has −0
    /// where the other has 0.
    public func serialized(as format: Format, options: WritingOptions = .default) throws(EncodingFailure) -> Data {
        let data =
            switch format {
            case .xml: try writtenAsXML(options)
            case .binary: try writtenAsBinary(options)
            case .json: try writtenAsJSON(options)
            case .openstep: try writtenAsOpenStep(options, dialect: .openstep)
            case .gnustep: try writtenAsOpenStep(options, dialect: .gnustep)
            }
        let limit = options.limits.inputBytes
        guard data.count <= limit else { throw EncodingFailure(.tooLarge(limit: limit), format: format) }
        return data
    }
}

extension PropertyList {
    /// Whether a date in the value has a fraction of a second.
    package var hasFractionalDates: Bool {
        switch self {
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            return seconds.isFinite && seconds != seconds.rounded(.down)
        case .array(let elements): return elements.contains(where: \.hasFractionalDates)
        case .dictionary(let entries): return entries.contains(where: \.value.hasFractionalDates)
        default: return false
        }
    }
}

extension PropertyList.Format {
    /// Whether an edit changes only the bytes of what is edited. A file in any other format is written anew.
    package var isEditedInPlace: Bool {
        switch self {
        case .xml, .json, .openstep, .gnustep: true
        case .binary: false
        }
    }

    /// Whether a date keeps its fraction of a second.
    ///
    /// GNUstep ignores the fraction that this package writes in a domain, so other files have none.
    package var keepsFractions: Bool { self == .binary || self == .json }

    /// The format that the extension of a file's name states.
    package init?(fileName: String) {
        guard let named = NamedFormat(fileName: fileName) else { return nil }
        self = named.format
    }
}

extension PropertyList {
    /// Reads bytes whose format was not given.
    ///
    /// Binary and XML are known by their first bytes, whatever the name of the file. Then the extension decides. Other
    /// text is JSON if it is valid JSON, else OpenStep, and GNUstep only if it has GNUstep's syntax. If no reader
    /// accepts it, the failure of the one that came furthest is thrown.
    ///
    /// - Parameter named: The format that the extension of the file states.
    static func readSniffed(
        _ bytes: [UInt8], as named: Format? = nil, limits: Limits, options: ReadingOptions,
        sources: inout SourceMap?
    ) throws(DecodingFailure) -> (value: PropertyList, format: Format) {
        let candidates: [Format]
        switch (Sniffing(bytes), named) {
        case (.binary, _):
            sources = nil
            return (try readBinary(bytes, limits: limits, options: options), .binary)
        case (.xml, _): return (try readXML(bytes, limits: limits, options: options, sources: &sources), .xml)
        case (.nothing, _): throw DecodingFailure(.emptyInput, offset: 0, format: named ?? .openstep)
        case (_, .json): candidates = [.json]
        case (.bracket, nil): candidates = [.json, .openstep, .gnustep]
        case (.scalar, nil) where options.readsScalarsAsJSON: candidates = [.json, .openstep, .gnustep]
        default: candidates = [.openstep, .gnustep]
        }
        var furthest: DecodingFailure?
        for format in candidates {
            do throws(DecodingFailure) {
                return (
                    try PropertyList.read(bytes, as: format, limits: limits, options: options, sources: &sources),
                    format
                )
            } catch {
                // GNUstep's kind has more, so at the same place it has more to say.
                let isFurther = furthest.map {
                    error.offset > $0.offset || format == .gnustep && error.offset == $0.offset
                }
                if isFurther ?? true { furthest = error }
            }
        }
        throw furthest ?? DecodingFailure(.emptyInput, offset: 0, format: .openstep)
    }
}

extension PropertyList {
    /// Whether the first bytes are those of a binary file, or all bytes are the beginning of such a file.
    package static func isBinary(_ bytes: some Collection<UInt8>) -> Bool {
        // A strings file may have a key that begins with `bplist`; a version begins with a digit.
        let head = Array(bytes.prefix(7))
        if head.count < 7 { return head.count >= 3 && "bplist".utf8.starts(with: head) }
        return head.starts(with: "bplist".utf8) && head[6] &- 0x30 <= 9
    }
}

/// A format that the extension of a file's name states.
package enum NamedFormat {
    case json, json5, jsonc, openstep

    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        switch fileName[fileName.index(after: dot)...].lowercased() {
        case "json": self = fileName.isOfJSONWithComments ? .jsonc : .json
        case "json5": self = .json5
        case "jsonc": self = .jsonc
        case "strings": self = .openstep
        default: return nil
        }
    }

    var format: PropertyList.Format { self == .openstep ? .openstep : .json }
}

extension String {
    /// Whether a file of this name has comments by convention, although its extension is `json`.
    fileprivate var isOfJSONWithComments: Bool {
        let name = utf8.split(separator: UInt8(ascii: "/")).last.map { String($0) ?? "" }?.lowercased() ?? ""
        let first = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).first
        return ["tsconfig", "jsconfig"].contains(first.flatMap { String($0) })
            || ["devcontainer.json", ".devcontainer.json", ".eslintrc.json"].contains(name)
    }
}

/// What the first bytes of an input look like.
enum Sniffing {
    case binary, xml, bracket, text, nothing
    /// Text that begins as a scalar of JSON does.
    case scalar

    init(_ bytes: [UInt8]) {
        if PropertyList.isBinary(bytes) {
            self = .binary
            return
        }
        let mark = TextEncoding.byteOrderMark(in: bytes)
        if mark == nil, TextEncoding.ofLeadingTag(in: bytes) != nil {
            self = .xml
            return
        }
        func kind(of bytes: [UInt8], isWhole: Bool) -> Sniffing {
            let text = DecodedText(bytes, as: mark?.encoding ?? .utf8, from: mark?.length ?? 0)
            return Self.kind(ofText: text.text(of: bytes), isWhole: isWhole)
        }
        // Mostly enough for a look at the first characters behind white space, whatever the encoding.
        let head = kind(of: Array(bytes.prefix(4096)), isWhole: bytes.count <= 4096)
        self = head == .nothing && bytes.count > 4096 ? kind(of: bytes, isWhole: true) : head
    }

    private static func kind(ofText text: [UInt8], isWhole: Bool) -> Sniffing {
        let body = text.drop { isXMLSpace($0) || $0 == 0x0B || $0 == 0x0C }
        // A tag may go on behind the head.
        guard isWhole || body.count > 16 else { return .nothing }
        guard let first = body.first else { return .nothing }
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .bracket
        case UInt8(ascii: "<"): return looksLikeXML(body.dropFirst()) ? .xml : .text
        case UInt8(ascii: "\""), UInt8(ascii: "-"), 0x30...0x39, UInt8(ascii: "t"), UInt8(ascii: "f"): return .scalar
        default: return .text
        }
    }

    /// Whether what follows `<` makes it a tag, not data in hexadecimal digits.
    private static func looksLikeXML(_ rest: ArraySlice<UInt8>) -> Bool {
        if rest.first == UInt8(ascii: "?") || rest.first == UInt8(ascii: "!") { return true }
        let name = rest.prefix { (0x61...0x7A).contains($0) }
        return XMLElement(rawValue: String(decoding: name.prefix(16), as: UTF8.self)) != nil
    }
}
