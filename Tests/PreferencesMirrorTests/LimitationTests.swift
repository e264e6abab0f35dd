import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `A mirror on a file system with a limitation` {
    /// Each limitation alone, and all of them at once. Without locks or atomic renames, a store refuses to write, and
    /// the stores are on the same disk.
    static let limitations = Limitation.allCases.filter { $0 != .noLocks && $0 != .renameKeeps }

    @Test(arguments: limitations.map { [$0] } + [limitations])
    func `works in both directions`(_ limitations: [Limitation]) throws {
        let bench = try MirrorBench()
        bench.disk.limitations = Set(limitations)
        let hosts = try bench.hosts("a", "b")
        for value in [1, 2] as [PropertyList] {
            try hosts[0].write("a", value, in: ["com.example.a", "com.example.b"])
            try hosts[1].write("b", value)
            try bench.comeToRest(hosts)
            for host in hosts { #expect(try host.values() == ["a": value, "b": value], "\(limitations)") }
        }
        #expect(try hosts.map { try $0.condition() } == [.inSync, .inSync], "\(limitations)")
    }
}
