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
