import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

/// A host with one preference file, another host whose changes arrive, and a program that writes the file.
private struct Scene {
    private static let domain = Path(domain: "d")
    private static let (mirror, other) = (MirrorID(high: 1, low: 2), WriterID(number: 2))
    private(set) var local = LocalState(mirror: mirror, writer: WriterID(number: 1))
    private(set) var file: PropertyList.Dictionary = [:]
    private var remote = SharedState()
    private var sequence: UInt64 = 0
    private var now: Int64 = 1_750_000_000_000
    private let policy: DomainPolicy
    /// Whether each process that changes the file is killed before it records so. The next one reads the file.
    var isKilled = false

    init(_ values: PropertyList.Dictionary, kind: MergeKind = .value) throws {
        policy = DomainPolicy(kind: { _, _ in kind })
        local.apply(.configured(domain: "d", isMirrored: true))
        try begin(values)
        // The other host has joined our first writes.
        remote = local.shared
    }

    private var context: EngineContext {
        EngineContext(
            local, profile: Engine.Profile(label: "l", platform: "p", software: "s"), policy: policy,
            limits: EngineLimits(), seed: .local, longValues: nil)
    }

    private mutating func observation(
        _ mark: LibraryWrite?, replacing foreign: PropertyList.Dictionary? = nil
    ) -> Observation {
        now += 1000
        let hash = ContentHash(of: Array("\(now)".utf8))
        return Observation(
            domain: "d", identity: FileIdentity(device: 1, inode: 1, size: 1, modified: now, changed: 0), hash: hash,
            content: .values(file), modified: now, mark: mark, foreign: foreign)
    }

