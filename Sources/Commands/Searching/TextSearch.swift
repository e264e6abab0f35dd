internal import PropertyLists

/// A case-insensitive search for a word.
struct TextSearch: Sendable {
    /// The word in lowercase.
    private let word: [UInt8]
    /// The first byte in both cases.
    private let first: (UInt8, UInt8)
    /// Whether numbers, booleans and dates are searched too, as they are printed.
    private let includesNumbers: Bool

    init(_ word: String, includesNumbers: Bool = false) {
        self.includesNumbers = includesNumbers
        self.word = Array(word.lowercased().utf8)
        let byte = self.word.first ?? 0
        first = (byte, byte.asCapitalLetter)
    }

    /// Returns whether the text contains the word.
    func finds(in text: String) -> Bool {
        if let found = find(in: text.utf8Span.span) { return found }
        // Only non-ASCII letters can differ in more than one bit between cases.
        let small = text.lowercased()
        return find(in: small.utf8Span.span, isLowercase: true) ?? false
    }

    /// Returns whether a key or value in the value contains the word, at any depth.
    func finds(in value: PropertyList) -> Bool {
        switch value {
        case .string(let text): finds(in: text)
        case .integer, .real, .boolean, .date: includesNumbers && finds(in: LineText.line(of: value))
        case .array(let elements): elements.contains { finds(in: $0) }
        case .dictionary(let entries): finds(in: entries)
        default: false
        }
    }

    func finds(in entries: PropertyList.Dictionary) -> Bool {
        entries.contains { finds(in: $0.key) || finds(in: $0.value) }
    }

    /// Returns nil if the text has non-ASCII characters and has not been lowercased, so that the result is not certain.
    private func find(in text: Span<UInt8>, isLowercase: Bool = false) -> Bool? {
        var isASCII = true
        for at in text.indices {
            let byte = text[at]
            if byte >= 0x80 { isASCII = false }
            if byte == first.0 || byte == first.1, hasWord(at, in: text) { return true }
        }
        if word.isEmpty { return true }
        return isASCII || isLowercase ? false : nil
    }

    private func hasWord(_ start: Int, in text: Span<UInt8>) -> Bool {
        guard text.count - start >= word.count else { return false }
        for at in word.indices where text[start + at].asSmallLetter != word[at] { return false }
        return true
    }
}
