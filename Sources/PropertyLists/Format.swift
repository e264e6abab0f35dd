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
        /// TOML 1.1, written as 1.0. It has no data and no null.
        case toml
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
        /// The syntax of JSON that is accepted.
        package var json = JSONSyntax.strict
        /// Accepts JSON5, which adds comments, trailing commas, keys without quotes and more to JSON.
        public var allowsJSON5: Bool {
            get { json == .json5 }
            set { json = newValue ? .json5 : .strict }
        }
        /// The treatment of integers beyond 64 bits in JSON.
        package var inexactIntegers = InexactIntegers.rounded
        /// Reads white space alone in OpenStep and GNUstep as an empty dictionary: a strings file without entries.
        package var acceptsBlank = false
        /// Reads a text as TOML if no format is given and no other format accepts it.
        package var detectsTOML = false
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

        /// The options for a file of this name, which states what the file may contain.
        package func reading(fileNamed name: String?) -> ReadingOptions {
            var options = self
            switch name.flatMap({ FileExtension(fileName: $0) }) {
            case .json5, .jsonc: options.json = .json5
            case .strings: options.acceptsBlank = true
            case .plist, .xml: options.detectsTOML = false
            case .json, .toml, nil:
                if name?.namesJSONWithComments ?? false { options.json = max(options.json, .withComments) }
            }
            return options
        }

        /// The default options.
        public static let `default` = ReadingOptions()
        /// The options for files as people write them: JSON may have comments and trailing commas.
        package static let ofFiles = {
            var options = ReadingOptions()
            options.json = .withComments
            options.detectsTOML = true
            return options
        }()

        /// Creates options.
        public init(
            nulls: Nulls = .kept, unwrapsJSON: Bool = false, refusesDuplicateKeys: Bool = false,
            allowsJSON5: Bool = false, readsScalarsAsJSON: Bool = true
        ) {
            self.nulls = nulls
            self.unwrapsJSON = unwrapsJSON
            self.refusesDuplicateKeys = refusesDuplicateKeys
            json = allowsJSON5 ? .json5 : .strict
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
        /// The texts of numbers that no property list holds. In JSON, a uid is written as the text at this position.
        package var numberTexts: [String]?
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
    /// The syntaxes of JSON, from the strictest.
    package enum JSONSyntax: Int, Comparable, Sendable, CaseIterable {
        case strict
        /// With comments and trailing commas.
        case withComments
        case json5

        package static func < (left: JSONSyntax, right: JSONSyntax) -> Bool { left.rawValue < right.rawValue }
    }

    /// Reads a value from `bytes`.
    ///
    /// - Parameters:
    ///   - bytes: The property list.
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
    /// - Parameters:
    ///   - bytes: The property list.
    ///   - name: The name of the file, whose extension is used, or nil for a domain or a stream.
    ///   - limits: The limits of the input. Input that exceeds one is an error.
    ///   - options: The options of the reader.
    public static func sniffed(
        _ bytes: some Sequence<UInt8>, named name: String? = nil, limits: Limits = .default,
        options: ReadingOptions = .default
    ) throws(DecodingFailure) -> (value: PropertyList, format: Format) {
        let bytes = bytes as? [UInt8] ?? Array(bytes)
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
        let data = try format.facts.write(self)(options)
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
