import Commands
import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

@Suite struct `An open conflict of a mirror` {
    private let pair: MirrorPair

    private static let settings =
        "({ Key = theme; Title = Theme; }, { Key = size; Title = Size; }, { Key = token; Title = Token; })"

    init() throws { pair = try MirrorPair() }

    private func installSchema(_ settings: String = Self.settings) throws {
        try pair.install("{ Domain = com.example.editor; Settings = \(settings); }")
    }

    private func name() throws -> String { String(try pair.desk("mirror", "conflicts").output.prefix(6)) }

    // MARK: At its key

    /// The commands that show a conflict at its key, and what they print.
    @Test(
        arguments: [
            ("explain com.example.editor theme", "  ! conflict NAME: lost at :theme: \"red\" of desk; "),
            ("doctor", "com.example.editor: 1 open conflict of a mirror at :theme\n"),
            ("mirror status", "conflicts  1 at com.example.editor :theme; `prefs mirror conflicts`"),
            (
                "form --plain com.example.editor",
                """

                  Conflict NAME: lost at :theme: "red" of desk; `prefs mirror conflicts show NAME`
                Theme [blue, from user]: \


                """
            ),
        ])
    func `is shown at its key`(_ line: String, _ text: String) throws {
        try installSchema()
        try pair.disagree(on: "theme", "red", "blue")
        let expected = text.replacing("NAME", with: try name())
        let output = try pair.machine.run("prefs \(line)").output
        #expect(output.contains(expected.trimmingCharacters(in: .newlines)), "\(output)")
    }

    @Test func `is shown in a form and a browser that fill the screen, as long as it is open`() throws {
        try installSchema()
        try pair.disagree(on: "theme", "red", "blue")
        let (pair, name) = (pair, try name())
        for (verb, keys) in [("form", []), ("browse", ["\u{1B}[F", "i"])] as [(String, [String])] {
            let screen = ScriptedScreen(keys)
            _ = pair.machine.run([verb, "com.example.editor"], on: screen)
            #expect(screen.text.contains("lost at :theme: \"red\" of desk; `prefs mirror conflicts"), "\(screen.text)")
            #expect(screen.text.contains(name), "\(screen.text)")
        }
        let screen = ScriptedScreen([], meanwhile: [{ try pair.desk("mirror", "conflicts", "restore", name) }])
        _ = pair.machine.run(["form", "com.example.editor"], on: screen)
        #expect(!screen.text.contains("onflict") && screen.text.contains("red"), "\(screen.text)")
    }

    /// Keys in a browser, and the value of both hosts after them.
    @Test(arguments: [(["\r", "\r"], "blue"), (["\r", "j", "\r"], "red"), (["\r", "\u{1B}"], nil)])
    func `is decided in a browser`(_ keys: [String], _ value: String?) throws {
        try pair.disagree(on: "theme", "red", "blue")
        let screen = ScriptedScreen(["\u{1B}[F"] + keys)
        _ = pair.machine.run(["browse", "com.example.editor"], on: screen)
        let isOpen = try pair.machine.run("prefs mirror conflicts").status != 0
        #expect(isOpen == (value == nil), "\(screen.text)")
        guard let value else { return }
        #expect(try pair.machine.run("prefs read com.example.editor theme").output == value + "\n", "\(screen.text)")
        _ = try pair.desk("mirror", "sync")
        #expect(try pair.desk("read", "com.example.editor", "theme").output == value + "\n")
        #expect(try pair.desk("mirror", "conflicts").output == "")
    }

    @Test(arguments: [true, false])
    func `of a secret is masked in a form`(_ isInstalled: Bool) throws {
        try pair.disagree(on: "theme", "first-secret", "second-secret")
        let secret = "({ Key = theme; Title = Theme; Sensitive = YES; })"
        try installSchema(isInstalled ? secret : "()")
        let file = "{ Domain = com.example.editor; Settings = \(secret); }"
        try pair.machine.fileSystem.replace("/home/ada/form", with: Array(file.utf8))
        let output = try pair.machine.run("prefs form --plain --schema /home/ada/form com.example.editor").output
        #expect(output.contains("lost at :theme: \"••••\" of desk"), "\(output)")
        #expect(!output.contains("-secret"), "\(output)")
    }

    // MARK: Watched

