import Foundation
import PropertyLists
import Testing

@Suite struct `A property list as a Swift value` {
    private static let value: PropertyList = [
        "name": "Ada \"A\"\n", "tags": ["a", 1.5, true], "since": .date(Date(timeIntervalSinceReferenceDate: 0)),
        "id": .data(Data([1, 2])), "two words": [:], "uid": .uid(3), "none": .null, "list": [],
    ]

    @Test func `is described on one line`() {
        #expect(
            "\(Self.value)" == """
                {name: "Ada \\"A\\"\\n", tags: ["a", 1.5, true], since: 2001-01-01T00:00:00Z, id: <0102>, \
                "two words": {}, uid: uid 3, none: null, list: []}
                """)
        #expect("\(PropertyList.string("x"))" == "\"x\"" && "\(PropertyList.real(.nan))" == "nan")
        #expect("\(PropertyList.data(Data(repeating: 0xAB, count: 40)))".hasSuffix("ab… 40 bytes>"))
        #expect("\(PropertyList.date(Date(timeIntervalSinceReferenceDate: .infinity)))" == "date inf")
    }

    @Test func `is described with its kinds for debugging`() {
        #expect(
            String(reflecting: ["a": [1, 0.5, "x"], "b": .null] as PropertyList)
                == #".dictionary(["a": .array([.integer(1), .real(0.5), .string("x")]), "b": .null])"#)
        #expect(String(reflecting: [:] as PropertyList) == ".dictionary([:])")
    }

    private static let edits: [(String, PropertyList, @Sendable (inout PropertyList) -> Void)] = [
        ("a key", ["a": 7], { $0["a"] = 7 }),
        ("a removed key", [:], { $0["a"] = nil }),
        ("a key inside", ["a": 1, "b": ["c": true]], { $0[path: ":b:c"] = true }),
        ("a key of a value that is not a dictionary", ["a": 1], { $0["a"]?["b"] = 2 }),
        (
            "an element", ["a": ["x", 2]],
            {
                $0["a"] = [1, 2]
                $0["a"]?[0] = "x"
            }
        ),
        (
            "the last element", ["a": [1, "x"]],
            {
                $0["a"] = [1, 2]
                $0["a"]?[-1] = "x"
            }
        ),
        (
            "a new element", ["a": [1, 2]],
            {
                $0["a"] = [1]
                $0["a"]?[1] = 2
            }
        ),
        (
            "a removed element", ["a": [2]],
            {
                $0["a"] = [1, 2]
                $0["a"]?[0] = nil
            }
        ),
        (
            "an element too far", ["a": [1]],
            {
                $0["a"] = [1]
                $0["a"]?[5] = 2
            }
        ),
        (
            "an element by path", ["a": 1, "b": ["c": ["x"]]],
            {
                $0[path: ":b"] = ["c": [0]]
                $0[path: ":b:c:0"] = "x"
            }
        ),
        (
            "a path that cannot be", ["a": 1],
            {
                $0[path: ":a:b"] = "x"
                $0[path: "nopath"] = 1
            }
        ),
        ("a removed path", [:], { $0[path: ":a"] = nil }),
        (
            "an integer", ["a": 5],
            {
                let five = 5
                $0["a"] = .integer(five)
            }
        ),
    ]

    @Test(arguments: edits.indices) func `is changed by subscripts`(_ row: Int) {
        let (name, expected, edit) = Self.edits[row]
        var value: PropertyList = ["a": 1]
        edit(&value)
        #expect(value == expected, "\(name)")
    }

    @Test func `is created from Swift values, and converted to them`() throws {
        let values: [String: Any] = ["a": 1, "b": ["x", true, 0.5] as [Any], "c": ["d": Data([1])], "e": UInt64.max]
        let list = try PropertyList(values)
        #expect(
            list == ["a": 1, "b": ["x", true, 0.5], "c": ["d": .data(Data([1]))], "e": .integer(.init(UInt64.max))])
        let back = try #require(list.anyValue as? [String: Any])
        #expect(try PropertyList(back) == list)
        #expect(back["a"] as? Int == 1 && back["e"] as? UInt64 == .max)
        let failure = #expect(throws: PropertyList.ConversionFailure.self) { try PropertyList(["a": [1, UUID()]]) }
        #expect(failure?.description == "a value of type UUID cannot be stored at :a:1")
        #expect(try PropertyList(any: Float(12.34)) == 12.34 && PropertyList(any: 5 as Int? as Any) == 5)
        #expect(throws: PropertyList.ConversionFailure.self) { try PropertyList(any: Int?.none as Any) }
    }

    @Test(arguments: PropertyList.Format.allCases) func `is read with its format`(_ format: PropertyList.Format) throws
    {
        let value: PropertyList = format == .gnustep ? ["a": 1] : ["a": "b"]
        let found = try PropertyList.sniffed(Array(value.serialized(as: format)), options: .ofFiles)
        #expect(found.format == format && found.value == value)
    }
}
