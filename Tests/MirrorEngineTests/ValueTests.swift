import Foundation
import MirrorEngine
import PropertyLists
import TestSupport
import Testing

@Suite struct `A canonical value` {
    @Test func `represents any value, with the same bytes for equal values`() throws {
        var values = ValueGenerator(SeededGenerator(stream: "canonical"))
        for _ in 0..<400 {
            let value = values.value(depth: 3)
            guard let canonical = try? CanonicalValue(value) else { continue }
            #expect(canonical.propertyList == value, "\(Seed.ofThisRun)")
            #expect(try CanonicalValue(decoding: canonical.bytes) == canonical, "\(Seed.ofThisRun)")
            #expect(try CanonicalValue(reversed(value)) == canonical, "\(Seed.ofThisRun)")
        }
    }

    /// The same value, with the entries of all dictionaries in reverse order.
    private func reversed(_ value: PropertyList) -> PropertyList {
        switch value {
        case .array(let elements): .array(elements.map(reversed))
        case .dictionary(let entries): .dictionary(.init(entries.reversed().map { ($0.key, reversed($0.value)) }))
        default: value
        }
    }

    @Test func `that is truncated or has a flipped bit is another value or invalid`() throws {
        let value: PropertyList = [
            "array": [1, -1, 2.5, true, "text"], "data": .data(.init([1, 2, 3])), "uid": .uid(7), "nested": ["a": [:]],
        ]
        let bytes = try CanonicalValue(value).bytes
        for count in bytes.indices {
            #expect(throws: PackFault.self) { try CanonicalValue(decoding: Array(bytes.prefix(count))) }
        }
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let other = try? CanonicalValue(decoding: flipped) else { continue }
            #expect(other.propertyList != value)
            #expect(try CanonicalValue(other.propertyList).bytes == flipped)
        }
    }

    @Test(
        arguments: [
            ([], PackFault.endsEarly), ([0], .unknownTag), ([1], .unknownTag), ([13], .unknownTag), ([14], .unknownTag),
            ([3, 3], .bytesLeftOver), ([4, 0x80, 0], .notCanonical),
            ([5] + [UInt8](repeating: 0xFF, count: 9) + [1], .notCanonical),
            ([6, 0, 0, 0, 0, 0, 0, 0, 0x80], .notCanonical), ([8, 1, 0x80], .notUTF8),
            ([10, 0xFF, 0xFF, 0xFF, 0x7F], .beyondLimit("elements")), ([11, 2, 1, 0x62, 3, 1, 0x61, 3], .notCanonical),
            ([11, 2, 1, 0x61, 3, 1, 0x61, 3], .notCanonical), ([9, 0xFF, 0xFF, 0xFF, 0x7F], .beyondLimit("length")),
        ] as [([UInt8], PackFault)])
    func `is not decoded from invalid bytes`(_ bytes: [UInt8], _ fault: PackFault) {
        #expect(throws: fault) { try CanonicalValue(decoding: bytes) }
    }

    @Test func `is at most 512 levels deep`() throws {
        var value: PropertyList = [:]
        for _ in 1..<512 { value = [value] }
        let bytes = try CanonicalValue(value).bytes
        #expect(try CanonicalValue(decoding: bytes).propertyList == value)
        #expect(throws: PackFault.beyondLimit("depth of a value")) { try CanonicalValue([value]) }
        #expect(throws: PackFault.beyondLimit("depth of a value")) { try CanonicalValue(decoding: [10, 1] + bytes) }
    }
}
