import Foundation
import PropertyLists
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

@Suite struct `Help` {
    static let text = """
        { Key = target; Required = YES; Kind = folder; Title = "Where to"; Positional = 1; },
        { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Flag = keep; Short = k; Unit = copies;
          Environment = BACKUP_KEEP; Title = "Copies to keep"; Summary = "Older copies are removed."; Group = Retention; },
        { Key = every; Type = integer; Kind = duration; Flag = remove-copies-that-are-older-than; Group = Retention; },
        { Key = mode; Choices = (full, incremental); Default = full; Flag = mode; Title = "How to copy"; },
        { Key = color; Type = boolean; Flag = color; Negatable = YES; Deprecated = "use --theme"; },
        { Key = token; Sensitive = YES; Flag = token; Environment = BACKUP_TOKEN; Title = "選択した秘密 of the server"; },
        { Key = retries; Type = integer; Default = 3; Title = Retries; }
        """

    @Test func `has two columns that fit the terminal`() throws {
        let schema = try Sample.settings(Self.text, rest: "Title = \"Nightly backup\"; Summary = \"Copies a folder\";")
        #expect(schema.helpText(program: "backup", width: 78) == Self.wide)
        for width in [40, 41, 50, 60, 78, 100, 200] {
            let lines = schema.helpText(program: "backup", width: width).split(separator: "\n")
            // A flag that is too long by itself has its own line.
            for line in lines where !line.contains("--remove-copies") {
                #expect(String(line).columns <= width, "\(width): \(line)")
            }
        }
    }

    @Test func `shows the values in force and where they come from`() throws {
        let schema = try Sample.settings(Self.text)
        let text = schema.helpText(
            program: "backup", width: 200,
            values: ["keep": .init(9, layer: .user), "token": .init("abc", layer: .other("environment"))])
        #expect(text.contains("(default 7 copies; variable BACKUP_KEEP; now 9 from user)"))
        #expect(text.contains("(variable BACKUP_TOKEN; now •••• from environment)"))
        #expect(text.contains("(default 3; now not set)"))
        // In the notation that the flag accepts, as the default next to it.
        let others = schema.helpText(program: "backup", width: 200, values: ["every": .init(5400, layer: .user)])
        #expect(others.contains("(now 1h30m from user)"))
        #expect(!text.contains("abc"))
    }

    @Test func `has no control sequences`() throws {
        let schema = try Sample.settings(
            "{ Key = a; Flag = a; Title = \"x\u{1B}[2J\u{9B}y\u{202E}\"; Choices = (\"\u{7}\", \"\u{8}\"); }",
            rest: "Title = \"\u{1B}c\";")
        let text = schema.helpText(program: "tool", values: ["a": .init("\u{1B}[31m", layer: .user)]) + schema.table()
        #expect(
            !text.unicodeScalars.contains {
                ($0.value < 0x20 && $0 != "\n") || 0x7F..<0xA0 ~= $0.value || $0.value == 0x202E
            })
    }

    @Test(
        arguments: [
            ("See https://example.com/a", "See https://example.com/a"), ("Copies。", "Copies。"), ("Copies", "Copies."),
            ("https://a.b is the site", "https://a.b is the site."), ("なに？", "なに？"),
        ])
    func `ends a sentence once`(_ text: String, _ sentence: String) { #expect(text.asSentence == sentence) }

    @Test(
        arguments: [
            ("日本語の文章を折り返す", 8, ["日本語の", "文章を折", "り返す"]), ("これは。次", 6, ["これ", "は。次"]),
            ("a 日本語 word", 7, ["a 日本", "語 word"]), ("「日本」です", 4, ["「日", "本」", "です"]),
            ("plain words only", 7, ["plain", "words", "only"]), ("한국어 문장", 6, ["한국어", "문장"]),
        ])
    func `wraps between wide characters`(_ text: String, _ width: Int, _ lines: [String]) {
        #expect(text.wrapped(to: width) == lines)
    }

    @Test func `is the same for a command as for a program`() throws {
        let schema = try Sample.settings(
            ArgumentRow.Schemas.commands.text, rest: ArgumentRow.Schemas.commands.rest)
        #expect(schema.helpText(program: "tool", width: 60) == Self.commands)
        #expect(schema.helpText(program: "tool", command: "restore", width: 60) == Self.restore)
    }

    static let wide = """
        usage: backup [options] TARGET

        Nightly backup.

        Copies a folder.

        Operands:
          TARGET                 Where to. (required)

        Options:
              --mode full|incremental
                                 How to copy. (default full)
              --[no-]color       Deprecated: use --theme.
              --token-file FILE  選択した秘密 of the server. (variable BACKUP_TOKEN)
              --token-fd N       The same, from an open descriptor.
          -h, --help             Shows this text.
              --help-values      Shows this text with the values in force and where
                                 they come from.
              --version          Shows the version.
              --save             Saves the given flags as the user's settings.
              --reset[=KEY]      Removes the user's settings, or the one of a key.
              --set :KEY=VALUE   Sets a setting that has no flag.

        Retention:
          -k, --keep N           Copies to keep. Older copies are removed. From 1 to
                                 365 copies. (default 7 copies; variable BACKUP_KEEP)
              --remove-copies-that-are-older-than DURATION

        Other settings:
          :retries               Retries. (default 3)

        """

    static let commands = """
        usage: tool [options] COMMAND …

        Commands:
          restore
          list

        Options:
          -v, --verbose
          -h, --help            Shows this text.
              --help-values     Shows this text with the values in
                                force and where they come from.
              --version         Shows the version.
              --save            Saves the given flags as the user's
                                settings.
              --reset[=KEY]     Removes the user's settings, or the
                                one of a key.
              --set :KEY=VALUE  Sets a setting that has no flag.

        """

    static let restore = """
        usage: tool restore [options] FROM

        Operands:
          FROM                  (required)

        Options:
          -f, --force
          -v, --verbose
          -h, --help            Shows this text.
              --help-values     Shows this text with the values in
                                force and where they come from.
              --version         Shows the version.
              --save            Saves the given flags as the user's
                                settings.
              --reset[=KEY]     Removes the user's settings, or the
                                one of a key.
              --set :KEY=VALUE  Sets a setting that has no flag.

        """
}

