import Commands
import Foundation
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// `plutil` and `PlistBuddy`, beyond their transcripts.
@Suite struct AppleToolTests {
    private static let plutil =
        Tool.path(of: "swift").map {
            URL(filePath: $0).resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "plutil")
                .path(percentEncoded: false)
        } ?? "swift/plutil"

    private static func text(_ name: String) throws -> String {
        let file = packageRoot.appending(path: "Tests/Transcripts/\(name).transcript")
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    /// The lines of commands with a comment on why the toolchain's tool differs.
    private static func explainedLines(_ text: String) -> Set<Int> {
        var (lines, isExplained) = (Set<Int>(), false)
        for (number, line) in zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)) {
            if line.hasPrefix("# Differs: ") { isExplained = true }
            guard line.hasPrefix("$") else { continue }
            if isExplained { lines.insert(number) }
            isExplained = false
        }
        return lines
    }

    @Test(.enabled(if: Tool.isExpected(plutil), "\(Tool.absence(of: plutil))"))
    func `the toolchain's plutil behaves the same, unless the transcript gives the reason`() throws {
        let text = try Self.text("plutil")
        let explained = Self.explainedLines(text)
        let folder = try TemporaryFolder()
        let steps = try Transcript(parsing: text).steps
        #expect(steps.count >= 60)
        for step in steps {
            let words = try ShellScript.words(step.command)
            #expect(words.first == "plutil")
            let theirs = try Subprocess.run(
                Self.plutil, Array(words.dropFirst()), input: Data(step.input.utf8), in: folder.url)
            let outcome = Transcript.Outcome(
                output: theirs.text, errors: theirs.errorText, status: theirs.status)
            #expect(
                (outcome == step.outcome) != explained.contains(step.line),
                "line \(step.line): \(step.command)\n\(outcome.notation)")
        }
    }

    @Test func `each command of PlistBuddy's transcript has a source`() throws {
        let lines = try Self.text("PlistBuddy").split(separator: "\n", omittingEmptySubsequences: false)
        var count = 0
        for (before, line) in zip(lines, lines.dropFirst()) where line.hasPrefix("$ PlistBuddy") {
            #expect(before.hasPrefix("# Source: "), "\(line)")
            count += 1
        }
        #expect(count >= 60)
    }

    // MARK: Failures

    /// Runs a command that cannot write to some of its streams.
    private func status(
        _ words: [String], full streams: [StandardStream], on machine: SimulatedMachine
    ) -> (status: Int32, output: String) {
        let terminal = SimulatedTerminal()
        terminal.failWrites(.noSpace, to: streams)
        var environment = machine.environment
        environment.arguments = words
        let status = Prefs.run(
            in: CommandContext(
                SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: environment, terminal: terminal)))
        return (status.rawValue, terminal.text(of: .output))
    }

    @Test func `a message that cannot be printed does not stop the command`() throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/g", with: Array("{ a = b; }".utf8).span.bytes)
        let edits = ["Add :q string v", "Set :nosuch v", "Add :r string w"].flatMap { ["-c", $0] }
        #expect(status(["PlistBuddy"] + edits + ["/tmp/g"], full: [.errors], on: machine).status == 1)
        #expect(try runPrefs(["PlistBuddy", "-c", "Print :r", "/tmp/g"], on: machine).output == "w\n")
        let lint = status(["plutil", "-lint", "/tmp/none", "/tmp/g"], full: [.errors], on: machine)
        #expect(lint == (1, "/tmp/g: OK\n"))
    }

    @Test(arguments: [["PlistBuddy", "-c", "Print", "/tmp/g"], ["plutil", "-p", "/tmp/g"], ["plutil", "-help"]])
    func `output that cannot be written is an error`(_ words: [String]) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/g", with: Array("{ a = b; }".utf8).span.bytes)
        #expect(status(words, full: [.output], on: machine).status == 1)
    }

    // MARK: Formats

    private static let saved: [(text: String, edits: [String], isXML: Bool, print: String)] = [
        ("{ a = b; }", ["Add :b bool true", "Set :a c"], true, "Dict {\n    a = c\n    b = true\n}\n"),
        ("{ a = b; }", ["Set :a c"], false, "Dict {\n    a = c\n}\n"),
        ("(a)", ["Add :1 integer 3"], true, "Array {\n    a\n    3\n}\n"),
        (
            "{\"a\": 1}", ["Add :d date 2024-01-01T00:00:00Z"], true,
            "Dict {\n    a = 1\n    d = Mon Jan 01 00:00:00 UTC 2024\n}\n"
        ),
        (
            "{ d = { \"007\" = {}; \"+49\" = a; }; }", ["Add :d:007:name string Bond", "Set :d:+49 b"], false,
            """
            Dict {
                d = Dict {
                    007 = Dict {
                        name = Bond
                    }
                    +49 = b
                }
            }

            """
        ),
        ("{\"a\": 1}", ["Add :b bool true"], false, "Dict {\n    a = 1\n    b = true\n}\n"),
    ]

    @Test(arguments: saved)
    private func `PlistBuddy saves a file as XML if its format cannot hold the result`(
        _ row: (text: String, edits: [String], isXML: Bool, print: String)
    ) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/g", with: Array(row.text.utf8).span.bytes)
        let words = ["PlistBuddy"] + row.edits.flatMap { ["-c", $0] } + ["/tmp/g"]
        #expect(try runPrefs(words, on: machine) == Transcript.Outcome())
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/g", limit: 1 << 20))
        #expect(bytes.starts(with: "<?xml".utf8) == row.isXML)
        #expect(try runPrefs(["PlistBuddy", "-c", "Print", "/tmp/g"], on: machine).output == row.print)
    }

    // MARK: Domains

    /// The path of a preference file, and the arguments with which `prefs` names the same domain.
    static let places: [(path: String, domain: [String])] = [
        ("/home/ada/Library/Preferences/com.example.app.plist", ["com.example.app"]),
        ("~/Library/Preferences/com.example.app.plist", ["com.example.app"]),
        ("/home/ada/Library/Preferences/.GlobalPreferences.plist", ["-g"]),
    ]

    @Test(arguments: places)
    func `a path in macOS's folder of preferences is a domain`(_ row: (path: String, domain: [String])) throws {
        let machine = try SimulatedMachine()
        let added = try runPrefs(["PlistBuddy", "-c", "Add :Size integer 12", row.path], on: machine)
        #expect(added.output == "File Doesn't Exist, Will Create: \(row.path)\n" && added.status == 0)
        #expect(try runPrefs(["prefs", "read"] + row.domain + ["Size"], on: machine).output == "12\n")
        #expect(try runPrefs(["plutil", "-replace", "Size", "-integer", "13", row.path], on: machine).status == 0)
        #expect(try runPrefs(["PlistBuddy", "-c", "Print :Size", row.path], on: machine).output == "13\n")
        #expect(try runPrefs(["plutil", "-convert", "xml1", row.path], on: machine).status == 0)
        #expect(try runPrefs(["prefs", "read"] + row.domain + ["Size"], on: machine).output == "13\n")
        // A domain has a history.
        #expect(try runPrefs(["prefs", "undo"] + row.domain, on: machine).status == 0)
        #expect(try machine.fileSystem.status(of: "/home/ada/Library") == nil)
    }

    @Test func `an empty domain is made`() throws {
        let machine = try SimulatedMachine()
        let path = "~/Library/Preferences/com.example.app.plist"
        for words in [["-create", "xml1"], ["-insert", "Size", "-integer", "12"]] {
            #expect(try runPrefs(["plutil"] + words + [path], on: machine) == Transcript.Outcome())
        }
        #expect(try runPrefs(["prefs", "read", "com.example.app", "Size"], on: machine).output == "12\n")
    }

    @Test func `a regular file in that folder is used as it is`() throws {
        let machine = try SimulatedMachine()
        let path: FilePath = "/home/ada/Library/Preferences/com.example.app.plist"
        try machine.fileSystem.makeFolders(path.parent)
        try machine.fileSystem.replace(path, with: Array("{ a = b; }".utf8).span.bytes)
        #expect(try runPrefs(["plutil", "-extract", "a", "raw", path.description], on: machine).output == "b\n")
        #expect(try runPrefs(["prefs", "read", "com.example.app"], on: machine).status == 1)
    }

    @Test func `a plain file has no history`() throws {
        let machine = try SimulatedMachine()
        let words = ["-insert", "a", "-string", "b", "/tmp/f.plist"]
        #expect(try runPrefs(["plutil", "-create", "xml1", "/tmp/f.plist"], on: machine) == Transcript.Outcome())
        #expect(try runPrefs(["plutil"] + words, on: machine) == Transcript.Outcome())
        #expect(try runPrefs(["PlistBuddy", "-c", "Set :a c", "/tmp/f.plist"], on: machine) == Transcript.Outcome())
        #expect(try runPrefs(["plutil", "-extract", "a", "raw", "/tmp/f.plist"], on: machine).output == "c\n")
        #expect(try machine.fileSystem.status(of: "/home/ada/.local/state/prefs/history") == nil)
    }

    // MARK: Hostile input

    static let damaged = [
        "", "{", "[", "\"", "<", "<plist>", "bplist00", "{\"a\":", "{a=", "<plist><dict>", "[1,", "nul", "\0",
        String(repeating: "[", count: 5000), String(repeating: "<array>", count: 5000),
    ]

    @Test(arguments: damaged, ["plutil", "PlistBuddy"])
    func `a damaged file is reported and kept`(_ text: String, _ program: String) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/f", with: Array(text.utf8).span.bytes)
        let calls =
            program == "plutil"
            ? [["-lint"], ["-p"], ["-insert", "a", "-string", "b"], ["-convert", "xml1"], ["-type", "a"]]
            : [["-c", "Add :a string b"], ["-c", "Print"]]
        for call in calls {
            let outcome = try runPrefs([program] + call + ["/tmp/f"], on: machine)
            #expect(outcome.status == 1 || text == "nul" || text == "\0", "\(call)")
            if outcome.status == 1 { #expect(!outcome.errors.isEmpty) }
        }
        guard text != "nul", text != "\0" else { return }
        #expect(try machine.fileSystem.contents(of: "/tmp/f", limit: 1 << 20) == Array(text.utf8))
    }

    @Test func `entries nested more deeply than a file can be are rejected`() throws {
        let machine = try SimulatedMachine()
        let entry = String(repeating: ":a", count: 2000)
        let outcome = try runPrefs(["PlistBuddy", "-c", "Add \(entry) string b", "/tmp/f.plist"], on: machine)
        #expect(outcome.status == 1)
        #expect(try machine.fileSystem.status(of: "/tmp/f.plist") == nil)
    }

    // MARK: Completion

    static let completions: [(words: [String], first: String)] = [
        (["plutil", "__complete", "bash", "-con"], "words\n-convert\trewrite in another format\n"),
        (["plutil", "__complete", "zsh", "-lint", ""], "files\n"),
        (["PlistBuddy", "__complete", "fish", "-x"], "words\n-x\tprint XML\n"),
    ]

    @Test(arguments: completions)
    func `completions offer options and files`(_ row: (words: [String], first: String)) throws {
        #expect(try runPrefs(row.words).output == row.first)
    }
}
