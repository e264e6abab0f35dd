package import PropertyLists
internal import Queries

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension ValueRule {
    /// Returns the problems of a value and its entries, each with its path.
    package func problems(
        with value: PropertyList, at path: EntryPath = EntryPath(), isSecret: Bool = false
    ) -> [Schema.Problem] {
        guard hasType(of: value) else {
            return [
                problem(
                    .wrongType(expected: kind?.isQuantity ?? false ? expectation : type.noun), value, path,
                    isSecret)
            ]
        }
        let own = reasons(against: value).map { problem($0, value, path, isSecret) }
        let problems = own + problemsInside(value, at: path, isSecret)
        guard problems.isEmpty, let found = swiftType?.problem(with: value, isSecret: isSecret) else { return problems }
        let place = EntryPath(path.components + found.path.components)
        guard let entry = value[found.path] else { return [Schema.Problem(path: place, reason: found.reason)] }
        return [problem(found.reason, entry, place, isSecret)]
    }

    private func problem(
        _ reason: Schema.Problem.Reason, _ value: PropertyList, _ path: EntryPath, _ isSecret: Bool
    ) -> Schema.Problem {
        Schema.Problem(path: path, reason: reason, value: isSecret ? mask : shownText(of: value))
    }

    private func hasType(of value: PropertyList) -> Bool {
        type == .any || value.kind.rawValue == type.rawValue || (type == .real && value.kind == .integer)
    }

    /// Returns the rules that the value itself breaks.
    private func reasons(against value: PropertyList) -> [Schema.Problem.Reason] {
        var reasons: [Schema.Problem.Reason] = []
        let isBelow = { [swiftType] (left: PropertyList, right: PropertyList) in
            swiftType?.isBelow(left, right) ?? left.isBelow(right)
        }
        if let minimum, isBelow(value, minimum) || maximum.map({ isBelow($0, value) }) ?? false {
            reasons.append(.outsideRange(minimum: text(of: minimum), maximum: maximum.map(text)))
        } else if let maximum, isBelow(maximum, value) {
            reasons.append(.outsideRange(minimum: nil, maximum: text(of: maximum)))
        }
        // Sizes and durations have a default minimum of 0.
        if minimum == nil, kind?.isQuantity ?? false, value.isBelow(.integer(0)) {
            reasons.append(.outsideRange(minimum: text(of: .integer(0)), maximum: nil))
        }
        if value.isNaN, minimum != nil || maximum != nil {
            reasons.append(.outsideRange(minimum: minimum.map(text), maximum: maximum.map(text)))
        }
        if let length = value.length, !(minimumLength ?? 0 <= length && length <= maximumLength ?? .max) {
            reasons.append(.wrongLength(minimum: minimumLength, maximum: maximumLength))
        }
        if let count = value.childCount, !(minimumCount ?? 0 <= count && count <= maximumCount ?? .max) {
            reasons.append(.wrongCount(minimum: minimumCount, maximum: maximumCount))
        }
        if !choices.isEmpty, !choices.contains(value) {
            let names = choices.map(\.plainText)
            // No suggestion for numbers: a similar number is not a misspelling.
            let nearest = type == .string ? names.nearest(to: value.plainText) : nil
            reasons.append(.notAChoice(names, nearest: nearest))
        }
        if case .string(let text) = value { reasons += self.reasons(againstText: text) }
        if isUnique, case .array(let elements) = value, Set(elements).count < elements.count {
            reasons.append(.repeatedElement)
        }
        return reasons
    }

    private func reasons(againstText text: String) -> [Schema.Problem.Reason] {
        var reasons: [Schema.Problem.Reason] = []
        if let pattern, !pattern.matches(text) { reasons.append(.mismatch(pattern: pattern.text)) }
        if let kind, !kind.isQuantity, !kind.admits(text) { reasons.append(.notOfKind(kind.noun)) }
        return reasons
    }

    private func problemsInside(_ value: PropertyList, at path: EntryPath, _ isSecret: Bool) -> [Schema.Problem] {
        switch (contents, value) {
        case (.each(let rule), .array(let elements)):
            return elements.enumerated().flatMap { index, element in
                rule.problems(with: element, at: path.appending(.init(index)), isSecret: isSecret)
            }
        case (.each(let rule), .dictionary(let entries)):
            return entries.flatMap {
                rule.problems(with: $0.value, at: path.appending(.init($0.key)), isSecret: isSecret)
            }
        case (.entries(let declared), .dictionary(let entries)):
            return declared.problems(with: entries, at: path, isSecret: isSecret)
        default: return []
        }
    }
}

