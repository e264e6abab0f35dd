import Commands
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct ApplyTests {
    static let first = "{\"a\": {\"theme\": \"dark\", \"size\": 14}, \"b\": {\"size\": 1}}"
    static let second = "{\"a\": {\"theme\": \"light\"}, \"c\": {\"size\": 2}}"

    private static func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        for line in ["prefs write a own kept", "prefs write b own kept"] { _ = try machine.run(line) }
        #expect(try machine.run("prefs apply --domains -", input: first).status == 0)
        machine.disk.synchronize()
        return machine
    }

    /// The contents of all domains, as a new process of the user reads them from the disk.
    private static func state(_ disk: SimulatedDisk, _ machine: SimulatedMachine) throws -> String {
        try run(["read", "--format", "typed"], on: disk, machine).output
    }

    private static func run(
        _ words: [String], input: String = "", on disk: SimulatedDisk, _ machine: SimulatedMachine,
        _ plan: FaultPlan = FaultPlan()
    ) throws -> (status: ExitStatus, output: String, wasHit: Bool) {
        let files = disk.process(user: 1000, plan)
        let terminal = SimulatedTerminal(input: input)
        var environment = machine.environment
        environment.arguments = ["prefs"] + words
        let status = Prefs.run(
            in: CommandContext(
                SystemServices(
                    fileSystem: files, clock: disk.clock, watcher: SimulatedFolderWatcher(disk),
                    environment: environment, terminal: terminal)))
        let wasHit = files.hits > 0
        files.kill()
        return (status, terminal.text(of: .output), wasHit)
    }

    static let effects: [Fault.Effect] = [.fail(.inputOutput), .dieAfter, .dieWithin(keeping: 9)]

    @Test(arguments: effects)
    func `an interrupted apply leaves all changes or none, and a record that matches`(_ effect: Fault.Effect) throws {
        let machine = try Self.machine()
        let words = ["apply", "--domains", "--prune", "-"]
        let old = try Self.state(machine.disk.copy(), machine)
        let flawless = machine.disk.copy()
        #expect(try Self.run(words, input: Self.second, on: flawless, machine).status == .done)
        let new = try Self.state(flawless, machine)
        #expect(old != new && new.contains("light") && !new.contains("14"))
        let last = try Extent.operations(every: 7, stream: "apply \(effect)").first { number in
            let disk = machine.disk.copy()
            let run = try Self.run(words, input: Self.second, on: disk, machine, FaultPlan(effect, at: number))
            for survivors in [nil, SimulatedDisk.Survivors.none] as [SimulatedDisk.Survivors?] {
                let after = disk.copy()
                if let survivors { after.crash(survivors) }
                let found = try Self.state(after, machine)
                let place: Comment = "\(effect) at \(number), \(String(describing: survivors))"
                #expect(run.status == .done ? found == new : found == old || found == new, place)
                // In either state, the record lists what was applied, so an empty declaration removes all of it.
                #expect(try Self.run(words, input: "{}", on: after, machine).status == .done)
                let left = try Self.state(after, machine)
                for line in ["theme", "size"] { #expect(!left.contains(line), place) }
                #expect(left.split(separator: "kept").count == 3, "\(left)")
            }
            return !run.wasHit
        }
        #expect(try #require(last) > 20)
    }

    @Test func `an unreadable domain leaves all others unchanged`() throws {
        let machine = try SimulatedMachine()
        let folder: FilePath = "/home/ada/.config/prefs"
        try machine.fileSystem.makeFolders(folder)
        try machine.fileSystem.replace(folder.appending("b.plist"), with: Array("bplist00 not".utf8).span.bytes)
        let outcome = try machine.run("prefs apply --domains -", input: Self.first)
        #expect(outcome.status == 5 && outcome.errors.hasPrefix("prefs: /home/ada/.config/prefs/b.plist"))
        #expect(try machine.run("defaults read a").status == 1)
        let names = try machine.fileSystem.names(in: "/home/ada/.local/state/prefs") ?? []
        #expect(!names.contains(".applied.plist"))
    }

    @Test func `a key that the user removed after an earlier apply is ignored`() throws {
        let machine = try Self.machine()
        #expect(try machine.run("prefs delete a size").status == 0)
        #expect(try machine.run("prefs delete b").status == 0)
        #expect(try machine.run("prefs apply --domains --prune -", input: "{}").status == 0)
        #expect(try machine.run("defaults read a").output == "{\n    own = kept;\n}\n")
        #expect(try machine.run("prefs read b").status == 1)
    }

    @Test func `an apply is undone like any other write`() throws {
        let machine = try Self.machine()
        let names = try machine.fileSystem.names(in: "/home/ada/.local/state/prefs/history/a") ?? []
        #expect(names.contains { $0.description.contains("-apply-") })
    }
}
