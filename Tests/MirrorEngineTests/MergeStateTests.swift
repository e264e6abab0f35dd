import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

@Suite struct `The view of written values` {
    private static let dictionary: WrittenValue = .of(["a": 1, "b": ["x": 2]])

    /// Written values, and the value of the key `k`, or nil if there is none.
    static let rows: [(String, [Atom], PropertyList?)] = [
        ("one value", [Atom(AtomName(1, 1), "k", .text("1"), 1)], "1"),
        ("a deletion", [Atom(AtomName(1, 1), "k", .deleted, 1)], nil),
        ("a key that each host keeps", [Atom(AtomName(1, 1), "k", .left, 1)], nil),
        (
            "the later of two", [Atom(AtomName(1, 1), "k", .text("1"), 2), Atom(AtomName(2, 1), "k", .text("2"), 1)],
            "1"
        ),
        (
            "the greater name of two with one stamp",
            [Atom(AtomName(1, 1), "k", .text("1"), 1), Atom(AtomName(2, 1), "k", .text("2"), 1)], "2"
        ),
        (
            "an entry in a dictionary",
            [Atom(AtomName(1, 1), "k", dictionary, 1), Atom(AtomName(1, 2), "k.a", .text("e"), 2)],
            ["a": "e", "b": ["x": 2]]
        ),
        (
            "an entry that is earlier than its dictionary",
            [Atom(AtomName(1, 1), "k", dictionary, 2), Atom(AtomName(1, 2), "k.a", .text("e"), 1)],
            ["a": 1, "b": ["x": 2]]
        ),
        (
            "an entry of an entry",
            [Atom(AtomName(1, 1), "k", dictionary, 1), Atom(AtomName(1, 2), "k.b.y", .text("e"), 2)],
            ["a": 1, "b": ["x": 2, "y": "e"]]
        ),
        ("an entry alone", [Atom(AtomName(1, 2), "k.b.y", .text("e"), 2)], ["b": ["y": "e"]]),
        (
            "an entry in a value that is no dictionary",
            [Atom(AtomName(1, 1), "k", .text("t"), 1), Atom(AtomName(1, 2), "k.a", .text("e"), 2)], ["a": "e"]
        ),
        (
            "a deleted entry",
            [Atom(AtomName(1, 1), "k", dictionary, 1), Atom(AtomName(1, 2), "k.b.x", .deleted, 2)],
            ["a": 1, "b": [:]]
        ),
        (
            "a deleted entry in a value that is no dictionary",
            [Atom(AtomName(1, 1), "k", .text("t"), 1), Atom(AtomName(1, 2), "k.a", .deleted, 2)], "t"
        ),
        (
            "an entry above which a deletion is earlier",
            [Atom(AtomName(1, 1), "k", .deleted, 1), Atom(AtomName(1, 2), "k.a", .text("e"), 2)], ["a": "e"]
        ),
        (
            "a deletion above an earlier entry",
            [Atom(AtomName(1, 1), "k", .deleted, 2), Atom(AtomName(1, 2), "k.a", .text("e"), 1)], nil
        ),
        (
            "a later value at a nested entry than a deletion between",
            [
                Atom(AtomName(1, 1), "k", dictionary, 1), Atom(AtomName(1, 2), "k.b", .deleted, 2),
                Atom(AtomName(1, 3), "k.b.z", .text("e"), 3),
            ], ["a": 1, "b": ["z": "e"]]
        ),
        (
            "a value without a part of it", [Atom(AtomName(1, 1), "k", dictionary, 1, in: "k k.b")],
            ["a": 1]
        ),
        (
            "only a part of a value", [Atom(AtomName(1, 1), "k", dictionary, 1, in: "k.b")], ["b": ["x": 2]]
        ),
        (
            "a part of a value, and another below",
            [Atom(AtomName(1, 1), "k", dictionary, 1, in: "k k.b k.b.x")], ["a": 1, "b": ["x": 2]]
        ),
        (
            "the parts of two values",
            [
                Atom(AtomName(1, 1), "k", dictionary, 2, in: "k k.b"),
                Atom(AtomName(2, 1), "k", .of(["a": 7, "b": 8]), 1),
            ], ["a": 1, "b": 8]
        ),
        (
            "a count of older values is never in force",
            [
                Atom(AtomName(1, 1), "k", .of(9), 5, .older), Atom(AtomName(1, 2), "k", .text("1"), 1),
            ], "1"
        ),
        (
            "a value that was found, where another is",
            [
                Atom(AtomName(3, 1), "k", .text("found"), 0, .found), Atom(AtomName(1, 2), "k", .text("1"), 1),
            ], "1"
        ),
    ]

