import Preferences
import PropertyLists
import Testing

@testable import Commands

@Suite struct SearchTests {
    static let globs: [(pattern: String, text: String, matches: Bool)] = [
        ("", "", true), ("", "a", false), ("a", "a", true), ("a", "b", false), ("*", "", true), ("*", "abc", true),
        ("a*", "abc", true), ("*c", "abc", true), ("a*c", "abbc", true), ("a*c", "abb", false), ("?", "é", true),
        ("?", "", false), ("??", "a", false), ("a?c", "abc", true), ("[a-c]x", "bx", true), ("[a-c]x", "dx", false),
        ("[!a-c]x", "dx", true), ("[!a-c]x", "ax", false), ("[]]", "]", true), ("[a", "[a", true), ("[a-]", "-", true),
        ("[c-a]", "b", true), ("\\*", "*", true), ("\\*", "a", false), ("\\", "\\", true), ("a**b", "ab", true),
        ("*.example.*", "com.example.app", true), ("*.example.*", "com.sample.app", false), ("A", "a", false),
        ("*a*b*c*", "xxaxxbxxcxx", true), ("*a*b*c*", "xxaxxcxxbxx", false),
    ]

    @Test(arguments: globs)
    func `a pattern matches whole names`(_ row: (pattern: String, text: String, matches: Bool)) {
        #expect(Glob(row.pattern).matches(row.text) == row.matches)
    }

    @Test func `a pattern of many asterisks takes time bounded by the product of the lengths`() {
        let pattern = String(repeating: "a*", count: 1000) + "b"
        #expect(!Glob(pattern).matches(String(repeating: "a", count: 20_000)))
    }

    static let words: [(word: String, text: String, isThere: Bool)] = [
        ("", "", true), ("", "a", true), ("a", "", false), ("dark", "Dark", true), ("DARK", "a dark b", true),
        ("dark", "darj", false), ("dark", "dar", false), ("dark", "ddark", true), ("é", "É", true),
        ("É", "cafés", true),
        ("ß", "STRASSE", false), ("ß", "ẞ", true), ("k", "\u{212A}", true), ("@", "`", false), ("[", "{", false),
        ("a\u{0}b", "A\u{0}B", true), ("aab", "aaab", true), ("σ", "ΟΔΟΣ", true),
    ]

    @Test(arguments: words)
    func `a word is found in any case`(_ row: (word: String, text: String, isThere: Bool)) {
        #expect(TextSearch(row.word).finds(in: row.text) == row.isThere)
    }

    @Test(arguments: words)
    func `a file that contains the word in a text is never skipped`(_ row: (word: String, text: String, isThere: Bool))
        throws
    {
        guard let search = RawSearch(row.word) else { return }
        for text in [row.text, "选 " + row.text, row.text + "é"] {
            let value: PropertyList = ["key": .string(text), "other": [.string("x")]]
            let bytes = Array(try value.serialized(as: .binary))
            if TextSearch(row.word).finds(in: text) { #expect(search.canBe(in: bytes), "\(text)") }
        }
    }

    @Test func `a file without the word is usually skipped`() throws {
        let value: PropertyList = ["theme": "dark", "size": 14, "names": ["one", "two"]]
        let bytes = Array(try value.serialized(as: .binary))
        for word in ["light", "themes", "three", "k8"] { #expect(RawSearch(word)?.canBe(in: bytes) == false) }
        #expect(RawSearch("") == nil && RawSearch("é") == nil)
    }
}