extension [SettingDeclaration] {
    /// Returns the problems of a dictionary whose entries are declared individually.
    fileprivate func problems(
        with entries: PropertyList.Dictionary, at path: EntryPath, isSecret: Bool
    ) -> [Schema.Problem] {
        let unknown = entries.filter { entry in !contains { $0.key.hasSameBytes(as: entry.key) } }.map { entry in
            let nearest = map(\.key).nearest(to: entry.key)
            return Schema.Problem(path: path.appending(.init(entry.key)), reason: .unknownKey(nearest: nearest))
        }
        return flatMap { row -> [Schema.Problem] in
            let place = path.appending(.init(row.key))
            guard let value = entries[row.key] else {
                return row.requiresValue ? [Schema.Problem(path: place, reason: .missing)] : []
            }
            return row.rule.problems(with: value, at: place, isSecret: isSecret || row.isSensitive)
        } + unknown
    }
}

extension EntryPath {
    func appending(_ component: Component) -> EntryPath { EntryPath(components + [component]) }
}

extension PropertyList {
    /// Returns whether this number or date is less than another of its type; false for other types.
    fileprivate func isBelow(_ other: PropertyList) -> Bool {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): a < b
        case (.date(let a), .date(let b)): a < b
        default:
            if let a = asDouble, let b = other.asDouble { a < b } else { false }
        }
    }

    private var asDouble: Double? { realValue ?? integerValue?.asDouble }

    fileprivate var isNaN: Bool { realValue?.isNaN ?? false }

    /// The number of Unicode scalars of a string, or of bytes of data.
    fileprivate var length: Int? { stringValue?.unicodeScalars.count ?? dataValue?.count }

    fileprivate var childCount: Int? { arrayValue?.count ?? dictionaryValue?.count }
}

extension ValueKind {
    /// Returns whether text can be of this kind, without accessing the system.
    func admits(_ text: String) -> Bool {
        switch self {
        case .file, .folder, .path: !text.isEmpty && !text.unicodeScalars.contains("\0")
        case .url: Self.isURL(text)
        case .host: Self.isHost(text)
        case .address: Self.isAddress(text)
        case .duration, .size: true
        }
    }

    /// Returns whether the text is a scheme, a colon and more text without white space.
    private static func isURL(_ text: String) -> Bool {
        let parts = text.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[0].first, first.isASCII, first.properties.isAlphabetic else {
            return false
        }
        let schemeCharacters = "+-.0123456789".unicodeScalars
        return parts[0].allSatisfy { $0.isASCII && $0.properties.isAlphabetic || schemeCharacters.contains($0) }
            && !parts[1].isEmpty
            && !parts[1].contains { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F }
    }

    /// Returns whether the text is a host, after a user and an at sign if it has one.
    private static func isAddress(_ text: String) -> Bool {
        guard let sign = text.unicodeScalars.lastIndex(of: "@") else { return isHost(text) }
        let user = text.unicodeScalars[..<sign]
        let isUser = user.first.map { $0 != "-" } ?? false
        return isUser && user.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 && $0.value != 0x7F }
            && isHost(String(text.unicodeScalars[text.unicodeScalars.index(after: sign)...]))
    }

    /// Returns whether the text is a host name, an IPv4 address or an IPv6 address, optionally with a port.
    private static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            return isIPv6(text[text.index(after: text.startIndex)..<end]) && (rest.isEmpty || isPort(rest))
        }
        if text.filter({ $0 == ":" }).count > 1 { return isIPv6(text[...]) }
        guard let colon = text.firstIndex(of: ":") else { return isName(text[...]) }
        return isName(text[..<colon]) && isPort(text[colon...])
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
            && (UInt16(text.dropFirst()) ?? 0) > 0
    }

    private static func isName(_ text: Substring) -> Bool {
        let labels = (text.hasSuffix(".") ? text.dropLast() : text).split(
            separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253 && !labels.isEmpty
            && labels.allSatisfy { label in
                1...63 ~= label.utf8.count && label.first != "-" && label.last != "-"
                    && label.allSatisfy { $0 == "-" || $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
    }

    private static func isIPv6(_ text: Substring) -> Bool {
        // The zone after a percent sign can be anything.
        let halves = text.prefix { $0 != "%" }.split(separator: "::", omittingEmptySubsequences: false)
        let hasGap = halves.count == 2
        let groups = halves.filter { !hasGap || !$0.isEmpty }.flatMap {
            $0.split(separator: ":", omittingEmptySubsequences: false)
        }
        return halves.count <= 2 && (hasGap ? groups.count < 8 : groups.count == 8)
            && groups.allSatisfy { 1...4 ~= $0.utf8.count && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}

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
