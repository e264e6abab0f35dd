import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

@Suite struct `A write` {
    struct Row: Sendable {
        let what: String
        let atoms: [Atom]
        /// The values that the file shows, or nil if it shows what is in force. Empty if that is unknown.
        var shown: [Shown]?
        var path = "k"
        let value: WrittenValue
        let former: PropertyList?
        /// The writer and sequence of each covered value, and its region.
        let covers: [String]
        let stamp: UInt64?
    }

    private static func shown(_ name: AtomName, _ edges: String, _ stamp: UInt64) -> Shown {
        Shown(name, Region(edges: edges), Stamp(number: stamp))
    }

    private static let one = Atom(AtomName(1, 1), "k", .text("1"), 5)
    private static let pair = Atom(AtomName(1, 1), "k", .of(["a": 1, "b": 2]), 5)

    static let rows: [Row] = [
        // (a) What the file showed.
        Row(what: "at the path", atoms: [one], value: .text("2"), former: "1", covers: ["1.1 k"], stamp: 5),
        Row(
            what: "above the path, in this part only", atoms: [pair], path: "k.a", value: .of(3),
            former: ["a": 1, "b": 2], covers: ["1.1 k.a"], stamp: 5),
        Row(
            what: "at and below the path", atoms: [pair, Atom(AtomName(2, 1), "k.a", .of(3), 7)], value: .text("2"),
            former: ["a": 3, "b": 2], covers: ["1.1 k k.a", "2.1 k.a"], stamp: 7),
        Row(
            what: "beside the path remains, and its stamp does not matter",
            atoms: [Atom(AtomName(1, 1), "k.b", .of(2), 9), Atom(AtomName(2, 1), "k.a", .of(1), 5)], path: "k.a",
            value: .of(3), former: ["a": 1, "b": 2], covers: ["2.1 k.a"], stamp: 5),
        Row(
            what: "what the file shows no longer", atoms: [one], shown: [shown(AtomName(3, 1), "k", 2)],
            value: .text("2"), former: "0", covers: ["3.1 k"], stamp: 2),
        Row(
            what: "the deletion that the file showed", atoms: [Atom(AtomName(1, 1), "k", .deleted, 5)],
            value: .text("2"), former: nil, covers: ["1.1 k"], stamp: 5),
        Row(
            what: "where a value has no entry, below it", atoms: [pair], path: "k.c.x", value: .of(3),
            former: ["a": 1, "b": 2], covers: ["1.1 k.c.x"], stamp: 5),
        Row(what: "nothing, where nothing is", atoms: [], value: .text("2"), former: nil, covers: [], stamp: nil),
        // What was not shown remains.
        Row(
            what: "no unseen value that is in force", atoms: [one, Atom(AtomName(2, 1), "k", .text("2"), 9)],
            shown: [shown(AtomName(1, 1), "k", 5)], value: .text("3"), former: "1", covers: ["1.1 k"], stamp: 5),
        Row(
            what: "no open conflict", atoms: [one, Atom(AtomName(2, 1), "k", .text("2"), 3)], value: .text("3"),
            former: "1", covers: ["1.1 k"], stamp: 5),
        Row(
            what: "nothing if the origin of what the file showed is unknown", atoms: [one], shown: [],
            value: .text("3"), former: "1", covers: [], stamp: nil),
        Row(
            what: "no unseen entry", atoms: [pair, Atom(AtomName(2, 1), "k.a", .of(9), 7)],
            shown: [shown(AtomName(1, 1), "k", 5)], value: .text("3"), former: ["a": 1, "b": 2],
            covers: ["1.1 k"], stamp: 5),
        Row(
            what: "only the entry, after a value that an entry hides",
            atoms: [
                Atom(AtomName(1, 1), "k", .text("t"), 9, in: "k k.a"), Atom(AtomName(2, 1), "k.a", .of(1), 5),
            ], value: .text("new"), former: ["a": 1], covers: ["2.1 k.a"], stamp: 9),
        Row(
            what: "beside an entry, what has nothing there like the file",
            atoms: [
                Atom(AtomName(1, 1), "k", .text("t"), 9, in: "k k.a"), Atom(AtomName(2, 1), "k.a", .of(1), 5),
            ], path: "k.b", value: .text("new"), former: ["a": 1], covers: ["1.1 k.b"], stamp: 9),
        // (b) What equals the shown value.
        Row(
            what: "a lost value that equals the shown one",
            atoms: [one, Atom(AtomName(2, 1), "k", .text("1"), 3)], value: .text("3"), former: "1",
            covers: ["1.1 k", "2.1 k"], stamp: 5),
        Row(
            what: "an unseen value that equals the shown one, with its stamp",
            atoms: [one, Atom(AtomName(2, 1), "k", .text("1"), 9)], shown: [shown(AtomName(1, 1), "k", 5)],
            value: .text("3"), former: "1", covers: ["1.1 k", "2.1 k"], stamp: 9),
        Row(
            what: "an entry that equals the part of the shown value",
            atoms: [pair, Atom(AtomName(2, 1), "k.a", .of(1), 3)], value: .text("3"), former: ["a": 1, "b": 2],
            covers: ["1.1 k", "2.1 k.a"], stamp: 5),
        Row(
            what: "the part of a lost value that equals the shown entry",
            atoms: [
                Atom(AtomName(1, 1), "k", .of(["a": 1, "b": 7]), 3),
                Atom(AtomName(2, 1), "k.a", .of(1), 5), Atom(AtomName(2, 2), "k.b", .of(8), 5),
            ], path: "k.a", value: .of(4), former: ["a": 1, "b": 8], covers: ["1.1 k.a", "2.1 k.a"], stamp: 5),
        Row(
            what: "a lost deletion where nothing was shown",
            atoms: [Atom(AtomName(1, 1), "k", .deleted, 5), Atom(AtomName(2, 1), "k", .deleted, 3)],
            value: .text("2"), former: nil, covers: ["1.1 k", "2.1 k"], stamp: 5),
        // (c) What equals the written value.
        Row(
            what: "a lost value that is written again",
            atoms: [one, Atom(AtomName(2, 1), "k", .text("2"), 3)], value: .text("2"), former: "1",
            covers: ["1.1 k", "2.1 k"], stamp: 5),
        Row(
            what: "an unseen value that is written too, with its stamp",
            atoms: [one, Atom(AtomName(2, 1), "k", .text("2"), 9)], shown: [shown(AtomName(1, 1), "k", 5)],
            value: .text("2"), former: "1", covers: ["1.1 k", "2.1 k"], stamp: 9),
        Row(
            what: "a value that is written too, without knowing what was shown",
            atoms: [one, Atom(AtomName(2, 1), "k", .text("2"), 9)], shown: [], value: .text("2"), former: "1",
            covers: ["2.1 k"], stamp: 9),
        Row(
            what: "a lost deletion that is made again",
            atoms: [one, Atom(AtomName(2, 1), "k", .deleted, 3)], value: .deleted, former: "1",
            covers: ["1.1 k", "2.1 k"], stamp: 5),
        Row(
            what: "an entry that equals the part of the written value",
            atoms: [one, Atom(AtomName(2, 1), "k.a", .of(4), 3)], value: .of(["a": 4]), former: "1",
            covers: ["1.1 k", "2.1 k.a"], stamp: 5),
        Row(
            what: "the part of a lost value that equals the written entry",
            atoms: [one, Atom(AtomName(2, 1), "k", .of(["a": 4, "b": 5]), 3)], path: "k.a", value: .of(4),
            former: "1", covers: ["1.1 k.a", "2.1 k.a"], stamp: 5),
        // Counts of older values go only by `accept`.
        Row(
            what: "no count of older values", atoms: [one, Atom(AtomName(2, 1), "k", .of(4), 3, .older)],
            value: .of(4), former: "1", covers: ["1.1 k"], stamp: 5),
        Row(
            what: "everything, if each host keeps the value",
            atoms: [
                one, Atom(AtomName(2, 1), "k", .of(4), 9, .older), Atom(AtomName(3, 1), "k", .text("2"), 3),
                Atom(AtomName(3, 2), "k.a", .text("2"), 7),
            ], shown: [], value: .left, former: nil, covers: ["1.1 k", "2.1 k", "3.1 k", "3.2 k.a"], stamp: 9),
    ]

