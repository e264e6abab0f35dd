import Commands
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `prefs query` {
    private static let bookmarks: PropertyList = [
        "Children": [
            ["title": "Swift", "tags": ["work", "code"], "visits": 12, "added": 3.5],
            ["title": "News", "tags": ["home"], "visits": 3],
            ["title": "Zoo\t1", "tags": [], "visits": 12, "private": true],
        ],
        "ByName": ["alpha": ["n": 1], "beta": ["n": 2], "gamma": 3],
    ]

    private func machine(_ format: PropertyList.Format = .binary) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        let root = machine.disk.process()
        var options = PropertyList.WritingOptions()
        options.keepsKeyOrder = true
        try root.replace("/b.plist", with: Array(Self.bookmarks.serialized(as: format, options: options)).span.bytes)
        try root.open("/b.plist", .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        try machine.store(["fontSize": 12, "theme": "dark", "accounts": ["work": ["port": 1]]], as: "com.example.a")
        try machine.store(
            ["fontSize": 16, "accounts": ["home": ["port": 2], "spare": ["port": 9]]], as: "com.example.b")
        try machine.store(["fontSize": 20], as: "org.example.c")
        return machine
    }

    private static let rows: [(words: [String], output: String)] = [
        (
            ["./b.plist", ":Children", "visits > 3", "--select", "title,visits", "--format", "lines"],
            "Swift\t12\nZoo\\t1\t12\n"
        ),
        (["./b.plist", ":Children", "ANY tags == 'work'", "--count"], "1\n"),
        (
            [
                "./b.plist", ":Children", "TRUEPREDICATE", "--sort", "-visits,title", "--select", "title", "--format",
                "tsv",
            ],
            "title\nSwift\nZoo\\t1\nNews\n"
        ),
        (
            ["./b.plist", ":Children", "visits < 5"],
            "[\n  {\n    \"title\": \"News\",\n    \"tags\": [\n      \"home\"\n    ],\n    \"visits\": 3\n  }\n]\n"
        ),
        (
            ["./b.plist", ":Children", "visits < 5", "--select", "added,title"],
            "[\n  {\n    \"title\": \"News\"\n  }\n]\n"
        ),
        (["./b.plist", ":Children", "TRUEPREDICATE", "--sum", "visits"], "27\n"),
        (
            ["./b.plist", ":Children", "TRUEPREDICATE", "--min", "visits", "--max", "visits", "--format", "tsv"],
            "@min.visits\t@max.visits\n3\t12\n"
        ),
        (["./b.plist", ":Children", "TRUEPREDICATE", "--average", "visits"], "9\n"),
        (["./b.plist", ":Children", "TRUEPREDICATE", "--average", "missing"], "null\n"),
        (["./b.plist", ":Children", "TRUEPREDICATE", "--distinct", "visits", "--format", "lines"], "12\n3\n"),
        (["./b.plist", ":Children", "TRUEPREDICATE", "--distinct", "visits", "--count"], "2\n"),
        (
            ["./b.plist", ":Children", "TRUEPREDICATE", "--group", "visits", "--sum", "added", "--format", "tsv"],
            "visits\t@count\t@sum.added\n12\t2\t3.5\n3\t1\t0\n"
        ),
        (
            [
                "./b.plist", ":Children", "TRUEPREDICATE", "--select", "title", "--offset", "1", "--limit", "1",
                "--format", "lines",
            ],
            "News\n"
        ),
        (["./b.plist", ":Children", "TRUEPREDICATE", "--select", "title", "--format", "nul"], "Swift\0News\0Zoo\t1\0"),
        (
            [
                "./b.plist", ":Children", "visits == $N AND title == $T", "--bind", "N=12", "--bind", "T:string=Swift",
                "--count",
            ], "1\n"
        ),
        (["./b.plist", ":ByName", "n >= 1", "--format", "tsv"], "@key\tn\nalpha\t1\nbeta\t2\n"),
        (["./b.plist", ":ByName", "SELF == 3", "--format", "tsv"], "@key\tSELF\ngamma\t3\n"),
        (["./b.plist", ":ByName", "@key BEGINSWITH 'a'", "--select", "@key", "--format", "lines"], "alpha\n"),
        (["./b.plist", ":Children:*:tags", "SELF LIKE '*o*'", "--format", "lines"], "work\ncode\nhome\n"),
        (["./b.plist", "@key == 'ByName'", "--select", "@key,SELF.@count", "--format", "lines"], "ByName\t3\n"),
        (["./b.plist", ":missing", "TRUEPREDICATE"], "[]\n"),
        (["com.example.a", "fontSize > 10", "--select", "theme", "--format", "lines"], "dark\n"),
        (["com.example.a", "fontSize > 14"], "[]\n"),
        (["com.example.*", "fontSize > 14", "--format", "lines"], "com.example.b\n"),
        (["*", "fontSize > 14", "--format", "lines"], "com.example.b\norg.example.c\n"),
        (
            ["*", ":accounts", "port > 1", "--format", "tsv"],
            "@domain\t@key\tport\ncom.example.b\thome\t2\ncom.example.b\tspare\t9\n"
        ),
        (["com.example.a", ":", "@key == 'theme'", "--format", "tsv"], "@key\tSELF\ntheme\tdark\n"),
        (["no.such.*", "TRUEPREDICATE", "--count"], "0\n"),
    ]

    @Test(arguments: rows)
    private func prints(_ row: (words: [String], output: String)) throws {
        let outcome = try runPrefs(["prefs", "query"] + row.words, on: machine())
        let note = row.words.contains("missing") ? "prefs: no record has missing\n" : ""
        #expect(outcome == Transcript.Outcome(output: row.output, errors: note, status: 0))
    }

    @Test(arguments: rows.filter { $0.words[0] == "./b.plist" })
    private func `prints the same of any format`(_ row: (words: [String], output: String)) throws {
        for format in [PropertyList.Format.xml, .json] {
            #expect(
                try runPrefs(["prefs", "query"] + row.words, on: machine(format)).output == row.output, "\(format)")
        }
    }

    /// Each of the other 18,000 values is damaged in such a way that decoding it is an error.
    @Test func `decodes only the two named fields of twenty from a binary file`() throws {
        let (fields, named) = ((10..<30).map { "f\($0)" }, ["f12", "f27"])
        let records = (1000..<2000).map { number in
            PropertyList.dictionary(PropertyList.Dictionary(fields.map { ($0, .string("<\($0) \(number)>")) }))
        }
        var file = Array(try PropertyList.array(records).serialized(as: .binary))
        var damaged = 0
        for at in file.indices.dropFirst() where file[at] == UInt8(ascii: "<") {
            let field = fields.first { file[at...].starts(with: "<\($0) ".utf8) }
            guard let field, !named.contains(field) else { continue }
            file[at - 1] = 0x90
            damaged += 1
        }
        #expect(damaged == 18_000)
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/n.plist", with: file.span.bytes)
        func query(_ words: String...) throws -> Transcript.Outcome {
            try runPrefs(["prefs", "query", "/tmp/n.plist"] + words, on: machine)
        }
        let found = try query("f12 >= '<f12 1500>'", "--select", "f27", "--format", "lines")
        #expect(found.output == (1500..<2000).map { "<f27 \($0)>\n" }.joined() && found.status == 0)
        for other in fields where !named.contains(other) { #expect(try query("\(other) == ''").status == 5) }
        #expect(try query("f12 >= '<f12 1500>'").status == 5)
    }

    private static let nulls: PropertyList = [
        "s": [3, .null, 2], "d": ["a": .null, "b": 1], "r": [["n": .null, "m": 1], ["n": 2]],
    ]

    @Test(
        arguments: [
            (":s:2 TRUEPREDICATE --format lines", "2\n"), (":s TRUEPREDICATE --count", "3\n"),
            (":s 'SELF == NULL' --count", "1\n"), (":s TRUEPREDICATE", "[\n  3,\n  null,\n  2\n]\n"),
            (":s TRUEPREDICATE --format lines", "3\n\n2\n"), (":s TRUEPREDICATE --sum SELF", "5\n"),
            (":s TRUEPREDICATE --sort -SELF --format lines", "3\n2\n\n"), (": 's.@count = 3' --count", "1\n"),
            (":d TRUEPREDICATE --format tsv", "@key\tSELF\nb\t1\n"),
            (": 'SELF.@count = 1' --select @key --format lines", "d\n"),
            (":r 'n == NULL'", "[\n  {\n    \"m\": 1\n  }\n]\n"),
            (":r TRUEPREDICATE --select n --format lines", "\n2\n"),
        ], [PropertyList.Format.json, .binary])
    private func `a null is an element of an array and a missing key`(
        _ row: (words: String, output: String), _ format: PropertyList.Format
    ) throws {
        let machine = try machine()
        try machine.fileSystem.replace("/tmp/n.plist", with: Array(Self.nulls.serialized(as: format)).span.bytes)
        let outcome = try runPrefs(["prefs", "query", "/tmp/n.plist"] + ShellScript.words(row.words), on: machine)
        let note = row.words.contains("'s.") ? "prefs: no record has s\n" : ""
        #expect(outcome == Transcript.Outcome(output: row.output, errors: note))
    }

    @Test(
        arguments: [
            (["k > 1", "--select", "n"], "12345678901234567890123\n20\n"),
            (["TRUEPREDICATE", "--select", "n"], "1\n12345678901234567890123\n20\n"),
            (["TRUEPREDICATE", "--sum", "k"], "6\n"), (["n == 1"], nil), (["n > 1", "--select", "k"], nil),
            (["SELF.n > 1"], nil), (["TRUEPREDICATE", "--sum", "n"], nil), (["TRUEPREDICATE", "--sort", "n"], nil),
            ([":1:n", "SELF > 1"], nil), ([":*", "SELF > 1"], nil),
        ] as [([String], String?)])
    private func `an integer of more than 64 bits keeps its digits, and is not compared`(
        _ words: [String], _ output: String?
    ) throws {
        let machine = try machine()
        let text = #"[{"n": 1, "k": 1}, {"n": 12345678901234567890123, "k": 2}, {"n": 20, "k": 3}]"#
        try machine.fileSystem.replace("/tmp/n.json", with: Array(text.utf8).span.bytes)
        let outcome = try runPrefs(["prefs", "query", "/tmp/n.json"] + words + ["--format", "lines"], on: machine)
        let failure = "prefs: /tmp/n.json:1:26: integer out of range: “12345678901234567890123” (at :1:n)\n"
        #expect(outcome.errors == (output == nil ? failure : ""))
        #expect(outcome.status == (output == nil ? 5 : 0) && outcome.output == output ?? "")
    }

    private static let keys: PropertyList = ["d": ["y": ["@key": "z", "@@domain": 1, "@v": 2]], "a": [["@key": "z"]]]

    @Test(arguments: [
        (":d '@key = \"y\"' --format tsv", "@key\t@@key\t@@@domain\t@v\ny\tz\t1\t2\n"),
        (":d '@key = \"y\"' --select @key,:@key --format lines", "y\tz\n"),
        (":a TRUEPREDICATE", "[\n  {\n    \"@key\": \"z\"\n  }\n]\n"),
    ])
    private func `the key of a record is not replaced by a stored one`(_ words: String, _ output: String) throws {
        let machine = try machine()
        var options = PropertyList.WritingOptions()
        options.keepsKeyOrder = true
        let bytes = Array(try Self.keys.serialized(as: .json, options: options))
        try machine.fileSystem.replace("/tmp/k.json", with: bytes.span.bytes)
        let outcome = try runPrefs(["prefs", "query", "/tmp/k.json"] + ShellScript.words(words), on: machine)
        #expect(outcome == Transcript.Outcome(output: output))
    }

    @Test(arguments: [
        (["./b.plist", ":Children", "visits >"], "prefs: expected a key or a value, not the end, at column 9\n", 3),
        (
            ["./b.plist", ":Children", "title < 3", "--strict"],
            "prefs: :Children:0: < cannot compare string and integer at column 7\n", 3
        ),
        (["./b.plist", ":Children", "visits == $N"], "prefs: no value for $N; add N=VALUE\n", 3),
        (
            ["./b.plist", ":Children", "visits > 1", "--steps", "2"],
            "prefs: :Children:2: the query takes more than 2 steps\n", 3
        ),
        (["no.such", "TRUEPREDICATE"], "prefs: no domain no.such\n", 1),
        (["com.example.a", "@unread"], "prefs: no schema is installed for com.example.a\n", 1),
        (
            ["./b.plist", ":Children", "TRUEPREDICATE", "--select", "title", "--distinct", "title"],
            "prefs: these options exclude each other: --select, --distinct\n", 2
        ),
        (
            ["./b.plist", ":Children", "TRUEPREDICATE", "--sort", "1"],
            "prefs: expected a key path, not another expression, at column 1\n", 3
        ),
        (["./b.plist", "x", "TRUEPREDICATE"], "prefs: x: an entry path begins with a colon\n", 3),
        (["./b.plist", ":a", "b == 1", "c"], "prefs: query: unexpected argument c\n", 2),
        (
            ["./b.plist", ":Children", "TRUEPREDICATE", "--sum", "visits", "--max", "visits", "--count"],
            "prefs: these options exclude each other: --sum, --max, --count\n", 2
        ),
    ])
    func `reports errors`(_ words: [String], _ errors: String, _ status: Int32) throws {
        let outcome = try runPrefs(["prefs", "query"] + words, on: machine())
        #expect(outcome.output == "" && outcome.status == status)
        #expect(outcome.errors == errors)
    }

    @Test(arguments: ["--limit", "--offset"])
    func `takes a number of any size`(_ option: String) throws {
        let outcome = try runPrefs(
            ["prefs", "query", "-", "TRUEPREDICATE", "--count", option, "5000000000"], input: "[1, 2]", on: machine())
        #expect(outcome == Transcript.Outcome(output: option == "--limit" ? "2\n" : "0\n"))
    }

    @Test func `names no other request if the schema declares none`() throws {
        let machine = try machine()
        try machine.administrate("/usr/share/prefs/schemas/com.example.a.plist", "{ Domain = com.example.a; }")
        let outcome = try runPrefs(["prefs", "query", "com.example.a", "@unread"], on: machine)
        #expect(outcome.errors == "prefs: com.example.a: unknown query @unread\n" && outcome.status == 1)
    }

    @Test func `reads the standard input`() throws {
        let outcome = try runPrefs(
            ["prefs", "query", "-", "a > 1", "--format", "lines", "--select", "a"],
            input: "[{\"a\": 1, \"b\": null}, {\"a\": 2}]", on: machine())
        #expect(outcome.output == "2\n")
    }

    @Test func `uses the values in force`() throws {
        let machine = try machine()
        try machine.administrate("/etc/xdg/prefs/com.example.a.plist", "{ suggested = <*I5>; fontSize = <*I1>; }")
        let outcome = try runPrefs(
            ["prefs", "query", "com.example.a", "suggested == 5 AND fontSize == 12", "--count"], on: machine)
        #expect(outcome.output == "1\n")
    }

    // MARK: Schemas

    private static let schema = """
        { Domain = "com.example.mail"; Settings = (
            { Key = token; Type = string; Sensitive = YES; },
            { Key = accounts; Type = dictionary; Entries = { Type = dictionary; Entries = (
                { Key = host; }, { Key = password; Sensitive = YES; }); }; },
            { Key = messages; Type = array; Elements = { Type = dictionary; }; });
          Queries = (
            { Name = unread; Title = "Unread messages"; Over = ":messages"; Where = "read == NO AND age < $DAYS"; Sort = "-age"; },
            { Name = everywhere; Over = "com.example.b:accounts"; },
            { Name = all; Where = "@key != nil"; }); }
        """

    private func mailMachine() throws -> SimulatedMachine {
        let machine = try machine()
        try machine.store(
            [
                "token": "hush", "accounts": ["a": ["host": "x", "password": "hush"]],
                "messages": [
                    ["age": 3, "read": false], ["age": 5, "read": false], ["age": 2, "read": true],
                    ["age": 9, "read": false],
                ],
            ], as: "com.example.mail")
        let file: FilePath = "/mail.plist"
        try machine.disk.process().replace(file, with: Array(Self.schema.utf8).span.bytes)
        try machine.disk.process().open(file, .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        #expect(try machine.run("prefs schema install /mail.plist").status == 0)
        return machine
    }

    @Test(
        arguments: [
            ("@unread DAYS=7 --format lines --select age", "5\n3\n"), ("@unread DAYS=4 --count", "1\n"),
            ("@unread DAYS:string=7 --count", "0\n"), ("@everywhere --count", "2\n"), ("@all --count", "2\n"),
            ("@unread DAYS=7 --sort age --format lines --select age", "3\n5\n"),
            ("\"token != nil\" --count", "0\n"), (":accounts \"password != nil\" --count", "0\n"),
            (":accounts \"host == 'x'\" --format tsv", "@key\thost\na\tx\n"),
            ("\"ANY accounts.password == 'hush'\" --count", "0\n"),
            ("TRUEPREDICATE --select token,SELF --format lines", nil),
        ] as [(String, String?)])
    func `runs stored requests and hides secrets`(_ words: String, _ output: String?) throws {
        let outcome = try mailMachine().run("prefs query com.example.mail \(words)")
        if let output { #expect(outcome.output == output && outcome.status == 0) }
        let name = ["token", "password"].first { words.hasPrefix("\"\($0)") || words.hasPrefix(":accounts \"\($0)") }
        let note =
            if let name { "prefs: no record has \(name); sensitive values are not queried\n" } else {
                words.hasPrefix("@unread DAYS:string")
                    ? "prefs: 3 records left out: age is of type integer there, which < does not compare with string\n"
                    : ""
            }
        if output != nil { #expect(outcome.errors == note) }
        #expect(!outcome.output.contains("hush"))
    }

    @Test func `hides secrets in a file of the store`() throws {
        let machine = try mailMachine()
        let file = "/home/ada/.config/prefs/com.example.mail.plist"
        #expect(try machine.run("prefs query \(file) :accounts \"password != nil\" --count").output == "0\n")
        #expect(try !machine.run("prefs query \(file) TRUEPREDICATE").output.contains("hush"))
    }

    @Test func `rejects unknown queries`() throws {
        let machine = try mailMachine()
        let unknown = try machine.run("prefs query com.example.mail @unrad")
        #expect(unknown.errors == "prefs: com.example.mail: unknown query @unrad; did you mean unread?\n")
        #expect(
            try machine.run("prefs query com.example.mail @unread").errors
                == "prefs: no value for $DAYS; add DAYS=VALUE\n")
        #expect(try machine.run("prefs query com.example.mail @unread DAYS").status == 2)
        #expect(try machine.run("prefs query com.example.mail @unread DAYS:date=x").status == 3)
    }

    @Test func `offers stored requests as completions`() throws {
        let outcome = try mailMachine().run("prefs __complete fish query com.example.mail @u")
        #expect(outcome.output == "words\n@unread\tUnread messages\n")
    }

    @Test func `a schema with an invalid query is refused`() throws {
        let machine = try machine()
        let text = """
            { Domain = d; Settings = ({ Key = k; }); Queries = (
                { Name = "a b"; }, { Name = x; Where = "a =="; }, { Name = x; Over = ":a\\\\b"; Sort = "1"; }, { Where = "a == 1"; }); }
            """
        try machine.disk.process().replace("/s.plist", with: Array(text.utf8).span.bytes)
        try machine.disk.process().open("/s.plist", .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        let outcome = try machine.run("prefs schema check /s.plist")
        #expect(outcome.status != 0)
        for part in [
            ":Queries:0:Name: invalid name a b",
            ":Queries:1:Where: expected a key or a value, not the end, at column 5",
            ":Queries:2:Over:", ":Queries:2:Sort:", "duplicate query x", ":Queries:3: Name is missing",
        ] { #expect(outcome.output.contains(part) || outcome.errors.contains(part), "\(part) in \(outcome)") }
    }

    /// A query of the people in `d`, and its note.
    static let noteRows: [(String, String)] = [
        ("age > 3", ""), ("nobody == NULL", "no record has nobody"),
        ("agee > 3", "no record has agee; did you mean age?"),
        ("score > 3", "no record has score; a key with a dot: :score.max"), (":score.max > 3", ""),
        ("age > '3'", "3 records left out: age is of type integer there, which > does not compare with string"),
        ("name > 3", "3 records left out: name is of type string there, which > does not compare with integer"),
        ("extra == 'x'", "1 record left out: extra is of type boolean there, which == does not compare with string"),
        ("extra != 'x'", ""), ("age != '3'", ""),
        (
            "age == 5 OR name > 3",
            "2 records left out: name is of type string there, which > does not compare with integer"
        ),
        ("NOT age > '3'", ""), ("name + 1 > 3", "3 records left out: + does not combine string and integer"),
        (
            "age CONTAINS 5",
            "3 records left out: age is of type integer there, which CONTAINS does not compare with integer"
        ),
        ("age LIKE '5*'", "3 records left out: age is of type integer there, which LIKE does not compare with string"),
        (
            "age BETWEEN {'1', '9'}",
            "3 records left out: age is of type integer there, which BETWEEN does not compare with string"
        ),
        ("ANY age == 5", ""), ("TRUEPREDICATE --sort nme", "no record has nme; did you mean name?"),
        ("TRUEPREDICATE --select name,agee", "no record has agee; did you mean age?"),
        ("TRUEPREDICATE --group nobody", "no record has nobody"),
        ("FALSEPREDICATE --sum agee", "no record has agee; did you mean age?"),
        ("age > '3' --strict", "> cannot compare integer and string at column 5"),
    ]

    @Test(arguments: noteRows, ["xml", "binary", "json"])
    func `a note names keys that no record has, and values that are not compared`(
        _ row: (words: String, note: String), _ format: String
    ) throws {
        let machine = try SimulatedMachine()
        let people =
            #"[{"name": "Ada", "age": 5}, {"name": "Bea", "age": 9, "extra": true}, {"name": "Cy", "age": 1, "score.max": 7}]"#
        let convert = ["prefs", "convert", "-o", "/tmp/people", "-", format]
        #expect(try runPrefs(convert, input: people, on: machine).status == 0)
        let parts = row.words.split(separator: " --", maxSplits: 1).map(String.init)
        let options = parts.count > 1 ? "--\(parts[1])".split(separator: " ").map(String.init) : []
        let outcome = try runPrefs(["prefs", "query", "/tmp/people", parts[0]] + options, on: machine)
        let isStrict = options == ["--strict"]
        let errors = outcome.errors.split(separator: "\n").map(String.init)
        let isLazy = format == "binary" && row.note.contains("; ")
        let note = isLazy ? String(row.note.prefix { $0 != ";" }) : row.note
        #expect(
            errors.map { isStrict || isLazy ? String($0.suffix(note.count)) : $0 }
                == (note.isEmpty ? [] : [(isStrict || isLazy ? "" : "prefs: ") + note]))
        #expect(outcome.status == (isStrict ? 3 : 0))
    }

    @Test func `no records have no notes`() throws {
        let outcome = try runPrefs(["prefs", "query", "-", "age > 'x'"], input: "[]")
        #expect(outcome.errors.isEmpty && outcome.status == 0)
    }
}
