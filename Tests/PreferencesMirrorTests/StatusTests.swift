import MirrorEngine
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

@Suite struct `The status of a mirror` {
    @Test func `reports a limit that the last exchange exceeded`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try bench.comeToRest(hosts)
        var session = try hosts[0].session()
        try session.sync { bench.disk.clock.advance(by: $0) }
        try hosts[0].write("key", .string(String(repeating: "x", count: 10_000)))
        for (bytes, condition) in [(2000, MirrorCondition.overQuota), (1 << 20, .inSync)] {
            session.engine.limits.bytesOfWriter = bytes
            try session.sync { bench.disk.clock.advance(by: $0) }
            #expect(session.condition(after: session.takeReports()) == condition)
            #expect(try session.status().condition == condition)
            #expect(
                session.engine.status.outbox.isEmpty == (condition == .inSync), "reading the status changes nothing")
        }
    }

    @Test func `reads the recorded waits once, however many files are unread`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try bench.comeToRest(hosts)
        for value in 1...5 {
            try hosts[0].write("key", .integer(PropertyList.Integer(value)))
            try hosts[0].sync()
        }
        let host = try hosts[1].again()
        #expect(try host.status().unread == 5)
        let reads = host.fileSystem.operations.count {
            $0.operation == .open && $0.path?.lastComponent == "vigil"
        }
        #expect(reads <= 2)
    }

    @Test func `reads no long value if a base is due`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        try hosts[0].write("key", .string(String(repeating: "x", count: 100_000)))
        try bench.comeToRest(hosts)
        let host = try hosts[0].again()
        var session = try host.session()
        try session.sync { bench.disk.clock.advance(by: $0) }
        session.engine.limits.leastLogBytes = 0
        session.engine.limits.leastLogs = 0
        #expect(!session.engine.status.isFullyPublished)
        let values = session.folder.appending("values")
        let before = host.fileSystem.operations.count
        #expect(try session.status().condition == .inSync)
        let reads = host.fileSystem.operations.dropFirst(before).filter {
            $0.operation == .open && $0.path?.parent == values
        }
        #expect(reads.isEmpty, "\(reads)")
    }

    @Test func `lists a former number of a host once, however often the host left and joined again`() throws {
        let bench = try MirrorBench()
        let hosts = try bench.hosts("a", "b")
        var formers: [WriterID] = []
        for number in 1...3 {
            try hosts[0].write("key", .integer(PropertyList.Integer(number)))
            try bench.comeToRest(hosts)
            formers.append(try hosts[0].status().writer)
            try hosts[0].carryOut(.leave)
            var session = try hosts[0].session()
            try session.forget()
            try hosts[0].enter(isFirst: false)
            try hosts[0].select { $0.add("com.*") }
            try bench.comeToRest(hosts)
        }
        let shown = try hosts[1].status().hosts
        let present = try hosts[0].status().writer
        #expect(shown.map(\.label) == ["a", "a"] && shown.filter { !$0.isFormer }.map(\.writer) == [present])
        #expect(Set(shown.filter(\.isFormer).map(\.writer)).isSubset(of: formers))
        #expect(try hosts.map { try $0.condition() } == [.inSync, .inSync])
    }
}
