package import PropertyLists
package import SettingsSchema

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The change that `write` makes to an entry.
package enum WriteRequest: Hashable, Sendable {
    case value(PropertyList)
    /// A word of `defaults` without a type. A schema can determine its type more precisely than `PropertyList(bare:)`.
    case bare(String)
    /// A word of `prefs` without a type: the text of a value of the declared or else of the stored type.
    case text(String)
    /// Elements to append to the existing array.
    case append([PropertyList])
    /// Entries to merge into the existing dictionary.
    case merge(PropertyList.Dictionary)
    /// An integer or a finite real to add to the existing number.
    case add(PropertyList)
    /// The inversion of the existing Boolean.
    case toggle
}

extension WriteRequest {
    /// Returns the new value.
    ///
    /// - Parameters:
    ///   - old: The existing value.
    ///   - key: The key as given on the command line, for messages.
    ///   - rule: The rule of the schema, used to parse words without a type. The value is not checked against it.
    ///   - now: The date that `now` denotes.
    package func value(
        replacing old: PropertyList?, key: String, rule: ValueRule? = nil, now: Date? = nil
    ) throws(ValueFailure) -> PropertyList {
        switch self {
        case .value(let value):
            // Elements and entries without a type are converted too.
            guard value.arrayValue != nil || value.dictionaryValue != nil else { return value }
            return rule?.adapted(value, now: now) ?? value
        case .bare(let text):
            guard let rule else { return try PropertyList(bare: text) }
            return (try? rule.value(ofText: text, now: now)) ?? .string(text)
        case .text(let text):
            guard let rule, !rule.isOpen else {
                return try PropertyList(text: text, replacing: old, key: key, now: now)
            }
            let value = (try? rule.value(ofText: text, now: now)) ?? .string(text)
            // A program's file can have an integer where a number is declared.
            guard case .real = value, case .integer = old, text.isDecimal else { return value }
            return PropertyList.Integer(word: text).map { .integer($0) } ?? value
        case .append(let elements):
            let added = rule?.adapted(.array(elements), now: now).arrayValue ?? elements
            guard let old else { return .array(added) }
            guard case .array(let former) = old else { throw ValueFailure(.notAnArray(key: key)) }
            return .array(former + added)
        case .merge(let entries):
            let added = rule?.adapted(.dictionary(entries), now: now).dictionaryValue ?? entries
            guard let old else { return .dictionary(added) }
            guard case .dictionary(var merged) = old else { throw ValueFailure(.notADictionary(key: key)) }
            for entry in added { merged[entry.key] = entry.value }
            return .dictionary(merged)
        case .add(let number):
            return try (old ?? .integer(0)).adding(number, key: key).asNumber(of: rule)
        case .toggle:
            guard case .boolean(let flag) = old ?? false else {
                throw ValueFailure(.notChangeable(old?.kind ?? .null, by: .toggle, key: key))
            }
            return .boolean(!flag)
        }
    }

    /// Whether the new value depends on a number or a Boolean that exists.
    var isOfStoredValue: Bool {
        switch self {
        case .add, .toggle: true
        default: false
        }
    }

    /// The note on a word without a type that looks like a number or a Boolean but is stored as text, or nil.
    var noteOnText: String? {
        guard case .text(let text) = self else { return nil }
        let (noun, flag): (String, TypeFlag)
        if PropertyList.Integer(word: text) != nil {
            (noun, flag) = ("a number", .int)
        } else if text.utf8.contains(where: { $0 &- 0x30 <= 9 }), Double(word: text)?.isFinite ?? false {
            (noun, flag) = ("a number", .float)
        } else if text == "true" || text == "false" {
            (noun, flag) = ("a Boolean", .bool)
        } else {
            return nil
        }
        return "wrote the text \"\(text.onOneLine)\"; for \(noun): \(Dialect.modern.spelling(flag)) \(text.onOneLine)"
    }

