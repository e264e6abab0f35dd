internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// One call of `prefs args`: from a script and its arguments to the text that the script evaluates.
struct ScriptCall {
    let script: ScriptFile
    let schema: Schema
    let output: ScriptOutput
    let invocation: Invocation
    let surroundings: Surroundings
    let settings: StoredSettings
    private let file: SchemaFile

    init(_ script: ScriptFile, _ output: ScriptOutput, _ invocation: Invocation, _ surroundings: Surroundings) throws {
        self.script = script
        self.output = output
        self.invocation = invocation
        self.surroundings = surroundings
        file = try script.schema(invocation)
        // What its author was told once, a script that runs every minute can do without: it starts a tenth sooner.
        var schema = try file.schema(checks: false)
        if (try? DomainName(schema.domain)) == nil { schema = try file.schema() }
        self.schema = schema
        let access = try StoreAccess(invocation, surroundings)
        settings = StoredSettings(schema: schema, domain: try access.domain(DomainName(schema.domain)), access: access)
    }

    /// Understands the arguments and writes what the script is to evaluate.
    func run() throws -> ExitStatus {
        let stored = try StoredLayers(settings.domain, schema, settings.access)
        if let newer = settings.newerVersion(stored) { try say("\(newer)") }
        let migrated = settings.migrated(stored)
        let variables = surroundings.environment.variables.table
        let context = Schema.Arguments.Context(
            variables: variables, stored: migrated.usable, now: surroundings.clock.wall.date)
        switch schema.arguments(invocation.words("ARGUMENT"), in: context) {
        case .values(let arguments):
            try storeMigration(of: stored)
            return try hand(arguments, migrated)
        case .help(let request):
            try checkSchema()
            return try show(help(request, migrated, variables))
        case .version: return try show(schema.versionText(program: script.program))
        case .mistakes(let mistakes):
            try checkSchema()
            return try refuse(mistakes)
        }
    }

    /// Looks for all that is wrong with the schema, before somebody is told of it or by it.
    private func checkSchema() throws { _ = try file.schema() }

    /// Makes what is stored that of the schema's version. Who only asks for help is not to find it changed by that.
    private func storeMigration(of stored: StoredLayers) throws {
        do {
            try settings.migrate(stored)
        } catch {
            // The script can do its work all the same; the next call tries again.
            try say("\(Prefs.explanation(of: error).1.joined(separator: "; "))")
        }
    }

    // MARK: What is handed over

    private func hand(_ arguments: Schema.Arguments, _ stored: StoredLayers) throws -> ExitStatus {
        var given = arguments.values
        do throws(Schema.Arguments.Mistake) {
            for request in arguments.secrets {
                given[request.key] = try schema.secret(for: request, on: surroundings.machine)
            }
        } catch {
            return try refuse([error])
        }
        for note in arguments.notes { try say("\(note)") }
        if schema.settings(of: arguments.command).contains(where: \.hasBrokenDefault) { try checkSchema() }
        if arguments.saves { try save(given, arguments.command) }
        let layers = stored.layers(arguments: given, environment: arguments.environment)
        let (inForce, problems) = schema.valuesInForce(layers, command: arguments.command)
        try tell(problems, of: stored)
        for key in given.keys where inForce[key]?.layer == Layer.forced.name {
            let name = schema.declaration(of: key, command: arguments.command)?.writtenName ?? key
            try say("\(name.onOneLine): the administrator has decided on this value")
        }
        try write(PropertyList.Dictionary(inForce.map { ($0.key, $0.value.value) }), arguments)
        return .done
    }

    /// Writes the values as the script reads them.
    private func write(_ values: PropertyList.Dictionary, _ arguments: Schema.Arguments) throws {
        let text: String
        do throws(ScriptFailure) {
            text = try ScriptValues(
                schema: schema, values: values, command: arguments.command, operands: arguments.operands
            ).text(for: output, prefix: invocation[.prefix] ?? "")
        } catch {
            try checkSchema()
            throw UnfitForScript(script: script.program, failure: error)
        }
        try surroundings.terminal.write(text, to: .output)
    }

    /// Says which stored values do not count, as a program in Swift does: a script that went by others in silence would
    /// look as if it did not heed its settings.
    private func tell(_ problems: [(layer: String, problem: Schema.Problem)], of stored: StoredLayers) throws {
        var told: Set<[String]> = []
        for (layer, problem) in problems {
            guard let found = stored.all.first(where: { $0.layer.name == layer }),
                let key = problem.path.components.first?.text, told.insert([layer, key]).inserted
            else { continue }
            let place = problem.path.components.count > 1 ? "\(problem.path) " : ""
            try say("\(key) in \(layer) (\(found.origin.file ?? "")): \(place)\(problem.reason); it does not count")
        }
    }

    /// Keeps what flags have said as the user's settings, but for what is meant for this one run.
    private func save(_ given: PropertyList.Dictionary, _ command: String?) throws {
        let kept = schema.kept(given, of: command)
        if !kept.isEmpty { try settings.save(Form.Changes(values: kept)) }
    }

    // MARK: What ends the script

    private func refuse(_ mistakes: [Schema.Arguments.Mistake]) throws -> ExitStatus {
        for mistake in mistakes { try say("\(mistake)") }
        try surroundings.terminal.write("Try \(script.program) --help.\n", to: .errors)
        try surroundings.terminal.write(output.exit(ExitStatus.usage.rawValue), to: .output)
        return .usage
    }

    /// Has the script print a text and end, since its own output is what a person sees.
    private func show(_ text: String) throws -> ExitStatus {
        // A program that reads values must not take help for one: it gets nothing, and the status 0.
        if output == .json || output == .nul {
            try surroundings.terminal.write(text, to: .errors)
        } else {
            try surroundings.terminal.write(output.printing(text, thenExit: 0), to: .output)
        }
        return .done
    }

    private func help(
        _ request: Schema.Arguments.HelpRequest, _ stored: StoredLayers, _ variables: [String: String]
    ) -> String {
        var values: [String: Schema.ValueInForce]?
        if request.showsValues {
            let environment = schema.environment(variables, command: request.command)
            values = schema.valuesInForce(stored.layers(environment: environment), command: request.command).values
        }
        // Our own output is a pipe to the script.
        let width = surroundings.terminal.width(of: .errors) ?? surroundings.terminal.width(of: .input) ?? 80
        return schema.helpText(program: script.program, command: request.command, width: width, values: values)
    }

    /// Writes a line in the script's name.
    private func say(_ line: String) throws {
        try surroundings.terminal.write("\(script.program): \(line)".shown + "\n", to: .errors)
    }
}

/// Values that a script cannot be handed.
struct UnfitForScript: Reportable {
    let script: String
    let failure: ScriptFailure

    var status: ExitStatus {
        switch failure {
        case .invalidPrefix: .usage
        case .nul: .invalidValue
        case .clash, .reserved: .damaged
        }
    }

    var lines: [String] { ["\(script): \(failure)"] }
}

extension EnvironmentVariables {
    /// The variables by their names; of two of one name, the first one counts.
    fileprivate var table: [String: String] { Dictionary(all.map { ($0.name, $0.value) }) { first, _ in first } }
}

extension SettingDeclaration {
    /// Whether the default is none that the setting may have: then there is no value to hand over.
    fileprivate var hasBrokenDefault: Bool { defaultValue.map { !rule.problems(with: $0).isEmpty } ?? false }
}
