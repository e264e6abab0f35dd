import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

extension MergeKind {
    static let allCases: [MergeKind] = [.value, .entries, .set, .counter, .maximum, .minimum, .list(identity: "id")]
}

@Suite struct `The writes of a change` {
    private static let path = Path(domain: "d", key: "k")

    private func writes(
        _ old: PropertyList?, _ new: PropertyList?, _ kind: MergeKind, number: Int = 0
    ) throws -> [Write] {
        Difference.writes(
            from: try old.map { try CanonicalValue($0) }, to: try new.map { try CanonicalValue($0) }, at: Self.path,
            kind: kind, number: UInt64(number))
    }

    @Test(arguments: MergeKind.allCases) func `lead from any value to any other`(_ kind: MergeKind) throws {
        var values = ValueGenerator(SeededGenerator(stream: "difference"))
        for round in 0..<400 {
            var store = SharedState()
            var old: PropertyList?
            for step in 1...4 {
                let new = round % 5 == 0 && step == 3 ? nil : neighbour(of: old, &values)
                let merged = kind == .set ? new?.asSet ?? new : new
                guard let canonical = try? merged.map({ try CanonicalValue($0) }) else { continue }
                let key = Self.path
                let changes = try writes(old, new, kind, number: step).enumerated().map { index, write in
                    let replaced = store.live.replaced(
                        byWriteAt: write.path, of: write.value, shown: store.live.shown(at: key), showing: nil)
                    return Change(
                        WriteID(number: UInt64(step * 1000 + index)), at: write.path,
                        write.remains,
                        stamp: Stamp(number: UInt64(step)), covers: replaced.covers)
                }
                store.apply(changes, TransactionID(writer: WriterID(number: 1), sequence: UInt64(step)))
                #expect(store.live.value(at: key) == canonical, "\(Seed.ofThisRun) round \(round)")
                #expect(store.live.conflicts.isEmpty, "\(Seed.ofThisRun) round \(round)")
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
        (nil, ["a": 1], .value, [":d:k"]), (["a": 1], ["a": 1, "b": 2], .value, [":d:k"]),
        (["a": 1], ["a": 1, "b": 2], .entries, [":d:k:b"]),
        (nil, ["a": 1, "b": ["c": 2]], .entries, [":d:k:a", ":d:k:b:c"]),
        (["a": 1, "b": 2], ["b": 2], .entries, [":d:k:a"]), (["a": 1], [:], .entries, [":d:k"]),
        (["a": ["b": 1]], ["a": [:]], .entries, [":d:k:a"]), (5, ["a": 1], .entries, [":d:k"]),
        (["a": 1], nil, .entries, [":d:k"]), (["a": 1], ["a": 1], .entries, []),
        (["a": ["x": 1]], ["a": 7], .entries, [":d:k:a"]),
        (["a", "b"], ["b", "c", "d"], .set, [":d:k part", ":d:k part", ":d:k part"]), (["a"], [], .set, [":d:k"]),
        ("a", ["a"], .set, [":d:k"]), (nil, ["a"], .set, [":d:k part"]), (1, 5, .counter, [":d:k part"]),
        (nil, 5, .counter, [":d:k part"]), ("a", 5, .counter, [":d:k"]), (1, nil, .counter, [":d:k"]),
        (nil, [["id": 1, "x": 2]], .list(identity: "id"), [":d:k part", ":d:k:1:id", ":d:k:1:x"]),
        ([["id": 1, "x": 2]], [["id": 1, "x": 3]], .list(identity: "id"), [":d:k:1:x"]),
        ([["id": 1], ["id": 2]], [["id": 2], ["id": 1]], .list(identity: "id"), [":d:k part"]),
        ([["id": 1], ["id": 2]], [["id": 2]], .list(identity: "id"), [":d:k:1"]),
        ([["id": 1]], [["id": 1], ["id": 1]], .list(identity: "id"), [":d:k"]),
        ([["id": 1]], [["id": 1], ["x": 1]], .list(identity: "id"), [":d:k"]),
        ("1.9", "1.10", .maximum, [":d:k part"]), (1, [2], .minimum, [":d:k"]),
    ]

    @Test(arguments: rows.indices) func `are as few as the kind allows`(_ index: Int) throws {
        let (old, new, kind, paths) = Self.rows[index]
        #expect(try writes(old, new, kind).map(\.path.description).sorted() == paths)
    }

    @Test(arguments: MergeKind.allCases) func `never nest`(_ kind: MergeKind) throws {
        var values = ValueGenerator(SeededGenerator(stream: "nesting"))
        for round in 0..<400 {
            let old = values.value(of: .dictionary, depth: 3)
            let new = neighbour(of: old, &values)
            guard let paths = try? writes(old, new, kind).map(\.path) else { continue }
            for path in paths {
                #expect(paths.count { $0.overlaps(path) } == 1, "\(Seed.ofThisRun) round \(round)")
            }
        }
    }
}