    /// What happens while the desk watches its conflicts, at first one at the key theme, and what is printed,
    /// without the lines of the values.
    @Test(
        arguments: [
            (["desk mirror conflicts accept --all"], ["  resolved  com.example.editor :theme  now laptop's"]),
            (
                ["laptop mirror conflicts accept --all", "laptop mirror sync", "desk mirror sync"],
                ["  resolved  com.example.editor :theme  now laptop's"]
            ),
            (
                ["laptop write com.example.editor theme red", "laptop mirror sync", "desk mirror sync"],
                ["  resolved  com.example.editor :theme  now laptop's"]
            ),
            (
                ["laptop write com.example.editor size 1", "later", "desk write com.example.editor size 2"]
                    + ["desk mirror sync", "laptop mirror sync", "desk mirror sync"],
                ["  open  com.example.editor :size  replaced by desk"]
            ),
            (["desk mirror pause", "desk mirror resume", "desk write com.example.editor other 1"], []),
        ] as [([String], [String])])
    func `is followed by those that appear or are resolved`(_ lines: [String], _ printed: [String]) throws {
        try pair.disagree(on: "theme", "red", "blue")
        let pair = pair
        let meanwhile = lines.map { line in
            { @Sendable () throws in
                let words = line.split(separator: " ").map(String.init)
                let store = words[0] == "laptop" ? ["--store", "/home/ada/b"] : []
                if words.count > 1 { _ = try runPrefs(["prefs"] + store + words.dropFirst(), on: pair.machine) }
                pair.machine.clock.advance(by: .seconds(1))
            }
        }
        for domain in [[], ["com.example.editor"]] as [[String]] where domain.isEmpty || printed.isEmpty {
            let watch = try runPrefs(
                ["prefs", "mirror", "conflicts", "--watch"] + domain, on: pair.machine, meanwhile: meanwhile)
            #expect(watch.status == 0 && watch.errors.isEmpty, "\(watch)")
            let heads = watch.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map { $0.dropFirst(6) }
            #expect(heads == ["  open  com.example.editor :theme  replaced by laptop"] + printed.map { $0[...] })
        }
    }

    @Test func `is followed as JSON, with its state`() throws {
        try pair.disagree(on: "theme", "red", "blue")
        let pair = pair
        let watch = try runPrefs(
            ["prefs", "mirror", "conflicts", "--watch", "--format", "json"], on: pair.machine,
            meanwhile: [{ try pair.desk("mirror", "conflicts", "accept", "--all") }])
        let lines = try watch.output.split(separator: "\n").map { line in
            try #require(try PropertyList(parsing: Array(line.utf8), as: .json).dictionaryValue)
        }
        #expect(lines.map { $0["state"] } == ["open", "resolved"], "\(watch)")
        #expect(lines.map { $0["id"] } == [lines[0]["id"], lines[0]["id"]] && lines[0]["resolved"] == nil)
        #expect(lines[1]["lost"]?["value"] == "red" && lines[1]["resolved"]?.stringValue != nil)
    }

    @Test(arguments: ["accept --all", "show --all", "restore x"])
    func `is not watched by an action`(_ action: String) throws {
        let outcome = try pair.machine.run("prefs mirror conflicts --watch \(action)")
        #expect(outcome.status == 2 && outcome.errors.contains("--watch is for the list of conflicts"), "\(outcome)")
    }

    // MARK: Announced

    private static let notifier: FilePath = "/usr/bin/notify-send"

    /// The setting, the permissions of `notify-send`, and whether it is called.
    @Test(
        arguments: [
            ("prefs mirrorNotify YES", 0o755, true), ("prefs mirrorNotify NO", 0o755, false),
            ("-g mirrorNotify YES", 0o755, false), ("prefs mirrorNotify YES", 0o644, false),
            ("prefs mirrorNotify YES", nil, false), ("prefs other YES", 0o755, false),
        ] as [(String, UInt16?, Bool)])
    func `is shown on the desktop if the settings ask for it`(
        _ setting: String, _ permissions: UInt16?, _ isShown: Bool
    ) throws {
        #expect(try pair.machine.run("prefs write \(setting)").status == 0)
        if let permissions {
            try pair.machine.administrate(
                Self.notifier, "", permissions: FilePermissions(rawValue: permissions))
        }
        for (number, words) in [["sync"], ["watch"], ["watch", "--format", "json"]].enumerated() {
            try pair.write("theme", "--<\(number)>&", "kept \(number)")
            let calls = Calls { _ in [] }
            let outcome = try runPrefs(
                ["prefs", "mirror"] + words, on: pair.machine,
                output: { program, input throws(LimitedProgram.Failure) in try calls.answer(program, input) })
            #expect(outcome.status == 0 && outcome.errors.isEmpty && outcome.output.contains("conflict"), "\(outcome)")
            let call = [
                "notify-send", "--", "prefs: 1 new conflict",
                "com.example.editor :theme replaced by laptop; lost \"--&lt;\(number)&gt;&amp;\"",
            ]
            #expect(calls.made.map(\.words) == (isShown ? [call] : []))
            try pair.comeToRest()
        }
    }

    // MARK: Resolved by a program

    private static let resolver: FilePath = "/home/ada/bin/resolve"

