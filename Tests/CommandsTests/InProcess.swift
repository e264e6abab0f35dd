import Commands
import Platform
import Preferences
import SimulatedPlatform
import Synchronization
import TestSupport

/// Runs the command in this process, on a machine of its own.
///
/// - Parameters:
///   - process: Whose view of the disk it has; that of the machine's user where nobody else is named.
///   - environment: What it is told, its arguments apart.
///   - watcher: What tells it of changes.
///   - variables: What its environment says besides.
///   - descriptors: What stands on the descriptors that it was started with.
///   - meanwhile: What happens while the command waits, one after the other. Behind the last one it is interrupted.
///   - program: What a program does that the command runs, and its exit status.
func runPrefs(
    _ words: [String], input: String = "", on machine: SimulatedMachine? = nil, as process: SimulatedFileSystem? = nil,
    environment: Environment? = nil, watcher: (any FolderWatcher)? = nil, variables: EnvironmentVariables = [:],
    descriptors: [Int32: [UInt8]] = [:], meanwhile: [@Sendable () throws -> Void] = [],
    program: @escaping @Sendable (_ arguments: [String]) throws -> Int32 = { _ in 127 }
) throws -> Transcript.Outcome {
    let machine = try machine ?? SimulatedMachine()
    let terminal = SimulatedTerminal(input: input, descriptors: descriptors)
    var environment = environment ?? machine.environment
    environment.arguments = words
    environment.variables = environment.variables.merging(variables)
    let happenings = Happenings(meanwhile)
    let status = Prefs.run(
        in: CommandContext(
            Machine(
                fileSystem: process ?? machine.fileSystem, clock: machine.clock, watcher: watcher ?? machine.watcher,
                environment: environment, terminal: terminal),
            wait: { _ in happenings.next() },
            run: { _, arguments in happenings.noting { try program(arguments) } ?? 1 }))
    if let failure = happenings.failure { throw failure }
    return Transcript.Outcome(
        output: terminal.text(of: .output), errors: terminal.text(of: .errors), status: status.rawValue)
}

/// What a test makes happen while a command runs.
private final class Happenings: Sendable {
    private let state: Mutex<(waiting: [@Sendable () throws -> Void], failure: (any Error)?)>

    init(_ waiting: [@Sendable () throws -> Void]) { state = Mutex((waiting, nil)) }

    var failure: (any Error)? { state.withLock(\.failure) }

    /// Lets the next one happen; false where there is none.
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
