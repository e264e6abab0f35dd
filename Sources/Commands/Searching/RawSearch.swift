/// Looks whether a word can be in a binary property list at all, by its bytes alone, which is many times as quick as to
/// read it.
///
/// Such a file has its texts as they are: ASCII as bytes, all others as UTF-16, the higher byte first. What says yes
/// may still be wrong, for the word can begin in one text and end in another; what says no is right.
struct RawSearch: Sendable {
    /// The word as small letters, of ASCII alone.
    private let word: [UInt8]
    /// The halves of the letters beyond ASCII whose small form begins with a letter of the word.
    private let strangers: [(UInt8, UInt8)]

    /// Nil for a word that has other letters, which may stand in UTF-16 only and in more than two cases.
    init?(_ word: String) {
        guard !word.isEmpty, word.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        self.word = Array(word.lowercased().utf8)
        // The sign of kelvin is a k, and a capital i with a dot is an i and that dot.
        let known: [(letter: UInt8, halves: (UInt8, UInt8))] = [
            (UInt8(ascii: "k"), (0x21, 0x2A)), (UInt8(ascii: "i"), (0x01, 0x30)),
        ]
        let letters = self.word
        strangers = known.filter { letters.contains($0.letter) }.map(\.halves)
    }

    /// Whether the word can be in a text of the file.
    func canBe(in file: [UInt8]) -> Bool {
        file.withUnsafeBufferPointer { bytes in
            let (small, capital) = (word[0], word[0].asCapitalLetter)
            let hasStrangers = !strangers.isEmpty
            for at in bytes.indices {
                let byte = bytes[at]
                if byte == small || byte == capital {
                    if stands(at, 1, in: bytes) || stands(at, 2, in: bytes) { return true }
                }
                if hasStrangers, byte == 0x21 || byte == 0x01, isStranger(at, in: bytes) { return true }
            }
            return false
        }
    }

    /// Whether the letters of the word stand so many bytes apart, with zeros between.
    private func stands(_ start: Int, _ step: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard bytes.count - start > (word.count - 1) * step else { return false }
        for index in word.indices.dropFirst() {
            let at = start + index * step
            if bytes[at].asSmallLetter != word[index] || step == 2 && bytes[at - 1] != 0 { return false }
        }
        return true
    }

    private func isStranger(_ at: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        at + 1 < bytes.count && strangers.contains { $0 == (bytes[at], bytes[at + 1]) }
    }
}

extension UInt8 {
    /// The letter as a small one; anything else as it is.
    var asSmallLetter: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self &+ 0x20 : self
    }

    /// The letter as a capital one; anything else as it is.
    var asCapitalLetter: UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self &- 0x20 : self
    }
}
