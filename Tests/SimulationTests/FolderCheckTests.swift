import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@testable import Simulation

@Suite struct `A check of a mirror's files` {
    /// Returns two hosts, each with a base, two logs and a note.
    private func pair() -> (near: SimulatedHost, far: SimulatedHost) {
        let bench = Bench()
        let (near, far) = (bench.host("near"), bench.host("far"))
        for host in [near, far] {
            host.set("a", to: .string("first of \(host.label)"))
            bench.comeToRest()
            host.sync(compacts: true)
        }
        bench.comeToRest()
        for (key, host) in [("b", near), ("c", far), ("d", near), ("b", far)] {
            host.set(key, to: .string("of \(host.label)"))
            bench.comeToRest()
        }
        return (near, far)
    }

    private func findings(_ host: SimulatedHost, extra: [WriterID: [String: Int]] = [:]) -> [FolderCheck.Finding] {
        var listing = host.listing
        for (writer, names) in extra { listing.folders[writer, default: [:]].merge(names) { $1 } }
        var check = host.engine.status.check(of: listing)
        for (address, fetch) in host.fetch(listing.packs) { check.add(address, fetch) }
        return check.finish()
    }

    /// The files of a kind that a host sees of a writer.
    private func files(_ host: SimulatedHost, of other: SimulatedHost, _ kind: PackName.Kind) -> [PackAddress] {
        host.files(of: other.durable.writer).filter { $0.name.kind == kind }
    }

    @Test func `finds nothing in valid files`() {
        let (near, far) = pair()
        #expect(findings(near).isEmpty && findings(far).isEmpty)
    }

    @Test func `finds faulty, unreachable, missing and foreign files`() throws {
        let (near, far) = pair()
        let log = try #require(files(near, of: far, .log).last)
        near.view[log] = .damaged
        #expect(findings(near).contains(.faulty(log, .wrongHash)))
        let own = try #require(files(far, of: far, .base).first)
        far.view[own] = nil
        #expect(findings(far).contains(.missing(own.name)))
        let name = "l/000000000009.2e9f0a77d1.log"
        let log9 = "l/000000000009.2e9f0a77d1"
        let strays: [(name: String, stray: FolderCheck.Stray)] = [
            (log9 + " (ada's conflicted copy 2026-01-01).log", .conflictCopy), (log9 + " (1).log", .conflictCopy),
            (log9 + ".sync-conflict-20260101-120000-ABCDEFG.log", .conflictCopy),
            (log9 + ".log.nextcloud", .placeholder), ("l/.syncthing.000000000009.2e9f0a77d1.log.tmp", .placeholder),
            ("l/~syncthing~000000000009.2e9f0a77d1.log.tmp", .placeholder), ("l/notes.txt", .foreign),
            ("._who-0001.0000000000", .foreign),
        ]
        let passing = ["l/~1.tmp", ".nfs0000000000a1b2c30000004f", ".fuse_hidden0000001400000001"]
        let names = [name: 1].merging((passing + strays.map(\.name)).map { ($0, 1) }) { $1 }
        let found = findings(near, extra: [near.durable.writer: names])
        let address = PackAddress(writer: near.durable.writer, name: try #require(PackName(name)))
        #expect(found.contains(.foreign(address.name)) && found.contains(.unreadable(address)))
        for (name, stray) in strays {
            #expect(found.contains(.stray("w/\(near.durable.writer)/\(name)", stray)), "\(name)")
        }
        #expect(found.count { if case .stray = $0 { true } else { false } } == strays.count)
    }

    @Test func `finds a missing log by those around it`() throws {
        let (near, far) = pair()
        let logs = files(far, of: near, .log)
        try #require(logs.count == 2)
        far.view[logs[0]] = nil
        let found = findings(far)
        let number = logs[0].name.number
        #expect(found.contains(.gap(near.durable.writer, number...number)))
        far.view[logs[0]] = .whole
        far.view[logs[1]] = nil
        let rest = findings(far)
        #expect(rest.contains(.filesLack(["s"])))
        #expect(rest.contains(.missingChange(TransactionID(writer: near.durable.writer, sequence: number + 1))))
    }

    @Test func `finds a state that differs from the files`() {
        let (near, far) = pair()
        far.set("d", to: "not taken up yet")
        far.publishNow()
        near.world.pass(1)
        let found = findings(near)
        #expect(!found.isEmpty && found.allSatisfy { if case .notJoined = $0 { true } else { false } }, "\(found)")
    }
}
