import PropertyLists
import Queries
import Testing

@Suite struct `The page on queries` {
    @Test func `is correct`() throws {
        let people: PropertyList = [
            ["name": "Ada", "age": 36], ["name": "Alan", "age": 41], ["name": "Bob", "age": 50],
        ]
        let adults = try Query(where: "age >= 18 AND name BEGINSWITH 'A'", sort: "-age")
        let names = try people.records(matching: adults).map { $0.value["name"] }
        #expect(names == ["Alan", "Ada"])
    }
}
