/// The flags for the type of a value of `write`.
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
        }
    }
}
