import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

@Suite struct `The shared state` {
    @Test(arguments: [false, true]) func `agrees with a state that remembers all changes`(_ hasFork: Bool) {
        for round in 0..<100 {
            var history = History("shared states", round: round, hasFork: hasFork)
            var step = 0
            history.run(steps: 40) { host in
                #expect(host.agrees, "\(Seed.ofThisRun) round \(round) step \(step)")
                step += 1
            }
        }
    }

    /// The tags of the vectors are left out where copies of a writer publish, because either tag is as good.
    private func expectEqual(_ one: SharedState, _ other: SharedState, hasFork: Bool, _ comment: Comment) {
        guard hasFork else {
            #expect(one == other, comment)
            return
        }
        #expect(one.live == other.live && one.gone == other.gone && one.forks == other.forks, comment)
        #expect(one.vector.description == other.vector.description, comment)
    }

    @Test(arguments: [false, true]) func `is joined commutatively, associatively and idempotently`(_ hasFork: Bool) {
        for round in 0..<300 {
            var history = History("lattice", round: round, hasFork: hasFork)
            history.run(steps: 40)
            let comment: Comment = "\(Seed.ofThisRun) round \(round)"
            let states = (history.hosts + history.bases).map(\.state).shuffled(using: &history.generator)
            let (a, b, c) = (states[0], states[1], states[2])
            expectEqual(a.joined(b), b.joined(a), hasFork: hasFork, comment)
            expectEqual(a.joined(b).joined(c), a.joined(b.joined(c)), hasFork: hasFork, comment)
            expectEqual(a.joined(a), a, hasFork: hasFork, comment)
            expectEqual(a.joined(b).joined(a), a.joined(b), hasFork: hasFork, comment)
        }
    }

    @Test(arguments: [false, true]) func `is the same on all hosts after all files`(_ hasFork: Bool) {
        for round in 0..<80 {
            var history = History("files", round: round, hasFork: hasFork)
            history.run(steps: 40)
            let forks = history.hosts[0].state.forks
            let hosts = History.Joining.allCases.map { history.newcomer(forks: forks, by: $0) }
            for host in hosts {
                let comment: Comment = "\(Seed.ofThisRun) round \(round)"
                expectEqual(host.state, hosts[0].state, hasFork: hasFork, comment)
                #expect(host.agrees, comment)
                if !hasFork { #expect(host.state.gone.isEmpty, comment) }
            }
        }
    }

    /// Every value that was written is in force, or an open conflict, or was covered by a change that named it, or
    /// equals the value in force, or never named an entry.
    @Test func `shows each value as in force or as an open conflict, in the places where nothing covered it`() {
        for round in 0..<(Extent.isFull ? 3000 : 150) {
            var history = History("views", round: round)
            history.run(steps: 30)
            for host in history.hosts {
                let comment: Comment = "\(Seed.ofThisRun) round \(round)"
                let live = host.state.live
                for key in ["k", "m"].map({ Path(keys: $0) }) {
                    #expect(live.value(at: key)?.propertyList == host.plain.value(at: key), comment)
                }
                let conflicts = live.conflicts
                #expect(Set(conflicts.flatMap(\.losers).map(\.name)) == host.plain.openConflicts, comment)
                #expect(conflicts == ["k", "m"].flatMap { live.conflicts(under: Path(keys: $0)) }, comment)
                for conflict in conflicts {
                    for loser in conflict.losers {
                        let isLive = PlaceTree.places(of: loser.region).allSatisfy { place in
                            host.plain.live[place]?.contains(loser.name) ?? false
                        }
                        #expect(isLive && loser.region.contains(conflict.place), comment)
                    }
                }
                let accepted = Change(
                    WriteID(number: 0), at: Path(keys: "k"), nil, stamp: .zero,
                    covers: conflicts.flatMap(\.covers).joined)
                var after = host.state
                after.apply([accepted], nil)
                #expect(after.live.conflicts.isEmpty, "accepted conflicts are closed; \(comment)")
                for key in ["k", "m"].map({ Path(keys: $0) }) {
                    #expect(after.live.value(at: key) == live.value(at: key), comment)
                }
            }
        }
    }
}

extension SharedState {
    func joined(_ other: SharedState) -> SharedState {
        var state = self
        state.join(other)
        return state
    }
}

@Suite struct `A replaced value` {
    private static let (one, two) = (WriterID(number: 1), WriterID(number: 2))
    private static let first = Change(WriteID(number: 11), at: Path(keys: "k"), .text("a"), stamp: Stamp(number: 1))
    private static let name = AtomName(first.id, TransactionID(writer: one, sequence: 1))

    private static func cover(_ region: String) -> Transaction {
        Transaction([
            Change(
                WriteID(number: 12), at: Path(keys: "k"), nil, stamp: Stamp(number: 2),
                covers: [Cover(name, Region(edges: region))])
        ])
    }

    private static func join(
        _ state: inout SharedState, _ transaction: Transaction, of writer: WriterID, _ first: UInt64 = 1
    ) {
        state.join(
            [transaction], from: first, of: writer, tag: FileTag(number: UInt32(first)),
            isContiguous: first <= state.vector[writer] + 1)
    }

