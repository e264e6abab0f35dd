import Commands
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct DiffCommandsTests {
    static let pairs = 100

    @Test func `the commands that diff prints make one domain equal to the other`() throws {
        var mutations = Mutations(SeededGenerator(stream: "diff"))
        var commands = 0
        for index in 0..<Self.pairs {
            let (old, changed) = mutations.pair()
            let new = changed.withoutUnwritable(of: old)
            let machine = try SimulatedMachine()
            try machine.store(old, as: "old")
            try machine.store(new, as: "new")
            let text = try machine.run("prefs diff --format commands old new")
            #expect(text.status == (old == new ? 0 : 8) && text.errors.isEmpty)
            for pipeline in try ShellScript.pipelines(text.output) {
                let input = pipeline.count > 1 ? pipeline[0][2] : ""
                let outcome = try runPrefs(try #require(pipeline.last), input: input, on: machine)
                #expect(outcome.status == 0, "\(pipeline) \(outcome.errors), pair \(index), \(Seed.ofThisRun)")
                commands += 1
            }
            let rest = try machine.run("prefs diff old new")
            #expect(rest == Transcript.Outcome(), "pair \(index), \(Seed.ofThisRun)\n\(text.output.prefix(2000))")
        }
        #expect(commands > Self.pairs)
    }

    @Test(arguments: ["--layer", "--help", "--", "--int"])
    func `a printed command keeps a key that looks like an option`(_ key: String) throws {
        let machine = try SimulatedMachine()
        try machine.store([:], as: "old")
        try machine.store(["k": .dictionary([key: "v"]), "list": [.string(key)]], as: "new")
        let text = try machine.run("prefs diff --format commands old new")
        for pipeline in try ShellScript.pipelines(text.output) {
            #expect(try runPrefs(try #require(pipeline.last), on: machine).status == 0, "\(text.output)")
        }
        #expect(try machine.run("prefs diff old new") == Transcript.Outcome())
    }
}
