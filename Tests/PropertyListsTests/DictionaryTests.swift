import Foundation
import PropertyLists
import TestSupport
import Testing

@Suite struct DictionaryTests {
    typealias Dictionary = PropertyList.Dictionary

    /// Sizes around those at which a dictionary creates or grows an index.
    static let sizes = [0, 1, 2, 7, 8, 9, 11, 12, 13, 14, 23, 24, 25, 47, 48, 49, 200, 1000]

    static func filled(_ count: Int) -> Dictionary {
        Dictionary((0..<count).map { ("key \($0)", .integer(PropertyList.Integer($0))) })
    }

    @Test(arguments: sizes)
    func `every key is found and no other`(_ count: Int) {
        let dictionary = Self.filled(count)
        #expect(dictionary.count == count)
        for number in 0..<count { #expect(dictionary["key \(number)"] == .integer(PropertyList.Integer(number))) }
        #expect(dictionary["key \(count)"] == nil)
        #expect(dictionary[""] == nil)
    }

    @Test(arguments: sizes)
    func `keys keep the order in which they came`(_ count: Int) {
        #expect(Array(Self.filled(count).keys) == (0..<count).map { "key \($0)" })
    }

    @Test(arguments: sizes)
    func `a new value keeps the place of the former one`(_ count: Int) {
        guard count > 0 else { return }
        var dictionary = Self.filled(count)
        #expect(dictionary.updateValue(.boolean(true), forKey: "key 0") == .integer(0))
        #expect(dictionary.count == count)
        #expect(dictionary[0].key == "key 0")
        #expect(dictionary["key 0"] == .boolean(true))
    }

    @Test(arguments: sizes)
    func `removal keeps the others in order and findable`(_ count: Int) {
        for removed in Set([0, count / 2, count - 1]) where removed >= 0 && removed < count {
            var dictionary = Self.filled(count)
            #expect(dictionary.removeValue(forKey: "key \(removed)") == .integer(PropertyList.Integer(removed)))
            #expect(dictionary.removeValue(forKey: "key \(removed)") == nil)
            let rest = (0..<count).filter { $0 != removed }
            #expect(Array(dictionary.keys) == rest.map { "key \($0)" })
            for number in rest { #expect(dictionary["key \(number)"] == .integer(PropertyList.Integer(number))) }
            dictionary["key \(removed)"] = .integer(PropertyList.Integer(removed))
            #expect(dictionary == Self.filled(count))
            #expect(dictionary.count == 0 || dictionary[count - 1].key == "key \(removed)")
        }
    }

    @Test(arguments: sizes)
    func `removing many at once keeps the rest`(_ count: Int) {
        var dictionary = Self.filled(count)
        dictionary.removeAll { $0.value == .integer(0) || $0.key.hasSuffix("5") }
        #expect(dictionary.count == (0..<count).filter { $0 != 0 && $0 % 10 != 5 }.count)
        #expect(dictionary["key 5"] == nil)
        if count > 6 { #expect(dictionary["key 6"] == .integer(6)) }
    }

    @Test(arguments: sizes)
    func `the last of duplicate keys wins`(_ count: Int) {
        let twice = Dictionary(
            (0..<count).map { ("k\($0)", .integer(1)) } + (0..<count).map { ("k\($0)", .integer(2)) })
        #expect(twice.count == count)
        #expect(twice.values.allSatisfy { $0 == .integer(2) })
    }

    @Test(arguments: sizes)
    func `equality and hash ignore the order`(_ count: Int) {
        let dictionary = Self.filled(count)
        let reversed = Dictionary(dictionary.reversed().map { ($0.key, $0.value) })
        #expect(dictionary == reversed)
        #expect(dictionary.hashValue == reversed.hashValue)
        var other = reversed
        other["key 0"] = .boolean(false)
        #expect(dictionary != other)
        var renamed = reversed
        renamed.removeValue(forKey: "key 0")
        renamed["key x"] = .integer(0)
        #expect(count == 0 || dictionary != renamed)
    }

    @Test func `keys are compared byte for byte`() {
        let dictionary: Dictionary = [
            "\u{E9}": .integer(1), "e\u{301}": .integer(2), "\u{212B}": .integer(3),
            "\u{C5}": .integer(4),
        ]
        #expect(dictionary.count == 4)
        #expect(dictionary["e\u{301}"] == .integer(2))
        #expect(PropertyList.string("\u{E9}") != .string("e\u{301}"))
    }

    @Test(arguments: [8, 40])
    func `a random history agrees with a list of pairs`(_ keys: Int) {
        var generator = SeededGenerator(stream: "dictionary", round: keys)
        var dictionary = Dictionary()
        var pairs: [(key: String, value: Int)] = []
        for step in 0..<3000 {
            let key = "k\(Int.random(in: 0..<keys, using: &generator))"
            let place = pairs.firstIndex { $0.key == key }
            if Int.random(in: 0..<3, using: &generator) == 0 {
                dictionary[key] = nil
                if let place { pairs.remove(at: place) }
            } else {
                dictionary[key] = .integer(PropertyList.Integer(step))
                if let place { pairs[place].value = step } else { pairs.append((key, step)) }
            }
            guard Array(dictionary.keys) == pairs.map(\.key) else {
                Issue.record("step \(step), \(Seed.ofThisRun)")
                return
            }
        }
        #expect(Array(dictionary.values) == pairs.map { .integer(PropertyList.Integer($0.value)) })
    }

    @Test(arguments: [
        ["", "A", "B", "a", "b"], ["1", "10", "2"], ["a", "aa", "b"], ["Z", "a", "\u{7F}", "\u{80}", "\u{E9}"],
        ["e\u{301}", "z", "\u{E9}"], ["\u{D7FF}", "\u{10000}", "\u{1F600}", "\u{10FFFF}", "\u{E000}", "\u{FFFD}"],
        ["a\u{10000}", "a\u{E000}"], ["12345678\u{1F600}", "12345678\u{FB01}"],
        ["\u{EE80}", "\u{EF80}", "\u{FF21}"], ["\u{0}", "\u{0}\u{0}", "\u{1}"],
    ])
    func `writers sort keys by their UTF-16 code units`(_ sorted: [String]) throws {
        #expect(sorted == sorted.sorted { $0.utf16.lexicographicallyPrecedes($1.utf16) })
        let value = PropertyList.dictionary(Dictionary(sorted.reversed().map { ($0, .string("v")) }))
        for format in PropertyList.Format.allCases {
            if format == .xml, sorted.joined().unicodeScalars.contains(where: { $0.value < 0x20 }) { continue }
            let back = try PropertyList(parsing: value.serialized(as: format), as: format)
            guard case .dictionary(let dictionary) = back else { return }
            #expect(dictionary.keys.map { Array($0.utf8) } == sorted.map { Array($0.utf8) }, "\(format)")
        }
    }
}

@Test func `a value takes three words, a dictionary two`() {
    #expect(MemoryLayout<PropertyList>.stride == 24)
    #expect(MemoryLayout<PropertyList.Dictionary>.size == 16)
}

private struct Interruption: Error {}

@Test func `a removal that is interrupted leaves every key to be found`() {
    var dictionary = DictionaryTests.filled(100)
    #expect(throws: Interruption.self) {
        try dictionary.removeAll { entry in
            if entry.key == "key 60" { throw Interruption() }
            return entry.key == "key 3"
        }
    }
    for entry in dictionary { #expect(dictionary[entry.key] == entry.value) }
}

@Test func `an edit that is interrupted removes what it set to nothing`() {
    var value: PropertyList = ["a": 1, "b": [1, 2]]
    #expect(throws: EntryPath.Failure.self) {
        try value.edit(["a"]) { (entry: inout PropertyList?) throws(EntryPath.Failure) in
            entry = nil
            var other: PropertyList = 1
            try other.set(1, at: ["x"])
        }
    }
    #expect(value == ["b": [1, 2]])
}

@Test func `a text that looks like the beginning of a binary file is sniffed as text`() throws {
    for format in [PropertyList.Format.openstep, .gnustep] {
        let bytes = try PropertyList.string("bplist00").serialized(as: format)
        #expect(try PropertyList(parsing: bytes) == "bplist00")
    }
}
