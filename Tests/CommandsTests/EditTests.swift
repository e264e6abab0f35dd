import Commands
import Platform
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

@Suite struct EditTests {
    /// An editor that makes a given change each time it is opened.
    final class Editor: Sendable {
        let machine: SimulatedMachine
        private let edits: [@Sendable (String) throws -> String?]
        private let calls = Counter()

        init(_ machine: SimulatedMachine, _ edits: [@Sendable (String) throws -> String?]) {
            (self.machine, self.edits) = (machine, edits)
        }

        var count: Int { calls.value }

        /// Makes the next change. If the new text is nil, the editor fails.
        func run(_ arguments: [String]) throws -> Int32 {
            let call = calls.next()
            let path = try #require(arguments.last.flatMap { FilePath($0) })
            let file = try #require(try machine.fileSystem.open(path, .writing))
            #expect(try file.status().permissions == .privateFile)
            #expect(try machine.fileSystem.status(of: path.parent)?.permissions == .privateFolder)
            let edit = try #require(edits.indices.contains(call) ? edits[call] : nil, "opened once more")
            guard let text = try edit(String(decoding: file.contents(), as: UTF8.self)) else { return 3 }
            try file.truncate(to: 0)
            try file.write(Array(text.utf8).span.bytes, at: 0)
            return 0
        }
    }

    private func edit(
        _ words: [String] = ["d"], on machine: SimulatedMachine,
        _ edits: [@Sendable (String) throws -> String?]
    ) throws -> Transcript.Outcome {
        let editor = Editor(machine, edits)
        let outcome = try runPrefs(["prefs", "edit"] + words, on: machine) { try editor.run($0) }
        #expect(editor.count == edits.count)
        return outcome
    }

    /// The text of a file by its path, comments and layout included.
    @Test func `a text file is edited as it is`() throws {
        let machine = try machine([])
        let path: FilePath = "/tmp/a.json5"
        let text = "// Of the team.\n{ size: 14, list: [1,\n 2], }\n"
        try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
        let expected = text.replacing("14", with: "15").replacing("the team", with: "us")
        let outcome = try edit(
            ["/tmp/a.json5"], on: machine,
            [
                { shown in
                    #expect(shown == text)
                    // Meanwhile, another program changes another entry.
                    _ = try runPrefs(["prefs", "write", "/tmp/a.json5", ":list:0", "7"], on: machine)
                    return expected
                }
            ])
        #expect(outcome == Transcript.Outcome())
        let bytes = try #require(try machine.fileSystem.contents(of: path))
        #expect(String(decoding: bytes, as: UTF8.self) == expected.replacing("[1,", with: "[7,"))
        // A change of only a comment is saved too.
        let comment = try edit(["/tmp/a.json5"], on: machine, [{ $0.replacing("us", with: "all") }])
        #expect(comment == Transcript.Outcome())
        let last = try #require(try machine.fileSystem.contents(of: path))
        #expect(String(decoding: last, as: UTF8.self).hasPrefix("// Of all."))
    }

    @Test func `the text of a file keeps its integers beyond 64 bits`() throws {
        let machine = try machine([])
        let text = "{\"id\": 123456789012345678901234567890, \"n\": 1}\n"
        for (old, new) in [("1}", "2}"), ("890", "891")] {
            try machine.fileSystem.replace("/tmp/a.json", with: Array(text.utf8).span.bytes)
            let outcome = try edit(["/tmp/a.json"], on: machine, [{ $0.replacing(old, with: new) }])
            #expect(outcome == Transcript.Outcome())
            let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/a.json"))
            #expect(String(decoding: bytes, as: UTF8.self) == text.replacing(old, with: new))
        }
    }

    private func machine(_ lines: [String] = ["write d theme light", "write d size -int 14"]) throws -> SimulatedMachine
    {
        let machine = try SimulatedMachine()
        for line in lines { try WatchTests.change(line, on: machine) }
        return machine
    }

    private func stored(_ machine: SimulatedMachine, _ domain: String = "d") throws -> String {
        try runPrefs(["prefs", "read", "--format", "typed", domain], on: machine).output
    }

    /// The remaining temporary files for editors.
    private func leftovers(_ machine: SimulatedMachine) throws -> [FileName] {
        try machine.fileSystem.names(in: "/tmp") ?? []
    }

    static let changes: [(words: [String], old: String, new: String)] = [
        (["d"], "light", "dark"), (["d", "--format", "json"], "\"light\"", "\"dark\""),
        (["d", "--format", "gnustep"], "light", "dark"),
    ]

    @Test(arguments: changes)
    func `changes in the text are made in the domain`(_ row: (words: [String], old: String, new: String))
        throws
    {
        let machine = try machine()
        let outcome = try edit(row.words, on: machine, [{ text in text.replacing(row.old, with: row.new) }])
        #expect(outcome == Transcript.Outcome())
        #expect(try stored(machine) == "size\tinteger\t14\ntheme\tstring\tdark\n")
        #expect(try leftovers(machine).isEmpty)
    }

