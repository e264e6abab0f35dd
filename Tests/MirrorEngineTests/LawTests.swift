import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@Suite struct `The merge` {
    private static let rounds = 3000

    private func forEachTriple(
        stream: String, _ body: (MergeState, MergeState, MergeState, [VersionedWrite]) throws -> Void
    ) rethrows {
        for round in 0..<Self.rounds {
            var generator = WriteGenerator(generator: SeededGenerator(stream: stream, round: round))
            let pool = generator.pool()
            let samples = (0..<3).map { _ in generator.sample(of: pool) }
            try body(MergeState(samples[0]), MergeState(samples[1]), MergeState(samples[2]), samples.flatMap { $0 })
        }
    }

    @Test func `is commutative, associative, idempotent and inflationary`() {
        forEachTriple(stream: "lattice") { a, b, c, _ in
            #expect(a.joined(b) == b.joined(a), "\(Seed.ofThisRun)")
            #expect(a.joined(b).joined(c) == a.joined(b.joined(c)), "\(Seed.ofThisRun)")
            #expect(a.joined(a) == a, "\(Seed.ofThisRun)")
            #expect(a.joined(b).joined(a) == a.joined(b), "\(Seed.ofThisRun)")
        }
    }

    @Test func `leaves no write that another dominates`() {
        forEachTriple(stream: "antichain") { a, b, _, _ in
            let writes = a.joined(b).writes
            for write in writes { #expect(!writes.contains { $0.dominates(write) }, "\(Seed.ofThisRun)") }
        }
    }

    @Test func `agrees with its definition`() {
        forEachTriple(stream: "definition") { a, b, c, all in
            #expect(Set(a.joined(b).joined(c).writes) == PlainJoin(all).writes, "\(Seed.ofThisRun)")
        }
    }

    @Test func `equals applying all writes in their order`() {
        forEachTriple(stream: "replay") { a, b, c, all in
            var replayed: [VersionedWrite] = []
            for write in Set(all).sorted(by: { $1.isAfter($0) }) {
                replayed.removeAll { write.path.isPrefix(of: $0.path) }
                replayed.append(write)
            }
            #expect(Set(replayed) == Set(a.joined(b).joined(c).writes), "\(Seed.ofThisRun)")
        }
    }

    @Test func `gives the same view as writing the values in their order`() {
        forEachTriple(stream: "view") { a, b, _, _ in
            let state = a.joined(b)
            var root: PropertyList? = .dictionary([:])
            for write in state.writes.sorted(by: { $1.isAfter($0) }) {
                put(write.value.value?.propertyList, at: write.path.components[...], in: &root)
            }
            for domain in ["a", "b"] {
                let path = Path(domain: domain)
                #expect(state.value(at: path)?.propertyList == root?[domain], "\(Seed.ofThisRun)")
                let entries = state.keys(of: domain).map { ($0.key, $0.value.propertyList) }
                let expected = root?[domain]?.dictionaryValue ?? [:]
                #expect(PropertyList.Dictionary(entries) == expected, "\(Seed.ofThisRun)")
            }
        }
    }

    /// A second implementation of how a write changes a value, for comparison.
    private func put(_ value: PropertyList?, at way: ArraySlice<String>, in tree: inout PropertyList?) {
        guard let first = way.first else {
            tree = value
            return
        }
        var entries = PropertyList.Dictionary()
        if case .dictionary(let present)? = tree { entries = present } else if value == nil { return }
        var entry = entries[first]
        put(value, at: way.dropFirst(), in: &entry)
        entries[first] = entry
        tree = .dictionary(entries)
    }

    @Test func `keeps many writes findable in any order of arrival`() {
        var generator = SeededGenerator(stream: "many")
        let writes = (0..<3000).map { number in
            VersionedWrite(
                path: Path(domain: "d\(number % 7)", key: "key \(number)"), stamp: Stamp(number: 1),
                transactionID: TransactionID(writer: WriterID(number: 1), sequence: UInt64(number)),
                value: .text("\(number)"))
        }
        var store = MergeState()
        for write in writes.shuffled(using: &generator) { store.join(write) }
        #expect(store.count == writes.count)
        #expect(store.writes.map(\.path) == writes.map(\.path).sorted())
        #expect(writes.allSatisfy { store.write(at: $0.path) == $0 })
        #expect(store.under(Path(domain: "d3")).count == writes.count { $0.path.domain == "d3" })
        let delete = VersionedWrite(
            path: Path(domain: "d3"), stamp: Stamp(number: 2),
            transactionID: TransactionID(writer: WriterID(number: 2), sequence: 1),
            value: .deleted)
        guard case .joined(let displaced) = store.join(delete) else {
            Issue.record("not joined")
            return
        }
        #expect(displaced.count == writes.count { $0.path.domain == "d3" })
        #expect(store.count == writes.count - displaced.count + 1)
        #expect(store.keys(of: "d3").isEmpty)
        #expect(store.domains == (0..<7).map { "d\($0)" })
    }

    @Test func `has one value in any order, with what was written inside it`() {
        let write = { (path: Path, value: WrittenValue, sequence: UInt64) in
            VersionedWrite(
                path: path, stamp: Stamp(number: sequence),
                transactionID: TransactionID(writer: WriterID(number: 1), sequence: sequence),
                value: value)
        }
        let path = Path(domain: "a", key: "x")
        let branches = [
            write(path, .text("1"), 5), write(path, .text("2"), 5), write(path.appending("q"), .text("3"), 6),
        ]
        func view(_ writes: [VersionedWrite]) -> CanonicalValue? {
            var store = MergeState()
            for write in writes { store.join(write) }
            return store.value(at: path)
        }
        #expect(view(Array(branches.prefix(2))) == view(branches.prefix(2).reversed()))
        #expect(view(branches)?.propertyList["q"] == .string("3"))
    }
}
