import PropertyLists
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

@Suite struct `A form` {
    static let text = """
        { Key = name; Title = "Your name"; Required = YES; MaximumLength = 10; },
        { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Unit = copies; Title = "Copies to keep"; Summary = "Older ones go."; Group = Retention; },
        { Key = mode; Choices = (full, incremental); Default = full; Title = Mode; },
        { Key = color; Type = boolean; Default = YES; Title = Color; }, { Key = token; Sensitive = YES; Title = Token; Pattern = "[a-z]+"; },
        { Key = list; Type = array; Elements = { Type = integer; }; Title = Numbers; }, { Key = server; Type = dictionary; Title = Server; },
        { Key = since; Type = date; Title = Since; }, { Key = blob; Type = data; Title = Blob; },
        { Key = every; Type = integer; Kind = duration; Title = Every; }, { Key = scratch; Transient = YES; }
        """

    static func form(
        _ text: String = Self.text, values: [Name: Schema.ValueInForce] = ["keep": .init(9, layer: .user)],
        layers: [Name: [Schema.ValueInForce]] = [:], forced: Set<Name> = []
    ) throws -> Form {
        Form(
            try Sample.settings(
                text, rest: "Commands = ({ Name = restore; Title = Restoring; Settings = ({ Key = from; }); });"),
            values: values, layers: layers, forced: forced)
    }

    @Test func `shows the valid value beneath one that is removed`() throws {
        var form = try Self.form(layers: [
            "keep": [
                .init(9, layer: .userHost), .init(8, layer: .user),
                .init(0, layer: .other("site"), fault: "is too small"),
                .init(7, layer: .default),
            ]
        ])
        _ = form.reset("keep")
        #expect(form.value(of: "keep") == .init(7, layer: .default))
        #expect(form.review.map(\.new) == ["7 (default)"])
    }

