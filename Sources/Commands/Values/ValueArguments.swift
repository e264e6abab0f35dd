package import Platform
package import PropertyLists
internal import SettingsSchema

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Parses the words after the key of `write`.
package struct ValueArguments {
    private var words: ArraySlice<String>
    private let context: CommandContext
    private var dialect: Dialect { context.dialect }

    /// Parses the words: in `prefs` a type flag and its words, in `defaults` also a word without a type.
    package static func request(
        _ words: [String], in context: CommandContext
    ) throws(ValueFailure) -> WriteRequest {
        var arguments = ValueArguments(words: words[...], context: context)
        let request = try arguments.request()
        if let extra = arguments.words.first { throw ValueFailure(.unexpectedArgument(extra)) }
        return request
    }

    private mutating func request() throws(ValueFailure) -> WriteRequest {
        guard let first = words.popFirst() else { throw ValueFailure(.missingArgument) }
        guard let flag = flag(first) else {
            // A single word that begins with a dash is a value. The first of several words must be a type.
            guard words.isEmpty || first.utf8.first != UInt8(ascii: "-") else {
                throw ValueFailure(.unknownType(first, nearest: Self.nearest(to: first)))
            }
            return .bare(first)
        }
        switch flag {
        case .array: return .value(.array(try elements()))
        case .arrayAdd: return .append(try elements())
        case .dict: return .value(.dictionary(try entries()))
        case .dictAdd: return .merge(try entries())
        case .add: return .add(try value(.add))
        case .toggle: return .toggle
        case .stdin: return .text(try standardInput())
        default: return .value(try value(flag))
        }
    }

    private mutating func elements() throws(ValueFailure) -> [PropertyList] {
        var elements: [PropertyList] = []
        while !words.isEmpty { elements.append(try element()) }
        return elements
    }

    private mutating func entries() throws(ValueFailure) -> PropertyList.Dictionary {
        var entries = PropertyList.Dictionary()
        while let key = words.popFirst() {
            guard !words.isEmpty else { throw ValueFailure(.keyWithoutValue(key)) }
            entries[key] = try element()
        }
        return entries
    }

    /// Parses an element or an entry: a word, or a type and a word.
    private mutating func element() throws(ValueFailure) -> PropertyList {
        guard let first = words.popFirst() else { throw ValueFailure(.missingArgument) }
        guard let flag = flag(first) else {
            return dialect == .modern ? .string(first) : try PropertyList(bareElement: first)
        }
        guard !flag.isComposite else { throw ValueFailure(.nestedComposite(flag)) }
        guard !flag.isOnlyModern else { throw ValueFailure(.notInComposite(flag)) }
        return try value(flag)
    }

    private func flag(_ word: String) -> TypeFlag? {
        if dialect == .modern { return TypeFlag(word: word) }
        return TypeFlag(rawValue: word).flatMap { $0.isOnlyModern ? nil : $0 }
    }

    /// Returns the text of the standard input without a final newline.
    private func standardInput() throws(ValueFailure) -> String {
        var bytes = try contents("-")
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw ValueFailure(.inputIsNotText) }
        return text
    }

    private mutating func value(_ flag: TypeFlag) throws(ValueFailure) -> PropertyList {
        guard let word = words.popFirst() else { throw ValueFailure(.missingValue(flag)) }
        let value: PropertyList? =
            switch flag {
            case .string: .string(word)
            case .int, .integer: PropertyList.Integer(word: word).map { .integer($0) }
            case .float: Double(word: word).map { .real($0) }
            case .bool, .boolean: Bool(word: word).map { .boolean($0) }
            case .date: (word == "now" ? context.clock.wall.date.wholeSecond : Date(word: word)).map { .date($0) }
            case .data: .data(try data(word))
            case .json: try parsed(word, flag, .json)
            case .plist: try parsed(word, flag, nil)
            case .add: PropertyList(addend: word)
            case .array, .arrayAdd, .dict, .dictAdd, .stdin, .toggle: nil
            }
        guard let value else { throw ValueFailure(.malformed(flag, word)) }
        return value
    }

    private func data(_ word: String) throws(ValueFailure) -> Data {
        if word.utf8.first == UInt8(ascii: "@"), word != "@" {
            return Data(try contents(String(word.unicodeScalars.dropFirst())))
        }
        do throws(Data.WordProblem) {
            return try Data(word: word)
        } catch {
            throw ValueFailure(error == .oddDigits ? .oddDigits(word) : .malformed(.data, word))
        }
    }

    private func contents(_ name: String) throws(ValueFailure) -> [UInt8] {
        do {
            return try context.contents(name, limit: PropertyList.Limits.default.inputBytes)
        } catch let failure as SystemFailure {
            throw ValueFailure(.unreadable(failure))
        } catch let failure as Environment.MissingHomeFolder {
            throw ValueFailure(.homeless(failure))
        } catch {
            throw ValueFailure(.noSuchFile(name))
        }
    }

    /// Parses text. JSON may contain values wrapped by `--lossless-json`.
    private func parsed(
        _ text: String, _ flag: TypeFlag, _ format: PropertyList.Format?
    ) throws(ValueFailure) -> PropertyList {
        do throws(DecodingFailure) {
            guard format != .json else { return try LosslessJSON.value(of: text) }
            // A word such as 12 or true is a string, as in `defaults`.
            var options = PropertyList.ReadingOptions(readsScalarsAsJSON: false)
            options.inexactIntegers = .refused
            return try PropertyList(parsing: text, as: format, options: options)
        } catch {
            let entry = error.path.components.isEmpty ? "" : " (at \(error.path.description.onOneLine))"
            // The advice in the message is for files.
            let problem = if case .onlyIn(_, let inner) = error.problem { inner } else { error.problem }
            throw ValueFailure(.damaged(flag, error.location(in: text.utf8), "\(problem)\(entry)"))
        }
    }

    private static func nearest(to word: String) -> TypeFlag? {
        TypeFlag.ofBoth.map(\.rawValue).nearest(to: word).flatMap { TypeFlag(rawValue: $0) }
    }
}

