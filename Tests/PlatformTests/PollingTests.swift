import Platform
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

@Suite struct `Polling` {
    /// The intervals between checks of an unchanged folder, in milliseconds.
    static func intervals(_ machine: SimulatedMachine, _ count: Int) -> [Int64] {
        (0..<count).map { _ in
            guard let next = machine.clock.nextWakeup else { return -1 }
            let interval = machine.clock.now.duration(to: next)
            machine.clock.advance(by: interval)
            return interval.nanoseconds / 1_000_000
        }
    }

    @Test func `becomes less frequent while nothing changes, and frequent again after a change`() throws {
        let machine = try SimulatedMachine()
        let log = EventLog()
        let watch = PollingWatcher(machine.fileSystem, machine.clock, reason: .remoteFileSystem).watch(
            SimulatedMachine.home
        ) { log.add($0) }
        #expect(watch.method == .polling(.remoteFileSystem))
        #expect(Self.intervals(machine, 11) == [50, 80, 128, 204, 327, 524, 838, 1342, 2000, 2000, 2000])
        try machine.fileSystem.replace("/home/ada/file", with: "1")
        #expect(Self.intervals(machine, 3) == [2000, 50, 80])
        #expect(log.events == [.change(.created, "file")])
        watch.cancel()
        #expect(machine.clock.nextWakeup == nil)
    }

    @Test func `reads the folder and notifies in the background`() throws {
        let machine = try SimulatedMachine()
        let log = EventLog()
        let waiting = Mutex<[@Sendable () -> Void]>([])
        let watcher = PollingWatcher(
            machine.fileSystem, machine.clock, reason: .remoteFileSystem,
            background: { work in waiting.withLock { $0.append(work) } })
        let watch = watcher.watch(SimulatedMachine.home) { log.add($0) }
        try machine.fileSystem.replace("/home/ada/file", with: "1")
        #expect(Self.intervals(machine, 2) == [50, -1])
        #expect(log.events.isEmpty)
        for work in waiting.withLock({ $0 }) { work() }
        #expect(log.events == [.change(.created, "file")])
        #expect(Self.intervals(machine, 1) == [50])
        watch.cancel()
    }

    @Test func `ends when its owner is released`() throws {
        let machine = try SimulatedMachine()
        var watch: (any FolderWatch)? =
            PollingWatcher(machine.fileSystem, machine.clock, reason: .remoteFileSystem).watch(SimulatedMachine.home) {
                _ in
            }
        #expect(watch != nil)
        watch = nil
        #expect(machine.clock.nextWakeup == nil)
    }

    @Test func `after a failed read reports that anything may have changed`() throws {
        let machine = try SimulatedMachine()
        let log = EventLog()
        let watch = PollingWatcher(machine.fileSystem, machine.clock, reason: .remoteFileSystem).watch(
            SimulatedMachine.home
        ) { log.add($0) }
        machine.fileSystem.setFaults(FaultPlan([Fault(.fail(.inputOutput), .once(1), of: .list)]))
        _ = Self.intervals(machine, 1)
        #expect(log.events.isEmpty)
        _ = Self.intervals(machine, 1)
        #expect(log.events == [.anything])
        watch.cancel()
    }
}

/// The faults of a simulated watcher.
@Suite struct `A simulated watch` {
    static func watched(
        _ change: (inout SimulatedFolderWatcher.Manner) -> Void
    ) throws -> (SimulatedMachine, EventLog, any FolderWatch) {
        let machine = try SimulatedMachine()
        change(&machine.watcher.manner)
        let log = EventLog()
        return (machine, log, machine.watcher.watch(SimulatedMachine.home) { log.add($0) })
    }

    @Test func `reports before the operation returns`() throws {
        let (machine, log, watch) = try Self.watched { _ in }
        let path: FilePath = "/home/ada/file"
        _ = try machine.fileSystem.open(path, .creating(.privateFile))
        #expect(log.events == [.change(.created, "file"), .change(.written, "file")])
        try machine.fileSystem.rename(path, to: "/home/ada/other")
        #expect(log.events.suffix(2) == [.change(.removed, "file"), .change(.movedHere, "other")])
        watch.cancel()
    }

    @Test func `reports late`() throws {
        let (machine, log, watch) = try Self.watched { $0.delivery = .after(.milliseconds(30)) }
        try machine.fileSystem.write("1", to: "/home/ada/file")
        machine.clock.advance(by: .milliseconds(29))
        #expect(log.events.isEmpty)
        machine.clock.advance(by: .milliseconds(1))
        #expect(log.events == [.change(.created, "file"), .change(.written, "file")])
        watch.cancel()
    }

    @Test func `reports equal events once, and too many as anything`() throws {
        let (machine, log, watch) = try Self.watched {
            $0.delivery = .onRequest
            $0.queueLength = 3
        }
        for _ in 0..<5 { try machine.fileSystem.write("1", to: "/home/ada/file") }
        machine.watcher.deliver()
        #expect(log.events == [.change(.created, "file"), .change(.written, "file")])
        for name: FilePath in ["/home/ada/a", "/home/ada/b"] { try machine.fileSystem.write("1", to: name) }
        machine.watcher.deliver()
        #expect(log.events.last == .anything && log.events.count == 3)
        watch.cancel()
    }

    @Test func `reports no lost events`() throws {
        let (machine, log, watch) = try Self.watched { $0.percentLost = 50 }
        for _ in 0..<100 { try machine.fileSystem.write("1", to: "/home/ada/file") }
        #expect(20..<80 ~= log.events.count)
        machine.watcher.manner.percentLost = 100
        let count = log.events.count
        try machine.fileSystem.write("1", to: "/home/ada/file")
        #expect(log.events.count == count)
        watch.cancel()
    }
}
