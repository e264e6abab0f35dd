import Foundation
import TestSupport
import Testing

/// Runs the examples of this repository.
@Suite(.enabled(if: InstalledCommand.isBuilt, "the executable is not beside the tests"), .serialized)
struct `An example` {
    private let command: InstalledCommand
    private let examples = packageRoot.appending(path: "Tests/Examples")

    init() throws { command = try InstalledCommand() }

    private func run(_ example: String, _ arguments: [String], _ variables: [String: String] = [:]) throws
        -> Subprocess
    {
        try Subprocess.run(
            examples.appending(path: example).path(percentEncoded: false), arguments,
            environment: command.variables.merging(variables) { $1 }, in: command.home)
    }

    private func write(_ text: String, _ path: String) throws {
        let file = command.home.appending(path: path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            atPath: command.home.appending(path: folder).path(percentEncoded: false)
        ).sorted()
    }

    @Test func `makes copies, keeps the requested number, and restores one`() throws {
        try write("one", "data/it's a file")
        try write("no", "data/left out")
        try write("", "copies/.keep")
        let variables = ["BACKUP_TARGET": "copies"]
        for name in ["a", "b", "c"] {
            let result = try run(
                "backup/backup", ["create", "--name", name, "-k2", "--exclude", "left out", "data"], variables)
            #expect(result.status == 0, "\(result.errorText)")
            #expect(result.text == "copies/\(name)\n")
        }
        #expect(try run("backup/backup", ["list"], variables).text == "b\nc\n")
        #expect(try names("copies/c/data") == ["it's a file"])
        try write("", "back/here")
        let back = try run("backup/backup", ["-v", "restore", "c", "back"], variables)
        #expect(back.text == "restoring c into back\n", "\(back.errorText)")
        #expect(try names("back/data") == ["it's a file"])
    }

    @Test func `saves flags with --save`() throws {
        try write("one", "data/file")
        try write("", "copies/.keep")
        let saved = try run(
            "backup/backup", ["--target", "copies", "--save", "create", "--name", "a", "--keep", "1", "data"])
        #expect(saved.status == 0, "\(saved.errorText)")
        #expect(try command.run("prefs", ["read", "com.example.backup", "keep"]).text == "1\n")
        // A relative path is stored as an absolute one.
        let copies = command.home.appending(path: "copies").path(percentEncoded: false)
        #expect(try run("backup/backup", ["create", "--name", "b", "data"]).text == "\(copies)/b\n")
        #expect(try run("backup/backup", ["list"]).text == "b\n")
    }