    @Test func `is not added when it arrives later, and its name is then forgotten`() {
        var state = SharedState()
        Self.join(&state, Self.cover("k k.a"), of: Self.two)
        #expect(state.gone == [Self.name: Region(edges: "k k.a")] && state.live.count == 0)
        Self.join(&state, Transaction([Self.first]), of: Self.one)
        #expect(state.gone.isEmpty && state.live.atoms.map(\.region) == [Region(edges: "k.a")])
    }

    @Test func `does not come back from the base of a host that has not seen the change`() {
        var (knowing, other) = (SharedState(), SharedState())
        Self.join(&other, Transaction([Self.first]), of: Self.one)
        knowing = other
        Self.join(&knowing, Self.cover("k"), of: Self.two)
        #expect(knowing.gone.isEmpty && knowing.live.count == 0)
        knowing.join(other)
        #expect(knowing.live.count == 0)
        other.join(knowing)
        #expect(other == knowing)
    }

    /// Otherwise the vector of the base would prove the name, and the value would remain.
    @Test func `that a base names is removed before its vector is joined`() {
        var (author, covering) = (SharedState(), SharedState())
        Self.join(&author, Transaction([Self.first]), of: Self.one)
        Self.join(&covering, Self.cover("k"), of: Self.two)
        author.join(covering)
        #expect(author.live.count == 0 && author.gone.isEmpty && author.vector.count == 2)
    }

    @Test func `remains named while a transaction before its own is missing`() {
        var state = SharedState()
        let name = AtomName(Self.first.id, TransactionID(writer: Self.one, sequence: 2))
        Self.join(&state, Transaction([Self.first]), of: Self.one, 2)
        #expect(state.live.atoms.map(\.name) == [name] && state.vector[Self.one] == 0)
        let cover = Change(
            WriteID(number: 12), at: Path(keys: "k"), nil, stamp: .zero, covers: [Cover(name, Region(edges: "k"))])
        Self.join(&state, Transaction([cover]), of: Self.two)
        #expect(state.live.count == 0 && state.gone == [name: Region(edges: "k")])
        Self.join(&state, Transaction([Self.first]), of: Self.one, 2)
        #expect(state.live.count == 0)
        Self.join(&state, Transaction([cover]), of: Self.one, 1)
        Self.join(&state, Transaction([Self.first]), of: Self.one, 2)
        #expect(state.live.count == 0 && state.gone.isEmpty && state.vector[Self.one] == 2)
    }

    @Test func `of a forked writer is proved by nothing, and its name is kept`() {
        var state = SharedState()
        state.fork(Self.one, at: 0)
        #expect(state.forks == [Self.one: 1])
        Self.join(&state, Transaction([Self.first]), of: Self.one)
        Self.join(&state, Self.cover("k"), of: Self.two)
        #expect(state.gone == [Self.name: Region(edges: "k")])
        Self.join(&state, Transaction([Self.first]), of: Self.one)
        #expect(state.live.count == 0)
        // A value of the other branch with the same dot is another one.
        let other = Change(WriteID(number: 13), at: Path(keys: "k"), .text("b"), stamp: Stamp(number: 1))
        Self.join(&state, Transaction([other]), of: Self.one)
        #expect(state.live.atoms.map(\.value) == [.text("b")])
    }

    @Test func `before a fork is still proved`() {
        var (state, other) = (SharedState(), SharedState())
        Self.join(&state, Transaction([Self.first]), of: Self.one)
        other = state
        Self.join(&state, Self.cover("k"), of: Self.two)
        state.fork(Self.one, at: 2)
        state.fork(Self.one, at: 3)
        #expect(state.forks == [Self.one: 2])
        state.join(other)
        #expect(state.live.count == 0)
    }

    @Test func `is not published under another file at the same transaction without a fork`() {
        var (state, other) = (SharedState(), SharedState())
        state.join([Transaction([Self.first])], from: 1, of: Self.one, tag: FileTag(number: 1))
        let change = Change(WriteID(number: 13), at: Path(keys: "k"), .text("b"), stamp: Stamp(number: 1))
        other.join([Transaction([change])], from: 1, of: Self.one, tag: FileTag(number: 2))
        let before = other
        other.join(state)
        state.join(before)
        for state in [state, other] { #expect(state.forks == [Self.one: 1] && state.live.count == 2) }
        #expect(state.live == other.live)
    }

    @Test func `that waits to be published is removed by no vector`() {
        var (state, other) = (SharedState(), SharedState())
        state.apply([Self.first], nil)
        for sequence in 1...3 { Self.join(&other, Self.cover("k"), of: Self.one, UInt64(sequence)) }
        state.join(other)
        #expect(state.live.atoms.map(\.name) == [AtomName(Self.first.id, nil)])
        state.apply(
            [
                Change(
                    WriteID(number: 14), at: Path(keys: "k"), nil, stamp: .zero,
                    covers: [
                        Cover(AtomName(Self.first.id, nil), Region(edges: "k"))
                    ])
            ], nil)
        // The name of an unpublished value is kept nowhere else.
        #expect(state.live.count == 0 && state.gone[AtomName(Self.first.id, nil)] == nil)
    }

    @Test func `is removed where its own change replaces it`() {
        var state = SharedState()
        let change = Change(
            Self.first.id, at: Path(keys: "k"), .text("a"), stamp: Stamp(number: 1),
            covers: [Cover(Self.name, Region(edges: "k.a"))])
        Self.join(&state, Transaction([change]), of: Self.one)
        #expect(state.live.atoms.map(\.region) == [Region(edges: "k k.a")] && state.gone.isEmpty)
    }
}
