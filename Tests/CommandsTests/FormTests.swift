import Commands
import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A schema with every control.
private let schema = """
    {
        Domain = "com.example.form"; Title = "A form"; Version = 2;
        Settings = (
            { Key = name; Required = YES; MaximumLength = 10; Title = Name; },
            { Key = mode; Choices = (full, incremental); Default = full; Title = Mode; },
            { Key = color; Type = boolean; Default = YES; Title = Color; },
            { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 365; Title = Copies; },
            { Key = token; Sensitive = YES; Pattern = "[a-z0-9]+"; Title = Token; },
            { Key = list; Type = array; Elements = { Type = integer; }; Title = Numbers; },
            { Key = server; Type = dictionary; Title = Server; },
            { Key = since; Type = date; Title = Since; },
            { Key = every; Type = integer; Kind = duration; Title = Every; },
            { Key = disk; ByHost = YES; Title = Disk; }
        );
    }
    """

@Suite struct `prefs form` {
    private let machine: SimulatedMachine

    init() throws {
        machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders("/home/ada/.local/share/prefs/schemas")
        try machine.fileSystem.replace(
            "/home/ada/.local/share/prefs/schemas/com.example.form.plist", with: Array(schema.utf8).span.bytes)
    }

    private func fill(_ lines: [String], _ options: String...) throws -> Transcript.Outcome {
        try runPrefs(
            ["prefs", "form", "--plain"] + options + ["com.example.form"], input: lines.map { $0 + "\n" }.joined(),
            on: machine)
    }

    private func stored() throws -> String {
        try machine.run("prefs export --format json com.example.form -").output
    }

