import PropertyLists
import TestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite struct CodableRoundTripTests {
    /// Checks the property list of a value, and that it is decoded as the same value.
    private func check<T: Codable & Equatable>(
        _ value: T, _ expected: PropertyList, at location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try PropertyList(encoding: value) == expected, sourceLocation: location)
        #expect(try expected.decoded(as: T.self) == value, sourceLocation: location)
    }

    @Test func `a single value is encoded as itself`() throws {
        try check(true, .boolean(true))
        try check("ä", .string("ä"))
        try check(1.5, .real(1.5))
        try check(Int8.min, .integer(-128))
        try check(Int16.max, .integer(32767))
        try check(Int32.min, .integer(-2_147_483_648))
        try check(Int64.min, .integer(PropertyList.Integer(Int64.min)))
        try check(Int.max, .integer(PropertyList.Integer(Int.max)))
        try check(UInt8.max, .integer(255))
        try check(UInt16.max, .integer(65535))
        try check(UInt32.max, .integer(4_294_967_295))
        try check(UInt64.max, .integer(PropertyList.Integer(UInt64.max)))
        try check(UInt.max, .integer(PropertyList.Integer(UInt64.max)))
        try check(Int128(UInt64.max), .integer(PropertyList.Integer(UInt64.max)))
        try check(UInt128(7), .integer(7))
        try check(Date(timeIntervalSinceReferenceDate: 0.25), .date(Date(timeIntervalSinceReferenceDate: 0.25)))
        try check(Data([1, 2, 3]), .data(Data([1, 2, 3])))
    }

    @Test(arguments: [
        (0.1 as Float, 0.1), (1, 1), (-0.0, -0.0), (3.4028235e38, 3.4028235e38), (1.5e-38, 1.5e-38),
        (16_777_215.0, 16_777_215),
        (0.33333334, 0.33333334), (1e10, 1e10), (-2.5e-5, -2.5e-5), (.infinity, .infinity),
        (0.0009765625, 0.0009765625),
    ])
    func `a float is the double with the same digits`(float: Float, double: Double) throws {
        try check(float, .real(double))
    }

    @Test func `every float comes back, with the digits that it is written with`() throws {
        var generator = SeededGenerator(stream: "floats", round: 0)
        for _ in 0..<20_000 {
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: generator.next()))
            guard float.isFinite else { continue }
            let value = try PropertyList(encoding: float)
            #expect(value == .real(Double(float.description) ?? .nan), "\(Seed.ofThisRun)")
            #expect(try value.decoded(as: Float.self) == float)
        }
    }

    @Test func `a decimal and a URL are strings`() throws {
        try check(Decimal(string: "-12.50")!, .string("-12.5"))
        try check(URL(string: "https://example.com/a?b=c")!, .string("https://example.com/a?b=c"))
        #expect(try PropertyList.string("1.5e3").decoded(as: Decimal.self) == 1500)
        #expect(try PropertyList.integer(-7).decoded(as: Decimal.self) == -7)
        #expect(try PropertyList.real(0.1).decoded(as: Decimal.self) == Decimal(string: "0.1"))
    }

    @Test func `arrays and dictionaries of any elements`() throws {
        try check([Int](), .array([]))
        try check([1, 2], .array([.integer(1), .integer(2)]))
        try check([Int16](repeating: 3, count: 2), .array([.integer(3), .integer(3)]))
        try check([[true], []], .array([.array([.boolean(true)]), .array([])]))
        try check(["a": 1.5], .dictionary(["a": .real(1.5)]))
        try check(["a": ["b": "c"]], .dictionary(["a": .dictionary(["b": .string("c")])]))
        try check([7: "x"], .dictionary(["7": .string("x")]))
        try check([Side.left: 1], .dictionary(["left": .integer(1)]))
        try check([Point(x: 1, y: 2)], .array([.dictionary(["x": .integer(1), "y": .real(2)])]))
        try check(["p": Point(x: 1, y: 2)], .dictionary(["p": .dictionary(["x": .integer(1), "y": .real(2)])]))
        try check(Set([5]), .array([.integer(5)]))
        try check(["a": Int?.some(1)], .dictionary(["a": .integer(1)]))
        try check([Int?.some(1)], .array([.integer(1)]))
    }

    @Test func `a large dictionary finds its keys`() throws {
        let pairs = (0..<1000).map { ("key-\($0)", $0) }
        let dictionary = Swift.Dictionary(uniqueKeysWithValues: pairs)
        let value = try PropertyList(encoding: dictionary)
        guard case .dictionary(let encoded) = value else { return #expect(Bool(false)) }
        for (key, number) in pairs { #expect(encoded[key] == .integer(PropertyList.Integer(number))) }
        #expect(try value.decoded(as: [String: Int].self) == dictionary)
    }

    @Test func `a type with many keys comes back, whatever the order of its keys`() throws {
        let wide = (1...40).map(Wide.init(seed:))
        let value = try PropertyList(encoding: wide)
        #expect(try value.decoded(as: [Wide].self) == wide)
        guard case .array(let elements) = value else { return #expect(Bool(false)) }
        var generator = SeededGenerator(stream: "keys of a wide type", round: 0)
        let shuffled = elements.map { element -> PropertyList in
            guard case .dictionary(let dictionary) = element else { return element }
            return .dictionary(.init(dictionary.shuffled(using: &generator).map { ($0.key, $0.value) }))
        }
        #expect(try PropertyList.array(shuffled).decoded(as: [Wide].self) == wide, "\(Seed.ofThisRun)")
        #expect(PropertyList.array(shuffled) == value)
    }

    @Test func `an optional that is nil is left out`() throws {
        try check(Options(name: nil, level: nil), .dictionary([:]))
        try check(Options(name: "a", level: 3), .dictionary(["name": .string("a"), "level": .integer(3)]))
        try check(Box<Int?>(value: nil), .dictionary([:]))
        try check(Box<Int?>(value: 4), .dictionary(["value": .integer(4)]))
        #expect(try PropertyList(encoding: ["a": Int?.none, "b": 1]) == .dictionary(["b": .integer(1)]))
    }

    @Test func `values of one type may leave out different keys`() throws {
        let many = (0..<50).map { Options(name: $0 % 2 == 0 ? nil : "n\($0)", level: $0 % 3 == 0 ? nil : $0) }
        #expect(try PropertyList(encoding: many).decoded(as: [Options].self) == many)
    }

    @Test func `an enum with payloads comes back`() throws {
        try check(Shape.circle(radius: 2), .dictionary(["circle": .dictionary(["radius": .real(2)])]))
        try check(Shape.empty, .dictionary(["empty": .dictionary([:])]))
        try check([Side.left, .right], .array([.string("left"), .string("right")]))
    }

    @Test func `a superclass is encoded under the key super`() throws {
        let value = PropertyList.dictionary(["super": .dictionary(["name": .string("n")]), "size": .integer(2)])
        let child = try value.decoded(as: Child.self)
        #expect(child.name == "n" && child.size == 2)
        #expect(try PropertyList(encoding: child) == value)
    }

    @Test func `containers inside one another are filled in any order`() throws {
        let value = try PropertyList(encoding: Interleaved())
        #expect(
            value
                == .dictionary([
                    "list": .array([
                        .integer(1), .dictionary(["x": .integer(2)]), .array([.integer(3)]), .dictionary([:]),
                    ]),
                    "map": .dictionary(["a": .boolean(true), "b": .string("late")]),
                    "sub": .string("super"),
                ]))
        #expect(try value.decoded(as: InterleavedReader.self).numbers == [1, 2, 3])
    }

    @Test func `the caller's information reaches the type`() throws {
        #expect(try PropertyList(encoding: Told(), userInfo: [.greeting: "hi"]) == .string("hi"))
        #expect(try PropertyList.string("").decoded(as: Told.self, userInfo: [.greeting: "hi"]).text == "hi")
    }
}

private struct Box<T: Codable & Equatable>: Codable, Equatable { var value: T }
private struct Point: Codable, Equatable { var x: Int, y: Double }
private struct Options: Codable, Equatable { var name: String?, level: Int? }
private enum Side: String, Codable, CodingKeyRepresentable { case left, right }
private enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case empty
}

