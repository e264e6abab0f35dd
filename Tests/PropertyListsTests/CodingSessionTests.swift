import Dispatch
import PropertyLists
import TestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Codings share what is cached about types, and nothing else.
@Suite struct CodingSessionTests {
    @Test func `what the caller passed is released after the coding`() throws {
        weak var token: Token?
        func code() throws {
            let held = Token()
            token = held
            let value = try PropertyList(encoding: Asking(), userInfo: [.token: held])
            #expect(value == .boolean(true))
            #expect(try value.decoded(as: Asking.self, userInfo: [.token: held]).isTold)
        }
        try code()
        #expect(token == nil)
        #expect(try PropertyList(encoding: Asking()) == .boolean(false))
        #expect(try PropertyList.boolean(true).decoded(as: Asking.self).isTold == false)
    }

    @Test func `nothing of a value is retained`() throws {
        // Unchecked, because the bytes are released on this thread.
        nonisolated(unsafe) var isReleased = false
        func code() throws {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 1)
            let data = Data(
                bytesNoCopy: bytes, count: 64,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    isReleased = true
                })
            let value = try PropertyList(encoding: Alone(value: data))
            #expect(value == .data(data))
            #expect(try value.decoded(as: Alone.self).value == data)
        }
        try code()
        #expect(isReleased)
    }

    @Test func `a decoder that was kept continues with its value`() throws {
        func kept(_ number: Int) throws -> Keeping {
            try PropertyList.dictionary(["number": .integer(.init(number))])
                .decoded(as: Keeping.self, userInfo: [.token: Token(number)])
        }
        let decoders = try (1...3).map(kept)
        for (number, keeping) in zip(1..., decoders) {
            let container = try keeping.decoder.container(keyedBy: Keeping.Key.self)
            #expect(try container.decode(Int.self, forKey: .number) == number)
            #expect((keeping.decoder.userInfo[.token] as? Token)?.number == number)
        }
    }

    /// The keys of a type and their order are cached. Each of these values has other keys than the previous one.
    @Test func `values of one type are coded separately`() throws {
        for number in 0..<200 {
            let sparse = Sparse(number)
            let value = try PropertyList(encoding: sparse)
            let expected = Sparse.names.indices.filter { number >> $0 & 1 == 1 }.map { Sparse.names[$0] }
            guard case .dictionary(let dictionary) = value else { return #expect(Bool(false)) }
            #expect(dictionary.map(\.key) == expected)
            for (position, name) in Sparse.names.enumerated() {
                #expect(dictionary[name] == (number >> position & 1 == 1 ? .integer(.init(position)) : nil))
            }
            let sorted = try value.serialized(as: .json)
            #expect(try PropertyList(parsing: sorted, as: .json) == value)
            var generator = SeededGenerator(stream: "keys of one type", round: number)
            let shuffled = PropertyList.dictionary(
                .init(dictionary.shuffled(using: &generator).map { ($0.key, $0.value) }))
            #expect(try shuffled.decoded(as: Sparse.self) == sparse, "\(Seed.ofThisRun)")
        }
    }

    @Test func `nested and failed codings are independent`() throws {
        for number in 0..<20 {
            let nested = Nesting(depth: number)
            #expect(try PropertyList(encoding: nested).decoded(as: Nesting.self) == nested)
            #expect(throws: DecodingError.self) { try PropertyList.string("").decoded(as: Nesting.self) }
        }
    }

    @Test func `threads code at the same time`() {
        DispatchQueue.concurrentPerform(iterations: 16) { thread in
            for round in 0..<200 {
                let sparse = Sparse(thread &* 31 &+ round)
                #expect((try? PropertyList(encoding: sparse).decoded(as: Sparse.self)) == sparse)
            }
        }
    }
}

extension CodingUserInfoKey {
    fileprivate static let token = CodingUserInfoKey(rawValue: "token")!
}

private final class Token: Sendable {
    let number: Int
    init(_ number: Int = 0) { self.number = number }
}

/// Records whether it finds a token.
private struct Asking: Codable {
    let isTold: Bool

    init() { isTold = true }
    init(from decoder: any Decoder) { isTold = decoder.userInfo[.token] != nil }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(encoder.userInfo[.token] != nil)
    }
}

/// Is coded as its only value.
private struct Alone: Codable {
    let value: Data

    init(value: Data) { self.value = value }
    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Data.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// Keeps its decoder, and decodes itself later.
private struct Keeping: Decodable {
    enum Key: String, CodingKey { case number }
    let decoder: any Decoder
    init(from decoder: any Decoder) { self.decoder = decoder }
}

/// A type with the keys whose bits are set in a number.
private struct Sparse: Codable, Equatable {
    static let names = ["f", "a", "e", "b", "d", "c", "h", "g"]
    let f: Int?, a: Int?, e: Int?, b: Int?, d: Int?, c: Int?, h: Int?, g: Int?

    init(_ number: Int) {
        func value(_ position: Int) -> Int? { number >> position & 1 == 1 ? position : nil }
        (f, a, e, b) = (value(0), value(1), value(2), value(3))
        (d, c, h, g) = (value(4), value(5), value(6), value(7))
    }
}

/// Codes its contents with a separate coding.
private struct Nesting: Codable, Equatable {
    let depth: Int

    init(depth: Int) { self.depth = depth }

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        let inside = try list.decode(PropertyList.self)
        depth = list.isAtEnd ? 0 : try inside.decoded(as: Nesting.self).depth + 1
        if !list.isAtEnd { _ = try list.decode(Int.self) }
    }

    func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        guard depth > 0 else { return try list.encode("innermost") }
        try list.encode(PropertyList(encoding: Nesting(depth: depth - 1)))
        try list.encode(depth)
    }
}
