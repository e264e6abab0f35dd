import Commands
import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import TestSupport
import Testing

/// The settings of the store itself are a domain like any other, with a schema that needs no file.
@Suite struct `The store's own settings` {
    private let machine: SimulatedMachine

    init() throws { machine = try SimulatedMachine() }

    static let keys = [
        "historyVersions", "historyBytes", "lockTimeout", "newDomainFormat", "readLayer", "mirrorNotify",
        "mirrorResolver",
    ]

    @Test(arguments: [
        ("historyVersions", "  * default  32  -\n"), ("historyBytes", "  * default  8388608  -\n"),
        ("lockTimeout", "  * default  5.0  -\n"), ("newDomainFormat", "  * default  \"binary1\"  -\n"),
        ("mirrorNotify", "  * default  false  -\n"),
    ])
    func `have defaults`(_ key: String, _ line: String) throws {
        #expect(try machine.run("prefs explain prefs \(key)").output == "\(key)\n\(line)")
        let all = try machine.run("prefs explain prefs").output
        #expect(all.contains("\(key)\n\(line)"), "\(all)")
    }

    @Test(arguments: [
        ("historyVersions -1", "historyVersions = -1: must be from 0 to 10000"),
        ("historyVersions many", "historyVersions = many: must be an integer"),
        ("historyBytes 2T", "historyBytes = 2199023255552: must be from 0 to 1T"),
        ("lockTimeout 3601", "lockTimeout = 3601.0: must be from 0.0 to 3600.0"),
        ("newDomainFormat yaml", "newDomainFormat = yaml: must be xml1, binary1, json or gnustep"),
    ])
    func `are checked when they are written`(_ words: String, _ reason: String) throws {
        let outcome = try machine.run("prefs write prefs \(words)")
        #expect(outcome.status == 3 && outcome.errors.contains(reason), "\(outcome)")
    }

    @Test(arguments: [
        ("historyVersions 5", "5"), ("historyBytes 4M", "4194304"), ("lockTimeout 0.5", "0.5"),
        ("lockTimeout -int 2", "2.0"), ("newDomainFormat json", "json"),
    ])
    func `can be set in any notation`(_ words: String, _ shown: String) throws {
        #expect(try machine.run("prefs write prefs \(words)").errors.isEmpty)
        let key = String(words.prefix { $0 != " " })
        #expect(try machine.run("prefs read --effective prefs \(key)").output == "\(shown)\n")
        #expect(try machine.run("prefs doctor").output == "no problems found\n")
    }

    @Test func `that are out of range are ignored and reported by the doctor`() throws {
        try machine.store(["historyVersions": -3, "newDomainFormat": "yaml", "lockTimeout": "soon"], as: "prefs")
        #expect(
            StorePolicy(["historyVersions": -3, "newDomainFormat": "yaml", "lockTimeout": "soon"]) == StorePolicy())
        let findings = try machine.run("prefs doctor").output
        for key in ["historyVersions", "newDomainFormat", "lockTimeout"] {
            #expect(findings.contains("prefs \(key): ignored in layer user"), "\(findings)")
        }
        #expect(StorePolicy(["historyVersions": "7"]).history.versions == 7)
    }

    @Test(arguments: [
        ("/etc/prefs/forced", "json", "{"), ("/etc/xdg/prefs", "json", "<"), ("/etc/xdg/prefs", "gnustep", "<"),
    ])
    func `of an administrator are used like those of any domain`(
        _ folder: String, _ format: String, _ beginning: String
    ) throws {
        try machine.store(["newDomainFormat": "xml1"], as: "prefs")
        try machine.administrate(
            try #require(FilePath("\(folder)/prefs.plist")), "{ newDomainFormat = \(format); historyVersions = 0; }")
        try #require(try machine.run("prefs write d k 1").errors.isEmpty)
        let bytes = try #require(try machine.fileSystem.contents(of: "/home/ada/.config/prefs/d.plist"))
        #expect(bytes.first == beginning.utf8.first)
        #expect(try machine.run("prefs history d").output.isEmpty)
    }

    @Test func `are shown and filled in like those of any domain`() throws {
        let table = try machine.run("prefs schema show prefs").output
        for key in Self.keys { #expect(table.contains(key), "\(table)") }
        let outcome = try runPrefs(
            ["prefs", "form", "prefs"], input: "5\n4M\n2\njson\nuser\nyes\n/bin/true\n{delete = D;}\n", on: machine)
        #expect(outcome.output.hasSuffix("Saved 8 settings.\n"), "\(outcome)")
        let stored = try machine.run("prefs read --format json prefs").output
        let policy = StorePolicy(try #require(PropertyList(parsing: stored, as: .json).dictionaryValue))
        #expect(policy.history.versions == 5 && policy.history.bytes == 4 << 20)
        #expect(policy.patience == .seconds(2) && policy.newFormat == .json && policy.readsUserLayer)
        #expect(policy.notifiesOfConflicts && policy.conflictResolver == "/bin/true")
        #expect(policy.screenKeys == ["delete": "D"])
    }

    @Test func `have a schema without errors, and no other`() throws {
        let text = try StorePolicy.schema.export(as: .json)
        let (schema, mistakes) = Schema.read(Array(text))
        #expect(mistakes.isEmpty && schema == StorePolicy.schema)
        let outcome = try runPrefs(
            ["prefs", "schema", "install", "-"], input: "{ Domain = prefs; }", on: machine)
        #expect(
            outcome.status == 2 && outcome.errors == "prefs: prefs: the schema of this domain is built in\n")
    }
}
