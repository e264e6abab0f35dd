package import PropertyLists

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension ValueRule {
    /// Parses text as a value of this type, in the notation of flags, variables, answers and OpenStep schemas.
    ///
    /// This does not check the rule; see `problems(with:at:)`.
    ///
    /// - Parameter now: The date that `now` denotes, to the second; nil if `now` is not allowed.
    package func value(
        ofText text: String, now: Date? = nil
    ) throws(Schema.Problem.Reason) -> PropertyList {
        do throws(Schema.Problem.Reason) {
            return try plainValue(ofText: text, now: now)
        } catch {
            throw reported(error)
        }
    }

    private func plainValue(ofText text: String, now: Date?) throws(Schema.Problem.Reason) -> PropertyList {
        switch type {
        case .string: return .string(text)
        case .any: return swiftType.map { $0.value(ofText: text) ?? .string(text) } ?? .bare(text)
        case .integer: return .integer(try integer(text))
        case .real:
            guard let number = kind?.quantity?.amount(text)?.real ?? Self.real(text) else { throw unreadable }
            return .real(number)
        case .boolean:
            guard let flag = Bool(word: text) else { throw unreadable }
            return .boolean(flag)
        case .date:
            guard let date = text == "now" ? now?.wholeSecond : Date(word: text) else { throw unreadable }
            return .date(date)
        case .data:
            guard let data = try? Data(word: text) else { throw unreadable }
            return .data(data)
        case .array: return try array(text, now: now)
        case .dictionary:
            guard let value = try? PropertyList(parsing: text), case .dictionary = value else { throw unreadable }
            return adapted(value, now: now)
        }
    }

    /// Parses `KEY=VALUE`, or a whole dictionary if that is allowed, as a dictionary.
    func entry(ofText text: String, orWhole: Bool, now: Date?) throws(Schema.Problem.Reason) -> PropertyList {
        if orWhole, text.hasPrefix("{") { return try value(ofText: text, now: now) }
        guard let sign = text.unicodeScalars.firstIndex(of: "="), sign != text.startIndex else {
            throw element?.reported(.unreadable(expected: "KEY=VALUE")) ?? .unreadable(expected: "KEY=VALUE")
        }
        let (key, rest) = (String(text[..<sign]), String(text[text.unicodeScalars.index(after: sign)...]))
        let rule = inside(EntryPath.Component(key))
        return .dictionary([key: try rule?.value(ofText: rest, now: now) ?? .bare(rest)])
    }

    /// Returns the value with each text converted to its declared type. Text that cannot be converted is unchanged.
    package func adapted(_ value: PropertyList, now: Date? = nil) -> PropertyList {
        switch (value, type) {
        case (.string, .string): return value
        // Text is a value of such a setting, unless only its contents are.
        case (.string(let text), .any):
            guard let swiftType, swiftType.problem(with: value, isSecret: true) != nil else { return value }
            return swiftType.value(ofText: text) ?? value
        case (.string(let text), _): return (try? self.value(ofText: text, now: now)) ?? value
        case (.integer(let number), .real): return .real(number.asDouble)
        case (.real(let number), .integer):
            return Int64(exactly: number).map { .integer(PropertyList.Integer($0)) } ?? value
        case (.array(let elements), .array):
            guard let rule = element else { return swiftType?.fitted(value) ?? value }
            return .array(elements.map { rule.adapted($0, now: now) })
        case (.dictionary(let entries), .dictionary):
            var result = entries
            for entry in entries {
                if let rule = inside(EntryPath.Component(entry.key)) {
                    result[entry.key] = rule.adapted(entry.value, now: now)
                }
            }
            return swiftType?.fitted(.dictionary(result)) ?? .dictionary(result)
        default: return value
        }
    }

    /// Returns the value as text that can be parsed again. Durations and sizes have units.
    package func text(of value: PropertyList) -> String {
        if let text = swiftType?.text(of: value) { return text }
        guard case .integer(let number) = value, let quantity = kind?.quantity else { return value.plainText }
        return quantity.text(of: number)
    }

    /// Returns a value as the text of a field, which can be parsed again: data in base64, an array or a dictionary as
    /// JSON.
    package func fieldText(of value: PropertyList) -> String {
        switch value {
        case .data(let data): return "base64:" + data.base64EncodedString()
        case .array, .dictionary:
            guard let text = try? value.serialized(as: .json), adapted(value) == value else { return value.plainText }
            return String(decoding: text, as: UTF8.self)
        default: return text(of: value)
        }
    }

    private var unreadable: Schema.Problem.Reason { .unreadable(expected: expectation) }

    /// A description of valid text.
    package var expectation: String {
        if let quantity = kind?.quantity { return quantity.expectation(of: type) }
        return switch type {
        case .boolean: "true or false"
        case .date: "a date such as 2026-01-31T12:00:00Z"
        case .data: "data: hexadecimal digits, or base64:…"
        case .any: swiftType.map { "a value of type \($0.name)" } ?? type.noun
        case .array: separator.map { "a list such as a\($0)b" } ?? "an array such as (a, b)"
        case .dictionary: "a dictionary such as {a = b;}"
        default: type.noun
        }
    }

    /// Parses the elements between separators.
    private func elements(
        of text: String, _ separator: String, now: Date?
    ) throws(Schema.Problem.Reason) -> PropertyList {
        guard !text.isEmpty else { return .array([]) }
        let rule = element ?? ValueRule()
        var elements: [PropertyList] = []
        var rest = Array(text.utf8)[...]
        let mark = Array(separator.utf8)
        while let range = rest.firstRange(of: mark) {
            elements.append(
                try rule.value(ofText: String(decoding: rest[..<range.lowerBound], as: UTF8.self), now: now))
            rest = rest[range.upperBound...]
        }
        elements.append(try rule.value(ofText: String(decoding: rest, as: UTF8.self), now: now))
        return .array(elements)
    }

    /// Parses a list, or a single element without brackets.
    private func array(_ text: String, now: Date?) throws(Schema.Problem.Reason) -> PropertyList {
        if let separator, !separator.isEmpty { return try elements(of: text, separator, now: now) }
        guard let first = text.first(where: { !$0.isWhitespace }) else { return .array([]) }
        guard "([<".contains(first) else {
            guard let element else { return .array([.string(text)]) }
            return .array([try element.value(ofText: text, now: now)])
        }
        guard let value = try? PropertyList(parsing: text), case .array = value else { throw unreadable }
        return adapted(value, now: now)
    }
}

