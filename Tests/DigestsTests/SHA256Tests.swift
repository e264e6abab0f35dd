import Digests
import Testing

@Suite struct `The hash` {
    @Test(arguments: [
        ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 10_000, "27dd1f61b867b6a0f6e9d8a41c43231de52107e53ae424de8f847b821db4b711"),
    ])
    func `is that of the standard's examples`(_ text: String, _ count: Int, _ hash: String) {
        #expect(Hexadecimal.text(of: SHA256.hash(Array(String(repeating: text, count: count).utf8))) == hash)
    }

    @Test func `pads messages of every length around a block`() {
        let hashes = (0..<130).map { SHA256.hash([UInt8](repeating: 0x61, count: $0)) }
        #expect(Set(hashes).count == 130)
        // The digests of 55, 56, 63, 64 and 65 letters `a`, from other programs.
        #expect(Hexadecimal.text(of: hashes[55]) == "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318")
        #expect(Hexadecimal.text(of: hashes[56]) == "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a")
        #expect(Hexadecimal.text(of: hashes[64]) == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb")
    }

    @Test(arguments: [1, 3, 63, 64, 65, 127, 200]) func `takes a message in pieces of any length`(_ length: Int) {
        let message = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var hash = SHA256()
        for start in stride(from: 0, to: message.count, by: length) {
            hash.update(Array(message[start..<min(start + length, message.count)]))
        }
        #expect(hash.finish() == SHA256.hash(message))
    }

    /// Test cases 1, 2 and 6 of RFC 4231.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `with a key is that of the standard's examples`(_ key: [UInt8], _ text: String, _ code: String) {
        #expect(Hexadecimal.text(of: SHA256.code(of: Array(text.utf8), key: key)) == code)
    }
}
