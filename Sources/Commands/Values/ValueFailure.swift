package import Platform
package import PropertyLists

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
        default: "a value"
        }
    }
}

/// Returns a word for a message, on one line.
private func shown(_ text: String) -> String { text.isEmpty ? "''" : ShellWord.quoted(text.onOneLine) }