    private mutating func begin(_ values: PropertyList.Dictionary) throws {
        file = values
        let observation = observation(nil)
        var builder = CaptureBuilder(local, policy: policy, mostLosers: 64, at: Moment(now: now, random: 1))
        builder.begin(observation, FileComparison(observation, context), seed: .local)
        let capture = builder.capture(settlesApplication: false)
        local.apply(.captured(try #require(capture)))
    }

    /// The other host changes values, and our file is changed accordingly. A nil value deletes.
    mutating func receive(_ changes: [String: PropertyList?]) throws {
        now += 1000
        var made: [Change] = []
        for (key, value) in changes.sorted(by: { $0.key < $1.key }) {
            let path = Path(keys: key)
            let former = remote.live.value(at: path.prefix(components: 2))
            let written = value.map { WrittenValue.of($0) } ?? .deleted
            let shown = remote.live.shown(at: path.prefix(components: 2))
            let replaced = remote.live.replaced(
                byWriteAt: path, of: written, shown: shown,
                showing: former.map(WrittenValue.value) ?? .deleted)
            let stamp = max(Stamp(clamping: now), replaced.stamp?.next ?? .zero)
            made.append(
                Change(
                    WriteID(random: UInt64(now), path: path, stamp: stamp, value: written), at: path, written,
                    stamp: stamp, covers: replaced.covers))
        }
        sequence += 1
        // Our writes are not published here, so a log cannot name them; the other host's changes arrive as they are.
        remote.apply(made, TransactionID(writer: Self.other, sequence: sequence))
        let before = local.shared.live
        local.shared.apply(made, TransactionID(writer: Self.other, sequence: sequence))
        local.updateExceptions(at: before.keysDiffering(from: local.shared.live), since: before)
        apply()
    }

    /// Changes the file to the view.
    private mutating func apply() {
        let changes = local.pendingChanges(in: Self.domain)
        var past = local.trackedFiles[Self.domain]?.past ?? Past()
        let exceptions = local.trackedFiles[Self.domain]?.exceptions ?? [:]
        past.add(changes) { exceptions[$0]?.shown ?? [] }
        for (key, change) in changes { file[key.key ?? ""] = change.new?.propertyList }
        let observation = observation(nil)
        if isKilled {
            let file = local.trackedFiles[Self.domain]?.file
            let change = DomainChange(domain: Self.domain, file: file, changes: changes)
            local.apply(.intendedApplication(Application(domains: [change])))
            capture(observation, settlesApplication: true)
            return
        }
        local.apply(
            .applied([
                AppliedDomain(
                    domain: Self.domain, file: observation.identity, hash: observation.hash, exceptions: [:],
                    past: past)
            ]))
    }

    @discardableResult
    private mutating func capture(_ observation: Observation, settlesApplication: Bool = false) -> Capture? {
        var builder = CaptureBuilder(local, policy: policy, mostLosers: 64, at: Moment(now: now, random: UInt64(now)))
        var comparison = FileComparison(observation, context)
        comparison.resolveInterrupted(local.interruptedChanges(in: Self.domain))
        builder.add(observation, comparison)
        let capture = builder.capture(settlesApplication: settlesApplication)
        if let capture { local.apply(.captured(capture)) }
        return capture
    }

    /// A program writes the file. Returns what is recorded.
    mutating func write(
        _ values: PropertyList.Dictionary, _ mark: LibraryWrite? = nil,
        replacing foreign: PropertyList.Dictionary? = nil
    ) -> [Change] {
        file = values
        guard let capture = capture(observation(mark, replacing: foreign)) else { return [] }
        remote.join(local.shared)
        return capture.transactions.flatMap(\.changes)
    }

    /// The open conflicts, as places and values.
    var conflicts: [String] { local.shared.live.conflicts.map { "\($0.place) \($0.value)" } }

    var past: Past { local.trackedFiles[Self.domain]?.past ?? Past() }
}

@Suite struct `What a program that writes a file has not read` {
    struct Row: Sendable {
        let what: String
        var kind = MergeKind.value
        let file: PropertyList.Dictionary
        /// What the other host changed, one application after another.
        let received: [[String: PropertyList?]]
        let written: PropertyList.Dictionary
        var mark: LibraryWrite?
        /// What the store has replaced.
        var foreign: PropertyList.Dictionary?
        /// The paths that are written back.
        let reverted: [String]
        /// The open conflicts.
        let conflicts: [String]
    }

    static let rows: [Row] = [
        Row(
            what: "a cache from before the change", file: ["k": 1, "m": 1], received: [["k": 2]],
            written: ["k": 1, "m": 5], reverted: [":d:k"], conflicts: [":d:k 2"]),
        Row(
            what: "nothing, if it keeps a value that came with the one it sets back", file: ["k": 1, "m": 1],
            received: [["k": 2, "m": 2]], written: ["k": 1, "m": 2], reverted: [], conflicts: []),
        Row(
            what: "the second of two changes, if it keeps a value of the first", file: ["k": 1, "m": 1],
            received: [["k": 2, "m": 2], ["k": 3]], written: ["k": 2, "m": 2], reverted: [":d:k"],
            conflicts: [":d:k 3"]),
        Row(
            what: "two changes, in a cache from before both", file: ["k": 1, "m": 1], received: [["k": 2], ["k": 3]],
            written: ["k": 1, "m": 1], reverted: [":d:k"], conflicts: [":d:k 3"]),
        Row(
            what: "changes of two keys", file: ["k": 1, "m": 1], received: [["k": 2], ["m": 2]],
            written: ["k": 1, "m": 1], reverted: [":d:k", ":d:m"], conflicts: [":d:k 2", ":d:m 2"]),
        Row(
            what: "only what came after the newest change that it read", file: ["k": 1, "m": 1, "n": 1],
            received: [["k": 2], ["m": 2], ["n": 2]], written: ["k": 1, "m": 2, "n": 1], reverted: [":d:n"],
            conflicts: [":d:n 2"]),
        Row(
            what: "a new key, which its cache lacks", file: ["k": 1], received: [["m": 2]], written: ["k": 1],
            reverted: [":d:m"], conflicts: [":d:m 2"]),
        Row(
            what: "a deletion", file: ["k": 1, "m": 1], received: [["k": nil]], written: ["k": 1, "m": 1],
            reverted: [":d:k"], conflicts: [":d:k deleted"]),
        Row(
            what: "an entry", kind: .entries, file: ["k": ["a": 1, "b": 1]], received: [["k.a": 2]],
            written: ["k": ["a": 1, "b": 9]], reverted: [":d:k:a"], conflicts: [":d:k:a 2"]),
        Row(
            what: "an entry of an entry", kind: .entries, file: ["k": ["a": ["x": 1, "y": 1]]],
            received: [["k.a.x": 2], ["k.a.x": 3]], written: ["k": ["a": ["x": 1, "y": 7]]],
            reverted: [":d:k:a:x"], conflicts: [":d:k:a:x 3"]),
        Row(
            what: "an entry in a value that is written as a whole", file: ["k": ["a": 1, "b": 1]],
            received: [["k.a": 2]], written: ["k": ["a": 1, "b": 9]], reverted: [":d:k"], conflicts: [":d:k:a 2"]),
        Row(
            what: "a new entry", kind: .entries, file: ["k": ["a": 1]], received: [["k.b": 2]],
            written: ["k": ["a": 1]], reverted: [":d:k:b"], conflicts: [":d:k:b 2"]),
        Row(
            what: "a dictionary that is deleted", kind: .entries, file: ["k": ["a": 1], "m": 1],
            received: [["k": nil]], written: ["k": ["a": 1], "m": 1], reverted: [":d:k:a"],
            conflicts: [":d:k:a deleted"]),
        Row(
            what: "an entry with entries that is deleted", kind: .entries,
            file: ["k": ["a": ["x": 1], "b": 1]], received: [["k.a": nil]],
            written: ["k": ["a": ["x": 1], "b": 1]], reverted: [":d:k:a:x"], conflicts: [":d:k:a:x deleted"]),
        Row(
            what: "nothing that it changes itself, back and forth", file: ["k": 1], received: [],
            written: ["k": 2], reverted: [], conflicts: []),
        Row(
            what: "nothing in keys that the mirror did not change", file: ["k": 1, "m": 1], received: [["m": 2]],
            written: ["k": 2, "m": 2], reverted: [], conflicts: []),
        Row(
            what: "nothing, if the store was used", file: ["k": 1, "m": 1], received: [["k": 2]],
            written: ["k": 1, "m": 5], mark: .write, reverted: [], conflicts: []),
        Row(
            what: "what an old cache had, if the store then wrote another key", file: ["k": 1, "m": 1],
            received: [["k": 2]], written: ["k": 1, "m": 5], mark: .write, foreign: ["k": 1, "m": 1],
            reverted: [":d:k"], conflicts: [":d:k 2"]),
        Row(
            what: "what an old cache had, if the store then wrote the same key", file: ["k": 1, "m": 1],
            received: [["k": 2]], written: ["k": 5, "m": 1], mark: .write, foreign: ["k": 1, "m": 1],
            reverted: [], conflicts: [":d:k 2"]),
        Row(
            what: "nothing, if the program had read the change before the store wrote", file: ["k": 1, "m": 1],
            received: [["k": 2, "m": 2]], written: ["k": 1, "m": 5], mark: .write, foreign: ["k": 2, "m": 2],
            reverted: [], conflicts: []),
        Row(
            what: "a change before one whose value came back", file: ["k": 1, "m": 1],
            received: [["k": 3], ["m": 2], ["k": 1]], written: ["k": 1, "m": 1], reverted: [":d:m"],
            conflicts: [":d:m 2"]),
        Row(
            what: "a change before the deletion of a key that came after its cache", file: ["m": 1],
            received: [["k": 3], ["m": 2], ["k": nil]], written: ["m": 1], reverted: [":d:m"],
            conflicts: [":d:m 2"]),
    ]

    @Test(arguments: rows.indices, [false, true])
    func `stays an open conflict`(_ index: Int, afterKills isKilled: Bool) throws {
        let row = Self.rows[index]
        var scene = try Scene(row.file, kind: row.kind)
        scene.isKilled = isKilled
        for changes in row.received { try scene.receive(changes) }
        let changes = scene.write(row.written, row.mark, replacing: row.foreign)
        #expect(changes.filter { $0.reason == .reverted }.map(\.path.description) == row.reverted, "\(row.what)")
        #expect(scene.conflicts == row.conflicts, "\(row.what)")
        for entry in row.written {
            #expect(
                scene.local.shared.live.value(at: Path(domain: "d", key: entry.key))?.propertyList == entry.value,
                "what the program wrote is in force: \(row.what)")
        }
    }

    @Test func `is nothing when a program toggles a switch`() throws {
        var scene = try Scene(["k": 0, "m": 0])
        try scene.receive(["m": 1])
        for number in 1...20 { #expect(!scene.write(["k": .integer(.init(Int64(number % 2))), "m": 1]).isEmpty) }
        #expect(scene.conflicts == [])
    }

    @Test func `is remembered for a number of changes at a path, and then nothing is covered`() throws {
        for (count, isKnown) in [(64, true), (65, false)] {
            var scene = try Scene(["k": 0, "m": 0])
            for number in 1...count { try scene.receive(["k": .integer(.init(Int64(number)))]) }
            #expect(scene.past.last == UInt64(count) && scene.past.forgotten == (isKnown ? 0 : 1))
            #expect(scene.past.views[Path(keys: "k")]?.count == 64)
            // The program has changed one value, and it is unknown what else it read.
            let changes = scene.write(["k": .integer(.init(Int64(count))), "m": 7])
            #expect(changes.map(\.path.description) == [":d:m"])
            #expect(changes[0].covers.isEmpty == false, "it kept the last value")
            #expect(scene.conflicts == [])
            var stale = try Scene(["k": 0, "m": 0])
            for number in 1...count { try stale.receive(["k": .integer(.init(Int64(number)))]) }
            let written = stale.write(["k": 0, "m": 7])
            #expect(written.map(\.path.description) == [":d:k", ":d:m"])
            #expect(written[1].covers.isEmpty != isKnown)
            #expect(stale.conflicts == (isKnown ? [":d:k \(count)"] : [":d:k \(count)", ":d:m 0"]))
        }
    }

    @Test func `is forgotten from the oldest change on if there is too much`() throws {
        var past = Past()
        let keys = (0..<1000).map { Path(domain: "d", key: "k\(10_000 + $0)") }
        for round in 0..<9 {
            var changes: [Path: TrackedFile.Replacement] = [:]
            for key in keys {
                changes[key] = TrackedFile.Replacement(
                    old: try CanonicalValue(.integer(.init(Int64(round)))),
                    new: try CanonicalValue(.integer(.init(Int64(round + 1)))))
            }
            past.add(changes) { _ in [] }
            #expect(past.views.values.reduce(0) { $0 + $1.count } <= 8192)
        }
        #expect(past.last == 9 && past.forgotten == 1)
        let values = Dictionary(uniqueKeysWithValues: try keys.map { ($0, try CanonicalValue(9)) })
        #expect(past.lastSeen(in: IndexedValues(values)) == 9)
        past.add([keys[0]: TrackedFile.Replacement(old: values[keys[0]], new: nil)]) { _ in [] }
        #expect(
            past.lastSeen(in: IndexedValues(values.filter { $0.key != keys[0] })) == 10, "new changes are remembered")
    }

    @Test func `is found by the value that a change brought`() throws {
        var past = Past()
        let (k, m) = (Path(keys: "k"), Path(keys: "m"))
        let value = { (number: Int64?) in try number.map { try CanonicalValue(.integer(.init($0))) } }
        func add(_ key: Path, _ old: Int64?, _ new: Int64?) throws {
            past.add([key: TrackedFile.Replacement(old: try value(old), new: try value(new))]) { _ in [] }
        }
        past.add([:]) { _ in [] }
        #expect(past.last == 0 && past.lastSeen(in: IndexedValues([:])) == 0)
        try add(k, 1, 2)
        try add(m, nil, 7)
        try add(k, 2, 1)
        try add(k, 1, nil)
        let rows: [([Path: Int64], UInt64)] = [
            ([:], 4), ([k: 2], 1), ([k: 1], 0), ([m: 7], 4), ([k: 2, m: 7], 2), ([k: 5], 0), ([k: 5, m: 8], 0),
        ]
        for (values, seen) in rows {
            #expect(
                past.lastSeen(in: IndexedValues(try values.mapValues { try CanonicalValue(.integer(.init($0))) }))
                    == seen,
                "\(values)"
            )
        }
    }

