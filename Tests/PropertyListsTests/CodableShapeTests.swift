import PropertyLists
import TestSupport
import Testing

/// In dictionaries that types are encoded as, every key is found, regardless of the cached keys of the type.
@Suite struct CodableShapeTests {
    /// Returns the differences from a value whose dictionaries were built entry by entry.
    private func faults(_ value: PropertyList) throws -> [String] {
        switch value {
        case .array(let elements): return try elements.flatMap(faults)
        case .dictionary(let dictionary): return try faults(dictionary) + dictionary.values.flatMap(faults)
        default: return []
        }
    }

    private func faults(_ dictionary: PropertyList.Dictionary) throws -> [String] {
        let plain = PropertyList.Dictionary(dictionary.map { ($0.key, $0.value) })
        var (grown, plainGrown) = (dictionary, plain)
        for (position, entry) in dictionary.enumerated() {
            grown[entry.key] = .integer(.init(position))
            plainGrown[entry.key] = .integer(.init(position))
        }
        grown["added"] = .boolean(true)
        plainGrown["added"] = .boolean(true)
        var faults: [String] = []
        if dictionary.contains(where: { dictionary[$0.key] != $0.value }) { faults.append("finds: \(dictionary)") }
        if !dictionary.map(\.key).elementsEqual(plain.map(\.key)) { faults.append("has: \(dictionary)") }
        if !grown.map(\.key).elementsEqual(plainGrown.map(\.key)) { faults.append("grows: \(grown.map(\.key))") }
        let written = try PropertyList.dictionary(dictionary).serialized(as: .json)
        if written != (try PropertyList.dictionary(plain).serialized(as: .json)) {
            faults.append("writes: \(dictionary)")
        }
        return faults
    }

    /// Each value is encoded several times, because cached keys are used from the second time on.
    @Test(arguments: [
        Sample("a type inside itself under other keys", Expression.sum(.number(1), .sum(.number(2), .number(3)))),
        Sample("one type of keys for what is inside and what is around it", Surrounding()),
        Sample("values that leave out keys, inside one that leaves out others", Folder.samples),
        Sample("a value without any key", Folder()),
        Sample("a key twice", Repeated()),
    ])
    func `each dictionary finds its keys`(_ sample: Sample) throws {
        for _ in 0..<20 { #expect(try faults(sample.encode()) == []) }
    }

    @Test func `values of any shape inside one another`() throws {
        for round in 0..<200 {
            var generator = SeededGenerator(stream: "shapes", round: round)
            let tree = Tree(depth: 4, using: &generator)
            let value = try PropertyList(encoding: tree)
            #expect(try faults(value) == [], "\(Seed.ofThisRun), round \(round)")
            #expect(try value.decoded(as: Tree.self) == tree, "\(Seed.ofThisRun), round \(round)")
        }
    }
}

/// A value to encode, with a name for the test.
struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let encode: @Sendable () throws -> PropertyList

    init(_ name: String, _ value: some Encodable & Sendable) {
        testDescription = name
        encode = { try PropertyList(encoding: value) }
    }
}

private indirect enum Expression: Codable, Sendable {
    case number(Int)
    case sum(Expression, Expression)
}

private enum Key: String, CodingKey { case a, b, c, d }

private struct Surrounding: Encodable {
    func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Key.self)
        try outer.encode(1, forKey: .b)
        var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
        try inner.encode(2, forKey: .c)
        try inner.encode(3, forKey: .d)
    }
}

private struct Repeated: Encodable {
    func encode(to encoder: any Encoder) throws {
        var keyed = encoder.container(keyedBy: Key.self)
        for key in [Key.b, .a, .b, .c, .a] { try keyed.encode(key.rawValue, forKey: key) }
    }
}

private struct Folder: Codable {
    var name: String?
    var title: String?
    var children: [Folder]?

    static let samples = [
        Folder(name: "x"), Folder(name: "y"), Folder(name: "r", children: [Folder(title: "t", children: [])]),
        Folder(), Folder(title: "u", children: [Folder(), Folder(name: "v", title: "w")]),
    ]
}

/// A type with optional keys. Some have values of the same type.
private struct Tree: Codable, Equatable {
    var first: Int?
    var second: String?
    var third: [Tree]?
    var fourth: [String: Tree]?
    var fifth: [Tree]?

    init(depth: Int, using generator: inout some RandomNumberGenerator) {
        func chance() -> Bool { Bool.random(using: &generator) }
        func trees() -> [Tree] {
            (0..<Int.random(in: 0...3, using: &generator)).map { _ in Tree(depth: depth - 1, using: &generator) }
        }
        if chance() { first = Int.random(in: 0...9, using: &generator) }
        if chance() { second = "text" }
        guard depth > 0 else { return }
        if chance() { third = trees() }
        if chance() {
            fourth = Dictionary(uniqueKeysWithValues: trees().enumerated().map { ("key \($0.offset)", $0.element) })
        }
        if chance() { fifth = trees() }
    }
}