    /// Returns a notice if a word without a type changes the type of the existing value.
    package func notice(replacing old: PropertyList?, with new: PropertyList?, key: String) -> String? {
        guard let old, let new, old.kind != new.kind else { return nil }
        switch self {
        case .bare: return "\(key): was \(old.kind.rawValue), is now \(new.kind.rawValue)"
        case .text(let text):
            if case (.integer, .real(let number)) = (old, new) {
                return
                    "\(key.onOneLine): \(ShellWord.quoted(text.onOneLine)) is not an integer, so it is now stored as the real \(PropertyList.real(number).plainText)"
            }
            guard new.kind == .string else { return nil }
            let isNumber = old.kind == .integer || old.kind == .real
            let reason =
                isNumber && text.isDecimal ? "is an integer of more than 64 bits" : "is not \(old.kind.withArticle)"
            return "\(key.onOneLine): \(ShellWord.quoted(text.onOneLine)) \(reason), so it is now stored as a string"
        default: return nil
        }
    }
}

extension PropertyList {
    /// Parses a literal text as a value of the type that is stored, or else as a string.
    fileprivate init(text: String, replacing old: PropertyList?, key: String, now: Date?) throws(ValueFailure) {
        let value: PropertyList?
        switch old {
        case .integer:
            value =
                text.isDecimal
                ? PropertyList.Integer(word: text).map { .integer($0) } : text.numberWithFraction.map { .real($0) }
        case .real: value = Double(word: text).map { .real($0) }
        case .boolean:
            let isNumber = text == "0" || text == "1"
            value = isNumber ? nil : Bool(word: text).map { .boolean($0) }
        case .date: value = (text == "now" ? now?.wholeSecond : Date(word: text)).map { .date($0) }
        case .uid: value = text.isDecimal ? UInt64(text).map { .uid($0) } : nil
        case .data, .array, .dictionary: throw ValueFailure(.textOver(old?.kind ?? .data, key: key))
        case .string, .null, nil: value = nil
        }
        self = value ?? .string(text)
    }

    /// Parses an element or entry of `defaults` without a type. A backslash begins an escape, as in a quoted string.
    init(bareElement text: String) throws(ValueFailure) {
        if text.utf8.contains(UInt8(ascii: "\\")), !text.hasSpecialCharacter,
            let value = try? PropertyList(parsing: "\"\(text)\"", as: .openstep)
        {
            self = value
            return
        }
        try self.init(bare: text)
    }

    /// Parses a word without a type: a string, unless it contains a special character of property lists.
    package init(bare text: String) throws(ValueFailure) {
        guard text.hasSpecialCharacter else {
            self = .string(text)
            return
        }
        for format in [Format.openstep, .xml] {
            if let value = try? PropertyList(parsing: text, as: format) {
                self = value
                return
            }
        }
        throw ValueFailure(.notParsed(text))
    }
}

// MARK: Sums

extension PropertyList {
    /// Parses the number that `--add` adds.
    init?(addend text: String) {
        if let number = Integer(word: text) {
            self = .integer(number)
        } else if let number = Double(word: text), number.isFinite {
            self = .real(number)
        } else {
            return nil
        }
    }

    /// Returns the sum of two numbers: an integer if both are. Throws if this is no number, if the sum is out of range,
    /// or if rounding would lose the addend.
    fileprivate func adding(_ addend: PropertyList, key: String) throws(ValueFailure) -> PropertyList {
        guard kind == .integer || kind == .real else { throw ValueFailure(.notChangeable(kind, by: .add, key: key)) }
        if case (.integer(let left), .integer(let right)) = (self, addend) {
            if let left = Int128(exactly: left), let right = Int128(exactly: right),
                let sum = Integer(exactly: left + right)
            {
                return .integer(sum)
            }
        } else if let left = exactReal, let right = addend.exactReal, (left + right).isFinite,
            left + right != left || right == 0
        {
            return .real(left + right)
        }
        throw ValueFailure(.notRepresentable(key: key))
    }

    /// The number as a real, or nil if that would round it.
    private var exactReal: Double? {
        switch self {
        case .real(let number): number
        case .integer(let number): Int128(exactly: number).flatMap { Double(exactly: $0) }
        default: nil
        }
    }

    /// Returns the number in the type that a rule has for it, or unchanged if it has none.
    fileprivate func asNumber(of rule: ValueRule?) -> PropertyList {
        guard let rule, let text = try? RawText.text(of: self), let typed = try? rule.value(ofText: text, now: nil),
            typed.kind == .integer || typed.kind == .real
        else { return self }
        return typed
    }
}

