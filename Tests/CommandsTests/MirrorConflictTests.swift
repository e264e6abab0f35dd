import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
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
        for (words, keys) in [(["form", "com.example.editor"], []), (["browse", "com.example.editor"], ["\u{1B}[F", "i"])]
        {
            let screen = ScriptedScreen(keys)
            _ = pair.machine.run(words, on: screen)
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
}
