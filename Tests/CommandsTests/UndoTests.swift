import Commands
import Foundation
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct UndoTests {
    /// Every verb that writes into `d`, which already has `theme`, `list` and `old`.
    static let writes: [[String]] = [
        ["write", "d", "theme", "dark"], ["write", "d", "new", "-int", "1"], ["write", "d", ":list:0", "z"],
        ["write", "d", "list", "-array-add", "c"], ["write", "d", "--plist", "{ only = 1; }"],
        ["copy", "d", "theme", "colour"], ["rename", "d", "theme", "colour"], ["rename", "d", "theme", "old"],
        ["rename", "d", "theme", "old", "--to", "e"],
        ["delete", "d", "theme"],
        ["delete", "d", ":list:0"], ["delete", "d"], ["delete-all", "d"], ["delete-all", "d", "theme"],
        ["import", "d", "/tmp/in.plist"], ["import", "--replace", "d", "/tmp/in.plist"],
        ["apply", "--domain", "d", "/tmp/in.plist"], ["convert", "d", "xml"],
        ["convert", "d", "json"], ["convert", "d", "gnustep"], ["restore", "d", "1"], ["undo", "d"],
        ["undo", "d", "2"],
        ["undo", "d", "3"],
    ]

    @Test func `every verb that writes has a row`() {
        // Edit needs an editor, and convert does not change values.
        let verbs = Verb.all.filter { $0.options.contains(.force) }.map(\.name)
        #expect(Set(Self.writes.map { $0[0] }) == Set(verbs).subtracting(["edit"]).union(["convert"]))
    }

    private func state(_ machine: SimulatedMachine) throws -> DomainState {
        let folder: FilePath = "/home/ada/.config/prefs"
        let file = StoreFolder(folder, .own, history: "/home/ada/.local/state/prefs/history", coordination: folder)
            .file(of: "d")
        return DomainState(
            try file.contents(
                on: SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: machine.environment, terminal: machine.terminal)))
    }

    private func prepared() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        for words in [
            ["write", "d", "theme", "light"], ["write", "d", "list", "-array", "a", "b"],
            ["write", "d", "old", "-date", "2026-01-01T00:00:00Z"],
            ["convert", "-o", "/tmp/in.plist", "d", "binary"], ["write", "/tmp/in.plist", "theme", "-int", "5"],
        ] {
            #expect(try runPrefs(["prefs"] + words, on: machine) == Transcript.Outcome(), "\(words)")
        }
        return machine
    }

    @Test func `restore keeps a domain that is a folder`() throws {
        let machine = try SimulatedMachine()
        for line in ["write d a 1", "convert d folder", "write d b 2", "restore d 1"] {
            #expect(try machine.run("prefs \(line)").status == 0)
        }
        #expect(try machine.fileSystem.status(of: "/home/ada/.config/prefs/d.prefs")?.kind == .folder)
        #expect(try machine.fileSystem.status(of: "/home/ada/.config/prefs/d.plist") == nil)
        #expect(try machine.run("prefs read --format lines d").output == "a\t1\n")
    }

    @Test func `a version of a time without a file is not shown as a domain without values`() throws {
        let machine = try SimulatedMachine()
        for line in ["write d k v", "delete d", "write d k w", "delete d k"] {
            #expect(try machine.run("prefs \(line)").status == 0)
        }
        let versions = try (1...4).map { try machine.run("prefs history d --show \($0)") }
        let absent = Transcript.Outcome(errors: "prefs: d: version 2 is of a time without a file\n", status: 1)
        #expect(versions.map(\.status) == [0, 1, 0, 0] && versions[1] == absent, "\(versions)")
        #expect(versions[3].output == "{}\n")
    }

    @Test func `undo restores a domain without values, and then its values`() throws {
        let machine = try SimulatedMachine()
        for words in [["write", "d", "k", "v"], ["delete", "d", "k"], ["delete", "d"]] {
            #expect(try runPrefs(["prefs"] + words, on: machine) == Transcript.Outcome(), "\(words)")
        }
        for (found, values) in [(true, [:]), (true, ["k": "v"]), (false, [:])] as [(Bool, PropertyList.Dictionary)] {
            #expect(try runPrefs(["prefs", "undo", "d"], on: machine).status == 0)
            let state = try state(machine)
            #expect((state.format != nil) == found)
            #expect(state.values == values)
        }
        #expect(try runPrefs(["prefs", "undo", "d"], on: machine).status == 1)
    }

    @Test(arguments: writes)
    func `a write whose version could not be kept is reported, and takes effect`(_ words: [String]) throws {
        let machine = try prepared()
        let before = try state(machine)
        let folder: FilePath = "/home/ada/.local/state/prefs/history/d"
        try machine.disk.process().open(folder, .reading)?.setPermissions(FilePermissions(rawValue: 0o500))
        let write = try runPrefs(["prefs"] + words, on: machine)
        #expect(write.status == 0)
        #expect(write.errors.contains("prefs: d: written, but this version could not be kept in \(folder)\n"))
        #expect(try state(machine) != before)
    }

    @Test(arguments: writes)
    func `every write of a verb can be undone, and the undo too`(_ words: [String]) throws {
        let machine = try prepared()
        let before = try state(machine)
        let write = try runPrefs(["prefs"] + words, on: machine)
        #expect(write.status == 0, "\(write)")
        let after = try state(machine)
        #expect(before != after)
        // An undo is undone by the command that it prints. A second undo would go back further.
        let undo = words[0] == "undo" ? try run(printedBy: write, on: machine) : try undo(on: machine)
        #expect(try state(machine) == before, "\(undo)")
        if words[0] == "undo" { return }
        _ = try run(printedBy: undo, on: machine)
        #expect(try state(machine) == after)
    }

    private func undo(on machine: SimulatedMachine) throws -> Transcript.Outcome {
        let outcome = try runPrefs(["prefs", "undo", "d"], on: machine)
        #expect(outcome.status == 0, "\(outcome)")
        return outcome
    }

    private func run(printedBy outcome: Transcript.Outcome, on machine: SimulatedMachine) throws -> Transcript.Outcome {
        let line = try #require(outcome.errors.split(separator: "\n").first { $0.contains(": prefs ") })
        let command = try #require(line.firstRange(of: ": prefs ").map { line[$0.lowerBound...].dropFirst(2) })
        let back = try runPrefs(ShellScript.words(String(command)), on: machine)
        #expect(back.status == 0, "\(back)")
        return back
    }

    @Test func `an undo names the other domains that its change had`() throws {
        let machine = try SimulatedMachine()
        for line in ["write d a 6", "write --current-host d a 7", "write e a 1", "delete-all d"] {
            #expect(try machine.run("prefs \(line)").status == 0)
        }
        let undone = try machine.run("prefs undo d")
        let note = /\n.*: the change was also made in d for host [0-9a-f]+, where it stays \(--transaction undoes/
        #expect(undone.status == 0 && undone.errors.contains(note), "\(undone)")
        #expect(try !machine.run("prefs undo e").errors.contains("also"))
    }

    @Test func `an undo says that a later change is in the layer of this host`() throws {
        let machine = try SimulatedMachine()
        let note = "prefs: a later change is in layer user-host, where it stays (--current-host)\n"
        for (line, isNoted) in [("write d a 1", false), ("write --current-host d a 2", true)] {
            #expect(try machine.run("prefs \(line)").status == 0)
            machine.clock.advance(by: .seconds(1))
            let undone = try machine.run("prefs undo d")
            #expect(undone.status == 0 && undone.errors.hasSuffix(note) == isNoted, "\(undone)")
            #expect(try machine.run("prefs write d a 3").status == 0)
            machine.clock.advance(by: .seconds(1))
        }
    }

    @Test func `the command that reverses an undo is printed whole`() throws {
        let machine = try SimulatedMachine()
        let store = "/tmp/" + String(repeating: "s", count: 200)
        try machine.fileSystem.makeFolders(try #require(FilePath(store)))
        for value in ["1", "2"] {
            _ = try runPrefs(["prefs", "--store", store, "write", "d", "k", value], on: machine)
        }
        let undo = try runPrefs(["prefs", "--store", store, "undo", "d"], on: machine)
        #expect(
            undo.errors == "prefs: undid a change of k by prefs[1]; to undo this: prefs --store \(store) restore d 2\n")
    }

    @Test func `random writes are undone one by one, to nothing`() throws {
        var generator = SeededGenerator(stream: "undo")
        let machine = try SimulatedMachine()
        var states = [try state(machine)]
        for _ in 0..<14 {
            let key = ["a", "b", "c"].randomElement(using: &generator) ?? "a"
            let words =
                Int.random(in: 0..<5, using: &generator) == 0
                ? ["delete", "d"]
                : ["write", "d", key, "-int", String(Int.random(in: 0..<3, using: &generator))]
            _ = try runPrefs(["prefs"] + words, on: machine)
            let state = try state(machine)
            if state != states.last { states.append(state) }
        }
        for expected in states.dropLast().reversed() {
            _ = try undo(on: machine)
            #expect(try state(machine) == expected, "\(Seed.ofThisRun)")
        }
        #expect(try runPrefs(["prefs", "undo", "d"], on: machine).status == 1)
    }

    @Test func `undoing two steps at once equals two undos, whatever was undone before`() throws {
        for steps in 1...4 {
            let (single, several) = (try SimulatedMachine(), try SimulatedMachine())
            for machine in [single, several] {
                for value in ["1", "2", "1", "3"] {
                    _ = try runPrefs(["prefs", "write", "d", "k", value], on: machine)
                }
                _ = try undo(on: machine)
                for value in ["4", "1", "5"] { _ = try runPrefs(["prefs", "write", "d", "k", value], on: machine) }
            }
            for _ in 0..<steps { _ = try undo(on: single) }
            #expect(try runPrefs(["prefs", "undo", "d", "\(steps)"], on: several).status == 0)
            #expect(try state(single) == state(several))
            // A further undo has the same result on both.
            _ = try undo(on: single)
            _ = try undo(on: several)
            #expect(try state(single) == state(several), "\(steps)")
        }
    }

    @Test(arguments: ["binary", "folder"])
    func `changes that cancel each other are undone too, so that the next undo goes on before them`(
        _ format: String
    ) throws {
        let machine = try SimulatedMachine()
        for line in ["write d a 1", "write d a 2", "convert d \(format)", "write d b 1", "delete d b", "undo d 2"] {
            #expect(try machine.run("prefs \(line)").status == 0)
        }
        #expect(try machine.run("prefs read d").output == "{\n  \"a\": \"2\"\n}\n")
        // Of these, the first undoes the conversion if there was one.
        for _ in 0..<(format == "folder" ? 2 : 1) { #expect(try machine.run("prefs undo d").status == 0) }
        #expect(try machine.run("prefs read d").output == "{\n  \"a\": \"1\"\n}\n")
    }

    @Test func `an absence that follows an absence is undone too`() throws {
        let machine = try SimulatedMachine()
        for line in ["write d a 1", "delete d", "write d b 1", "delete d", "undo d 2", "undo d"] {
            #expect(try machine.run("prefs \(line)").status == 0, "\(line)")
        }
        #expect(try machine.run("prefs read d").output == "{\n  \"a\": \"1\"\n}\n")
    }

    @Test func `a write by another program is a separate step`() throws {
        let machine = try prepared()
        let before = try state(machine)
        let text = Array("{ theme = foreign; }".utf8)
        try machine.fileSystem.replace("/home/ada/.config/prefs/d.plist", with: text.span.bytes)
        let history = try runPrefs(["prefs", "history", "d"], on: machine).output
        #expect(
            history.hasPrefix(
                "now  not kept: it is too large, or was written by plutil, PlistBuddy or another program\n    - list"))
        let undo = try undo(on: machine)
        #expect(try state(machine) == before)
        _ = try run(printedBy: undo, on: machine)
        #expect(try state(machine).values == ["theme": "foreign"])
    }

    @Test func `the history in JSON has everything that the text has`() throws {
        let machine = try prepared()
        for words in [["delete", "d", "old"], ["undo", "d"], ["delete", "d"]] {
            #expect(try runPrefs(["prefs"] + words, on: machine).status == 0)
        }
        let words = ["prefs", "history", "--format", "json", "d"]
        let text = try runPrefs(words, on: machine).output
        let value = try PropertyList(parsing: text, options: .ofDomains)
        #expect(value["domain"] == "d")
        let versions = try #require(value["versions"]?.arrayValue)
        #expect(versions.map { $0["id"] } == [6, 5, 4, 3, 2, 1])
        #expect(versions.map { $0["reason"] } == ["delete", "undo", "delete", "write", "write", "write"])
        #expect(versions.map { $0["exists"] } == [false, true, true, true, true, true])
        #expect(versions[1]["undoneTo"] == 3)
        let date = Date(timeIntervalSinceReferenceDate: 788_918_400)
        let change: PropertyList = ["path": ":old", "change": "removed", "old": .date(date)]
        #expect(versions[2]["changes"] == [change])
        #expect(versions[5]["process"] == 1 && versions[5]["program"] == "prefs")
        #expect(versions[5]["time"] == "2026-01-01T00:00:00Z")
    }

    @Test func `a large domain can be undone, twice`() throws {
        let machine = try SimulatedMachine()
        let large = String(repeating: "x", count: 1_100_000)
        var states: [DomainState] = []
        for number in 1...3 {
            _ = try runPrefs(["prefs", "write", "d", "--plist", "{ n = \(number); text = \(large); }"], on: machine)
            states.append(try state(machine))
        }
        for expected in states.dropLast().reversed() {
            _ = try undo(on: machine)
            #expect(try state(machine) == expected)
        }
        // The first version was too large to be kept, so the previous value is unknown.
        #expect(try runPrefs(["prefs", "undo", "d"], on: machine).status == 1)
        #expect(try state(machine) == states[0])
    }

    @Test func `values that the administrator forces stay as they are`() throws {
        let machine = try SimulatedMachine()
        for value in ["1", "2"] {
            _ = try runPrefs(
                ["prefs", "write", "d", "--plist", "{ forced = \(value); free = \(value); }"], on: machine)
        }
        try machine.force("d", ["forced": "9"])
        let undo = try runPrefs(["prefs", "undo", "d"], on: machine)
        #expect(undo.errors.hasPrefix("prefs: d forced: unchanged, since the administrator forces this value\n"))
        #expect(try state(machine).values == ["forced": "2", "free": "1"])
        _ = try runPrefs(["prefs", "restore", "d", "2"], on: machine)
        #expect(try state(machine).values == ["forced": "2", "free": "2"])
        _ = try runPrefs(["prefs", "write", "--force", "d", "forced", "3"], on: machine)
        let refused = try runPrefs(["prefs", "undo", "d"], on: machine)
        #expect(refused.status == 4 && refused.errors.contains("(forced); nothing was changed"))
        #expect(try runPrefs(["prefs", "undo", "--force", "d"], on: machine).status == 0)
        #expect(try state(machine).values == ["forced": "2", "free": "2"])
    }

    @Test(arguments: [
        "/home/ada/link.plist", "/home/ada/folder/file.plist", "/home/ada/real/../folder/file.plist",
        "/home/ada/real/file",
    ])
    func `a file has one history, however it is addressed`(_ path: String) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders("/home/ada/real")
        try machine.fileSystem.makeSymbolicLink("/home/ada/folder", to: "real")
        try machine.fileSystem.makeSymbolicLink("/home/ada/link.plist", to: "folder/file.plist")
        _ = try runPrefs(["prefs", "write", "/home/ada/real/file.plist", "k", "1"], on: machine)
        _ = try runPrefs(["prefs", "write", path, "k", "2"], on: machine)
        let history = try runPrefs(["prefs", "history", "/home/ada/real/file.plist"], on: machine).output
        #expect(history.split(separator: "\n").count { $0.contains("write") } == 2, "\(history)")
    }

    static let historyOfD: FilePath = "/home/ada/.local/state/prefs/history/d"

    /// Changes the bytes of a version so that its checksum is wrong. `unnoticed` gives it a name without a checksum and
    /// keeps its size.
    private func damage(_ version: Int, on machine: SimulatedMachine, unnoticed: Bool = false) throws {
        let files = machine.fileSystem
        let names = try #require(try files.names(in: Self.historyOfD))
        let path = Self.historyOfD.appending(names[version - 1])
        guard unnoticed else { return try files.replace(path, with: [0, 1].span.bytes) }
        let count = try #require(try files.status(of: path)).size
        let name = names[version - 1].description.replacing(/\.[0-9a-f]{8}-/, with: "-")
        try files.remove(path)
        try files.replace(
            Self.historyOfD.resolving(#require(FilePath(name))), with: [UInt8](repeating: 1, count: count))
    }

    /// A crash has removed the version, so it is treated as if it had never been kept.
    @Test(arguments: [(1, 1, "2"), (2, 0, "1"), (3, 0, "2")])
    func `a version that does not match its name is ignored`(
        _ version: Int, _ status: Int32, _ value: String
    ) throws {
        let machine = try SimulatedMachine()
        for value in ["1", "2", "3", "4"].prefix(version + 1) {
            _ = try runPrefs(["prefs", "write", "d", "k", value], on: machine)
        }
        try damage(version, on: machine)
        #expect(try runPrefs(["prefs", "restore", "d", "\(version)"], on: machine).status == 1)
        #expect(try runPrefs(["prefs", "undo", "d"], on: machine).status == status)
        #expect(try state(machine).values == ["k": .string(value)])
        let listed = try runPrefs(["prefs", "history", "d"], on: machine).output
        #expect(!listed.contains("damaged"), "\(listed)")
    }

    /// The changes of a damaged version are unknown, so an undo past it could revert more than requested.
    @Test(arguments: [1, 2, 3])
    func `an undo never crosses a damaged version`(_ version: Int) throws {
        let machine = try SimulatedMachine()
        for value in ["1", "2", "3", "4"].prefix(version + 1) {
            _ = try runPrefs(["prefs", "write", "d", "k", value], on: machine)
        }
        try damage(version, on: machine, unnoticed: true)
        let before = try state(machine)
        #expect(try runPrefs(["prefs", "history", "d"], on: machine).output.contains("    (damaged)\n"))
        #expect(try runPrefs(["prefs", "restore", "d", "\(version)"], on: machine).status == 5)
        let undo = try runPrefs(["prefs", "undo", "d"], on: machine)
        #expect(
            undo.status == 5 && undo.errors.contains("version \(version) is damaged; nothing was changed"), "\(undo)")
        #expect(try state(machine) == before)
    }

    @Test func `a version without read permission is not reported as damaged`() throws {
        let machine = try SimulatedMachine()
        for value in ["1", "2", "3"] { _ = try runPrefs(["prefs", "write", "d", "k", value], on: machine) }
        let names = try #require(try machine.fileSystem.names(in: Self.historyOfD))
        try machine.fileSystem.open(Self.historyOfD.appending(names[1]), .reading)?.setPermissions([])
        let listed = try runPrefs(["prefs", "history", "d"], on: machine)
        #expect(listed.status == 0 && listed.output.contains("    (cannot be read: Permission denied)\n"), "\(listed)")
        let reason = "prefs: d: version 2 cannot be read: Permission denied"
        for words in [["undo", "d"], ["restore", "d", "2"]] {
            let outcome = try runPrefs(["prefs"] + words, on: machine)
            #expect(outcome.status == 6 && outcome.errors == reason + "; nothing was changed\n", "\(outcome)")
        }
        for words in [["diff", "--versions", "2..3", "d"], ["history", "d", "--show", "2"]] {
            let outcome = try runPrefs(["prefs"] + words, on: machine)
            #expect(outcome.status == 6 && outcome.errors == reason + "\n", "\(outcome)")
        }
        #expect(try state(machine).values == ["k": "3"])
    }

    @Test func `an undo works if the newest version is damaged or one is missing`() throws {
        let machine = try SimulatedMachine()
        for value in ["1", "2", "3"] { _ = try runPrefs(["prefs", "write", "d", "k", value], on: machine) }
        try damage(3, on: machine)
        let undo = try undo(on: machine)
        #expect(try state(machine).values == ["k": "2"])
        _ = try run(printedBy: undo, on: machine)
        #expect(try state(machine).values == ["k": "3"])
        let names = try #require(try machine.fileSystem.names(in: Self.historyOfD))
        try machine.fileSystem.remove(Self.historyOfD.appending(names[1]))
        try machine.fileSystem.remove(Self.historyOfD.appending(names[2]))
        _ = try runPrefs(["prefs", "write", "d", "k", "4"], on: machine)
        for value in ["3", "2"] {
            _ = try self.undo(on: machine)
            #expect(try state(machine).values == ["k": .string(value)])
        }
    }

    /// A closed or full standard error does not affect the change.
    @Test(arguments: [["undo", "d"], ["restore", "d", "1"]])
    func `an undo takes effect although its message cannot be printed`(_ words: [String]) throws {
        let machine = try SimulatedMachine()
        for value in ["1", "2"] { _ = try runPrefs(["prefs", "write", "d", "k", value], on: machine) }
        let terminal = SimulatedTerminal()
        terminal.failWrites(.noSpace)
        var environment = machine.environment
        environment.arguments = ["prefs"] + words
        let status = Prefs.run(
            in: CommandContext(
                SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: environment, terminal: terminal)))
        #expect(status == .done)
        #expect(try state(machine).values == ["k": "1"])
    }

    /// An undo that cannot be undone would lose the current value.
    @Test(arguments: [["undo", "d"], ["restore", "d", "1"]])
    func `contents that cannot be kept are not replaced, unless forced`(_ words: [String]) throws {
        let machine = try SimulatedMachine()
        _ = try runPrefs(["prefs", "write", "d", "k", "1"], on: machine)
        let folder = try #require(try machine.disk.process().open(Self.historyOfD, .reading))
        try folder.setPermissions(FilePermissions(rawValue: 0o500))
        _ = try runPrefs(["prefs", "write", "d", "k", "2"], on: machine)
        let before = try state(machine)
        let refused = try runPrefs(["prefs"] + words, on: machine)
        #expect(refused.status == 6 && refused.errors.contains("nothing was changed (--force"), "\(refused)")
        #expect(try state(machine) == before)
        #expect(try runPrefs(["prefs", words[0], "--force"] + words.dropFirst(), on: machine).status == 0)
        #expect(try state(machine) != before)
    }

    /// For example, the versions may be on another disk than the domain.
    @Test(arguments: [["undo", "d"], ["restore", "d", "1"]])
    func `a large domain can be undone without hard links`(_ words: [String]) throws {
        let machine = try SimulatedMachine()
        machine.disk.limitations = [.noHardLinks]
        let large = String(repeating: "x", count: 1_100_000)
        for number in 1...3 {
            _ = try runPrefs(["prefs", "write", "d", "--plist", "{ n = \(number); text = \(large); }"], on: machine)
        }
        let before = try state(machine)
        #expect(try runPrefs(["prefs", "history", "d"], on: machine).status == 0)
        let version = words.count > 2 ? ["2"] : []
        let back = try runPrefs(["prefs"] + words.prefix(2) + version, on: machine)
        #expect(back.status == 0, "\(back)")
        #expect(try state(machine) != before)
        _ = try run(printedBy: back, on: machine)
        #expect(try state(machine) == before)
    }

    @Test(arguments: [["undo", "d"], ["restore", "d", "1"]], ["0", "1"])
    func `without versions nothing can be undone`(_ words: [String], _ versions: String) throws {
        let machine = try SimulatedMachine()
        _ = try runPrefs(["prefs", "write", "d", "k", "old"], on: machine)
        _ = try runPrefs(["prefs", "write", "prefs", "historyVersions", "-int", versions], on: machine)
        let refused = try runPrefs(["prefs"] + words, on: machine)
        #expect(refused.status == (versions == "0" ? 1 : words[0] == "undo" ? 6 : 0), "\(refused)")
        for value in ["new", "newer"] { _ = try runPrefs(["prefs", "write", "d", "k", value], on: machine) }
        #expect(try runPrefs(["prefs"] + words, on: machine).status == 1)
        #expect(try state(machine).values == ["k": "newer"])
    }

    @Test func `a domain without its first version is not taken as new`() throws {
        let machine = try SimulatedMachine()
        _ = try runPrefs(["prefs", "write", "prefs", "historyVersions", "-int", "0"], on: machine)
        _ = try runPrefs(["prefs", "write", "d", "a", "1"], on: machine)
        _ = try runPrefs(["prefs", "write", "prefs", "historyVersions", "-int", "5"], on: machine)
        _ = try runPrefs(["prefs", "write", "d", "b", "2"], on: machine)
        // The first version is the value from before versions were kept.
        #expect(try runPrefs(["prefs", "undo", "d"], on: machine).status == 0)
        #expect(try state(machine).values == ["a": "1"])
        #expect(try runPrefs(["prefs", "undo", "d"], on: machine).status == 1)
        #expect(try state(machine).values == ["a": "1"])
    }
}

extension SimulatedMachine {
    /// Forces values as the administrator.
    func force(_ domain: String, _ values: PropertyList.Dictionary) throws {
        let root = disk.process()
        for folder: FilePath in ["/etc/prefs", "/etc/prefs/forced"] {
            _ = try root.makeFolder(folder, FilePermissions(rawValue: 0o755))
        }
        let path = try #require(FilePath("/etc/prefs/forced/\(domain).plist"))
        let bytes = Array(try PropertyList.dictionary(values).serialized(as: .xml))
        try root.replace(path, with: bytes.span.bytes)
        try root.open(path, .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
    }
}
