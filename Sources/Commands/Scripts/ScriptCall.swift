internal import Platform
internal import Preferences
internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A call of `prefs args`: from a script and its arguments to the text that the script evaluates.
struct ScriptCall {
    let script: ScriptFile
    let schema: Schema
    let output: ScriptOutput
    let invocation: Invocation
    let context: CommandContext
    /// The stored settings; nil for a script that stores nothing.
    let settings: StoredSettings?
    private let file: SchemaFile

    init(_ script: ScriptFile, _ output: ScriptOutput, _ invocation: Invocation, _ context: CommandContext) throws {
        self.script = script
        self.output = output
        self.invocation = invocation
        self.context = context
        file = try script.schema(invocation)
        // Skips checks that matter only to the script's author, which makes the start 10% faster.
        var schema = try file.schema(checks: false)
        let hasDomain = schema.isStored && (try? DomainName(schema.domain)) != nil
        if hasDomain != schema.isStored || schema.isContradictory { schema = try file.schema() }
        self.schema = schema
        guard schema.isStored else {
            settings = nil
            return
        }
        let access = try StoreAccess(invocation, context)
        settings = StoredSettings(schema: schema, domain: try access.domain(DomainName(schema.domain)), access: access)
    }

    /// Parses the arguments and writes the text that the script evaluates.
    func run() throws -> ExitStatus {
        let stored = try settings.map { try $0.access.storedLayers($0.domain) } ?? []
        if let newer = schema.newerVersion(in: stored) { try say("\(newer)") }
        let (outcome, configuration) = layers(stored, .init()).arguments(
            words, of: schema, on: context.system, reading: read)
        switch outcome {
        case .values(let arguments):
            try reportUnclaimed(stored, for: arguments.command)
            try storeMigration(of: stored)
            return try deliver(arguments, configuration, stored)
        case .storing(let arguments):
            try storeMigration(of: stored)
            return try store(arguments)
        case .help(let request):
            try checkSchema()
            return try show(try help(request, stored))
        case .version: return try show(schema.versionText(program: script.program))
        case .mistakes(let mistakes):
            try checkSchema()
            return try refuse(mistakes)
        }
    }

    private var program: String { schema.program?.onOneLine ?? script.program }

    /// The arguments of the script, with bytes that are not valid UTF-8 in the notation of `ByteText`.
    private var words: [String] { invocation.words("ARGUMENT") }

    /// Reads the file of the configuration.
    @Sendable private func read(_ file: DomainFile) throws(StoreFailure) -> LayerSource? {
        try file.configuration(on: context.system)
    }

    /// The layers of the domain as the script's schema declares it.
    private func layers(_ stored: [LayerSource], _ program: EffectiveSchema.ProgramValues) -> LayerStack {
        let schema = EffectiveSchema(schema, program: program)
        guard let settings else { return LayerStack(stored, schema, on: context.system) }
        return settings.access.layers(settings.domain, stored: stored, schema)
    }

    /// Checks the schema completely, before its help or errors based on it are shown.
    private func checkSchema() throws { _ = try file.schema() }

    /// Reports values of an earlier version that none of the commands uses. One that is not forced is reported once.
    private func reportUnclaimed(_ stored: [LayerSource], for command: String?) throws {
        let keys = schema.settings(of: command).filter { $0.storedAt != nil }.flatMap(\.allKeys)
        guard !keys.isEmpty, let settings else { return }
        var reported = ReportedKeys(of: schema.domain, context)
        for source in stored where !source.layer.isGlobal {
            for key in schema.unclaimedKeys(in: source.values) where keys.contains(exactly: key) {
                let isNew = reported.insert(key, in: source.layer)
                guard isNew || source.layer == .forced else { continue }
                let owners = schema.commands(owning: key)
                let reason =
                    owners.count == 1
                    ? "\(owners[0]) stores a value of its own"
                    : "\(owners.joined(separator: " and ")) each store a value of their own"
                try say(
                    "\(key) in \(source.origin) is ignored since \(reason); \(remedy(for: key, of: owners, in: source.layer, settings))"
                )
            }
        }
        reported.save()
    }

    /// How to give a value that no command uses to one of the commands that own its key.
    private func remedy(
        for key: String, of owners: [String], in layer: Layer, _ settings: StoredSettings
    ) -> String {
        let places = schema.ownSettings.filter { $0.allKeys.contains(exactly: key) }.map(\.storedKey)
        guard layer.isOfUser else { return "to use it, move it to \(places.joined(separator: " or "))" }
        let isInstalled = settings.access.installedSchema(settings.domain)?.schema?.scopes == schema.scopes
        let spelling = CommandSpelling(isInstalled ? schema.domain : script.argument)
        return "to move it there: \(Verb.commandsOfMigration(spelling, to: owners))"
    }