/// The flags of `write` for the type of a value, or for a change that depends on the stored value.
package enum TypeFlag: String, Hashable, Sendable, CaseIterable {
    case string = "-string"
    case int = "-int"
    case integer = "-integer"
    case float = "-float"
    case bool = "-bool"
    case boolean = "-boolean"
    case date = "-date"
    case data = "-data"
    case array = "-array"
    case arrayAdd = "-array-add"
    case dict = "-dict"
    case dictAdd = "-dict-add"
    case json = "-json"
    case plist = "-plist"
    case stdin = "-stdin"
    case add = "-add"
    case toggle = "-toggle"
}

extension TypeFlag {
    /// Returns the flag that a word names, with one dash or two.
    package init?(word: String) {
        guard word.utf8.first == UInt8(ascii: "-") else { return nil }
        let isLong = word.utf8.starts(with: "--".utf8)
        guard let flag = TypeFlag(rawValue: isLong ? String(word.dropFirst()) : word) else { return nil }
        self = flag
    }

    /// Whether the flag takes all remaining words rather than one.
    package var isComposite: Bool {
        switch self {
        case .array, .arrayAdd, .dict, .dictAdd: true
        default: false
        }
    }

    /// Whether `defaults` does not have the flag.
    package var isOnlyModern: Bool { [.stdin, .add, .toggle].contains(self) }

    /// Whether its words are keys with values.
    package var hasKeys: Bool { self == .dict || self == .dictAdd }

    /// The flags that both `prefs` and `defaults` have.
    package static let ofBoth = allCases.filter { !$0.isOnlyModern }

    /// Whether a word follows the flag.
    package var takesWord: Bool { self != .stdin && self != .toggle }

    /// The flag with its argument, for help.
    var usage: String { takesWord ? "\(rawValue) \(argument.name)" : rawValue }