    @Test func `has pages of groups of controls`() throws {
        let form = try Self.form(forced: ["color"])
        #expect(form.pages.map(\.title) == ["com.example.test", "Restoring"])
        #expect(form.pages.first?.groups.map(\.title) == [nil, "Retention"])
        #expect(
            form.controls.map(\.key) == [
                "name", "mode", "color", "token", "list", "server", "since", "blob", "every", "keep", "from",
            ])
        #expect(
            form.controls.map(\.kind) == [
                .text, .choice(["full", "incremental"]), .toggle, .secret, .list, .dictionary, .date, .data,
                .number(minimum: nil, maximum: nil), .number(minimum: 1, maximum: 365), .text,
            ])
        #expect(form.control("color")?.isForced == true)
        #expect(form.shownValue(of: "keep") == "9")
        #expect(form.value(of: "keep")?.layer == .user)
        #expect(form.value(of: "mode") == .init("full", layer: .default))
        #expect(form.value(of: "name") == nil)
    }

    @Test(arguments: [
        ("keep", "30", "30"), ("keep", " 30 ", "30"), ("keep", "0", "Must be from 1 to 365."),
        ("keep", "many", "Must be an integer."),
        ("name", "Ada", "\"Ada\""), ("name", " Ada", "\" Ada\""), ("name", "Ada Lovelace", "Must be at most 10 long."),
        ("mode", "incremental", "\"incremental\""), ("mode", "2", "\"incremental\""),
        ("mode", "3", "Must be full or incremental."), ("mode", "0", "Must be full or incremental."),
        ("mode", "-9223372036854775808", "Must be full or incremental."),
        ("mode", "ful", "Must be full or incremental; did you mean full?"), ("color", "n", "false"),
        ("color", "no", "false"), ("color", "Y", "true"),
        ("color", "perhaps", "Must be true or false."), ("token", "abc", "\"abc\""),
        ("token", "ABC", "Must match [a-z]+."),
        ("list", "(1, 2)", "[1, 2]"), ("list", "5", "[5]"), ("list", "x", "Must be an integer."), ("list", "", "[]"),
        ("server", "{a = b;}", "{a: \"b\"}"), ("server", "a", "Must be a dictionary such as {a = b;}."),
        ("since", "2026-01-31T12:00:00Z", "@2026-01-31T12:00:00Z"),
        ("since", "soon", "Must be a date such as 2026-01-31T12:00:00Z."),
        ("blob", "01 ff", "<01FF>"), ("blob", "0", "Must be data: hexadecimal digits, or base64:…"),
        ("every", "5m", "300"), ("every", "1h 30m", "5400"), ("list", "(1, x)", "Element 2 must be an integer."),
        ("nothing", "x", "There is no such setting."), ("from", "x", "\"x\""),
    ])
    func `accepts an answer, or reports why it is invalid`(_ key: String, _ text: String, _ expected: String) throws {
        var form = try Self.form()
        switch form.answer(text, to: key) {
        case .accepted(let value):
            #expect(try value == ValueNotation.value(expected))
            #expect(form.value(of: key) == .init(value, layer: .form))
            #expect(form.changes.values[key] == value)
        case .refused(let reason):
            #expect(reason == expected)
            #expect(form.changes.isEmpty)
        }
    }

    @Test(arguments: [
        ("{user = eve;}", "{user: \"eve\", pass: \"x\", at: {port: 1}}"),
        ("{pass = y; at = {};}", "{user: \"bob\", pass: \"y\", at: {port: 1}}"),
    ])
    func `keeps the entries of a dictionary that is not shown because of a secret`(
        _ text: String, _ expected: String
    ) throws {
        var form = try Self.form(
            "{ Key = a; Type = dictionary; Entries = ({ Key = user; }, { Key = pass; Sensitive = YES; }, { Key = at; Type = dictionary; }); }",
            values: ["a": .init(["user": "bob", "pass": "x", "at": ["port": 1]], layer: .user)])
        let value = try ValueNotation.value(expected)
        #expect(form.answer(text, to: "a") == .accepted(value))
    }

    @Test(arguments: [
        ("Type = integer; Kind = duration; Maximum = 3600;", "a duration such as 90, 5m or 1h30m, at most 1h"),
        (
            "Type = date; Minimum = 2000-01-01T00:00:00Z;",
            "a date such as 2026-01-31T12:00:00Z, at least 2000-01-01T00:00:00Z"
        ),
        ("Type = array; Unique = YES;", "without duplicates"), ("Type = integer; Minimum = 1;", "at least 1"),
    ])
    func `describes valid answers`(_ rule: String, _ expectation: String) throws {
        #expect(try Self.form("{ Key = a; \(rule) }").control("a")?.expectation == expectation)
    }

    @Test(arguments: [
        ("Type = integer;", "7", "8"), ("Type = integer; Kind = duration;", "300", "360"),
        ("Type = integer;", "9223372036854775807", nil), ("Type = real;", "0.7", "0.8"),
        ("Type = real;", "1e300", "1e300"),
    ])
    func `steps to the next number`(_ rule: String, _ value: String, _ next: String?) throws {
        let control = try #require(Self.form("{ Key = k; \(rule) }").control("k"))
        #expect(try control.stepped(ValueNotation.value(value), by: 1) == next.map(ValueNotation.value))
    }

    @Test func `returns to the default and never changes a forced value`() throws {
        var form = try Self.form(forced: ["mode"])
        #expect(form.reset("keep") == .accepted(7))
        #expect(form.changes == .init(values: [:], resets: ["keep"]))
        #expect(form.reset("color") == .accepted(true))
        #expect(form.changes.resets == ["keep"])
        #expect(form.value(of: "keep") == .init(7, layer: .default))
        #expect(form.answer("12", to: "keep") == .accepted(12))
        #expect(form.changes == .init(values: ["keep": 12], resets: []))
        #expect(form.answer("9", to: "keep") == .accepted(9))
        #expect(form.changes.isEmpty)
        #expect(form.answer("full", to: "mode") == .refused("This value is forced by an administrator."))
        #expect(form.reset("mode") == .refused("This value is forced by an administrator."))
        #expect(form.reset("name") == .refused("A value is required."))
    }

    @Test(arguments: [
        ("12", "14", "14"), ("12", "auto", "\"auto\""), ("\"12\"", "14", "\"14\""), ("[1]", "[2]", "[2]"),
        ("true", "no", "false"), (nil, "14", "\"14\""), (nil, "(a)", "[\"a\"]"),
    ])
    func `keeps the type of a value whose type the schema leaves open`(
        _ old: String?, _ text: String, _ expected: String
    ) throws {
        let old = try old.map { Schema.ValueInForce(try ValueNotation.value($0), layer: .user) }
        var form = try Self.form("{ Key = k; Type = any; }", values: old.map { ["k": $0] } ?? [:])
        #expect(form.answer(text, to: "k") == .accepted(try ValueNotation.value(expected)))
    }

    @Test func `shows every value so that it can be answered again`() throws {
        for (key, value) in [
            ("list", "[1, 2]"), ("server", "{a: \"b\"}"), ("since", "@2026-01-31T12:00:00Z"), ("blob", "<01FF>"),
            ("color", "false"),
            ("name", "\"x y\""), ("keep", "3"), ("mode", "\"incremental\""),
        ] {
            var form = try Self.form()
            let value = try ValueNotation.value(value)
            _ = form.set(value, for: key)
            let shown = try #require(form.shownValue(of: key))
            #expect(form.answer(shown, to: key) == .accepted(value), "\(shown)")
        }
        var form = try Self.form()
        _ = form.answer("abc", to: "token")
        #expect(form.shownValue(of: "token") == "••••")
    }
}