    /// Migrates the stored settings. Not called for help, which must not change settings.
    private func storeMigration(of stored: [LayerSource]) throws {
        do {
            try settings?.migrate(stored)
        } catch {
            // The script can still run; the next call tries again.
            try say("\(Prefs.explanation(of: error).1.joined(separator: "; "))")
        }
    }

    // MARK: Output

    /// Saves the values of flags if that is requested, and writes the values in force. Saving is last, because every
    /// step before can fail.
    private func deliver(
        _ arguments: Schema.Arguments, _ configuration: LayerSource?, _ stored: [LayerSource]
    ) throws -> ExitStatus {
        let given = arguments.values
        let mistakes = check(given, arguments)
        guard mistakes.isEmpty else { return try refuse(mistakes, of: arguments.command) }
        for note in arguments.notes { try say("\(note)") }
        if schema.settings(of: arguments.command).contains(where: \.hasBrokenDefault) { try checkSchema() }
        let layers = layers(stored, .init(arguments, configuration))
        let found = schema.settings(of: arguments.command).map { (setting: $0, resolution: layers[$0.key]) }
        var values = PropertyList.Dictionary()
        for (setting, resolution) in found {
            let isGiven = resolution.winner?.origin.layer == .arguments
            values[setting.key] = isGiven ? resolution.winner?.value : resolution.winner?.value?.escapingRaw
        }
        let missing = schema.pathMistakes(in: values, of: arguments.command, on: context.fileSystem)
        guard missing.isEmpty else { return try refuse(missing, of: arguments.command) }
        let text = try text(of: values, arguments)
        if arguments.saves {
            do {
                try save(given, arguments.command)
            } catch {
                return try fail(error)
            }
            let saved = schema.valuesToSave(given, of: arguments.command)
            for note in layers.notesOnHidden(saved, of: arguments.command) { try say(note) }
        }
        for (setting, resolution) in found {
            for answer in resolution.skipped {
                try say("\(setting.key) in layer \(answer.origin) is ignored: \(answer.fault ?? "")")
            }
            if given[setting.key] != nil, resolution.winner?.origin.layer == .forced {
                try say(setting.noteOfForcedValue)
            }
        }
        try context.terminal.write(ByteText.bytes(text), to: .output)
        return .done
    }

    // MARK: Checks that need the system

    /// Checks the given values against the choices that commands of the script list.
    private func check(
        _ given: PropertyList.Dictionary, _ arguments: Schema.Arguments
    ) -> [Schema.Arguments.Mistake] {
        schema.settings(of: arguments.command).flatMap { setting -> [Schema.Arguments.Mistake] in
            let inner = setting.rule.ofElements
            guard let command = inner.choicesFrom ?? setting.rule.choicesFrom,
                let value = given[setting.key] ?? arguments.environment[setting.key]
            else { return [] }
            do {
                let choices = try context.choices(command)
                return (value.arrayValue ?? [value]).map(\.plainText).filter { !choices.contains(exactly: $0) }.map {
                    text in
                    .init(
                        .value(text, .notAChoice(choices, nearest: choices.nearest(to: text))), at: setting.writtenName)
                }
            } catch {
                return [.init(.unlistedChoices("\(error)"), at: setting.writtenName)]
            }
        }
    }

    /// The values in the form that the script reads.
    private func text(of values: PropertyList.Dictionary, _ arguments: Schema.Arguments) throws -> String {
        do throws(ScriptFailure) {
            return try ScriptValues(
                schema: schema, values: values, command: arguments.command, operands: arguments.operands,
                uses: arguments.uses
            ).text(for: output, prefix: invocation[.prefix] ?? "")
        } catch {
            try checkSchema()
            throw ScriptValuesFailure(script: program, failure: error)
        }
    }

