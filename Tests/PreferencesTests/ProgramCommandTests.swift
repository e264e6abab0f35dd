import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

private enum Mode: String, Codable, CaseIterable, Sendable { case fast, safe }

private struct CommonKeys: SettingKeys {
    let verbose = Setting("verbose", default: false).flag("verbose", "v")
}

private struct ServeKeys: SettingKeys {
    let port = Setting("port", default: 80).range(1...65_535).flag("port", "p").environment("SERVER_PORT")
    let mode = Setting("mode", default: Mode.safe).flag("mode")
    let root = Setting("root", default: ".").positional().transient()
    let limits = Setting("limits", default: [String: Int]()).flag("limit").repeats()
}

private struct AddKeys: SettingKeys {
    let url = Setting("url", default: "").positional().required().transient()
}

private struct HTTPKeys: SettingKeys {
    let timeout = Setting("timeout", default: 30).range(1...60)
    let proxy = Setting<String?>("proxy")
}

private enum Remote { case add(Settings<AddKeys>), list }

private enum Command {
    case serve(Settings<ServeKeys>)
    case remote(Remote)
    case status
}

private let program = Program(
    Schema("com.example.server", title: "Serves files") { Schema.scope("http") { HTTPKeys.self } }, CommonKeys.self
) {
    CommandCase(Schema.Command("serve", title: "Starts the server").aliases("run"), ServeKeys.self, Command.serve)
    CommandCase("remote", title: "Works with remotes", Command.remote) {
        CommandCase("add", AddKeys.self, Remote.add)
        CommandCase("list", Remote.list)
    }
    CommandCase("status", Command.status)
}

@Suite struct `A program with commands` {
    private func text(_ words: [String], _ bench: StoreBench, _ variables: EnvironmentVariables = [:]) throws -> String
    {
        let store = bench.store(variables: variables)
        let (settings, command) = try program.parse(["server"] + words, in: store)
        let http = settings.scoped("http", HTTPKeys.self)
        let common = "\(settings.verbose) \(http.timeout)"
        switch command {
        case .serve(let serve):
            let limits = serve.limits.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ",")
            return "serve \(serve.port) \(serve.mode) \(serve.root) [\(limits)] \(common)"
        case .remote(.add(let add)): return "add \(add.url) \(common)"
        case .remote(.list): return "list \(common)"
        case .status: return "status \(common)"
        }
    }

    private static let rows: [(words: [String], variables: EnvironmentVariables, expected: String)] = [
        (["serve"], [:], "serve 80 safe . [] false 30"),
        (["run", "-p", "81", "--mode=fast", "/srv", "-v"], [:], "serve 81 fast /srv [] true 30"),
        (
            ["serve", "--limit", "ada=5", "--limit=bob=6", "--limit", "ada=7"], [:],
            "serve 80 safe . [ada=7,bob=6] false 30"
        ),
        (["serve", "--limit", "{ada = 5; c = 1;}", "--limit", "b=2"], [:], "serve 80 safe . [ada=5,b=2,c=1] false 30"),
        (["serve"], ["SERVER_PORT": "8080", "SERVER_HTTP_TIMEOUT": "9"], "serve 8080 safe . [] false 9"),
        (["remote", "add", "https://example.org", "--http-timeout", "5"], [:], "add https://example.org false 5"),
        (["-v", "remote", "list"], [:], "list true 30"), (["status"], [:], "status false 30"),
    ]

    @Test(arguments: rows.indices)
    func `has the case of the command that was given`(index: Int) throws {
        let row = Self.rows[index]
        #expect(try text(row.words, StoreBench(), row.variables) == row.expected)
    }

    private static let refusals: [(words: [String], message: String)] = [
        ([], "serve"), (["remote"], "add"), (["server"], "server"), (["status", "--port", "81"], "--port"),
        (["serve", "--limit", "ada"], "KEY=VALUE"), (["serve", "--limit", "=5"], "KEY=VALUE"),
        (["serve", "--limit", "ada=many"], "must be an integer"), (["serve", "-p", "0"], "from 1 to 65535"),
        (["remote", "add"], "URL is required"), (["status", "file"], "file"), (["serve", "a", "b"], "b"),
    ]

    @Test(arguments: refusals.indices)
    func `refuses what its declaration does not have`(index: Int) throws {
        let (words, message) = Self.refusals[index]
        let ending = #expect(throws: Schema.EarlyExit.self) { try text(words, StoreBench()) }
        guard case .mistakes(let mistakes)? = ending else {
            Issue.record("\(words): \(String(describing: ending))")
            return
        }
        #expect(mistakes.contains { $0.description.contains(message) }, "\(mistakes)")
    }

    @Test func `stores what is set by a property`() throws {
        let bench = try StoreBench()
        let (settings, command) = try program.parse(["server", "serve"], in: bench.store())
        guard case .serve(let serve) = command else {
            Issue.record("another command")
            return
        }
        serve.port = 8080
        settings.scoped("http", HTTPKeys.self).proxy = "example.org"
        try serve.defaults.flush()
        let stored = try StoreBench.file("com.example.server").contents(on: bench.process()).values
        #expect(stored == ["port": 8080, "http": ["proxy": "example.org"]])
        serve.defaults.reset(serve.setting(\.port))
        #expect(serve.port == 80)
    }

    @Test func `is declared without errors, and survives as a schema file`() throws {
        try program.validate()
        let read = Schema.read(try PropertyList(parsing: program.schema.openStepText(), as: .openstep), checks: true)
        #expect(read.schema == program.schema && read.mistakes.isEmpty)
    }

    @Test func `names a command without a case, and the line of the program`() {
        let program = Program(Schema("com.example.server") { Schema.Command("stop") }) {
            CommandCase("status", Command.status)
        }
        let line = #line - 3
        let mistakes = #expect(throws: Schema.Mistakes.self) { try program.validate() }
        #expect(
            mistakes?.description == """
                PreferencesTests/ProgramCommandTests.swift:\(line): Schema.Command("stop"): there is no case for this command
                """)
    }

    @Test func `allows undeclared operands if it declares their number`() throws {
        let bench = try StoreBench()
        let plain = Schema("com.example.copy") { CommonKeys.self }
        #expect(throws: Schema.EarlyExit.self) { try plain.parse(["copy", "a"], in: bench.store()) }
        let settings = try plain.operands(0...).parse(["copy", "a", "-v", "b"], in: bench.store())
        let values = Settings<CommonKeys>(settings)
        #expect(values.operands == ["a", "b"] && values.verbose)
    }
}