@Suite struct `A shown schema` {
    @Test func `is a table`() throws {
        #expect(try Sample.schema(Sample.backupText).table() == Self.table)
    }

    @Test(arguments: [80, 100, 60, 40]) func `is a table that fits on a terminal`(_ width: Int) throws {
        let schema = try Sample.schema(Sample.backupText)
        let lines = schema.table(width: width).split(separator: "\n").map(String.init)
        // Keys, types and variables are not broken, and other columns need ten columns.
        #expect(lines.allSatisfy { $0.columns <= max(width, 80) }, "\(lines.joined(separator: "\n"))")
        #expect(schema.settings.allSatisfy { setting in lines.contains { $0.hasPrefix(setting.key + " ") } })
        func letters(_ text: String) -> [Character] { text.filter { !$0.isWhitespace }.sorted() }
        #expect(letters(lines.joined()) == letters(schema.table()), "nothing is left out")
        #expect(schema.table(width: 200) == schema.table())
    }

    @Test func `is a document in Markdown`() throws {
        #expect(try Sample.schema(Sample.backupText).markdown() == Self.markdown)
    }

    private static let commandLine = """
        title="Manages *places*" program=tool version=2
        @flag -v --verbose  Print more
        @flag --old {hidden}
        @option --level=INT <3>  How well [1..9] {env: LEVEL}
        @flag -9 level=9
        @example tool add red
        @command add|a  Add one
        @arg color:red|green!  The color {choice: red "Like a rose"}
        @rest file:file  The files
        @option -t --tag=NAME...  Tags
        @option --token=TEXT {secret}  The token
        @command gone {hidden}
        """

