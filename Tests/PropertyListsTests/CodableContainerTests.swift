import PropertyLists
import Testing

/// Uses of containers that do not occur in synthesized code.
@Suite struct CodableContainerTests {
    @Test func `a container requested again under its key is continued`() throws {
        let value = try PropertyList(
            encoding: Written { encoder in
                var keyed = encoder.container(keyedBy: AnyKey.self)
                for key in ["a", "b"] {
                    var inside = keyed.nestedContainer(keyedBy: AnyKey.self, forKey: "in")
                    try inside.encode(key, forKey: AnyKey(stringValue: key))
                    var list = keyed.nestedUnkeyedContainer(forKey: "list")
                    #expect(list.count == (key == "a" ? 0 : 1))
                    try list.encode(key)
                }
                for number in ["one", "two"] {
                    for key in ["\u{E9}", "e\u{301}"] {
                        var inside = keyed.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(stringValue: key))
                        try inside.encode(key.utf8.count, forKey: AnyKey(stringValue: number))
                    }
                }
                // The keys that were replaced or omitted since are missing.
                for key in ["replaced", "left out"] {
                    let key = AnyKey(stringValue: key)
                    var former = keyed.nestedContainer(keyedBy: AnyKey.self, forKey: key)
                    try former.encode(1, forKey: "former")
                    if key.stringValue == "replaced" { try keyed.encode(5, forKey: key) }
                    if key.stringValue == "left out" { try keyed.encodeNil(forKey: key) }
                    var latter = keyed.nestedContainer(keyedBy: AnyKey.self, forKey: key)
                    try latter.encode(2, forKey: "latter")
                }
            })
        #expect(
            value
                == .dictionary([
                    "in": .dictionary(["a": .string("a"), "b": .string("b")]),
                    "list": .array([.string("a"), .string("b")]),
                    "\u{E9}": .dictionary(["one": .integer(2), "two": .integer(2)]),
                    "e\u{301}": .dictionary(["one": .integer(3), "two": .integer(3)]),
                    "replaced": .dictionary(["latter": .integer(2)]),
                    "left out": .dictionary(["latter": .integer(2)]),
                ]))
    }

    @Test func `the last of a value and nil under one key is used`() throws {
        for _ in 0..<4 {
            let value = try PropertyList(
                encoding: Written { encoder in
                    var keyed = encoder.container(keyedBy: AnyKey.self)
                    try keyed.encode(1, forKey: "nil last")
                    try keyed.encodeNil(forKey: "nil last")
                    try keyed.encodeNil(forKey: "nil first")
                    try keyed.encode(2, forKey: "nil first")
                    try keyed.encode(3, forKey: "nil later")
                    var late = keyed.superEncoder(forKey: "nil later").singleValueContainer()
                    try keyed.encode(Int?.none, forKey: "nil only")
                    try late.encodeNil()
                })
            #expect(value == .dictionary(["nil first": .integer(2)]))
        }
    }

    @Test func `any number of keys can be left out`() throws {
        let keys = (0..<20_000).map { AnyKey(stringValue: "key \($0)") }
        let value = try PropertyList(
            encoding: Written { encoder in
                var keyed = encoder.container(keyedBy: AnyKey.self)
                for key in keys {
                    try keyed.encode(1, forKey: key)
                    var nothing = keyed.superEncoder(forKey: key).singleValueContainer()
                    try nothing.encodeNil()
                    try keyed.encodeNil(forKey: key)
                }
                for key in keys.prefix(10_000) { try keyed.encode(2, forKey: key) }
            })
        guard case .dictionary(let dictionary) = value else { return #expect(Bool(false)) }
        #expect(dictionary.count == 10_000 && dictionary["key 9999"] == .integer(2))
    }

    @Test func `a key that was left out as nil is decoded as nil`() throws {
        let value = try PropertyList(
            encoding: Written { encoder in
                var keyed = encoder.container(keyedBy: AnyKey.self)
                try keyed.encodeNil(forKey: "left out")
                try keyed.encode("", forKey: "there")
            })
        #expect(try value.decoded(as: Absent.self).isNil == [true, false])
    }

    /// The type is known only at run time.
    @Test func `a subclass is decoded with its superclass`() throws {
        let value = PropertyList.dictionary(["name": .string("n")])
        let type: Animal.Type = Dog.self
        #expect(try value.decoded(as: type) is Dog)
        #expect(try PropertyList.array([value]).decoded(as: First.self).value is Dog)
    }
}

private struct First: Decodable {
    let value: Animal

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        let type: Animal.Type = Dog.self
        value = try list.decode(type)
    }
}

private struct AnyKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringLiteral text: String) { stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

private struct Written: Encodable {
    let body: (any Encoder) throws -> Void
    func encode(to encoder: any Encoder) throws { try body(encoder) }
}

private struct Absent: Decodable {
    let isNil: [Bool]

    init(from decoder: any Decoder) throws {
        let keyed = try decoder.container(keyedBy: AnyKey.self)
        isNil = [try keyed.decodeNil(forKey: "left out"), try keyed.decodeNil(forKey: "there")]
    }
}

private class Animal: Decodable {
    let name: String
}

private final class Dog: Animal {}