    @Test func `asks for every kind of value, and stores all of them in one step`() throws {
        let outcome = try fill([
            "Ada", "2", "no", "30", "s3cret", "(1, 2)", "{a = b;}", "2026-01-31T12:00:00Z", "5m", "sdb",
        ])
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.output.hasSuffix("Saved 10 settings.\n"))
        #expect(!outcome.output.contains("s3cret"))
        #expect(
            try machine.run("prefs read --layer user --format typed com.example.form").output == """
                color\tboolean\tfalse
                every\tinteger\t300
                keep\tinteger\t30
                list\tarray\t2
                :list:0\tinteger\t1
                :list:1\tinteger\t2
                mode\tstring\tincremental
                name\tstring\tAda
                server\tdictionary\t1
                :server:a\tstring\tb
                since\tdate\t2026-01-31T12:00:00Z
                token\tstring\t••••

                """)
        // Secrets are written only to files.
        #expect(try machine.run("prefs export --format typed com.example.form /home/ada/form").status == 0)
        let bytes = try #require(try machine.fileSystem.contents(of: "/home/ada/form"))
        #expect(String(decoding: bytes, as: UTF8.self).contains("token\tstring\ts3cret\n"))
        #expect(try machine.run("prefs -currentHost read com.example.form disk").output == "sdb\n")
        let stored = try machine.fileSystem.contents(of: "/home/ada/.config/prefs/com.example.form.plist")
        #expect(try PropertyList(parsing: #require(stored))["token"] == "s3cret")
        // The two files belong to one transaction.
        #expect(
            try machine.run("prefs history com.example.form").output.split(separator: "\n").first?.contains("write")
                == true)
    }

    @Test func `reports why an answer is invalid, and asks again`() throws {
        let outcome = try fill([
            "", ":back", "Ada Lovelace", "Ada", "three", "", "perhaps", "", "0", ":defalt", ":quit",
        ])
        for reason in [
            "  A value is required; it stays unset.\n", "  Must be at most 10 long.\n",
            "  Must be full or incremental.\n",
            "  Must be true or false.\n", "  Must be from 1 to 365.\n",
            "  unknown command :defalt; did you mean :default?\n", "Nothing was saved.\n",
        ] { #expect(outcome.output.contains(reason), "\(reason)") }
        #expect(outcome.status == 8)
        #expect(try machine.run("defaults read com.example.form").status == 1)
    }

    @Test(arguments: [[], ["Ada"], ["Ada", "2", "no", "30", "s3cret"]] as [[String]])
    func `saves nothing if the input ends early`(_ lines: [String]) throws {
        let outcome = try fill(lines)
        #expect(outcome.output.hasSuffix("Nothing was saved.\n") && outcome.status == 8)
        #expect(try machine.run("defaults read com.example.form").status == 1)
    }

    @Test func `goes back, keeps, resets, and saves early`() throws {
        #expect(try fill(["Ada", "2", ":back", "1", ":save"]).output.hasSuffix("Saved 1 setting.\n"))
        #expect(try machine.run("defaults read com.example.form").output.contains("name = Ada;"))
        #expect(try fill(["", "2", "", "9", ":save"]).output.hasSuffix("Saved 2 settings.\n"))
        let outcome = try fill(["", ":default", ":save"])
        #expect(outcome.output.contains("[incremental, from user]"))
        #expect(try machine.run("prefs read --layer user com.example.form mode").status == 1)
        #expect(try machine.run("prefs read com.example.form keep").output == "9\n")
        #expect(try fill([":save"]).output.hasSuffix("Nothing was changed.\n"))
        // The version of the schema is stored with the settings only if a migration depends on it.
        #expect(try !stored().contains("schemaVersion"))
        #expect(try fill([":save"]).status == 0)
    }

    /// The layers with a value of a setting, whether the setting is the one for each host, the answer, and the layers
    /// with a value after that.
    @Test(
        arguments: [
            (["user-host"], false, ":default", [:]), (["user", "user-host"], false, ":default", [:]),
            (["user"], true, ":default", [:]), (["user-host"], false, "34", ["user-host": "34"]),
            (["user", "user-host"], false, "34", ["user": "33", "user-host": "34"]),
            (["user"], false, "34", ["user": "34"]), (["user"], true, "34", ["user": "33", "user-host": "34"]),
        ] as [([String], Bool, String, [String: String])])
    func `changes the layer whose value is in force, and resets all layers of the user`(
        _ layers: [String], _ isByHost: Bool, _ answer: String, _ values: [String: String]
    ) throws {
        let key = isByHost ? "disk" : "keep"
        for layer in layers {
            #expect(try machine.run("prefs write --layer \(layer) com.example.form \(key) 33").status == 0)
        }
        let before = Array(repeating: "", count: isByHost ? 8 : 2)
        #expect(try fill(["Ada"] + before + [answer, ":save"]).output.hasSuffix("Saved 2 settings.\n"))
        for layer in ["user", "user-host"] {
            let found = try machine.run("prefs read --layer \(layer) com.example.form \(key)")
            #expect(found.output == (values[layer].map { "\($0)\n" } ?? ""), "\(layer)")
        }
    }

    @Test func `takes a schema by its path`() throws {
        try machine.fileSystem.replace(
            "/home/ada/other.plist",
            with: Array(
                """
                { Domain = com.example.other; Settings = ({ Key = name; }); }
                """.utf8
            ).span.bytes)
        try machine.fileSystem.replace(
            "/home/ada/values.plist", with: Array("{ name = Ada; }".utf8).span.bytes)
        let outcome = try runPrefs(
            ["prefs", "form", "--plain", "~/other.plist"], input: "Ada\n", on: machine)
        #expect(outcome.output.hasSuffix("Saved 1 setting.\n") && outcome.status == 0, "\(outcome)")
        #expect(try machine.run("prefs read com.example.other name").output == "Ada\n")
        for (path, reason) in [
            ("~/none.plist", "~/none.plist: no such file"),
            ("~/values.plist", "no schema is installed for ~/values.plist; --schema names a file"),
        ] {
            let refused = try runPrefs(["prefs", "form", path], on: machine)
            #expect(refused.status == 1 && refused.errors == "prefs: \(reason)\n")
        }
        let edited = try runPrefs(
            ["prefs", "form", "~/values.plist", "--schema", "~/other.plist"], input: "Bob\n", on: machine)
        #expect(edited.status == 0, "\(edited)")
        #expect(try machine.run("prefs read /home/ada/values.plist name").output == "Bob\n")
    }

    @Test func `does not ask for forced settings`() throws {
        try machine.administrate("/etc/prefs/forced/com.example.form.plist", "{ name = Root; mode = incremental; }")
        let outcome = try fill([":save"])
        #expect(!outcome.output.contains("Mode") && !outcome.output.contains("Name") && outcome.status == 0)
    }

    @Test func `asks again after an answer that is not UTF-8`() throws {
        let terminal = "A\u{0}da\nAda\n:save\n"
        let outcome = try runPrefs(["prefs", "form", "com.example.form"], input: terminal, on: machine)
        #expect(outcome.output.contains("  The answer is not valid UTF-8.\n") && outcome.status == 0)
    }

    @Test(arguments: ["prefs browse", "prefs browse com.example.form", "prefs browse ./a.plist"])
    func `names prefs read if browse has no terminal`(_ line: String) throws {
        let outcome = try machine.run(line)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(
            outcome.errors
                == "prefs: browse needs a terminal, and a TERM that is not dumb; prefs read and prefs domains print values\n"
        )
    }

    @Test func `requires a schema of the domain, and settings of its version`() throws {
        let none = try machine.run("prefs form com.example.none")
        #expect(none.errors == "prefs: no schema is installed for com.example.none; --schema names a file\n")
        #expect(none.status == 1)
        let path = "/home/ada/.local/share/prefs/schemas/com.example.form.plist"
        let other = try machine.run("prefs form com.example.other --schema \(path)")
        #expect(other.status == 2 && other.errors.contains("is the schema of com.example.form, not of"))
        try machine.store(["name": "Ada", "$schemaVersion": 1], as: "com.example.form")
        let old = try fill([":save"])
        #expect(old.status == 3 && old.errors.contains("run prefs schema migrate com.example.form to"))
        try machine.store(["name": "Ada", "$schemaVersion": 9], as: "com.example.form")
        #expect(try fill([":save"]).status == 3)
    }
}

