#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension PropertyList {
    /// The formats of property lists.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// Apple's XML format.
        case xml
        /// Apple's binary format, `bplist00`.
        case binary
        /// JSON, and JSON5 if the options allow it. It has no dates and no data.
        case json
        /// The text format of NeXTSTEP and of `.strings` files: strings, data, arrays and dictionaries.
        case openstep
        /// OpenStep with GNUstep's notation for other types.
        case gnustep
    }

    /// The options of a reader: what it accepts or rejects.
    public struct ReadingOptions: Hashable, Sendable {
        /// The treatment of nulls in JSON and binary files.
        public var nulls = Nulls.kept
        /// Reads dictionaries such as `{"$date": …}` in JSON as the values that `WritingOptions.wrapsInJSON` writes in
        /// this form.
        public var unwrapsJSON = false
        /// Refuses duplicate keys in a dictionary. Otherwise the last value is used.
        public var refusesDuplicateKeys = false
        /// Accepts JSON5, which adds comments, trailing commas, keys without quotes and more to JSON.
        public var allowsJSON5 = false
        /// The treatment of integers beyond 64 bits in JSON.
        package var inexactIntegers = InexactIntegers.rounded
        /// Reads white space alone in OpenStep and GNUstep as an empty dictionary: a strings file without entries.
        package var acceptsBlank = false
        /// Reads a number, `true`, `false` or a quoted string as JSON if no format is given.
        ///
        /// Apple's tools read these as OpenStep strings.
        public var readsScalarsAsJSON = true

        /// The treatments of null.
        public enum Nulls: Sendable {
            /// A null is read as `PropertyList.null`.
            case kept
            /// A null is an error.
            case refused
        }

        /// Whether an integer beyond 64 bits is read as a real, is refused, or is read as a string with its digits or
        /// as a null.
        package enum InexactIntegers: Sendable {
            case rounded, refused, text, null
        }

        /// The options for a file of this name, whose extension states what it may contain.
        package func reading(fileNamed name: String?) -> ReadingOptions {
            var options = self
            switch name.flatMap({ FileExtension(fileName: $0) }) {
            case .json5, .jsonc: options.allowsJSON5 = true
            case .strings: options.acceptsBlank = true
            case .plist, .xml, .json, nil: break
            }
            return options
        }

        /// The default options.
        public static let `default` = ReadingOptions()

        /// Creates options.
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

    /// Options for the layout of the output, and for values that the format does not support.
    public struct WritingOptions: Hashable, Sendable {
        /// Keeps the order of the keys. Otherwise they are sorted, so that equal values have equal bytes.
        public var keepsKeyOrder = false
        /// Writes JSON on several lines, indented by two spaces for each level.
        public var isPretty = false
        /// Writes a value of a type that the format does not support as the closest text or number.
        public var coerces = false
        /// Drops details that the format does not support. In XML, this is the fraction of a second.
        public var isLossy = false
        /// Wraps values of types that JSON does not support: `{"$date": …}`, `{"$data": …}`, `{"$uid": …}`, `{"$real":
        /// …}`.
        public var wrapsInJSON = false
        /// Writes a real that is not finite as in JSON5: `Infinity`, `-Infinity` or `NaN`.
        package var writesJSON5 = false
        /// Writes OpenStep text in ASCII, with other characters as `\U` and four digits.
        public var escapesNonASCII = false
        /// Writes reals in XML with 17 significant digits, as Apple's tools do, and not with the fewest digits.
        package var padsReals = false
        /// States in a binary file that the root's keys are sorted and unique, so that a reader can use a binary
        /// search. This has no effect if the order of keys is kept.
        package var marksSortedRoot = false
        /// The limits of the output, by default those of a reader, so that the output can be read.
        public var limits = Limits.default

        /// Creates the default options.
        public init() {}

        /// The default options.
        public static let `default` = WritingOptions()
    }
}

