import PropertyLists
import TestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite struct CodableFailureTests {
    /// Returns the failure, such as `mismatch: a.Index 0`.
    private func failure<T: Decodable>(_ value: PropertyList, as type: T.Type) -> String {
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        do {
            return "none: \(try value.decoded(as: type))"
        } catch DecodingError.typeMismatch(_, let context) {
            return "mismatch: " + path(context)
        } catch DecodingError.dataCorrupted(let context) {
            return "corrupted: " + path(context)
        } catch DecodingError.keyNotFound(let key, let context) {
            return "no \(key.stringValue): " + path(context)
        } catch DecodingError.valueNotFound(_, let context) {
            return "nothing: " + path(context)
        } catch {
            return "\(error)"
        }
    }

    private func failure(_ value: some Encodable) -> String {
        do {
            return "none: \(try PropertyList(encoding: value))"
        } catch EncodingError.invalidValue(_, let context) {
            return context.codingPath.map(\.stringValue).joined(separator: ".")
        } catch {
            return "\(error)"
        }
    }

    @Test func `types are not mixed`() {
        for value in [
            PropertyList.boolean(true), .string("1"), .date(Date(timeIntervalSinceReferenceDate: 0)), .data(Data()),
            .array([]),
        ] {
            #expect(failure(value, as: Int.self) == "mismatch: ")
            #expect(failure(value, as: UInt8.self) == "mismatch: ")
            #expect(failure(value, as: Double.self) == "mismatch: ")
            #expect(failure(value, as: Float.self) == "mismatch: ")
        }
        #expect(failure(.integer(1), as: Bool.self) == "mismatch: ")
        #expect(failure(.integer(1), as: String.self) == "mismatch: ")
        #expect(failure(.real(1), as: Bool.self) == "mismatch: ")
        #expect(failure(.real(1), as: Date.self) == "mismatch: ")
        #expect(failure(.string("AQ=="), as: Data.self) == "mismatch: ")
        #expect(failure(.string(""), as: [Int].self) == "mismatch: ")
        #expect(failure(.array([]), as: [String: Int].self) == "mismatch: ")
        #expect(failure(.uid(1), as: Int.self) == "mismatch: ")
        #expect(failure(.boolean(true), as: Decimal.self) == "mismatch: ")
    }

    @Test func `a number that does not fit is refused`() throws {
        #expect(failure(.integer(128), as: Int8.self) == "corrupted: ")
        #expect(failure(.integer(-1), as: UInt.self) == "corrupted: ")
        #expect(failure(.real(1.5), as: Int.self) == "corrupted: ")
        #expect(failure(.real(.nan), as: Int.self) == "corrupted: ")
        #expect(failure(.real(1e300), as: Int128.self) == "corrupted: ")
        #expect(failure(.real(1e300), as: Float.self) == "corrupted: ")
        #expect(failure(.integer(9_007_199_254_740_993), as: Double.self) == "corrupted: ")
        #expect(failure(.integer(16_777_217), as: Float.self) == "corrupted: ")
        #expect(failure(.uid(256), as: UInt8.self) == "corrupted: ")
        #expect(try PropertyList.real(3).decoded(as: Int.self) == 3)
        #expect(try PropertyList.integer(3).decoded(as: Double.self) == 3)
        #expect(try PropertyList.uid(255).decoded(as: UInt8.self) == 255)
    }

    @Test(arguments: ["12x", "", ".", "1e", "+", "--1", " 1", "0x10", "1.2.3"])
    func `a decimal is a number from end to end`(text: String) {
        #expect(failure(.string(text), as: Decimal.self) == "corrupted: ")
    }

    @Test func `the whole coding path is reported`() {
        let list = PropertyList.dictionary(["a": .array([.dictionary(["b": .string("x")])])])
        #expect(failure(list, as: [String: [[String: Int]]].self) == "mismatch: a.Index 0.b")
        #expect(failure(list, as: [String: [Inner]].self) == "mismatch: a.Index 0.b")
        #expect(failure(.array([.dictionary([:])]), as: [Inner].self) == "no b: Index 0")
        #expect(failure(.array([.integer(1), .string("")]), as: [Int].self) == "mismatch: Index 1")
        #expect(failure(.dictionary(["k": .array([])]), as: [String: Pair].self) == "nothing: k.Index 0")
    }

    @Test func `an integer beyond what a property list holds is refused`() {
        #expect(failure(Int128(UInt64.max) + 1) == "")
        #expect(failure(["k": Int128(Int64.min) - 1]) == "k")
        #expect(failure([UInt128.max]) == "Index 0")
        #expect(failure(Wrapped(value: UInt128.max)) == "value")
    }

    @Test func `nil outside a key is null on request`() throws {
        struct Entries: Codable, Equatable {
            var list: [Int?]
            var missing: Int?
        }
        let entries = Entries(list: [1, nil], missing: nil)
        let value = try PropertyList(encoding: entries, keepsNulls: true)
        #expect(value == ["list": [1, .null]])
        #expect(try value.decoded(as: Entries.self) == entries)
        #expect(try PropertyList(encoding: Int?.none, keepsNulls: true) == .null)
        #expect(try PropertyList.dictionary(["list": [1], "missing": .null]).decoded(as: Entries.self).missing == nil)
    }

    @Test func `there is no null outside a key`() {
        #expect(failure(Int?.none) == "")
        #expect(failure([1, nil]) == "Index 1")
        #expect(failure(["k": [Int?.none]]) == "k.Index 0")
        #expect(
            failure(
                Custom {
                    var list = $0.unkeyedContainer()
                    try list.encodeNil()
                }) == "Index 0")
    }

    @Test func `a type that encodes nothing is refused`() {
        #expect(failure(Custom { _ in }) == "")
        #expect(failure(["k": Custom { _ in }]) == "k")
        #expect(failure([Custom { _ = $0.singleValueContainer() }]) == "Index 0")
        #expect(failure(Custom { _ = $0.unkeyedContainer() }) == "none: \(PropertyList.array([]))")
    }

    @Test func `a value is encoded in only one container`() {
        #expect(
            failure([
                "k": Custom {
                    _ = $0.container(keyedBy: Key.self)
                    _ = $0.unkeyedContainer()
                }
            ]) == "k")
        #expect(
            failure(
                Custom { encoder in
                    var list = encoder.unkeyedContainer()
                    var single = encoder.singleValueContainer()
                    try list.encode(1)
                    try single.encode(2)
                }) == "")
        #expect(
            failure(
                Custom { encoder in
                    var single = encoder.singleValueContainer()
                    try single.encode(1)
                    try single.encode(2)
                }) == "")
        #expect(
            failure(
                Custom { encoder in
                    var outer = encoder.container(keyedBy: Key.self)
                    let inner = outer.superEncoder(forKey: .b)
                    _ = inner.unkeyedContainer()
                    var keyed = inner.container(keyedBy: Key.self)
                    try keyed.encode(1, forKey: .b)
                }) == "")
    }

    @Test func `a key encoded twice keeps its last value`() throws {
        let value = try PropertyList(
            encoding: Custom { encoder in
                var keyed = encoder.container(keyedBy: Key.self)
                try keyed.encode(1, forKey: .b)
                try keyed.encode(2, forKey: .b)
            })
        #expect(value == .dictionary(["b": .integer(2)]))
    }

    @Test func `an encoder that outlives its encoding does no harm`() throws {
        // Unchecked, because the closures run on this thread before the test goes on.
        nonisolated(unsafe) var late: [any Encoder] = []
        nonisolated(unsafe) var lateKeyed: [KeyedEncodingContainer<Key>] = []
        nonisolated(unsafe) var lateUnkeyed: [any UnkeyedEncodingContainer] = []
        let value = try PropertyList(
            encoding: [
                Custom { encoder in
                    var keyed = encoder.container(keyedBy: Key.self)
                    late = [encoder, keyed.superEncoder()]
                    lateKeyed = [keyed, keyed.nestedContainer(keyedBy: Key.self, forKey: .b)]
                    lateUnkeyed = [keyed.nestedUnkeyedContainer(forKey: .b)]
                }
            ])
        #expect(value == .array([.dictionary(["super": .dictionary([:]), "b": .array([])])]))
        for encoder in late {
            var keyed = encoder.container(keyedBy: Key.self)
            try keyed.encode(1, forKey: .b)
            _ = encoder.unkeyedContainer()
            #expect(!encoder.codingPath.isEmpty && encoder.userInfo.isEmpty)
        }
        for var keyed in lateKeyed {
            try keyed.encode(1, forKey: .b)
            try keyed.encode([Inner(b: 1)], forKey: .b)
            var single = keyed.superEncoder().singleValueContainer()
            try single.encode(1)
        }
        for var list in lateUnkeyed {
            try list.encode(1)
            var inside = list.nestedUnkeyedContainer()
            _ = inside.nestedUnkeyedContainer()
        }
    }

    @Test func `a container that outlives its encoding retains nothing`() throws {
        weak var token: Token?
        func code() throws {
            let held = Token()
            token = held
            // Unchecked, because the closure runs on this thread before the test goes on.
            nonisolated(unsafe) var kept: KeyedEncodingContainer<Key>?
            let value = Custom { encoder in
                var keyed = encoder.container(keyedBy: Key.self)
                try keyed.encode(1, forKey: .b)
                kept = keyed
            }
            _ = try PropertyList(encoding: value, userInfo: [CodingUserInfoKey(rawValue: "token")!: held])
            var inside = kept!.nestedContainer(keyedBy: Key.self, forKey: .b)
            var further = inside.nestedContainer(keyedBy: Key.self, forKey: .b)
            _ = further.nestedUnkeyedContainer(forKey: .b)
        }
        try code()
        #expect(token == nil)
    }

    @Test(arguments: [
        // In the middle of the encoding.
        Failing { encoder in
            var keyed = encoder.container(keyedBy: Key.self)
            var list = keyed.nestedUnkeyedContainer(forKey: .b)
            _ = list.superEncoder()
            try list.encodeNil()
        },
        // At the end, if one of several containers is not a container.
        Failing { encoder in
            var list = encoder.unkeyedContainer()
            for _ in 0..<3 {
                var first = list.nestedUnkeyedContainer()
                _ = first.nestedUnkeyedContainer()
                var single = list.superEncoder().singleValueContainer()
                try single.encodeNil()
            }
        },
        // At the end, if a value was encoded in more than one way.
        Failing { encoder in
            var keyed = encoder.container(keyedBy: Key.self)
            let inside = keyed.superEncoder(forKey: .b)
            var list = inside.unkeyedContainer()
            _ = list.nestedUnkeyedContainer()
            _ = inside.container(keyedBy: Key.self)
        },
    ])
    fileprivate func `a failure releases everything`(_ failing: Failing) throws {
        weak var token: Token?
        func fail() {
            let held = Token()
            token = held
            #expect(throws: EncodingError.self) {
                _ = try PropertyList(
                    encoding: Custom(failing.body), userInfo: [CodingUserInfoKey(rawValue: "token")!: held])
            }
        }
        fail()
        #expect(token == nil)
    }

    /// Requesting a container or an encoder does not throw. If they are nested too deeply, the next value fails.
    @Test func `nesting by requesting encoders is limited`() {
        #expect(failure(Descending { try $0.encode(1, forKey: .id) }) == "")
        #expect(failure(Descending { try $0.encodeNil(forKey: .id) }) == "")
        #expect(failure(Descending { try Int?.none.encode(to: $0.superEncoder(forKey: .id)) }) == "")
        #expect(failure(Descending { try PropertyList.integer(1).encode(to: $0.superEncoder(forKey: .id)) }) == "")
        #expect(
            failure(
                Custom { encoder in
                    var list = encoder.unkeyedContainer()
                    for _ in 0..<1000 {
                        var next = list.nestedUnkeyedContainer()
                        while next.count < 3 { _ = next.nestedUnkeyedContainer() }
                        list = next
                    }
                }
            ) == "")
    }

    @Test(arguments: [1, 384, 385, 512, 1025, 100_000])
    func `the nesting of a type is limited`(_ depth: Int) {
        #expect(Link.copied(depth) == (depth <= 384 ? "\(depth)" : "EncodingError"))
    }

    /// A debug build uses at least twice as much stack.
    @Test func `a deeply nested value fits on a small stack`() throws {
        #expect(try SmallThread.run { Link.copied(150) } == "150")
        let value = try SmallThread.run {
            try PropertyList(
                encoding: Custom { encoder in
                    var list = encoder.unkeyedContainer()
                    for _ in 0..<300 { list = list.nestedUnkeyedContainer() }
                })
        }
        #expect(value == (0..<300).reduce(.array([])) { value, _ in .array([value]) })
    }

    @Test(arguments: [383, 384])
    func `a value that is too deep for a type is refused`(_ depth: Int) {
        let value = (0..<depth).reduce(PropertyList.dictionary([:])) { value, _ in .dictionary(["next": value]) }
        let outcome = Result { try value.decoded(as: Link.self) }
        if case .success(let link) = outcome { link.cut() }
        #expect(((try? outcome.get()) != nil) == (depth == 383))
    }

    @Test func `a cycle is an error`() throws {
        let link = Link()
        link.next = link
        defer { link.next = nil }
        #expect(throws: EncodingError.self) { try PropertyList(encoding: link) }
        #expect(throws: EncodingError.self) {
            try PropertyList(
                encoding: Custom { encoder in
                    var list = encoder.unkeyedContainer()
                    for _ in 0..<100_000 { list = list.nestedUnkeyedContainer() }
                })
        }
    }

    @Test func `a decoder answers any request`() throws {
        let value = PropertyList.array([.dictionary([:])])
        _ = try value.decoded(as: Asker.self)
    }
}

