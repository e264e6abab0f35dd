import Commands
import PropertyLists
import TestSupport
import Testing

@Suite struct DifferencesTests {
    static let rows: [(old: String, new: String, text: String)] = [
        ("{}", "{}", ""), ("{a: 1, b: [1, {c: 2}]}", "{b: [1, {c: 2}], a: 1}", ""),
        ("{}", "{a: 1}", "+ a: 1\n"), ("{a: 1}", "{}", "- a: 1\n"), ("{a: 1}", "{a: \"1\"}", "- a: 1\n+ a: \"1\"\n"),
        ("{a: 1}", "{a: 1.0}", "- a: 1\n+ a: 1.0\n"), ("{a: true}", "{a: 1}", "- a: true\n+ a: 1\n"),
        ("{a: {b: 1, c: 2}}", "{a: {b: 1, c: 3}}", "- :a:c: 2\n+ :a:c: 3\n"),
        ("{a: {b: 1}}", "{a: {}}", "- :a:b: 1\n"), ("{a: {}}", "{a: []}", "- a: {}\n+ a: []\n"),
        ("{a: [1, 2]}", "{a: [1, 2, 3]}", "+ :a:2: 3\n"), ("{a: [1, 2, 3]}", "{a: [1]}", "- :a:1: 2\n- :a:2: 3\n"),
        ("{a: [1, 2]}", "{a: [1, {x: 2}]}", "- :a:1: 2\n+ :a:1: {\"x\":2}\n"),
        ("{a: [{x: 1}]}", "{a: [{x: 2}]}", "- :a:0:x: 1\n+ :a:0:x: 2\n"),
        ("{\":a\": 1}", "{}", "- \\:a: 1\n"), ("{\"a\\nb\": 1}", "{}", "- a\\nb: 1\n"),
        ("{b: 1, a: 1}", "{c: 1, a: 2}", "- a: 1\n+ a: 2\n- b: 1\n+ c: 1\n"),
        (
            "{}", "{a: <00ff>, b: @(0.0), c: nan}",
            "+ a: {\"$data\":\"AP8=\"}\n+ b: {\"$date\":\"2001-01-01T00:00:00Z\"}\n+ c: {\"$real\":\"nan\"}\n"
        ),
        ("{\"caf\\u{E9}\": 1}", "{\"cafe\\u{301}\": 1}", "+ cafe\u{301}: 1\n- caf\u{E9}: 1\n"),
    ]

    private func dictionary(_ text: String) throws -> PropertyList.Dictionary {
        try #require(try ValueNotation.value(text).dictionaryValue)
    }

    @Test(arguments: rows)
    func `differences are reported entry by entry`(_ row: (old: String, new: String, text: String)) throws {
        let differences = Differences(from: try dictionary(row.old), to: try dictionary(row.new))
        #expect(Array(differences.text().utf8) == Array(row.text.utf8))
        #expect(differences.isEmpty == row.text.isEmpty)
    }

    @Test func `differences are reported in JSON`() throws {
        let differences = Differences(
            from: try dictionary("{a: 1, b: [1]}"), to: try dictionary("{a: 2, b: [1, 2], c: 3}"))
        let expected = """
            [{path: ":a", change: "changed", old: 1, new: 2}, {path: ":b:1", change: "added", new: 2},
             {path: ":c", change: "added", new: 3}]
            """
        #expect(differences.json() == (try ValueNotation.value(expected)))
    }

    @Test func `a deep difference is reported at the depth limit`() {
        func nested(_ leaf: PropertyList) -> PropertyList {
            (0..<500).reduce(leaf) { value, _ in .dictionary(["k": value]) }
        }
        let differences = Differences(from: ["k": nested(1)], to: ["k": nested(2)])
        #expect(differences.entries.count == 1)
        #expect(differences.entries.first?.path.components.count == 64)
    }

    @Test func `sensitive values are not shown`() throws {
        let masking = Masking { $0 == ["token"] || $0 == ["nested", "secret"] }
        let old = try dictionary("{token: \"hush\", nested: {secret: \"hush\", plain: 1}, other: 1}")
        let new = try dictionary("{token: \"hushhush\", nested: {secret: \"hushhush\", plain: 2}, other: {x: 1}}")
        let whole = Differences(from: [:], to: new)
        let changes = Differences(from: old, to: new)
        for text in [changes.text(masking: masking), whole.text(masking: masking)] + [
            try #require(LosslessJSON.text(of: changes.json(masking: masking))),
            try #require(LosslessJSON.text(of: whole.json(masking: masking))),
            try CommandLines(from: old, to: new, CommandSpelling("d"), masking: masking).text(),
            try CommandLines(from: [:], to: new, CommandSpelling("d"), masking: masking).text(),
        ] {
            #expect(!text.contains("hush"), "\(text)")
            #expect(text.contains("••••"))
        }
        #expect(
            changes.text(masking: masking) == """
                - :nested:plain: 1
                + :nested:plain: 2
                - :nested:secret: ••••
                + :nested:secret: ••••
                - other: 1
                + other: {"x":1}
                - token: ••••
                + token: ••••

                """)
    }

    @Test func `a value that is replaced as a whole does not expose a sensitive entry`() throws {
        let masking = Masking { $0 == ["a", "secret"] }
        let old = try dictionary("{a: {secret: \"hush\", \"\": 1, other: 1}, b: 1}")
        let new = try dictionary("{a: {secret: \"hush\", \"\": 2, other: 2}, b: 2}")
        #expect(
            try CommandLines(from: old, to: new, CommandSpelling("d"), masking: masking).text() == """
                # a: omitted because it contains a sensitive value
                prefs write d b -int 2

                """)
        #expect(throws: CommandFailure.self) {
            try CommandLines(
                from: try dictionary("{\"\": 1, a: {secret: \"hush\"}}"), to: try dictionary("{a: {secret: \"hush\"}}"),
                CommandSpelling("d"), masking: masking
            ).text()
        }
    }

    @Test func `the time is proportional to the number of differences`() throws {
        let keys = (0..<20_000).map { "key\($0)" }
        let old = PropertyList.Dictionary(keys.map { ($0, 1) })
        let new = PropertyList.Dictionary(keys.map { ($0, 2) })
        let lines = try CommandLines(from: old, to: new, CommandSpelling("d")).text()
        #expect(lines.split(separator: "\n").count == keys.count)
    }
}