    /// Saves the values of flags and removes stored ones, then ends the script.
    private func store(_ arguments: Schema.Arguments) throws -> ExitStatus {
        let mistakes =
            check(arguments.values, arguments)
            + schema.pathMistakes(in: arguments.values, of: arguments.command, on: context.fileSystem)
        guard mistakes.isEmpty else { return try refuse(mistakes, of: arguments.command) }
        for note in arguments.notes { try say("\(note)") }
        let given = arguments.saves ? arguments.values : [:]
        let keys = arguments.reset.map { schema.storedKeys(of: $0) } ?? []
        let saved = schema.valuesToSave(given, of: arguments.command)
        // Read again, because the migration can have changed them.
        let stored = try settings.map { try $0.access.storedLayers($0.domain) } ?? []
        let others = keys + schema.keysExcluded(by: saved, of: arguments.command)
        let removed = stored.keysOfUser(others, of: schema)
        do {
            try save(given, arguments.command, removing: removed)
        } catch {
            return try fail(error)
        }
        let values = schema.anchored(saved, in: context.system.workingFolder?.word)
        try say(schema.report(saved: values, removed: removed, of: arguments.reset))
        try context.terminal.write(output.exit(0), to: .output)
        return .done
    }

    /// Stores the values of flags as the user's settings, except transient ones. Those of other keys are removed first.
    private func save(_ given: PropertyList.Dictionary, _ command: String?, removing others: [String] = []) throws {
        let saved = schema.valuesToSave(given, of: command)
        for entry in saved where entry.value.holdsRaw {
            throw CommandFailure(
                .invalidValue, "--save: the value of \(entry.key.onOneLine) is not valid UTF-8")
        }
        let removed = others + schema.keysExcluded(by: saved, of: command)
        if !saved.isEmpty || !removed.isEmpty { try settings?.save(Form.Changes(values: saved), removing: removed) }
    }

    // MARK: Ending the script

    private func refuse(_ mistakes: [Schema.Arguments.Mistake], of command: String? = nil) throws -> ExitStatus {
        for mistake in mistakes { try say("\(mistake)") }
        try context.terminal.write(
            schema.hint(after: mistakes, program: program, command: command) + "\n", to: .errors)
        let isForbidden = mistakes.allSatisfy {
            if case .excludedByForced(_, saves: true) = $0.reason { true } else { false }
        }
        let status: ExitStatus = isForbidden ? .forced : .usage
        try context.terminal.write(output.exit(status.rawValue), to: .output)
        return status
    }

    private func fail(_ error: any Error) throws -> ExitStatus {
        let (status, lines) = Prefs.explanation(of: error)
        for line in lines { try say(line) }
        try context.terminal.write(output.exit(status.rawValue), to: .output)
        return status
    }

    /// Makes the script print a text and exit, since this command's standard output is evaluated by the script.
    private func show(_ text: String) throws -> ExitStatus {
        // Programs that read values must not mistake help for a value, so it goes to standard error.
        if output == .json || output == .nul {
            try context.terminal.write(text, to: .errors)
        } else {
            try context.terminal.write(output.printing(text, thenExit: 0), to: .output)
        }
        return .done
    }

    private func help(_ request: Schema.Arguments.HelpRequest, _ stored: [LayerSource]) throws -> String {
        var layers = request.showsValues ? layers(stored, .init(asking: request)) : nil
        do throws(Schema.Arguments.Mistake) {
            layers = try layers?.withConfiguration(of: request.given, on: context.system, by: read)
        } catch {
            try say("\(error)")
        }
        let secrecy: Secrecy = settings.map { $0.access.secrecy($0.domain) } ?? .none
        // The standard output is a pipe to the script.
        let terminal = context.terminal
        let width = context.environment.columns ?? terminal.width(of: .errors) ?? terminal.width(of: .input) ?? 80
        return schema.helpText(
            program: script.program, command: request.command, width: width, values: layers?.shownValues(secrecy),
            displaced: layers?.displacedValues(secrecy) ?? [:], given: secrecy.masked(request.given.values))
    }

    /// Prints a line to standard error, after the script's name.
    private func say(_ line: String) throws {
        try context.terminal.write("\(program): \(line)".shown + "\n", to: .errors)
    }
}

/// The values cannot be passed to the script.
struct ScriptValuesFailure: Reportable {
    let script: String
    let failure: ScriptFailure

    var status: ExitStatus {
        switch failure {
        case .invalidPrefix: .usage
        case .nul, .notText: .invalidValue
        case .clash, .reserved: .damaged
        }
    }

    var lines: [String] { ["\(script): \(failure)"] }
}

extension SettingDeclaration {
    /// Whether the default breaks the setting's own rule, so that there is no valid value.
    fileprivate var hasBrokenDefault: Bool { defaultValue.map { !rule.problems(with: $0).isEmpty } ?? false }
}

