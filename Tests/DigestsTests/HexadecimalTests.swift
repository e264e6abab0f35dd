import Digests
import Testing

@Suite struct `Hexadecimal digits` {
    static let bytes: [([UInt8], String)] = [
        ([], ""), ([0], "00"), ([0x0F, 0xF0], "0ff0"), ([0x9A, 0x01, 0xBE, 0xEF], "9a01beef"),
    ]

    @Test(arguments: bytes)
    func `encode bytes`(_ bytes: [UInt8], _ text: String) {
        #expect(Hexadecimal.text(of: bytes) == text)
        #expect(Hexadecimal.bytes(ofDigits: Array(text.utf8)[...]) == bytes)
        #expect(Hexadecimal.bytes(ofDigits: Array(text.uppercased().utf8)[...]) == bytes)
    }

    @Test(arguments: ["0", "00f", "0g", "g0", "+1", " 1", "1 ", "0x"])
    func `are decoded only in pairs`(_ text: String) {
        #expect(Hexadecimal.bytes(ofDigits: Array(text.utf8)[...]) == nil)
    }

    @Test(arguments: [
        (UInt64(0), 16, "0000000000000000"), (.max, 16, "ffffffffffffffff"), (0xAB_CDEF, 16, "0000000000abcdef"),
        (0x1F, 4, "001f"), (0x1_0000, 4, "0000"), (7, 0, ""),
    ])
    func `encode a number with a given width`(_ number: UInt64, _ count: Int, _ text: String) {
        #expect(Hexadecimal.text(of: number, count: count) == text)
    }

    @Test func `have values that are encoded as the same digits in lowercase`() {
        for character in UInt8.min ... .max {
            let expected = "0123456789abcdef".utf8.contains(character | (character >= 0x40 ? 0x20 : 0))
            #expect((Hexadecimal.value(ofDigit: character) != nil) == expected, "\(character)")
        }
        #expect((0..<16).map { Hexadecimal.value(ofDigit: Hexadecimal.digit($0)) } == (0..<16).map { $0 })
    }
}
