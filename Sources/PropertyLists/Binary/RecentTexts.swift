/// The numbers of texts met lately, found by the two words that a string is.
///
/// Equal words are equal texts: a short string lies in its words, a long one is named by the address of its bytes,
/// which the value being written keeps alive. So the keys of a thousand records are encoded once.
struct RecentTexts: ~Copyable {
    private struct Text {
        var words: (UInt64, UInt64) = (0, 0)
        var number: UInt32 = 0
    }

    private static let count = 128
    private let texts = UnsafeMutablePointer<Text>.allocate(capacity: count)

    // Two zeros are no string: the empty one has a mark too.
    init() { texts.initialize(repeating: Text(), count: Self.count) }

    deinit { texts.deallocate() }

    @inline(__always)
    private func place(_ words: (UInt64, UInt64)) -> Int {
        let mixed = (words.0 ^ words.1 &* 3) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 57)
    }

    @inline(__always)
    func number(of text: String) -> UInt32? {
        let words = unsafeBitCast(text, to: (UInt64, UInt64).self)
        let known = texts[place(words)]
        return known.words == words ? known.number : nil
    }

    @inline(__always)
    mutating func note(_ text: String, _ number: UInt32) {
        let words = unsafeBitCast(text, to: (UInt64, UInt64).self)
        texts[place(words)] = Text(words: words, number: number)
    }
}
