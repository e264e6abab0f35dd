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

extension PropertyList.CodingStrategies {
    /// Whether values are converted.
    var convertsValues: Bool { dates != .date || data != .data }

    /// Converts an encoded value, or returns nil for a date that the strategy cannot represent.
    func encoded(_ value: PropertyList) -> PropertyList? {
        switch value {
        case .date(let date):
            switch dates {
            case .date: value
            case .iso8601: date.nearestRFC3339.map(PropertyList.string)
            case .secondsSince1970: Self.number(date.timeIntervalSince1970)
            case .millisecondsSince1970: Self.number(date.timeIntervalSince1970 * 1000)
            }
        case .data(let bytes): data == .base64 ? .string(bytes.base64EncodedString()) : value
        default: value
        }
    }

    private static func number(_ number: Double) -> PropertyList {
        Int(exactly: number).map { .integer(PropertyList.Integer($0)) } ?? .real(number)
    }

    /// Converts a value to a date or to data if a type asks for one and the value has that form.
    func decoded(_ value: PropertyList, as type: any Any.Type) -> PropertyList {
        if type == Date.self, let date = date(value) { return .date(date) }
        if type == Data.self, data == .base64, case .string(let text) = value, let bytes = Data(base64Encoded: text) {
            return .data(bytes)
        }
        return value
    }

    /// Whether a value of this kind can be converted to this type if its contents are valid.
    func areNear(_ kind: PropertyList.Kind, _ type: any Any.Type) -> Bool {
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
    /// The name under which a value is encoded.
    func name(_ key: some CodingKey) -> String { keys == .unchanged ? key.stringValue : key.stringValue.snakeCase }
}

extension String {
    /// The name in snake case: `myURLProperty` is `my_url_property`. Underscores at both ends are kept.
    var snakeCase: String {
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
    var camelCase: String {
        guard let first = firstIndex(where: { $0 != "_" }), let last = lastIndex(where: { $0 != "_" }) else {
            return self
        }
        let words = self[first...last].split(separator: "_")
        guard words.count > 1 else { return self }
        let capitalized = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
        return self[..<first] + words[0].lowercased() + capitalized.joined() + self[index(after: last)...]
    }
}