extension PropertyList {
    /// Reads a value from `bytes`.
    ///
    /// - Parameters:
    ///   - format: The format, or nil to detect it.
    ///   - limits: The limits of the input. Input that exceeds one is an error.
    ///   - options: The options of the reader.
    public init(
        parsing bytes: some Sequence<UInt8>, as format: Format? = nil, limits: Limits = .default,
        options: ReadingOptions = .default
    ) throws(DecodingFailure) {
        var sources: SourceMap?
        let bytes = bytes as? [UInt8] ?? Array(bytes)
        self = try Self.read(bytes, as: format, limits: limits, options: options, sources: &sources)
    }

    /// Reads a value from a text. See `init(parsing:as:limits:options:)` for bytes.
    public init(
        parsing text: String, as format: Format? = nil, limits: Limits = .default,
        options: ReadingOptions = .default
    ) throws(DecodingFailure) {
        try self.init(parsing: text.utf8, as: format, limits: limits, options: options)
    }

    /// Reads a value and returns it with its format, which is detected from the bytes and the name of the file.
    ///
    /// - Parameter name: The name of the file, whose extension is used, or nil for a domain or a stream.
    public static func sniffed(
        _ bytes: [UInt8], named name: String? = nil, limits: Limits = .default,
        options: ReadingOptions = .default
    ) throws(DecodingFailure) -> (value: PropertyList, format: Format) {
        let named = name.flatMap { FileExtension(fileName: $0) }
        let options = options.reading(fileNamed: name)
        guard bytes.count <= limits.inputBytes else {
            throw DecodingFailure(.tooLarge(limit: limits.inputBytes), offset: limits.inputBytes, format: .xml)
        }
        var sources: SourceMap?
        return try readSniffed(bytes, as: named?.formatOfText, limits: limits, options: options, sources: &sources)
    }

    /// Reads a value and, unless `sources` is nil, the source ranges of its entries, which are nil for a binary file.
    static func read(
        _ bytes: [UInt8], as format: Format?, limits: Limits, options: ReadingOptions,
        sources: inout SourceMap?
    ) throws(DecodingFailure) -> PropertyList {
        guard bytes.count <= limits.inputBytes else {
            throw DecodingFailure(
                .tooLarge(limit: limits.inputBytes), offset: limits.inputBytes, format: format ?? .xml)
        }
        guard let format else {
            return try readSniffed(bytes, limits: limits, options: options, sources: &sources).value
        }
        return try format.facts.read(bytes, limits, options, &sources)
    }

