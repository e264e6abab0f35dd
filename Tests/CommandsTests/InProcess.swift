import Commands
import Platform
import SimulatedPlatform
import TestSupport

/// Runs the command in this process, on a machine of its own.
///
/// - Parameters:
///   - process: Whose view of the disk it has; that of the machine's user where nobody else is named.
///   - environment: What it is told, its arguments apart.
///   - watcher: What tells it of changes.
func runPrefs(
    _ words: [String], input: String = "", on machine: SimulatedMachine? = nil, as process: SimulatedFileSystem? = nil,
    environment: Environment? = nil, watcher: (any DirectoryWatcher)? = nil
) throws -> Transcript.Outcome {
    let machine = try machine ?? SimulatedMachine()
    let terminal = SimulatedTerminal(input: input)
    var environment = environment ?? machine.environment
    environment.arguments = words
    let watching = watcher ?? machine.watcher
    let status = Command.run(
        in: Surroundings(
            environment: environment, fileSystem: process ?? machine.fileSystem, watcher: watching,
            clock: machine.clock, terminal: terminal))
    return Transcript.Outcome(
        output: terminal.text(of: .output), errors: terminal.text(of: .errors), status: status.rawValue)
}
