import Platform
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `A simulated terminal` {
    @Test func `records the output and the exit status`() throws {
        let terminal = SimulatedTerminal(widths: [.output: 80], input: "typed")
        try terminal.write("result\n")
        try terminal.write("warning\n", to: .errors)
        #expect(terminal.text(of: .output) == "result\n" && terminal.text(of: .errors) == "warning\n")
        #expect(terminal.width(of: .output) == 80 && terminal.isTerminal(.output))
        #expect(terminal.width(of: .errors) == nil && !terminal.isTerminal(.errors))
        #expect(failure { _ = try terminal.input(limit: 4) } == .fileTooLarge)
        #expect(throws: ProgramExit(status: 2)) { try terminal.exit(2) }
        #expect(terminal.exitStatus == 2)
        terminal.failWrites(.noSpace)
        #expect(failure { try terminal.write("more") } == .noSpace)
    }

    @Test func `of this process has a width only if it is a terminal`() {
        for stream in StandardStream.allCases {
            #expect(SystemTerminal().isTerminal(stream) || SystemTerminal().width(of: stream) == nil)
        }
    }
}

@Suite struct `A simulated machine` {
    @Test func `depends only on its seed`() throws {
        let machines = try [1, 1, 2].map { try SimulatedMachine(seed: $0) }
        let identities = try machines.map { try $0.environment.hostIdentity(in: $0.fileSystem) }
        #expect(identities[0] == identities[1] && identities[0] != identities[2])
        #expect(machines[0].fileSystem.unpredictableName() == machines[1].fileSystem.unpredictableName())
        #expect(try machines[0].environment.home(in: machines[0].fileSystem) == SimulatedMachine.home)
    }
}
