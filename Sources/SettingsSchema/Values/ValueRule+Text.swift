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
        switch type {
        case .string: return .string(text)
        case .any: return swiftType.map { $0.value(ofText: text) ?? .string(text) } ?? .bare(text)
        case .integer: return .integer(try integer(text))
        case .real:
            let seconds = kind == .duration ? Quantity.seconds(text)?.real : nil
            guard let number = seconds ?? Self.real(text) else { throw unreadable }
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
        guard case .integer(let number) = value else { return value.plainText }
        switch kind {
        case .duration: return Quantity.text(seconds: number)
        case .size: return Quantity.text(bytes: number)
        default: return value.plainText
        }
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
    var expectation: String {
        switch (type, kind) {
        case (.real, .duration?): "a duration such as 90, 1.5h or 500ms"
        case (_, .duration?): "a duration such as 90, 5m or 1h30m"
        case (_, .size?): "a size such as 512, 4K or 10MB"
        case (.boolean, _): "true or false"
        case (.date, _): "a date such as 2026-01-31T12:00:00Z"
        case (.data, _): "data: hexadecimal digits, or base64:…"
        case (.any, _): swiftType.map { "a value of type \($0.name)" } ?? type.noun
        case (.array, _): "an array such as (a, b)"
        case (.dictionary, _): "a dictionary such as {a = b;}"
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
        switch kind {
        case .duration: if let seconds = Quantity.seconds(text)?.integer { return PropertyList.Integer(seconds) }
        case .size: if let bytes = Quantity.bytes(text)?.integer { return PropertyList.Integer(bytes) }
        default: if let number = PropertyList.Integer(word: text) { return number }
        }
        throw unreadable
    }

    /// Parses a decimal number. Hexadecimal floating-point notation is rejected.
    static func real(_ text: String) -> Double? { text.lowercased().contains("x") ? nil : Double(word: text) }
}

/// Numbers with units: `5m` for a duration, `4K` for a size.
enum Quantity: Sendable {
    /// A number with a fraction of at most nine digits.
    struct Amount: Hashable, Sendable {
        fileprivate(set) var whole: Int64 = 0
        /// The fraction in billionths.
        fileprivate(set) var billionths: Int64 = 0
        fileprivate(set) var isNegative = false

        /// The number if it has no fraction.
        var integer: Int64? { billionths == 0 ? (isNegative ? -whole : whole) : nil }
        /// The number as seconds.
        var duration: Duration {
            let magnitude = Duration.seconds(whole) + .nanoseconds(billionths)
            return isNegative ? .zero - magnitude : magnitude
        }
        var real: Double {
            let magnitude = Double(whole) + Double(billionths) / 1_000_000_000
            return isNegative ? -magnitude : magnitude
        }
    }

    /// Parses a duration such as `90`, `5m`, `1h30m`, `1.5h` or `500ms` into seconds; nil if it is invalid or too
    /// large.
    static func seconds(_ text: String) -> Amount? {
        let units: [String: Unit] = [
            "ms": Unit(1, per: 1000), "s": Unit(1), "m": Unit(60), "min": Unit(60), "h": Unit(3600), "d": Unit(86_400),
            "w": Unit(604_800),
        ]
        return number(text, units: units, isSum: true)
    }

    /// Parses a size such as `512`, `4K`, `1.5G`, `4KiB` or `10MB` into bytes. `K` and `KiB` are powers of 1024, `KB`
    /// of 1000.
    static func bytes(_ text: String) -> Amount? {
        var units: [String: Unit] = ["b": Unit(1)]
        for (power, letter) in zip(1..., ["k", "m", "g", "t", "p", "e"]) {
            units[letter] = Unit(1 << Int64(10 * power))
            units["\(letter)ib"] = Unit(1 << Int64(10 * power))
            units["\(letter)b"] = Unit((0..<power).reduce(1) { result, _ in result * 1000 })
        }
        return number(text, units: units, isSum: false)
    }

    /// Returns a duration in the notation that `seconds(_:)` parses: `1h30m`.
    static func text(seconds: PropertyList.Integer) -> String {
        var rest = seconds.magnitude
        var text = ""
        for (unit, factor) in [("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)] as [(String, UInt64)] {
            if rest >= factor { text += "\(rest / factor)\(unit)" }
            rest %= factor
        }
        return (seconds < 0 ? "-" : "") + (text.isEmpty ? "0s" : text)
    }

    /// Returns a size in the largest power of 1024 that divides it.
    static func text(bytes: PropertyList.Integer) -> String {
        let magnitude = bytes.magnitude
        let power = magnitude == 0 ? 0 : min(magnitude.trailingZeroBitCount / 10, 6)
        let unit = ["", "K", "M", "G", "T", "P", "E"][power]
        return "\(bytes < 0 ? "-" : "")\(magnitude >> UInt64(10 * power))\(unit)"
    }

    /// A unit as a fraction of the base unit.
    fileprivate struct Unit {
        let count, divisor: Int64

        init(_ count: Int64, per divisor: Int64 = 1) { (self.count, self.divisor) = (count, divisor) }
    }

    private static func number(_ text: String, units: [String: Unit], isSum: Bool) -> Amount? {
        var rest = text.lowercased()[...]
        var total = Amount()
        total.isNegative = rest.first == "-"
        if total.isNegative { rest.removeFirst() }
        var smallest: Unit?
        repeat {
            let digits = takeDigits(&rest)
            var fraction: Substring = ""
            if rest.first == "." {
                rest.removeFirst()
                fraction = takeDigits(&rest)
                guard !fraction.isEmpty else { return nil }
            }
            let name = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(name.count)
            // A number without a unit must be the only one. Units must decrease, as in 1h30m.
            let isBare = name.isEmpty && rest.isEmpty && smallest == nil
            guard let unit = isBare ? Unit(1) : units[String(name)], !digits.isEmpty, fraction.count <= 9,
                smallest.map({ unit.count * $0.divisor < $0.count * unit.divisor }) ?? true,
                total.add(digits + fraction, fraction.count, of: unit)
            else { return nil }
            smallest = unit
        } while !rest.isEmpty && isSum
        return rest.isEmpty ? total : nil
    }

    private static func takeDigits(_ rest: inout Substring) -> Substring {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        rest = rest.dropFirst(digits.count)
        return digits
    }
}

extension Quantity.Amount {
    /// Adds a decimal number of a unit. Returns false if the sum is too large or has more than nine decimal places.
    fileprivate mutating func add(_ digits: Substring, _ places: Int, of unit: Quantity.Unit) -> Bool {
        let divisor = (0..<places).reduce(unit.divisor) { result, _ in result * 10 }
        guard let number = Int64(digits) else { return false }
        let product = number.multipliedFullWidth(by: unit.count)
        guard product.high << 1 | Int64(product.low >> 63) < divisor else { return false }
        let (quotient, remainder) = divisor.dividingFullWidth(product)
        let (part, rest) = divisor.dividingFullWidth(remainder.multipliedFullWidth(by: 1_000_000_000))
        guard rest == 0 else { return false }
        let carry = billionths + part >= 1_000_000_000
        billionths = billionths + part - (carry ? 1_000_000_000 : 0)
        let (sum, overflow) = whole.addingReportingOverflow(quotient)
        let (next, isTooLarge) = sum.addingReportingOverflow(carry ? 1 : 0)
        whole = next
        return !overflow && !isTooLarge
    }
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
