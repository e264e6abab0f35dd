import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

extension MirrorBench {
    /// Lets nobody but the superuser do more in a folder than these permissions say.
    func setPermissions(_ bits: UInt16, of folder: FilePath) throws {
        try disk.process().open(folder, .reading)?.setPermissions(FilePermissions(rawValue: bits))
    }
}

extension Report {
    fileprivate var isUnwritten: Bool { if case .unwritten = self { true } else { false } }
}

/// Files and folders that the system does not let be read or written.
@Suite struct `What the system refuses a host` {
    @Test func `to write into a domain's file is told, and done once it can be`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", 1)
        try bench.comeToRest(hosts)
        let store = hosts[1].file("com.example.a").path.parent
        try bench.setPermissions(0o555, of: store)
        try hosts[0].write("key", 2)
        try hosts[0].sync()
        for _ in 0..<3 {
            var session = try hosts[1].sync()
            let reports = session.takeReports()
            #expect(session.condition(after: reports) == .waiting)
            #expect(reports.filter(\.isUnwritten) == [.unwritten(domain: "com.example.a")], "told once an exchange")
        }
        let status = try hosts[1].status()
        #expect(status.condition == .waiting && status.unwritten == ["com.example.a"])
        #expect(try hosts[1].values() == ["key": 1])
        try bench.setPermissions(0o755, of: store)
        #expect(try hosts[1].condition() == .inSync)
        #expect(try hosts[1].values() == ["key": 2])
    }
}
