/// For each writer, the last of its transactions up to which all are known.
package struct VersionVector: Hashable, Sendable {
    private var sequences: [WriterID: UInt64] = [:]

    package init() {}

    package init(_ entries: some Sequence<TransactionID>) {
        for entry in entries { self[entry.writer] = entry.sequence }
    }

    /// The last known transaction of `writer`, or 0 if none is known.
    package subscript(writer: WriterID) -> UInt64 {
        get { sequences[writer] ?? 0 }
        set { sequences[writer] = newValue == 0 ? nil : newValue }
    }

    package func covers(_ transactionID: TransactionID) -> Bool { transactionID.sequence <= self[transactionID.writer] }

    package func covers(_ other: VersionVector) -> Bool {
        other.sequences.allSatisfy { $0.value <= self[$0.key] }
    }

    package mutating func raise(_ writer: WriterID, to sequence: UInt64) {
        if sequence > self[writer] { self[writer] = sequence }
    }

    package mutating func merge(_ other: VersionVector) {
        for (writer, sequence) in other.sequences { raise(writer, to: sequence) }
    }

    /// Returns the transactions that both vectors cover.
    package func minimum(with other: VersionVector) -> VersionVector {
        var result = VersionVector()
        for (writer, sequence) in sequences { result[writer] = min(sequence, other[writer]) }
        return result
    }

    /// The entries, sorted by writer.
    package var entries: [TransactionID] {
        sequences.map { TransactionID(writer: $0.key, sequence: $0.value) }.sorted()
    }

    package var count: Int { sequences.count }
}

extension VersionVector {
    /// Returns the entries that differ from those of `other`, with sequence 0 for a writer that only `other` has.
    package func differences(from other: VersionVector) -> [TransactionID] {
        var differing = sequences.filter { other[$0.key] != $0.value }.map {
            TransactionID(writer: $0.key, sequence: $0.value)
        }
        for writer in other.sequences.keys where sequences[writer] == nil {
            differing.append(TransactionID(writer: writer, sequence: 0))
        }
        return differing.sorted()
    }

    /// Returns the vector from which `differences(from:)` produced these entries.
    package func applying(_ differences: [TransactionID]) -> VersionVector {
        var result = self
        for entry in differences { result[entry.writer] = entry.sequence }
        return result
    }
}

extension VersionVector: CustomStringConvertible {
    package var description: String { "{\(entries.map(\.description).joined(separator: " "))}" }
}