@Suite struct `A form on a whole screen` {
    private let machine: SimulatedMachine
    private let path: FilePath = "/home/ada/.config/prefs/com.example.form.plist"

    init() throws {
        machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders("/home/ada/.local/share/prefs/schemas")
        try machine.fileSystem.replace(
            "/home/ada/.local/share/prefs/schemas/com.example.form.plist", with: Array(schema.utf8).span.bytes)
        #expect(try machine.run("prefs write com.example.form name Ada").status == 0)
    }

    private func fill(
        _ keys: [String], _ options: [String] = [], editing: [@Sendable (String) throws -> String?] = [],
        meanwhile: (@Sendable () throws -> Void)? = nil
    ) throws -> String {
        let screen = ScriptedScreen(keys, meanwhile: meanwhile.map { [$0] } ?? [])
        let result = machine.run(options + ["form", "com.example.form"], on: screen, editing: editing)
        #expect(editing.isEmpty == result.errors.isEmpty, "\(result.errors)")
        return screen.text
    }

    private let unsaved: FilePath = "/home/ada/.local/state/prefs/unsaved/com.example.form.plist"

    /// The form ends at the end of its input, as when its terminal is closed.
    @Test func `keeps unsaved changes when its terminal is lost, and offers them again`() throws {
        let read = "prefs read com.example.form name"
        #expect(try fill(["\r", "x", "\r"]).contains("Adax"))
        #expect(try machine.run(read).output == "Ada\n")
        #expect(try machine.fileSystem.status(of: unsaved)?.permissions == .privateFile)
        // Esc keeps them for the next time, and other keys do nothing.
        #expect(try fill([]).contains("Unsaved changes, 0 s ago"))
        #expect(try fill(["j", "z"]).contains("Unsaved changes"))
        #expect(try !fill(["j", "z", "\u{1B}"]).contains("Unsaved changes"))
        #expect(try fill(["\r", "\u{13}", "\r"]).contains("Saved 1 setting."))
        #expect(try machine.run(read).output == "Adax\n")
        #expect(try !fill([]).contains("Unsaved changes"))
        // Nothing is offered that was dropped, whose values have changed, or that is old.
        _ = try fill(["\r", "y", "\r"])
        #expect(try !fill(["x", "q"]).contains("Unsaved changes"))
        #expect(try !fill([]).contains("Unsaved changes"))
        _ = try fill(["\r", "y", "\r"])
        #expect(try machine.run("prefs write com.example.form name Bob").status == 0)
        #expect(try !fill([]).contains("Unsaved changes"))
        _ = try fill(["\r", "y", "\r"])
        machine.clock.advance(by: .seconds(8 * 86_400))
        #expect(try !fill([]).contains("Unsaved changes"))
        #expect(try machine.fileSystem.status(of: unsaved) == nil)
        #expect(try fill(["j", "j", "j", "j", "\r", "s3cret", "\r"]).contains("1 changed"))
        #expect(try machine.fileSystem.status(of: unsaved) == nil)
    }

