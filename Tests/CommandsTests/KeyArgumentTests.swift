import Commands
import PropertyLists
import TestSupport
import Testing

@Suite struct KeyArgumentTests {
    static let rows: [(argument: String, key: String, rest: EntryPath)] = [
        ("theme", "theme", []), ("a.b.c", "a.b.c", []), ("a:b", "a:b", []), ("\\:theme", ":theme", []),
        ("\\a", "\\a", []), ("\\\\:a", "\\\\:a", []), (":theme", "theme", []), (":a:b", "a", ["b"]),
        (":apps:0:name", "apps", ["0", "name"]), (":a:-1", "a", ["-1"]), (":list:", "list", [.end]),
        (":a::b", "a", ["", "b"]),
        (":a\\:b:c", "a:b", ["c"]), (":\\\\", "\\", []), ("-int", "-int", []), ("0", "0", []), (" ", " ", []),
        ("\u{301}", "\u{301}", []), (":\u{301}", "\u{301}", []),
    ]

    @Test(arguments: rows)
    func `an argument names a key, or an entry inside its value`(
        _ row: (argument: String, key: String, rest: EntryPath)
    ) throws {
        let key = try KeyArgument(forWriting: row.argument)
        #expect(Array(key.key.utf8) == Array(row.key.utf8))
        #expect(key.rest == row.rest)
    }

    @Test(arguments: [
        ("", "a key must not be empty"), (":", ":: a key must not be empty"), ("::a", "::a: a key must not be empty"),
        ("a\0b", "a\\0b: a key must not contain a NUL"),
        (":a\\b", ":a\\b: \\b is not an escape; only \\:, \\\\ and \\* are"),
        (":a\\", ":a\\: \\ is not an escape; only \\:, \\\\ and \\* are"),
    ])
    func `an invalid key is rejected`(_ argument: String, _ line: String) {
        let failure = #expect(throws: KeyFailure.self) { try KeyArgument(forWriting: argument) }
        #expect(failure?.lines == [line])
        #expect(failure?.status == .invalidValue)
    }

    @Test func `every path has an argument that leads to it`() throws {
        var values = ValueGenerator(SeededGenerator(stream: "keys"))
        let keys =
            String.awkward + [":", "\\", "\\:", "\\:a", "\\\\:", "::", ":a:b"] + (0..<300).map { _ in values.text() }
        for (index, key) in keys.enumerated() {
            for path in [EntryPath([.init(key)]), EntryPath([.init(key), .init(keys[(index + 7) % keys.count])])] {
                let written = try KeyArgument(path)
                #expect(try KeyArgument(written.spelling).path == path, "\(Seed.ofThisRun)")
                if let argument = written.argument {
                    #expect(argument == written.spelling)
                    #expect(try KeyArgument(forWriting: argument).path == path)
                }
            }
        }
    }
}