    @Test func `a text with the same values changes nothing, whatever its layout`() throws {
        let machine = try machine(["write d when -date 2001-01-01T00:00:00Z", "write d size -int 14"])
        let history = "/home/ada/.local/state/prefs/history/d" as FilePath
        let versions = try machine.fileSystem.names(in: history)
        #expect(try edit(on: machine, [{ $0 }]) == Transcript.Outcome())
        #expect(try edit(on: machine, [{ $0.replacing("\t", with: " ") + "\n\n" }]) == Transcript.Outcome())
        #expect(try machine.fileSystem.names(in: history) == versions)
        #expect(try leftovers(machine).isEmpty)
    }

    @Test func `an unchanged value that the text cannot represent exactly is kept`() throws {
        let machine = try machine([
            "write d when -date 2001-01-01T00:00:00.25Z", "write d uid -json '{\"$uid\":7}'", "write d k a",
        ])
        #expect(
            try edit(on: machine, [{ $0.replacing(">a<", with: ">b<").replacing("\"a\"", with: "\"b\"") }]).status == 0)
        #expect(try stored(machine) == "k\tstring\tb\nuid\tuid\t7\nwhen\tdate\t2001-01-01T00:00:00.25Z\n")
    }

    @Test func `a domain that does not exist starts empty`() throws {
        let machine = try machine([])
        #expect(try edit(["new", "--format", "json"], on: machine, [{ _ in "{\"a\": 1}" }]) == Transcript.Outcome())
        #expect(try stored(machine, "new") == "a\tinteger\t1\n")
    }

    @Test func `an error opens the editor again, and its position is printed`() throws {
        let machine = try machine()
        let outcome = try edit(
            ["d", "--format", "json"], on: machine,
            [
                { _ in "{\n  \"theme\": dark\n}\n" },
                { text in
                    #expect(text == "{\n  \"theme\": dark\n}\n")
                    return "[]"
                },
                { _ in "{\"theme\": \"dark\"}" },
            ])
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 2 && outcome.status == 0)
        #expect(lines.first?.contains("/d.json:2:12: ") == true, "\(outcome.errors)")
        #expect(
            lines.last?.contains("/d.json:1:1: expected a dictionary of settings, not a value of type array") == true,
            "\(outcome.errors)")
        #expect(try stored(machine) == "theme\tstring\tdark\n")
        #expect(try leftovers(machine).isEmpty)
    }

    @Test func `an error that is not fixed ends the editing, and the text is kept`() throws {
        let machine = try machine()
        let before = try stored(machine)
        let outcome = try edit(on: machine, [{ _ in "<plist>" }, { $0 }])
        #expect(outcome.status == 5)
        #expect(try stored(machine) == before)
        let kept = try #require(try kept(outcome, machine))
        #expect(kept == "<plist>")
    }

    /// Returns the text of the file that the message names.
    private func kept(_ outcome: Transcript.Outcome, _ machine: SimulatedMachine) throws -> String? {
        let path = outcome.errors.split { " \n".contains($0) }.last.flatMap { FilePath($0) }
        return try path.flatMap { try machine.fileSystem.contents(of: $0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `an editor that fails changes nothing`() throws {
        let machine = try machine()
        let before = try stored(machine)
        let outcome = try edit(on: machine, [{ _ in nil }])
        #expect(outcome.errors == "prefs: the editor vi ended with status 3; nothing was changed\n")
        #expect(outcome.status == 6)
        #expect(try stored(machine) == before)
        #expect(try leftovers(machine).isEmpty)
    }

    @Test func `concurrent changes of other keys are kept`() throws {
        let machine = try machine()
        let outcome = try edit(
            on: machine,
            [
                { text in
                    for line in ["write d size -int 15", "write d new -int 1"] {
                        try WatchTests.change(line, on: machine)
                    }
                    return text.replacing("light", with: "dark")
                }
            ])
        #expect(outcome == Transcript.Outcome())
        #expect(try stored(machine) == "new\tinteger\t1\nsize\tinteger\t15\ntheme\tstring\tdark\n")
    }

    @Test func `a concurrent change of the same key is not overwritten, and the text is kept`() throws {
        let machine = try machine()
        let outcome = try edit(
            on: machine,
            [
                { text in
                    try WatchTests.change("write d theme blue", on: machine)
                    return text.replacing("light", with: "dark").replacing("14", with: "15")
                }
            ])
        #expect(outcome.status == 8)
        #expect(
            outcome.errors.hasPrefix(
                "prefs: d: also changed by others in the meantime: theme; nothing was changed\nthe edited text is kept in /tmp/"
            ))
        #expect(try stored(machine) == "size\tinteger\t14\ntheme\tstring\tblue\n")
        #expect(try kept(outcome, machine)?.contains("dark") == true)
    }

    @Test func `the editor is a shell command in VISUAL or else EDITOR`() throws {
        for (variables, expected) in [
            (["EDITOR": "ed"], "ed"), (["EDITOR": "ed", "VISUAL": "vim -n"], "vim -n"),
            (["EDITOR": "ed", "VISUAL": ""], "ed"), ([:], "vi"),
        ] as [(EnvironmentVariables, String)] {
            let machine = try machine()
            _ = try runPrefs(["prefs", "edit", "d"], on: machine, variables: variables) { arguments in
                #expect(arguments.prefix(3) == ["-c", "trap : INT QUIT; " + expected + " \"$@\"", expected])
                #expect(arguments.count == 4 && arguments[3].hasSuffix("/d.plist"))
                return 0
            }
        }
    }
}

/// A counter that several threads can use.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock(\.self) }

    /// Returns the current number, and increments it.
    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}
