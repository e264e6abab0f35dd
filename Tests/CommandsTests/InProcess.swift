import Commands
import Platform
import Preferences
import SimulatedPlatform
import Synchronization
import TestSupport

/// Runs the command in this process, on a simulated machine.
///
/// - Parameters:
///   - process: The process that runs the command, by default one of the machine's user.
///   - environment: The environment of the command, except for its arguments.
///   - watcher: The watcher of the command.
///   - variables: Additional environment variables.
///   - descriptors: The contents of the descriptors with which it is started.
///   - widths: The widths of the streams that are terminals.
///   - clock: The clock of the command, by default that of the machine.
///   - meanwhile: Actions to run in order while the command waits. After the last one, the command is interrupted.
///   - program: The behavior and exit status of programs that the command runs.
///   - foreground: The same, for tests that look at more than the arguments.
///   - output: The output of programs that the command runs without a terminal.
func runPrefs(
    _ words: [String], input: String = "", on machine: SimulatedMachine? = nil, as process: SimulatedFileSystem? = nil,
    environment: Environment? = nil, watcher: (any FolderWatcher)? = nil, variables: EnvironmentVariables = [:],
    descriptors: [Int32: [UInt8]] = [:], widths: [StandardStream: Int] = [:], clock: (any Clock)? = nil,
    meanwhile: [@Sendable () throws -> Void] = [],
    program: @escaping @Sendable (_ arguments: [String]) throws -> Int32 = { _ in 127 },
    foreground: (@Sendable (ForegroundProgram) throws -> Int32)? = nil,
    output: @escaping ProgramRunner = { _, _ throws(LimitedProgram.Failure) in
        throw LimitedProgram.Failure(description: "cannot be run")
    }
) throws -> Transcript.Outcome {
    let machine = try machine ?? SimulatedMachine()
    let terminal = SimulatedTerminal(widths: widths, input: input, descriptors: descriptors)
    var environment = environment ?? machine.environment
    environment.arguments = words
    environment.variables = environment.variables.merging(variables)
    let happenings = Happenings(meanwhile)
    let status = Prefs.run(
        in: CommandContext(
            SystemServices(
                fileSystem: process ?? machine.fileSystem, clock: clock ?? machine.clock,
                watcher: watcher ?? machine.watcher, environment: environment, terminal: terminal, output: output),
            wait: { _ in happenings.next() },
            run: { call in happenings.noting { try foreground.map { try $0(call) } ?? program(call.arguments) } ?? 1 }))
    if let failure = happenings.failure { throw failure }
    return Transcript.Outcome(
        output: terminal.text(of: .output), errors: terminal.text(of: .errors), status: status.rawValue)
}

/// The actions that a test runs while a command waits.
private final class Happenings: Sendable {
    private let state: Mutex<(waiting: [@Sendable () throws -> Void], failure: (any Error)?)>

    init(_ waiting: [@Sendable () throws -> Void]) { state = Mutex((waiting, nil)) }

    var failure: (any Error)? { state.withLock(\.failure) }

    /// Runs the next action, and returns false if there is none.
    func next() -> Bool {
        let action = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        guard let action else { return false }
        return noting(action) != nil
    }

    func noting<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try body()
        } catch {
            state.withLock { $0.failure = error }
            return nil
        }
    }
}