// MARK: Scalars

extension ValueRule {
    private func integer(_ text: String) throws(Schema.Problem.Reason) -> PropertyList.Integer {
        let number =
            if let quantity = kind?.quantity {
                quantity.amount(text)?.integer.map { PropertyList.Integer($0) }
            } else {
                PropertyList.Integer(word: text)
            }
        guard let number else { throw unreadable }
        return number
    }

    /// Parses a decimal number. Hexadecimal floating-point notation is rejected.
    static func real(_ text: String) -> Double? { text.lowercased().contains("x") ? nil : Double(word: text) }
}

// MARK: Plain text

extension PropertyList {
    /// The value as plain text: strings as they are, `true` and `false`, RFC 3339 dates, base64 data, and containers as
    /// lossless JSON.
    package var plainText: String {
        switch self {
        case .string(let text): return text
        case .integer(let number): return number.description
        case .real(let number) where !number.isFinite: return number.isNaN ? "nan" : number < 0 ? "-inf" : "inf"
        case .boolean(let flag): return flag ? "true" : "false"
        case .uid(let number): return String(number)
        case .null: return "null"
        case .real, .date: return json(coerces: true).unquoted
        case .data(let data): return data.base64EncodedString()
        case .array, .dictionary: return json(coerces: false)
        }
    }

    private func json(coerces: Bool) -> String {
        var options = WritingOptions()
        options.coerces = coerces
        options.wrapsInJSON = !coerces
        guard let data = try? serialized(as: .json, options: options) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    /// The value for a message, on one line of limited length.
    package var shownText: String { shortened(plainText, to: 60) }
}

extension String {
    /// The text without surrounding quotes.
    fileprivate var unquoted: String { hasPrefix("\"") ? String(dropFirst().dropLast()) : self }
}
