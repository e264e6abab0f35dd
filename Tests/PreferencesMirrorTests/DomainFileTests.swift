import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// Changes that programs make to a domain's file, and how the mirror reacts.
@Suite struct `A domain's file` {
    struct Loss: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let held: HoldReason?
        let happen: @Sendable (MirrorHost) throws -> Void
    }

    static let many = PropertyList.Dictionary((0..<30).map { ("key\($0)", .integer(PropertyList.Integer($0))) })

    static let losses: [Loss] = [
        Loss(testDescription: "removed", held: .missing) { host in
            try host.fileSystem.remove(host.file("com.example.a").path)
        },
        Loss(testDescription: "deleted by us", held: nil) { host in
            try DomainWriter(host.system, WriteAuthor(.delete, by: host.system)).commit([
                DomainEdit(host.file("com.example.a")) { $0.removesFile = true }
            ])
        },
        Loss(testDescription: "emptied", held: .empty) { host in
            try host.fileSystem.replace(host.file("com.example.a").path, with: [])
        },
        Loss(testDescription: "no property list", held: .unreadable) { host in
            try host.fileSystem.replace(host.file("com.example.a").path, with: Array("<plist".utf8))
        },
        Loss(testDescription: "without most of its keys", held: .emptied) { try $0.scribble(["key1": 1]) },
        Loss(testDescription: "without most of its keys by us", held: nil) { host in
            try DomainWriter(host.system, WriteAuthor(.write, by: host.system)).commit([
                DomainEdit(host.file("com.example.a")) { $0.values = ["key1": 1] }
            ])
        },
    ]

    @Test(arguments: losses) func `that is unexpectedly replaced is held until the user decides`(_ loss: Loss) throws {
        for takesFile in [true, false] {
            let bench = try MirrorBench()
            let hosts = try bench.hosts("a", "b")
            try hosts[0].scribble(Self.many)
            try bench.comeToRest(hosts)
            try loss.happen(hosts[0])
            bench.disk.clock.advance(by: .seconds(1))
            try bench.comeToRest(hosts)
            var session = try hosts[0].session()
            #expect(try session.status().held.map(\.reason) == (loss.held.map { [$0] } ?? []))
            guard loss.held != nil else {
                #expect(try hosts[1].values() == hosts[0].values())
                return
            }
            #expect(try hosts[1].values() == Self.many)
            // Meanwhile another host writes, and the mirror applies none of it here.
            try hosts[1].write("key2", "new")
            try bench.comeToRest(hosts)
            #expect(try session.status().condition == .halted)
            // The command does not accept an unreadable file.
            if loss.held == .unreadable, takesFile { continue }
            bench.disk.clock.advance(by: .seconds(1))
            try session.carryOut(.release(domain: "com.example.a", takesFile: takesFile)) {
                bench.disk.clock.advance(by: $0)
            }
            try bench.comeToRest(hosts)
            #expect(try session.status().held.isEmpty)
            let others = try hosts[1].values()
            guard loss.held != .empty || !takesFile else {
                #expect(others == [:])
                continue
            }
            #expect(try hosts[0].values() == others)
            if !takesFile { #expect(others.count == Self.many.count && others["key2"] == "new") }
        }
    }

    /// Otherwise both would have the same values here, and one of two values that another host wrote would be lost.
    @Test func `that is a link to the file of another domain is not mirrored`() throws {
        let bench = try MirrorBench()
        let first = try bench.hosts("a")[0]
        let domains = try ["com.example.a", "com.example.b"].map { try DomainName($0) }
        try first.write("k", 0, in: domains)
        let second = try bench.stranger("b")
        let paths = domains.map { second.places.store.user.file(of: $0).path }
        try second.fileSystem.makeFolders(paths[0].parent)
        try second.fileSystem.makeSymbolicLink(paths[1], to: "com.example.a.plist")
        try second.enter(isFirst: false)
        try second.select { $0.add("com.*") }
        let hosts = [first, second]
        try bench.comeToRest(hosts)
        for (domain, value) in zip(domains, [1, 2] as [PropertyList]) { try first.write("k", value, in: [domain]) }
        bench.disk.clock.advance(by: .seconds(1))
        try bench.comeToRest(hosts)
        var session = try second.session()
        let status = try session.status()
        #expect(status.leftOut == ["com.example.b": .fileOf("com.example.a")] && status.condition == .waiting)
        #expect(try first.values(domains[0]) == ["k": 1] && first.values(domains[1]) == ["k": 2])
        #expect(try second.values(domains[0]) == ["k": 1])
        try second.fileSystem.remove(paths[1])
        try bench.comeToRest(hosts)
        #expect(try session.status().leftOut.isEmpty)
        #expect(try second.values(domains[1]) == ["k": 2])
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let happen: @Sendable (MirrorHost) throws -> Void
        /// Restores the file; nil if the loss cannot be undone without a trace.
        let undo: (@Sendable (MirrorHost) throws -> Void)?
    }

    static let refusals: [Refusal] = [
        Refusal(
            testDescription: "a file that nobody can read",
            happen: { try $0.permit(0, $0.file("com.example.a").path) },
            undo: { try $0.permit(0o600, $0.file("com.example.a").path) }),
        Refusal(
            testDescription: "a lock that nobody can acquire",
            happen: { try $0.permit(0, $0.lockOfExample) }, undo: { try $0.permit(0o600, $0.lockOfExample) }),
        Refusal(
            testDescription: "a folder in its place",
            happen: { host in
                let path = host.file("com.example.a").path
                _ = try host.fileSystem.remove(path)
                _ = try host.fileSystem.makeFolder(path, .privateFolder)
            }, undo: nil),
    ]

    @Test(arguments: refusals) func `that the system refuses delays no other`(_ refusal: Refusal) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("old", 1, in: ["com.example.a", "com.example.b"])
        try bench.comeToRest(hosts)
        try refusal.happen(hosts[0])
        bench.disk.clock.advance(by: .seconds(1))
        try hosts[0].write("near", 1, "com.example.b")
        try hosts[1].write("far", 1, in: ["com.example.a", "com.example.b"])
        try bench.comeToRest(hosts)
        for host in hosts { #expect(try host.values("com.example.b") == ["old": 1, "near": 1, "far": 1]) }
        var session = try hosts[0].session()
        #expect(try session.status().held.map(\.domain) == ["com.example.a"])
        let hasUnfinished = try hosts[0].sync().hasUnfinished
        #expect(!hasUnfinished)
        guard let undo = refusal.undo else { return }
        try undo(hosts[0])
        bench.disk.clock.advance(by: .seconds(1))
        try bench.comeToRest(hosts)
        #expect(try session.status().held.isEmpty)
        #expect(try hosts[0].values() == ["old": 1, "far": 1])
    }
}

