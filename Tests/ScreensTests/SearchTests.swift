import SchemaTools
import TestSupport
import Testing

@Suite struct `A search` {
    /// Rows of names and texts, numbered from 0.
    private static let rows: [(names: [String], texts: [String], states: RowStates, layer: String)] = [
        (["fontSize", "com.example.editor"], ["13", "Size of the text"], [.modified], "user"),
        (["fontName", "com.example.editor"], ["Mono"], [], "site"),
        (["URLTimeout", "com.example.editor"], ["30", "Seconds"], [.forced], "forced"),
        (["token", "org.example.backup"], ["••••"], [.modified, .secret], "user-host"),
        (["Größe", "org.example.backup"], ["Der Text"], [.conflict, .modified], "user"),
        (["prefont", "a"], ["size"], [], "user"),
    ]

    private static var index: SearchIndex {
        rows.reduce(into: SearchIndex()) {
            $0.append(names: $1.names, texts: $1.texts, states: $1.states, layer: $1.layer)
        }
    }

    /// A text, and the rows that it finds, the best first.
    @Test(arguments: [
        ("", [0, 1, 2, 3, 4, 5]), ("  ", [0, 1, 2, 3, 4, 5]), ("font", [0, 1, 5]), ("FONT", [0, 1, 5]),
        ("size font", [0, 5]), ("font size", [0, 5]), ("fs", [0]), ("fntsz", [0]), ("fn", [1, 0]), ("nf", []),
        ("ut", [2]), ("url", [2]), ("timeout", [2]), ("mono", [1]), ("text", [0, 4]), ("gRÖSSE", []), ("GRÖẞE", [4]),
        ("größe", [4]), ("edit 13", [0]), ("backup", [3, 4]), ("ebk", [3, 4]), ("z", [0, 5]), ("•", [3]),
        ("\n", [0, 1, 2, 3, 4, 5]),
        ("font\tsize", [0, 5]),
        ("@modified", [0, 3, 4]), ("@MODIFIED text", [0, 4]), ("@forced", [2]), ("@conflict", [4]), ("@secret", [3]),
        ("@layer:user", [0, 3, 4, 5]), ("@layer:user-", [3]), ("@layer:site font", [1]),
        ("@layer:", [0, 1, 2, 3, 4, 5]),
        ("@sec", [0, 1, 2, 3, 4, 5]), ("@", [0, 1, 2, 3, 4, 5]), ("@sec font", []), ("@other", []),
        ("@modified @secret", [3]), ("@modified @forced", []), ("fontfontfont", []),
    ])
    func `finds rows`(_ text: String, _ found: [Int]) {
        var index = Self.index
        #expect(index.matches(SearchQuery(text)) == found)
    }

    @Test func `finds the same letter by letter as at once, and each row that contains all words`() {
        var generator = SeededGenerator(stream: "searches")
        func word(_ letters: String, _ count: ClosedRange<Int>) -> String {
            String(
                (0..<Int.random(in: count, using: &generator)).map { _ in letters.randomElement(using: &generator)! })
        }
        for _ in 0..<300 {
            let rows = (0..<Int.random(in: 1...30, using: &generator)).map { _ in
                (names: [word("abAB.ä-", 1...12), word("aB", 0...4)], texts: [word("ab ÄB", 0...8)])
            }
            var index = SearchIndex()
            for row in rows { index.append(names: row.names, texts: row.texts) }
            let text = (0..<Int.random(in: 1...3, using: &generator)).map { _ in word("abäB", 1...4) }
                .joined(separator: " ")
            var atOnce = index
            let expected = atOnce.matches(SearchQuery(text))
            for length in 1...text.count { _ = index.matches(SearchQuery(String(text.prefix(length)))) }
            #expect(index.matches(SearchQuery(text)) == expected, "\(text) in \(rows)")
            let words = text.lowercased().split(separator: " ")
            for (number, row) in rows.enumerated() {
                let texts = (row.names + row.texts).map { $0.lowercased() }
                let contains = words.allSatisfy { word in texts.contains { $0.contains(word) } }
                let isFound = expected.contains(number)
                #expect(isFound || !contains, "\(text) in \(row)")
                // Each word is at least in one text, letter by letter.
                let isPossible = words.allSatisfy { word in texts.contains { Self.has(word, in: $0) } }
                #expect(isPossible || !isFound, "\(text) in \(row)")
            }
        }
    }

    private static func has(_ letters: Substring, in text: String) -> Bool {
        var rest = text.unicodeScalars[...]
        return letters.unicodeScalars.allSatisfy { letter in
            guard let at = rest.firstIndex(of: letter) else { return false }
            rest = rest[rest.index(after: at)...]
            return true
        }
    }
}
