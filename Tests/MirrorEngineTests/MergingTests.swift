import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

/// Hosts that write one key, and what their users meant and had seen.
private struct MergingHistory {
    /// A write, as its user meant it.
    struct Intention {
        enum What {
            /// The value as a whole, or its removal.
            case whole(PropertyList?)
            case adds(PropertyList)
            case removes(PropertyList)
            case counts(Int)
            case competes(PropertyList)
        }

        let what: What
        /// The writes that its host knew.
        let seen: Set<Int>
    }

    struct Host {
        var state = SharedState()
        var known: Set<Int> = []
        let writer: WriterID
        var sequence: UInt64 = 0
    }

    static let key = Path(domain: "d", key: "k")
    let kind: MergeKind
    var generator: SeededGenerator
    var hosts: [Host]
    private(set) var intentions: [Intention] = []

    init(_ kind: MergeKind, round: Int) {
        self.kind = kind
        generator = SeededGenerator(stream: "merging \(kind)", round: round)
        hosts = (1...3).map { Host(writer: WriterID(number: $0)) }
        // A value from the time before the rule was declared.
        guard chance(0.5) else { return }
        let value: PropertyList = kind == .set ? ["a", "b"] : 50
        write(.whole(value), from: nil, to: value, .value, on: 0)
        for host in 1...2 { exchange(from: 0, to: host) }
    }

    mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < probability }

    mutating func step() {
        let (one, other) = (Int.random(in: 0..<3, using: &generator), Int.random(in: 0..<3, using: &generator))
        guard chance(0.6) else { return exchange(from: other, to: one) }
        let old = hosts[one].state.live.value(at: Self.key)
        let isWhole = chance(0.15)
        guard let (new, what) = change(of: old?.propertyList, isWhole: isWhole) else { return }
        write(what, from: old, to: new, isWhole ? .value : kind, on: one)
    }

    private mutating func exchange(from one: Int, to other: Int) {
        hosts[other].state.join(hosts[one].state)
        hosts[other].known.formUnion(hosts[one].known)
    }

    private mutating func write(
        _ what: Intention.What, from old: CanonicalValue?, to new: PropertyList?, _ kind: MergeKind, on host: Int
    ) {
        defer {
            intentions.append(Intention(what: what, seen: hosts[host].known))
            hosts[host].known.insert(intentions.count - 1)
        }
        let live = hosts[host].state.live
        let number = UInt64(intentions.count)
        let writes = Difference.writes(
            from: old, to: new.flatMap { try? CanonicalValue($0) }, at: Self.key, kind: kind, number: number)
        let changes = writes.map { write in
            let replaced = live.replaced(
                byWriteAt: write.path, of: write.value, shown: live.shown(at: Self.key),
                showing: old.map(WrittenValue.value) ?? .deleted)
            return Change(
                WriteID(number: number), at: write.path, write.remains,
                stamp: Stamp(number: number + 1), covers: replaced.covers)
        }
        hosts[host].sequence += 1
        let dot = TransactionID(writer: hosts[host].writer, sequence: hosts[host].sequence)
        let entry = VersionVector.Entry(sequence: dot.sequence, tag: FileTag(number: UInt32(number + 1)))
        hosts[host].state.vector.raise(dot.writer, to: entry)
        hosts[host].state.apply(changes, dot)
    }

    private mutating func change(of old: PropertyList?, isWhole: Bool) -> (PropertyList?, Intention.What)? {
        if isWhole {
            let new: PropertyList? = kind == .set ? [] : nil
            return new == old ? nil : (new, .whole(new))
        }
        switch kind {
        case .set:
            let (elements, element) = (old?.arrayValue ?? [], PropertyList.string(pick(["a", "b", "c", "d"])))
            guard elements.contains(element) else { return (.array(elements + [element]), .adds(element)) }
            // An empty array is written as a whole.
            guard elements.count > 1 else { return (.array([]), .whole(.array([]))) }
            return (.array(elements.filter { $0 != element }), .removes(element))
        case .counter:
            let addend = Int.random(in: -3...5, using: &generator)
            guard addend != 0, case .integer(let number)? = old ?? .integer(0) else { return nil }
            return (.integer(PropertyList.Integer((Int(exactly: number) ?? 0) + addend)), .counts(addend))
        default:
            let new = PropertyList.integer(PropertyList.Integer(Int.random(in: 0..<100, using: &generator)))
            return new == old ? nil : (new, .competes(new))
        }
    }

    private mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &generator) ?? "" }
}

