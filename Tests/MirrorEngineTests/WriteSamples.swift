import MirrorEngine
import PropertyLists
import TestSupport

/// A reference implementation of the merge, without an order or an index. The store is compared with it.
struct PlainJoin: Hashable {
    private(set) var writes: Set<VersionedWrite> = []

    init(_ writes: some Sequence<VersionedWrite> = []) { for write in writes { join(write) } }

    mutating func join(_ write: VersionedWrite) {
        guard !writes.contains(write), !writes.contains(where: { $0.dominates(write) }) else { return }
        writes = writes.filter { !write.dominates($0) }
        writes.insert(write)
    }

    func joined(_ other: PlainJoin) -> PlainJoin {
        var result = self
        for write in other.writes { result.join(write) }
        return result
    }
}

extension MergeState {
    init(_ writes: some Sequence<VersionedWrite>) {
        self.init()
        for write in writes { join(write) }
    }

    func joined(_ other: MergeState) -> MergeState {
        var result = self
        for write in other.writes { result.join(write) }
        return result
    }
}

/// A generator with few paths, stamps and writers, so that writes often conflict.
struct WriteGenerator {
    var generator: SeededGenerator

    static let paths: [Path] = [["a"], ["a", "x"], ["a", "y"], ["a", "x", "q"], ["b"], ["b", "z"]].map(Path.init)
    static let values: [WrittenValue] =
        [.deleted, .text("1"), .text("2")]
        + [["n": .integer(1), "x": .string("0")] as PropertyList.Dictionary, [:]].map { .of(.dictionary($0)) }

    mutating func write(_ sequence: Int) -> VersionedWrite {
        VersionedWrite(
            path: Self.paths.randomElement(using: &generator)!,
            stamp: Stamp(number: .random(in: 0..<6, using: &generator)),
            transactionID: TransactionID(
                writer: WriterID(number: .random(in: 1...3, using: &generator)), sequence: UInt64(sequence)),
            value: Self.values.randomElement(using: &generator)!)
    }

    /// Returns writes. Two of them share a transaction ID only if their paths are equal, as in a fork.
    mutating func pool() -> [VersionedWrite] {
        var pool = (1...9).map { write($0) }
        let forked = pool[0]
        pool.append(
            VersionedWrite(
                path: forked.path, stamp: forked.stamp, transactionID: forked.transactionID,
                value: .text("of another branch")))
        return pool
    }

    mutating func sample(of pool: [VersionedWrite]) -> [VersionedWrite] {
        Array(pool.shuffled(using: &generator).prefix(.random(in: 0...6, using: &generator)))
    }
}

extension WrittenValue {
    static func of(_ value: PropertyList) -> WrittenValue {
        (try? CanonicalValue(value)).map(WrittenValue.value) ?? .deleted
    }

    static func text(_ text: String) -> WrittenValue { of(.string(text)) }
}
