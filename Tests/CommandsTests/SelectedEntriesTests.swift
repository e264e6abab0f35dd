import Foundation
import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// Edits of the entries that `--where` selects.
@Suite struct SelectedEntriesTests {
    static let project = """
        // !$*UTF8*$!
        {
        	archiveVersion = 1;
        	objects = {

        /* Begin PBXBuildFile section */
        		0A01 /* main.swift in Sources */ = {isa = PBXBuildFile; fileRef = 0B01 /* main.swift */; };
        /* End PBXBuildFile section */

        /* Begin XCBuildConfiguration section */
        		0C01 /* Debug */ = {
        			isa = XCBuildConfiguration;
        			buildSettings = {
        				MARKETING_VERSION = 1.0;
        				PRODUCT_NAME = "$(TARGET_NAME)";
        			};
        			name = Debug;
        		};
        		0C02 /* Release */ = {
        			isa = XCBuildConfiguration;
        			buildSettings = {
        				MARKETING_VERSION = 1.0; // shipped
        			};
        			name = Release;
        		};
        		0C03 /* Profile */ = {
        			isa = XCBuildConfiguration;
        			buildSettings = {
        				PRODUCT_NAME = x;
        			};
        			name = Profile;
        		};
        /* End XCBuildConfiguration section */
        	};
        	rootObject = 0D01 /* Project object */;
        }

        """
    static let list = """
        {
          // all hosts
          "hosts": [
            {"name": "a", "port": 1, "tags": ["x", /* second */ "x"]}, // first
            {"name": "b", "port": 2, "tags": []},
            {"name": "a", "port": 3}, // last
            5
          ],
          "*": {"name": "literal"}
        }

        """

    /// A file, the words after the verb and the file, and the changes of its text.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let words: [String]
        let changes: [(of: String, to: String)]
        let outcome: Transcript.Outcome

        init(
            _ name: String, _ text: String, _ words: String..., changes: (of: String, to: String)...,
            output: String = "", errors: String = "", status: Int32 = 0
        ) {
            (self.name, self.text, self.words, self.changes) = (name, text, words, changes)
            outcome = Transcript.Outcome(output: output, errors: errors, status: status)
        }

        var testDescription: String { words.joined(separator: " ") }

