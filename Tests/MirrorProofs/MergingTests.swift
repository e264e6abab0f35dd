import Foundation
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

/// The examples of prefs-mirror(1) for each kind of value, between real processes of three hosts. One has no schema,
/// and on one a program that does not use the store rewrites the file.
@Suite(.serialized) struct `Values of each kind` {
    private let domain: DomainName = "com.example.app"

    private struct Row: Sendable {
        let key: String
        let type: String
        let kind: String
        /// The value that all hosts have at first.
        let common: PropertyList
        /// What each host makes of it before any of them exchanges.
        let changes: [PropertyList]
        let merged: PropertyList
    }

    private static let rows = [
        Row(
            key: "words", type: "array", kind: "set", common: ["colour", "naïve"],
            changes: [["colour", "naïve", "fjord"], ["naïve", "ærø"], ["naïve", "colour", "façade"]],
            merged: ["fjord", "façade", "naïve", "ærø"]),
        Row(
            key: "starts", type: "integer", kind: "counter", common: 10, changes: [12, 11, 15], merged: 18),
        Row(
            key: "references", type: "integer", kind: "counter", common: 3, changes: [2, 4, 2], merged: 2),
        Row(
            key: "lastSeenVersion", type: "string", kind: "maximum", common: "1.9", changes: ["1.10", "1.9.1", "1.2"],
            merged: "1.10"),
        Row(
            key: "oldest", type: "integer", kind: "minimum", common: 50, changes: [40, 45, 60], merged: 40),
        Row(
            key: "profiles", type: "array", kind: "list; Identity = id",
            common: [["id": "a", "size": 1], ["id": "b", "size": 2]],
            changes: [
                [["id": "a", "size": 5], ["id": "b", "size": 2]],
                [["id": "a", "size": 1], ["id": "b", "size": 2, "color": "red"]],
                [["id": "b", "size": 2], ["id": "c"], ["id": "a", "size": 1]],
            ],
            merged: [["id": "b", "size": 2, "color": "red"], ["id": "c"], ["id": "a", "size": 5]]),
        Row(
            key: "windows", type: "dictionary", kind: "entries", common: ["main": 1],
            changes: [["main": 2], ["main": 1, "log": 3], ["main": 1, "help": 4]],
            merged: ["main": 2, "log": 3, "help": 4]),
    ]

    private static var schema: String {
        let settings = rows.map { "{ Key = \($0.key); Type = \($0.type); Merge = \($0.kind); }" }
        return "{ Domain = \"com.example.app\"; Settings = (\(settings.joined(separator: ", "))); }"
    }

    private func install(on host: RealHost, _ schema: String = schema) throws {
        let file = host.home + "/schema.plist"
        try Data(schema.utf8).write(to: URL(filePath: file))
        try host.succeed("schema", "install", file)
    }

    /// Replaces a value as a program does that knows nothing of the store.
    private func rewrite(_ values: PropertyList.Dictionary, on host: RealHost) throws {
        var all = try host.values(domain)
        for entry in values { all[entry.key] = entry.value }
        let file = URL(filePath: host.file(domain).path.description)
        try Data(try PropertyList.dictionary(all).serialized(as: .xml)).write(to: file, options: .atomic)
    }

    private func write(_ index: Int, on host: RealHost) throws {
        for row in Self.rows { try host.write(row.key, row.changes[index], in: [domain]) }
    }

    @Test func `are combined on all hosts without a conflict`() throws {
        let mirror = try MirrorOfProcesses("desk", "laptop", "server")
        for host in mirror.hosts.prefix(2) { try install(on: host) }
        for row in Self.rows { try mirror.hosts[0].write(row.key, row.common, in: [domain]) }
        try mirror.comeToRest()
        try write(0, on: mirror.hosts[0])
        try rewrite(
            PropertyList.Dictionary(Self.rows.map { ($0.key, $0.changes[1]) }), on: mirror.hosts[1])
        try write(2, on: mirror.hosts[2])
        // A file without a mark is read when it has not changed for a while.
        pause(.milliseconds(300))
        try mirror.comeToRest(4)
        for host in mirror.hosts {
            let values = try host.values(domain)
            for row in Self.rows {
                let value = values[row.key]
                let isMerged =
                    row.kind == "set"
                    ? value?.arrayValue.map { Set($0) } == row.merged.arrayValue.map { Set($0) } : value == row.merged
                #expect(isMerged, "\(host.name) \(row.key): \(value as Any), not \(row.merged)")
            }
            #expect(try host.lost() == [], "\(host.name)")
        }
        // Nothing is rewritten for its order.
        let before = try mirror.hosts.map { try Data(contentsOf: URL(filePath: $0.file(domain).path.description)) }
        try mirror.comeToRest()
        let after = try mirror.hosts.map { try Data(contentsOf: URL(filePath: $0.file(domain).path.description)) }
        #expect(before == after)
    }

