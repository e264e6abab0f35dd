import Foundation
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

/// Tests the guarantees of the mirror with real processes and files, one test after another.
@Suite(.serialized) struct `The mirror of this machine` {
    @Test func `brings a write to another host`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let watches = try mirror.hosts.map { try WatchProcess($0) }
        let domain: DomainName = "com.example.latency"
        var delays: [Duration] = []
        for round in 0...20 {
            try mirror.hosts[0].write("round", .integer(PropertyList.Integer(round)), in: [domain])
            let start = ContinuousClock.now
            let hasCome = try holds {
                try mirror.hosts[1].values(domain)["round"] == .integer(PropertyList.Integer(round))
            }
            try #require(hasCome, "round \(round)")
            // The first round includes the start of the watches.
            if round > 0 { delays.append(ContinuousClock.now - start) }
        }
        delays.sort()
        print("a write is readable on another host after \(delays[10]) (p50), \(delays[19]) (p99)")
        #expect(watches.map { $0.end(by: SIGTERM) } == [0, 0])
    }

    @Test func `brings several domains at once`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let watches = try mirror.hosts.map { try WatchProcess($0) }
        let domains: [DomainName] = ["com.example.x", "com.example.y", "com.example.z"]
        var last: String?
        for round in 1...10 {
            let value = PropertyList.integer(PropertyList.Integer(round))
            try mirror.hosts[0].write("round", value, in: domains)
            // The domains are read one after another, so wait until all have the value.
            let isWhole = try holds {
                let values = try domains.map { try mirror.hosts[1].values($0)["round"] }
                return values.allSatisfy { $0 == value }
            }
            #expect(isWhole, "round \(round)")
            // The versions are recorded after the write.
            let isOne = holds {
                let found = domains.compactMap { domain in
                    History(of: mirror.hosts[1].file(domain), on: mirror.hosts[1].system)?.versions.last?.transaction
                }
                let isNew = found.count == domains.count && Set(found).count == 1 && found.first != last
                if isNew { last = found.first }
                return isNew
            }
            #expect(isOne, "round \(round)")
        }
        for watch in watches { watch.end(by: SIGTERM) }
    }

    @Test func `brings edits of the files of a folder, and writes them there`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        let domain: DomainName = "com.example.notes"
        for (key, value) in [("title", "Groceries"), ("kept", "same")] {
            try a.write(key, .string(value), in: [domain])
        }
        try a.succeed("convert", domain.text, "folder")
        let title = URL(filePath: a.home + "/config/prefs/com.example.notes.prefs/title.txt")
        #expect(try String(contentsOf: title, encoding: .utf8) == "Groceries\n")
        try mirror.comeToRest()
        #expect(try b.values(domain) == ["title": "Groceries", "kept": "same"])
        try Data("Chores\n".utf8).write(to: title)
        try mirror.comeToRest()
        #expect(try b.values(domain) == ["title": "Chores", "kept": "same"])
        try b.write("title", "Errands", in: [domain])
        try mirror.comeToRest()
        #expect(try String(contentsOf: title, encoding: .utf8) == "Errands\n")
        #expect(try a.values(domain) == b.values(domain))
    }

    @Test func `writes nothing while nothing happens`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        try mirror.hosts[0].write("key", 1, in: ["com.example.a"])
        try mirror.comeToRest()
        let watches = try mirror.hosts.map { try WatchProcess($0) }
        let isWatched = try holds {
            try mirror.hosts.allSatisfy { try $0.run("mirror", "status").text.contains(", watched") }
        }
        #expect(isWatched)
        // The last change may still be handled.
        let isIdle = try holds {
            let (traces, calls) = (try mirror.traces(), watches.map(\.writeCalls))
            pause(.seconds(Extent.isFull ? 20 : 3))
            return try watches.map(\.writeCalls) == calls && mirror.traces() == traces
        }
        #expect(isIdle)
    }

    @Test func `is not changed by a second sync`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        try mirror.hosts[0].write("key", 1, in: ["com.example.a"])
        try mirror.comeToRest()
        let traces = try mirror.traces()
        for host in mirror.hosts { try host.succeed("mirror", "sync") }
        #expect(try mirror.traces() == traces)
    }

    @Test func `lists the lost value, and restores it`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        try a.write("key", "first", in: ["com.example.a"])
        pause(.milliseconds(20))
        try b.write("key", "second", in: ["com.example.a"])
        for host in [a, b] { try host.succeed("mirror", "sync") }
        let first = try a.succeed("mirror", "sync")
        let name = try #require(try a.conflictNames().first)
        #expect(
            first.contains("conflict \(name): com.example.a :key replaced by b; `prefs mirror conflicts show \(name)`"))
        #expect(try a.succeed("mirror", "sync").isEmpty)
        #expect(try a.run("mirror", "sync", "--check").status == 9)
        try mirror.comeToRest()
        for host in mirror.hosts { #expect(try host.values("com.example.a") == ["key": "second"]) }
        for host in mirror.hosts {
            let conflicts = try host.run("mirror", "conflicts")
            #expect(conflicts.status == 9 && conflicts.text.hasPrefix("\(name)  com.example.a :key  replaced by b\n"))
            #expect(try host.lost() == ["\"first\""], "\(host.name)")
        }
        #expect(try a.succeed("mirror", "conflicts", "show", name) == a.run("mirror", "conflicts").text)
        try a.succeed("mirror", "conflicts", "restore", name)
        try mirror.comeToRest()
        for host in mirror.hosts { #expect(try host.values("com.example.a") == ["key": "first"]) }
        #expect(try a.run("mirror", "sync").status == 0)
    }

    @Test(arguments: ["*", "w", "mirror-*.id"])
    func `is created again in a directory that lost files`(_ lost: String) throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        for host in mirror.hosts { try host.write(host.name, "kept", in: ["com.example.a"]) }
        try mirror.comeToRest()
        #expect(try Subprocess.run("sh", ["-c", "cd \"$0\" && rm -r \(lost)", mirror.directory]).status == 0)
        try b.write("unsent", 1, in: ["com.example.a"])
        for host in mirror.hosts {
            let run = try host.run("mirror", "sync")
            #expect(run.status == 13 && run.errorText.contains("`prefs mirror init --again \(mirror.directory)`"))
        }
        // Missing files of other hosts are still missing.
        #expect([0, 10].contains(try a.run("mirror", "init", "--again", mirror.directory).status))
        try mirror.comeToRest()
        for host in mirror.hosts {
            #expect(try host.values("com.example.a") == ["a": "kept", "b": "kept", "unsent": 1], "\(host.name)")
            #expect(try host.run("mirror", "conflicts").status == 0)
            #expect(try host.succeed("mirror", "fsck").hasSuffix("no problems found\n"))
        }
        #expect(try a.run("mirror", "init", "--again", mirror.directory).status == 3, "nothing is missing")
    }

    @Test func `continues if the directory is full`() throws {
        let mount = try Mount.orCancel(size: 1 << 20)
        let mirror = try MirrorOfProcesses("a", "b", directory: mount.path + "/mirror")
        try mount.fill(leaving: 0)
        try mirror.hosts[0].write("key", .string(String(repeating: "x", count: 9000)), in: ["com.example.a"])
        let full = try mirror.hosts[0].run("mirror", "sync")
        #expect(full.status == 10, "\(full.errorText)")
        #expect(full.text.contains("the directory is full"))
        #expect(try mirror.hosts[0].values("com.example.a").count == 1)
        try mount.empty()
        try mirror.comeToRest()
        #expect(try mirror.hosts[1].values("com.example.a").count == 1)
    }

    @Test func `continues if the directory is read-only`() throws {
        let mount = try Mount.orCancel(size: 1 << 20)
        let mirror = try MirrorOfProcesses("a", "b", directory: mount.path + "/mirror")
        try mirror.hosts[0].write("key", 1, in: ["com.example.a"])
        try mirror.hosts[0].succeed("mirror", "sync")
        try mount.makeReadOnly()
        try mirror.hosts[1].write("other", 2, in: ["com.example.a"])
        let run = try mirror.hosts[1].run("mirror", "sync")
        #expect(run.status == 6 && run.text.contains("cannot be written"))
        #expect(try mirror.hosts[1].values("com.example.a") == ["key": 1, "other": 2])
    }
}
