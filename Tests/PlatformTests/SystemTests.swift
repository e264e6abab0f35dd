import Foundation
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

@testable import Platform

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

@Suite struct `A system call` {
    /// Runs a call that fails with each of the codes in turn, and then succeeds.
    static func result(_ codes: [Int32]) -> (Result<Int32, SystemFailure>, calls: Int) {
        var calls = 0
        let result = Result<Int32, SystemFailure> { () throws(SystemFailure) in
            try systemCall(.read, "/file") {
                calls += 1
                guard calls <= codes.count else { return 7 }
                errno = codes[calls - 1]
                return -1
            }
        }
        return (result, calls)
    }

    @Test func `that a signal interrupts is repeated`() throws {
        let (result, calls) = Self.result([EINTR, EINTR])
        #expect(try result.get() == 7)
        #expect(calls == 3)
    }

    @Test(arguments: [(ENOENT, ErrorCode.noSuchFile), (EACCES, .accessDenied), (ENOSPC, .noSpace), (EIO, .inputOutput)])
    func `that fails reports the reason`(_ number: Int32, _ code: ErrorCode) throws {
        let (result, calls) = Self.result([EINTR, number, EINTR])
        #expect(throws: SystemFailure(code, .read, "/file")) { try result.get() }
        #expect(calls == 2)
    }

    @Test func `that fails has a message in words`() {
        #expect("\(SystemFailure(.noSpace, .write, "/a/b"))" == "cannot write /a/b: No space left on device")
        #expect("\(SystemFailure(.inputOutput, .read, nil))" == "cannot read: Input/output error")
        for operation in SystemFailure.Operation.allCases {
            #expect("\(SystemFailure(.exists, operation, "/x"))".hasPrefix("cannot "))
        }
    }
}

@Suite struct `A raw terminal` {
    @Test func `reports keys first, and several wakes once`() throws {
        // On its own thread, because it blocks signals.
        let events = try SmallThread.run {
            var ends: [Int32] = [0, 0]
            #expect(pipe(&ends) == 0)
            let terminal = RawTerminal(input: ends[0])
            try terminal.listen()
            for _ in 0..<3 { terminal.wake() }
            #expect(write(ends[1], "a", 1) == 1)
            var events = [try terminal.next(milliseconds: 0)]
            for _ in 0..<2 { events.append(try terminal.next(milliseconds: 0)) }
            terminal.wake()
            return events + [try terminal.next(milliseconds: 0)]
        }
        #expect(events == [.bytes(Array("a".utf8)), .woken, .timeout, .woken])
    }
}