    @Test func `documents the command line in Markdown`() throws {
        let schema = try `A script's declaration`.schema(Self.commandLine)
        #expect(
            schema.commandLineInMarkdown(program: "other") == """
                # tool

                Manages \\*places\\*.

                    usage: tool [options] COMMAND …

                ## Commands

                - `add, a`: Add one

                ## Options

                - `-v, --verbose`: Print more.
                - `--level N`: How well. From 1 to 9, -9. (default 3; variable LEVEL)
                - `-h, --help`: Shows this text.
                - `--version`: Shows the version.

                Examples:

                    tool add red

                ## tool add

                Add one.

                Also called `a`.

                    usage: tool add [options] COLOR [FILE …]

                ### Operands

                - `COLOR`: The color. (required)
                  - red: Like a rose.
                - `FILE`: The files.

                ### Options

                - `-t, --tag NAME`: Tags. Can be repeated.
                - `--token-file FILE`: The token.
                - `--token-fd N`: The same, from an open descriptor.

                """)
        #expect(schema.hasCommandLine)
        #expect(try !Sample.schema("{ Domain = d; Settings = ({ Key = k; }); }").hasCommandLine)
    }

    @Test func `documents the command line in JSON`() throws {
        let schema = try `A script's declaration`.schema(Self.commandLine)
        let text = schema.commandLineInJSON(program: "other")
        let expected = """
            {"name":"tool","title":"Manages *places*","version":"2","flags":[
            {"names":["-v","--verbose"],"key":"verbose","type":"boolean","title":"Print more"},
            {"names":["--level"],"value":"N","key":"level","type":"integer","title":"How well","rule":"from 1 to 9, -9","default":3,"environment":["LEVEL"]},
            {"names":["-9"],"key":"level","sets":9},
            {"names":["-h","--help"],"title":"Shows help"},{"names":["--version"],"title":"Shows the version"}],
            "operands":[],"examples":["tool add red"],"commands":[{"name":"add","aliases":["a"],"title":"Add one","flags":[
            {"names":["-t","--tag"],"value":"NAME","key":"tag","type":"string","title":"Tags","rule":"can be repeated","repeats":true},
            {"names":["--token-file"],"value":"FILE","key":"token","type":"string","title":"The token","secret":true},
            {"names":["--token-fd"],"value":"N","key":"token","type":"string","title":"The token","secret":true}],
            "operands":[{"name":"COLOR","key":"color","type":"string","title":"The color",
            "choices":[{"value":"red","title":"Like a rose"},{"value":"green","title":"green"}],"required":true},
            {"name":"FILE","many":true,"key":"file","type":"file","title":"The files"}],"commands":[]}]}
            """
        #expect(try PropertyList(parsing: text, as: .json) == PropertyList(parsing: expected, as: .json), "\(text)")
    }

    @Test func `is a JSON Schema`() throws {
        let text = try Sample.schema(SchemaReadingSample.everything).jsonSchemaText()
        #expect(try PropertyList(parsing: text, as: .json) == PropertyList(parsing: Self.jsonSchema, as: .json))
    }

    @Test func `a closed schema refuses other keys in JSON Schema too`() throws {
        let schema = try Sample.schema(
            """
            { Domain = d; Version = 2; Closed = YES; Settings = ({ Key = a; RenamedFrom = (b); }, { Key = c; });
              Commands = ({ Name = run; Settings = ({ Key = e; Type = boolean; }); }); }
            """)
        let expected = """
            {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"urn:prefs:d","type":"object",
            "properties":{"a":{"type":"string"},"c":{"type":"string"},"b":{"type":"string"},"e":{"type":"boolean"},
            "$schemaVersion":{"type":"integer"}},"additionalProperties":false}
            """
        #expect(
            try PropertyList(parsing: schema.jsonSchemaText(), as: .json) == PropertyList(parsing: expected, as: .json))
    }

    @Test(arguments: [Sample.backupText, SchemaReadingSample.everything, SchemaReadingSample.nasty])
    func `is a manual page without warnings`(_ text: String) throws {
        let schema = try Sample.schema(text)
        let page = schema.manualPage(program: "backup-tool", date: "January 31, 2026")
        #expect(page.utf8.allSatisfy { $0 < 0x80 })
        for (tool, arguments) in [
            ("mandoc", ["-T", "lint", "-W", "style"]), ("groff", ["-mdoc", "-ww", "-z", "-Tutf8"]),
        ] {
            guard Tool.isExpected(tool) else { continue }
            let result = try Subprocess.run(tool, arguments, input: Data(page.utf8))
            let complaints = (result.text + result.errorText).split(separator: "\n")
                .filter { !$0.contains("referenced manual not found") && !$0.contains("outdated mandoc.db") }
            #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))\n\(page)")
        }
    }

    @Test func `has all flags in the section OPTIONS of a manual page`() throws {
        let page = try Sample.schema(Sample.backupText).manualPage(program: "backup", date: "January 1, 2026")
        #expect(page.contains(Self.options), "\(page)")
    }

    static let table = """
        key      type     default  rule              flags                    variable      title
        verbose  integer  0                          -v, --verbose
        keep     integer  7        from 1 to 365     -k, --keep N             BACKUP_KEEP   Copies to keep
        target   folder            required          --target FOLDER, TARGET                Where to
        mode     string   full     full|incremental  --mode full|incremental
        token    string            secret                                     BACKUP_TOKEN
        retries  integer  3        not mirrored

        """

    static let markdown = """
        # Nightly backup

        Domain: `com.example.backup`, version 2

        | key | type | default | rule | flags | variable | title |
        |---|---|---|---|---|---|---|
        | `verbose` | `integer` | `0` |  | `-v, --verbose` |  |  |
        | `target` | `folder` |  | required | `--target FOLDER, TARGET` |  | Where to |
        | `mode` | `string` | `full` | full\\|incremental | `--mode full\\|incremental` |  |  |
        | `token` | `string` |  | secret |  | `BACKUP_TOKEN` |  |
        | `retries` | `integer` | `3` | not mirrored |  |  |  |

        ## Retention

        | key | type | default | rule | flags | variable | title |
        |---|---|---|---|---|---|---|
        | `keep` | `integer` | `7` | from 1 to 365 | `-k, --keep N` | `BACKUP_KEEP` | Copies to keep |

        """

    static let jsonSchema = """
        {"$schema":"https://json-schema.org/draft/2020-12/schema",
        "$id":"urn:prefs:d",
        "type":"object",
        "title":"t",
        "description":"s",
        "properties":{"a":{"type":"integer","minimum":60,"maximum":3600,"enum":[60,90],"title":"T","description":"S","default":90,"deprecated":true},
        "b":{"type":"string","minLength":1,"maxLength":9,"pattern":"^(?:[a-z]+)$"},
        "c":{"type":"array","minItems":1,"maxItems":3,"uniqueItems":true,"items":{"type":"string","enum":["x","y"]},"default":["x"]},
        "d":{"type":"object","additionalProperties":{"type":"integer","minimum":0},"default":{"n":1}},
        "e":{"type":"object","properties":{"host":{"type":"string"},"port":{"type":"integer","default":80}},"required":["host"],"additionalProperties":false},
        "f":{"type":"boolean","default":true,"deprecated":true},
        "g":{"type":"string","contentEncoding":"base64","writeOnly":true},
        "h":{"type":"string","format":"date-time","default":"2026-01-31T12:00:00Z"},
        "i":{"type":"number","default":0.5},
        "j":{"type":"integer"},
        "k":{"type":"array","items":{"type":"string"}},"l":{"type":"string"},"m":{"type":"string"},
        "n":{"type":"object","properties":{"o":{"type":"number"}},"additionalProperties":false},
        "s":{"type":"array"},"v":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2,"default":[1,2]},"t":{"type":"string"},"u":{"type":"string"},
        "p":{"type":"object","additionalProperties":{"type":"integer"},"default":{"q":1}},
        "old":{"type":"integer","minimum":60,"maximum":3600,"enum":[60,90],"title":"T","description":"S","default":90,"deprecated":true},
        "older":{"type":"integer","minimum":60,"maximum":3600,"enum":[60,90],"title":"T","description":"S","default":90,"deprecated":true},
        "from":{"type":"string"},"$schemaVersion":{"type":"integer"}},
        "additionalProperties":false,
        "dependentRequired":{"a":["c","d"]},
        "allOf":[{"not":{"required":["a","b"]}},{"oneOf":[{"required":["a"]},{"required":["e"]}]},
        {"oneOf":[{"required":["a"]},{"required":["f"]},{"required":["h"]},
        {"not":{"anyOf":[{"required":["a"]},{"required":["f"]},{"required":["h"]}]}}]},
        {"anyOf":[{"required":["a"]},{"required":["i"]}]}]}
        """

    static let options = """
        .Sh OPTIONS
        .Bl -tag -width Ds
        .It Fl \\&v , Fl \\-verbose
        Sets verbose.
        .It Fl \\&k , Fl \\-keep Ar \\&N
        Copies to keep.
        Older copies are removed.
        From 1 to 365.
        The default is 7.
        .It Fl \\-target Ar FOLDER
        Where to.
        .It Fl \\-mode Ar full|incremental
        The default is full.
        .It Fl h , Fl \\-help
        Shows a summary.
        .It Fl \\-help\\-values
        Shows this text with the values in force and where they come from.
        .It Fl \\-version
        Shows the version.
        .It Fl \\-save
        Saves the given flags as the user\\(aqs settings.
        .It Fl \\-reset Ns Oo = Ns Ar key Oc
        Removes the user\\(aqs settings, or the one of a key.
        .It Fl \\-set Ar :key Ns = Ns Ar value
        Sets a setting that has no flag.
        .El

        """
}

enum SchemaReadingSample: Sendable {
    static let everything = `A schema`.everything
    /// Text that would be a macro, an escape or a comment if it were not escaped.
    static let nasty = """
        { Domain = d; Title = ".Bl bad \\\\n(xx"; Summary = "'br. Sh NAME. No more -- than \\"this\\" `x`. é選"; Settings = (
            { Key = a; Flag = Ar; Title = ".It"; Placeholder = "No"; Summary = "One. Two! Three? e.g. four."; },
            { Key = b; Short = b; Placeholder = "a b"; Title = "'x"; }, { Key = c; Type = array; Rest = YES; Placeholder = "."; });
          Commands = ({ Name = Sh; Title = ".Sh"; Settings = ({ Key = x; Flag = Fl; }); }, { Name = empty; });
          Examples = (". ./settings", "'x'", "", "a \\"b\\""); }
        """
}
