import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Files that stay damaged, at a host that looks at them through one short-lived program after the other, as cron does.
@Suite struct `A file that stays damaged` {
    /// Lays damaged logs of some size into the second host's folder.
    private func lay(_ count: Int, bytes: Int, in bench: MirrorBench, _ host: MirrorHost) throws {
        let writer = try host.sync().engine.local.writer
        let files = bench.disk.process(user: 1000)
        for number in 1...count {
            let name = PackName(kind: .log, number: 900 + UInt64(number), hash: Fingerprint(of: [1]))
            let place = MirrorBench.directory.resolving(try #require(FilePath("w/\(writer)/\(name)")))
            try files.makeFolders(place.parent)
            try files.replace(place, with: [UInt8](repeating: 7, count: bytes))
        }
    }

    /// What has been set aside.
    private func kept(by host: MirrorHost) throws -> [FileName] {
        try host.fileSystem.names(in: host.session().folder.appending("quarantine")) ?? []
    }

    @Test(arguments: [(40, 10, 32), (2, 40 << 20, 1)])
    func `is copied, up to a limit`(_ count: Int, _ bytes: Int, _ copies: Int) throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try lay(count, bytes: bytes, in: bench, hosts[1])
        var session = try hosts[0].session()
        var told = 0
        for _ in 0..<3 {
            try session.sync { bench.disk.clock.advance(by: $0) }
            told += session.takeReports().count { if case .quarantined = $0 { true } else { false } }
            bench.disk.clock.advance(by: .seconds(601))
        }
        #expect(try kept(by: hosts[0]).count == copies)
        #expect(told == count, "told whether it was copied or not")
    }
}
