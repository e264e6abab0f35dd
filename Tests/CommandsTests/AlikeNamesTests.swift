import Commands
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

private let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")

/// Names with the same characters but other bytes: the same letter as one scalar and as two. Swift treats the texts as
/// equal. Every file has two names.
@Suite struct `Names that only look alike` {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The commands that must succeed before the last one.
        var before: [[String]] = []
        let words: [String]
        let output: String

        init(_ description: String, _ before: [[String]] = [], _ words: [String], prints output: String) {
            (testDescription, self.before, self.words, self.output) = (description, before, words, output)
        }
    }

    private static let (first, second) = ("com.\(decomposed)", "com.\(composed)")
    private static let both = [["write", second, "a", "1"], ["write", first, "a", "2"]]
    private static let keys = [["write", "d", composed, "1"], ["write", "d", decomposed, "2"]]

    /// In sorted output, the name with two scalars is first.
    static let cases = [
        Case("domains are both listed", both, ["domains"], prints: "\(first)\n\(second)\n"),
        Case("domains are both found", both, ["find", "a"], prints: "\(first)\ta\t2\n\(second)\ta\t1\n"),
        Case("domains have their own files", both, ["read", second, "a"], prints: "1\n"),
        Case("domains are queried one by one", both, ["query", "*", "a != NULL", "--count"], prints: "2\n"),
        Case(
            "domains are applied from one file", [["apply", "--domains", "/tmp/both.plist"]], ["find", "a"],
            prints: "\(first)\ta\t4\n\(second)\ta\t3\n"),
        Case(
            "a domain is pruned without the other",
            [
                ["apply", "--domains", "/tmp/both.plist"],
                ["apply", "--set", "/tmp/both.plist", "--prune-domains", "--domains", "/tmp/one.plist"],
            ],
            ["find", "a"], prints: "\(second)\ta\t3\n"),
        Case(
            "keys are both listed", keys, ["read", "d", "--format", "lines"],
            prints: "\(decomposed)\t2\n\(composed)\t1\n"),
        Case(
            "a key is renamed without the other", keys + [["rename", "d", composed, "x"]],
            ["read", "d", "--format", "lines"], prints: "\(decomposed)\t2\nx\t1\n"),
        Case(
            "a key is renamed to the other spelling",
            [["write", "d", composed, "1"], ["rename", "d", composed, decomposed]],
            ["read", "d", "--format", "lines"], prints: "\(decomposed)\t1\n"),
        Case(
            "a key is copied over the other", keys + [["copy", "d", composed, decomposed]],
            ["read", "d", decomposed], prints: "1\n"),
        Case(
            "an undo restores the right key", keys + [["undo", "d"]], ["read", "d", "--format", "lines"],
            prints: "\(composed)\t1\n"),
        Case(
            "columns of a query are separate", [], ["query", "/tmp/records.plist", "TRUEPREDICATE", "--format", "tsv"],
            prints: "\(composed)\t\(decomposed)\n1\t\n\t2\n"),
        Case(
            "hosts have their own domains",
            [
                ["--host", "h\(composed)", "write", "--new-host", "d", "a", "1"],
                ["--host", "h\(decomposed)", "write", "--new-host", "e", "a", "1"],
            ],
            ["--host", "h\(decomposed)", "domains"], prints: "e\n"),
        Case(
            "hosts have their own values",
            [
                ["--host", "h\(composed)", "write", "--new-host", "d", "a", "1"],
                ["--host", "h\(decomposed)", "write", "--new-host", "d", "a", "2"],
            ],
            ["--host", "h\(composed)", "read", "d", "a"], prints: "1\n"),
        // The last letter combines with the dot after it, so that the name has no Character ".".
        Case(
            "a domain is listed if its end combines with its extension", [["write", "com.a\u{600}", "a", "1"]],
            ["domains"], prints: "com.a\u{600}\n"),
    ]

    private static let files = [
        "/tmp/both.plist": "{ \"\(second)\" = { a = 3; }; \"\(first)\" = { a = 4; }; }",
        "/tmp/one.plist": "{ \"\(second)\" = { a = 3; }; }",
        "/tmp/records.plist": "( { \"\(composed)\" = 1; }, { \"\(decomposed)\" = 2; } )",
    ]

    private func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        for (path, text) in Self.files {
            try machine.fileSystem.replace(try #require(FilePath(path)), with: Array(text.utf8))
        }
        return machine
    }

    private func run(_ words: [String], on machine: SimulatedMachine) throws {
        let outcome = try runPrefs(["prefs"] + words, on: machine)
        try #require(outcome.status == 0, "\(words): \(outcome)")
    }

    @Test(arguments: cases) func `are two`(_ row: Case) throws {
        let machine = try machine()
        for words in row.before { try run(words, on: machine) }
        let outcome = try runPrefs(["prefs"] + row.words, on: machine)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(Array(outcome.output.utf8) == Array(row.output.utf8), "\(outcome.output)")
    }

    @Test func `are two domains of a mirror`() throws {
        let machine = try machine()
        for words in Self.both { try run(words, on: machine) }
        let other = ["--store", "/home/ada/b"]
        try run(["mirror", "init", "/home/ada/shared", "--label", "desk"], on: machine)
        try run(other + ["mirror", "join", "/home/ada/shared", "--label", "laptop"], on: machine)
        try run(["mirror", "add", "com.*"], on: machine)
        try run(other + ["mirror", "add", "com.*"], on: machine)
        for _ in 0..<2 { for store in [[], other] { try run(store + ["mirror", "sync"], on: machine) } }
        let carried = try runPrefs(["prefs"] + other + ["find", "a"], on: machine)
        #expect(Array(carried.output.utf8) == Array("\(Self.first)\ta\t2\n\(Self.second)\ta\t1\n".utf8), "\(carried)")
        // A pattern that differs only in its bytes is another pattern.
        let stays = "values that this host published stay in the mirror; --withdraw removes them\n"
        let removal = try runPrefs(["prefs", "mirror", "remove", Self.first], on: machine)
        #expect(Array(removal.output.utf8) == Array("no longer mirrored: \(Self.first)\n\(stays)".utf8), "\(removal)")
    }

    @Test func `are separate keys in a look-up`() throws {
        let settings = [(composed, 5), (decomposed, 6)].map { key, value in
            "{ Key = \"\(key)\"; Type = integer; Default = \(value); Minimum = \(value); }"
        }
        let schema = "{ Domain = d; Settings = (\(settings.joined(separator: ", "))); }"
        let machine = try machine()
        try machine.fileSystem.replace("/tmp/s.plist", with: Array(schema.utf8))
        try run(["schema", "install", "/tmp/s.plist"], on: machine)
        try run(["write", "d", composed, "5"], on: machine)
        #expect(try runPrefs(["prefs", "write", "d", decomposed, "5"], on: machine).status == 3)
        try run(["write", "d", decomposed, "7"], on: machine)
        try run(["delete", "d", composed], on: machine)
        let form = try runPrefs(["prefs", "form", "--plain", "d"], input: "\n8\n", on: machine)
        #expect(form.status == 0, "\(form)")
        #expect(try runPrefs(["prefs", "read", "d", decomposed], on: machine).output == "8\n")
        let outcome = try runPrefs(["prefs", "read", "--effective", "d", composed], on: machine)
        #expect(outcome == Transcript.Outcome(output: "5\n"))
    }

    @Test(arguments: ["-\u{212A}", "--\u{212A}eep"]) func `are not flags`(_ flag: String) throws {
        let bench = try ScriptBench(
            schema: """
                { Domain = "com.example.backup"; Settings = ({ Key = keep; Type = boolean; Flag = Keep; Short = K; }); }
                """)
        #expect(try bench.run(["-K"]).status == 0)
        let outcome = try bench.run([flag])
        #expect(outcome.status != 0, "\(outcome)")
        #expect(outcome.errors.contains("unknown"), "\(outcome)")
    }

    // MARK: Doctor

    @Test func `are listed by the doctor`() throws {
        let clinic = try Clinic()
        for words in Self.both { try run(words, on: clinic.machine) }
        let outcome = try clinic.doctor()
        let expected = """
            \(Self.first): 2 domains look the same: $'com.cafe\\u0301', $'com.caf\\u00e9'
                # they are separate; to merge them, export one and import it into the other, then delete it

            """
        #expect(outcome.status == 8)
        #expect(Array(outcome.output.utf8) == Array(expected.utf8), "\(outcome)")
    }

    @Test func `are one domain on a file system that normalizes names, which the doctor reports`() throws {
        let clinic = try Clinic()
        clinic.machine.disk.limitations = [.normalizesNames]
        for words in Self.both { try run(words, on: clinic.machine) }
        let domains = try runPrefs(["prefs", "domains"], on: clinic.machine)
        #expect(Array(domains.output.utf8) == Array("\(Self.second)\n".utf8), "\(domains)")
        #expect(try runPrefs(["prefs", "read", Self.second, "a"], on: clinic.machine).output == "2\n")
        let outcome = try clinic.doctor()
        let expected = """
            \(Self.second): its file system treats $'com.caf\\u00e9' and $'com.cafe\\u0301' as one name, so they are one domain
                # other file systems and mirrors distinguish them; use one spelling everywhere

            """
        #expect(outcome.status == 8)
        #expect(Array(outcome.output.utf8) == Array(expected.utf8), "\(outcome)")
    }
}
