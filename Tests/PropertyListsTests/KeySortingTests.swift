import PropertyLists
import TestSupport
import Testing

@Suite struct KeySortingTests {
    typealias Dictionary = PropertyList.Dictionary

    /// Parts of keys: with long common prefixes, with NULs at the end, and in another order in UTF-8.
    static let pieces = [
        "", "a", "b", "z", "com.example.", "\0", "\0\0\0\0\0\0\0\0", "é", "\u{E000}", "\u{FFFD}", "\u{10000}", "0", "1",
    ]

    static func keys(_ count: Int, round: Int) -> [String] {
        var generator = SeededGenerator(stream: "keys to sort", round: round)
        var keys: [String] = []
        for _ in 0..<count {
            let length = Int.random(in: 0...9, using: &generator)
            keys.append((0..<length).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined())
        }
        return keys
    }

    /// Counts around those at which the sorting algorithm changes.
    @Test(arguments: [1, 2, 8, 9, 17, 100, 255, 256, 300, 5000], 0..<3)
    func `any keys are sorted by their UTF-16 code units`(_ count: Int, _ round: Int) {
        let dictionary = Dictionary(Self.keys(count, round: round).map { ($0, .boolean(true)) })
        let expected = dictionary.keys.sorted { $0.utf16.lexicographicallyPrecedes($1.utf16) }
        let difference = zip(dictionary.sortedEntries, expected).first { Array($0.key.utf8) != Array($1.utf8) }
        #expect(difference == nil, "\(Seed.ofThisRun)")
    }

    /// Keys whose bytes differ only in one half of their bits, so that the other half cannot distinguish them.
    @Test(arguments: ["abcdefghijklmno", "0@P`p"])
    func `keys with nearly equal bytes are sorted`(_ letters: String) {
        var keys = [""]
        while keys.count < 300 { keys = letters.flatMap { letter in keys.map { "\(letter)\($0)" } } }
        var generator = SeededGenerator(stream: "keys nearly alike", round: 0)
        let dictionary = Dictionary(keys.shuffled(using: &generator).map { ($0, .boolean(true)) })
        #expect(dictionary.sortedEntries.map(\.key) == keys.sorted(), "\(Seed.ofThisRun)")
    }

    struct Record: Encodable {
        let zulu = 1
        let alpha = 2
        let mike = 3
    }

    static let changes: [(name: String, change: @Sendable (inout Dictionary) -> Void)] = [
        ("nothing", { _ in }),
        ("a new value", { $0["mike"] = .boolean(true) }),
        ("a new key", { $0["bravo"] = .boolean(true) }),
        ("no key", { $0["alpha"] = nil }),
        ("some keys", { $0.removeAll { $0.key == "zulu" } }),
    ]

    /// Values of one type share the cached order of their keys until one of them changes.
    @Test(arguments: changes.indices)
    func `a value among many of its type can be changed`(_ at: Int) throws {
        let records = try PropertyList(encoding: (0..<5).map { _ in Record() })
        guard case .array(let elements) = records, case .dictionary(var changed)? = elements.last else {
            Issue.record("\(records)")
            return
        }
        #expect(Array(changed.keys) == ["zulu", "alpha", "mike"])
        var expected = Dictionary(changed.map { ($0.key, $0.value) })
        Self.changes[at].change(&changed)
        Self.changes[at].change(&expected)
        #expect(changed == expected, "\(Self.changes[at].name)")
        #expect(Array(changed.keys) == Array(expected.keys))
        #expect(changed.sortedEntries.map(\.key) == changed.keys.sorted())
        for key in expected.keys { #expect(changed[key] == expected[key]) }
        #expect(changed["yankee"] == nil)
    }
}
