import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import TestSupport
import Testing

extension Setting where Value == Int {
    fileprivate static let keep = Setting("keep", default: 1)
}

@Suite struct `Writes with a schema` {
    static let refusals: [(PropertyList.Dictionary, [String])] = [
        (["keep": 0], ["keep = 0: must be from 1 to 365"]),
        (["keep": "5"], ["keep = 5: must be an integer"]),
        (
            ["keep": 0, "mode": "fast", "other": 1],
            ["keep = 0: must be from 1 to 365", "mode = fast: must be full or incremental"]
        ),
        (["token": 5], ["token = ••••: must be a string"]),
        (["a": true, "b": true], ["a: cannot be given together with b"]),
        (["$schemaVersion": 4], ["$schemaVersion: this key is reserved for prefs"]),
    ]

    @Test(arguments: refusals, DomainKind.allCases)
    func `are refused as a whole, with every key, value and rule`(
        _ row: (PropertyList.Dictionary, [String]), _ kind: DomainKind
    ) throws {
        let (values, messages) = row
        let bench = try SchemaBench(as: kind)
        try bench.stored(["before": 1])
        let defaults = bench.defaults()
        let failure = #expect(throws: StoreFailure.self) {
            try defaults.transaction { draft in for entry in values { draft[entry.key] = entry.value } }
        }
        let lines = failure?.description.split(separator: "\n").map { $0.split(separator: "com.example.backup: ") }
        #expect(lines?.map { $0.joined() } == messages)
        #expect(try bench.file() == ["before": 1])
    }

    @Test(arguments: refusals, DomainKind.allCases)
    func `that the untyped interface makes are refused and reported`(
        _ row: (PropertyList.Dictionary, [String]), _ kind: DomainKind
    ) throws {
        let (values, messages) = row
        let bench = try SchemaBench(as: kind)
        try bench.stored(["before": 1])
        let defaults = bench.defaults()
        for entry in values { defaults.set(entry.value, forKey: entry.key) }
        if values["other"] != nil { defaults.removeObject(forKey: "other") }
        if values["a"] != nil { defaults.removeObject(forKey: "a") }
        try defaults.flush()
        #expect(try bench.file() == ["before": 1])
        #expect(bench.errors.split(separator: "\n").count == messages.count, "\(bench.errors)")
        defaults.setPersistentDomain(values.reduce(into: [:]) { $0[$1.key] = $1.value }, forName: "com.example.backup")
        try defaults.flush()
        #expect(try bench.file() == ["before": 1] || values["$schemaVersion"] != nil)
    }

    @Test(arguments: DomainKind.allCases) func `are checked only for what they change`(_ kind: DomainKind) throws {
        let bench = try SchemaBench(as: kind)
        try bench.stored(["keep": 0, "a": true, "b": true])
        let defaults = bench.defaults()
        defaults.set("full", forKey: "mode")
        try defaults.flush()
        #expect(try bench.file() == ["keep": 0, "a": true, "b": true, "mode": "full"])
        defaults.removeObject(forKey: "keep")
        try defaults.flush()
        #expect(try bench.file() == ["a": true, "b": true, "mode": "full"])
    }

    static let second = """
        { Domain = "com.example.backup"; Version = 2;
          Settings = ({ Key = keep; Type = integer; Default = 7; });
          Migrations = ({ From = 1; Rename = { copies = keep; }; }); }
        """

    @Test(arguments: DomainKind.allCases)
    func `record the version in a new domain under a hidden key`(_ kind: DomainKind) throws {
        let bench = try SchemaBench(Self.second, as: kind)
        let defaults = bench.defaults()
        try defaults.set(4, for: .keep)
        try defaults.flush()
        #expect(try bench.file() == ["keep": 4, "$schemaVersion": 2])
        #expect(defaults.dictionaryRepresentation()["$schemaVersion"] == nil)
        #expect(defaults.persistentDomain(forName: "com.example.backup")?.keys.map(\.self) == ["keep"])
        try defaults.set(5, for: .keep)
        try defaults.transaction { $0[.keep] = 6 }
        #expect(try bench.file() == ["keep": 6, "$schemaVersion": 2])
    }

    @Test(arguments: DomainKind.allCases)
    func `of the first settings of a new domain are all of the schema's version, also before they are written`(
        _ kind: DomainKind
    ) throws {
        let bench = try SchemaBench(Self.second, as: kind)
        let defaults = bench.defaults()
        for number in 4...6 { try defaults.set(number, for: .keep) }
        try defaults.flush()
        #expect(try bench.file() == ["keep": 6, "$schemaVersion": 2])
        defaults.removePersistentDomain(forName: "com.example.backup")
        for number in 7...8 { try defaults.set(number, for: .keep) }
        try defaults.flush()
        #expect(try bench.file() == ["keep": 8, "$schemaVersion": 2])
    }

    static let versions: [(PropertyList.Dictionary, String)] = [
        (["copies": 4], "version 1, but its schema requires version 2"),
        (["keep": 4, "$schemaVersion": 3], "version 3, but its schema supports only up to 2"),
    ]

    @Test(arguments: versions, DomainKind.allCases)
    func `to settings of another version are refused`(_ row: (PropertyList.Dictionary, String), _ kind: DomainKind)
        throws
    {
        let (stored, reason) = row
        let bench = try SchemaBench(Self.second, as: kind)
        try bench.stored(stored)
        let defaults = bench.defaults()
        #expect(defaults[.keep] == (stored["keep"] == nil ? 7 : 4))
        defaults[.keep] = 5
        #expect(bench.errors.contains(reason), "\(bench.errors)")
        #expect(throws: StoreFailure.self) { try defaults.transaction { $0[.keep] = 5 } }
        try defaults.flush()
        #expect(try bench.file() == stored)
    }

    @Test func `that are pending when another program migrates the settings are not written`() throws {
        let bench = try SchemaBench(Self.second)
        try bench.stored(["keep": 4, "$schemaVersion": 2])
        let defaults = bench.defaults()
        defaults[.keep] = 5
        let migrated: PropertyList.Dictionary = ["retained": 4, "$schemaVersion": 3]
        try bench.stored(migrated)
        #expect(throws: StoreFailure.self) { try defaults.flush() }
        #expect(try bench.file() == migrated)
        #expect(bench.errors.contains("not written yet"), "\(bench.errors)")
    }
}
