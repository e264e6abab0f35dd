internal import PropertyLists
internal import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A decoder of JSON with the members of Foundation's `JSONDecoder`.
///
/// Text that is not JSON is the error `DecodingError.dataCorrupted`, whose underlying error has the line and the path.
// `Sendable` is unchecked because a subclass may have state. All state of this class is in a lock.
open class JSONDecoder: @unchecked Sendable {
    /// The forms of dates.
    public enum DateDecodingStrategy: Sendable {
        /// The seconds since the first moment of 2001 in UTC.
        case deferredToDate
        /// The seconds since 1970 in UTC.
        case secondsSince1970
        /// The milliseconds since 1970 in UTC.
        case millisecondsSince1970
        /// Text such as `2026-01-31T12:00:00Z`, in any time zone, also with a fraction of a second.
        case iso8601
        /// What a function decodes.
        case custom(@Sendable (any Decoder) throws -> Date)
    }

    /// The forms of data.
    public enum DataDecodingStrategy: Sendable {
        /// An array of bytes.
        case deferredToData
        /// Text in base64.
        case base64
        /// What a function decodes.
        case custom(@Sendable (any Decoder) throws -> Data)
    }

    /// The forms of reals that are not finite.
    public enum NonConformingFloatDecodingStrategy: Sendable {
        /// None: they are an error.
        case `throw`
        /// These texts.
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The forms of the keys of types. The keys of dictionaries with strings as keys are never converted.
    public enum KeyDecodingStrategy: Sendable {
        /// The names of the type's coding keys.
        case useDefaultKeys
        /// `image_url` is decoded as `imageUrl` and as `imageURL`.
        case convertFromSnakeCase
        /// What a function makes of the path of a key, whose last element is the key itself.
        case custom(@Sendable ([any CodingKey]) -> any CodingKey)
    }

    private struct Settings {
        var dates = DateDecodingStrategy.deferredToDate
        var data = DataDecodingStrategy.base64
        var floats = NonConformingFloatDecodingStrategy.throw
        var keys = KeyDecodingStrategy.useDefaultKeys
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
        var allowsJSON5 = false
        var assumesTopLevelDictionary = false
    }

    private let settings = Mutex(Settings())

    /// Creates a decoder.
    public init() {}

    /// The form of dates: by default, seconds since 2001.
    open var dateDecodingStrategy: DateDecodingStrategy {
        get { settings.withLock { $0.dates } }
        set { settings.withLock { $0.dates = newValue } }
    }

    /// The form of data: by default base64.
    open var dataDecodingStrategy: DataDecodingStrategy {
        get { settings.withLock { $0.data } }
        set { settings.withLock { $0.data = newValue } }
    }

    /// The form of reals that are not finite: by default none.
    open var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy {
        get { settings.withLock { $0.floats } }
        set { settings.withLock { $0.floats = newValue } }
    }

    /// The form of keys: by default unchanged.
    open var keyDecodingStrategy: KeyDecodingStrategy {
        get { settings.withLock { $0.keys } }
        set { settings.withLock { $0.keys = newValue } }
    }

    /// Values that the decoder makes available to the decoded types.
    open var userInfo: [CodingUserInfoKey: any Sendable] {
        get { settings.withLock { $0.userInfo } }
        set { settings.withLock { $0.userInfo = newValue } }
    }

    /// Whether JSON5 is accepted.
    open var allowsJSON5: Bool {
        get { settings.withLock { $0.allowsJSON5 } }
        set { settings.withLock { $0.allowsJSON5 = newValue } }
    }

    /// Whether the braces around the whole text may be missing.
    open var assumesTopLevelDictionary: Bool {
        get { settings.withLock { $0.assumesTopLevelDictionary } }
        set { settings.withLock { $0.assumesTopLevelDictionary = newValue } }
    }

    /// Decodes a value from a JSON text.
    open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        try decoder(of: data).decode(type)
    }

    /// Decodes a value that needs a configuration for its decoding.
    open func decode<T: DecodableWithConfiguration>(
        _ type: T.Type, from data: Data, configuration: T.DecodingConfiguration
    ) throws -> T {
        try T(from: decoder(of: data), configuration: configuration)
    }

    /// Decodes a value with the configuration that another type has for its decoding.
    open func decode<T: DecodableWithConfiguration, C: DecodingConfigurationProviding>(
        _ type: T.Type, from data: Data, configuration: C.Type
    ) throws -> T where T.DecodingConfiguration == C.DecodingConfiguration {
        try decode(type, from: data, configuration: C.decodingConfiguration)
    }