@Suite struct `A record of the kernel's queue` {
    /// The example of the documentation.
    static let moved: [UInt8] =
        [1, 0, 0, 0, 0x80, 0, 0, 0, 7, 0, 0, 0, 16, 0, 0, 0] + Array("a.plist".utf8) + Array(repeating: 0, count: 9)
    static let overflow: [UInt8] = [255, 255, 255, 255, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    static func events(_ bytes: [UInt8]) -> [FolderEvent?] {
        bytes.withUnsafeBytes { InotifyRecord.all(in: $0) }.map(\.event)
    }

    @Test func `is read with the name in it`() {
        #expect(Self.events(Self.moved) == [.change(.movedHere, "a.plist")])
        #expect(Self.events(Self.moved + Self.overflow + Self.moved).count == 3)
        #expect(Self.events(Self.overflow) == [.anything])
    }

    @Test func `that is truncated is ignored`() {
        for count in 0..<Self.moved.count { #expect(Self.events(Array(Self.moved.prefix(count))).isEmpty) }
    }
}

/// Returns a file system of 64 KiB, if this process may mount one.
@Suite struct `A disk that is full` {
    @Test(.enabled(if: geteuid() == 0, "mounting needs privilege"))
    func `leaves the old file and takes the next one that fits`() throws {
        let mount = try TemporaryFolder()
        let path = mount.url.path
        // In a container, root may lack the permission to mount.
        guard try Subprocess.run("mount", ["-t", "tmpfs", "-o", "size=65536", "tmpfs", path]).status == 0 else {
            try Test.cancel("no privilege to mount")
        }
        defer { _ = try? Subprocess.run("umount", [path]) }
        let files = SystemFileSystem()
        let file = try present(FilePath(path)).appending("file")
        try files.replace(file, with: "old")
        let tooMuch = String(repeating: "x", count: 100_000)
        #expect(failure { try files.replace(file, with: tooMuch) } == .noSpace)
        #expect(try files.text(file) == "old")
        #expect(try files.names(in: file.parent) == ["file"])
        try files.replace(file, with: "new")
        #expect(try files.text(file) == "new")
    }
}

/// Sets the user of this thread for file access. Swift's Glibc module lacks this function.
@_silgen_name("setfsuid") private func setFileSystemUser(_ user: UInt32) -> Int32

/// Runs `body` as an unprivileged user, because root can access every file.
private func withoutPrivilege<Result>(_ body: () -> Result) -> Result {
    // Only this thread changes its user for file access, and only while the body runs.
    let isRoot = geteuid() == 0
    if isRoot { _ = setFileSystemUser(65_534) }
    defer { if isRoot { _ = setFileSystemUser(0) } }
    return body()
}

@Suite struct `Access to a file` {
    @Test func `that is denied is an error, not a missing file`() throws {
        let bench = try FileSystemSubject.real.make()
        try bench.write("secret", to: "file")
        try present(bench.fileSystem.open(bench.path("file"), .writing)).setPermissions([])
        let found = withoutPrivilege { failure { _ = try bench.fileSystem.contents(of: bench.path("file")) } }
        #expect(found == .accessDenied)
    }

    @Test func `that is a FIFO does not wait`() throws {
        let bench = try FileSystemSubject.real.make()
        #expect(mkfifo(bench.path("fifo").description, 0o600) == 0)
        #expect(try bench.fileSystem.status(of: bench.path("fifo"))?.kind == .pipe)
        #expect(failure { _ = try bench.fileSystem.contents(of: bench.path("fifo")) } == .invalidArgument)
    }
}

@Suite struct `A clock` {
    static let subjects = ["system", "simulated"]

    static func make(_ name: String) -> any Clock { name == "system" ? SystemClock() : SimulatedClock() }

    @Test(arguments: subjects) func `runs forward, and its tick follows it`(_ name: String) {
        let clock = Self.make(name)
        let (first, second) = (clock.now, clock.now)
        #expect(first <= second)
        #expect(clock.tick <= clock.now)
        #expect(clock.tick.duration(to: clock.now) < .seconds(30))
    }

    @Test(arguments: subjects) func `makes calls in the order of their times`(_ name: String) {
        let clock = Self.make(name)
        let calls = Mutex<[Int]>([])
        let (last, now) = (Gate(), clock.now)
        let cancelled = clock.wake(at: now.advanced(by: .milliseconds(29))) { calls.withLock { $0.append(0) } }
        cancelled.cancel()
        let wakeups = [30, 10, 20].map { delay in
            clock.wake(at: now.advanced(by: .milliseconds(delay))) {
                calls.withLock { $0.append(delay) }
                if delay == 30 { last.open() }
            }
        }
        (clock as? SimulatedClock)?.advance(by: .milliseconds(30))
        #expect(last.wait(until: deadline()))
        #expect(calls.withLock(\.self) == [10, 20, 30])
        #expect(now.duration(to: clock.now) >= .milliseconds(30))
        #expect(wakeups.count == 3)
    }

    @Test func `of the system lets a task sleep, and wakes it when it is cancelled`() async throws {
        let clock = SystemClock()
        let until = clock.now.advanced(by: .milliseconds(5))
        try await clock.wait(until: until)
        #expect(clock.now >= until)
        let sleeper = Task { try await clock.wait(until: .never) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func `that is simulated can be set`() {
        let clock = SimulatedClock(wall: Timestamp(seconds: 10, nanoseconds: 0))
        clock.advance(by: .seconds(5))
        #expect(clock.wall == Timestamp(seconds: 15, nanoseconds: 0))
        clock.setWall(Timestamp(seconds: -1, nanoseconds: 0))
        clock.advance(by: .seconds(2))
        #expect(clock.wall == Timestamp(seconds: 1, nanoseconds: 0))
        #expect(clock.wall.date == Date(timeIntervalSince1970: 1))
    }

    @Test func `prints a time in an unambiguous format`() {
        #expect("\(Timestamp(seconds: 1_500_000_000, nanoseconds: 0))" == "2017-07-14T02:40:00Z")
        #expect("\(Timestamp(seconds: -1, nanoseconds: 0))" == "1969-12-31T23:59:59Z")
    }

    @Test func `gives the nearest time that can be represented`() {
        #expect(Timestamp(seconds: .max, nanoseconds: 0).nanoseconds == .max)
        #expect(Timestamp(seconds: .min, nanoseconds: 0).nanoseconds == .min)
        #expect(Instant(nanoseconds: 5).advanced(by: .seconds(Int64.max)) == .never)
    }
}