    @Test(arguments: rows.indices) func `covers what it replaces, and is stamped after that`(_ index: Int) {
        let row = Self.rows[index]
        let (state, key) = (MergeState(row.atoms), Path(keys: "k"))
        let replaced = state.replaced(
            byWriteAt: Path(keys: row.path), of: row.value, shown: row.shown ?? state.shown(at: key),
            showing: row.shown?.isEmpty ?? false ? nil : row.former.map { WrittenValue.of($0) } ?? .deleted)
        let covers = replaced.covers.map { cover in
            let edges = cover.region.edges.map { $0.keys.dropFirst().joined(separator: ".") }
            return "\(cover.name.id.number >> 32).\(cover.name.dot!.sequence) " + edges.joined(separator: " ")
        }
        #expect(covers == row.covers, "\(row.what)")
        #expect(replaced.stamp?.number == row.stamp, "\(row.what)")
    }

    /// A third value, which had lost to what the write covers, must not come into force.
    @Test(arguments: [false, true]) func `brings itself into force, or leaves what was in force`(_ lags: Bool) {
        for round in 0..<400 {
            var history = History("third values", round: round)
            history.run(steps: 25)
            let states = (history.hosts + history.bases).map(\.state.live).shuffled(using: &history.generator)
            let before = states[0]
            // The file shows what was in force in another state, or in this one.
            let file = lags ? states[1] : before
            let path = PlaceTree.written.randomElement(using: &history.generator)!
            let (key, value) = (path.prefix(components: 2), PlaceTree.values.randomElement(using: &history.generator)!)
            let replaced = before.replaced(
                byWriteAt: path, of: value, shown: file.shown(at: key),
                showing: file.value(at: key).map(WrittenValue.value) ?? .deleted)
            let stamp = replaced.stamp?.next ?? .zero
            let change = Change(
                WriteID(number: .max), at: path, value, stamp: stamp, covers: replaced.covers)
            var after = SharedState()
            after.live = before
            after.apply([change], nil)
            let winner = { (state: MergeState, place: Path) in state.cells(under: place).first?.live.first?.name }
            let comment: Comment = "\(Seed.ofThisRun) round \(round)"
            for place in PlaceTree.places {
                let (former, now) = (winner(before, place), winner(after.live, place))
                if !lags, path.isPrefix(of: place) { #expect(now?.id == change.id, comment) }
                #expect(now?.id == change.id || now == former, comment)
            }
        }
    }

    @Test func `shows what is in force at each place of a key, and nothing where nothing is`() {
        let state = MergeState([
            Self.pair, Atom(AtomName(2, 1), "k", .text("lost"), 1), Atom(AtomName(2, 2), "k.a", .deleted, 9),
            Atom(AtomName(2, 3), "m", .text("m"), 1), Atom(AtomName(2, 4), "n", .of(3), 1, .older),
            Atom(AtomName(2, 5), "n.a", .of(3), 1, in: "n.a.x"),
        ])
        let shown = { (key: String) in Set(state.shown(at: Path(keys: key))) }
        #expect(
            shown("k") == [Self.shown(AtomName(1, 1), "k k.a", 5), Self.shown(AtomName(2, 2), "k.a", 9)])
        #expect(shown("m") == [Self.shown(AtomName(2, 3), "m", 1)])
        #expect(shown("n") == [Self.shown(AtomName(2, 5), "n.a.x", 1)] && shown("o") == [])
    }
}
