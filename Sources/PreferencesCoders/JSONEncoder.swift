internal import PropertyLists
internal import Synchronization

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// An encoder to JSON with the members of Foundation's `JSONEncoder`.
///
/// Keys are always sorted, and slashes are never escaped. Errors are cases of `EncodingError`.
// `Sendable` is unchecked because a subclass may have state. All state of this class is in a lock.
open class JSONEncoder: @unchecked Sendable {
    /// The layout of the text.
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Each entry is on a line of its own, indented.
        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// Keys are sorted, which they always are.
        public static let sortedKeys = OutputFormatting(rawValue: 2)
        /// Slashes are not escaped, which they never are.
        public static let withoutEscapingSlashes = OutputFormatting(rawValue: 8)
    }

    /// The forms of dates.
    public enum DateEncodingStrategy: Sendable {
        /// The seconds since the first moment of 2001 in UTC.
        case deferredToDate
        /// The seconds since 1970 in UTC.
        case secondsSince1970
        /// The milliseconds since 1970 in UTC.
        case millisecondsSince1970
        /// Text such as `2026-01-31T12:00:00Z`. A fraction of a second is cut off.
        case iso8601
        /// What a function encodes; an empty object if that is nothing.
        case custom(@Sendable (Date, any Encoder) throws -> Void)
    }

    /// The forms of data.
    public enum DataEncodingStrategy: Sendable {
        /// An array of bytes.
        case deferredToData
        /// Text in base64.
        case base64
        /// What a function encodes; an empty object if that is nothing.
        case custom(@Sendable (Data, any Encoder) throws -> Void)
    }

    /// The forms of reals that are not finite.
    public enum NonConformingFloatEncodingStrategy: Sendable {
        /// None: they are an error.
        case `throw`
        /// These texts.
        case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The forms of the keys of types. The keys of dictionaries with strings as keys are never converted.
    public enum KeyEncodingStrategy: Sendable {
        /// The names of the type's coding keys.
        case useDefaultKeys
        /// `imageURL` is encoded as `image_url`.
        case convertToSnakeCase
        /// What a function makes of the path of a key, whose last element is the key itself.
        case custom(@Sendable ([any CodingKey]) -> any CodingKey)
    }

    private struct Settings {
        var outputFormatting: OutputFormatting = []
        var dates = DateEncodingStrategy.deferredToDate
        var data = DataEncodingStrategy.base64
        var floats = NonConformingFloatEncodingStrategy.throw
        var keys = KeyEncodingStrategy.useDefaultKeys
        var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    }

    private let settings = Mutex(Settings())

    /// Creates an encoder.
    public init() {}

    /// The layout of the text: by default as short as possible.
    open var outputFormatting: OutputFormatting {
        get { settings.withLock { $0.outputFormatting } }
        set { settings.withLock { $0.outputFormatting = newValue } }
    }

    /// The form of dates: by default, seconds since 2001.
    open var dateEncodingStrategy: DateEncodingStrategy {
        get { settings.withLock { $0.dates } }
        set { settings.withLock { $0.dates = newValue } }
    }

    /// The form of data: by default base64.
    open var dataEncodingStrategy: DataEncodingStrategy {
        get { settings.withLock { $0.data } }
        set { settings.withLock { $0.data = newValue } }
    }

    /// The form of reals that are not finite: by default none.
    open var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy {
        get { settings.withLock { $0.floats } }
        set { settings.withLock { $0.floats = newValue } }
    }

    /// The form of keys: by default unchanged.
    open var keyEncodingStrategy: KeyEncodingStrategy {
        get { settings.withLock { $0.keys } }
        set { settings.withLock { $0.keys = newValue } }
    }

    /// Values that the encoder makes available to the encoded types.
    open var userInfo: [CodingUserInfoKey: any Sendable] {
        get { settings.withLock { $0.userInfo } }
        set { settings.withLock { $0.userInfo = newValue } }
    }

    /// Returns the JSON text of a value, in UTF-8.
    open func encode<T: Encodable>(_ value: T) throws -> Data {
        let forms = Forms(
            dates: dateEncodingStrategy, data: dataEncodingStrategy, floats: nonConformingFloatEncodingStrategy,
            keys: keyEncodingStrategy)
        let encoded = try PropertyList.encoded(
            value, EncodingOptions(null: .null, forms: forms, userInfo: userInfo))
        var options = PropertyList.WritingOptions()
        options.numberTexts = forms.numberTexts
        options.isPretty = outputFormatting.contains(.prettyPrinted)
        let text = try encodingErrors(of: value) { try encoded.serialized(as: .json, options: options) }
        return options.isPretty ? text.dropLast() : text
    }

    /// Returns the JSON text of a value that needs a configuration for its encoding.
    open func encode<T: EncodableWithConfiguration>(
        _ value: T, configuration: T.EncodingConfiguration
    ) throws -> Data {
        try encode(ConfiguredValue(value: value, configuration: configuration))
    }

    /// Returns the JSON text of a value, with the configuration that another type has for its encoding.
    open func encode<T: EncodableWithConfiguration, C: EncodingConfigurationProviding>(
        _ value: T, configuration: C.Type
    ) throws -> Data where T.EncodingConfiguration == C.EncodingConfiguration {
        try encode(value, configuration: C.encodingConfiguration)
    }

    // MARK: The forms of one encoding

    private final class Forms: EncodingForms {
        private let dates: DateEncodingStrategy
        private let data: DataEncodingStrategy
        private let floats: NonConformingFloatEncodingStrategy
        private let keys: KeyEncodingStrategy
        /// The texts of numbers that no property list holds. A uid stands for each of them; no other uids occur.
        private(set) var numberTexts: [String] = []

        init(
            dates: DateEncodingStrategy, data: DataEncodingStrategy, floats: NonConformingFloatEncodingStrategy,
            keys: KeyEncodingStrategy
        ) {
            (self.dates, self.data, self.floats, self.keys) = (dates, data, floats, keys)
        }

        var convertsValues: Bool { true }
        var convertsKeys: Bool { if case .useDefaultKeys = keys { false } else { true } }

        func encodedName(of key: any CodingKey, in path: () -> [any CodingKey]) -> String {
            switch keys {
            case .useDefaultKeys: key.stringValue
            case .convertToSnakeCase: key.stringValue.snakeCase
            case .custom(let convert): convert(path() + [key]).stringValue
            }
        }

        func encodedForm(of value: any Encodable) throws -> EncodedForm {
            switch value {
            case let number as Double: form(of: number)
            case let number as Float: form(of: number.shortestDouble)
            case let date as Date: form(of: date)
            case let data as Data: form(of: data)
            case let number as Decimal:
                number.isNaN ? .impossible("The number is not finite.") : form(of: number.description)
            case let number as Int128: Int64(exactly: number) == nil ? form(of: number.description) : .usual
            case let number as UInt128: UInt64(exactly: number) == nil ? form(of: number.description) : .usual
            case let list as PropertyList: .value(try converted(list, levels: PropertyList.Limits.default.nesting))
            default: .usual
            }
        }

        /// The list with its dates and so on in these forms. Its keys are those of a dictionary, and are kept.
        private func converted(_ list: PropertyList, levels: Int) throws -> PropertyList {
            guard levels >= 0 else {
                throw EncodingError.invalidValue(
                    list, .init(codingPath: [], debugDescription: "The value is nested too deeply."))
            }
            func encoded(_ value: some Encodable) throws -> PropertyList {
                try PropertyList.encoded(value, EncodingOptions(null: .null, forms: self, userInfo: [:]))
            }
            return switch list {
            case .array(let elements): .array(try elements.map { try converted($0, levels: levels - 1) })
            case .dictionary(let entries):
                .dictionary(
                    PropertyList.Dictionary(try entries.map { ($0.key, try converted($0.value, levels: levels - 1)) }))
            case .uid(let number): [PropertyList.uidKey: .integer(PropertyList.Integer(number))]
            case .date(let date): try encoded(date)
            case .data(let data): try encoded(data)
            case .real(let number): try encoded(number)
            case .string, .integer, .boolean, .null: list
            }
        }

        private func form(of number: String) -> EncodedForm {
            numberTexts.append(number)
            return .value(.uid(UInt64(numberTexts.count - 1)))
        }

        /// An integer if it is one that every reader knows exactly, so that it is written without a point.
        private func form(of number: Double) -> EncodedForm {
            if number.isFinite {
                let isNegativeZero = number == 0 && number.sign == .minus
                return .value(
                    number.magnitude <= 0x1p53 && !isNegativeZero ? PropertyList(shortest: number) : .real(number))
            }
            guard case .convertToString(let positive, let negative, let nan) = floats else {
                return .impossible("The number is not finite.")
            }
            return .value(.string(number.isNaN ? nan : number < 0 ? negative : positive))
        }

        private func form(of date: Date) -> EncodedForm {
            switch dates {
            case .deferredToDate: form(of: date.timeIntervalSinceReferenceDate)
            case .secondsSince1970: form(of: date.timeIntervalSince1970)
            case .millisecondsSince1970: form(of: date.timeIntervalSince1970 * 1000)
            case .iso8601:
                date.wholeSecond.nearestRFC3339.map { .value(.string($0)) }
                    ?? .impossible("The date is beyond the years of ISO 8601.")
            case .custom(let encode): .custom { try encode(date, $0) }
            }
        }

        private func form(of bytes: Data) -> EncodedForm {
            switch data {
            case .deferredToData: .custom(bytes.encode)
            case .base64: .value(.string(bytes.base64EncodedString()))
            case .custom(let encode): .custom { try encode(bytes, $0) }
            }
        }
    }
}
