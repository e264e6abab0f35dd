import Foundation
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

/// Conflicts between real processes. All hosts list them until a user resolves them on any host.
@Suite(.serialized) struct `A conflict` {
    private let domain: DomainName = "com.example.a"

    /// Lets two hosts write a key while apart. The write of the second is in force.
    private func disagree(_ hosts: [RealHost], on key: String, _ lost: PropertyList, _ kept: PropertyList) throws {
        try hosts[0].write(key, lost, in: [domain])
        pause(.milliseconds(20))
        try hosts[1].write(key, kept, in: [domain])
        pause(.milliseconds(20))
    }

    private func expectLists(_ mirror: MirrorOfProcesses, _ lost: [String], _ comment: String = "") throws {
        for host in mirror.hosts { #expect(try host.lost() == lost, "\(host.name) \(comment)") }
    }

    // MARK: Restoring

    @Test func `is restored without replacing a value that nobody on this host has seen`() throws {
        let mirror = try MirrorOfProcesses("a", "b", "c")
        let (a, c) = (mirror.hosts[0], mirror.hosts[2])
        try disagree(mirror.hosts, on: "key", "first", "second")
        try mirror.comeToRest()
        try c.write("key", "unseen", in: [domain])
        try c.succeed("mirror", "sync")
        pause(.milliseconds(20))
        try a.succeed("mirror", "conflicts", "restore", try #require(a.conflictNames().first))
        try mirror.comeToRest()
        for host in mirror.hosts { #expect(try host.values(domain) == ["key": "first"], "\(host.name)") }
        try expectLists(mirror, ["\"unseen\""])
    }

    @Test func `of a deletion is restored as a deletion`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        for key in ["key", "other"] { try a.write(key, "common", in: [domain]) }
        try mirror.comeToRest()
        try a.succeed("delete", domain.text, "key")
        pause(.milliseconds(20))
        try b.write("key", "second", in: [domain])
        try mirror.comeToRest()
        try expectLists(mirror, ["(deleted)"])
        try b.succeed("mirror", "conflicts", "restore", try #require(b.conflictNames().first))
        try mirror.comeToRest()
        for host in mirror.hosts { #expect(try host.values(domain) == ["other": "common"], "\(host.name)") }
        try expectLists(mirror, [])
    }

    @Test func `of a held domain is accepted but not restored`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let a = mirror.hosts[0]
        try disagree(mirror.hosts, on: "key", "first", "second")
        try mirror.comeToRest()
        let name = try #require(a.conflictNames().first)
        try FileManager.default.removeItem(atPath: a.file(domain).path.description)
        #expect(try a.run("mirror", "sync").status == 11)
        let refusal = try a.run("mirror", "conflicts", "restore", name, "--force")
        #expect(refusal.status == 3 && refusal.errorText.contains("com.example.a: held, "), "\(refusal.errorText)")
        let acceptance = try a.run("mirror", "conflicts", "accept", name)
        #expect(acceptance.status == 11, "the domain is still held: \(acceptance.errorText)")
        try mirror.comeToRest()
        try expectLists(mirror, [])
    }

    // MARK: Hosts that are gone

    @Test func `stays when the host that wrote the lost value leaves`() throws {
        let mirror = try MirrorOfProcesses("a", "b", "c")
        let (a, b, c) = (mirror.hosts[0], mirror.hosts[1], mirror.hosts[2])
        try disagree(mirror.hosts, on: "key", "first", "second")
        for host in [b, a] { try host.succeed("mirror", "sync") }
        let refusal = try a.run("mirror", "leave")
        #expect(refusal.status == 9 && refusal.errorText.contains("--anyway"), "\(refusal.errorText)")
        #expect(try a.succeed("mirror", "leave", "--anyway").contains("1 conflict stays open in the mirror"))
        for host in [b, c] { try host.succeed("mirror", "sync") }
        for host in [b, c] { #expect(try host.lost() == ["\"first\""], "\(host.name)") }
        try b.succeed("mirror", "purge", "a")
        for host in [c, b, c] { try host.succeed("mirror", "sync") }
        for host in [b, c] { #expect(try host.lost() == ["\"first\""], "\(host.name), after the purge") }
    }

    @Test func `does not prevent a host from leaving whose changes another one has read`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        try disagree(mirror.hosts, on: "key", "first", "second")
        for host in [a, b] { try host.succeed("mirror", "sync") }
        // What b has read is part of what it publishes next.
        try b.write("other", 1, in: [domain])
        for host in [b, a] { try host.succeed("mirror", "sync") }
        #expect(try a.succeed("mirror", "leave") == "1 conflict stays open in the mirror, for the other hosts\n")
    }

    @Test func `is printed and kept in a file when a host detaches`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let a = mirror.hosts[0]
        try disagree(mirror.hosts, on: "key", "first", "second")
        try mirror.comeToRest()
        let list = try a.run("mirror", "conflicts").text
        let printed = try a.succeed("mirror", "detach")
        #expect(printed.hasPrefix(list) && printed.contains("kept 1 open conflict in "))
        let path = try #require(printed.split(separator: " ").last).trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("\"value\":\"first\""))
    }

    @Test func `is listed after the state is rebuilt from the files`() throws {
        let mirror = try MirrorOfProcesses("a", "b", "c")
        try disagree(mirror.hosts, on: "key", "first", "second")
        try mirror.comeToRest()
        for host in mirror.hosts { _ = try host.run("mirror", "rebuild") }
        try expectLists(mirror, ["\"first\""])
    }

    // MARK: Names

    @Test func `keeps its name when others are resolved`() throws {
        let mirror = try MirrorOfProcesses("a", "b", "c")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        for key in ["k1", "k2", "k3"] {
            try disagree(mirror.hosts, on: key, .string("\(key) first"), .string("\(key) second"))
        }
        try mirror.comeToRest()
        let names = try a.conflictNames()
        for host in mirror.hosts { #expect(try host.conflictNames() == names, "\(host.name)") }
        try #require(names.count == 3)
        try a.succeed("mirror", "conflicts", "accept", names[1])
        try a.succeed("mirror", "conflicts", "restore", names[2])
        try mirror.comeToRest()
        let values: PropertyList.Dictionary = ["k1": "k1 second", "k2": "k2 second", "k3": "k3 first"]
        for host in mirror.hosts {
            #expect(try host.values(domain) == values, "\(host.name)")
            #expect(try host.conflictNames() == [names[0]], "\(host.name)")
        }
        // The host that resolved one can still restore it.
        try a.succeed("mirror", "conflicts", "restore", names[1])
        try mirror.comeToRest()
        #expect(try b.values(domain)["k2"] == "k2 first")
    }

    @Test func `is found by its name among the conflicts of two mirrors`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        for (host, verb) in [(a, "init"), (b, "join")] {
            try host.succeed("mirror", verb, mirror.directory + "2", "--label", host.name)
            try host.succeed("mirror", "add", "--mirror", mirror.directory + "2", "org.example.*")
        }
        for domain in [domain, "org.example.b"] as [DomainName] {
            try a.write("key", "first", in: [domain])
            pause(.milliseconds(20))
            try b.write("key", "second", in: [domain])
        }
        try mirror.comeToRest()
        let names = try a.conflictNames()
        try #require(names.count == 2)
        for name in names { #expect(try a.succeed("mirror", "conflicts", "show", name).hasPrefix(name)) }
        try a.succeed("mirror", "conflicts", "restore", names[0])
        try a.succeed("mirror", "conflicts", "accept", names[1])
        try mirror.comeToRest()
        let values = try [domain, "org.example.b"].map { try b.values($0)["key"] }
        #expect(Set(values) == ["first", "second"])
        try expectLists(mirror, [])
    }

    @Test func `is named by any unique beginning of its name`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let a = mirror.hosts[0]
        try disagree(mirror.hosts, on: "key", "first", "second")
        try mirror.comeToRest()
        let name = try #require(a.conflictNames().first)
        #expect(name.count == 6)
        for beginning in [String(name.prefix(1)), String(name.prefix(3)), name, name.uppercased()] {
            #expect(try a.succeed("mirror", "conflicts", "show", beginning).hasPrefix(name))
        }
        for word in ["1", name + "00000000", "00000000"] where !name.hasPrefix(word) {
            #expect(try a.run("mirror", "conflicts", "accept", word).status == 2, "\(word)")
        }
        #expect(try a.run("mirror", "conflicts", "accept", "com.example.b").status == 1)
    }

    // MARK: Accepting

    @Test func `that arrives in the exchange of accept --all stays open`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        try disagree(mirror.hosts, on: "listed", "first", "second")
        try mirror.comeToRest()
        try disagree(mirror.hosts, on: "later", "of a", "of b")
        try b.succeed("mirror", "sync")
        #expect(try a.succeed("mirror", "conflicts", "accept", "--all").contains(":listed  replaced by b"))
        try mirror.comeToRest()
        try expectLists(mirror, ["\"of a\""])
    }

    @Test func `of a domain that a host does not mirror is listed there only with --all-domains`() throws {
        let mirror = try MirrorOfProcesses("a", "b", "c")
        let c = mirror.hosts[2]
        try c.succeed("mirror", "remove", "com.example.a")
        try disagree(mirror.hosts, on: "key", "first", "second")
        for host in mirror.hosts.prefix(2) { try host.succeed("mirror", "sync") }
        #expect(try c.succeed("mirror", "sync").isEmpty)
        #expect(try c.run("mirror", "status").status == 0)
        #expect(try c.succeed("mirror", "conflicts").isEmpty)
        let list = try c.run("mirror", "conflicts", "--all-domains")
        #expect(list.status == 9 && list.text.contains("com.example.a :key"))
        let name = String(list.text.prefix(6))
        let refusal = try c.run("mirror", "conflicts", "restore", name)
        #expect(refusal.status == 3 && refusal.errorText.contains("not mirrored on this host"))
        try c.succeed("mirror", "conflicts", "accept", name)
        try mirror.comeToRest()
        try expectLists(mirror, [])
    }

    /// The program, and the value in force after it. It need not read its input, which is longer than a pipe holds.
    @Test(
        arguments: [
            ("cat > \"$HOME/input\"; echo '{\"value\": \"merged\"}'", "merged"), ("echo '{\"restore\": true}'", nil),
            ("exit 3", "second"), ("kill -9 $$", "second"),
        ])
    func `is resolved by a program`(_ text: String, _ value: String?) throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let a = mirror.hosts[0]
        let program = a.home + "/resolve"
        try "#!/bin/sh\n\(text)\n".write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        try a.succeed("write", "prefs", "mirrorResolver", program)
        let long = String(repeating: "x", count: 1 << 20)
        try disagree(mirror.hosts, on: "key", .string(long), "second")
        for host in mirror.hosts.reversed() { try host.succeed("mirror", "sync") }
        let input = try? String(contentsOfFile: a.home + "/input", encoding: .utf8)
        #expect((input?.contains(long) ?? false) == (value == "merged"))
        try mirror.comeToRest()
        for host in mirror.hosts { #expect(try host.values(domain) == ["key": .string(value ?? long)]) }
        #expect(try a.run("mirror", "conflicts").status == (value == "second" ? 9 : 0))
    }

    // MARK: Reports

    @Test func `is printed once on every host, and shown by explain, doctor and status`() throws {
        let mirror = try MirrorOfProcesses("a", "b", "c")
        try disagree(mirror.hosts, on: "key", "first", "second")
        var printed: [String] = []
        for _ in 0..<3 {
            for host in mirror.hosts {
                let lines = try host.succeed("mirror", "sync").split(separator: "\n")
                printed += lines.filter { $0.hasPrefix("conflict ") }.map { "\(host.name) \($0)" }
            }
        }
        #expect(printed.map { String($0.prefix(1)) }.sorted() == ["a", "b", "c"], "\(printed)")
        for host in mirror.hosts {
            let name = try #require(host.conflictNames().first)
            let explained = try host.succeed("explain", domain.text, "key")
            #expect(explained.contains("conflict \(name): lost at :key: \"first\" of a; `prefs mirror conflicts show"))
            #expect(try host.run("doctor").text.contains("com.example.a: 1 open conflict of a mirror at :key"))
            let status = try host.run("mirror", "status")
            let row = "conflicts  1 at com.example.a :key; `prefs mirror conflicts`"
            #expect(status.status == 9 && status.text.contains(row))
        }
    }

    @Test func `is followed while another process exchanges`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        try a.write("key", "common", in: [domain])
        try mirror.comeToRest()
        let processes = try [["mirror", "watch"], ["mirror", "conflicts", "--watch"]].map { try WatchProcess(b, $0) }
        let log = b.home + "/mirror conflicts --watch.log"
        func waitFor(_ text: String) -> Bool {
            holds { (try? String(contentsOfFile: log, encoding: .utf8))?.contains(text) ?? false }
        }
        try disagree([b, a], on: "key", "first", "second")
        try a.succeed("mirror", "sync")
        #expect(waitFor("  open  com.example.a :key  replaced by a\n"))
        try a.succeed("mirror", "conflicts", "accept", "--all")
        #expect(waitFor("  resolved  com.example.a :key  now a's\n"))
        #expect(processes.map { $0.end(by: SIGTERM) } == [0, 0])
    }

    /// - Parameter usesStore: Whether the store writes another key before the exchange.
    @Test(arguments: [false, true])
    func `is made of each value that a program with an old cache reverts`(_ usesStore: Bool) throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        for key in ["k1", "k2"] { try a.write(key, "old", in: [domain]) }
        try mirror.comeToRest()
        for key in ["k1", "k2"] { try b.write(key, "new", in: [domain]) }
        for host in [b, a] { try host.succeed("mirror", "sync") }
        #expect(try a.values(domain) == ["k1": "new", "k2": "new"])
        // The program writes what it had read before the exchange, and a change of its user.
        let cache: PropertyList = ["k1": "old", "k2": "old", "k3": "of the user"]
        try Data(try cache.serialized(as: .binary)).write(
            to: URL(filePath: a.file(domain).path.description), options: .atomic)
        if usesStore { try a.write("k4", "of the store", in: [domain]) }
        _ = try holds { try a.run("mirror", "sync").status == 0 }
        try mirror.comeToRest()
        try expectLists(mirror, ["\"new\"", "\"new\""])
    }
}
