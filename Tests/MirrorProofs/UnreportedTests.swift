import Foundation
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import TestSupport
import Testing

/// Writes that the first version of the mirror lost without a report, tested with real processes.
///
/// Afterwards each value is in force, or some host lists it.
@Suite(.serialized) struct `A write that loses` {
    private let domain: DomainName = "com.example.a"

    /// Writer numbers are random, and the order of two of them decided what was lost.
    @Test(arguments: 1...(Extent.isFull ? 10 : 2))
    func `is listed although a third host had fetched it`(_ repetition: Int) throws {
        let mirror = try MirrorOfProcesses("a", "b", "c")
        let (a, b, c) = (mirror.hosts[0], mirror.hosts[1], mirror.hosts[2])
        try c.write("key", "of c", in: [domain])
        pause(.milliseconds(20))
        try a.write("key", "of a", in: [domain])
        try c.synchronize("--push")
        try a.synchronize("--push")
        try b.synchronize()
        #expect(try b.values(domain) == ["key": "of a"])
        pause(.milliseconds(20))
        try b.write("key", "of b", in: [domain])
        try b.synchronize()
        try c.synchronize()
        #expect(try c.values(domain) == ["key": "of b"])
        #expect(try c.lost() == ["\"of c\""], "repetition \(repetition)")
        try mirror.comeToRest()
        #expect(try mirror.hosts.map { try $0.values(domain) } == Array(repeating: ["key": "of b"], count: 3))
    }

