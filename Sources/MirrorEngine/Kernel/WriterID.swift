/// The number of a store on a host: random, and written as 13 base-32 digits in file names. A store that is cloned,
/// restored or loses its state takes a new number.
package struct WriterID: Hashable, Sendable, Comparable {
    package let number: UInt64

    package init(number: UInt64) { self.number = number }

    package init?(_ text: some StringProtocol) {
        guard let number = Base32.number(text, characters: 13) else { return nil }
        self.number = number
    }

    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
}

extension WriterID {
    /// Returns a number for a store that has none. It is in the lower half, which leaves room for greater successors.
    package static func first(random: UInt64) -> WriterID { WriterID(number: random >> 1) }

    /// Returns a number that replaces this one.
    ///
    /// It is greater, so that a write republished under it remains later than every write that it was later than, even
    /// with equal stamps. The writes that it displaced then remain displaced on all hosts.
    package func next(random: UInt64) -> WriterID {
        let (number, overflows) = number.addingReportingOverflow((random >> 16) + 1)
        return WriterID(number: overflows ? .max : number)
    }
}

extension WriterID: CustomStringConvertible {
    package var description: String { Base32.text(number, bits: 64) }
}

/// The origin of a write: its writer, and the number of the writer's transaction.
package struct TransactionID: Hashable, Sendable, Comparable {
    package let writer: WriterID
    package let sequence: UInt64

    package init(writer: WriterID, sequence: UInt64) {
        self.writer = writer
        self.sequence = sequence
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.writer, left.sequence) < (right.writer, right.sequence)
    }
}

extension TransactionID: CustomStringConvertible {
    package var description: String { "\(writer):\(sequence)" }
}

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

    package mutating func raise(_ writer: WriterID, to sequence: UInt64) {
        if sequence > self[writer] { self[writer] = sequence }
    }

    package mutating func merge(_ other: VersionVector) {
        for (writer, sequence) in other.sequences { raise(writer, to: sequence) }
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