private enum Key: String, CodingKey { case b }
private struct Inner: Codable { var b: Int }
private final class Token: Sendable {}
private struct Wrapped<T: Encodable>: Encodable { var value: T }

private struct Pair: Decodable {
    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        _ = try list.decode(Int.self)
    }
}

/// Encodes itself repeatedly, with the encoder of a superclass.
private struct Descending: Encodable {
    enum Key: CodingKey { case next, id }

    let encodeBefore: (inout KeyedEncodingContainer<Key>) throws -> Void

    func encode(to encoder: any Encoder) throws {
        var keyed = encoder.container(keyedBy: Key.self)
        try encodeBefore(&keyed)
        try encode(to: keyed.superEncoder(forKey: .next))
    }
}

/// The encoding of a type. It is not `Encodable` itself, because the test library would encode its arguments.
private struct Failing: Sendable {
    let body: @Sendable (any Encoder) throws -> Void
}

private struct Custom: Encodable, Sendable {
    let body: @Sendable (any Encoder) throws -> Void
    init(_ body: @escaping @Sendable (any Encoder) throws -> Void) { self.body = body }
    func encode(to encoder: any Encoder) throws { try body(encoder) }
}

private final class Link: Codable {
    var next: Link?

    init(_ next: Link? = nil) { self.next = next }

