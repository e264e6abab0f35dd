import Foundation
import PropertyLists
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

/// Secrets inside values: an entry of a dictionary, or of each dictionary in an array.
@Suite struct `A secret inside a value` {
    static let text = """
        { Key = server; Type = dictionary; Flag = server; Environment = SERVER; Title = Server;
          Entries = ({ Key = host; Default = a; }, { Key = port; Type = integer; }, { Key = password; Sensitive = YES; MaximumLength = 12; });
          Default = { host = h; password = sesame0; }; },
        { Key = servers; Type = array; Flag = servers; Elements = { Type = dictionary; Entries = ({ Key = key; Sensitive = YES; }); }; },
        { Key = open; Type = dictionary; Flag = open; Entries = ({ Key = name; }); }
        """

    static let value: PropertyList = ["host": "h", "port": 5, "password": "sesame1"]

    @Test(
        arguments: [
            ("server", value, ["host": "h", "port": 5, "password": "••••"]),
            ("server", ["host": "h"], ["host": "h"]),
            ("server", "{ password = sesame2; }", "••••"), ("server", 5, "••••"),
            ("servers", [["key": "sesame3", "note": "n"], "sesame4"], [["key": "••••", "note": "n"], "••••"]),
            ("servers", ["key": "sesame5"], ["key": "••••"]),
            ("open", "text", "text"), ("open", ["name": "n"], ["name": "n"]),
        ] as [(String, PropertyList, PropertyList)])
    func `is masked by itself, or the whole value if its extent is unknown`(
        _ key: String, _ value: PropertyList, _ shown: PropertyList
    ) throws {
        let setting = try #require(Sample.settings(Self.text).declaration(of: key))
        #expect(setting.masked(value) == shown)
        #expect(setting.containsSecret(value) == (value != shown))
    }

    @Test func `has a row of help for each way to pass it, under each of its names`() throws {
        let schema = try Sample.settings("{ Key = token; Sensitive = YES; Flag = (token, key); Title = Token; }")
        let rows = schema.helpText(program: "tool", width: 100).split(separator: "\n").map { row in
            row.split(separator: "  ").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }.joined(separator: " | ")
        }
        let expected = [
            "--token-file FILE | Token.", "--token-fd N | The same, from an open descriptor.",
            "--key-file FILE | The same.", "--key-fd N | The same, from an open descriptor.",
        ]
        #expect(rows.filter { $0.contains("-file ") || $0.contains("-fd ") } == expected)
    }

    @Test func `is in no help, no table, no manual page and no form`() throws {
        let schema = try Sample.settings(Self.text)
        let values: [Name: Schema.ValueInForce] = ["server": .init(Self.value, layer: .user)]
        let help = schema.helpText(program: "tool", width: 200, values: values)
        #expect(help.contains("--server-file FILE") && help.contains("--open DICTIONARY"), "\(help)")
        #expect(help.contains("now {\"host\":\"h\",\"password\":\"••••\",\"port\":5} from user"), "\(help)")
        var form = PlainForm(Form(schema, values: values))
        let asked = form.begin()
        #expect(
            asked.last == .ask(prompt: "Server (a dictionary such as {a = b;}) [••••, from user]: ", isSecret: true))
        let others = [
            schema.table(), schema.markdown(), schema.jsonSchemaText(),
            schema.manualPage(program: "x", date: "January 1, 2026"), "\(asked)",
        ]
        for text in [help] + others { #expect(!text.contains("sesame"), "\(text)") }
        #expect(schema.table().contains("contains a secret"))
        #expect(Form(schema, values: values).shownValue(of: "server") == "••••")
    }

    @Test(
        arguments: [
            (["password": "a secret that is too long"], ":server:password = ••••: must be at most 12 long"),
            (["port": "x", "password": "sesame6"], ":server:port = x: must be an integer"),
            ([["password": "sesame7"]], "server = ••••: must be a dictionary"),
        ] as [(PropertyList, String)])
    func `is in no message`(_ value: PropertyList, _ message: String) throws {
        let schema = try Sample.settings(Self.text)
        #expect(schema.problems(with: value, forKey: "server").map(\.description) == [message])
    }

    @Test(arguments: [
        (
            ["--server", "{}"],
            "--server would expose a secret to other users of this machine; use --server-file or --server-fd"
        ),
        (["--server-file", "f"], "server from file(\"f\")"),
        (["--servr", "{}"], "unknown flag --servr; did you mean --server-file?"),
        (
            ["--set", ":server:password=x"],
            "--set :server:password would expose a secret to other users of this machine; use --server-file, --server-fd or the variable SERVER"
        ),
        (
            ["--set", ":server:password:x=y"],
            "--set :server:password:x would expose a secret to other users of this machine; use --server-file, --server-fd or the variable SERVER"
        ),
        (
            ["--set", "server={password = x;}"],
            "--set server would expose a secret to other users of this machine; use --server-file, --server-fd or the variable SERVER"
        ),
        (
            ["--set", ":servers:0:key=x"],
            "--set :servers:0:key would expose a secret to other users of this machine; use --servers-file or --servers-fd"
        ),
        (["--set", ":server:port=5"], "{\"server\":{\"host\":\"h\",\"password\":\"sesame0\",\"port\":5}}"),
        (["--set", ":server:port=x"], "--set :server:port x: must be an integer"),
        (["--open", "{name = x;}"], "{\"open\":{\"name\":\"x\"}}"),
    ])
    func `is not given on a command line`(_ words: [String], _ expected: String) throws {
        let outcome = try Sample.settings(Self.text).arguments(words)
        #expect(`A command line`.notation(outcome) == expected)
    }

    @Test(arguments: [
        ("{ password = a-secret-too-long; }", "SERVER ••••: must be at most 12 long"),
        ("sesame", "SERVER ••••: must be a dictionary such as {a = b;}"),
    ])
    func `is reported in a variable without being shown`(_ text: String, _ message: String) throws {
        let context = Schema.Arguments.Context(variables: ["SERVER": text])
        #expect(`A command line`.notation(try Sample.settings(Self.text).arguments([], in: context)) == message)
    }

    @Test func `is refused if the whole value would be on the command line`() throws {
        let row = "Type = dictionary; Entries = ({ Key = p; Sensitive = YES; });"
        let text = """
            { Domain = d; Settings = ({ Key = a; \(row) Short = a; }, { Key = b; \(row) Positional = 1; },
              { Key = c; Type = array; Rest = YES; Elements = { \(row) }; }, { Key = d; \(row) Flag = d; }); }
            """
        let (_, mistakes) = Schema.read(Array(text.utf8))
        #expect(
            mistakes.map { $0.description.drop { $0 != " " } } == [
                " :Settings:0:Short: cannot be combined with Sensitive",
                " :Settings:1:Positional: cannot be combined with Sensitive",
                " :Settings:2:Rest: cannot be combined with Sensitive",
            ])
    }

    @Test func `keeps its container on the host, like a value that is not mirrored`() throws {
        let schema = try Sample.settings(
            Self.text + ", { Key = x; Type = dictionary; Entries = ({ Key = y; Mirrored = NO; }); }, { Key = z; }")
        #expect(schema.settings.filter(\.staysLocal).map(\.key) == ["server", "servers", "x"])
        #expect(schema.settings.filter(\.hasSecrets).map(\.key) == ["server", "servers"])
    }
}

