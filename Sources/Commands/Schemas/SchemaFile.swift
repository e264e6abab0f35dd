internal import Platform
internal import Preferences
internal import SettingsSchema

/// The text of a schema, from a file or a script.
struct SchemaFile {
    /// The name in messages.
    let name: String
    let bytes: [UInt8]
    let modified: Timestamp?
    /// The folder of the file, which may also contain the schemas that it extends.
    private let folder: FilePath?
    let source: Schema.Source
    /// Whether the declaration has one line per option.
    private let hasLines: Bool
    private let context: CommandContext

    init(
        name: String, bytes: [UInt8], modified: Timestamp?, folder: FilePath?, source: Schema.Source = .file,
        hasLines: Bool = false, _ context: CommandContext
    ) {
        self.source = source
        self.hasLines = hasLines
        self.name = name.onOneLine
        self.bytes = bytes
        self.modified = modified
        self.folder = folder
        self.context = context
    }

    /// Reads a schema file.
    ///
    /// - Parameter isInstalled: Whether it is to be installed. An installed schema cannot use schemas next to the file.
    init(
        _ path: FilePath, named name: String, isInstalled: Bool = false, source: Schema.Source = .file,
        _ context: CommandContext
    ) throws {
        guard let file = try context.fileSystem.open(path, .reading) else {
            throw CommandFailure(.notFound, "\(name.onOneLine): no such schema")
        }
        let status = try file.status()
        guard status.kind == .file else {
            throw CommandFailure(.systemFailed, "\(name.onOneLine): not a regular file")
        }
        guard status.size <= SchemaPlaces.mostBytes else {
            throw CommandFailure(.damaged, "\(name.onOneLine): too large for a schema, with \(status.size) bytes")
        }
        self.init(
            name: name, bytes: try file.contents(status, limit: SchemaPlaces.mostBytes), modified: status.modified,
            folder: isInstalled ? nil : path.parent, source: source, context)
    }

    /// Reads the schema that an argument names: a schema file, or a script with a declaration. `-` is the standard
    /// input.
    init(_ argument: String, isInstalled: Bool = false, _ context: CommandContext) throws {
        guard argument == "-" else {
            let path = try context.path(argument)
            self = try SchemaFile(path, named: argument, isInstalled: isInstalled, context)
            // No format of a property list begins like a comment of a shell.
            if bytes.first == UInt8(ascii: "#") { self = try ScriptFile(argument, context).ownSchema() }
            return
        }
        self.init(
            name: "standard input", bytes: try context.terminal.input(limit: SchemaPlaces.mostBytes),
            modified: nil, folder: nil, context)
    }
}

extension SchemaFile {
    /// Returns the declaration of a script, or nil if the path is of no script.
    static func ofScript(_ argument: String, _ context: CommandContext) throws -> SchemaFile? {
        guard DomainArgument.isPath(argument), let file = try context.fileSystem.open(context.path(argument), .reading),
            try file.status().kind == .file, try file.beginning(limit: 1) == [UInt8(ascii: "#")]
        else { return nil }
        return try ScriptFile(argument, context).ownSchema()
    }

    /// Returns what can be read of the schema, and a line for each error in the order of the text.
    ///
    /// - Parameter checks: Whether to check the declarations against each other.
    func read(checks: Bool = true) -> (schema: Schema?, mistakes: [String]) {
        let (schema, mistakes) = readMistakes(checks: checks, warns: false)
        if schema == nil, let line = lineOfForeignLanguage { return (nil, [line]) }
        return (schema, mistakes.map { line(for: $0) })
    }

    /// Returns the errors and warnings of `schema check`, each with how to fix it, and whether there are errors.
    func findings() -> (lines: [String], isFaulty: Bool) {
        let (schema, mistakes) = readMistakes(checks: true, warns: true)
        if schema == nil, let line = lineOfForeignLanguage { return ([line], true) }
        return (mistakes.map { line(for: $0, fixes: true) }, mistakes.contains { !$0.isWarning })
    }

    private var lineOfForeignLanguage: String? {
        InvalidInput.foreignLanguage(ofFile: name).map { "\(name): prefs does not read \($0)" }
    }

    private func readMistakes(checks: Bool, warns: Bool) -> (schema: Schema?, mistakes: [Schema.Mistake]) {
        guard hasLines else {
            return Schema.read(bytes, from: source, checks: checks, warns: warns) { declared(by: $0) }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return Schema.read(lines: text, checks: checks, warns: warns) { declared(by: $0) }
    }

    private func line(for mistake: Schema.Mistake, fixes: Bool = false) -> String {
        let isHinted = "\(mistake.reason)".hasSuffix("?")
        let fix = fixes && !isHinted ? mistake.reason.fix.map { "; \($0)" } ?? "" : ""
        let text = mistake.location.map { "\($0.line):\($0.column): " } ?? " "
        return "\(name):\(text)\(mistake.isWarning ? "warning: " : "")\(mistake.withoutPlace)\(fix)".onOneLine
    }

    /// Returns the schema, or throws if it has errors. The thrown error lists all of them, even if not all were checked
    /// for.
    func schema(checks: Bool = true) throws -> Schema {
        let (schema, mistakes) = read(checks: checks)
        if let schema, mistakes.isEmpty { return schema }
        throw InvalidSchema(mistakes: checks ? mistakes : read().mistakes)
    }

    /// Returns the declarations of an extended schema: the one next to this file, or else the installed one.
    private func declared(by domain: String) -> Schema? {
        if let folder, let name = try? DomainName(domain) {
            let path = SchemaPlaces.file(of: name, in: folder)
            let bytes = try? context.fileSystem.contents(of: path, limit: SchemaPlaces.mostBytes)
            if let bytes = bytes ?? nil { return Schema.declared(in: bytes) }
        }
        return SchemaPlaces(on: context.machine).declared(by: domain, on: context.machine)
    }
}

/// The errors of a schema where a valid one is required.
///
///     backup.schema.plist:3:15: :Settings:0:Minimum: is above Maximum
struct InvalidSchema: Reportable {
    /// A line for each error.
    let mistakes: [String]

    var status: ExitStatus { .damaged }

    var lines: [String] {
        guard mistakes.count > Self.mostLines else { return mistakes }
        return mistakes.prefix(Self.mostLines) + ["and \(mistakes.count - Self.mostLines) more errors"]
    }

    private static let mostLines = 20
}
