import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

extension ResettableEvent {
    fileprivate var hasRung: Bool { next.wait(until: Instant(nanoseconds: 0)) }
}

/// A mirror that is kept up to date, on a simulated clock.
@Suite struct `A watched mirror` {
    /// Runs services on the simulated clock. Each has a turn when it is notified of a change or its wait ends.
    final class Watching {
        private var services: [MirrorService] = []
        private var next: [Instant] = []
        private let bells: [ResettableEvent]
        private let disk: SimulatedDisk
        private(set) var turns = 0
        private(set) var reports: [Report] = []
        private(set) var troubles: [String] = []

        init(_ hosts: [MirrorHost], bytesOfWriter: Int? = nil) throws {
            disk = hosts[0].disk
            bells = hosts.map { _ in ResettableEvent() }
            for (host, bell) in zip(hosts, bells) {
                var session = try host.session()
                if let bytesOfWriter {
                    // The limits are those of the loaded state.
                    try session.sync { [disk] in disk.clock.advance(by: $0) }
                    session.engine.limits.bytesOfWriter = bytesOfWriter
                }
                services.append(MirrorService(session, isEager: false) { bell.ring() })
                next.append(disk.clock.now)
            }
        }

        /// Advances the clock, in steps of at most a few milliseconds while something is due.
        func pass(_ duration: Duration) {
            let end = disk.clock.now.advanced(by: duration)
            while disk.clock.now < end {
                for index in services.indices where take(index) || next[index] <= disk.clock.now {
                    let turn = services[index].turn()
                    next[index] = turn.next
                    reports += turn.reports
                    troubles += turn.troubles
                    turns += 1
                }
                if bells.contains(where: \.hasRung) {
                    disk.clock.advance(by: .milliseconds(1))
                    continue
                }
                let due = min(end, next.min() ?? end)
                let step = disk.clock.now.duration(to: due)
                disk.clock.advance(by: max(step, .milliseconds(1)))
            }
        }

        private func take(_ index: Int) -> Bool {
            defer { bells[index].reset() }
            return bells[index].hasRung
        }
    }

    @Test func `brings a change to the other host within a tenth of a second`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let watching = try Watching(hosts)
        watching.pass(.seconds(90))
        for round in 1...20 {
            let value = PropertyList.integer(PropertyList.Integer(round))
            try hosts[round % 2].again().write("key", value)
            watching.pass(.milliseconds(100))
            for host in hosts { #expect(try host.values()["key"] == value, "round \(round)") }
            watching.pass(.seconds(round.isMultiple(of: 5) ? 70 : 1))
        }
    }