    private func installResolver(_ word: String = Self.resolver.description) throws {
        let files = pair.machine.fileSystem
        try files.makeFolders(Self.resolver.parent)
        try files.replace(Self.resolver, with: Array("#!".utf8))
        try files.open(Self.resolver, .reading)?.setPermissions(FilePermissions(rawValue: 0o755))
        #expect(try pair.desk("write", "prefs", "mirrorResolver", word).status == 0)
    }

    private func sync(_ calls: Calls, _ words: [String] = ["sync"]) throws -> Transcript.Outcome {
        try runPrefs(
            ["prefs", "mirror"] + words, on: pair.machine,
            output: { program, input throws(LimitedProgram.Failure) in try calls.answer(program, input) })
    }

    /// The answer of the program to the conflict of the lost value red with blue, the line about it, and the value in
    /// force after it. The value is blue if the conflict stays open.
    @Test(
        arguments: [
            (#"{"accept": true}"#, "accepted by", "blue"), (#"{"restore": true}"#, "restored by", "red"),
            (#"{"value": "purple"}"#, "merged by", "purple"), (#"{"value": "blue"}"#, "merged by", "blue"),
            (#"{"value": {"$date": "2026-01-01T00:00:00Z"}}"#, "merged by", "2026-01-01T00:00:00Z"),
            (#"{"accept": false}"#, "unknown answer", nil), ("", "unknown answer: \n", nil),
            ("junk", "unknown answer: junk", nil), ("[]", "unknown answer", nil), ("{}", "unknown answer", nil),
            (#"{"accept": true, "restore": true}"#, "unknown answer", nil), ("\u{0}", "unknown answer", nil),
            (#"{"restore": "red"}"#, "unknown answer", nil),
            (#"{"value": null}"#, "stays open", nil),
        ] as [(String, String, String?)])
    func `is resolved by the answer of a program`(_ answer: String, _ line: String, _ value: String?) throws {
        try installResolver()
        for (key, words) in [("theme", ["sync"]), ("color", ["watch"])] {
            try pair.write(key, "red", "blue")
            let calls = Calls { _ in Array(answer.utf8) }
            let outcome = try sync(calls, words)
            #expect(outcome.status == 0 && outcome.errors.contains(line), "\(outcome)")
            #expect(calls.made.map(\.words) == [[Self.resolver.description]])
            try pair.comeToRest()
            #expect(try pair.desk("mirror", "conflicts").status == (value == nil ? 9 : 0))
            for store in [[], ["--store", "/home/ada/b"]] as [[String]] {
                let read = try runPrefs(["prefs"] + store + ["read", "com.example.editor", key], on: pair.machine)
                #expect(read.output == "\(value ?? "blue")\n")
            }
            try pair.desk("mirror", "conflicts", "accept", "--all")
            try pair.comeToRest()
        }
    }

    @Test func `is not passed to the program a second time`() throws {
        try installResolver()
        let calls = Calls { _ in Array(#"{"restore": true}"#.utf8) }
        for _ in 0..<2 {
            try pair.write("theme", "red", "blue")
            _ = try sync(calls)
            try pair.comeToRest()
            try pair.laptop("write", "com.example.editor", "theme", "other")
            try pair.comeToRest()
        }
        #expect(calls.made.count == 1)
        #expect(try pair.desk("mirror", "conflicts").output.contains("\"red\""))
    }

    @Test func `is passed to the program as it is listed`() throws {
        try installResolver()
        try pair.write("theme", "red", "blue")
        let calls = Calls { _ throws(LimitedProgram.Failure) in
            throw LimitedProgram.Failure(description: "took more than 10 s")
        }
        try pair.write("size", "1", "2")
        let outcome = try sync(calls)
        #expect(outcome.errors.contains("stays open: /home/ada/bin/resolve took more than 10 s\n"), "\(outcome)")
        // A program that failed is not run again in the same exchange.
        #expect(calls.made.count == 1)
        let listed = try pair.desk("mirror", "conflicts", "--format", "json").output.split(separator: "\n")
        #expect(listed.count == 2 && listed.map(String.init).contains(calls.made.first?.input ?? ""))
    }

    @Test func `stays open if the program answers with a value that the schema does not allow`() throws {
        try installResolver()
        try pair.install("{ Domain = com.example.editor; Settings = ({ Key = theme; Choices = (red, blue, dark); }); }")
        try pair.write("theme", "red", "blue")
        let outcome = try sync(Calls { _ in Array(#"{"value": "purple"}"#.utf8) })
        #expect(outcome.errors.contains("stays open: ") && outcome.errors.contains("must be red"), "\(outcome)")
        #expect(try pair.desk("mirror", "conflicts").status == 9)
    }

    @Test(arguments: [#"{"restore": true}"#, #"{"value": "purple"}"#])
    func `stays open if the value changes while the program runs`(_ answer: String) throws {
        try installResolver()
        try pair.write("theme", "red", "blue")
        let pair = pair
        let calls = Calls { _ in
            _ = try? pair.desk("write", "com.example.editor", "theme", "new")
            return Array(answer.utf8)
        }
        let outcome = try sync(calls)
        #expect(outcome.errors.contains("the value has changed since this command began: \"new\""), "\(outcome)")
        #expect(try pair.desk("read", "com.example.editor", "theme").output == "new\n")
    }

    @Test func `is not passed to a program by root if the store belongs to another user`() throws {
        try installResolver("/bin/sh")
        try pair.machine.administrate("/bin/sh", "", permissions: FilePermissions(rawValue: 0o755))
        try pair.write("theme", "red", "blue")
        var environment = pair.machine.environment
        environment.user = 0
        let calls = Calls { _ in Array(#"{"accept": true}"#.utf8) }
        let outcome = try runPrefs(
            ["prefs", "mirror", "sync"], on: pair.machine, as: pair.machine.disk.process(), environment: environment,
            output: { program, input throws(LimitedProgram.Failure) in try calls.answer(program, input) })
        #expect(outcome.errors.contains("/bin/sh: not run, because another user owns the store"), "\(outcome)")
        #expect(calls.made.isEmpty)
    }

    /// The value of the key, what happens to the program, and the reason that it is not run.
    @Test(
        arguments: [
            ("resolve", 0, "resolve: not run, because it is not an absolute path"),
            ("/home/ada/bin/missing", 0, "/home/ada/bin/missing: no such file"),
            ("/home/ada/bin", 0, "/home/ada/bin: no such file"),
            ("/home/ada/bin/resolve", 0o775, "not run, because other users can change it"),
            ("/home/ada/bin/resolve", 0o757, "not run, because other users can change it"),
            ("/home/ada/bin/link", 0o757, "not run, because other users can change it"),
        ] as [(String, UInt16, String)])
    func `stays open if the program must not be run`(_ word: String, _ mode: UInt16, _ reason: String) throws {
        try installResolver(word)
        let files = pair.machine.fileSystem
        if mode != 0 { try files.open(Self.resolver, .reading)?.setPermissions(FilePermissions(rawValue: mode)) }
        if word.hasSuffix("link") { try files.makeSymbolicLink("/home/ada/bin/link", to: Self.resolver) }
        try pair.write("theme", "red", "blue")
        let calls = Calls { _ in Array(#"{"accept": true}"#.utf8) }
        let outcome = try sync(calls)
        #expect(outcome.status == 0 && outcome.errors.contains("\(reason); the conflicts stay open"), "\(outcome)")
        #expect(calls.made.isEmpty)
    }

    @Test(arguments: [
        "-g mirrorResolver /home/ada/bin/resolve", "com.example.editor mirrorResolver /home/ada/bin/resolve",
    ])
    func `is not passed to a program that another domain names`(_ setting: String) throws {
        try installResolver()
        #expect(try pair.desk("delete", "prefs", "mirrorResolver").status == 0)
        #expect(try pair.machine.run("prefs write \(setting)").status == 0)
        try pair.write("theme", "red", "blue")
        let calls = Calls { _ in Array(#"{"accept": true}"#.utf8) }
        let outcome = try sync(calls)
        #expect(outcome.errors.isEmpty && calls.made.isEmpty && outcome.output.contains("conflict "), "\(outcome)")
    }

    @Test func `of a secret is neither passed to a program nor shown on the desktop`() throws {
        try installResolver()
        try pair.machine.administrate(Self.notifier, "", permissions: FilePermissions(rawValue: 0o755))
        #expect(try pair.desk("write", "prefs", "mirrorNotify", "YES").status == 0)
        try pair.write("theme", "first-secret", "second-secret")
        try pair.install("{ Domain = com.example.editor; Settings = ({ Key = theme; Sensitive = YES; }); }")
        let calls = Calls { _ in [] }
        _ = try sync(calls)
        #expect(!calls.made.contains { $0.words[0] != "notify-send" })
        #expect(!calls.made.contains { "\($0)".contains("-secret") })
    }
}

/// The programs that a command runs without a terminal.
private final class Calls: Sendable {
    private let state = Mutex<[(words: [String], input: String)]>([])
    private let result: @Sendable ([String]) throws(LimitedProgram.Failure) -> [UInt8]

    init(_ result: @escaping @Sendable ([String]) throws(LimitedProgram.Failure) -> [UInt8]) { self.result = result }

    var made: [(words: [String], input: String)] { state.withLock(\.self) }

    func answer(_ program: LimitedProgram, _ input: [UInt8]) throws(LimitedProgram.Failure) -> [UInt8] {
        let words = program.words.map { String(decoding: $0, as: UTF8.self) }
        state.withLock { $0.append((words, String(decoding: input, as: UTF8.self))) }
        return try result(words)
    }
}