extension MergingHistory {
    /// The value that a host must show, by what users meant.
    func expected(_ host: Host) -> PropertyList? {
        let known = host.known.sorted().map { (number: $0, what: intentions[$0].what, seen: intentions[$0].seen) }
        let live = known.filter { write in
            !known.contains { other in
                switch other.what {
                case .whole, .competes: other.seen.contains(write.number)
                case .removes(let element):
                    if case .adds(element) = write.what { other.seen.contains(write.number) } else { false }
                default: false
                }
            }
        }
        let wholes = live.compactMap { write in
            if case .whole(let value) = write.what { (number: write.number, value: value) } else { nil }
        }
        let base = wholes.last?.value
        switch kind {
        case .set:
            let kept = (base?.arrayValue ?? []).filter { element in
                !known.contains { other in
                    guard case .removes(element) = other.what else { return false }
                    return wholes.contains { other.seen.contains($0.number) }
                }
            }
            let added = live.compactMap { if case .adds(let element) = $0.what { element } else { nil } }
            let elements = Set(kept + added).sorted { $0.stringValue ?? "" < $1.stringValue ?? "" }
            return elements.isEmpty && base == nil ? nil : .array(elements)
        case .counter:
            let addends = live.compactMap { if case .counts(let number) = $0.what { number } else { nil } }
            if addends.isEmpty { return base }
            return .integer(PropertyList.Integer((base?.number ?? 0) + addends.reduce(0, +)))
        default:
            let candidates = live.compactMap { if case .competes(let value) = $0.what { value.number } else { nil } }
            if candidates.isEmpty { return base }
            let all = candidates + [base?.number].compactMap { $0 }
            return (kind == .maximum ? all.max() : all.min()).map { .integer(PropertyList.Integer($0)) }
        }
    }
}

extension PropertyList {
    fileprivate var number: Int? { if case .integer(let number) = self { Int(exactly: number) } else { nil } }
}

extension MergeKind {
    fileprivate static let withAnswer: [MergeKind] = [.set, .counter, .maximum, .minimum]
}

@Suite struct `Merged values` {
    private static let rounds = Extent.isFull ? 25_000 : 500

    @Test(arguments: MergeKind.withAnswer)
    func `are what all users meant, whatever each had seen`(_ kind: MergeKind) throws {
        for round in 0..<Self.rounds {
            var history = MergingHistory(kind, round: round)
            for step in 0..<24 {
                history.step()
                for host in history.hosts {
                    let comment: Comment = "\(Seed.ofThisRun) \(kind) round \(round) step \(step)"
                    let value = host.state.live.value(at: MergingHistory.key)?.propertyList
                    #expect(value == history.expected(host), comment)
                    #expect(host.state.live.conflicts.isEmpty, comment)
                    // What a host has replaced leaves nothing behind.
                    if case .whole? = host.known.max().map({ history.intentions[$0].what }),
                        history.intentions[host.known.max() ?? 0].seen.count + 1 == host.known.count
                    {
                        #expect(host.state.live.count == 1, comment)
                    }
                }
            }
        }
    }

    @Test(arguments: MergeKind.withAnswer)
    func `are joined commutatively, associatively and idempotently`(_ kind: MergeKind) {
        for round in 0..<Self.rounds {
            var history = MergingHistory(kind, round: round)
            for _ in 0..<16 { history.step() }
            let comment: Comment = "\(Seed.ofThisRun) \(kind) round \(round)"
            let (a, b, c) = (history.hosts[0].state, history.hosts[1].state, history.hosts[2].state)
            #expect(a.joined(b) == b.joined(a), comment)
            #expect(a.joined(b).joined(c) == a.joined(b.joined(c)), comment)
            #expect(a.joined(b).joined(b) == a.joined(b), comment)
        }
    }
}

/// Values that hosts with and without the schema have written at one place.
@Suite struct `Values of different kinds` {
    private struct Row: Sendable {
        let what: String
        /// The values that were written, each later than the ones before it: with the rule, or as a whole.
        let writes: [(kind: MergeKind, value: PropertyList?)]
        let inForce: PropertyList?
        var lost: [String] = []
    }

