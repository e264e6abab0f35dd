import Digests
import Testing

@Suite struct `The checksum` {
    /// The examples of RFC 3720, appendix B.4, and the check value of the catalogue of such checksums.
    static let examples: [([UInt8], UInt32)] = [
        ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
        ([UInt8](0..<32), 0x46DD_794E),
        ([UInt8]((0..<32).reversed()), 0x113F_DB5C),
        ([UInt8]("123456789".utf8), 0xE306_9283),
        ([], 0),
    ]

    @Test(arguments: examples)
    func `is that of the standard's examples`(_ bytes: [UInt8], _ checksum: UInt32) {
        #expect(CRC32C.checksum(bytes) == checksum)
    }

    @Test func `finds every flipped bit`() {
        let bytes = (0..<40).map { UInt8($0) }
        let checksum = CRC32C.checksum(bytes)
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(CRC32C.checksum(flipped) != checksum)
        }
    }
}
