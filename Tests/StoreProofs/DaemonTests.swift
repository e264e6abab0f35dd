import Foundation
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

extension `The store of this machine` {
    /// A daemon whose configuration is rewritten all the time, while its own store fails.
    @Suite struct `Serves a daemon` {
        /// The number of times that the configuration is rewritten, and the time between two of them, in which nothing
        /// but a valid value may come into force.
        private static let rounds = number("PREFS_DAEMON_ROUNDS") ?? 400
        private static let pause = Duration.milliseconds(number("PREFS_DAEMON_PAUSE") ?? 0)

        private static func number(_ variable: String) -> Int? {
            ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
        }

        /// What happens to the daemon's store.
        private enum Trouble: CaseIterable { case none, fullDisk, readOnly, lock }

        private static func status(_ process: pid_t, _ name: String) throws -> Int {
            let text = try String(contentsOf: URL(filePath: "/proc/\(process)/status"), encoding: .utf8)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + ":") })
            return try #require(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
        }

        /// The main thread, those of the notifications, the timers and the flush, and the one in which the flush waits
        /// for a lock with a time limit.
        private static let mostThreads = 5

        /// Returns the number of threads. One that is about to end is not counted.
        private static func threads(of daemon: WorkerProcess) throws -> Int {
            for _ in 0..<100 {
                let count = try status(daemon.id, "Threads")
                if count <= mostThreads { return count }
                try #require(daemon.receive(within: .milliseconds(10)) == nil)
            }
            return try status(daemon.id, "Threads")
        }

        @Test func `that has the last valid value in force, with few threads and no growth`() throws {
            let mount = try Mount.orCancel(size: 1 << 20)
            let bench = try ProofBench(at: mount.path + "/prefs")
            let file = try bench.path.appending("service.json")
            var generator = SeededGenerator(stream: "daemon", round: 0)
            var number = 1
            func write(_ text: String, byRenaming: Bool) throws {
                let folder = try bench.path
                let target = byRenaming ? folder.appending("draft") : file
                try Data(text.utf8).write(to: URL(filePath: target.description))
                if byRenaming { try bench.system.fileSystem.rename(target, to: file) }
            }
            try write("{ \"number\": 1 }", byRenaming: false)
            let daemon = try bench.worker("daemon", "domain", file.description)
            try #require(daemon.receive() == "1")

            var holder: WorkerProcess?
            var (threads, sizes) = (0, [Int]())
            for round in 0..<Self.rounds {
                let phase = max(1, Self.rounds / 8)
                if round.isMultiple(of: phase) {
                    holder?.send("")
                    _ = holder?.receive()
                    holder = nil
                    try mount.makeReadOnly(false)
                    try? mount.empty()
                    switch Trouble.allCases[(round / phase) % Trouble.allCases.count] {
                    case .none: break
                    case .fullDisk: try mount.fill(leaving: 0)
                    case .readOnly: try mount.makeReadOnly()
                    case .lock:
                        holder = try bench.worker("hold", "domain")
                        try #require(holder?.receive() == "held")
                    }
                }
                let byRenaming = Bool.random(using: &generator)
                if Int.random(in: 0..<5, using: &generator) == 0 {
                    let texts = [
                        "{ \"number\": 0 }", "{ \"number\": \"\(number)x\" }", "{ \"number\": \(number + 1)", "",
                    ]
                    try write(texts.randomElement(using: &generator) ?? "", byRenaming: byRenaming)
                } else {
                    number += 1
                    try write("{ \"number\": \(number), \"round\": \(round) }", byRenaming: byRenaming)
                    let seen = daemon.receive()
                    try #require(seen == "\(number)", "\(Seed.ofThisRun), round \(round)")
                }
                if Self.pause > .zero { try #require(daemon.receive(within: Self.pause) == nil) }
                threads = max(threads, try Self.threads(of: daemon))
                sizes.append(try Self.status(daemon.id, "VmRSS"))
            }
            holder?.send("")
            _ = holder?.receive()
            try mount.makeReadOnly(false)
            try? mount.empty()
            daemon.send("")
            try #require(daemon.receive() == "ended")
            #expect(try bench.value("seen", "domain") == number)
            let (early, late) = (sizes[sizes.count / 4], sizes[sizes.count - 1])
            print("the daemon had \(threads) threads at most, \(early) KiB after a quarter, and \(late) KiB at the end")
            #expect(threads <= Self.mostThreads && late - early < 2048)
        }
    }
}
