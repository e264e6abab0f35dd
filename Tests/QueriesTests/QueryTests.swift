import PropertyLists
import Queries
import Testing

@Suite struct `A query` {
    private let value: PropertyList = [
        "people": [
            ["name": "Zoë", "age": 9], ["name": "anna", "age": 30], ["name": "Bob"], ["name": "page 10", "age": 9],
            ["name": "page 9", "age": "old"],
        ],
        "byName": ["a": ["n": 1], "b": ["n": 2], "c": 3],
        "windows": [["tabs": [1, 2]], ["tabs": [3]], ["other": 1]],
        "scalar": "x",
    ]

    private func paths(
        _ text: String, _ over: EntryPath, sort: String = "", offset: Int = 0, limit: Int? = nil
    ) throws -> [String] {
        let query = try Query(where: text, over: over, sort: sort, offset: offset, limit: limit)
        return try value.records(matching: query).map(\.path.description)
    }

    @Test func `selects elements and entries`() throws {
        #expect(try paths("age == 9", ["people"]) == [":people:0", ":people:3"])
        #expect(try paths("TRUEPREDICATE", ["byName"]) == [":byName:a", ":byName:b", ":byName:c"])
        #expect(try paths("n > 1", ["byName"]) == [":byName:b"])
        #expect(try paths("@key > 'a' AND n != nil", ["byName"]) == [":byName:b"])
        #expect(try paths("SELF == 3", ["byName"]) == [":byName:c"])
        #expect(try paths("SELF > 1", ["windows", "*", "tabs"]) == [":windows:0:tabs:1", ":windows:1:tabs:0"])
        #expect(try paths("SELF == 'x'", ["scalar"]) == [":scalar"])
        #expect(try paths("TRUEPREDICATE", ["missing"]) == [])
        #expect(try paths("TRUEPREDICATE", []) == [":people", ":byName", ":windows", ":scalar"])
        #expect(try paths("SELF.@count == 2", ["*"]) == [":people:0", ":people:1", ":people:3", ":people:4"])
    }

    @Test(arguments: [
        ("age", [2, 0, 3, 1, 4]), ("-age", [4, 1, 0, 3, 2]), ("name", [1, 2, 4, 3, 0]), ("age,-name", [2, 0, 3, 1, 4]),
        ("age,name", [2, 3, 0, 1, 4]), ("+age", [2, 0, 3, 1, 4]), (":name", [1, 2, 4, 3, 0]),
        ("missing", [0, 1, 2, 3, 4]),
    ])
    func `sorts by keys`(_ sort: String, _ order: [Int]) throws {
        #expect(try paths("TRUEPREDICATE", ["people"], sort: sort) == order.map { ":people:\($0)" })
    }

    @Test func `skips and stops`() throws {
        #expect(try paths("TRUEPREDICATE", ["people"], offset: 1, limit: 2) == [":people:1", ":people:2"])
        #expect(try paths("TRUEPREDICATE", ["people"], offset: 9) == [])
        #expect(try paths("TRUEPREDICATE", ["people"], limit: 0) == [])
    }

    @Test(arguments: [
        ("a", "expected"), ("a,", "expected a key or a value, not the end, at column 3"),
        ("a b", "expected a comma or the end, not “b”, at column 3"),
        ("1", "expected a key path, not another expression, at column 1"),
    ])
    func `rejects invalid sort keys`(_ text: String, _ message: String) throws {
        guard text != "a" else {
            _ = try Query(sort: text)
            return
        }
        let failure = #expect(throws: Query.Predicate.Failure.self) { try Query(sort: text) }
        #expect(failure?.description == message)
    }

    @Test func `names the record of an error`() throws {
        var query = try Query(where: "age < 10", over: ["people"])
        query.predicate.isStrict = true
        let failure = #expect(throws: Query.Predicate.Failure.self) { try value.records(matching: query) }
        #expect(failure?.description == ":people:4: < cannot compare string and integer at column 5")
    }

    @Test func `counts the steps of all records`() throws {
        var query = try Query(where: "SELF > 0", over: [])
        query.predicate.limits.steps = 100
        #expect(try PropertyList.array(Array(repeating: 1, count: 100)).records(matching: query).count == 100)
        #expect(throws: Query.Predicate.Failure.self) {
            try PropertyList.array(Array(repeating: 1, count: 101)).records(matching: query)
        }
    }

    @Test func `reads the values of keys`() throws {
        let keys = try Query.Key.list("name, items.price, :font-size, @key, @domain, SELF, items.@sum.price")
        #expect(
            keys.map(\.text) == ["name", "items.price", ":font-size", "@key", "@domain", "SELF", "items.@sum.price"])
        let value: PropertyList = ["name": "x", "items": [["price": 1], [:], ["price": 2]]]
        let record = Query.Record(value, domain: "d")
        #expect(keys.map { $0.value(in: record) } == ["x", [1, 2], nil, nil, "d", value, 3])
    }
}