    private static let rows: [Row] = [
        Row(what: "an array and an unseen element", writes: [(.set, ["a"]), (.value, ["b"])], inForce: ["a", "b"]),
        Row(what: "a deletion and an unseen element", writes: [(.set, ["a"]), (.value, nil)], inForce: ["a"]),
        Row(
            what: "two arrays and an element", writes: [(.value, ["a"]), (.value, ["b"]), (.set, ["c"])],
            inForce: ["b", "c"], lost: ["[\"a\"]"]),
        Row(
            what: "an array whose elements are in force",
            writes: [(.value, ["c"]), (.value, ["b", "c"]), (.set, ["a"])],
            inForce: ["a", "b", "c"]),
        Row(what: "a text and an element", writes: [(.set, ["a"]), (.value, "x")], inForce: ["a"], lost: ["\"x\""]),
        Row(what: "an integer and numbers to add", writes: [(.counter, 2), (.value, 10), (.counter, 3)], inForce: 15),
        Row(
            what: "two integers and a number to add", writes: [(.value, 7), (.value, 10), (.counter, 3)], inForce: 13,
            lost: ["7"]),
        Row(what: "a text and a number to add", writes: [(.counter, 2), (.value, "x")], inForce: 2, lost: ["\"x\""]),
        Row(
            what: "sums that no integer can hold",
            writes: [(.counter, .integer(PropertyList.Integer(UInt64.max))), (.counter, 9)],
            inForce: .integer(PropertyList.Integer(UInt64.max))),
        Row(what: "numbers and a candidate", writes: [(.value, 9), (.value, 5), (.maximum, 3)], inForce: 9),
        Row(
            what: "numbers, dates and versions",
            writes: [(.maximum, 5), (.maximum, "1.10"), (.maximum, "1.9"), (.maximum, 7.5)], inForce: "1.10"),
        Row(what: "integers and reals", writes: [(.minimum, 2), (.minimum, 1.5), (.minimum, -3)], inForce: -3),
        Row(
            what: "an array and a candidate", writes: [(.maximum, 3), (.value, ["a"])], inForce: 3,
            lost: ["[\"a\"]"]),
        Row(
            what: "an element and a number to add", writes: [(.set, ["a"]), (.counter, 3)], inForce: 3,
            lost: ["\"a\""]),
        Row(
            what: "two records",
            writes: [(.list(identity: "id"), [["id": 1, "x": 1]]), (.list(identity: "id"), [["id": 2]])],
            inForce: [["id": 2], ["id": 1, "x": 1]]),
        Row(
            what: "entries of one record",
            writes: [(.list(identity: "id"), [["id": 1, "x": 1]]), (.list(identity: "id"), [["id": 1, "y": 2]])],
            inForce: [["id": 1, "x": 1, "y": 2]]),
        Row(
            what: "one entry of a record",
            writes: [(.list(identity: "id"), [["id": "a", "x": 1]]), (.list(identity: "id"), [["id": "a", "x": 2]])],
            inForce: [["id": "a", "x": 2]], lost: ["1"]),
        Row(
            what: "an array and a record", writes: [(.list(identity: "id"), [["id": 1]]), (.value, [["id": 2]])],
            inForce: [["id": 2]], lost: ["1"]),
        Row(
            what: "an element and a record", writes: [(.set, ["a"]), (.list(identity: "id"), [["id": 1]])],
            inForce: [["id": 1]], lost: ["\"a\""]),
        Row(
            what: "a number to add and an entry", writes: [(.counter, 3), (.entries, ["x": 1])], inForce: ["x": 1],
            lost: ["3"]),
    ]

    @Test(arguments: rows.indices) func `are combined, or open conflicts`(_ index: Int) throws {
        let (row, key) = (Self.rows[index], MergingHistory.key)
        var states: [SharedState] = []
        for (number, write) in row.writes.enumerated() {
            let value = try write.value.map { try CanonicalValue($0) }
            // A deletion needs something to delete.
            let old = value == nil ? try CanonicalValue("old") : nil
            let changes = Difference.writes(from: old, to: value, at: key, kind: write.kind, number: UInt64(number))
                .map {
                    Change(WriteID(number: UInt64(number)), at: $0.path, $0.value, stamp: Stamp(number: UInt64(number)))
                }
            var state = SharedState()
            let dot = TransactionID(writer: WriterID(number: UInt64(number + 1)), sequence: 1)
            state.vector.raise(dot.writer, to: VersionVector.Entry(sequence: 1, tag: FileTag(number: 1)))
            state.apply(changes, dot)
            states.append(state)
        }
        for order in [states, states.reversed()] {
            var state = SharedState()
            for other in order { state.join(other) }
            #expect(state.live.value(at: key)?.propertyList == row.inForce, "\(row.what)")
            let lost = state.live.conflicts.map { "\($0.value.value?.propertyList ?? "deleted")" }
            #expect(lost == row.lost, "\(row.what)")
            // After they are accepted, none is left, and the value is the same.
            let changes = state.live.conflicts.map { conflict in
                Change(WriteID(number: 99), at: conflict.place, nil, stamp: .zero, covers: conflict.covers)
            }
            state.apply(changes, TransactionID(writer: WriterID(number: 99), sequence: 1))
            #expect(state.live.conflicts.isEmpty, "\(row.what)")
            #expect(state.live.value(at: key)?.propertyList == row.inForce, "\(row.what)")
        }
    }
}