    /// The placeholder of the flag's argument and its description, for help and the manual.
    package var argument: (name: String, meaning: String) {
        switch self {
        case .string: ("TEXT", "the text as it is")
        case .int, .integer: ("N", "a whole number, decimal or 0x…, from −2^63 to 2^64−1")
        case .float: ("F", "a real number; also nan, inf and -inf")
        case .bool, .boolean: ("B", "true false yes no on off 1 0, in any case")
        case .date:
            ("D", "RFC 3339, YYYY-MM-DD HH:MM:SS +HHMM, YYYY-MM-DD, YYYY-MM-DD HH:MM, or now; UTC if no zone is given")
        case .data: ("HEX", "hexadecimal digits, or @FILE, or base64:TEXT")
        case .array: ("VALUE…", "an array of the values; a type can precede each")
        case .arrayAdd: ("VALUE…", "append the values to the existing array")
        case .dict: ("KEY VALUE…", "a dictionary; a type can precede each value")
        case .dictAdd: ("KEY VALUE…", "add the entries to the existing dictionary")
        case .json: ("TEXT", "any value, as JSON")
        case .plist: ("TEXT", "any value, as the text of a property list")
        case .stdin: ("", "the text of the standard input, without its final newline")
        case .add: ("N", "add a number, which can be negative or a real; a missing value is 0")
        case .toggle: ("", "invert a Boolean; a missing value is false")
        }
    }
}

/// The reason words are not a valid value.
package struct ValueFailure: Reportable, Hashable {
    package enum Problem: Hashable, Sendable {
        /// The word is not valid for the type.
        case malformed(TypeFlag, String)
        case oddDigits(String)
        /// The word contains special characters of property lists but cannot be parsed as one.
        case notParsed(String)
        /// The JSON or property list text is invalid.
        case damaged(TypeFlag, TextLocation?, String)
        case missingValue(TypeFlag)
        case missingArgument
        case unexpectedArgument(String)
        case unknownType(String, nearest: TypeFlag?)
        case nestedComposite(TypeFlag)
        /// A flag for a whole value inside an array or a dictionary.
        case notInComposite(TypeFlag)
        case inputIsNotText
        /// The existing value has the wrong type for the change.
        case notChangeable(PropertyList.Kind, by: TypeFlag, key: String)
        /// The sum is beyond the range or the precision of numbers.
        case notRepresentable(key: String)
        case keyWithoutValue(String)
        /// The existing value has the wrong type for adding elements or entries.
        case notAnArray(key: String)
        case notADictionary(key: String)
        /// The replacement for a whole domain is not a dictionary.
        case notAReplacement
        /// Text without a type would replace a value of a type that has no text.
        case textOver(PropertyList.Kind, key: String)
        case noSuchFile(String)
        case unreadable(SystemFailure)
        case homeless(Environment.MissingHomeFolder)
    }

    package let problem: Problem

    package init(_ problem: Problem) { self.problem = problem }
}

extension ValueFailure {
    package var status: ExitStatus {
        switch problem {
        case .missingValue, .missingArgument, .unexpectedArgument, .unknownType: .usage
        case .notAReplacement, .noSuchFile: .notFound
        case .unreadable, .homeless: .systemFailed
        default: .invalidValue
        }
    }

    package var lines: [String] {
        switch problem {
        case .notParsed(let text): ["cannot parse \(shown(text)) as a property list"]
        case .missingArgument: ["missing value; nothing was changed"]
        case .unexpectedArgument(let text):
            ["unexpected argument \(shown(text)); quote a value with spaces, or use --array for several"]
        case .nestedComposite(let flag):
            ["\(Dialect.modern.spelling(flag)) cannot be inside another one; use --json or --plist for nested values"]
        case .keyWithoutValue(let key): ["missing value for the key \(shown(key)); nothing was changed"]
        case .notAnArray(let key): ["\(key.onOneLine): not an array, so nothing can be appended; --array replaces it"]
        case .notADictionary(let key):
            ["\(key.onOneLine): not a dictionary, so no entry can be added; --dict replaces it"]
        case .notAReplacement: ["a domain can be replaced only by a dictionary; nothing was changed"]
        default: lines(in: .modern)
        }
    }