extension PropertyList.Dictionary {
    /// Parses the replacement for a whole domain.
    package init(replacement text: String) throws(ValueFailure) {
        guard case .dictionary(let dictionary) = try PropertyList(bare: text) else {
            throw ValueFailure(.notAReplacement)
        }
        self = dictionary
    }
}

extension String {
    /// Whether the text has a character with a meaning in property lists.
    fileprivate var hasSpecialCharacter: Bool { utf8.contains { "\"()[]{}<>".utf8.contains($0) } }

    /// The number that digits with a point or an exponent denote, or nil.
    fileprivate var numberWithFraction: Double? {
        guard utf8.contains(where: { (0x30...0x39).contains($0) }), !utf8.contains(where: { $0 == UInt8(ascii: "x") })
        else { return nil }
        let isNothing = !utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.contains { (0x31...0x39).contains($0) }
        return Double(word: self).flatMap { $0.isFinite && ($0 != 0 || isNothing) ? $0 : nil }
    }

    /// Whether the text is decimal digits, after a sign if any.
    fileprivate var isDecimal: Bool {
        let digits = utf8.first == UInt8(ascii: "-") || utf8.first == UInt8(ascii: "+") ? utf8.dropFirst() : utf8[...]
        return !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension PropertyList.Kind {
    /// The name of the type in a sentence: `an integer`.
    var withArticle: String {
        switch self {
        case .integer, .array: "an \(rawValue)"
        case .data: rawValue
        default: "a \(rawValue)"
        }
    }
}

/// The arguments of `write` that express a value: the inverse of `ValueArguments`.
///
/// Scalars have a type flag, and so do the elements of small arrays and dictionaries. Other values are lossless JSON.
package struct ValueWords: Hashable, Sendable {
    package let words: [String]
    private let value: PropertyList

    /// The words where others follow, which an array or a dictionary would take for its own.
    var wordsBeforeOthers: [String] {
        guard TypeFlag(rawValue: words.first ?? "")?.isComposite ?? false, let json = LosslessJSON.text(of: value)
        else { return words }
        return [TypeFlag.json.rawValue, json]
    }

    /// Creates the words, or returns nil if the value is nested too deeply.
    package init?(_ value: PropertyList) {
        self.value = value
        if let words = Self.flagged(value), Self.fits(words) {
            self.words = words
            return
        }
        guard let json = LosslessJSON.text(of: value) else { return nil }
        words = [TypeFlag.json.rawValue, json]
    }

    package var fitsCommandLine: Bool { Self.fits(words) }

    /// Linux limits a single argument to 128 KiB. The limit for all arguments is much higher.
    private static let mostBytes = 120_000

    /// The maximum number of elements written as separate words.
    private static let mostElements = 64

    private static func fits(_ words: [String]) -> Bool {
        var total = 0
        for word in words { total += word.utf8.count }
        return total <= mostBytes
    }

    private static func flagged(_ value: PropertyList) -> [String]? {
        switch value {
        case .array(let elements) where elements.count <= mostElements:
            var words = [TypeFlag.array.rawValue]
            for element in elements {
                guard let scalar = scalar(element) else { return nil }
                words += scalar
            }
            return words
        case .dictionary(let entries) where entries.count <= mostElements:
            var words = [TypeFlag.dict.rawValue]
            for entry in entries.sortedEntries {
                // Among the words of a dictionary, an option is an error.
                let isOption = entry.key.utf8.starts(with: "--".utf8)
                guard !isOption, !entry.key.utf8.contains(0), let scalar = scalar(entry.value) else { return nil }
                words += [entry.key] + scalar
            }
            return words
        default: return scalar(value)
        }
    }

    private static func scalar(_ value: PropertyList) -> [String]? {
        switch value {
        case .string(let text): text.utf8.contains(0) ? nil : [TypeFlag.string.rawValue, text]
        case .integer(let number): [TypeFlag.int.rawValue, number.description]
        case .real(let number): [TypeFlag.float.rawValue, number.description]
        case .boolean(let flag): [TypeFlag.bool.rawValue, flag ? "true" : "false"]
        case .date(let date): date.rfc3339.map { [TypeFlag.date.rawValue, $0] }
        case .data(let data): [TypeFlag.data.rawValue, data.hexadecimal]
        case .uid, .null, .array, .dictionary: nil
        }
    }
}