    @Test func `that two hosts had before they began to mirror them are combined`() throws {
        let mirror = try MirrorOfProcesses("desk", "laptop")
        let domain: DomainName = "org.example.app"
        let values: [PropertyList.Dictionary] = [
            ["words": ["fjord", "ærø"], "lastSeenVersion": "1.10", "starts": 4, "theme": "dark"],
            ["words": ["façade", "fjord"], "lastSeenVersion": "1.9", "starts": 9, "theme": "light"],
        ]
        for (host, values) in zip(mirror.hosts, values) {
            try install(on: host, Self.schema.replacing("com.example.app", with: domain.text))
            for entry in values { try host.write(entry.key, entry.value, in: [domain]) }
        }
        try mirror.hosts[0].succeed("mirror", "add", "org.example.*")
        try mirror.comeToRest()
        let preview = try mirror.hosts[1].succeed("mirror", "add", "--dry-run", "org.example.*")
        #expect(preview.contains(":words  would be combined with the mirror's value"), "\(preview)")
        #expect(preview.contains(":starts  would be replaced by the mirror's value"), "\(preview)")
        try mirror.hosts[1].succeed("mirror", "add", "org.example.*")
        try mirror.comeToRest()
        for host in mirror.hosts {
            let values = try host.values(domain)
            #expect(Set(values["words"]?.arrayValue ?? []) == ["fjord", "ærø", "façade"], "\(host.name)")
            #expect(values["lastSeenVersion"] == "1.10" && values["theme"] == "dark", "\(host.name) \(values)")
            #expect(values["starts"] == 4, "\(host.name)")
            #expect(try host.lost() == [], "\(host.name)")
        }
    }

    @Test func `of two kinds leave a conflict that can be accepted, but not restored`() throws {
        let mirror = try MirrorOfProcesses("desk", "laptop")
        for (host, kind) in zip(mirror.hosts, ["Type = array; Merge = set", "Type = integer; Merge = counter"]) {
            try install(on: host, "{ Domain = \"com.example.app\"; Settings = ({ Key = k; \(kind); }); }")
        }
        try mirror.hosts[0].write("k", ["a"], in: [domain])
        pause(.milliseconds(20))
        try mirror.hosts[1].write("k", 3, in: [domain])
        try mirror.comeToRest()
        for host in mirror.hosts {
            #expect(try host.values(domain) == ["k": 3], "\(host.name)")
            #expect(try host.lost() == ["\"a\""], "\(host.name)")
        }
        let name = try #require(mirror.hosts[0].conflictNames().first)
        let restored = try mirror.hosts[0].run("mirror", "conflicts", "restore", name)
        #expect(restored.status != 0 && restored.errorText.contains("a part of a value that is merged"))
        #expect(try mirror.hosts[0].values(domain) == ["k": 3])
        try mirror.hosts[1].succeed("mirror", "conflicts", "accept", name)
        try mirror.comeToRest()
        for host in mirror.hosts {
            #expect(try host.values(domain) == ["k": 3], "\(host.name)")
            #expect(try host.lost() == [], "\(host.name)")
        }
    }

    /// A program that has not read what the mirror brought takes nothing away, and adds what its user added.
    @Test(arguments: ["set", "counter", "maximum"])
    func `survive a program with an old cache`(_ kind: String) throws {
        let (type, common, brought, cached, merged): (String, PropertyList, PropertyList, PropertyList, PropertyList) =
            switch kind {
            case "set": ("array", ["a"], ["a", "b"], ["a", "c"], ["a", "b", "c"])
            // It writes back what it had read.
            case "counter": ("integer", 3, 5, 3, 5)
            default: ("string", "1.2", "1.10", "1.2", "1.10")
            }
        let mirror = try MirrorOfProcesses("desk", "laptop")
        for host in mirror.hosts {
            try install(
                on: host,
                "{ Domain = \"com.example.app\"; Settings = ({ Key = k; Type = \(type); Merge = \(kind); }); }")
        }
        try mirror.hosts[0].write("k", common, in: [domain])
        try mirror.comeToRest()
        try mirror.hosts[1].write("k", brought, in: [domain])
        for host in mirror.hosts.reversed() { try host.succeed("mirror", "sync") }
        #expect(try mirror.hosts[0].values(domain)["k"] == brought)
        try rewrite(["k": cached, "other": "of the user"], on: mirror.hosts[0])
        pause(.milliseconds(300))
        try mirror.comeToRest()
        for host in mirror.hosts {
            let value = try host.values(domain)["k"]
            #expect(value?.arrayValue.map { Set($0) } == merged.arrayValue.map { Set($0) }, "\(host.name)")
            if kind != "set" { #expect(value == merged, "\(host.name)") }
            #expect(try host.lost() == [], "\(host.name)")
        }
    }
}
