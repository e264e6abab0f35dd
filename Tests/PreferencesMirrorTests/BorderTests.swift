import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// What programs do to a domain's file, and what becomes of it.
@Suite struct `A domain's file` {
    struct Loss: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let held: Held?
        let happen: @Sendable (MirrorHost) throws -> Void
    }

    static let many = PropertyList.Dictionary((0..<30).map { ("key\($0)", .integer(PropertyList.Integer($0))) })

    static let losses: [Loss] = [
        Loss(testDescription: "removed by anybody", held: .missing) { host in
            try host.fileSystem.remove(host.file("com.example.a").path)
        },
        Loss(testDescription: "deleted by us", held: nil) { host in
            try DomainWriter(host.machine, WriteNote(.delete, by: host.machine)).commit([
                DomainEdit(host.file("com.example.a")) { $0.removesFile = true }
            ])
        },
        Loss(testDescription: "emptied to nothing", held: .empty) { host in
            try host.fileSystem.replace(host.file("com.example.a").path, with: [])
        },
        Loss(testDescription: "no property list", held: .unreadable) { host in
            try host.fileSystem.replace(host.file("com.example.a").path, with: Array("<plist".utf8))
        },
        Loss(testDescription: "without most of its keys", held: .emptied) { try $0.scribble(["key1": 1]) },
        Loss(testDescription: "without most of its keys by us", held: nil) { host in
            try DomainWriter(host.machine, WriteNote(.write, by: host.machine)).commit([
                DomainEdit(host.file("com.example.a")) { $0.values = ["key1": 1] }
            ])
        },
    ]

    @Test(arguments: losses) func `that is suddenly another is held until somebody decides`(_ loss: Loss) throws {
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
            // Others go on meanwhile, and nothing of it is written here.
            try hosts[1].write("key2", "new")
            try bench.comeToRest(hosts)
            #expect(try session.status().condition == .halted)
            // The command refuses to take for right what nobody can read.
            if loss.held == .unreadable, takesFile { continue }
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
}
