import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

/// The same letter as one scalar and as two. Swift treats the texts as equal, but every file has two keys.
@Suite struct `Keys that only look alike` {
    static let name: DomainName = "com.example.editor"
    static let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")

    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (Defaults) throws -> Void
    }

    static let ways: [Way] = [
        Way(testDescription: "set one after the other") { defaults in
            defaults.set(1, forKey: composed)
            defaults.set(2, forKey: decomposed)
        },
        Way(testDescription: "in a transaction") { defaults in
            try defaults.transaction { draft in
                draft[composed] = 1
                draft[decomposed] = 2
            }
        },
        Way(testDescription: "in a session") { defaults in
            let session = defaults.edit()
            session[composed] = 1
            session[decomposed] = 2
            #expect(session.changes.count == 2)
            try session.commit()
        },
    ]

    @Test(arguments: ways) func `have separate values`(_ way: Way) throws {
        let bench = try StoreBench()
        let defaults = Defaults(Self.name, in: bench.store())
        let keys = Mutex<[String]>([])
        let observation = defaults.observe { batch in keys.withLock { $0 += batch.changes.map(\.key) } }
        try way.set(defaults)
        #expect(defaults.integer(forKey: Self.composed) == 1 && defaults.integer(forKey: Self.decomposed) == 2)
        try defaults.flush()
        let stored = try StoreBench.file(Self.name).contents(on: bench.process()).values
        #expect(stored[Self.composed] == 1 && stored[Self.decomposed] == 2 && stored.count == 2)
        #expect(keys.withLock { Set($0.map { Name($0) }) } == [Name(Self.composed), Name(Self.decomposed)])
        observation.cancel()
    }

    @Test(arguments: [Store.Kind.memory, .native]) func `of domains have separate values`(_ kind: Store.Kind) throws {
        let store = try StoreBench().store(kind)
        let names = try [Self.composed, Self.decomposed].map { try DomainName("com.\($0)") }
        #expect(names[0] != names[1] && Set(names).count == 2)
        for (index, name) in names.enumerated() { Defaults(name, in: store).set(index, forKey: "key") }
        #expect(names.map { Defaults($0, in: store).integer(forKey: "key") } == [0, 1])
        let defaults = Defaults(Self.name, in: store)
        for name in names { defaults.addSuite(named: name.text) }
        #expect(defaults.integer(forKey: "key") == 1)
        defaults.removeSuite(named: names[1].text)
        #expect(defaults.object(forKey: "key") as? Int == 0)
        for (index, name) in names.enumerated() { defaults.setVolatileDomain(["key": index], forName: name.text) }
        #expect(names.map { defaults.volatileDomain(forName: $0.text)["key"] as? Int } == [0, 1])
    }

    @Test func `have separate declarations`() throws {
        let bench = try SchemaBench(
            "{ Domain = \"com.example.backup\"; Settings = ({ Key = \"\(Self.composed)\"; Type = integer; }); }")
        let defaults = bench.defaults()
        try bench.stored([Self.composed: 1, Self.decomposed: "two"])
        #expect(defaults.integer(forKey: Self.composed) == 1)
        #expect(defaults.string(forKey: Self.decomposed) == "two")
        #expect(defaults.explain(Self.decomposed).entries.map(\.value) == ["two"])
    }
}