    private func decoder(of data: Data) throws -> any Decoder & SingleValueDecodingContainer {
        var options = PropertyList.ReadingOptions()
        options.allowsJSON5 = allowsJSON5
        var bytes = [UInt8](data)
        if let encoding = Self.encoding(of: data) {
            guard let text = String(bytes: data, encoding: encoding) else {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The text is invalid."))
            }
            bytes = Array((text.first == "\u{FEFF}" ? text.dropFirst() : text[...]).utf8)
        }
        if assumesTopLevelDictionary {
            // The line end is for a comment in the last line.
            let braced = Array("{".utf8) + bytes + Array("\n}".utf8)
            if (try? PropertyList(parsing: braced, as: .json, options: options)) != nil { bytes = braced }
        }
        let value = try decodingErrors { try PropertyList(parsing: bytes, as: .json, options: options) }
        if assumesTopLevelDictionary, value.dictionaryValue == nil {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The text is no dictionary."))
        }
        let forms = Forms(
            dates: dateDecodingStrategy, data: dataDecodingStrategy, floats: nonConformingFloatDecodingStrategy,
            keys: keyDecodingStrategy)
        return PropertyList.decoder(
            of: (value, .json), bytes, options, DecodingOptions(forms: forms, userInfo: userInfo))
    }

    /// The encoding of a text, or nil for UTF-8 without a byte order mark. Without a mark, JSON begins with an ASCII
    /// character, whose other bytes are zeros in UTF-16 and UTF-32.
    private static func encoding(of data: Data) -> String.Encoding? {
        let marks: [([UInt8], String.Encoding)] = [
            ([0, 0, 0xFE, 0xFF], .utf32BigEndian), ([0xFF, 0xFE, 0, 0], .utf32LittleEndian),
            ([0xFE, 0xFF], .utf16BigEndian), ([0xFF, 0xFE], .utf16LittleEndian), ([0xEF, 0xBB, 0xBF], .utf8),
        ]
        if let (_, encoding) = marks.first(where: { data.starts(with: $0.0) }) { return encoding }
        let zeros = data.prefix(4).map { $0 == 0 }
        return switch (zeros.first, zeros.dropFirst().first, zeros.dropFirst(2).first) {
        case (true, true, true): .utf32BigEndian
        case (true, false, _): .utf16BigEndian
        case (false, true, true): .utf32LittleEndian
        case (false, true, _): .utf16LittleEndian
        default: nil
        }
    }

    // MARK: The forms of one decoding

    private struct Forms: DecodingForms {
        let dates: DateDecodingStrategy
        let data: DataDecodingStrategy
        let floats: NonConformingFloatDecodingStrategy
        let keys: KeyDecodingStrategy

        var convertsValues: Bool { true }
        var convertsKeys: Bool { if case .useDefaultKeys = keys { false } else { true } }

        func soughtName(of key: any CodingKey) -> String? {
            if case .convertFromSnakeCase = keys { key.stringValue.snakeCase } else { nil }
        }

        func decodedName(of name: String, in path: () -> [any CodingKey]) -> String {
            switch keys {
            case .useDefaultKeys: name
            case .convertFromSnakeCase: name.camelCase
            case .custom(let convert): convert(path() + [PathKey.key(name)]).stringValue
            }
        }

        func decoded<T>(_ type: T.Type, of value: PropertyList, from decoder: any Decoder) throws -> T? {
            // No strategy is asked for a null.
            switch type {
            case _ where value == .null: nil
            case is Double.Type: double(value) as? T
            case is Float.Type: double(value).map { Float($0) } as? T
            case is Date.Type: try date(from: decoder) as? T
            case is Data.Type: try data(from: decoder) as? T
            default: nil
            }
        }

        /// The number nearest to an integer, or a number that is not finite. Other numbers have their usual form.
        private func double(_ value: PropertyList) -> Double? {
            guard case .string(let text) = value,
                case .convertFromString(let positive, let negative, let nan) = floats
            else { return Double(nearestTo: value) }
            return text == positive ? .infinity : text == negative ? -.infinity : text == nan ? .nan : nil
        }

        private func date(from decoder: any Decoder) throws -> Date {
            switch dates {
            case .deferredToDate: return try Date(from: decoder)
            case .secondsSince1970: return Date(timeIntervalSince1970: try Double(from: decoder))
            case .millisecondsSince1970: return Date(timeIntervalSince1970: try Double(from: decoder) / 1000)
            case .iso8601:
                guard let date = Date(rfc3339: try String(from: decoder)) else {
                    throw corrupted(decoder, "The text is no date of ISO 8601, such as 2026-01-31T12:00:00Z.")
                }
                return date
            case .custom(let decode): return try decode(decoder)
            }
        }

        private func data(from decoder: any Decoder) throws -> Data {
            switch data {
            case .deferredToData: return try Data(from: decoder)
            case .base64:
                guard let data = Data(base64Encoded: try String(from: decoder)) else {
                    throw corrupted(decoder, "The text is not in base64.")
                }
                return data
            case .custom(let decode): return try decode(decoder)
            }
        }

        private func corrupted(_ decoder: any Decoder, _ reason: String) -> DecodingError {
            .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: reason))
        }
    }
}