    /// Returns the bytes of the value in `format`. Throws if the format cannot hold it.
    ///
    /// Equal values have equal bytes, unless the options keep the order of keys or the values differ in the sign of a
    /// zero.
    public func serialized(as format: Format, options: WritingOptions = .default) throws(EncodingFailure) -> Data {
        let data = try format.facts.write(self, options)
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

extension PropertyList {
    /// Reads bytes whose format was not given.
    ///
    /// Binary files and XML are detected by their first bytes, regardless of the name of the file. Otherwise the
    /// extension determines the format. Other text is JSON if it is valid JSON, GNUstep if it has GNUstep's syntax, or
    /// else OpenStep. If no reader accepts the bytes, the failure of the reader that got furthest is thrown.
    ///
    /// - Parameter named: The format that the extension of the file states.
    static func readSniffed(
        _ bytes: [UInt8], as named: Format? = nil, limits: Limits, options: ReadingOptions,
        sources: inout SourceMap?
    ) throws(DecodingFailure) -> (value: PropertyList, format: Format) {
        let candidates: [Format]
        switch (Sniffing(bytes), named) {
        case (.binary, _): candidates = [.binary]
        case (.xml, _): candidates = [.xml]
        case (.nothing, _) where options.acceptsBlank: candidates = [.openstep]
        case (.nothing, _): throw DecodingFailure(.emptyInput, offset: 0, format: named ?? .openstep)
        case (_, .json): candidates = [.json]
        case (.bracket, nil): candidates = [.json, .openstep, .gnustep]
        case (.scalar, nil) where options.readsScalarsAsJSON: candidates = [.json, .openstep, .gnustep]
        case (_, .openstep), (_, .gnustep), (_, .xml), (_, .binary), (.scalar, nil), (.text, nil):
            candidates = [.openstep, .gnustep]
        }
        var furthest: DecodingFailure?
        for format in candidates {
            do throws(DecodingFailure) {
                return (
                    try PropertyList.read(bytes, as: format, limits: limits, options: options, sources: &sources),
                    format
                )
            } catch {
                // GNUstep is a superset of OpenStep, so at the same offset its failure is more specific.
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
    /// Whether the bytes begin like a binary file, or are a truncated header of one.
    package static func isBinary(_ bytes: [UInt8]) -> Bool {
        // A strings file may have a key that begins with `bplist`; a version begins with a digit.
        if bytes.count < 7 { return bytes.count >= 3 && "bplist".utf8.starts(with: bytes) }
        return bytes.starts(with: "bplist".utf8) && bytes[6] &- 0x30 <= 9
    }
}

/// The extensions of file names that state a format.
package enum FileExtension: String, CaseIterable {
    case plist, xml, json, json5, jsonc, strings

    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        self.init(rawValue: fileName[fileName.index(after: dot)...].lowercased())
        if self == .json, fileName.isOfJSONWithComments { self = .jsonc }
    }

    /// Returns the name of a file without its folder and without the extension of a format.
    package static func stem(ofFile path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard FileExtension(fileName: name) != nil, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else {
            return name
        }
        return String(name[..<dot])
    }

    /// The format of a new file.
    package var format: PropertyList.Format {
        switch self {
        case .plist, .xml: .xml
        case .json, .json5, .jsonc: .json
        case .strings: .openstep
        }
    }

    /// The format of a text that is read; nil if the text itself decides, since XML is recognized by its first bytes.
    var formatOfText: PropertyList.Format? { self == .plist || self == .xml ? nil : format }

    /// Returns the language that the extension of a file's name states, if prefs neither reads nor writes it.
    package static func unsupportedLanguage(ofFile name: String) -> String? {
        let languages = [(".yaml", "YAML"), (".yml", "YAML"), (".toml", "TOML"), (".ini", "INI files")]
        return languages.first { name.lowercased().hasSuffix($0.0) }?.1
    }
}

extension String {
    /// Whether files of this name conventionally have comments although their extension is `json`.
    fileprivate var isOfJSONWithComments: Bool {
        let name = utf8.split(separator: UInt8(ascii: "/")).last.map { String($0) ?? "" }?.lowercased() ?? ""
        let first = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).first
        return ["tsconfig", "jsconfig"].contains(first.flatMap { String($0) })
            || ["devcontainer.json", ".devcontainer.json", ".eslintrc.json"].contains(name)
    }
}

/// The format that the first bytes of an input suggest.
enum Sniffing {
    case binary, xml, bracket, text, nothing
    /// Text that begins like a JSON scalar.
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
        // The first 4,096 bytes usually contain the first characters after white space, in any encoding.
        let head = kind(of: Array(bytes.prefix(4096)), isWhole: bytes.count <= 4096)
        self = head == .nothing && bytes.count > 4096 ? kind(of: bytes, isWhole: true) : head
    }

    private static func kind(ofText text: [UInt8], isWhole: Bool) -> Sniffing {
        let body = text.drop { isXMLSpace($0) || $0 == 0x0B || $0 == 0x0C }
        // Too little text to decide: a tag may continue after the head.
        guard isWhole || body.count > 16 else { return .nothing }
        guard let first = body.first else { return .nothing }
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return .bracket
        case UInt8(ascii: "<"): return looksLikeXML(body.dropFirst()) ? .xml : .text
        case UInt8(ascii: "\""), UInt8(ascii: "-"), 0x30...0x39, UInt8(ascii: "t"), UInt8(ascii: "f"): return .scalar
        default: return .text
        }
    }

    /// Whether the text after `<` is a tag and not data in hexadecimal digits.
    private static func looksLikeXML(_ rest: ArraySlice<UInt8>) -> Bool {
        if rest.first == UInt8(ascii: "?") || rest.first == UInt8(ascii: "!") { return true }
        let name = rest.prefix { (0x61...0x7A).contains($0) }
        return XMLElement(rawValue: String(decoding: name.prefix(16), as: UTF8.self)) != nil
    }
}
