/// One incarnation of one store on one host: a random number, in files 13 characters of base 32.
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
    /// The name of a store that never had one: in the lower half, so that there is room for names after it.
    package static func first(random: UInt64) -> WriterID { WriterID(number: random >> 1) }

    /// The name that follows on this one.
    ///
    /// It is greater: a change that is taken over to it then still comes after all that it came after, also where the
    /// stamps are equal, and what was dropped for its sake stays dropped everywhere.
    package func next(random: UInt64) -> WriterID {
        let (number, overflows) = number.addingReportingOverflow((random >> 16) + 1)
        return WriterID(number: overflows ? .max : number)
    }
}

extension WriterID: CustomStringConvertible {
    package var description: String { Base32.text(number, bits: 64) }
}

/// A change: the writer, and which of the writer's transactions it was.
package struct Dot: Hashable, Sendable, Comparable {
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

extension Dot: CustomStringConvertible {
    package var description: String { "\(writer):\(sequence)" }
}

/// Digits of five bits that sort like what they say, and of which none is taken for another.
enum Base32 {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// The upper `bits` of 64, the last digit filled up with zeros.
    static func text(_ number: UInt64, bits: Int) -> String {
        var text = ""
        for at in 0..<(bits + 4) / 5 {
            let shift = 59 - 5 * at
            let digit = shift >= 0 ? number >> UInt64(shift) & 31 : number << UInt64(-shift) & 31
            text.unicodeScalars.append(Unicode.Scalar(digits[Int(digit)]))
        }
        return text
    }

    /// The number of which `text` is the digits, or nil where it is not what `text(_:bits:)` writes.
    static func number(_ text: some StringProtocol, characters: Int) -> UInt64? {
        guard text.utf8.count == characters, characters <= 13 else { return nil }
        var number: UInt64 = 0
        for (at, character) in text.utf8.enumerated() {
            guard let digit = digits.firstIndex(of: character) else { return nil }
            let shift = 59 - 5 * at
            if shift < 0, digit & ((1 << -shift) - 1) != 0 { return nil }
            number |= shift >= 0 ? UInt64(digit) << UInt64(shift) : UInt64(digit) >> UInt64(-shift)
        }
        return number
    }
}
