import Commands
import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct SchemaVerbTests {
    static let planted = """
        {
            Domain = "com.example.backup";
            Titel = "Nightly backup";
            Settings = (
                { Key = keep; Type = integer; Default = 400; Minimum = 1; Maximum = 365; Flag = keep; },
                { Key = keep; Type = intger; },
                { Key = mode; Choices = (full, incremental); Default = ful; Flag = keep; },
                { Key = size; Type = integer; Minimum = 9; Maximum = 5; },
                { Key = name; Pattern = "[a-z"; },
                { Type = string; },
                { Key = list; Type = array; MinimumLength = 3; },
                { Key = word; Environment = "BAD NAME"; }
            );
            Extends = ("com.example.nowhere");
        }
        """

    static let mistakes = [
        "3:5: :Titel: unknown attribute Titel; did you mean Title?",
        "5:39: :Settings:0:Default: must be from 1 to 365; change the value",
        "6:11: :Settings:1:Key: duplicate key keep; remove or rename one of them",
        "6:23: :Settings:1:Type: unknown name intger; did you mean integer?",
        "7:54: :Settings:2:Default: must be full or incremental; did you mean full?",
        "7:69: :Settings:2:Flag: duplicate flag --keep; remove or rename one of them",
        "8:39: :Settings:3:Minimum: is above Maximum; lower it, or raise Maximum",
        "9:23: :Settings:4:Pattern: the pattern ends inside a class at character 5 of the pattern",
        "10:9: :Settings:5: Key is missing; add Key",
        "11:37: :Settings:6:MinimumLength: does not apply to an array; remove it, or change Type",
        "12:23: :Settings:7:Environment: invalid name BAD NAME; use letters, digits, dashes and underscores",
        "14:16: :Extends:0: there is no schema for com.example.nowhere; install it, or put it next to this file",
    ]

    private func machine(_ texts: [String: String]) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        for (name, text) in texts {
            let path = SimulatedMachine.home.resolving(try #require(FilePath(name)))
            try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
        }
        return machine
    }

    @Test func `check reports all of twelve errors, each with its position`() throws {
        let machine = try machine([
            "bad.plist": Self.planted, "com.example.nowhere.plist": "{ Domain = \"com.example.nowhere\"; }",
        ])
        var expected = Self.mistakes
        let outcome = try runPrefs(["prefs", "schema", "check", "~/bad.plist"], on: machine)
        // A schema that it extends may be in the same folder.
        expected.removeLast()
        #expect(outcome.output.split(separator: "\n").map(String.init) == expected.map { "~/bad.plist:\($0)" })
        #expect(outcome.status == 5 && outcome.errors.isEmpty)
        _ = try machine.fileSystem.remove("/home/ada/com.example.nowhere.plist")
        let again = try runPrefs(["prefs", "schema", "check", "~/bad.plist"], on: machine)
        #expect(again.output.split(separator: "\n").map(String.init) == Self.mistakes.map { "~/bad.plist:\($0)" })
    }

    @Test func `check reports only OK for valid schemas`() throws {
        let folder = packageRoot.appending(path: "Tests/Examples")
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        var texts = ["good.plist": "{ Domain = d; Settings = ({ Key = k; }); }", "json.plist": "{\"Domain\": \"d\"}"]
        for name in names where name.contains("schema") && !name.hasSuffix("/") && name.hasSuffix(".plist") {
            let text = try Data(contentsOf: folder.appending(path: name))
            texts[name.replacing("/", with: "-")] = String(decoding: text, as: UTF8.self)
        }
        let machine = try machine(texts)
        for name in texts.keys {
            let outcome = try runPrefs(["prefs", "schema", "check", "~/\(name)"], on: machine)
            #expect(outcome == Transcript.Outcome(output: "~/\(name): OK\n"))
        }
    }

    @Test(arguments: [("~/none.plist", 1), ("/home", 6), ("~/good.plist/x", 6)] as [(String, Int32)])
    func `check continues after a file that is missing or cannot be read`(_ name: String, _ status: Int32) throws {
        let machine = try machine(["good.plist": "{ Domain = d; }"])
        let outcome = try runPrefs(["prefs", "schema", "check", name, "~/good.plist"], on: machine)
        #expect(outcome.output == "~/good.plist: OK\n" && outcome.status == status, "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func `install puts the file where all programs search for it`() throws {
        let machine = try machine([
            "s.plist": "{ Domain = \"com.example.app\"; Settings = ({ Key = k; Default = a; }); }"
        ])
        #expect(try runPrefs(["prefs", "schema", "install", "~/s.plist"], on: machine) == Transcript.Outcome())
        let path: FilePath = "/home/ada/.local/share/prefs/schemas/com.example.app.plist"
        #expect(try machine.fileSystem.contents(of: path) == machine.fileSystem.contents(of: "/home/ada/s.plist"))
        let other = try runPrefs(
            ["prefs", "--store", "/tmp/x", "schema", "install", "~/s.plist"], on: machine)
        #expect(other.status == 2)
    }

    @Test func `install requires that the extended schemas are installed`() throws {
        let machine = try machine([
            "s.plist": "{ Domain = s; Extends = common; }", "common.plist": "{ Domain = common; }",
        ])
        #expect(try runPrefs(["prefs", "schema", "check", "~/s.plist"], on: machine).status == 0)
        let outcome = try runPrefs(["prefs", "schema", "install", "~/s.plist"], on: machine)
        #expect(outcome.status == 5 && outcome.errors.contains("there is no schema for common"), "\(outcome)")
        #expect(try runPrefs(["prefs", "schema", "install", "~/common.plist"], on: machine).status == 0)
        #expect(try runPrefs(["prefs", "schema", "install", "~/s.plist"], on: machine).status == 0)
    }

    @Test(arguments: ["table", "markdown", "man", "json-schema", "cli-json"])
    func `show prints every key in each format`(_ format: String) throws {
        let machine = try machine([
            "s.plist":
                "{ Domain = d; Settings = ({ Key = alpha; Title = First; }, { Key = beta; Flag = beta; Default = x; }); }"
        ])
        #expect(try runPrefs(["prefs", "schema", "install", "~/s.plist"], on: machine).status == 0)
        let outcome = try runPrefs(["prefs", "schema", "show", "--format", format, "d"], on: machine)
        #expect(outcome.status == 0 && outcome.output.contains("beta"), "\(outcome)")
        #expect(try runPrefs(["prefs", "schema", "show", "--format", format, "~/s.plist"], on: machine) == outcome)
    }

    @Test func `show explains how to name a file that was taken as a domain`() throws {
        let machine = try machine([:])
        let none = try runPrefs(["prefs", "schema", "show", "s.plist"], on: machine)
        #expect(none.status == 1 && none.errors == "prefs: no schema is installed for s.plist\n")
        try machine.administrate("/s.plist", "{ Domain = d; }")
        for verb in [["schema", "show"], ["schema", "migrate"], ["form"]] {
            let outcome = try runPrefs(["prefs"] + verb + ["s.plist"], on: machine)
            #expect(
                outcome.errors
                    == "prefs: no schema is installed for s.plist; for the file of that name write ./s.plist\n")
        }
    }

    @Test(arguments: [["schema", "show"], ["schema", "migrate"], ["form"]])
    func `a similar domain with a schema is suggested`(_ verb: [String]) throws {
        let machine = try machine(["s.plist": "{ Domain = com.example.app; }"])
        #expect(try runPrefs(["prefs", "schema", "install", "~/s.plist"], on: machine).status == 0)
        let outcome = try runPrefs(["prefs"] + verb + ["com.example.ap"], on: machine)
        #expect(
            outcome.errors
                == "prefs: no schema is installed for com.example.ap; did you mean com.example.app?\n")
    }

    @Test(arguments: [
        ("{ Domain = other; }", ": is the schema of another domain, other"), ("{ Domain = d; Titel = x; }", ":1:15: "),
    ])
    func `an error in an installed schema is shown after its place`(_ text: String, _ reason: String) throws {
        let machine = try machine([:])
        try machine.administrate("/usr/share/prefs/schemas/d.plist", text)
        for words in [["write", "d", "k", "v"], ["schema", "show", "d"]] {
            let outcome = try runPrefs(["prefs"] + words, on: machine)
            #expect(outcome.errors.hasPrefix("prefs: /usr/share/prefs/schemas/d.plist\(reason)"), "\(outcome)")
        }
    }
}
