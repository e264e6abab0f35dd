import Commands
import Platform
import SimulatedPlatform
import TestSupport

/// Runs the command in this process, on a machine of its own.
func runPrefs(_ words: [String], input: String = "", on machine: SimulatedMachine? = nil) throws -> Transcript.Outcome {
    let machine = try machine ?? SimulatedMachine()
    let terminal = SimulatedTerminal(input: input)
    var environment = machine.environment
    environment.arguments = words
    let status = Command.run(
        in: Surroundings(
            environment: environment, fileSystem: machine.fileSystem, watcher: machine.watcher, clock: machine.clock,
            terminal: terminal))
    return Transcript.Outcome(
        output: terminal.text(of: .output), errors: terminal.text(of: .errors), status: status.rawValue)
}