private struct Wide: Codable, Equatable {
    var zebra, alpha, mike, november, oscar, papa, kilo, lima, bravo, delta, aVeryLongNameOfAKeyIndeed: Int
    var echo, foxtrot, golf, hotel: String

    init(seed: Int) {
        (zebra, alpha, mike, november) = (seed, seed + 1, seed + 2, seed + 3)
        (oscar, papa, kilo, lima) = (seed + 4, seed + 5, seed + 6, seed + 7)
        (bravo, delta, aVeryLongNameOfAKeyIndeed) = (seed + 8, seed + 9, seed + 10)
        (echo, foxtrot, golf, hotel) = ("e\(seed)", "f\(seed)", "g\(seed)", "h\(seed)")
    }
}

private class Parent: Codable {
    var name = "n"
}

private final class Child: Parent {
    var size = 2

    private enum Key: CodingKey { case size }

    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        size = try container.decode(Int.self, forKey: .size)
        try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try super.encode(to: container.superEncoder())
        try container.encode(size, forKey: .size)
    }
}

private enum Name: String, CodingKey { case list, map, sub, a, b, x }

private struct Interleaved: Encodable {
    func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Name.self)
        var list = outer.nestedUnkeyedContainer(forKey: .list)
        var map = outer.nestedContainer(keyedBy: Name.self, forKey: .map)
        let sub = outer.superEncoder(forKey: .sub)
        try map.encode(true, forKey: .a)
        try list.encode(1)
        var point = list.nestedContainer(keyedBy: Name.self)
        var inner = list.nestedUnkeyedContainer()
        _ = list.superEncoder()
        try inner.encode(3)
        try point.encode(2, forKey: .x)
        try map.encode("late", forKey: .b)
        var single = sub.singleValueContainer()
        try single.encode("super")
    }
}

private struct InterleavedReader: Decodable {
    var numbers: [Int] = []

    init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Name.self)
        var list = try outer.nestedUnkeyedContainer(forKey: .list)
        #expect(list.count == 4)
        numbers.append(try list.decode(Int.self))
        numbers.append(try list.nestedContainer(keyedBy: Name.self).decode(Int.self, forKey: .x))
        var inner = try list.nestedUnkeyedContainer()
        numbers.append(try inner.decode(Int.self))
        #expect(inner.isAtEnd && list.currentIndex == 3)
        #expect(try list.superDecoder().container(keyedBy: Name.self).allKeys.isEmpty)
        let map = try outer.nestedContainer(keyedBy: Name.self, forKey: .map)
        #expect(map.allKeys == [.a, .b] && map.contains(.a) && !map.contains(.x))
        #expect(try outer.superDecoder(forKey: .sub).singleValueContainer().decode(String.self) == "super")
    }
}

extension CodingUserInfoKey {
    fileprivate static let greeting = CodingUserInfoKey(rawValue: "greeting")!
}

private struct Told: Codable {
    var text = ""

    init() {}
    init(from decoder: any Decoder) throws { text = decoder.userInfo[.greeting] as? String ?? "" }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(encoder.userInfo[.greeting] as? String ?? "")
    }
}
