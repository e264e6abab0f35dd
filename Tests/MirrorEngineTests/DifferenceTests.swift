import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@Suite struct `The writes of a change` {
    private static let path = Path(domain: "d", key: "k")

    private func writes(_ old: PropertyList?, _ new: PropertyList?, _ kind: MergeKind) throws -> [Write] {
        Difference.writes(
            from: try old.map { try CanonicalValue($0) }, to: try new.map { try CanonicalValue($0) }, at: Self.path,
            kind: kind)
    }

    @Test(arguments: MergeKind.allCases) func `lead from any value to any other`(_ kind: MergeKind) throws {
        var values = ValueGenerator(SeededGenerator(stream: "difference"))
        for round in 0..<400 {
            var store = MergeState()
            var old: PropertyList?
            for step in 1...4 {
                let new = round % 5 == 0 && step == 3 ? nil : neighbour(of: old, &values)
                guard let canonical = try? new.map({ try CanonicalValue($0) }) else { continue }
                for write in try writes(old, new, kind) {
                    let transactionID = TransactionID(writer: WriterID(number: 1), sequence: UInt64(step))
                    store.join(
                        VersionedWrite(
                            path: write.path, stamp: Stamp(number: UInt64(step)), transactionID: transactionID,
                            value: write.value))
                }
                #expect(store.value(at: Self.path) == canonical, "\(Seed.ofThisRun) round \(round)")
                old = new
            }
        }
    }

    /// Returns a value that usually shares some entries with the previous one.
    private func neighbour(of value: PropertyList?, _ values: inout ValueGenerator) -> PropertyList {
        guard case .dictionary(var entries)? = value, Bool.random(using: &values.generator) else {
            return values.value(of: Bool.random(using: &values.generator) ? .dictionary : .integer, depth: 3)
        }
        for entry in entries where Int.random(in: 0..<3, using: &values.generator) == 0 {
            entries[entry.key] = Bool.random(using: &values.generator) ? nil : neighbour(of: entry.value, &values)
        }
        if Bool.random(using: &values.generator) { entries["new"] = values.value(depth: 1) }
        return .dictionary(entries)
    }

    static let rows: [(PropertyList?, PropertyList?, MergeKind, [String])] = [
        (nil, ["a": 1], .register, [":d:k"]), (["a": 1], ["a": 1, "b": 2], .register, [":d:k"]),
        (["a": 1], ["a": 1, "b": 2], .dictionary, [":d:k:b"]),
        (nil, ["a": 1, "b": ["c": 2]], .dictionary, [":d:k:a", ":d:k:b:c"]),
        (["a": 1, "b": 2], ["b": 2], .dictionary, [":d:k:a"]), (["a": 1], [:], .dictionary, [":d:k"]),
        (["a": ["b": 1]], ["a": [:]], .dictionary, [":d:k:a"]), (5, ["a": 1], .dictionary, [":d:k"]),
        (["a": 1], nil, .dictionary, [":d:k"]), (["a": 1], ["a": 1], .dictionary, []),
        (["a": ["x": 1]], ["a": 7], .dictionary, [":d:k:a"]),
    ]

    @Test(arguments: rows.indices) func `are as few as the kind allows`(_ index: Int) throws {
        let (old, new, kind, paths) = Self.rows[index]
        #expect(try writes(old, new, kind).map(\.path.description).sorted() == paths)
    }

    @Test func `have the same effect normalised, and never nest`() throws {
        for round in 0..<1000 {
            var generator = WriteGenerator(generator: SeededGenerator(stream: "normal", round: round))
            let writes = (0..<6).map { generator.write($0) }.map { Write(path: $0.path, value: $0.value) }
            let normalised = writes.normalised
            for write in normalised {
                #expect(normalised.count { $0.path.overlaps(write.path) } == 1, "\(Seed.ofThisRun)")
            }
            #expect(views(normalised) == views(writes), "\(Seed.ofThisRun) \(round)")
        }
    }

    /// The result of applying the writes to two domains that contained values.
    private func views(_ writes: [Write]) -> [CanonicalValue?] {
        var store = MergeState()
        let before = ["a", "b"].map { Write(path: Path(domain: $0), value: WriteGenerator.values[3]) }
        for (at, write) in zip(1..., before + writes) {
            let transactionID = TransactionID(writer: WriterID(number: 1), sequence: UInt64(at))
            store.join(
                VersionedWrite(
                    path: write.path, stamp: Stamp(number: UInt64(at)), transactionID: transactionID, value: write.value
                ))
        }
        return ["a", "b"].map { store.value(at: Path(domain: $0)) }
    }
}
