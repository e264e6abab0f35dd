import Foundation
import Platform
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

/// The watchers that have the same contract.
enum WatcherSubject: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case notified, polling, simulated, pollingSimulated

    var testDescription: String { rawValue }

    /// A watcher, its files, and a way to let time pass.
    func make() throws -> (bench: Bench, watcher: any FolderWatcher, pass: @Sendable () -> Void) {
        switch self {
        case .notified: return (try FileSystemSubject.real.make(), SystemFolderWatcher(), {})
        case .polling:
            let watcher = PollingWatcher(SystemFileSystem(), SystemClock(), reason: .remoteFileSystem)
            return (try FileSystemSubject.real.make(), watcher, {})
        case .simulated, .pollingSimulated:
            let machine = try SimulatedMachine()
            let bench = Bench(machine.fileSystem, SimulatedMachine.home, keeping: machine.watcher)
            let polling = PollingWatcher(machine.fileSystem, machine.clock, reason: .remoteFileSystem)
            return (bench, self == .simulated ? machine.watcher : polling, { machine.clock.advance(by: .seconds(2)) })
        }
    }
}

/// The events of a watch so far.
final class EventLog: Sendable {
    private let state = Mutex<(events: [FolderEvent], awaited: [(@Sendable ([FolderEvent]) -> Bool, Gate)])>(([], []))

    var events: [FolderEvent] { state.withLock(\.events) }

    func add(_ event: FolderEvent) {
        let gates = state.withLock { state in
            state.events.append(event)
            return state.awaited.filter { $0.0(state.events) }.map(\.1)
        }
        for gate in gates { gate.open() }
    }

    /// Waits until the events satisfy a condition. Returns false after the time limit.
    func comesToHold(_ condition: @escaping @Sendable ([FolderEvent]) -> Bool) -> Bool {
        let gate = Gate()
        state.withLock { state in
            state.awaited.append((condition, gate))
            if condition(state.events) { gate.open() }
        }
        return gate.wait(until: deadline())
    }

    /// Waits for an event with the name, and returns whether there was one.
    func tells(of name: FileName) -> Bool {
        comesToHold { $0.contains { if case .change(_, name) = $0 { true } else { false } } }
    }
}

extension EventLog {
    /// Writes a file repeatedly until an event has its name. While a watch is being set up, it reports `anything`.
    fileprivate func comesToTell(of name: FileName, in folder: FilePath) -> Bool {
        (1...100).contains { number in
            let count = events.count
            _ = try? SystemFileSystem().replace(folder.appending(name), with: String(repeating: "x", count: number))
            return comesToHold { $0.count > count } && events.contains(.change(.movedHere, name))
        }
    }
}

@Suite struct `A watch` {
    static let subjects = WatcherSubject.allCases

    @Test(arguments: subjects) func `reports what happens to a name`(_ subject: WatcherSubject) throws {
        let (bench, watcher, pass) = try subject.make()
        let rows: [(fact: String, name: FileName, body: () throws -> Void)] = [
            ("created", "a", { try bench.write("1", to: "a") }),
            ("renamed into place", "b", { try bench.fileSystem.replace(bench.path("b"), with: "1") }),
            ("written in place", "a", { try bench.write("12", to: "a") }),
            ("replaced", "b", { try bench.fileSystem.replace(bench.path("b"), with: "2") }),
            ("linked", "c", { try bench.fileSystem.link(bench.path("a"), to: bench.path("c")) }),
            (
                "permissions", "c",
                { try present(bench.fileSystem.open(bench.path("c"), .reading)).setPermissions([]) }
            ),
            ("removed", "a", { try bench.fileSystem.remove(bench.path("a")) }),
        ]
        for row in rows {
            let log = EventLog()
            let watch = watcher.watch(bench.folder) { log.add($0) }
            try row.body()
            pass()
            #expect(log.tells(of: row.name), "\(row.fact)")
            #expect(!log.events.contains(.anything), "\(row.fact)")
            watch.cancel()
        }
    }

    @Test(arguments: subjects) func `reports that a file was renamed to a name`(_ subject: WatcherSubject) throws {
        let (bench, watcher, pass) = try subject.make()
        try bench.write("1", to: "file")
        let log = EventLog()
        let watch = watcher.watch(bench.folder) { log.add($0) }
        try bench.fileSystem.replace(bench.path("file"), with: "2")
        pass()
        #expect(log.comesToHold { $0.contains(.change(.movedHere, "file")) })
        watch.cancel()
    }

    @Test(arguments: subjects) func `of a folder that is created later reports once it exists`(
        _ subject: WatcherSubject
    )
        throws
    {
        let (bench, watcher, pass) = try subject.make()
        let folder = bench.path("a").appending("b")
        let log = EventLog()
        let watch = watcher.watch(folder) { log.add($0) }
        try bench.fileSystem.makeFolders(folder)
        pass()
        #expect(log.comesToHold { $0.contains(.anything) })
        // Later changes may be reported only after several checks.
        let isTold = (0..<100).contains { number in
            _ = try? bench.fileSystem.replace(folder.appending("file"), with: String(repeating: "x", count: number))
            pass()
            return log.comesToHold { $0.contains { $0 != .anything } || $0.count > number + 1 }
                && log.events.contains { $0 != .anything }
        }
        #expect(isTold)
        watch.cancel()
    }

