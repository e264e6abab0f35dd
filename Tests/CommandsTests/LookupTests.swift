import Commands
import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import TestSupport
import Testing

/// A look-up, whose result must be the same for a program that parses its command line, `prefs explain`,
/// `prefs read --effective` and a script.
struct Lookup: Sendable, CustomTestStringConvertible {
    /// The text of a domain's file in each layer that has one, by the layer's name.
    let files: KeyValuePairs<String, String>
    var variables: EnvironmentVariables = [:]
    var key = "keep"
    /// The value in JSON, `none`, or `error` with the reason.
    let expected: String
    /// The layer of the value.
    var layer: Layer?
    /// The value for a program that does not parse its command line, if an error is expected.
    var unparsed: String?

    init(
        _ files: KeyValuePairs<String, String>, _ variables: EnvironmentVariables = [:], key: String = "keep",
        is expected: String, _ layer: Layer? = nil, unparsed: String? = nil
    ) {
        (self.files, self.variables, self.key, self.expected, self.layer) = (files, variables, key, expected, layer)
        self.unparsed = unparsed
    }

    var testDescription: String { "\(key) of \(files) \(variables.all.map { "\($0.name)=\($0.value)" })" }

    static let schema = """
        { Domain = d; Version = 2; Settings = (
            { Key = keep; Type = integer; Default = 7; Minimum = 1; Maximum = 50; Environment = (KEEP, OLD_KEEP); },
            { Key = mode; Choices = (full, fast); Environment = MODE; },
            { Key = note; Default = nothing; Environment = NOTE; },
            { Key = tags; Type = array; Elements = { Type = integer; }; Environment = TAGS; },
            { Key = on; Type = boolean; Default = NO; Environment = ON; },
            { Key = token; Sensitive = YES; },
            { Key = retries; Type = integer; Default = 3; RenamedFrom = (tries); },
            { Key = every; Type = integer; Kind = duration; Default = 1d; Environment = EVERY; }
        ); Migrations = ({ From = 1; Rename = { copies = keep; }; }); }
        """

    static let bounds = "error: must be from 1 to 50"