    /// If there is no room for a log, a base publishes the change. Other hosts notice it, and bases are not written
    /// more often than logs.
    @Test func `brings a change that is first published in a base`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let watching = try Watching(hosts, bytesOfWriter: 3000)
        watching.pass(.seconds(90))
        for round in 1...10 {
            for text in [String(repeating: "x", count: 5000), "\(round)"] {
                try hosts[0].write("key", .string(text))
                watching.pass(.milliseconds(5))
            }
        }
        #expect(try bench.directoryContents().keys.count { $0.hasSuffix(".base") } <= 3)
        watching.pass(.seconds(2))
        #expect(try hosts[1].values()["key"] == "10")
    }

    @Test func `does not announce the directory again after another program changed the state`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let watching = try Watching([hosts[0]])
        watching.pass(.seconds(90))
        for value in 1...3 {
            try hosts[0].again().write("key", .integer(PropertyList.Integer(value)))
            try hosts[0].again().sync()
            watching.pass(.seconds(90))
        }
        #expect(watching.reports.count { $0 == .directory(.present) } == 1, "\(watching.reports)")
    }

    /// A program that reads the status checks for a moment whether the lock is free.
    @Test(arguments: [true, false])
    func `waits for a program that holds its lock for a moment`(isReleased: Bool) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let session = try hosts[0].session()
        let holder = try bench.disk.process(user: 1000)
            .openLocked(session.folder.appending("watch"), .creating(.privateFile), .exclusive)
        guard case .locked(let lock) = holder else { return #expect(Bool(false)) }
        hosts[0].fileSystem.whenBusy { if isReleased { lock.unlock() } }
        var service = MirrorService(session, isEager: false) {}
        #expect(try service.claim() == isReleased)
    }

    @Test func `finds a change without a notification`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let watching = try Watching([hosts[1]])
        watching.pass(.seconds(300))
        (hosts[1].system.watcher as? SimulatedFolderWatcher)?.manner.percentLost = 100
        try hosts[0].write("key", 1)
        try hosts[0].sync()
        watching.pass(.seconds(73))
        #expect(try hosts[1].values() == ["key": 1])
    }

    @Test func `without kernel notifications checks every ten seconds, and no watch polls`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let looks = bench.disk.process(user: 1000)
        let watcher = PollingWatcher(looks, bench.disk.clock, reason: .remoteFileSystem)
        let watching = try Watching([MirrorHost("b", on: bench.disk, watcher: watcher)])
        watching.pass(.seconds(60))
        func count() -> Int {
            looks.operations.count { $0.path?.description.hasPrefix(MirrorBench.directory.description) ?? false }
        }
        let (before, turns) = (count(), watching.turns)
        watching.pass(.seconds(600))
        #expect(count() == before)
        #expect((50...76).contains(watching.turns - turns), "\(watching.turns - turns)")
        try hosts[0].write("key", 1)
        try hosts[0].sync()
        watching.pass(.seconds(13))
        #expect(try hosts[1].values() == ["key": 1])
    }

    @Test func `writes nothing for an hour in which nothing happens`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        let watching = try Watching(hosts)
        watching.pass(.seconds(120))
        let counts = hosts.map(\.fileSystem.operations.count)
        let (before, turns) = (try bench.directoryContents(), watching.turns)
        watching.pass(.seconds(3600))
        for (host, count) in zip(hosts, counts) {
            let written = host.fileSystem.operations.dropFirst(count).filter(\.isWriting)
            #expect(written.isEmpty, "\(written.prefix(5))")
        }
        #expect(try bench.directoryContents() == before)
        // Each is polled once a minute, give or take a fifth.
        #expect((2 * 45...2 * 80).contains(watching.turns - turns), "\(watching.turns - turns)")
    }

    @Test func `is notified of a file to which a domain's is linked`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let (files, link) = (hosts[0].fileSystem, hosts[0].file("com.example.a").path)
        let target: FilePath = "/home/ada/dotfiles/settings"
        try hosts[0].write("key", 1)
        try files.makeFolders(target.parent)
        try files.rename(link, to: target)
        try files.makeSymbolicLink(link, to: "/home/ada/dotfiles/settings")
        let watching = try Watching(hosts)
        watching.pass(.seconds(200))
        try files.replace(target, with: try hosts[0].file("com.example.a").serialized(["key": 2], as: .xml))
        watching.pass(.seconds(2))
        #expect(try hosts[1].values() == ["key": 2])
    }

    @Test func `reads a file that stays damaged less and less often`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let writer = try hosts[0].sync().writer
        let name = PackName(kind: .log, number: 9, hash: ContentHash(of: [1]))
        let place = MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)/\(name)")))
        try hosts[0].fileSystem.makeFolders(place.parent)
        try hosts[0].fileSystem.replace(place, with: [1, 2, 3])
        var session = try hosts[1].session()
        for _ in 0..<300 {
            try session.sync { bench.disk.clock.advance(by: $0) }
            bench.disk.clock.advance(by: .seconds(1))
        }
        let reads = hosts[1].fileSystem.operations.count { $0.operation == .open && $0.path == place }
        #expect((2...25).contains(reads), "\(reads)")
        try hosts[0].fileSystem.replace(place, with: [1, 2, 3, 4])
        try session.sync { bench.disk.clock.advance(by: $0) }
        let readsOfNew = hosts[1].fileSystem.operations.count { $0.operation == .open && $0.path == place }
        #expect(readsOfNew == reads + 1, "a file that has grown may be complete")
    }

    @Test func `publishes a stream in few files`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let watching = try Watching(hosts)
        watching.pass(.seconds(90))
        let before = try bench.directoryContents().count
        for number in 1...60 {
            try hosts[0].write("key", .integer(PropertyList.Integer(number)))
            watching.pass(.milliseconds(10))
        }
        watching.pass(.seconds(2))
        #expect(try hosts[1].values() == ["key": 60])
        #expect((2...15).contains(try bench.directoryContents().count - before))
    }

    @Test func `over a directory that cannot be written polls less and less often, and reports it once`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try bench.comeToRest(hosts)
        let writer = try hosts[1].sync().writer
        let folders = try ["", "/l"].map {
            MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)\($0)")))
        }
        try bench.disk.process(user: 1000).makeFolders(folders[1])
        for folder in folders { try bench.setPermissions(0o555, of: folder) }
        let watching = try Watching([hosts[1]])
        try hosts[1].again().write("key", 1)
        watching.pass(.seconds(600))
        #expect((5...60).contains(watching.turns), "\(watching.turns)")
        #expect(watching.reports.count { $0 == .waiting(.permission) } == 1)
        #expect(watching.troubles.count == 1, "\(watching.troubles)")
        for folder in folders { try bench.setPermissions(0o755, of: folder) }
        watching.pass(.seconds(75))
        try hosts[0].sync()
        #expect(try hosts[0].values() == ["key": 1])
    }

    @Test func `is not kept busy by a watcher that constantly reports that anything may have changed`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        let watcher = try #require(hosts[1].system.watcher as? SimulatedFolderWatcher)
        watcher.manner.queueLength = 0
        let watching = try Watching([hosts[1]])
        watching.pass(.seconds(100))
        func count() -> Int {
            hosts[1].fileSystem.operations.count { $0.operation == .list && $0.path == MirrorBench.directory }
        }
        let before = count()
        let noise = bench.disk.process(user: 1000)
        let places = [hosts[1].file("com.example.a").path.parent, MirrorBench.directory]
        for _ in 0..<50 {
            for place in places { try noise.replace(place.appending("~noise.tmp"), with: [1]) }
            watching.pass(.milliseconds(100))
        }
        #expect((4...12).contains(count() - before), "\(count() - before)")
    }
}