    @Test(arguments: 1...(Extent.isFull ? 4 : 1))
    func `is listed where a clone of its host wrote the same key`(_ repetition: Int) throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        try a.write("other", 1, in: [domain])
        try mirror.comeToRest()
        let clone = try a.clone("clone")
        try a.write("key", "of the original", in: [domain])
        try a.synchronize()
        pause(.milliseconds(20))
        try clone.write("key", "of the clone", in: [domain])
        try clone.synchronize()
        let hosts = [a, b, clone]
        for _ in 0..<3 { for host in hosts { try host.synchronize() } }
        let values = try hosts.map { try $0.values(domain) }
        #expect(Set(values).count == 1, "\(values)")
        for value in ["of the original", "of the clone"] {
            let isListed = try hosts.allSatisfy { try $0.lost().contains("\"\(value)\"") }
            #expect(values[0]["key"] == .string(value) || isListed, "\(value), repetition \(repetition)")
        }
    }

    @Test func `is not a newer one where only the configuration comes back from a backup`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        for key in ["kept", "replaced", "deleted"] { try a.write(key, "old", in: [domain]) }
        try mirror.comeToRest()
        try a.copy("config", to: a.home + "/backup")
        try b.write("replaced", "new", in: [domain])
        try b.write("added", "new", in: [domain])
        try b.succeed("delete", domain.text, "deleted")
        try mirror.comeToRest()
        let newest: PropertyList.Dictionary = ["kept": "old", "replaced": "new", "added": "new"]
        #expect(try a.values(domain) == newest)
        try FileManager.default.removeItem(atPath: a.home + "/config")
        try FileManager.default.moveItem(atPath: a.home + "/backup", toPath: a.home + "/config")
        try mirror.comeToRest()
        #expect(try b.values(domain) == newest)
        #expect(try a.run("mirror", "status").text.contains(domain.text))
        #expect(try a.run("mirror", "sync").status == 11)
        let release = try a.run("mirror", "release", "--take-mirror", domain.text)
        #expect([0, 9].contains(release.status), "\(release.text)\(release.errorText)")
        try mirror.comeToRest()
        for host in mirror.hosts { #expect(try host.values(domain) == newest, "\(host.name)") }
        #expect(try a.lost().isEmpty, "the user has decided")
        let lines = try a.succeed("mirror", "conflicts", "--all").split(separator: "\n")
        let former = lines.filter { $0.hasPrefix("    lost ") && $0.hasSuffix("  \"old\"") }
        #expect(former.count == 2, "what was replaced and what was deleted: \(former)")
    }

    struct JournalLoss: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let happen: @Sendable (String) throws -> Void
    }

    static let journalLosses = [
        JournalLoss(testDescription: "deleted") { try FileManager.default.removeItem(atPath: $0) },
        JournalLoss(testDescription: "damaged at its start") { path in
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.write(contentsOf: Data(repeating: 0xAA, count: 64))
            try file.close()
        },
    ]

    @Test(arguments: journalLosses, [true, false])
    func `is listed if the journal is lost before it is sent`(_ loss: JournalLoss, isLater: Bool) throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        for key in ["contested", "alone"] { try a.write(key, "common", in: [domain]) }
        try mirror.comeToRest()
        let writes = [(a, "unsent"), (b, "sent")]
        for (host, value) in isLater ? writes.reversed() : writes {
            try host.write("contested", .string(value), in: [domain])
            pause(.milliseconds(20))
        }
        try a.write("alone", "unsent alone", in: [domain])
        try a.write("new", "unsent new", in: [domain])
        try b.synchronize()
        try loss.happen(a.journal)
        try mirror.comeToRest()
        let values = try a.values(domain)
        #expect(try b.values(domain) == values)
        let lost = try a.lost()
        for (key, value) in [("contested", "unsent"), ("alone", "unsent alone"), ("new", "unsent new")] {
            #expect(values[key] == .string(value) || lost.contains("\"\(value)\""), "\(key): \(lost), \(values)")
        }
    }

    @Test(arguments: [PropertyList.string("a\0b"), .date(Date(timeIntervalSinceReferenceDate: 0.125))])
    func `is not one that the format of the domain cannot hold`(_ value: PropertyList) throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        try a.write("common", 1, in: [domain])
        try mirror.comeToRest()
        try b.succeed("convert", domain.text, "xml1")
        try b.synchronize()
        #expect(try b.file(domain).contents(on: b.system).format == .xml)
        try a.write("key", value, in: [domain])
        try mirror.comeToRest()
        let contents = try b.file(domain).contents(on: b.system)
        let status = try b.run("mirror", "status")
        let isHeld = contents.format == .binary && contents.values["key"] == value
        #expect(isHeld || status.text.contains("waiting"), "\(contents) \(status.text)")
        #expect(try a.values(domain) == ["common": 1, "key": value])
    }

    @Test func `is the earlier of two although its host wrote another key later`() throws {
        let mirror = try MirrorOfProcesses("a", "b")
        let (a, b) = (mirror.hosts[0], mirror.hosts[1])
        try a.write("common", 1, in: [domain])
        try mirror.comeToRest()
        pause(.milliseconds(20))
        try a.write("key", "of a", in: [domain])
        pause(.milliseconds(20))
        try b.write("key", "of b", in: [domain])
        pause(.milliseconds(20))
        try a.write("other", 2, in: [domain])
        try mirror.comeToRest()
        for host in mirror.hosts {
            #expect(try host.values(domain) == ["common": 1, "key": "of b", "other": 2], "\(host.name)")
        }
        for host in mirror.hosts { #expect(try host.lost() == ["\"of a\""], "\(host.name)") }
    }

    /// Only the host with the wrong clock runs in this process.
    @Test func `is the earlier of two although its host has met one whose clock is a year ahead`() throws {
        let mirror = try MirrorOfProcesses("a", "b", "ahead")
        let (a, b, ahead) = (mirror.hosts[0], mirror.hosts[1], mirror.hosts[2])
        try a.write("common", 1, in: [domain])
        try mirror.comeToRest()
        let system = ahead.system(with: ClockAhead(by: .seconds(365 * 24 * 3600)))
        // Only several writes are dated by the history; a single one has the time of its file.
        try ahead.write("more", 1, in: [domain], on: system)
        try ahead.write("other", "of the year to come", in: [domain], on: system)
        let places = try MirrorPlaces(ahead.places, on: system)
        var session = MirrorSession(try #require(places.joined.first), places)
        try session.sync { _ in }
        try a.synchronize()
        #expect(try a.values(domain)["other"] == "of the year to come")
        try a.write("key", "of a", in: [domain])
        pause(.milliseconds(20))
        try b.write("key", "of b", in: [domain])
        try b.write("other", "of b", in: [domain])
        try mirror.comeToRest()
        let values: PropertyList.Dictionary = [
            "common": 1, "key": "of b", "more": 1, "other": "of the year to come",
        ]
        for host in mirror.hosts { #expect(try host.values(domain) == values, "\(host.name)") }
        // The other key has the stamp of the wrong clock.
        for host in mirror.hosts { #expect(try Set(host.lost()) == ["\"of a\"", "\"of b\""], "\(host.name)") }
    }
}

/// The clock of this machine, with a time of day that is ahead.
private struct ClockAhead: Clock {
    private let clock = SystemClock()
    private let distance: Duration

    init(by distance: Duration) { self.distance = distance }

    var wall: Timestamp { clock.wall.advanced(by: distance) }
    var now: Instant { clock.now }
    var tick: Instant { clock.tick }
    func wake(at instant: Instant, _ action: @escaping @Sendable () -> Void) -> any Wakeup {
        clock.wake(at: instant, action)
    }
}

extension RealHost {
    /// Exchanges once. Open conflicts (status 9) and work left for the next exchange (10) are not failures.
    fileprivate func synchronize(_ options: String...) throws {
        let run = try run(["mirror", "sync"] + options)
        try #require([0, 9, 10].contains(run.status), "\(name): \(run.status) \(run.text)\(run.errorText)")
    }

    /// The journal of the mirror's state.
    fileprivate var journal: String {
        get throws {
            let names = try FileManager.default.subpathsOfDirectory(atPath: home + "/state")
            return home + "/state/" + (try #require(names.first { $0.hasSuffix("/journal") }))
        }
    }

    /// Returns a host whose home is a copy of this one's.
    fileprivate func clone(_ name: String) throws -> RealHost {
        let folder = URL(filePath: home).deletingLastPathComponent().path(percentEncoded: false)
        let clone = try RealHost(name, in: folder.hasSuffix("/") ? String(folder.dropLast()) : folder)
        for part in ["config", "state", "data"] where FileManager.default.fileExists(atPath: home + "/" + part) {
            try copy(part, to: clone.home + "/" + part)
        }
        return clone
    }

    /// Copies a folder of the home with the times of its files.
    fileprivate func copy(_ part: String, to place: String) throws {
        let copy = try Subprocess.run("cp", ["-a", home + "/" + part, place])
        try #require(copy.status == 0, "\(copy.errorText)")
    }
}
