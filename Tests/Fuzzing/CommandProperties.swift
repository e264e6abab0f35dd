internal import Commands
internal import Platform
internal import Preferences
internal import SimulatedPlatform

/// The command, with arbitrary arguments.
extension Target {
    /// Runs each line of the bytes as a command line. Tabs separate its words.
    func checkCommand(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        guard bytes.count <= 2048 else { return }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 16).prefix(16).map { line in
            line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        try checkCommands(lines)
    }

    /// Runs command lines on a simulated machine. Each must end with a status of its verb, and print an error if it
    /// fails.
    func checkCommands(_ lines: [[String]]) throws(BrokenProperty) {
        let machine: SimulatedMachine
        do {
            machine = try SimulatedMachine()
        } catch {
            throw BrokenProperty(self, "no machine: \(error)")
        }
        _ = run(["write", "d", "{a = 1; b = (x, {c = <00ff>;}); \":\" = y;}"], as: "defaults", on: machine)
        for (index, line) in lines.enumerated() {
            let program = index.isMultiple(of: 2) ? "prefs" : "defaults"
            let (status, text) = run(line, as: program, on: machine)
            let request = try? Parser.request(line, program: program)
            guard case .run(let invocation)? = request else {
                if status != .done, text.isEmpty { throw BrokenProperty(self, "\(line): \(status) without a word") }
                continue
            }
            // Like grep, `find` prints nothing if it finds nothing.
            let isSilent = invocation.verb.name == Verb.find.name && status == .notFound
            if status != .done, text.isEmpty, !isSilent {
                throw BrokenProperty(self, "\(line): \(status) without a word")
            }
            guard invocation.verb.allStatuses.contains(status) else {
                throw BrokenProperty(self, "\(line): \(status) is not a status of \(invocation.verb.name): \(text)")
            }
        }
    }

    private func run(
        _ words: [String], as program: String, on machine: SimulatedMachine
    ) -> (ExitStatus, text: String) {
        let terminal = SimulatedTerminal(input: "{z = 1;}")
        var environment = machine.environment
        environment.arguments = [program] + words
        let status = Prefs.run(
            in: CommandContext(
                SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: environment, terminal: terminal)))
        return (status, terminal.text(of: .errors) + terminal.text(of: .output))
    }
}

/// A generator of random command lines from the words that the command knows, and from unusual ones.
struct CommandLines {
    private var randomness: Randomness

    init(seed: UInt64) { randomness = Randomness(seed: seed) }

    private static let words: [String] = {
        let verbs = Verb.all.flatMap { [$0] + $0.parts }
        let options = (Verb.all.flatMap(\.options) + Option.global).map(\.name)
        let awkward = [
            "", "-", "--", "-g", "d", "e", "a", "b", ":b:1:c", ":b:0", "\\:", ":", "{", "(", "{a=1;}", "(1,2)", "<00>",
            "=", "--=", "--format=", "json", "xml", "binary", "user", "forced", "\u{0}", "é", "\u{301}", "\u{1F600}",
            "a\nb", "a\tb", "*", "$(x)", "'", "\"", "\\", "1", "-1", "18446744073709551616", "nan", "1e400", "0x",
            "true", "now", "2001-01-01T00:00:00Z", "/", ".", "..", "../../x", "/dev/null", "~", "~/x", "./d",
            "/home/ada/.config/prefs/d.plist", "/home/ada/.config/prefs/d", String(repeating: "n", count: 300),
        ]
        return verbs.map(\.name) + options + TypeFlag.allCases.map(\.rawValue) + awkward + awkward
    }()

    private static let verbs = Verb.all.map(\.name)

    /// Returns a command line, usually a verb followed by up to seven words.
    mutating func next() -> [String] {
        let rest = (0..<Int.random(in: 0...7, using: &randomness)).map { _ in word(Self.words) }
        return Bool.random(using: &randomness) || rest.isEmpty ? [word(Self.verbs)] + rest : rest
    }

    private mutating func word(_ words: [String]) -> String { words.randomElement(using: &randomness) ?? "" }
}

#if !FUZZER
    extension CommandLines {
        /// Runs the given number of command lines, and returns whether all behaved correctly.
        static func run(_ count: Int, seed: UInt64) -> Bool {
            say("\(count) command lines of seed \(seed)", to: 1)
            var lines = CommandLines(seed: seed)
            for start in stride(from: 0, to: count, by: 16) {
                let batch = (start..<min(start + 16, count)).map { _ in lines.next() }
                do throws(BrokenProperty) {
                    try Target.command.checkCommands(batch)
                } catch {
                    say("error: line \(start) and after: \(error)", to: 2)
                    return false
                }
            }
            return true
        }
    }
#endif