    @Test(arguments: rows.indices) func `has one value at each key`(_ index: Int) {
        let (what, atoms, value) = Self.rows[index]
        let key = Path(keys: "k")
        for atoms in [atoms, atoms.reversed()] {
            let state = MergeState(atoms)
            #expect(state.value(at: key)?.propertyList == value, "\(what)")
            #expect(state.keys(of: "d").map(\.key) == (value == nil ? [] : ["k"]), "\(what)")
            #expect(state.keys(of: "d").first?.value.propertyList == value, "\(what)")
            #expect(state.value(at: Path(domain: "d"))?.propertyList == value.map { ["k": $0] }, "\(what)")
        }
    }

    @Test func `omits the same entries on all hosts if the whole would exceed the limit of a value`() {
        let half = WrittenValue.text(String(repeating: "x", count: CanonicalValue.longest / 2))
        let atoms = ["k.a", "k.b", "k.c"].enumerated().map { Atom(AtomName(1, UInt64($0) + 1), $1, half, 1) }
        var state = MergeState(atoms)
        #expect(state.value(at: Path(keys: "k"))?.propertyList.dictionaryValue?.map(\.key) == ["a"])
        state.cover(AtomName(1, 1), Region(edges: "k.a"))
        #expect(state.value(at: Path(keys: "k"))?.propertyList.dictionaryValue?.map(\.key) == ["b"])
        let small = MergeState([atoms[0], Atom(AtomName(1, 2), "k.b", .text("b"), 1)])
        #expect(small.value(at: Path(keys: "k"))?.propertyList.dictionaryValue?.map(\.key) == ["a", "b"])
    }
}

@Suite struct `The cells of a key` {
    private static func text(_ state: MergeState, _ path: String = "k") -> [String] {
        state.cells(under: Path(keys: path)).map { cell in
            let names = cell.live.map { "\($0.stamp.number)" }.joined(separator: " ")
            return "\(cell.place.keys.dropFirst().joined(separator: ".")): \(names)"
        }
    }

    @Test func `are the places at which something begins or ends to be live`() {
        let atoms = [
            Atom(AtomName(1, 1), "k", .text("1"), 1, in: "k k.b"), Atom(AtomName(1, 2), "k", .text("2"), 2),
            Atom(AtomName(1, 3), "k.a.x", .text("3"), 3), Atom(AtomName(1, 4), "m", .text("4"), 4),
        ]
        let state = MergeState(atoms)
        #expect(Self.text(state) == ["k: 2 1", "k.a.x: 3 2 1", "k.b: 2"])
        #expect(Self.text(state, "k.a") == ["k.a: 2 1", "k.a.x: 3 2 1"])
        #expect(Self.text(state, "k.a.x.q") == ["k.a.x.q: 3 2 1"])
        #expect(Self.text(state, "none") == ["none: "])
        let cells = state.cells(under: Path(keys: "k"))
        #expect(cells.map(\.region) == ["k k.a.x k.b", "k.a.x", "k.b"].map { Region(edges: $0) })
    }
}

@Suite struct `Open conflicts` {
    private static let (a, b) = (WrittenValue.of(["a": 1]), WrittenValue.of(["a": 2]))

