internal import PropertyLists
internal import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An encoder to property lists with the members of Foundation's `PropertyListEncoder`.
///
/// A nil that a type encodes is the string `$null`. Errors are cases of `EncodingError`.
// `Sendable` is unchecked because a subclass may have state. All state of this class is in a lock.
open class PropertyListEncoder: @unchecked Sendable {
    private struct Settings {
        var outputFormat = PropertyListDecoder.PropertyListFormat.binary
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    }

    private let settings = Mutex(Settings())

    /// Creates an encoder.
    public init() {}

    /// The format: by default binary.
    open var outputFormat: PropertyListDecoder.PropertyListFormat {
        get { settings.withLock { $0.outputFormat } }
        set { settings.withLock { $0.outputFormat = newValue } }
    }

    /// Values that the encoder makes available to the encoded types.
    open var userInfo: [CodingUserInfoKey: any Sendable] {
        get { settings.withLock { $0.userInfo } }
        set { settings.withLock { $0.userInfo = newValue } }
    }

    /// Returns a value as a property list.
    open func encode<T: Encodable>(_ value: T) throws -> Data {
        let options = EncodingOptions(null: .string(Forms.null), forms: Forms(), userInfo: userInfo)
        let list = try PropertyList.encoded(value, options)
        var writing = PropertyList.WritingOptions()
        // XML has no fraction of a second, which is left out as Foundation does.
        writing.isLossy = true
        return try encodingErrors(of: value) { try list.serialized(as: outputFormat.format, options: writing) }
    }

    /// Returns a value that needs a configuration for its encoding as a property list.
    open func encode<T: EncodableWithConfiguration>(
        _ value: T, configuration: T.EncodingConfiguration
    ) throws -> Data {
        try encode(ConfiguredValue(value: value, configuration: configuration))
    }

    /// Returns a value as a property list, with the configuration that another type has for its encoding.
    open func encode<T: EncodableWithConfiguration, C: EncodingConfigurationProviding>(
        _ value: T, configuration: C.Type
    ) throws -> Data where T.EncodingConfiguration == C.EncodingConfiguration {
        try encode(value, configuration: C.encodingConfiguration)
    }
}

/// A decoder of property lists with the members of Foundation's `PropertyListDecoder`.
///
/// Bytes that are not a property list are the error `DecodingError.dataCorrupted`, whose underlying error has the
/// offset and the path.
// `Sendable` is unchecked because a subclass may have state. All state of this class is in a lock.
open class PropertyListDecoder: @unchecked Sendable {
    /// The formats.
    public enum PropertyListFormat: UInt, Sendable {
        /// The text format of NeXTSTEP.
        case openStep = 1
        /// Apple's XML format.
        case xml = 100
        /// Apple's binary format.
        case binary = 200

        var format: PropertyList.Format {
            switch self {
            case .openStep: .openstep
            case .xml: .xml
            case .binary: .binary
            }
        }
    }

    private let settings = Mutex<[CodingUserInfoKey: any Sendable]>([:])

    /// Creates a decoder.
    public init() {}

    /// Values that the decoder makes available to the decoded types.
    open var userInfo: [CodingUserInfoKey: any Sendable] {
        get { settings.withLock { $0 } }
        set { settings.withLock { $0 = newValue } }
    }

    /// Decodes a value from a property list, whose format is detected.
    open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        var format = PropertyListFormat.binary
        return try decode(type, from: data, format: &format)
    }

    /// Decodes a value from a property list, and sets `format` to the format that was detected.
    open func decode<T: Decodable>(
        _ type: T.Type, from data: Data, format: inout PropertyListFormat
    ) throws -> T {
        try decoder(of: data, &format).decode(type)
    }

    /// Decodes a value that needs a configuration for its decoding.
    open func decode<T: DecodableWithConfiguration>(
        _ type: T.Type, from data: Data, configuration: T.DecodingConfiguration
    ) throws -> T {
        var format = PropertyListFormat.binary
        return try decode(type, from: data, format: &format, configuration: configuration)
    }

    /// Decodes a value that needs a configuration, and sets `format` to the format that was detected.
    open func decode<T: DecodableWithConfiguration>(
        _ type: T.Type, from data: Data, format: inout PropertyListFormat, configuration: T.DecodingConfiguration
    ) throws -> T {
        try T(from: decoder(of: data, &format), configuration: configuration)
    }

    /// Decodes a value with the configuration that another type has for its decoding.
    open func decode<T: DecodableWithConfiguration, C: DecodingConfigurationProviding>(
        _ type: T.Type, from data: Data, configuration: C.Type
    ) throws -> T where T.DecodingConfiguration == C.DecodingConfiguration {
        try decode(type, from: data, configuration: C.decodingConfiguration)
    }

    /// Decodes a value with the configuration of another type, and sets `format` to the format that was detected.
    open func decode<T: DecodableWithConfiguration, C: DecodingConfigurationProviding>(
        _ type: T.Type, from data: Data, format: inout PropertyListFormat, configuration: C.Type
    ) throws -> T where T.DecodingConfiguration == C.DecodingConfiguration {
        try decode(type, from: data, format: &format, configuration: C.decodingConfiguration)
    }

    private func decoder(
        of data: Data, _ format: inout PropertyListFormat
    ) throws -> any Decoder & SingleValueDecodingContainer {
        let bytes = [UInt8](data)
        var options = PropertyList.ReadingOptions()
        options.readsScalarsAsJSON = false
        options.acceptsBlank = true
        let read = try decodingErrors {
            let sniffed = try PropertyList.sniffed(bytes, options: options)
            // An empty dictionary is one in OpenStep, too.
            guard sniffed.format == .json else { return sniffed }
            return (value: try PropertyList(parsing: bytes, as: .openstep, options: options), format: .openstep)
        }
        format = read.format == .binary ? .binary : read.format == .xml ? .xml : .openStep
        return PropertyList.decoder(
            of: read, bytes, options,
            DecodingOptions(forms: Forms(), userInfo: userInfo, nullText: Forms.null))
    }
}

/// The forms that Foundation's coders have in property lists: URLs and decimal numbers as dictionaries.
private struct Forms: EncodingForms, DecodingForms {
    static let null = "$null"

    var convertsKeys: Bool { false }
    var convertsValues: Bool { true }

    func encodedForm(of value: any Encodable) -> EncodedForm {
        switch value {
        // Foundation refuses a real in a binary file that no `Float` equals.
        case let number as Float: .value(.real(Double(number)))
        case let url as URL: .custom(url.encode)
        case let number as Decimal: .custom(number.encode)
        default: .usual
        }
    }

    func decoded<T>(_ type: T.Type, of value: PropertyList, from decoder: any Decoder) throws -> T? {
        switch (type, value) {
        case (is Double.Type, _): Double(nearestTo: value) as? T
        case (is Float.Type, _): Double(nearestTo: value).map { Float($0) } as? T
        case (is URL.Type, .dictionary): try URL(from: decoder) as? T
        case (is Decimal.Type, .dictionary): try Decimal(from: decoder) as? T
        default: nil
        }
    }
}