@Suite struct `The saved part of a command line` {
    static let text = """
        { Key = a; Flag = a; Kind = file; }, { Key = b; Flag = b; Transient = YES; }, { Key = c; Positional = 1; },
        { Key = d; Positional = 2; Flag = d; }, { Key = e; Type = array; Rest = YES; }
        """

    @Test func `has values that flags can set, except transient ones`() throws {
        let given: PropertyList.Dictionary = ["a": "1", "b": "2", "c": "3", "d": "4", "e": ["5"]]
        #expect(try Sample.settings(Self.text).valuesToSave(given, of: nil) == ["a": "1", "d": "4"])
    }

    @Test(
        arguments: [
            ("copies", "/home/ada/desk/copies"), ("./copies", "/home/ada/desk/copies"), (".", "/home/ada/desk"),
            ("..", "/home/ada"), ("../x", "/home/ada/x"), ("../../../../x", "/x"), ("a/../b", "/home/ada/desk/a/../b"),
            (".//./a//b/", "/home/ada/desk/a//b/"), ("..a", "/home/ada/desk/..a"), ("/mnt", "/mnt"), ("~/x", "~/x"),
            ("-", "-"), ("", ""), ("é b", "/home/ada/desk/é b"),
        ])
    func `has absolute paths`(_ given: String, _ kept: String) throws {
        let schema = try Sample.settings(
            """
            { Key = f; Kind = file; }, { Key = t; }, { Key = l; Type = array; Elements = { Type = string; Kind = folder; }; },
            { Key = d; Type = dictionary; Entries = ({ Key = p; Kind = path; }, { Key = u; Kind = url; }); }
            """)
        let text = PropertyList.string(given)
        let values: PropertyList.Dictionary = [
            "f": text, "t": text, "l": [text, "/"], "d": ["p": text, "u": text, "other": text],
        ]
        let path = PropertyList.string(kept)
        #expect(
            schema.anchored(values, in: "/home/ada/desk") == [
                "f": path, "t": text, "l": [path, "/"], "d": ["p": path, "u": text, "other": text],
            ])
        #expect(schema.anchored(values, in: nil) == values)
    }
}

/// Names of keys in programs' files, which have no declarations.
@Suite struct `The name of a key` {
    @Test(arguments: [
        ("apiToken", true), ("SECRET_KEY", true), ("http.password", true), ("PAT", true), ("authKeys", true),
        ("privateKey", true), ("cookies", true), ("x-apikey", true), ("Bearer", true), ("keyboard.layout", false),
        ("monkey", false), ("path", false), ("author", false), ("", false), ("clé", false), ("größe.key", true),
        ("to\u{212A}en", true), ("API\u{212A}ey", true),
    ])
    func `is that of a secret`(_ name: String, _ isSecret: Bool) {
        #expect(name.namesSecret == isSecret)
    }

    @Test(arguments: [
        ("python.defaultInterpreterPath", true), ("URLPath", true), ("lsp.serverURL", true), ("git.hooks", true),
        ("editor", true), ("files.runTask", true), ("ENV", true), ("on-click", true), ("LD_PRELOAD", true),
        ("curlOptions", true), ("editor.fontSize", false), ("hostname", false), ("terminal.color", false),
        ("binaryPlist", true), ("tokens", false), ("", false), (".", false), ("hoo\u{212A}", true),
    ])
    func `is that of a program or server`(_ name: String, _ isProgram: Bool) {
        #expect(name.namesProgram == isProgram)
    }
}