    /// What another program has left in the place of the kept changes.
    @Test(arguments: ["", "bplist00", "{}", "{ time = <*D2026-01-01 00:00:00 Z>; values = (1); resets = { a = 1; }; }"])
    func `ignores kept changes that are damaged`(_ text: String) throws {
        try machine.fileSystem.makeFolders("/home/ada/.local/state/prefs/unsaved")
        try machine.fileSystem.replace(unsaved, with: Array(text.utf8))
        #expect(try fill([]).contains("Ada") && !fill([]).contains("Unsaved changes"))
    }

    /// The options, the keys that change settings, and the commands that undo the save.
    @Test(
        arguments: [
            ([], ["\r", "x", "\r"], "prefs undo com.example.form"),
            ([], ["\u{1B}[F", "\r", "x", "\r"], "prefs -currentHost undo com.example.form"),
            (["-currentHost"], ["\r", "x", "\r"], "prefs -currentHost undo com.example.form"),
            (
                [], ["\r", "x", "\r", "\u{1B}[F", "\r", "x", "\r"],
                "prefs undo com.example.form; prefs -currentHost undo com.example.form"
            ),
        ] as [([String], [String], String)])
    func `names the commands that undo a save`(_ options: [String], _ keys: [String], _ commands: String) throws {
        let before = try machine.run("prefs read com.example.form").output
        let screen = try fill(keys + ["\u{13}", "\r"], options)
        let shown = screen.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
        #expect(shown.hasSuffix("To undo: \(commands)"), "\(screen)")
        for command in commands.split(separator: "; ") { #expect(try machine.run(String(command)).status == 0) }
        #expect(try machine.run("prefs read com.example.form").output == before)
        #expect(try machine.run("prefs -currentHost read com.example.form").status == 1)
    }

    @Test func `opens the editor again after a value that is not allowed`() throws {
        let screen = try fill(
            ["j", "j", "j", "e"],
            editing: [
                { $0.replacing("7", with: "999") }, { $0.replacing("999", with: "x y") },
                { $0.replacing("x y", with: "30") },
            ])
        #expect(screen.contains("30") && screen.contains("1 changed"), "\(screen)")
    }

    @Test func `saves a secret as soon as its schema is installed`() throws {
        let machine = machine
        try machine.administrate(
            "/srv/new.plist",
            "{ Domain = \"com.example.new\"; Settings = ({ Key = t; Sensitive = YES; }, { Key = n; }); }")
        let screen = ScriptedScreen(["\r", "x", "\r", "\u{13}", "\r", "j", "e", "\u{13}", "\r"])
        let install: @Sendable (String) throws -> String? = { text in
            _ = try machine.run("prefs schema install /srv/new.plist")
            return text.replacing("\"\"", with: "\"y\"")
        }
        _ = machine.run(["form", "/srv/new.plist"], on: screen, editing: [install])
        #expect(screen.text.contains("Saved 2 settings."), "\(screen.text)")
        #expect(try machine.run("prefs read com.example.new u").errors.contains("no key u"))
        #expect(try machine.run("prefs delete com.example.new n").status == 0)
        #expect(
            try machine.run("prefs read com.example.new n").errors
                == "prefs: com.example.new has no key n; its schema declares it, but it has no value here\n")
    }

    @Test func `keeps the text of a value that is not allowed`() throws {
        let screen = try fill(
            ["j", "j", "j", "e"], editing: [{ $0.replacing("7", with: "999") }, { $0 }])
        #expect(screen.contains("from 1 to 365") && screen.contains("the edited text is kept in"), "\(screen)")
        #expect(screen.contains("from 1 to 365; the"))
    }

    @Test func `shows a note of the store in the last line`() throws {
        let (files, watcher, path) = (machine.fileSystem, machine.watcher, path)
        let screen = try fill(["j"]) {
            try files.replace(path, with: Array("{ a = ".utf8).span.bytes)
            watcher.deliver()
        }
        let shown = screen.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
        #expect(shown.contains("ends inside a dictionary"), "\(screen)")
    }

    @Test func `shows changes in the target of a link`() throws {
        let (files, watcher) = (machine.fileSystem, machine.watcher)
        let target: FilePath = "/home/ada/real.plist"
        try files.replace(target, with: Array("{ name = Ada; \"$schemaVersion\" = 2; }".utf8).span.bytes)
        _ = try files.remove(path)
        try files.makeSymbolicLink(path, to: target)
        let screen = try fill([]) {
            try files.replace(target, with: Array("{ name = Grace; \"$schemaVersion\" = 2; }".utf8).span.bytes)
            watcher.deliver()
        }
        #expect(screen.contains("Grace"), "\(screen)")
    }
}