    /// Returns the number of links in a copy of `count` links, or the error.
    static func copied(_ count: Int) -> String {
        let first = Link()
        for _ in 1..<count { first.next = Link(first.next) }
        defer { first.cut() }
        do {
            let copy = try PropertyList(encoding: first).decoded(as: Link.self)
            defer { copy.cut() }
            return "\(sequence(first: copy) { $0.next }.reduce(0) { count, _ in count + 1 })"
        } catch {
            return "\(type(of: error))"
        }
    }

    /// Releases the following links one by one, without recursion.
    func cut() {
        var rest = next
        next = nil
        while let link = rest {
            rest = link.next
            link.next = nil
        }
    }
}

private struct Asker: Decodable {
    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        #expect(throws: DecodingError.self) { try decoder.container(keyedBy: Key.self) }
        #expect(try list.decodeNil() == false)
        #expect(throws: DecodingError.self) { try list.decode(Int.self) }
        let keyed = try list.nestedContainer(keyedBy: Key.self)
        #expect(list.isAtEnd)
        #expect(throws: DecodingError.self) { try list.decodeNil() }
        #expect(throws: DecodingError.self) { try list.superDecoder() }
        #expect(throws: DecodingError.self) { try list.nestedUnkeyedContainer() }
        #expect(throws: DecodingError.self) { try list.decode(PropertyList.self) }
        #expect(try keyed.decodeNil(forKey: .b))
        #expect(throws: DecodingError.self) { try keyed.nestedUnkeyedContainer(forKey: .b) }
        #expect(try keyed.decodeIfPresent(Int.self, forKey: .b) == nil)
        #expect(try keyed.decodeIfPresent(Date.self, forKey: .b) == nil)
        let missing = try keyed.superDecoder()
        #expect(missing.codingPath.map(\.stringValue) == ["Index 0", "super"])
        #expect(try missing.singleValueContainer().decodeNil())
        #expect(throws: DecodingError.self) { try missing.container(keyedBy: Key.self) }
        #expect(throws: DecodingError.self) { try missing.singleValueContainer().decode(Int.self) }
    }
}