        /// The text with each first occurrence replaced in turn.
        var result: String {
            changes.reduce(text) { text, change in
                guard let range = text.range(of: change.of) else { return "no \(change.of)" }
                return text.replacingCharacters(in: range, with: change.to)
            }
        }
    }

    static let configurations = "isa == \"XCBuildConfiguration\""
    static let version = ":objects:*:buildSettings:MARKETING_VERSION"

    static let rows = [
        Row(
            "p.pbxproj", project, "write", version, "2.0", "--where", configurations,
            changes: ("VERSION = 1.0", "VERSION = 2.0"), ("VERSION = 1.0", "VERSION = 2.0"), output: "2 entries\n"),
        Row(
            "p.pbxproj", project, "write", version, "2.0", "--create", "--where", configurations,
            changes: ("VERSION = 1.0", "VERSION = 2.0"), ("VERSION = 1.0", "VERSION = 2.0"),
            ("PRODUCT_NAME = x", "MARKETING_VERSION = 2.0;\n\t\t\t\tPRODUCT_NAME = x"), output: "3 entries\n"),
        Row(
            "p.pbxproj", project, "write", version, "2.0", "--dry-run", "--where", "name == $n", "--bind", "n=Debug",
            output: "~ /tmp/p.pbxproj :objects:0C01:buildSettings:MARKETING_VERSION: \"1.0\" → \"2.0\"\n1 entry\n",
            status: 8),
        Row("p.pbxproj", project, "write", version, "1.0", "--where", configurations, output: "2 entries\n"),
        Row(
            "p.pbxproj", project, "write", version, "1.0", "--dry-run", "--where", configurations,
            output: "2 entries\n"),
        Row(
            "p.pbxproj", project, "write", ":objects:*:x", "1", "--where", configurations,
            errors:
                "prefs: /tmp/p.pbxproj: no entry :objects:*:x for which isa == \"XCBuildConfiguration\"; --create creates entries that do not exist\n",
            status: 1),
        Row(
            "p.pbxproj", project, "delete", ":objects:*", "--where", "isa == \"PBXBuildFile\"",
            changes: (
                "\t\t0A01 /* main.swift in Sources */ = {isa = PBXBuildFile; fileRef = 0B01 /* main.swift */; };\n", ""
            ),
            output: "1 entry\n",
            errors:
                "prefs: /tmp/p.pbxproj: removed 2 comments: /* main.swift in Sources */, /* main.swift */\n"),
        Row(
            "p.pbxproj", project, "delete", version, "--where", "@key == '0C02'",
            changes: ("{\n\t\t\t\tMARKETING_VERSION = 1.0; // shipped\n\t\t\t}", "{\n\t\t\t}"), output: "1 entry\n",
            errors: "prefs: /tmp/p.pbxproj: removed the comment // shipped\n"),
        Row(
            "p.pbxproj", project, "delete", ":objects:*", "--where", "isa == 'none'",
            errors: "prefs: /tmp/p.pbxproj: no entry :objects:* for which isa == 'none'\n", status: 1),
        Row(
            "p.pbxproj", project, "copy", version, ":objects:*:buildSettings:PRODUCT_NAME", "--where", configurations,
            changes: ("\"$(TARGET_NAME)\"", "1.0"), output: "1 entry\n"),
        Row(
            "p.pbxproj", project, "copy", version, ":objects:*:old", "--create", "--where", configurations,
            changes: ("name = Debug;", "name = Debug;\n\t\t\told = 1.0;"),
            ("name = Release;", "name = Release;\n\t\t\told = 1.0;"), output: "2 entries\n"),
        Row(
            "p.pbxproj", project, "copy", version, "x", "--where", configurations,
            errors: "prefs: x: needs as many components * as \(version), which has 1\n", status: 2),
        Row(
            "l.jsonc", list, "write", ":hosts:*:port", "--add", "10", "--where", "name == 'a'",
            changes: ("\"port\": 1", "\"port\": 11"), ("\"port\": 3", "\"port\": 13"), output: "2 entries\n"),
        Row(
            "l.jsonc", list, "write", ":hosts:*", "--int", "6", "--where", "SELF == 5",
            changes: ("5\n", "6\n"), output: "1 entry\n"),
        Row(
            "l.jsonc", list, "write", ":*:*:port", "--int", "7", "--where", "name == 'b'",
            changes: ("\"port\": 2", "\"port\": 7"), output: "1 entry\n"),
        Row(
            "l.jsonc", list, "write", ":\\*:name", "a", changes: ("\"literal\"", "\"a\"")),
        Row(
            "l.jsonc", list, "write", ":*:name", "a", changes: ("\"literal\"", "\"a\"")),
        Row(
            "l.jsonc", list, "delete", ":hosts:*", "--where", "name == 'a'",
            changes: ("    {\"name\": \"a\", \"port\": 1, \"tags\": [\"x\", /* second */ \"x\"]}, // first\n", ""),
            ("    {\"name\": \"a\", \"port\": 3}, // last\n", ""), output: "2 entries\n",
            errors: "prefs: /tmp/l.jsonc: removed 3 comments: /* second */, // first, // last\n"),
        Row(
            "l.jsonc", list, "delete", ":hosts:*:tags:0", "--where", "name == 'a'",
            changes: ("\"x\", /* second */", "/* second */"), output: "1 entry\n"),
        Row(
            "l.jsonc", list, "delete", ":hosts:*:tags:-1", "--where", "name == 'a'",
            changes: (", /* second */ \"x\"", ""), output: "1 entry\n",
            errors: "prefs: /tmp/l.jsonc: removed the comment /* second */\n"),
        Row(
            "l.jsonc", list, "write", ":hosts:0:port", "1", "--where", "TRUEPREDICATE",
            errors: "prefs: --where requires an entry path with *, such as :list:*:name\n", status: 2),
        Row(
            "l.jsonc", list, "write", ":\\*:name", "1", "--where", "TRUEPREDICATE",
            errors: "prefs: --where requires an entry path with *, such as :list:*:name\n", status: 2),
        Row(
            "l.jsonc", list, "write", ":hosts:*:port", "1", "--create",
            errors: "prefs: --create is for --where\n", status: 2),
        Row(
            "l.jsonc", list, "write", ":hosts:*:port", "1", "--where", "name ==",
            errors: "prefs: expected a key or a value, not the end, at column 8\n", status: 3),
        Row(
            "l.jsonc", list, "write", ":hosts:*:port", "1", "--where", "name == $x",
            errors: "prefs: no value for $x; add --bind x=VALUE\n", status: 3),
        Row(
            "l.jsonc", list, "write", ":hosts:*:port", "1", "--print", "--where", "TRUEPREDICATE",
            errors: "prefs: write: --print is for one entry; omit --where\n", status: 2),
        Row(
            "l.jsonc", list, "write", ":hosts:*:name:x", "1", "--create", "--where", "name == 'a'",
            errors: "prefs: :hosts:0:name:x: leads into a value of type string\n", status: 3),
        Row(
            "l.jsonc", list, "write", ":hosts:*:port", "--int", "1", "--if-current", "1", "--where", "name == 'a'",
            errors: "prefs: :hosts:2:port: the value differs; nothing was changed\n", status: 8),
    ]

    @Test(arguments: rows)
    func `only the selected entries change`(_ row: Row) throws {
        let machine = try SimulatedMachine()
        let path = FilePath("/tmp").resolving(try #require(FilePath(row.name)))
        try machine.fileSystem.replace(path, with: Array(row.text.utf8))
        let words = ["prefs", row.words[0], path.description] + row.words.dropFirst()
        #expect(try runPrefs(words, on: machine) == row.outcome)
        let text = String(decoding: try #require(try machine.fileSystem.contents(of: path)), as: UTF8.self)
        #expect(text == row.result)
    }

    @Test func `the path of a query cannot name the key of the wildcard`() throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/l.jsonc", with: Array(Self.list.utf8))
        let outcome = try runPrefs(["prefs", "query", "/tmp/l.jsonc", ":\\*", "TRUEPREDICATE"], on: machine)
        #expect(
            outcome == Transcript.Outcome(errors: "prefs: :\\*: the path of a query cannot name the key *\n", status: 3)
        )
    }

    @Test func `entries of another file are copied`() throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/l.json", with: Array(Self.list.utf8))
        let words = [":hosts:*:name", ":*:host", "--to", "/tmp/m.json", "--where", "port > 1"]
        let copy = ["prefs", "copy", "/tmp/l.json"] + words
        try machine.fileSystem.replace("/tmp/m.json", with: Array(#"[{}, {}, {"host": "c"}]"#.utf8))
        #expect(try runPrefs(copy, on: machine) == Transcript.Outcome(output: "1 entry\n"))
        #expect(try machine.fileSystem.contents(of: "/tmp/m.json") == Array(#"[{}, {}, {"host": "a"}]"#.utf8))
        #expect(try runPrefs(copy + ["--create"], on: machine) == Transcript.Outcome(output: "2 entries\n"))
        #expect(
            try machine.fileSystem.contents(of: "/tmp/m.json") == Array(#"[{}, {"host": "b"}, {"host": "a"}]"#.utf8))
    }

    @Test func `a domain is subject to its rules`() throws {
        let machine = try SimulatedMachine()
        let json = #"{"a": {"on": true}, "b": {"on": false}}"#
        #expect(try runPrefs(["prefs", "write", "d", "apps", "--json", json], on: machine).status == 0)
        let write = ["prefs", "write", "d", ":apps:*:on", "--toggle", "--where", "on == YES"]
        #expect(try runPrefs(write, on: machine) == Transcript.Outcome(output: "1 entry\n"))
        #expect(try runPrefs(write, on: machine).status == 1)
        #expect(try runPrefs(["prefs", "undo", "d"], on: machine).status == 0)
        #expect(try runPrefs(["prefs", "read", "d", ":apps:a:on"], on: machine).output == "true\n")
    }

    @Test func `an integer that a real would round is not compared`() throws {
        let machine = try SimulatedMachine()
        let text = #"[{"id": 36893488147419103233, "x": 1}]"#
        try machine.fileSystem.replace("/tmp/n.json", with: Array(text.utf8))
        func status(_ predicate: String) throws -> Int32 {
            try runPrefs(["prefs", "write", "/tmp/n.json", ":*:x", "--int", "2", "--where", predicate], on: machine)
                .status
        }
        #expect(try status("id == 36893488147419103232") == 5)
        #expect(try machine.fileSystem.contents(of: "/tmp/n.json") == Array(text.utf8))
        #expect(try status("x == 1") == 0)
        #expect(
            try machine.fileSystem.contents(of: "/tmp/n.json")
                == Array(text.replacing("\"x\": 1", with: "\"x\": 2").utf8))
    }

    @Test func `many entries change in one pass`() throws {
        let machine = try SimulatedMachine()
        let elements = (0..<5000).map { "{\"n\": \($0 % 10)}" }.joined(separator: ",\n")
        try machine.fileSystem.replace("/tmp/m.json", with: Array("[\(elements)]".utf8))
        let outcome = try runPrefs(["prefs", "delete", "/tmp/m.json", ":*", "--where", "n < 5"], on: machine)
        #expect(outcome == Transcript.Outcome(output: "2500 entries\n"))
        #expect(try runPrefs(["prefs", "query", "/tmp/m.json", "n < 5", "--count"], on: machine).output == "0\n")
    }
}