    @Test(arguments: subjects) func `of a folder that is removed and created again reports both`(
        _ subject: WatcherSubject
    ) throws {
        let (bench, watcher, pass) = try subject.make()
        let folder = bench.path("folder")
        try bench.fileSystem.makeFolders(folder)
        let log = EventLog()
        let watch = watcher.watch(folder) { log.add($0) }
        try bench.fileSystem.rename(folder, to: bench.path("elsewhere"))
        pass()
        #expect(log.comesToHold { $0.contains(.anything) })
        let count = log.events.count
        try bench.fileSystem.makeFolders(folder)
        try bench.fileSystem.replace(folder.appending("file"), with: "1")
        pass()
        #expect(log.comesToHold { $0.count > count })
        watch.cancel()
    }

    @Test(arguments: subjects) func `reports nothing after it is cancelled, and nothing in other folders`(
        _ subject: WatcherSubject
    ) throws {
        let (bench, watcher, pass) = try subject.make()
        try bench.fileSystem.makeFolders(bench.path("other"))
        let (cancelled, elsewhere, fence) = (EventLog(), EventLog(), EventLog())
        let watches = [
            watcher.watch(bench.folder) { cancelled.add($0) },
            watcher.watch(bench.path("other")) { elsewhere.add($0) },
            watcher.watch(bench.folder) { fence.add($0) },
        ]
        watches[0].cancel()
        try bench.fileSystem.replace(bench.path("file"), with: "1")
        pass()
        #expect(fence.tells(of: "file"))
        #expect(cancelled.events.isEmpty)
        #expect(elsewhere.events.isEmpty)
        for watch in watches { watch.cancel() }
    }
}

/// Behavior of the watcher that uses the kernel's notifications.
@Suite(.serialized) struct `A kernel watch` {
    @Test func `uses notifications`() throws {
        let bench = try FileSystemSubject.real.make()
        let watch = SystemFolderWatcher().watch(bench.folder) { _ in }
        #expect(watch.method == .notification)
        watch.cancel()
    }

    /// A mount over a folder causes no event in the folder.
    @Test(arguments: ["", "/a/b"]) func `follows a mount over its folder, and back`(_ below: String) throws {
        let place = try TemporaryFolder()
        let folder = try present(FilePath(place.url.path(percentEncoded: false) + below))
        let files = SystemFileSystem()
        let log = EventLog()
        let watch = SystemFolderWatcher().watch(folder) { log.add($0) }
        var mount = try Mount.make(size: 1 << 20, over: place)
        guard mount != nil else { try Test.cancel("no privilege to mount") }
        if below.isEmpty { #expect(log.comesToHold { $0 == [.anything] }) }
        try files.makeFolders(folder)
        #expect(log.comesToHold { $0.contains(.anything) })
        #expect(log.comesToTell(of: "file", in: folder))
        let count = log.events.count
        mount = nil
        #expect(log.comesToHold { $0.dropFirst(count).contains(.anything) })
        try files.makeFolders(folder)
        #expect(log.comesToTell(of: "other", in: folder))
        watch.cancel()
    }

    /// This causes no event in the folder itself.
    @Test func `follows its path when a folder above it is replaced`() throws {
        let bench = try FileSystemSubject.real.make()
        let folder = bench.path("a").appending("b")
        try bench.fileSystem.makeFolders(folder)
        let (clock, log) = (SimulatedClock(), EventLog())
        let watch = SystemFolderWatcher(bench.fileSystem, clock, background: { $0() }).watch(folder) { log.add($0) }
        try bench.fileSystem.rename(bench.path("a"), to: bench.path("former"))
        try bench.fileSystem.makeFolders(folder)
        clock.advance(by: .seconds(3))
        #expect(log.comesToHold { $0.contains(.anything) })
        #expect(log.comesToTell(of: "file", in: folder))
        watch.cancel()
    }

    @Test func `follows its path when a link on it changes`() throws {
        let bench = try FileSystemSubject.real.make()
        for name in ["a", "b"] as [FileName] { try bench.fileSystem.makeFolders(bench.path(name).appending("folder")) }
        try bench.makeSymbolicLink("link", to: "a")
        let folder = bench.path("link").appending("folder")
        let (clock, log) = (SimulatedClock(), EventLog())
        let watch = SystemFolderWatcher(bench.fileSystem, clock, background: { $0() }).watch(folder) { log.add($0) }
        try bench.makeSymbolicLink("other", to: "b")
        try bench.fileSystem.rename(bench.path("other"), to: bench.path("link"))
        clock.advance(by: .seconds(3))
        #expect(log.comesToHold { $0.contains(.anything) })
        #expect(log.comesToTell(of: "file", in: folder))
        watch.cancel()
    }

    @Test func `reports that the queue was full`() throws {
        let bench = try FileSystemSubject.real.make()
        let length = try bench.fileSystem.text("/proc/sys/fs/inotify/max_queued_events")
            .flatMap { Int($0.filter(\.isNumber)) }
        let (isBusy, mayGoOn, log) = (Gate(), Gate(), EventLog())
        let watch = SystemFolderWatcher().watch(bench.folder) { event in
            isBusy.open()
            _ = mayGoOn.wait(until: deadline())
            if event == .anything { log.add(event) }
        }
        try bench.write("1", to: "a")
        #expect(isBusy.wait(until: deadline()))
        // Each rename is two events.
        for _ in 0..<(try present(length) / 4 + 100) {
            try bench.fileSystem.rename(bench.path("a"), to: bench.path("b"))
            try bench.fileSystem.rename(bench.path("b"), to: bench.path("a"))
        }
        mayGoOn.open()
        #expect(log.comesToHold { $0.contains(.anything) })
        watch.cancel()
    }
}