    static let rows: [Lookup] = [
        // The order of the layers.
        Lookup([:], is: "7", .default), Lookup([:], key: "mode", is: "none"),
        Lookup(["site-global": "{ keep = 9; }"], is: "9", .siteGlobal),
        Lookup(["site-global": "{ keep = 9; }", "site": "{ keep = 10; }"], is: "10", .site),
        Lookup(["site": "{ keep = 10; }", "global": "{ keep = 11; }"], is: "11", .global),
        Lookup(["global": "{ keep = 11; }", "user": "{ keep = 12; }"], is: "12", .user),
        Lookup(["user": "{ keep = 12; }", "user-host": "{ keep = 13; }"], is: "13", .userHost),
        Lookup(["user-host": "{ keep = 13; }"], ["KEEP": "14"], is: "14", .environment),
        Lookup(["forced": "{ keep = 15; }"], ["KEEP": "14"], is: "15", .forced),
        Lookup(["forced": "{ keep = 15; }", "user": "{ keep = 12; }"], is: "15", .forced),
        // Values as text, and under former keys.
        Lookup(["user": "{ keep = \"0x10\"; }"], is: "16", .user),
        Lookup(["user": "{ every = 2h; }"], key: "every", is: "7200"),
        Lookup(["user": "{ on = yes; }"], key: "on", is: "true"),
        Lookup(["user": "{ tags = (1, 2); }"], key: "tags", is: "[1,2]"),
        Lookup(["user": "{ tries = 5; }"], key: "retries", is: "5", .user),
        Lookup(["user": "{ tries = 5; retries = 6; }"], key: "retries", is: "6", .user),
        Lookup(["user-host": "{ tries = 5; }", "user": "{ retries = 6; }"], key: "retries", is: "5", .userHost),
        // Stored for an earlier version of the schema.
        Lookup(["user": "{ copies = 20; \"$schemaVersion\" = 1; }"], is: "20", .user),
        Lookup(["user": "{ copies = 99; \"$schemaVersion\" = 1; }"], is: "7", .default),
        // An invalid stored value.
        Lookup(["user": "{ keep = 0; }"], is: "7", .default), Lookup(["user": "{ keep = many; }"], is: "7", .default),
        Lookup(["user": "{ keep = (1); }", "site": "{ keep = 10; }"], is: "10", .site),
        Lookup(["user-host": "{ keep = 99; }", "user": "{ keep = 12; }"], is: "12", .user),
        Lookup(["user": "{ keep = 99; }", "global": "{ keep = 11; }"], is: "11", .global),
        Lookup(["site": "{ keep = 99; }"], is: "7", .default),
        Lookup(["user": "{ mode = slow; }"], key: "mode", is: "none"),
        Lookup(["user": "{ tags = (1, x); }"], key: "tags", is: "none"),
        Lookup(["user": "{ tries = x; }"], key: "retries", is: "3", .default),
        Lookup(["user": "{ keep = 99; }"], ["KEEP": "14"], is: "14", .environment),
        // An invalid value in the environment.
        Lookup(["user": "{ keep = 12; }"], ["KEEP": "999"], is: bounds, unparsed: "12"),
        Lookup(["forced": "{ keep = 15; }"], ["KEEP": "999"], is: bounds, unparsed: "15"),
        Lookup([:], ["KEEP": "many"], is: "error: must be an integer", unparsed: "7"),
        Lookup([:], ["MODE": "slow"], key: "mode", is: "error: must be full or fast", unparsed: "none"),
        // An empty variable is unset.
        Lookup(["user": "{ keep = 12; }"], ["KEEP": ""], is: "12", .user),
        Lookup(["user": "{ note = mine; }"], ["NOTE": ""], key: "note", is: "\"mine\"", .user),
        Lookup([:], ["NOTE": ""], key: "note", is: "\"nothing\"", .default),
        Lookup([:], ["KEEP": "", "OLD_KEEP": "21"], is: "21", .environment),
        Lookup([:], ["ON": "yes"], key: "on", is: "true", .environment),
        // An invalid forced value.
        Lookup(["forced": "{ keep = 99; }", "user": "{ keep = 12; }"], is: bounds, unparsed: "12"),
        Lookup(["forced": "{ keep = 99; }"], ["KEEP": "14"], is: bounds, unparsed: "14"),
        Lookup(["forced": "{ keep = x; }"], is: "error: must be an integer", unparsed: "7"),
        // A secret in a file that others can read.
        Lookup(["site": "{ token = sesame; }"], key: "token", is: "none"),
        Lookup(["forced": "{ token = sesame; }"], key: "token", is: "none"),
    ]
}

private struct UnknownLayer: Error { let name: String }

/// A machine with the files of a look-up, and the programs that look up the value.
private struct LookupBench {
    let machine: SimulatedMachine
    let row: Lookup