@Suite struct `A plain form` {
    /// Returns the output of a form that gets these answers, one per line.
    static func run(_ lines: [PlainForm.Event], _ text: String, values: [Name: Schema.ValueInForce] = [:]) throws
        -> [String]
    {
        var form = PlainForm(Form(try Sample.settings(text, rest: "Title = Test;"), values: values))
        var seen: [String] = []
        func note(_ actions: [PlainForm.Action]) {
            seen += actions.map { action in
                switch action {
                case .write(let text): text
                case .ask(let prompt, let isSecret): prompt + (isSecret ? "(hidden)" : "")
                case .save(let changes): "save \(PropertyList.dictionary(changes.values).plainText) -\(changes.resets)"
                case .finish(let isComplete): isComplete ? "complete" : "incomplete"
                }
            }
        }
        note(form.begin())
        for line in lines { note(form.handle(line)) }
        return seen
    }

    static let text = """
        { Key = name; Title = "Your name"; Required = YES; }, { Key = mode; Choices = (full, incremental); Default = full; Title = Mode; },
        { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Title = "Copies to keep"; Summary = "Older ones go."; Group = Retention; },
        { Key = token; Sensitive = YES; Title = Token; }
        """

    @Test func `asks for one setting after another, and saves once`() throws {
        #expect(
            try Self.run([.line("Ada"), .line("2"), .line("abc"), .line("")], Self.text) == [
                "An empty answer keeps the value in brackets; ? shows an explanation.\n"
                    + ":back returns to the previous question, :find WORDS lists settings, :go N goes\n"
                    + "to one of them, :changed lists the changes, :save saves and ends, and :quit\n"
                    + "ends without saving.\n\n",
                "Test\n",
                "Your name [required]: ",
                "  1) full\n  2) incremental\n", "Mode [full, default]: ",
                "Token: (hidden)",
                "\nRetention\n", "Copies to keep (from 1 to 365) [7, default]: ",
                "\nChanges:\n  Your name: no value → Ada\n  Mode: full → incremental\n  Token: no value → ••••\n",
                "save {\"mode\":\"incremental\",\"name\":\"Ada\",\"token\":\"abc\"} -[]", "complete",
            ])
    }

    @Test func `reports why an answer is invalid, and asks again`() throws {
        let seen = try Self.run(
            [
                .line(""), .line(":back"), .line("Ada"), .line("ful"), .line("full"), .line(""), .line("0"),
                .line("5"),
            ], Self.text)
        #expect(
            seen.filter { $0.hasPrefix("  ") && !$0.hasPrefix("  1)") } == [
                "  A value is required; it stays unset.\n", "  Must be full or incremental; did you mean full?\n",
                "  Must be from 1 to 365.\n",
            ])
        #expect(seen.suffix(2) == ["save {\"keep\":5,\"mode\":\"full\",\"name\":\"Ada\"} -[]", "complete"])
    }

    @Test(arguments: [PlainForm.Event.endOfInput, .interrupted, .line(":quit")])
    func `saves nothing if it is left`(_ event: PlainForm.Event) throws {
        let seen = try Self.run([.line("Ada"), event, .line("2")], Self.text)
        #expect(seen.last == "incomplete")
        #expect(seen.dropLast().last?.hasSuffix("Nothing was saved.\n") == true)
        #expect(!seen.contains { $0.hasPrefix("save") })
    }

    @Test func `has commands besides answers`() throws {
        let values: [Name: Schema.ValueInForce] = [
            "name": .init("Ada", layer: .user), "mode": .init("incremental", layer: .user),
        ]
        #expect(try Self.run([.line(":default")], Self.text, values: values).contains("  A value is required.\n"))
        #expect(
            try Self.run([.line(""), .line(":default"), .line(":save")], Self.text, values: values).suffix(2) == [
                "save {} -[\"mode\"]", "complete",
            ])
        #expect(
            try Self.run([.line(":empty"), .line(":save")], Self.text, values: values).suffix(2) == [
                "save {\"name\":\"\"} -[]", "complete",
            ])
        #expect(
            try Self.run([.line("\\:x"), .line(":save")], Self.text).suffix(2) == [
                "save {\"name\":\":x\"} -[]", "complete",
            ])
        #expect(
            try Self.run([.line(":help")], Self.text).contains(
                "  unknown command :help; the commands are :default, :empty, :back, :find, :go, :changed, :save and :quit\n"
            ))
        let found = try Self.run([.line(":find older"), .line(":go 2"), .line("2"), .line(":changed")], Self.text)
        #expect(found.contains("  4  Copies to keep [7]\n  :go N goes to one of these settings.\n"))
        #expect(found.contains("  Mode: full → incremental\n"))
        #expect(try Self.run([.line(":find ctk")], Self.text).contains { $0.hasPrefix("  4  Copies to keep") })
        #expect(try Self.run([.line(":find @secret")], Self.text).contains { $0.hasPrefix("  3  Token\n") })
        #expect(try Self.run([.line(":find zzz")], Self.text).contains("  Nothing matches.\n"))
        #expect(try Self.run([.line(":changed")], Self.text).contains("  Nothing is changed.\n"))
        for number in ["0", "5", "x", "99999999999999999999", "-9223372036854775808", ""] {
            let seen = try Self.run([.line(":go " + number)], Self.text)
            #expect(seen.contains { $0.hasSuffix("is not the number of a setting, from 1 to 4\n") }, "\(seen)")
        }
        // Nothing is lost if nothing was changed.
        #expect(try Self.run([.line(":quit")], Self.text).suffix(2) == ["Nothing was saved.\n", "complete"])
        #expect(try Self.run([.line(":bck")], Self.text).contains("  unknown command :bck; did you mean :back?\n"))
        #expect(
            try Self.run([.line("x"), .line(":back"), .line("y"), .line(":save")], Self.text).suffix(2) == [
                "save {\"name\":\"y\"} -[]", "complete",
            ])
        #expect(
            try Self.run([.line(""), .line("?")], Self.text, values: values).contains {
                $0.contains("The default is full.")
            })
        #expect(
            try Self.run([.line(":save")], Self.text, values: values).suffix(2) == [
                "Nothing was changed.\n", "complete",
            ])
    }

    @Test func `asks again for contradictory answers`() throws {
        let text = "{ Key = a; Conflicts = b; }, { Key = b; }, { Key = c; Required = YES; }"
        let seen = try Self.run([.line("1"), .line("2"), .line("3"), .line(":default"), .line(":save")], text)
        #expect(seen.contains("  a and b cannot both have a value.\n"))
        #expect(seen.suffix(2) == ["save {\"b\":\"2\",\"c\":\"3\"} -[]", "complete"])
    }

    /// The answers, what is stored before, and the end.
    @Test(
        arguments: [
            // A value that is missing from the start may come from a variable.
            ([":save"], [:], ["Nothing was changed.\n", "Warning: c is required.\n", "complete"]),
            (["1", ":save"], [:], ["save {\"a\":\"1\"} -[]", "Warning: c is required.\n", "complete"]),
            (["1", "", "", ""], [:], ["save {\"a\":\"1\"} -[]", "Warning: c is required.\n", "complete"]),
            (
                ["", "", "3", ""], ["a": "1", "b": "2"],
                ["save {\"c\":\"3\"} -[]", "Warning: a and b cannot both have a value.\n", "complete"]
            ),
            // What the answers break must be fixed.
            (
                ["9", ":save"], ["a": "1", "b": "2", "c": "3"],
                ["  a and b cannot both have a value.\n", "a [9, from this form]: "]
            ),
            (
                ["", "2", ":save"], ["a": "1", "c": "3"],
                ["  a and b cannot both have a value.\n", "a [1, from user]: "]
            ),
            (["", "", "", "4", ":save"], ["c": "3"], ["  d requires a value for a.\n", "d [4, from this form]: "]),
        ] as [([String], [Name: String], [String])])
    func `refuses only what the answers have made invalid`(
        _ lines: [String], _ stored: [Name: String], _ end: [String]
    ) throws {
        let text = "{ Key = a; Conflicts = b; }, { Key = b; }, { Key = c; Required = YES; }, { Key = d; Requires = a; }"
        let values = stored.mapValues { Schema.ValueInForce(.string($0), layer: .user) }
        #expect(try Self.run(lines.map { .line($0) }, text, values: values).suffix(end.count) == end[...])
    }

    /// The choices, the lines that list them, and the value that the answer 2 stores.
    @Test(
        arguments: [
            ("Type = integer; Choices = (2, 4, 8)", "  2\n  4\n  8\n", "2"),
            ("Type = integer; Choices = (4, 8)", "  4\n  8\n", nil),
            ("Choices = (none, 2)", "  none\n  2\n", "\"2\""), ("Choices = (\"1.5\", b)", "  1.5\n  b\n", nil),
            ("Type = integer; Choices = (2, 4); ChoiceTitles = (Two, Four)", "  Two\n  Four\n", "2"),
            ("Choices = (a, b); ChoiceTitles = (\"2\", Two)", "  2\n  Two\n", "\"a\""),
            ("Choices = (a, b)", "  1) a\n  2) b\n", "\"b\""),
        ] as [(String, String, String?)])
    func `numbers choices unless one looks like a number`(_ rule: String, _ list: String, _ stored: String?) throws {
        let seen = try Self.run([.line("2"), .line(":save")], "{ Key = k; \(rule); }")
        #expect(seen.contains(list), "\(seen)")
        #expect(seen.contains { $0.hasPrefix("save") } == (stored != nil))
        if let stored { #expect(seen.contains("save {\"k\":\(stored)} -[]"), "\(seen)") }
    }

    @Test func `of a schema without settings has nothing to ask`() throws {
        #expect(try Self.run([.line("x")], "") == ["Nothing was changed.\n", "complete"])
    }
}
