import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// An action of a host during which operations on its disk, or on the directory's, fail.
struct Undertaking: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether the host also writes a base, and a day later removes the files that it replaces.
    var compacts = false
    let values: [(DomainName, PropertyList.Dictionary)]
    /// Prepares two hosts. `b` is the one that acts.
    let prepare: @Sendable (MirrorBench) throws -> Void

    static let all = [
        Undertaking(
            testDescription: "capture, apply, publish and pull",
            values: [
                ("com.example.a", ["old": 1, "theirs": 1]), ("com.example.b", ["old": 1, "ours": 1, "theirs": 1]),
                ("com.example.c", ["ours": 1]),
            ]
        ) { bench in
            let hosts = try bench.hosts("a", "b")
            try hosts[0].write("old", 1, in: ["com.example.a", "com.example.b"])
            try bench.comeToRest(hosts)
            try hosts[0].write("theirs", 1, in: ["com.example.a", "com.example.b"])
            try hosts[0].sync()
            try hosts[1].write("ours", 1, in: ["com.example.b", "com.example.c"])
        },
        Undertaking(
            testDescription: "compaction", compacts: true,
            values: [("com.example.a", ["key": 3, "long": long, "theirs": 1])]
        ) { bench in
            let hosts = try bench.hosts("a", "b")
            for number in 1...3 {
                try hosts[1].write("key", .integer(PropertyList.Integer(number)))
                try hosts[1].sync()
            }
            try hosts[0].write("theirs", 1)
            try bench.comeToRest(hosts)
            try hosts[1].write("long", long)
        },
        Undertaking(
            testDescription: "another name", values: [("com.example.a", ["old": 1, "said": 1, "unsaid": 1])]
        ) { bench in
            let hosts = try bench.hosts("a", "b")
            try hosts[1].write("old", 1)
            try bench.comeToRest(hosts)
            let journal = try hosts[1].session().folder.appending("journal")
            let former = try #require(try hosts[1].fileSystem.contents(of: journal))
            try hosts[1].write("said", 1)
            try bench.comeToRest(hosts)
            try hosts[1].fileSystem.replace(journal, with: former)
            try hosts[1].write("unsaid", 1)
        },
    ]

    private static let long = PropertyList.string(String(repeating: "long ", count: 14_000))

    /// Carries out as much of the action as possible.
    func carryOut(_ session: inout MirrorSession, _ disk: SimulatedDisk) {
        let wait = { (duration: Duration) in disk.clock.advance(by: duration) }
        try? session.sync(wait: wait)
        guard compacts else { return }
        if (try? session.begin()) != nil {
            try? session.send(.compact)
            session.end()
        }
        wait(.seconds(86_401))
        try? session.sync(wait: wait)
    }
}
