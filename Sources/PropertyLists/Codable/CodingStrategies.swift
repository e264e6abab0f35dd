#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    /// The forms of keys, dates and data in files whose contents another program defines, such as JSON of a web
    /// service.
    public struct CodingStrategies: Hashable, Sendable {
        /// The forms of the keys of types. The keys of dictionaries with strings as keys are never converted.
        public enum Keys: Sendable {
            /// The names of the type's coding keys.
            case unchanged
            /// `imageURL` is encoded as `image_url`, and decoded from it or from a similar key such as `imageUrl`.
            case snakeCase
        }

        /// The forms of dates. Decoding also accepts a date of the format with every strategy.
        public enum Dates: Sendable {
            /// The date type of the format. JSON has none.
            case date
            /// Text such as `2026-01-31T12:00:00Z`, with a fraction of a second if the date has one. Any time zone is
            /// accepted when decoding.
            case iso8601
            /// The seconds since 1970 in UTC.
            case secondsSince1970
            /// The milliseconds since 1970 in UTC.
            case millisecondsSince1970
        }

        /// The forms of data. Decoding also accepts data of the format with every strategy.
        public enum DataForm: Sendable {
            /// The data type of the format. JSON has none.
            case data
            /// Text in base64.
            case base64
        }

        /// The form of keys.
        public var keys: Keys
        /// The form of dates.
        public var dates: Dates
        /// The form of data.
        public var data: DataForm

        /// Creates strategies. By default, nothing is converted.
        public init(keys: Keys = .unchanged, dates: Dates = .date, data: DataForm = .data) {
            (self.keys, self.dates, self.data) = (keys, dates, data)
        }
    }
}

// MARK: Values

extension PropertyList.CodingStrategies: EncodingForms, DecodingForms {
    package var convertsValues: Bool { dates != .date || data != .data }

    package func encodedForm(of value: any Encodable) -> EncodedForm {
        switch value {
        case let date as Date:
            switch dates {
            case .date: .usual
            case .iso8601:
                date.nearestRFC3339.map { .value(.string($0)) }
                    ?? .impossible("The date is beyond the years of ISO 8601.")
            case .secondsSince1970: .value(PropertyList(shortest: date.timeIntervalSince1970))
            case .millisecondsSince1970: .value(PropertyList(shortest: date.timeIntervalSince1970 * 1000))
            }
        case let bytes as Data: data == .base64 ? .value(.string(bytes.base64EncodedString())) : .usual
        default: .usual
        }
    }

    package func decoded<T>(_ type: T.Type, of value: PropertyList, from decoder: any Decoder) -> T? {
        if type == Date.self { return date(value) as? T }
        guard type == Data.self, data == .base64, case .string(let text) = value else { return nil }
        return Data(base64Encoded: text) as? T
    }

    package func areNear(_ kind: PropertyList.Kind, _ type: any Any.Type) -> Bool {
        kind == .string && (type == Date.self && dates == .iso8601 || type == Data.self && data == .base64)
    }

    private func date(_ value: PropertyList) -> Date? {
        switch (dates, value) {
        case (.iso8601, .string(let text)): Date(rfc3339: text)
        case (.secondsSince1970, .integer), (.secondsSince1970, .real):
            Double(scalar: value).map { Date(timeIntervalSince1970: $0) }
        case (.millisecondsSince1970, .integer), (.millisecondsSince1970, .real):
            Double(scalar: value).map { Date(timeIntervalSince1970: $0 / 1000) }
        default: nil
        }
    }
}

// MARK: Keys

extension PropertyList.CodingStrategies {
    package var convertsKeys: Bool { keys != .unchanged }

    package func encodedName(of key: any CodingKey, in path: () -> [any CodingKey]) -> String {
        key.stringValue.snakeCase
    }

    package func soughtName(of key: any CodingKey) -> String? { key.stringValue.snakeCase }

    package func decodedName(of name: String, in path: () -> [any CodingKey]) -> String { name.camelCase }
}

extension PropertyList {
    /// An integer if the number is one, otherwise a real.
    package init(shortest number: Double) {
        self = Int(exactly: number).map { .integer(Integer($0)) } ?? .real(number)
    }
}

extension String {
    /// The name in snake case: `myURLProperty` is `my_url_property`. Underscores at both ends are kept.
    package var snakeCase: String {
        let characters = Array(self)
        var result = ""
        for (index, character) in characters.enumerated() {
            let isCapital = character.isUppercase
            let isAfterCapital = index > 0 && characters[index - 1].isUppercase
            let isBeforeSmall = index + 1 < characters.count && characters[index + 1].isLowercase
            // A capital letter begins a word unless it follows another one. The last of several capital letters begins
            // a word if a lowercase letter follows.
            let beginsWord = isCapital && index > 0 && (!isAfterCapital || isBeforeSmall)
            if beginsWord, characters[index - 1] != "_" { result += "_" }
            result += character.lowercased()
        }
        return result
    }

    /// The name in camel case: `my_url_property` is `myUrlProperty`. Underscores at both ends are kept.
    package var camelCase: String {
        guard let first = firstIndex(where: { $0 != "_" }), let last = lastIndex(where: { $0 != "_" }) else {
            return self
        }
        let words = self[first...last].split(separator: "_")
        guard words.count > 1 else { return self }
        let capitalized = words.dropFirst().map(\.capitalizedLetters)
        return self[..<first] + words[0].lowercased() + capitalized.joined() + self[index(after: last)...]
    }
}

extension Substring {
    /// The word with its first letter in upper case, also after a digit: `2o` is `2O`.
    fileprivate var capitalizedLetters: String {
        var result = ""
        for character in self {
            let follows = result.last?.isLetter ?? false
            result += follows ? character.lowercased() : character.uppercased()
        }
        return result
    }
}