@Suite(.enabled(if: BuiltCommand.path != nil, "the executable is not beside the tests"), .serialized)
struct `A form on a terminal` {
    private let command: BuiltCommand
    private let terminal: PseudoTerminal
    private let process: SpawnedProcess

    init() throws {
        command = try BuiltCommand()
        terminal = try PseudoTerminal()
        try command.home.write(schema, to: "form.plist")
        #expect(try command.run(["schema", "install", command.folder + "/form.plist"]).status == 0)
        process = try SpawnedProcess(
            try #require(BuiltCommand.path),
            ["form", "--plain", "com.example.form", "--schema", command.folder + "/form.plist"], command.environment,
            terminal: terminal.path)
    }

    private func answer(_ prompt: String, _ text: String) {
        #expect(terminal.shows(prompt), "\(terminal.screen)")
        terminal.type(text)
    }

    private func comesToSecret() {
        for (prompt, text) in [("Name", "Ada\r"), ("Mode", "\r"), ("Color", "n\r"), ("Copies", "30\r")] {
            answer(prompt, text)
            // Waits for the end of the prompt, so that its echo is not mistaken for the next one.
            #expect(terminal.shows("\r\n"))
        }
    }

    @Test func `echoes what is typed, except secrets`() throws {
        comesToSecret()
        answer("Token", "s3cret\r")
        answer("Numbers", ":save\r")
        #expect(terminal.shows("Saved 4 settings."))
        #expect(try process.end().status == 0)
        #expect(!terminal.screen.contains("s3cret") && terminal.screen.contains("30"))
        #expect(terminal.isAsUsual)
        #expect(try command.run(["read", "com.example.form", "token"]).status == 3)
        #expect(try command.run(["export", "com.example.form", command.folder + "/form"]).status == 0)
        let stored = try PropertyList(parsing: Data(contentsOf: URL(filePath: command.folder + "/form")))
        #expect(stored["token"] == "s3cret")
    }

    @Test(arguments: [false, true])
    func `restores the terminal after an interrupt, and saves nothing`(_ atSecret: Bool) throws {
        if atSecret { comesToSecret() }
        #expect(terminal.shows(atSecret ? "Token" : "Name"))
        #expect(terminal.shows(": "))
        terminal.type("\u{3}")
        #expect(terminal.shows("Interrupted. Nothing was saved."))
        #expect(try process.end() == .init(status: 130, isKilled: true))
        #expect(terminal.isAsUsual)
        #expect(try command.run(["read", "--layer", "user", "com.example.form"]).status == 1)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGQUIT])
    func `restores the terminal after other signals too`(_ signal: Int32) throws {
        comesToSecret()
        #expect(terminal.shows("Token"))
        #expect(terminal.shows(": "))
        #expect(!terminal.isAsUsual)
        process.send(signal)
        #expect(try process.end() == .init(status: 128 + signal, isKilled: true))
        #expect(terminal.isAsUsual)
        #expect(try command.run(["read", "--layer", "user", "com.example.form"]).status == 1)
    }

    @Test func `takes a letter after the Escape key`() throws {
        #expect(self.terminal.shows(": "))
        self.terminal.type("\u{4}")
        _ = try self.process.end()
        let terminal = try PseudoTerminal()
        let process = try SpawnedProcess(
            try #require(BuiltCommand.path), ["form", "--plain", "com.example.form"],
            command.environment.merging(["TERM": "xterm"]) { $1 }, terminal: terminal.path)
        #expect(terminal.shows("Name"))
        terminal.type("\u{1B}")
        // The line is drawn when the character comes, and again when nothing has followed it.
        #expect(terminal.shows("Name") && terminal.shows("Name"))
        terminal.type("Ada\r")
        #expect(terminal.shows("Mode"))
        terminal.type(":save\r")
        #expect(try process.end().status == 0)
        #expect(try command.run(["read", "com.example.form", "name"]).text == "Ada\n")
    }

    @Test func `ends at the end of its input`() throws {
        #expect(terminal.shows(": "))
        terminal.type("\u{4}")
        #expect(terminal.shows("Nothing was saved."))
        #expect(try process.end() == .init(status: 8, isKilled: false))
    }
}
