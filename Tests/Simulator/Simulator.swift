import Foundation
import MirrorEngine
import Simulation
import Synchronization
import TestSupport

/// Runs the mirror's simulation many times, on all cores: `Simulator RUNS`, or one run again.
@main struct Simulator {
    static func main() async {
        do {
            let arguments = try Arguments(CommandLine.arguments.dropFirst())
            if let name = arguments.profile {
                guard let profile = ExhaustiveSearch.Profile.all.first(where: { $0.name == name }) else {
                    throw Arguments.Mistake(text: "no such profile: \(ExhaustiveSearch.Profile.all.map(\.name))")
                }
                exit(search(profile, arguments) ? 0 : 1)
            }
            if arguments.depth > 0 { exit(await searchAll(arguments) ? 0 : 1) }
            let isSound = arguments.scenario == nil ? await runMany(arguments) : try runOne(arguments)
            exit(isSound ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(2)
        }
    }

    /// Searches the executions of each profile, on all cores.
    private static func searchAll(_ arguments: Arguments) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for profile in ExhaustiveSearch.Profile.all { group.addTask { search(profile, arguments) } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    private static func search(_ profile: ExhaustiveSearch.Profile, _ arguments: Arguments) -> Bool {
        var search = ExhaustiveSearch(profile, depth: arguments.depth, sample: arguments.sample)
        search.search()
        let found = search.counterexample.map { "broken: \($0)" } ?? "0 broken"
        let executions =
            arguments.sample == 1
            ? "\(search.countSequences()) sequences, of which \(search.executions / 2) differ"
            : "\(search.executions / 2) of the longest sequences (\(Seed.ofThisRun))"
        say("\(profile.name): \(executions), each with logs and with bases: \(found), \(search.needless) needless")
        if profile.isOrdinary, let needless = search.firstNeedless { say("needless: \(needless)") }
        return search.counterexample == nil
    }

    private static func runOne(_ arguments: Arguments) throws -> Bool {
        guard let scenario = Scenario.all.first(where: { $0.name == arguments.scenario }) else {
            throw Arguments.Mistake(text: "no such scenario: \(Scenario.all.map(\.name))")
        }
        var run = Run(scenario, round: arguments.round, without: arguments.omitted)
        if arguments.tells { run.world.logger = { say($0) } }
        run.carryOut()
        for wrong in run.wrongs { say(wrong) }
        for needless in run.world.needless { say("needless: \(needless)") }
        if run.world.writtenBack > 0 { say("\(run.world.writtenBack) conflicts of one person") }
        if !run.wrongs.isEmpty || !run.world.needless.isEmpty, arguments.omitted.isEmpty {
            say("shrunk: \(run.shrunk().replay)")
        }
        return run.wrongs.isEmpty
    }

    private static func runMany(_ arguments: Arguments) async -> Bool {
        let clock = ContinuousClock()
        let start = clock.now
        let next = Next(limit: arguments.runs)
        let tally = await withTaskGroup(of: RunStatistics.self) { group in
            for _ in 0..<arguments.threads { group.addTask { share(next) } }
            var tally = RunStatistics()
            for await share in group { tally.add(share) }
            return tally
        }
        report(tally, in: start.duration(to: clock.now), threads: arguments.threads)
        // The rarest fault occurs in one of 250 runs, so a few runs need not have it.
        return tally.findings.isEmpty && (tally.missing.isEmpty || tally.runs < 2000)
    }

    /// The work of one thread: executes runs until none are left.
    private static func share(_ next: Next) -> RunStatistics {
        var tally = RunStatistics()
        while let number = next.take() {
            var run = RunStatistics.run(number: number, of: .ofThisRun)
            run.carryOut()
            tally.note(run)
            for wrong in run.wrongs.prefix(3) { say("\(run.replay): \(wrong.prefix(400))") }
            for needless in run.world.needless.prefix(1) { say("\(run.replay): needless: \(needless.prefix(400))") }
            if !run.wrongs.isEmpty {
                say("shrunk: \(run.shrunk().replay)")
                next.noteFinding()
            }
            run.world.end()
        }
        return tally
    }

    /// Prints without a buffer, so that a long search shows its findings immediately.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private static func report(_ tally: RunStatistics, in time: Duration, threads: Int) {
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        let rate = String(format: "%.1f s, %.0f a second", seconds, Double(tally.runs) / max(seconds, 0.001))
        say("\(tally.runs) runs in \(rate), \(threads) at a time; \(Seed.ofThisRun)")
        let media = Medium.allCases.map { "\(tally.media[$0, default: 0]) \($0)" }
        let faults = Fault.allCases.map { "\(tally.faults[$0, default: 0]) \($0)" }
        say("on: \(media.joined(separator: ", "))\nfaults: \(faults.joined(separator: ", "))")
        for fault in tally.missing { say("\(fault) never happened") }
        say("\(tally.findings.count) runs went wrong, \(tally.needless) needless conflicts")
    }
}

/// The numbers of the remaining runs.
final class Next: Sendable {
    private let limit: Int
    private let state = Mutex((next: 0, findings: 0))

    init(limit: Int) { self.limit = limit }

    func take() -> Int? {
        state.withLock { state in
            guard state.next < limit, state.findings < 20 else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    /// The number of findings after which a search stops.
    func noteFinding() { state.withLock { $0.findings += 1 } }
}
