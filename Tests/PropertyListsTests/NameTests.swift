import PropertyLists
import TestSupport
import Testing

@Suite struct NameTests {
    @Test(arguments: [
        ("a", "a", true), ("\u{E9}", "e\u{301}", false), ("K", "\u{212A}", false), ("\u{212B}", "\u{C5}", false),
        ("", "", true), ("a", "a\u{0}", false), ("ab", "abcdefgh", false), ("abcdefghi", "abcdefghj", false),
        ("abcdefghij", "abcdefghij", true),
    ])
    func `are equal if their bytes are`(_ a: String, _ b: String, isEqual: Bool) {
        #expect((Name(a) == Name(b)) == isEqual)
        #expect((EntryPath.Component(a) == EntryPath.Component(b)) == isEqual)
        #expect([a].contains(exactly: b) == isEqual)
        #expect(Set([Name(a), Name(b)]).count == (isEqual ? 1 : 2))
        #expect((Name(a) < Name(b)) != (Name(b) < Name(a)) || isEqual)
    }

    @Test(
        arguments: [
            ("a.plist", ".plist", "a"), ("a\u{600}.plist", ".plist", "a\u{600}"), (".plist", ".plist", ""),
            ("plist", ".plist", nil), ("a.plist\u{301}", ".plist", nil), ("a.e\u{301}", ".\u{E9}", nil), ("a", "", "a"),
        ] as [(String, String, String?)])
    func `lose an ending with the same bytes`(_ text: String, _ ending: String, _ rest: String?) {
        #expect(text.dropping(ending: ending).map { Array($0.utf8) } == rest.map { Array($0.utf8) })
    }
}
