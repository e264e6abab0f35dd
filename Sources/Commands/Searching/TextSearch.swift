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

/// A quick check whether a binary property list can contain a word, without parsing it.
///
/// Such a file stores strings as ASCII or as big-endian UTF-16. The check can be wrong if it finds the word, which may
/// span two strings, but not if it does not find it.
struct RawSearch: Sendable {
    /// The word in lowercase, which is ASCII only.
    private let word: [UInt8]
    /// The UTF-16 bytes of non-ASCII letters whose lowercase form begins with a letter of the word.
    private let foldingLetters: [(UInt8, UInt8)]

    /// Creates a check, or returns nil for a word with non-ASCII letters, which can have more than two forms.
    init?(_ word: String) {
        guard !word.isEmpty, word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        self.word = Array(word.lowercased().utf8)
        // The kelvin sign becomes "k" in lowercase, and a capital I with a dot becomes "i" and a combining dot.
        let known: [(letter: UInt8, halves: (UInt8, UInt8))] = [
            (UInt8(ascii: "k"), (0x21, 0x2A)), (UInt8(ascii: "i"), (0x01, 0x30)),
        ]
        let letters = self.word
        foldingLetters = known.filter { letters.contains($0.letter) }.map(\.halves)
    }

    func canBe(in file: [UInt8]) -> Bool {
        file.withUnsafeBufferPointer { bytes in
            let (small, capital) = (word[0], word[0].asCapitalLetter)
            let hasFoldingLetters = !foldingLetters.isEmpty
            for at in bytes.indices {
                let byte = bytes[at]
                if byte == small || byte == capital {
                    if hasWord(at, 1, in: bytes) || hasWord(at, 2, in: bytes) { return true }
                }
                if hasFoldingLetters, byte == 0x21 || byte == 0x01, isFoldingLetter(at, in: bytes) { return true }
            }
            return false
        }
    }

    /// Returns whether the letters of the word are at intervals of `step` bytes, with zeros between them.
    private func hasWord(_ start: Int, _ step: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count - start > (word.count - 1) * step else { return false }
        for index in word.indices.dropFirst() {
            let at = start + index * step
            if bytes[at].asSmallLetter != word[index] || step == 2 && bytes[at - 1] != 0 { return false }
        }
        return true
    }

    private func isFoldingLetter(_ at: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        at + 1 < bytes.count && foldingLetters.contains { $0 == (bytes[at], bytes[at + 1]) }
    }
}

extension UInt8 {
    /// The letter in lowercase; other bytes are unchanged.
    var asSmallLetter: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self &+ 0x20 : self
    }

    /// The letter in uppercase; other bytes are unchanged.
    var asCapitalLetter: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self &- 0x20 : self
    }
}

extension String {
    /// Whether a number, a boolean or a date may contain the word when it is printed. Files do not contain that text.
    var mayBeInNumber: Bool {
        let small = lowercased()
        return small.utf8.allSatisfy { ("0123456789+-.:etz").utf8.contains($0) }
            || ["true", "false", "nan", "infinity"].contains { $0.contains(small) }
    }
}
