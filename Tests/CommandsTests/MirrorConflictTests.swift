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

    /// What happens while the desk watches its conflicts, of which it has one at the key theme, and what is printed,
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
                ["prefs", "mirror"] + words, on: pair.machine, output: { try calls.answer($0, $1) })
            #expect(outcome.status == 0 && outcome.errors.isEmpty && outcome.output.contains("conflict"), "\(outcome)")
            let call = [
                "notify-send", "--", "prefs: 1 new conflict",
                "com.example.editor :theme replaced by laptop; lost \"--&lt;\(number)&gt;&amp;\"",
            ]
            #expect(calls.made.map(\.words) == (isShown ? [call] : []))
            try pair.comeToRest()
        }
    }
}

/// The programs that a command runs without a terminal.
private final class Calls: Sendable {
    private let state = Mutex<[(words: [String], input: String)]>([])
    private let result: @Sendable ([String]) throws(LimitedProgram.Failure) -> [UInt8]

    init(_ result: @escaping @Sendable ([String]) throws(LimitedProgram.Failure) -> [UInt8]) { self.result = result }

    var made: [(words: [String], input: String)] { state.withLock(\.self) }

    func answer(_ program: LimitedProgram, _ input: [UInt8]) throws(LimitedProgram.Failure) -> [UInt8] {
        state.withLock { $0.append((program.words, String(decoding: input, as: UTF8.self))) }
        return try result(program.words)
    }
}
