import Commands
import Platform
import Preferences
import SimulatedPlatform
import TestSupport
import Testing

/// A new entry that gets a text without a type, although the text looks like a number.
@Suite struct NewTextTests {
    static let texts: [(words: String, note: String)] = [
        ("prefs write ./a.json port 8080", "the text \"8080\"; for a number: --int 8080"),
        ("prefs write ./a.json :l:1:x 0x1F", "the text \"0x1F\"; for a number: --int 0x1F"),
        ("prefs write ./new.json ratio -1.5", "the text \"-1.5\"; for a number: --float -1.5"),
        ("prefs write ./new.plist on true", "the text \"true\"; for a Boolean: --bool true"),
        ("prefs write --insert ./a.json :l:0 7", "the text \"7\"; for a number: --int 7"),
        ("prefs write ./new.strings port 8080", ""), ("prefs write ./a.json port --string 8080", ""),
        ("prefs write ./a.json a 8080", ""), ("prefs write ./a.json version 1.2.3", ""),
        ("prefs write ./a.json name inf", ""), ("prefs write d port 8080", ""), ("defaults write /tmp/a port 8080", ""),
    ]

    @Test(arguments: texts)
    func `a new entry of a file with text like a number is noted`(_ row: (words: String, note: String)) throws {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/tmp")
        try machine.fileSystem.replace("/tmp/a.json", with: Array(#"{"a": 1, "l": [1, {}]}"#.utf8).span.bytes)
        let outcome = try machine.run(row.words)
        #expect(outcome.errors.contains("wrote the text") == !row.note.isEmpty, "\(outcome)")
        if !row.note.isEmpty { #expect(outcome == Transcript.Outcome(errors: "prefs: wrote \(row.note)\n")) }
    }

    @Test(arguments: [true, false])
    func `a new entry of a domain is noted on a terminal, unless a schema declares text`(_ isNoted: Bool) throws {
        let machine = try SimulatedMachine()
        if !isNoted {
            try machine.administrate(
                "/usr/share/prefs/schemas/d.plist", "{ Domain = d; Settings = ({ Key = port; Type = string; }); }")
        }
        let terminal = SimulatedTerminal(widths: [.errors: 80])
        var environment = machine.environment
        environment.arguments = ["prefs", "write", "d", "port", "8080"]
        let status = Prefs.run(
            in: CommandContext(
                SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: environment, terminal: terminal)))
        #expect(status == .done)
        #expect(terminal.text(of: .errors).contains("for a number: --int 8080") == isNoted)
    }
}