    @Test func `is named anew when a write is published`() throws {
        var past = Past()
        let (waiting, published) = (AtomName(WriteID(number: 5), nil), AtomName(1, 1))
        let shown = Shown(waiting, Region(edges: "k"), Stamp(number: 1))
        let one = try CanonicalValue(1)
        past.add([Path(keys: "k"): TrackedFile.Replacement(old: one, new: nil)]) { _ in [shown] }
        past.rename([waiting: published])
        let reverted = past.reverted(byWriteAt: Path(keys: "k"), in: IndexedValues([Path(keys: "k"): one]), after: 0)
        #expect(reverted.count == 1 && reverted[0].0 == Region(edges: "k"))
        #expect(reverted.first?.1 == [Shown(published, Region(edges: "k"), Stamp(number: 1))])
    }
}

@Suite struct `What a file shows` {
    @Test func `is cut to regions, and joined by name`() {
        let (one, two) = (AtomName(1, 1), AtomName(2, 1))
        let shown = [
            Shown(one, Region(edges: "k k.a"), Stamp(number: 1)), Shown(two, Region(edges: "k.a"), Stamp(number: 2)),
        ]
        #expect(shown.within(Region(edges: "k.a")) == [shown[1]])
        #expect(shown.within(Region(edges: "k.b")) == [Shown(one, Region(edges: "k.b"), Stamp(number: 1))])
        #expect(shown.subtracting(Region(edges: "k.a")) == [shown[0]] && shown.subtracting(Region(edges: "k")) == [])
        #expect(
            shown.inBoth([Shown(one, Region(edges: "k.b m"), Stamp(number: 1))])
                == [Shown(one, Region(edges: "k.b"), Stamp(number: 1))])
        #expect(shown.inBoth([]) == [] && shown.inBoth(shown) == shown)
    }
}
