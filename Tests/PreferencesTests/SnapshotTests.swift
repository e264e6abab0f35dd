import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

extension Setting<Int> {
    fileprivate static let plain = Setting("plain", default: 1)
    fileprivate static let bounded = Setting("bounded", default: 1).range(1...9)
    fileprivate static let keep = Setting("keep", default: 2)
    fileprivate static let renamed = Setting("present", default: 3).renamed(from: "former")
}

extension Setting<[String]> {
    fileprivate static let list = Setting("list", default: ["a"])
}

@Suite struct `A snapshot of settings` {
    @Test func `is not affected by later changes of any process`() throws {
        let bench = try StoreBench()
        let defaults = Defaults("com.example.service", in: bench.store())
        try defaults.transaction { draft in
            draft[.plain] = 5
            draft[.bounded] = 6
        }
        let snapshot = defaults.snapshot()
        defaults[.plain] = 7
        try defaults.flush()
        try bench.process().set("bounded", 800, in: StoreBench.file("com.example.service"))
        bench.settle()
        #expect(defaults[.plain] == 7 && defaults[.bounded] == 6)
        #expect(snapshot[.plain] == 5 && snapshot[.bounded] == 6)
        #expect(snapshot["plain"] == 5 && snapshot.values == ["plain": 5, "bounded": 6])
        #expect(snapshot.origin(forKey: "plain")?.layer == .user && snapshot.origin(of: .list) == nil)
        // The former value of a layer belongs to the time of the snapshot, too.
        let former = defaults.snapshot()
        try bench.process().set("bounded", 3, in: StoreBench.file("com.example.service"))
        bench.settle()
        #expect(defaults[.bounded] == 3 && defaults.origin(of: .bounded)?.isFormer == false)
        #expect(former[.bounded] == 6 && former.origin(of: .bounded)?.isFormer == true)
    }

    /// What a `Defaults` returns, and what a snapshot of it does.
    private func texts(_ defaults: Defaults, _ snapshot: SettingsSnapshot) -> (live: [String], taken: [String]) {
        let numbers: [Setting<Int>] = [.plain, .bounded, .keep, .renamed]
        let live =
            numbers.map { "\($0.key) \(defaults[$0]) \(defaults.origin(of: $0)?.description ?? "-")" }
            + ["\(defaults[.list]) \(defaults.origin(of: .list)?.description ?? "-")"]
            + defaults.dictionaryRepresentation().keys.sorted().map {
                "\($0) \(defaults.propertyList(forKey: $0) ?? "none")"
            }
        let taken =
            numbers.map { "\($0.key) \(snapshot[$0]) \(snapshot.origin(of: $0)?.description ?? "-")" }
            + ["\(snapshot[.list]) \(snapshot.origin(of: .list)?.description ?? "-")"]
            + snapshot.values.keys.sorted().map { "\($0) \(snapshot.values[$0] ?? "none")" }
        return (live, taken)
    }

    @Test func `has the values and origins of its time, whatever changes`() throws {
        let layers: [FilePath] = [
            "/etc/prefs/forced/com.example.backup.plist", "/home/ada/.config/prefs/com.example.backup.plist",
            "/home/ada/.config/prefs/.GlobalPreferences.plist", "/etc/xdg/prefs/com.example.backup.plist",
        ]
        let values: [PropertyList] = [3, 5, 700, "seven", "8", ["a", "b"], ["c": 1], true]
        for round in 0..<20 {
            var generator = SeededGenerator(stream: "snapshots", round: round)
            let schema = try SchemaBench()
            let (bench, defaults) = (
                schema.bench, schema.defaults(variables: ["BACKUP_KEEP": round % 2 == 0 ? "" : "9"])
            )
            var taken: [(SettingsSnapshot, [String])] = []
            for step in 0..<20 {
                var contents: PropertyList.Dictionary = [:]
                for key in ["plain", "bounded", "keep", "present", "former", "list"]
                where Int.random(in: 0..<3, using: &generator) > 0 {
                    contents[key] = values.randomElement(using: &generator)
                }
                let path = layers[Int.random(in: 0..<layers.count, using: &generator)]
                if path.description.hasPrefix("/etc") {
                    try bench.administrate(path, contents)
                } else {
                    try bench.process().scribble(StoreBench.file("any").serialized(contents, as: .xml), to: path)
                }
                bench.settle()
                let snapshot = defaults.snapshot()
                let (live, seen) = texts(defaults, snapshot)
                #expect(live == seen, "\(Seed.ofThisRun), round \(round), step \(step)")
                #expect(texts(defaults, defaults.snapshotOfLayers()).taken == seen, "\(Seed.ofThisRun)")
                taken.append((snapshot, seen))
            }
            for (snapshot, seen) in taken { #expect(texts(defaults, snapshot).taken == seen, "\(Seed.ofThisRun)") }
        }
    }

    private final class End: Sendable { let hasCome = Mutex(false) }

    @Test func `never has a part of a transaction`() async throws {
        let defaults = Defaults("com.example.service", in: .memory())
        let (plain, keep) = (Setting("plain", default: 0), Setting("keep", default: 0).range(0...1_000_000))
        let end = End()
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<3 {
                group.addTask {
                    var differences = 0
                    while !end.hasCome.withLock(\.self) {
                        let snapshot = number == 0 ? defaults.snapshotOfLayers() : defaults.snapshot()
                        if snapshot[plain] != snapshot[keep] { differences += 1 }
                    }
                    return differences
                }
            }
            for number in 1...3_000 {
                try? defaults.transaction { draft in
                    draft[plain] = number
                    draft[keep] = number
                }
            }
            end.hasCome.withLock { $0 = true }
            for await differences in group { #expect(differences == 0) }
        }
        #expect(defaults.snapshot()[keep] == 3_000)
    }
}
