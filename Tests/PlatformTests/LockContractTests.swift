import Foundation
import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// Locks, with the same behavior in both file systems.
@Suite struct `A lock` {
    static let subjects = FileSystemSubject.allCases

    static func openings(_ bench: Bench, _ count: Int) throws -> [any OpenFile] {
        try (0..<count).map { _ in try present(bench.fileSystem.open(bench.path("lock"), .creating(.privateFile))) }
    }

    @Test(arguments: subjects) func `excludes other openings of the file`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let files = try Self.openings(bench, 2)
        #expect(try files[0].lock(.exclusive, patience: .zero))
        #expect(try !files[1].lock(.exclusive, patience: .zero))
        #expect(try !files[1].lock(.shared, patience: .zero))
        files[0].unlock()
        #expect(try files[1].lock(.exclusive, patience: .zero))
        files[1].unlock()
    }

    @Test(arguments: subjects) func `that is shared excludes only exclusive ones`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let files = try Self.openings(bench, 3)
        #expect(try files[0].lock(.shared, patience: .zero))
        #expect(try files[1].lock(.shared, patience: .zero))
        #expect(try !files[2].lock(.exclusive, patience: .zero))
        files[0].unlock()
        #expect(try !files[2].lock(.exclusive, patience: .zero))
        files[1].unlock()
        #expect(try files[2].lock(.exclusive, patience: .zero))
        files[2].unlock()
    }

    @Test(arguments: subjects) func `ends with the opening`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        var files = try Self.openings(bench, 2)
        #expect(try files[0].lock(.exclusive, patience: .zero))
        files.removeFirst()
        #expect(try files[0].lock(.exclusive, patience: .zero))
        files[0].unlock()
    }

    @Test(arguments: subjects) func `that stays busy times out`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let files = try Self.openings(bench, 3)
        #expect(try files[0].lock(.exclusive, patience: .zero))
        for _ in 0..<5 { #expect(try !files[1].lock(.exclusive, patience: .milliseconds(10))) }
        files[0].unlock()
        // The process that gave up must not hold the lock.
        #expect(try files[2].lock(.exclusive, patience: .seconds(30)))
        #expect(try !files[1].lock(.exclusive, patience: .zero))
        files[2].unlock()
    }

    @Test(arguments: subjects) func `is that of the file at the path`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let path = bench.path("lock")
        guard case .absent = try bench.fileSystem.openLocked(path, .writing, .exclusive) else {
            Issue.record("there is no such file")
            return
        }
        let holder = try Self.openings(bench, 1)[0]
        #expect(try holder.lock(.exclusive, patience: .zero))
        guard case .busy = try bench.fileSystem.openLocked(path, .writing, .exclusive) else {
            Issue.record("the lock is held")
            return
        }
        try bench.fileSystem.replace(path, with: "another file")
        guard case .locked(let file) = try bench.fileSystem.openLocked(path, .writing, .exclusive)
        else {
            Issue.record("the new file's lock is free")
            return
        }
        #expect(try file.contents() == Array("another file".utf8))
        file.unlock()
        holder.unlock()
    }
}

/// Locks of the real file system between threads and processes.
@Suite struct `A lock of the system` {
    @Test func `takes over an abandoned wait`() throws {
        let bench = try FileSystemSubject.real.make()
        let files = try `A lock`.openings(bench, 4)
        #expect(try files[0].lock(.exclusive, patience: .zero))
        #expect(try !files[1].lock(.exclusive, patience: .milliseconds(1)))
        let isLocked = Gate()
        let waiter = files[2]
        Thread.detachNewThread {
            if (try? waiter.lock(.exclusive, patience: .seconds(60))) == true { isLocked.open() }
        }
        files[0].unlock()
        #expect(isLocked.wait(until: deadline()))
        #expect(try !files[3].lock(.exclusive, patience: .zero))
        files[2].unlock()
        #expect(try files[3].lock(.exclusive, patience: .seconds(60)))
        files[3].unlock()
    }

    @Test func `waits for the given time`() throws {
        let bench = try FileSystemSubject.real.make()
        let files = try `A lock`.openings(bench, 2)
        #expect(try files[0].lock(.exclusive, patience: .zero))
        let clock = SystemClock()
        let start = clock.now
        #expect(try !files[1].lock(.exclusive, patience: .milliseconds(50)))
        #expect(start.duration(to: clock.now) >= .milliseconds(50))
        files[0].unlock()
    }

    @Test(.enabled(if: Tool.isExpected("python3"), "\(Tool.absence(of: "python3"))"))
    func `of another process lasts until that ends`() throws {
        let bench = try FileSystemSubject.real.make()
        let file = try `A lock`.openings(bench, 1)[0]
        let holder = try LockHolder(bench.path("lock"))
        #expect(try !file.lock(.exclusive, patience: .zero))
        #expect(try !file.lock(.exclusive, patience: .milliseconds(20)))
        holder.kill()
        #expect(try file.lock(.exclusive, patience: .seconds(60)))
        file.unlock()
    }

    @Test func `is acquired by each of many threads, one at a time`() throws {
        let bench = try FileSystemSubject.real.make()
        try bench.write("0", to: "count")
        let group = DispatchGroup()
        for file in try `A lock`.openings(bench, 8) {
            let thread = Thread {
                for _ in 0..<20 where (try? file.lock(.exclusive, patience: .seconds(60))) == true {
                    if let count = try? bench.text("count").flatMap({ Int($0) }) {
                        try? bench.fileSystem.replace(bench.path("count"), with: String(count + 1))
                    }
                    file.unlock()
                }
                group.leave()
            }
            group.enter()
            thread.start()
        }
        #expect(group.wait(timeout: .now() + 60) == .success)
        #expect(try bench.text("count") == "160")
    }
}

/// Another process that holds a lock until it is killed.
private final class LockHolder {
    private let process = Process()
    private let input = Pipe()

    init(_ path: FilePath) throws {
        let output = Pipe()
        process.executableURL = Tool.path(of: "python3").map { URL(filePath: $0) }
        process.arguments = [
            "-c",
            """
            import fcntl, sys
            file = open(sys.argv[1], "r+")
            fcntl.flock(file, fcntl.LOCK_EX)
            print("locked", flush=True)
            sys.stdin.read()
            """, path.description,
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // Returns as soon as there is anything to read.
        #expect(String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).hasPrefix("locked"))
    }

    func kill() {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit { if process.isRunning { kill() } }
}

/// The time limit for events that should have occurred long before.
func deadline() -> Instant { SystemClock().now.advanced(by: .seconds(60)) }