    package var classicLines: [String] {
        switch problem {
        case .notParsed(let text): ["Could not parse: \(text.onOneLine).  Try single-quoting it."]
        case .missingArgument: ["missing value; leaving defaults unchanged."]
        case .unexpectedArgument(let text): ["Unexpected argument \(shown(text)); leaving defaults unchanged."]
        case .nestedComposite:
            ["Cannot nest composite types (arrays and dictionaries); leaving defaults unchanged."]
        case .keyWithoutValue(let key): ["Key \(key.onOneLine) lacks a corresponding value"]
        case .notAnArray(let key):
            ["Value for key \(key) is not an array; cannot append.  Leaving defaults unchanged."]
        case .notADictionary(let key):
            ["Value for key \(key) is not a dictionary; cannot append.  Leaving defaults unchanged."]
        case .notAReplacement: ["Rep argument is not a dictionary", "Defaults have not been changed."]
        default: lines(in: .classic)
        }
    }

    /// The lines for problems that macOS has no own message for.
    private func lines(in dialect: Dialect) -> [String] {
        switch problem {
        case .malformed(let flag, let text): ["\(dialect.spelling(flag)) \(shown(text)): not \(flag.noun)"]
        case .oddDigits(let text): ["\(dialect.spelling(.data)) \(shown(text)): an odd number of hexadecimal digits"]
        case .damaged(let flag, let place, let reason):
            ["\(dialect.spelling(flag)): \(place.map { "\($0.line):\($0.column): " } ?? "")\(reason)"]
        case .missingValue(let flag): ["\(dialect.spelling(flag)) requires \(flag.argument.name)"]
        case .unknownType(let text, let nearest):
            ["unknown type \(shown(text))\(nearest.map { "; did you mean \(dialect.spelling($0))?" } ?? "")"]
        case .textOver(let kind, let key):
            ["\(key.onOneLine): holds \(kind.withArticle), which text cannot replace; use \(kind.flags)"]
        case .notInComposite(let flag):
            ["\(dialect.spelling(flag)) is for a whole value, and cannot be inside an array or a dictionary"]
        case .inputIsNotText: ["the standard input is not UTF-8 text; nothing was changed"]
        case .notChangeable(let kind, let flag, let key):
            [
                "\(key.onOneLine): the value is \(kind.withArticle), and \(dialect.spelling(flag)) requires \(flag.noun); nothing was changed (\(dialect.spelling(flag == .toggle ? .bool : .int)) replaces it)"
            ]
        case .notRepresentable(let key):
            ["\(key.onOneLine): the sum is beyond the range or precision of its type; nothing was changed"]
        case .noSuchFile(let name): ["\(name): no such file"]
        case .unreadable(let failure): [failure.description]
        case .homeless(let failure): [failure.description]
        default: []
        }
    }
}

extension PropertyList.Kind {
    /// The type flags that replace a value of this type, for a message.
    fileprivate var flags: String {
        switch self {
        case .data: "--data HEX, or --string TEXT"
        case .array: "--array, --json or --plist, or --string TEXT"
        default: "--dict, --json or --plist, or --string TEXT"
        }
    }
}

extension TypeFlag {
    /// A description of valid words for the flag.
    fileprivate var noun: String {
        switch self {
        case .int, .integer: "a whole number from −2^63 to 2^64−1"
        case .float: "a number that a double can hold"
        case .bool, .boolean: "true, false, yes, no, on, off, 1 or 0"
        case .date: "a date; write 2001-02-03T04:05:06Z, 2001-02-03 04:05:06 +0000, 2001-02-03 or now"
        case .data: "hexadecimal digits, @FILE or base64:TEXT"
        case .add: "a finite number"
        case .toggle: "a Boolean"
        default: "a value"
        }
    }
}

/// Returns a word for a message, on one line.
private func shown(_ text: String) -> String { text.isEmpty ? "''" : ShellWord.quoted(text.onOneLine) }