/// A script given to `prefs args`: its name, its beginning, and the location of its schema.
struct ScriptFile {
    let path: FilePath
    /// The script as named on the command line, in a form that is taken for a path.
    let argument: String
    /// The part of the script that is searched, or the reason it cannot be read.
    private let beginning: Result<String, any Error>
    private let context: CommandContext

    init(_ argument: String, _ context: CommandContext) throws {
        let path = try context.path(argument)
        self.path = path
        self.argument = argument.contains("/") ? argument : "./" + argument
        self.context = context
        beginning = Result { try Self.beginning(of: path, in: context.fileSystem) }
    }

    /// The script's name in help and messages.
    var program: String { (path.lastComponent?.description ?? path.description).onOneLine }

    /// The shell named in the script's first line.
    var shell: ScriptOutput? {
        guard case .success(let text) = beginning else { return nil }
        return ScriptOutput(firstLine: text.utf8.first == UInt8(ascii: "#") ? text.prefix { !$0.isNewline } : "")
    }

    /// Returns the schema named on the command line, or else the one that the script contains or names.
    func schema(_ invocation: Invocation) throws -> SchemaFile {
        try invocation[.schema].map { try SchemaFile($0, context) } ?? ownSchema()
    }

    /// Returns the schema that the script contains or names.
    func ownSchema() throws -> SchemaFile {
        let text = try beginning.get()
        let reference: ScriptReference
        do throws(ScriptReference.Failure) {
            reference = try ScriptReference(script: text)
        } catch {
            let place = "\(path)".onOneLine
            throw CommandFailure(.damaged, error == .missing ? "\(place): \(error)" : "\(place):\(error)")
        }
        switch reference {
        case .inline(let text):
            return SchemaFile(
                name: path.description, bytes: Array(text.utf8), modified: try modified(path), folder: path.parent,
                source: .head, shell: shell ?? .sh, context)
        case .lines(let text):
            return SchemaFile(
                name: path.description, bytes: Array(text.utf8), modified: try modified(path), folder: path.parent,
                source: .head, shell: shell ?? .sh, hasLines: true, context)
        case .file(let name):
            let place = try place(of: name)
            return try SchemaFile(place, named: place.description, source: .fileOfScript, shell: shell ?? .sh, context)
        }
    }

