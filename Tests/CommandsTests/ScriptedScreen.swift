import Commands
import Platform
import Preferences
import SimulatedPlatform
import Synchronization

/// A screen on which a test presses keys, one after the other, and at whose end of input the program is left.
final class ScriptedScreen: ScreenTerminal {
    private let state: Mutex<State>

    fileprivate struct State: Sendable {
        var keys: [String]
        var meanwhile: [@Sendable () throws -> Void]
        var isAwake = false
        var rows: [[Character]] = []
        var suspensions = 0
        var clears = 0
        var styles: Set<String> = []
        var questions = 0
    }

    /// - Parameter meanwhile: What others do after the last key, one thing after the other.
    init(_ keys: [String], meanwhile: [@Sendable () throws -> Void] = []) {
        state = Mutex(State(keys: keys, meanwhile: meanwhile))
    }

    /// What is shown at last.
    var text: String { state.withLock { $0.rows.map { String($0) }.joined(separator: "\n") } }
    var suspensions: Int { state.withLock(\.suspensions) }
    /// The number of times that the whole screen was drawn.
    var clears: Int { state.withLock(\.clears) }
    /// The styles since the whole screen was drawn.
    var styles: Set<String> { state.withLock(\.styles) }
    /// The number of times that the background was asked for.
    var questions: Int { state.withLock(\.questions) }
    var size: (columns: Int, rows: Int) { (120, 24) }

    func enter() {}
    func leave() {}
    func write(_ bytes: [UInt8]) { state.withLock { $0.draw(String(decoding: bytes, as: UTF8.self)) } }
    func wake() { state.withLock { $0.isAwake = true } }
    func suspend() { state.withLock { $0.suspensions += 1 } }
    func end(with signal: Int32) {}

    func next(milliseconds limit: Int32?) throws(SystemFailure) -> TerminalEvent {
        // An escape character alone is followed by nothing for a while.
        if limit != nil { return .timeout }
        if let key = state.withLock({ $0.keys.isEmpty ? nil : $0.keys.removeFirst() }) {
            return .bytes(Array(key.utf8))
        }
        guard let action = state.withLock({ $0.meanwhile.isEmpty ? nil : $0.meanwhile.removeFirst() }) else {
            return .endOfInput
        }
        state.withLock { $0.isAwake = false }
        do { try action() } catch { throw SystemFailure(.inputOutput, .read, nil) }
        return state.withLock(\.isAwake) ? .woken : .endOfInput
    }
}

extension ScriptedScreen.State {
    /// Places and clears; all other sequences are ignored.
    fileprivate mutating func draw(_ text: String) {
        if rows.isEmpty { clear() }
        var (row, column) = (0, 0)
        for part in text.split(separator: "\u{1B}") {
            if part == "]11;?" { questions += 1 }
            guard part.first == "[" else { continue }
            guard let end = part.firstIndex(where: { $0.isLetter }) else { continue }
            let numbers = part[..<end].dropFirst().split(separator: ";").compactMap { Int($0) }
            switch part[end] {
            case "H": (row, column) = (numbers[0] - 1, numbers[1] - 1)
            case "J":
                clear()
                clears += 1
                styles = []
            case "m": styles.insert(String(part[..<end].dropFirst()))
            default: break
            }
            for character in part[end...].dropFirst() where column < 120 {
                rows[row][column] = character
                column += 1
            }
        }
    }

    private mutating func clear() { rows = Array(repeating: Array(repeating: " ", count: 120), count: 24) }
}

extension SimulatedMachine {
    /// Runs a verb of `prefs` that fills the screen.
    ///
    /// - Parameter editing: What the user's editor makes of each text.
    func run(
        _ words: [String], on screen: ScriptedScreen, editing: [@Sendable (String) throws -> String?] = [],
        variables: EnvironmentVariables = ["TERM": "xterm"]
    ) -> (status: ExitStatus, errors: String) {
        let streams = SimulatedTerminal(widths: [.input: 120, .output: 120, .errors: 120])
        let editor = EditTests.Editor(self, editing)
        var environment = environment
        environment.arguments = ["prefs"] + words
        environment.variables = environment.variables.merging(variables)
        let status = Prefs.run(
            in: CommandContext(
                SystemServices(
                    fileSystem: fileSystem, clock: clock, watcher: watcher, environment: environment,
                    terminal: streams),
                run: { (try? editor.run($0.arguments)) ?? 1 }, screen: screen))
        return (status, streams.text(of: .errors))
    }
}