    @Test func `reports errors before it does anything`() throws {
        let result = try run("backup/backup", ["create", "--kep", "2", "--name", "../evil"])
        #expect(result.status == 2 && result.text.isEmpty)
        #expect(
            result.errorText == """
                backup: unknown flag --kep; did you mean --keep?
                backup: --name ../evil: must match ([A-Za-z0-9][A-Za-z0-9._-]*)?
                backup: --target is required
                backup: FOLDER is required
                Try backup create --help.

                """)
    }

    @Test func `rotates the given files and the stored ones`() throws {
        for name in ["it's.log", "other.log"] { try write("text\n", name) }
        #expect(
            try command.run("prefs", ["write", "com.example.rotate", "always", "-array", "other.log", "none.log"])
                .status == 0)
        let dry = try run("rotate/rotate", ["-n", "it's.log"])
        #expect(dry.text == "would mv -- it's.log it's.log.1\nwould mv -- other.log other.log.1\n")
        #expect(try run("rotate/rotate", ["it's.log"]).status == 0)
        try write("more\n", "it's.log")
        #expect(try run("rotate/rotate", ["--keep", "2", "it's.log"]).status == 0)
        #expect(try names(".").filter { $0.hasPrefix("it's") } == ["it's.log.1", "it's.log.2"])
        let small = try run("rotate/rotate", ["--least-size", "1K", "it's.log.1"])
        #expect(small.status == 0 && small.errorText.isEmpty)
        #expect(try names(".").filter { $0.hasPrefix("it's") } == ["it's.log.1", "it's.log.2"])
    }

    @Test func `has help, completions and a manual page`() throws {
        let help = try run("backup/backup", ["create", "--help"])
        #expect(help.status == 0 && help.text.contains("-k, --keep N"))
        let script = examples.appending(path: "backup/backup").path(percentEncoded: false)
        let page = try command.run("prefs", ["args", "--man", script])
        #expect(page.text.contains(".Nm backup") && page.text.contains(", Fl \\-keep Ar"))
        let completions = try command.run("prefs", ["args", "--completions", "bash", script])
        #expect(completions.text.contains("complete -o default -F _backup_completions 'backup'"))
    }

    @Test func `in Swift keeps a document, and sees the changes of other processes`() throws {
        let program = self.program("ExampleNotes")
        func notes(_ arguments: String..., variables: [String: String] = [:]) throws -> Subprocess {
            try Subprocess.run(
                program, arguments, environment: command.variables.merging(variables) { $1 }, in: command.home)
        }
        let script = """
            "$0" watch --until 2 | { read -r line; echo "$line"; "$0" add Letter; "$0" add Bill --tag urgent; cat; }
            """
        let watched = try Subprocess.run(
            "/bin/sh", ["-c", script, program], environment: command.variables, in: command.home)
        let counts = watched.text.split(separator: "\n")
        #expect(counts.first == "notes: 0" && counts.last == "notes: 2", "\(watched.text)\(watched.errorText)")
        #expect(try notes("list").text == "Letter\nBill #urgent\n")
        #expect(try notes("list", variables: ["NOTES_ORDER": "title"]).text == "Bill #urgent\nLetter\n")
        #expect(try command.run("prefs", ["read", "com.example.notes", ":notes:1:tags:0"]).text == "urgent\n")
        #expect(try notes("export").text.contains(#""tags":["urgent"],"title":"Bill""#))
        let twice = try notes("add", "Bill")
        #expect(twice.status == 1 && twice.errorText == "notes: there is a note with the title Bill\n")
        let wrong = try notes("list", "--width", "5", "--order", "size")
        #expect(wrong.status == 2 && wrong.errorText.contains("--width 5: must be from 20 to 200"))
        #expect(wrong.errorText.contains("--order size: must be added or title"))
    }

    /// The path of an example in Swift.
    private func program(_ name: String) -> String {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name).path(percentEncoded: false)
    }

    @Test func `in Swift is a daemon that follows its configuration`() throws {
        let script = """
            put() { printf '%s' "$1" > new.json; mv new.json c.json; }
            put '{"greeting": "hi", "workers": 2}'
            mkfifo lines
            "$0" --config c.json --client-timeout 9 > lines 2> errors &
            exec < lines
            read -r line; echo "$line"
            put '{"greeting": "hi", "workers": 99}'
            put '{"greeting": "bye", "workers": 3}'
            read -r line; echo "$line"
            kill $!
            """
        let result = try Subprocess.run(
            "/bin/sh", ["-c", script, program("ExampleServer")], environment: command.variables, in: command.home)
        let expected = ["hi with 2", "bye with 3"].map { "serving \($0) workers and a timeout of 9 s\n" }.joined()
        #expect(result.text == expected, "\(result.text)\(result.errorText)")
    }

    @Test func `in Swift is a program from macOS with another import`() throws {
        func port(_ paths: String...) throws -> String {
            try Subprocess.run(program("ExamplePort"), paths, environment: command.variables, in: command.home).text
        }
        #expect(try port("a", "b") == "1 b\n2 a\n")
        #expect(try port("c", "a", "d") == "1 d\n2 a\n3 c\n")
        #expect(try command.run("prefs", ["read", "ExamplePort", "opened"]).text == "5\n")
        #expect(try command.run("prefs", ["write", "ExamplePort", "showsNumbers", "false"]).status == 0)
        #expect(try port() == "d\na\nc\n")
    }

    @Test func `in Swift has flags, help and completions from its declarations`() throws {
        let program = self.program("ExampleWords")
        try write("a b b c c c the the the the\n", "text")
        func words(_ arguments: String..., variables: [String: String] = [:]) throws -> Subprocess {
            try Subprocess.run(
                program, arguments, environment: command.variables.merging(variables) { $1 }, in: command.home)
        }
        #expect(try words("--ignore", "the", "text").text == "3 c\n2 b\n1 a\n")
        #expect(try words("-n2", "--order=word", "text").text == "1 a\n2 b\n")
        #expect(try words("text", variables: ["WORDS_MOST": "1"]).text == "4 the\n")
        #expect(try words("--save", "--most", "2", "text").text == "4 the\n3 c\n")
        #expect(try command.run("prefs", ["read", "com.example.words", "most"]).text == "2\n")
        #expect(try words("text").text == "4 the\n3 c\n")
        let wrong = try words("--most", "0", "--ordr", "word", "text")
        #expect(wrong.status == 2 && wrong.text.isEmpty)
        #expect(wrong.errorText.contains("--most 0: must be from 1 to 1000") && wrong.errorText.contains("--order?"))
        #expect(try words("--help").text.hasPrefix("usage: ExampleWords [options]"))
    }
}
