import Preferences
import TestSupport
import Testing

@Suite struct `Queries of settings` {
    static let name: DomainName = "com.example.mail"

    @Test func `select records of the values in effect`() throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        try defaults.transaction { draft in
            draft["messages"] = [["id": 1, "read": false], ["id": 2, "read": true], ["id": 3, "read": false]]
            draft["theme"] = "dark"
        }
        let unread = try Query(where: "read == NO", over: ["messages"], sort: "-id")
        #expect(try defaults.records(matching: unread).map { $0.value["id"] } == [3, 1])
        let keys = try defaults.records(matching: Query(where: "SELF == 'dark'")).map(\.key)
        #expect(keys == ["theme"])
    }

    @Test func `are repeated when their result changes`() async throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        let query = try Query(where: "SELF > 1 AND @key BEGINSWITH 'n'")
        var results = defaults.changes(of: query).makeAsyncIterator()
        #expect(try await results.next()?.count == 0)
        try defaults.transaction { $0["n1"] = 5 }
        try defaults.transaction { $0["n2"] = 1 }
        try defaults.transaction { $0["other"] = 7 }
        try defaults.transaction { $0["n3"] = 2 }
        #expect(try await results.next()?.map(\.key) == ["n1"])
        #expect(try await results.next()?.map(\.key) == ["n1", "n3"])
    }

    @Test func `that cannot be evaluated end with an error`() async throws {
        let defaults = Defaults(Self.name, in: try StoreBench().store())
        try defaults.transaction { $0["n"] = 5 }
        var query = try Query(where: "SELF > 'x'")
        query.predicate.isStrict = true
        var results = defaults.changes(of: query).makeAsyncIterator()
        await #expect(throws: Query.Predicate.Failure.self) { try await results.next() }
    }
}