    /// Returns the script with its parser in place of the line that calls `prefs args`.
    ///
    /// - Parameters:
    ///   - file: The schema, which must have no errors.
    ///   - prefix: The prefix of variables; nil for that of the call.
    ///   - hasCompletions: Whether the parser prints completions for `--completions SHELL`.
    ///   - ownSchema: Whether the schema is that of the script, so that the call must not name another one.
    func built(
        by file: SchemaFile, prefix: String?, hasCompletions: Bool, ownSchema: Bool
    ) throws -> [UInt8] {
        let name = "\(path)".onOneLine
        if shell == .fish {
            throw CommandFailure(.usage, "\(name): --build writes POSIX shell, and this is a script for fish")
        }
        if shell == nil { throw CommandFailure(.usage, "\(name): the first line names no shell") }
        let text = try beginning.get()
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let call = lines.indices.first { index in
            let line = lines[index].drop { $0 == " " || $0 == "\t" }
            return line.hasPrefix("eval ") && line.contains("prefs args")
        }
        guard let call else {
            throw CommandFailure(.damaged, "\(name): no line begins with eval \"$(prefs args")
        }
        guard let words = Self.words(ofCall: lines[call]) else {
            throw CommandFailure(
                .usage, "\(name):\(call + 1): --build requires a line that contains only eval \"$(prefs args …)\"")
        }
        var callPrefix = ""
        var options = words.prefix { $0 != "--" }
        while let word = options.popFirst() {
            let option = word.prefix { $0 != "=" }
            guard option.hasPrefix("--"), ownSchema || option != "--schema" else { continue }
            if option == "--prefix" {
                callPrefix = option == word ? options.popFirst() ?? "" : String(word.dropFirst(option.count + 1))
                // Anything but a plain word is known only to the shell.
                if callPrefix.isVariableName { continue }
            }
            throw CommandFailure(.usage, "\(name):\(call + 1): --build cannot inline a call with \(word.onOneLine)")
        }
        let schema = try file.schema()
        if hasCompletions, schema.allSettings.contains(where: { $0.allFlags.contains("completions") }) {
            throw CommandFailure(.usage, "\(name): --with-completions: the script has a flag --completions of its own")
        }
        do {
            lines[call] = String(
                try StandaloneParser(
                    schema, program: program, for: shell ?? .sh, prefix: prefix ?? callPrefix,
                    hasCompletions: hasCompletions
                ).code().dropLast())
        } catch let refusal as StandaloneParser.Refusal {
            let parts = file.lines(for: refusal.parts)
            throw CommandFailure(.usage, parts, classic: parts)
        } catch let failure as ScriptFailure {
            throw ScriptValuesFailure(script: program, failure: failure)
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Returns the words after `prefs args` in a line, without quotes, or nil if the line has more than the call.
    private static func words(ofCall line: String) -> [String]? {
        guard let start = line.firstRange(of: "$("), let name = line.firstRange(of: "prefs args") else { return nil }
        var depth = 1
        var end = start.upperBound
        while depth > 0 {
            guard end < line.endIndex else { return nil }
            if line[end] == "(" { depth += 1 }
            if line[end] == ")" { depth -= 1 }
            end = line.index(after: end)
        }
        let rest = line[end...].drop { $0 == "\"" }.drop(while: \.isWhitespace)
        guard name.upperBound < end, rest.isEmpty || rest.hasPrefix("#") else { return nil }
        return line[name.upperBound..<end].split(whereSeparator: \.isWhitespace).map { word in
            String(word.filter { $0 != "\"" && $0 != "'" })
        }
    }

    /// Returns the path of a file that the script names: in the script's folder, or, if the script is a symbolic link,
    /// in the folder of its target.
    private func place(of name: String) throws -> FilePath {
        guard let file = FilePath(name) else { throw CommandFailure(.damaged, "\(path): missing file name") }
        // A bare name is easier to read in messages than one with "./" before it.
        let place = path.parent == "." ? file : path.parent.resolving(file)
        if try context.fileSystem.status(of: place) != nil { return place }
        let target = try path.followingLinks(in: context.fileSystem)
        let other = target.parent.resolving(file)
        return try context.fileSystem.status(of: other) == nil ? place : other
    }

    private func modified(_ path: FilePath) throws -> Timestamp? {
        try context.fileSystem.status(of: path)?.modified
    }

    private static func beginning(of path: FilePath, in fileSystem: any FileSystem) throws -> String {
        guard let file = try fileSystem.open(path, .reading) else {
            throw CommandFailure(.notFound, "\(path): no such script".onOneLine)
        }
        guard try file.status().kind == .file else {
            throw CommandFailure(.systemFailed, "\(path): not a regular file".onOneLine)
        }
        return String(decoding: try file.beginning(limit: ScriptReference.mostBytes), as: UTF8.self)
    }
}

/// The text that ends a script when `prefs args` fails, so that it does not continue without its settings.
enum ScriptExit {
    /// Returns the text for a command line that could not be parsed.
    static func text(after words: [String], _ status: ExitStatus) -> String {
        let own = words.prefix { $0 != "--" }
        // The output of these options is not evaluated by the script.
        if own.contains(where: { $0.hasPrefix("--completions") || ["--man", "--build", "--shellcheck"].contains($0) }) {
            return ""
        }
        let named = own.enumerated().compactMap { index, word -> String? in
            if word.hasPrefix("--shell=") { return String(word.dropFirst("--shell=".count)) }
            let followsOption = index > 0 && own[index - 1] == "--shell"
            return followsOption ? word : nil
        }
        return (named.last.flatMap { ScriptOutput(rawValue: $0.lowercased()) } ?? .sh).exit(status.rawValue)
    }
}

/// The keys whose ignored values a script has reported to the user. They are stored outside the settings, which a
/// report must not change.
private struct ReportedKeys {
    private let file: FilePath?
    private let context: CommandContext
    private var lines: [String] = []
    private var isChanged = false

    init(of domain: String, _ context: CommandContext) {
        self.context = context
        let state = try? context.environment.folder(.state, in: context.fileSystem)
        file = FilePath("prefs/reported/\(domain)").flatMap { state?.resolving($0) }
        guard let file, let bytes = try? context.fileSystem.contents(of: file, limit: 1 << 20) else { return }
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Returns whether the key was not reported yet for a layer.
    mutating func insert(_ key: String, in layer: Layer) -> Bool {
        let line = "\(layer) \(key.onOneLine)"
        guard !lines.contains(exactly: line) else { return false }
        lines.append(line)
        isChanged = true
        return true
    }

    /// Stores the keys. If that fails, they are reported again.
    func save() {
        guard isChanged, let file else { return }
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        try? context.fileSystem.makeFolders(file.parent)
        try? context.fileSystem.replace(file, with: bytes.span.bytes)
    }
}
