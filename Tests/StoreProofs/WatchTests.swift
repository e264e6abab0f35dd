import Foundation
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

extension `The store of this machine` {
    /// Observers see the writes of other processes.
    @Suite struct `Reports changes` {
        /// Writes times as values, and returns the delay until the observer has seen each of them.
        static func delays(_ count: Int, _ observer: WorkerProcess, _ bench: ProofBench) throws -> [Duration] {
            try (0..<count).map { _ in
                let now = bench.system.clock.now.nanoseconds
                try bench.write("key", .integer(PropertyList.Integer(now)), "domain")
                let fields = try #require(observer.receive()).split(separator: " ")
                try #require(fields.count == 3 && fields[0] == "\(now)" && fields[2] == "false")
                return .nanoseconds(try #require(Int64(fields[1])) - Int64(now))
            }
        }

        @Test(arguments: [true, false])
        func `of another process`(_ isThere: Bool) throws {
            let bench = try ProofBench()
            if isThere { try bench.write("key", 1, "domain") }
            let observer = try bench.worker("observe", "domain", "key")
            try #require(observer.receive() == "notified")
            let delays = try Self.delays(20, observer, bench).sorted()
            print("another process's change was seen after \(delays[10]) in the middle, \(delays[19]) at most")
        }

        @Test func `of the target of a link`() throws {
            let bench = try ProofBench()
            try bench.system.fileSystem.makeFolders(try bench.path.appending("prefs"))
            try bench.system.fileSystem.makeFolders(try bench.path.appending("elsewhere"))
            try #require(symlink("../elsewhere/file", "\(bench.place)/domain.plist") == 0)
            let observer = try bench.worker("observe", "domain", "key")
            try #require(observer.receive() == "notified")
            _ = try Self.delays(3, observer, bench)
        }

        static let refusals = ["max_inotify_instances", "max_inotify_watches"]

        @Test(arguments: refusals)
        func `by polling, without kernel notifications`(_ limit: String) throws {
            let limited = [
                "unshare", "--user", "--map-root-user", "sh", "-c",
                "echo 0 > /proc/sys/user/\(limit) && exec \"$@\"", "sh",
            ]
            guard try Subprocess.run("unshare", limited.dropFirst() + ["true"]).status == 0 else {
                try Test.cancel("no privilege to limit the notifications of the kernel")
            }
            let bench = try ProofBench()
            try bench.write("key", 1, "domain")
            let observer = try bench.worker("observe", "domain", "key", by: limited)
            try #require(observer.receive() == "polling")
            _ = try Self.delays(3, observer, bench)
        }

        /// An observer uses no processor time while there are no changes.
        @Test func `without waking up while there are none`() throws {
            let bench = try ProofBench()
            try bench.write("key", 1, "domain")
            let observer = try bench.worker("observe", "domain", "key")
            try #require(observer.receive() == "notified")
            _ = try Self.delays(1, observer, bench)
            // The last change may still be handled.
            var before = 0
            let isIdle = try (0..<60).contains { _ in
                before = try wakeups(of: observer.id)
                try #require(observer.receive(within: .seconds(1)) == nil)
                return try wakeups(of: observer.id) == before
            }
            #expect(isIdle)
            // The observer still runs.
            _ = try Self.delays(1, observer, bench)
            #expect(try wakeups(of: observer.id) > before)
        }

        private func wakeups(of process: pid_t) throws -> Int {
            let tasks = "/proc/\(process)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).map { task in
                let text = try String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
                let lines = text.split(separator: "\n").filter { $0.contains("voluntary_ctxt_switches") }
                return lines.compactMap { $0.split(separator: "\t").last.flatMap { Int($0) } }.reduce(0, +)
            }.reduce(0, +)
        }
    }

    /// The number of system calls of a command that changes one key.
    @Suite struct `Makes few calls` {
        @Test(.enabled(if: Tool.isExpected("strace"), "\(Tool.absence(of: "strace"))"), arguments: [1, 1000])
        func `for one write`(_ keys: Int) throws {
            guard try Subprocess.run("strace", ["true"]).status == 0 else { try Test.cancel("no privilege to trace") }
            let bench = try ProofBench()
            // These writes make the calls that occur only once for a domain.
            for number in 0..<40 { try bench.write("key", .integer(PropertyList.Integer(number)), "domain") }
            for number in 1..<keys where keys > 1 {
                Defaults("domain", in: bench.store).set(number, forKey: "key\(number)")
            }
            try Defaults("domain", in: bench.store).flush()
            let words = ["-f", WorkerProcess.program, bench.place, "write", "domain", "key", "77"]
            let trace = try Subprocess.run("strace", words).errorText.split(separator: "\n")
            let begin = try #require(trace.firstIndex { $0.contains("/beginning-of-the-write") })
            let end = try #require(trace.firstIndex { $0.contains("/end-of-the-write") })
            // The memory that the process asks for depends on where the kernel places it.
            let calls = trace[(begin + 1)..<end].filter { Self.name(of: $0) != "brk" }
            #expect(try bench.value("key", "domain") == 77)
            // Of these, 20 protect against losses and leftovers: the lock of the store, a search for temporary files of
            // writers that died, a comparison with the newest version, its renaming, and, for root, the owners.
            // A larger file takes memory and is written in parts.
            #expect(calls.count <= (keys == 1 ? 61 : 69), "\(calls.joined(separator: "\n"))")
            // A command that watches nothing has neither a notification queue nor a thread for it.
            let names = Set(trace.map(Self.name))
            #expect(names.isDisjoint(with: ["inotify_init", "inotify_init1", "clone", "clone3", "fork", "vfork"]))
            let syncs = calls.count { ["sync", "fsync", "fdatasync", "syncfs"].contains(Self.name(of: $0)) }
            #expect(syncs <= 2)
            print("one write among \(keys) keys: \(calls.count) calls, \(syncs) syncs")
        }

        /// Returns the name of the call that a line of a trace shows. Its arguments can contain any text.
        private static func name(of line: Substring) -> Substring {
            let call = line.hasPrefix("[pid") ? line.drop { $0 != "]" }.dropFirst(2) : line
            return call.prefix { $0 != "(" }
        }
    }
}
