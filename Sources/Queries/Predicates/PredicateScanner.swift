internal import PropertyLists

/// Splits the text of a predicate into tokens.
struct PredicateScanner {
    enum Token: Equatable {
        /// A word, which may be a keyword.
        case word(String)
        /// A word that is a key even if it is a keyword: `#in`.
        case key(String)
        /// A word after `@`.
        case attribute(String)
        case variable(String)
        case path([EntryPath.Component])
        case string(String)
        case number(PropertyList)
        case symbol(String)
        case end
    }

    private let scalars: [Unicode.Scalar]
    private var at = 0
    /// The current token and its position.
    private(set) var token = Token.end
    private(set) var start = 0

    init(_ text: String, _ limits: Predicate.Limits) throws(Predicate.Failure) {
        guard text.utf8.count <= limits.textBytes else {
            throw Predicate.Failure(.tooLong(limit: limits.textBytes), at: nil)
        }
        scalars = Array(text.unicodeScalars)
        try advance()
    }

    var column: Int { start + 1 }

    private var next: Unicode.Scalar? { at < scalars.count ? scalars[at] : nil }

    private func failure(_ problem: Predicate.Failure.Problem, at place: Int) -> Predicate.Failure {
        Predicate.Failure(problem, at: place + 1)
    }

    /// The current token as written, for messages.
    var shown: String {
        if token == .end { return "the end" }
        let text = String(String.UnicodeScalarView(scalars[start..<max(at, start)].prefix(40)))
        return "“\(text)”"
    }

    mutating func advance() throws(Predicate.Failure) {
        while let scalar = next, scalar.properties.isWhitespace { at += 1 }
        start = at
        guard let scalar = next else {
            token = .end
            return
        }
        switch scalar {
        case "\"", "'": token = .string(try string(closedBy: scalar))
        case "0"..."9": token = .number(try number())
        case ":" where scalars.dropFirst(at + 1).first != "=": token = .path(try path())
        case "#": token = .key(try name(after: "#"))
        case "@": token = .attribute(try name(after: "@"))
        case "$": token = .variable(try name(after: "$"))
        case "%": throw failure(.unsupported("a format argument (use $NAME)"), at: start)
        case let scalar where scalar.beginsWord: token = .word(word())
        default: token = .symbol(try symbol())
        }
    }

    private mutating func word() -> String {
        let first = at
        while let scalar = next, scalar.continuesWord { at += 1 }
        return String(String.UnicodeScalarView(scalars[first..<at]))
    }

    private mutating func name(after sign: String) throws(Predicate.Failure) -> String {
        at += 1
        guard let scalar = next, scalar.beginsWord else {
            throw failure(.expected("a name after \(sign)", found: shownScalar), at: at)
        }
        return word()
    }

    private var shownScalar: String { next.map { "“\($0)”" } ?? "the end" }

    private static let symbols = [
        "**", "==", "!=", "<=", ">=", "=<", "=>", "<>", "&&", "||", ":=",
        "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "/",
    ]

    /// Returns the first spelling of a symbol that has several.
    private mutating func symbol() throws(Predicate.Failure) -> String {
        for symbol in Self.symbols where scalars[at...].starts(with: symbol.unicodeScalars) {
            at += symbol.unicodeScalars.count
            switch symbol {
            case "=": return "=="
            case "=<": return "<="
            case "=>": return ">="
            case "<>": return "!="
            default: return symbol
            }
        }
        throw failure(.expected("a word, a value or an operator", found: shownScalar), at: at)
    }
}

extension PredicateScanner {
    private mutating func string(closedBy quote: Unicode.Scalar) throws(Predicate.Failure) -> String {
        var text = String.UnicodeScalarView()
        at += 1
        while let scalar = next {
            at += 1
            if scalar == quote { return String(text) }
            text.append(scalar == "\\" ? try escape() : scalar)
        }
        throw failure(.unterminatedString, at: start)
    }

    private mutating func escape() throws(Predicate.Failure) -> Unicode.Scalar {
        let first = at - 1
        guard let scalar = next else { throw failure(.unterminatedString, at: start) }
        at += 1
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "\\", "\"", "'", "?", "*": return scalar
        case "u":
            let digits = scalars[at...].prefix(4)
            let text = String(String.UnicodeScalarView(digits))
            guard digits.count == 4, digits.allSatisfy({ $0.properties.isASCIIHexDigit }),
                let code = UInt32(text, radix: 16), let scalar = Unicode.Scalar(code)
            else { throw failure(.unknownEscape("\\u\(text)"), at: first) }
            at += 4
            return scalar
        default: throw failure(.unknownEscape("\\\(scalar)"), at: first)
        }
    }

    private mutating func number() throws(Predicate.Failure) -> PropertyList {
        let first = at
        at += 1
        // In `0xE-1`, the sign is an operator.
        let isDecimal = scalars[first] != "0" || next != "x" && next != "X"
        while let scalar = next, scalar.continuesNumber(after: isDecimal ? scalars[at - 1] : "0") { at += 1 }
        let text = String(String.UnicodeScalarView(scalars[first..<at]))
        guard let number = Self.number(text) else { throw failure(.invalidNumber(text), at: first) }
        return number
    }

    /// Parses a decimal number, or digits after `0x`, `0o` or `0b`.
    private static func number(_ text: String) -> PropertyList? {
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.lowercased().hasPrefix(prefix) {
            return UInt64(text.dropFirst(2), radix: radix).map { .integer(PropertyList.Integer($0)) }
        }
        if let integer = UInt64(text) { return .integer(PropertyList.Integer(integer)) }
        return Double(word: text).map { .real($0) }
    }

    /// Scans an entry path, which ends at white space, an operator other than `-`, or a bracket.
    private mutating func path() throws(Predicate.Failure) -> [EntryPath.Component] {
        var components: [String] = []
        while next == ":" {
            at += 1
            var component = String.UnicodeScalarView()
            while var scalar = next, scalar != ":", !scalar.endsPath {
                at += 1
                if scalar == "\\" {
                    guard let escaped = next else { throw failure(.unknownEscape("\\"), at: at - 1) }
                    scalar = escaped
                    at += 1
                }
                component.append(scalar)
            }
            components.append(String(component))
        }
        guard components != [""] else { throw failure(.expected("a key after :", found: shownScalar), at: at) }
        return components.map { EntryPath.Component($0) }
    }
}

extension Unicode.Scalar {
    fileprivate var beginsWord: Bool { self == "_" || properties.isAlphabetic }

    fileprivate var continuesWord: Bool {
        beginsWord || "0"..."9" ~= self || properties.canonicalCombiningClass != .notReordered
    }

    fileprivate var endsPath: Bool { properties.isWhitespace || "=<>!&|+*/,(){}[]\"'".unicodeScalars.contains(self) }

    /// Whether the scalar is part of a number: a digit or letter, a point, or a sign after the `e` of an exponent.
    fileprivate func continuesNumber(after previous: Unicode.Scalar) -> Bool {
        if "0"..."9" ~= self || beginsWord || self == "." { return true }
        return (self == "-" || self == "+") && (previous == "e" || previous == "E")
    }
}