@Suite struct `A watched mirror that keeps failing` {
    @Test func `is reported once, and is checked less and less often`() throws {
        let bench = try MirrorBench()
        let host = try #require(try bench.hosts("a").first)
        var service = MirrorService(try host.session(), isEager: false) {}
        host.fileSystem.setFaults(FaultPlan([Fault(.fail(.inputOutput), .from(1), of: .lock)]))
        var (failures, waits) = (0, [Duration]())
        for _ in 0..<20 {
            let turn = service.turn()
            if turn.failure != nil { failures += 1 }
            waits.append(bench.disk.clock.now.duration(to: turn.next))
            bench.disk.clock.advance(by: max(waits.last ?? .zero, .milliseconds(1)))
        }
        #expect(failures == 1)
        #expect(waits.suffix(5).allSatisfy { $0 > .seconds(5) }, "\(waits)")
        host.fileSystem.setFaults(FaultPlan())
        let last = service.turn()
        #expect(last.failure == nil && service.session.engine.status.directory == .present)
    }
}

extension MirrorHost {
    fileprivate var lockOfExample: FilePath {
        let example = file("com.example.a")
        guard case .file(let path) = example.lock else { return example.path }
        return path
    }

    /// Sets the permissions of a file.
    fileprivate func permit(_ permissions: UInt16, _ path: FilePath) throws {
        // Only root can open a file that no one may read.
        let file = try #require(try disk.process().open(path, .reading))
        try file.setPermissions(FilePermissions(rawValue: permissions))
    }
}
