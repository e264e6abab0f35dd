import PropertyLists
import TestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite struct CodableValueTests {
    static let everything: PropertyList = .dictionary([
        "string": .string("s"), "integer": .integer(-1), "large": .integer(PropertyList.Integer(UInt64.max)),
        "real": .real(0.5), "boolean": .boolean(false), "date": .date(Date(timeIntervalSinceReferenceDate: 5)),
        "data": .data(Data([1])), "uid": .uid(3), "array": .array([.array([]), .dictionary([:])]),
    ])

    @Test func `a property list passes through unchanged`() throws {
        #expect(try PropertyList(encoding: Self.everything) == Self.everything)
        #expect(try Self.everything.decoded(as: PropertyList.self) == Self.everything)
        #expect(try PropertyList(encoding: ["k": Self.everything]) == .dictionary(["k": Self.everything]))
        #expect(try Self.everything.decoded(as: Holder.self).date == .date(Date(timeIntervalSinceReferenceDate: 5)))
        #expect(try Self.everything.decoded(as: Holder.self).large == PropertyList.Integer(UInt64.max))
        #expect(try PropertyList(encoding: [PropertyList.Integer(4)]) == .array([.integer(4)]))
    }

    @Test func `a property list is coded by its types elsewhere`() throws {
        let value: PropertyList = .dictionary([
            "s": .string("x"), "i": .integer(-3), "u": .integer(PropertyList.Integer(UInt64.max)), "r": .real(0.5),
            "b": .boolean(true), "l": .array([.integer(1), .string("y")]), "n": .uid(7),
        ])
        let json = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(PropertyList.self, from: json) == value)
        let data = try PropertyListEncoder().encode(Self.everything)
        #expect(try PropertyListDecoder().decode(PropertyList.self, from: data) == Self.everything)
        #expect(try JSONDecoder().decode(PropertyList.self, from: Data("[null]".utf8)) == [.null])
    }

    @Test func `a deep property list passes through on a small stack`() throws {
        var deep: PropertyList = .array([])
        for _ in 1..<512 { deep = .array([deep]) }
        let value = deep
        let decoded = try SmallThread.run {
            try PropertyList(encoding: Carrier(value: value)).decoded(as: Carrier.self).value.kind
        }
        #expect(decoded == .array)
    }
}

private struct Holder: Decodable {
    var date: PropertyList
    var large: PropertyList.Integer
}

private struct Carrier: Codable {
    var value: PropertyList
}
