import Commands
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct HistoryTests {
    /// A machine on which settings changed: a day ago, an hour ago, a minute ago and now.
    private static func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        for (line, seconds) in [
            ("write d theme light", 86_400 - 3600), ("write e n 1", 3600 - 60), ("-currentHost write d theme blue", 60),
            ("write d theme dark", 0), ("write d window -dict width -int 80", 0),
        ] {
            #expect(try WatchTests.prefs(line, on: machine) == 0)
            machine.clock.advance(by: .seconds(seconds))
        }
        return machine
    }

    /// The first line of each version, without its changes.
    private static func headings(_ text: String) -> [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("    ") }.map(String.init)
    }

    static let rows: [(String, [String])] = [
        ("", ["d 3", "d 2", "d for host 1", "e 1", "d 1"]),
        ("--limit 2", ["d 3", "d 2"]),
        ("--since 1m", ["d 3", "d 2", "d for host 1"]),
        ("--since 59s", ["d 3", "d 2"]),
        ("--since 1h --limit 4", ["d 3", "d 2", "d for host 1", "e 1"]),
        ("--layer user", ["d 3", "d 2", "e 1", "d 1"]),
        ("--layer user-host", ["d for host 1"]),
        ("--current-host", ["d for host 1"]),
        ("d", ["3", "2", "1"]),
        ("d theme", ["2", "1"]),
        ("d :window:width", ["3"]),
        ("d theme --limit 1", ["2"]),
        ("d theme --since 2h", ["2"]),
        ("d --since 0s", ["3", "2"]),
    ]

    @Test(arguments: rows)
    func `the versions of a command are those that it names, newest first`(
        _ words: String, _ versions: [String]
    ) throws {
        let machine = try Self.machine()
        let words = words.split(separator: " ").map(String.init)
        let outcome = try runPrefs(["prefs", "history"] + words, on: machine)
        let found = Self.headings(outcome.output).map { line in
            // The words before the time, without the identifier of the host.
            line.split(separator: " ").prefix { $0.utf8.count != 20 }.filter { $0.utf8.count < 16 }
                .joined(separator: " ")
        }
        #expect(found == versions)
        #expect(outcome.errors.isEmpty && outcome.status == 0)
        let json = try runPrefs(["prefs", "history", "--format", "json"] + words, on: machine)
        let list = try PropertyList(parsing: Array(json.output.utf8))
        let entries = try #require(list["versions"]?.arrayValue)
        #expect(entries.count == versions.count)
        let numbers = entries.compactMap { $0["id"]?.integerValue.map { "\($0)" } }
        #expect(numbers == versions.map { String($0.suffix(1)) })
    }

    @Test func `an entry whose container was replaced has the changes of the container`() throws {
        let machine = try SimulatedMachine()
        for line in [
            "write d a -dict b 1 c 2", "write d a -string x", "write d a -dict c 2", "write d a -dict b 2 c 2",
        ] {
            #expect(try WatchTests.prefs(line, on: machine) == 0)
        }
        let outcome = try runPrefs(["prefs", "history", "d", ":a:b"], on: machine)
        #expect(
            outcome.output.split(separator: "\n").filter { $0.hasPrefix("    ") } == [
                "    + :a:b: \"2\"", "    - a: {\"b\":\"1\",\"c\":\"2\"}", "    + a: \"x\"",
                "    + a: {\"b\":\"1\",\"c\":\"2\"}",
            ])
    }

    @Test func `a terminal shows how long ago the changes of a week were made`() throws {
        let machine = try Self.machine()
        machine.clock.advance(by: .seconds(5))
        func times(_ words: [String]) -> [String] {
            let terminal = SimulatedTerminal(widths: [.input: 120, .output: 120, .errors: 120])
            var environment = machine.environment
            environment.arguments = ["prefs", "history"] + words
            let context = CommandContext(
                SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: environment, terminal: terminal))
            #expect(Prefs.run(in: context) == .done)
            return Self.headings(terminal.text(of: .output)).map { line in
                let words = line.split(separator: "  ").map { $0.trimmingPrefix(" ") }
                return words.first { $0.hasSuffix("ago") || $0.hasSuffix("Z") }.map(String.init) ?? line
            }
        }
        #expect(times([]) == ["5 s ago", "5 s ago", "1 min ago", "1 h ago", "1 day ago"])
        #expect(times(["--full"]).allSatisfy { $0.hasSuffix("Z") })
        machine.clock.advance(by: .seconds(7 * 86_400 - 6))
        #expect(times(["d"]) == ["6 days ago", "6 days ago", "2026-01-01T00:00:00Z"])
    }

    @Test func `an undo names the program whose change it undoes`() throws {
        let machine = try SimulatedMachine()
        func note(_ words: String) throws -> String {
            try runPrefs(["prefs"] + ShellScript.words(words), on: machine).errors
        }
        for line in ["write d a 1", "write d a 2"] { #expect(try WatchTests.prefs(line, on: machine) == 0) }
        #expect(try note("undo d") == "prefs: undid a change of a by prefs[1]; to undo this: prefs restore d 2\n")
        let path: FilePath = "/home/ada/.config/prefs/d.plist"
        try machine.fileSystem.replace(path, with: Array("{\"a\": \"3\"}".utf8).span.bytes)
        #expect(
            try note("undo d") == "prefs: undid a change of a by another program; to undo this: prefs restore d 4\n")
        #expect(try WatchTests.prefs("write d a 4", on: machine) == 0)
        #expect(try note("undo d 2").hasPrefix("prefs: undid 2 changes of a by prefs"))
    }
}