    /// Written values, and the conflicts: the place, the value that lost, and how many writes wrote it.
    static let rows: [(String, [Atom], [String])] = [
        ("none with one value", [Atom(AtomName(1, 1), "k", .text("1"), 1)], []),
        (
            "the earlier of two",
            [Atom(AtomName(1, 1), "k", .text("1"), 1), Atom(AtomName(2, 1), "k", .text("2"), 2)], [#":d:k "1" 1"#]
        ),
        (
            "none of equal values",
            [Atom(AtomName(1, 1), "k", .text("1"), 1), Atom(AtomName(2, 1), "k", .text("1"), 2)], []
        ),
        (
            "several values, the latest first",
            [
                Atom(AtomName(1, 1), "k", .text("1"), 1), Atom(AtomName(2, 1), "k", .text("2"), 2),
                Atom(AtomName(3, 1), "k", .text("3"), 3), Atom(AtomName(4, 1), "k", .text("1"), 0),
            ], [#":d:k "2" 1"#, #":d:k "1" 2"#]
        ),
        (
            "a lost deletion", [Atom(AtomName(1, 1), "k", .deleted, 1), Atom(AtomName(2, 1), "k", .text("2"), 2)],
            [":d:k deleted 1"]
        ),
        (
            "a value lost to a deletion",
            [Atom(AtomName(1, 1), "k", .text("1"), 1), Atom(AtomName(2, 1), "k", .deleted, 2)], [#":d:k "1" 1"#]
        ),
        (
            "none of two deletions", [Atom(AtomName(1, 1), "k", .deleted, 1), Atom(AtomName(2, 1), "k", .deleted, 2)],
            []
        ),
        (
            "none of a key that its writer left to each host",
            [Atom(AtomName(1, 1), "k", .left, 1), Atom(AtomName(2, 1), "k", .text("2"), 2)], []
        ),
        (
            "a value lost to leaving the key to each host",
            [Atom(AtomName(1, 1), "k", .text("1"), 1), Atom(AtomName(2, 1), "k", .left, 2)], [#":d:k "1" 1"#]
        ),
        (
            "none of a dictionary without an entry that is in force",
            [Atom(AtomName(1, 1), "k", .of(["b": 1]), 1), Atom(AtomName(2, 1), "k.a", .text("2"), 2)], []
        ),
        (
            "none of two deletions above an entry that is in force, except where the entry is",
            [
                Atom(AtomName(1, 1), "k", .deleted, 5), Atom(AtomName(2, 1), "k", .deleted, 4),
                Atom(AtomName(3, 1), "k.a", .text("2"), 9),
            ], [":d:k:a deleted 2"]
        ),
        (
            "the entry of a dictionary that lost to an entry",
            [Atom(AtomName(1, 1), "k", a, 1), Atom(AtomName(2, 1), "k.a", .text("2"), 2)], [":d:k:a 1 1"]
        ),
        (
            "an entry that lost to a dictionary",
            [Atom(AtomName(1, 1), "k", a, 2), Atom(AtomName(2, 1), "k.a", .text("2"), 1)], [#":d:k:a "2" 1"#]
        ),
        (
            "an entry that lost to a dictionary without it",
            [Atom(AtomName(1, 1), "k", .of(["b": 1]), 2), Atom(AtomName(2, 1), "k.a", .text("2"), 1)],
            [#":d:k:a "2" 1"#]
        ),
        (
            "an entry that lost to a deletion above",
            [Atom(AtomName(1, 1), "k", .deleted, 2), Atom(AtomName(2, 1), "k.a", .text("2"), 1)], [#":d:k:a "2" 1"#]
        ),
        (
            "a deletion above an entry that is in force, where the entry is",
            [Atom(AtomName(1, 1), "k", .deleted, 1), Atom(AtomName(2, 1), "k.a", .text("2"), 2)],
            [":d:k:a deleted 1"]
        ),
        (
            "an equal entry is none",
            [Atom(AtomName(1, 1), "k", a, 2), Atom(AtomName(2, 1), "k.a", .of(1), 1)], []
        ),
        (
            "one item for a dictionary and all its parts",
            [
                Atom(AtomName(1, 1), "k", a, 1), Atom(AtomName(2, 1), "k", b, 2),
                Atom(AtomName(3, 1), "k", b, 0, in: "k k.q"),
            ], [#":d:k {"a":1} 1"#]
        ),
        (
            "an item of its own where another value is in force",
            [
                Atom(AtomName(1, 1), "k", a, 1), Atom(AtomName(2, 1), "k", .of(["a": 2, "b": 3]), 2),
                Atom(AtomName(3, 1), "k.a", .of(5), 3),
            ], [#":d:k {"a":1} 1"#, ":d:k:a 2 1", ":d:k:a 1 1"]
        ),
        (
            "a dictionary that is a part of the one in force, because its writer can have removed entries",
            [
                Atom(AtomName(1, 1), "k", .of(["a": ["x": 1]]), 1),
                Atom(AtomName(2, 1), "k", .of(["a": ["x": 1, "y": 2], "b": 1]), 2),
            ], [#":d:k {"a":{"x":1}} 1"#]
        ),
        (
            "what a dictionary lacks, where a lost entry is",
            [
                Atom(AtomName(1, 1), "k", .of(["a": 1]), 3), Atom(AtomName(2, 1), "k.a", .text("t"), 2),
                Atom(AtomName(3, 1), "k", .of([:]), 1),
            ], [#":d:k:a "t" 1"#, ":d:k:a deleted 1"]
        ),
        (
            "a dictionary that has more than the one in force",
            [
                Atom(AtomName(1, 1), "k", .of(["a": ["x": 1, "y": 2]]), 1),
                Atom(AtomName(2, 1), "k", .of(["a": ["x": 1]]), 2),
            ], [#":d:k {"a":{"x":1,"y":2}} 1"#]
        ),
        (
            "a value that is no dictionary because of an entry in force below it",
            [Atom(AtomName(1, 1), "k", .text("t"), 1), Atom(AtomName(2, 1), "k.a", .text("e"), 2)],
            [#":d:k "t" 1"#]
        ),
        (
            "only where the value remains",
            [Atom(AtomName(1, 1), "k", a, 1, in: "k.a"), Atom(AtomName(2, 1), "k", b, 2)], [":d:k:a 1 1"]
        ),
        (
            "none where it was covered",
            [Atom(AtomName(1, 1), "k", a, 1, in: "k k.a"), Atom(AtomName(2, 1), "k", b, 2)], []
        ),
        (
            "none of a dictionary whose entries were all replaced where they are",
            [Atom(AtomName(1, 1), "k", a, 1, in: "k k.a"), Atom(AtomName(2, 1), "k", .text("t"), 2)], []
        ),
        (
            "a count of older values, last",
            [
                Atom(AtomName(1, 1), "k", .of(4), 9, .older), Atom(AtomName(2, 1), "k", .text("2"), 2),
                Atom(AtomName(3, 1), "k", .text("1"), 1), Atom(AtomName(4, 1), "k", .of(4), 1),
            ], [":d:k 4 1", #":d:k "1" 1"#, ":d:k 4 1 older"]
        ),
        (
            "the sum of two counts of older values",
            [
                Atom(AtomName(1, 1), "k", .of(4), 9, .older), Atom(AtomName(2, 1), "k", .of(4), 9, .older),
                Atom(AtomName(3, 1), "k", .text("1"), 1),
            ], [":d:k 8 2 older"]
        ),
        (
            "in order of their places",
            [
                Atom(AtomName(1, 1), "m", .text("1"), 1), Atom(AtomName(2, 1), "m", .text("2"), 2),
                Atom(AtomName(1, 2), "k", .text("1"), 1), Atom(AtomName(2, 2), "k", .text("2"), 2),
            ], [#":d:k "1" 1"#, #":d:m "1" 1"#]
        ),
    ]

    @Test(arguments: rows.indices) func `are listed once for each lost value, at the shallowest place`(_ index: Int) {
        let (what, atoms, expected) = Self.rows[index]
        for atoms in [atoms, atoms.reversed()] {
            let conflicts = MergeState(atoms).conflicts
            let lines = conflicts.map { conflict in
                "\(conflict.place) \(conflict.value) \(conflict.losers.count)\(conflict.isOfOlder ? " older" : "")"
            }
            #expect(lines == expected, "\(what)")
        }
    }

    /// What is left of the dictionary is `{"a":{}}`. It is not listed, because entries make the place a dictionary.
    @Test func `bring no hidden value into force once they are accepted`() {
        var state = SharedState()
        state.live = MergeState([
            Atom(AtomName(1, 1), "k", .of(["a": ["x": 2]]), 1, in: "k k.a.x"),
            Atom(AtomName(2, 1), "k", .of(2), 2, in: "k k.a.x k.b"),
            Atom(AtomName(3, 1), "k.b", .of([:]), 3), Atom(AtomName(4, 1), "k.a.x", .deleted, 4),
        ])
        let value = state.live.value(at: Path(keys: "k"))
        #expect(value?.propertyList == ["b": [:]])
        let conflicts = state.live.conflicts
        #expect(conflicts.map(\.value.description) == ["2"])
        let covers = conflicts.flatMap(\.covers).joined
        state.apply([Change(WriteID(number: 9), at: Path(keys: "k"), nil, stamp: .zero, covers: covers)], nil)
        #expect(state.live.conflicts.isEmpty && state.live.value(at: Path(keys: "k")) == value)
    }

    @Test func `below a path are listed without the ones beside it`() {
        let atoms = ["k.a", "k.b"].enumerated().flatMap { index, path in
            [
                Atom(AtomName(1, UInt64(index) + 1), path, .text("1"), 1),
                Atom(AtomName(2, UInt64(index) + 1), path, .text("2"), 2),
            ]
        }
        let state = MergeState(atoms)
        let places = { (path: String) in state.conflicts(under: Path(keys: path)).map(\.place.description) }
        #expect(places("k") == [":d:k:a", ":d:k:b"] && places("k.a") == [":d:k:a"] && places("k.c") == [])
        #expect(state.conflicts(under: Path(keys: "k.a.x")).map(\.value) == [])
    }

    @Test func `have names that depend on the mirror, the place and the value only`() throws {
        let mirror = MirrorID(high: 1, low: 2)
        func conflict(_ key: String, _ lost: WrittenValue, _ writer: UInt64, _ reason: Atom.Reason = .written) throws
            -> Conflict
        {
            try #require(
                MergeState([
                    Atom(AtomName(writer, 1), key, lost, 1, reason), Atom(AtomName(9, 1), key, .text("w"), 5),
                ]).conflicts.first)
        }
        let name = try conflict("k", .text("1"), 1).name(in: mirror)
        #expect(name.utf8.count == 52)
        #expect(try conflict("k", .text("1"), 2).name(in: mirror) == name)
        let others = [
            try conflict("k", .text("2"), 1).name(in: mirror), try conflict("m", .text("1"), 1).name(in: mirror),
            try conflict("k", .text("1"), 1).name(in: MirrorID(high: 1, low: 3)),
            try conflict("k", .deleted, 1).name(in: mirror),
            try conflict("k", .of(5), 1, .older).name(in: mirror),
        ]
        #expect(Set(others + [name]).count == 6)
        // A count of older values changes, and the name does not.
        #expect(try conflict("k", .of(7), 1, .older).name(in: mirror) == others[4])
        #expect(try conflict("k", .of(5), 1).name(in: mirror) != others[4])
        let resolved = ResolvedConflict(
            place: Path(keys: "k"), value: .text("1"), loser: nil, stamp: .zero, resolvedAt: 0)
        #expect(resolved.name(in: mirror) == name)
    }
}

@Suite struct `A place with a count of older values only` {
    private static let state = MergeState([Atom(AtomName(1, 1), "k", .of(4), 9, .older)])

    @Test func `has no value, shows nothing, and is an open conflict`() {
        let key = Path(keys: "k")
        #expect(Self.state.value(at: key) == nil)
        #expect(Self.state.shown(at: key).isEmpty)
        #expect(Self.state.conflicts.count == 1 && Self.state.conflicts(under: key).count == 1)
    }
}

@Suite struct `The written values of a mirror` {
    @Test func `are found in any order of arrival, in runs of any length`() {
        for count in [0, 1, 255, 256, 257, 511, 512, 513, 1025, 3000] {
            var generator = SeededGenerator(stream: "many", round: count)
            let atoms = (0..<count).map { (number: Int) -> Atom in
                let key = Path(domain: "d\(number % 7)", key: "key \(number / 2)")
                let path = number % 11 == 0 ? key.appending("entry") : key
                let name = AtomName(UInt64(number % 3) + 1, UInt64(number) + 1)
                return Atom(name, at: path, .text("\(number)"), stamp: Stamp(number: 1))
            }
            let sorted = atoms.sorted { $0.isSorted(before: $1) }
            let state = MergeState(atoms.shuffled(using: &generator))
            let comment: Comment = "\(Seed.ofThisRun) \(count)"
            #expect(state == MergeState(sorted: sorted) && state.atoms == sorted && state.count == count, comment)
            #expect(state.hashValue == MergeState(sorted: sorted).hashValue, comment)
            #expect(atoms.allSatisfy { state.atom($0.name, at: $0.path) == $0 }, comment)
            for domain in ["d0", "d3", "d9"] {
                let path = Path(domain: domain)
                #expect(state.under(path) == sorted.filter { path.isPrefix(of: $0.path) }, comment)
            }
            for path in atoms.prefix(50).map({ $0.path.appending("q") }) + [Path(keys: "none")] {
                #expect(state.above(path) == sorted.filter { $0.path.isPrefix(of: path) }, comment)
                #expect(state.overlapping(path) == sorted.filter { $0.path.overlaps(path) }, comment)
            }
            #expect(state.domains == Set(atoms.map { $0.path.domain }).sorted(), comment)
            #expect(state.size == MergeState(sorted: sorted).size, comment)
            // In a base, a path lacks what it shares with the one before.
            let shared = zip(sorted, sorted.dropFirst()).reduce(0) { shared, pair in
                shared + zip(pair.0.path.bytes, pair.1.path.bytes).prefix { $0 == $1 }.count
            }
            let whole = sorted.reduce(0) { $0 + $1.path.bytes.count + $1.value.count + 40 }
            #expect(state.size.file == whole - shared, comment)
            var (rest, left) = (state, sorted)
            for atom in atoms.shuffled(using: &generator) {
                rest.cover(atom.name, Region(atom.path))
                left.removeAll { $0.name == atom.name && $0.path == atom.path }
                if left.count % 100 == 0 { #expect(rest.size == MergeState(sorted: left).size, comment) }
            }
            #expect(rest == MergeState() && rest.count == 0 && rest.size == MergeState.Size(), comment)
        }
    }

    @Test func `are replaced by one with the same name and path, and removed with their last place`() {
        var state = MergeState([Atom(AtomName(1, 1), "k", .of(["a": 1]), 1)])
        state.cover(AtomName(1, 1), Region(edges: "k.a"))
        #expect(state.atoms.map(\.region) == [Region(edges: "k k.a")])
        state.cover(AtomName(1, 1), Region(edges: "k.b.x m"))
        #expect(state.atoms.map(\.region) == [Region(edges: "k k.a k.b.x")])
        state.cover(AtomName(1, 2), Region(edges: "k"))
        #expect(state.count == 1)
        state.insert(Atom(AtomName(1, 1), "k", .of(["a": 1]), 1))
        #expect(state.count == 1 && state.atoms[0].isWhole)
        state.cover(AtomName(1, 1), Region(edges: "k k.a"))
        state.cover(AtomName(1, 1), Region(edges: "k.a"))
        #expect(state.count == 0)
        state.insert(Atom(AtomName(1, 1), at: Path(keys: "k"), .deleted, stamp: .zero, in: Region.none))
        #expect(state.count == 0)
    }

    @Test func `differ at the keys where one has what the other has not`() {
        for round in 0..<300 {
            var generator = SeededGenerator(stream: "differences", round: round)
            func state() -> MergeState {
                MergeState(
                    (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                        let path = PlaceTree.written.randomElement(using: &generator)!
                        let region = PlaceTree.region(under: path, &generator)
                        return Atom(
                            AtomName(1, .random(in: 1...3, using: &generator)), at: path,
                            PlaceTree.values[Int.random(in: 0...3, using: &generator)], stamp: .zero,
                            in: Bool.random(using: &generator) ? region : nil)
                    })
            }
            let (one, other) = (state(), state())
            let keys = ["k", "m"].map { Path(keys: $0) }.filter { Set(one.under($0)) != Set(other.under($0)) }
            #expect(one.keysDiffering(from: other) == Set(keys), "\(Seed.ofThisRun) round \(round)")
            #expect(other.keysDiffering(from: one) == Set(keys), "\(Seed.ofThisRun) round \(round)")
        }
    }
}