    init(_ row: Lookup) throws {
        self.row = row
        machine = try SimulatedMachine()
        try machine.administrate("/usr/share/prefs/schemas/d.plist", Lookup.schema)
        try write("#!/bin/sh\n", to: "/tmp/script")
        let user = "/home/ada/.config/prefs"
        let host = try machine.environment.hostIdentity(in: machine.fileSystem)
        for (layer, text) in row.files {
            // The user's settings have the current version of the schema unless the text gives another one.
            let isOfUser = layer.hasPrefix("user")
            let current = text.contains("$") || !isOfUser ? text : "{ \"$schemaVersion\" = 2;" + text.dropFirst()
            switch layer {
            case "forced": try machine.administrate("/etc/prefs/forced/d.plist", current)
            case "site": try machine.administrate("/etc/xdg/prefs/d.plist", current)
            case "site-global": try machine.administrate("/etc/xdg/prefs/.GlobalPreferences.plist", current)
            case "user": try write(current, to: #require(FilePath("\(user)/d.plist")))
            case "user-host": try write(current, to: #require(FilePath("\(user)/ByHost/d.\(host).plist")))
            case "global": try write(current, to: #require(FilePath("\(user)/.GlobalPreferences.plist")))
            default: throw UnknownLayer(name: layer)
            }
        }
    }

    private func write(_ text: String, to path: FilePath) throws {
        try machine.fileSystem.makeFolders(path.parent)
        try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
    }

    private func prefs(_ words: String...) throws -> Transcript.Outcome {
        try runPrefs(["prefs"] + words, on: machine, variables: row.variables)
    }

    private func text(_ value: PropertyList?) throws -> String {
        guard let value else { return "none" }
        return String(decoding: try value.serialized(as: .json), as: UTF8.self).filter { !$0.isWhitespace }
    }

    private func error(_ message: String) -> String {
        let line = message.split(separator: "\n").first { !$0.contains("it is ignored") } ?? ""
        return "error: " + (line.split(separator: ": ").last ?? "")
    }

    /// The store of a new process.
    private func store() -> Store {
        var environment = machine.environment
        environment.variables = environment.variables.merging(row.variables)
        return Store(
            .native,
            on: SystemServices(
                fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                environment: environment, terminal: SimulatedTerminal()))
    }

    /// The result for a program that parses its command line.
    func program() throws -> (found: String, layer: Layer?) {
        do {
            let schema = try Schema(parsing: Array(Lookup.schema.utf8))
            let explanation = try schema.parse(["script"], in: store()).defaults.explain(row.key)
            return (try text(explanation.inForce?.value), explanation.inForce?.origin.layer)
        } catch let Schema.EarlyExit.mistakes(mistakes) {
            return (error(mistakes.map(\.description).joined(separator: "\n")), nil)
        }
    }

    /// The result for a program that does not parse its command line.
    func defaults() throws -> String {
        let defaults = Defaults("d", in: store())
        return try text(defaults.explain(row.key).inForce?.value)
    }

    func explained() throws -> (found: String, layer: String?) {
        let outcome = try prefs("explain", "--effective", "--format", "json", "d", row.key)
        if outcome.status == 1 { return ("none", nil) }
        let layers = try PropertyList(parsing: Array(outcome.output.utf8), as: .json).arrayValue ?? []
        if let refused = layers.first(where: { $0["error"]?.booleanValue ?? false }) {
            return ("error: \(refused["fault"]?.stringValue ?? "")", nil)
        }
        let inForce = layers.first { $0["inForce"]?.booleanValue ?? false }
        return (try text(inForce?["value"]), inForce?["layer"]?.stringValue)
    }

    func effective() throws -> String { try read("--effective") }

    func read(_ options: String...) throws -> String {
        let outcome = try runPrefs(
            ["prefs", "read"] + options + ["--format", "json", "d", row.key], on: machine, variables: row.variables)
        switch outcome.status {
        case 0: return try text(PropertyList(parsing: Array(outcome.output.utf8), as: .json))
        case 1: return "none"
        default: return error(outcome.errors)
        }
    }

    func script() throws -> String {
        let schema = "/usr/share/prefs/schemas/d.plist"
        let outcome = try prefs("args", "--shell", "json", "--schema", schema, "/tmp/script")
        guard outcome.status == 0 else { return error(outcome.errors) }
        let value = try PropertyList(parsing: Array(outcome.output.utf8), as: .json)["values"]?[row.key]
        return value == .string("") || value == .array([]) ? "none" : try text(value)
    }
}

@Suite struct `A value that is looked up` {
    @Test(arguments: Lookup.rows)
    func `is the same for a program, explain, read and a script`(_ row: Lookup) throws {
        #expect(try LookupBench(row).explained().found == row.expected)
        #expect(try LookupBench(row).effective() == row.expected)
        #expect(try LookupBench(row).script() == row.expected)
        var stored = row
        stored.variables = [:]
        #expect(try LookupBench(row).read() == LookupBench(stored).effective())
        let program = try LookupBench(row).program()
        #expect(program.found == row.expected)
        // Only a program that parses its command line migrates stored settings.
        if row.expected == "7" || !"\(row.files)".contains("copies") {
            #expect(try LookupBench(row).defaults() == row.unparsed ?? row.expected)
        }
        if let layer = row.layer {
            #expect(program.layer == layer)
            #expect(try LookupBench(row).explained().layer == layer.name)
        }
    }
}
