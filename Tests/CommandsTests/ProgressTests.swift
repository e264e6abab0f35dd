import Commands
import Platform
import Preferences
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct ProgressTests {
    /// A clock on which each look takes a second.
    private struct SlowClock: Clock {
        let clock: SimulatedClock

        var wall: Timestamp { clock.wall }
        var tick: Instant { now }

        var now: Instant {
            clock.advance(by: .seconds(1))
            return clock.now
        }

        func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup {
            clock.wake(at: instant, action)
        }
    }

    private static func services(_ machine: SimulatedMachine, _ terminal: SimulatedTerminal, _ kind: String)
        -> SystemServices
    {
        var environment = machine.environment
        environment.variables = environment.variables.merging(["TERM": kind])
        return SystemServices(
            fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher, environment: environment,
            terminal: terminal)
    }

    /// What happens during work, after some milliseconds each, and what is written to standard error.
    private static let rows: [(name: String, steps: [(after: Int, count: Int?)], written: String)] = [
        ("short work", [(0, 1), (500, 2), (499, 3)], ""),
        ("work that states nothing", [(1000, nil)], "\r[work]{K}\r{K}"),
        ("work that stated something before", [(10, 1), (990, nil)], "\r[work: 1 of 9 files read]{K}\r{K}"),
        (
            "long work", [(1000, 1), (50, 2), (49, 3), (1, 4), (99, 5), (1, 6)],
            "\r[work]{K}\r[work: 4 of 9 files read]{K}\r[work: 6 of 9 files read]{K}\r{K}"
        ),
    ]

    @Test(arguments: rows.indices)
    func `is a line that is rewritten in place and erased, after a second`(_ index: Int) throws {
        let (name, steps, written) = Self.rows[index]
        for (kind, isTerminal) in [("xterm", true), ("dumb", true), ("", true), ("xterm", false)] {
            let machine = try SimulatedMachine()
            let terminal = SimulatedTerminal(widths: isTerminal ? [.errors: 80] : [:])
            let progress = Progress(on: Self.services(machine, terminal, kind))
            progress.show(1, "things before the work")
            progress.during("work") {
                for (milliseconds, count) in steps {
                    machine.clock.advance(by: .milliseconds(milliseconds))
                    if let count { progress.show(count, of: 9, "files read") }
                }
            }
            machine.clock.advance(by: .seconds(9))
            progress.show(1, "things after the work")
            let expected = written.replacing("{K}", with: "\u{1B}[K").replacing("[work", with: "work")
                .replacing("]", with: "")
            #expect(terminal.text(of: .errors) == (kind == "xterm" && isTerminal ? expected : ""), "\(name)")
            #expect(terminal.text(of: .output) == "")
        }
    }

    @Test func `fits the terminal, and controls it only by itself`() throws {
        let machine = try SimulatedMachine()
        let terminal = SimulatedTerminal(widths: [.errors: 12])
        let progress = Progress(on: Self.services(machine, terminal, "xterm"))
        progress.during("a\u{1B}[2J\n漢字漢字") { machine.clock.advance(by: .seconds(1)) }
        #expect(terminal.text(of: .errors) == "\ra\\u{1B}[2J\\\u{1B}[K\r\u{1B}[K")
    }

    @Test func `ends with an error, and work within it is a part of it`() throws {
        let machine = try SimulatedMachine()
        let terminal = SimulatedTerminal(widths: [.errors: 80])
        let progress = Progress(on: Self.services(machine, terminal, "xterm"))
        #expect(throws: ProgramExit.self) {
            try progress.during("one") {
                try progress.during("two") {
                    machine.clock.advance(by: .seconds(1))
                    throw ProgramExit(status: 1)
                }
            }
        }
        machine.clock.advance(by: .seconds(1))
        #expect(terminal.text(of: .errors) == "\rone\u{1B}[K\r\u{1B}[K")
    }

    @Test func `is not written over what the user types`() throws {
        let machine = try SimulatedMachine()
        let terminal = SimulatedTerminal(widths: [.input: 80, .errors: 80])
        let progress = Progress(on: Self.services(machine, terminal, "xterm"))
        progress.during("work") {
            progress.whileTyping { machine.clock.advance(by: .seconds(9)) }
            machine.clock.advance(by: .milliseconds(999))
            progress.show(1, "files read")
            #expect(terminal.text(of: .errors) == "")
            machine.clock.advance(by: .milliseconds(1))
            progress.show(2, "files read")
            #expect(terminal.text(of: .errors) == "\rwork: 2 files read\u{1B}[K")
        }
    }

    /// The commands that can take long, and a part of what they state.
    private static let commands = [
        ("import many /home/ada/many.json", "importing /home/ada/many.json: 200 keys read"),
        ("convert many folder", "converting many: 100 of 201 files written"),
        ("apply --quiet /home/ada/all", "applying: 10 of 40 files read"),
        ("apply --quiet /home/ada/all", " of 41 files written"),
        ("apply --quiet /home/ada/all", " of 41 versions kept"),
        ("apply --dry-run /home/ada/all", "applying: 10 of 40 domains compared"),
        ("history", "reading histories: "), ("history", " versions read"),
        ("mirror init /home/ada/shared", "exchanging with /home/ada/shared"),
        ("mirror add *", "exchanging with /home/ada/shared: 10 domains read"),
        ("mirror sync --check", "exchanging with /home/ada/shared"),
        ("--store /home/ada/b mirror add *", "exchanging with /home/ada/shared: 10 domains written"),
        ("mirror fsck", "checking /home/ada/shared"), ("mirror rebuild", "rebuilding the state of /home/ada/shared"),
    ]

    @Test(arguments: commands.indices)
    func `is shown by a command that takes long, and changes no other output`(_ index: Int) throws {
        let (line, text) = Self.commands[index]
        let quiet = try Self.prepared(for: line)
        let expected = try runPrefs(Self.words(line), on: quiet, clock: SlowClock(clock: quiet.clock))
        for isTerminal in [true, false] {
            let machine = try Self.prepared(for: line)
            let outcome = try runPrefs(
                Self.words(line), on: machine, variables: ["TERM": "xterm"],
                widths: isTerminal ? [.errors: 200] : [:], clock: SlowClock(clock: machine.clock))
            #expect(outcome.output == expected.output && outcome.status == expected.status)
            let lines = outcome.errors.split(separator: "\r").map { $0.replacing("\u{1B}[K", with: "") }
            #expect(outcome.errors.contains(text) == isTerminal, "\(outcome)")
            #expect(!isTerminal || outcome.errors.contains("\r\u{1B}[K") && !lines.isEmpty)
        }
    }

    private static func words(_ line: String) -> [String] {
        ["prefs"] + line.split(separator: " ").map(String.init)
    }

    private static func prepared(for line: String) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        let keys = (0..<200).map { "\"key\($0)\": \($0)" }.joined(separator: ", ")
        try machine.fileSystem.replace("/home/ada/many.json", with: Array("{\(keys)}".utf8))
        try machine.fileSystem.makeFolders("/home/ada/all")
        for number in 0..<40 {
            let path = FilePath("/home/ada/all").appending(try #require(FileName("d\(number).json")))
            try machine.fileSystem.replace(path, with: Array("{\"k\": \(number)}".utf8))
        }
        var lines = line.hasPrefix("import") || line.hasPrefix("apply") ? [] : ["import many /home/ada/many.json"]
        if line.hasPrefix("history") || line.contains("mirror") { lines.append("apply --quiet /home/ada/all") }
        if line.contains("mirror"), !line.hasPrefix("mirror init") {
            lines.append("mirror init /home/ada/shared --label one")
            if !line.hasPrefix("mirror add") { lines.append("mirror add *") }
        }
        if line.hasPrefix("--store") {
            lines.append("--store /home/ada/b mirror join /home/ada/shared --label two")
        }
        for line in lines {
            let outcome = try runPrefs(words(line), on: machine)
            try #require(outcome.status == 0, "\(line): \(outcome)")
        }
        return machine
    }
}
