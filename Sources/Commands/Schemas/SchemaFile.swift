internal import Platform
internal import Preferences
internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema

/// The text of a schema, from a file, a script, a settings bundle or a JSON Schema.
struct SchemaFile {
    /// The name in messages.
    let name: String
    let bytes: [UInt8]
    let modified: Timestamp?
    /// The folder of the file, which may also contain the schemas that it extends.
    private let folder: FilePath?
    let source: Schema.Source
    /// The shell of the script.
    private let shell: ScriptOutput
    /// Whether the declaration has one line per option.
    private let hasLines: Bool
    /// The settings bundle that the schema was read from, with its findings.
    private let bundle: BundleReading?
    /// The JSON Schema that the schema was read from, with what is left out.
    private let json: (schema: Schema, leftOut: [Schema.Mistake])?
    private let context: CommandContext

    init(
        name: String, bytes: [UInt8], modified: Timestamp?, folder: FilePath?, source: Schema.Source = .file,
        shell: ScriptOutput = .sh, hasLines: Bool = false, _ context: CommandContext
    ) {
        (self.source, self.shell) = (source, shell)
        self.hasLines = hasLines
        self.name = name.onOneLine
        self.bytes = bytes
        self.modified = modified
        self.folder = folder
        (bundle, json) = (nil, nil)
        self.context = context
    }

    /// Reads a settings bundle.
    ///
    /// - Parameter domain: The domain of the settings, which a bundle does not name; nil if none is needed.
    init(_ file: BundleFile, named name: String, domain: String?, _ context: CommandContext) throws {
        let reading = try file.read(domain: domain.map { try DomainName(word: $0).text } ?? "")
        (bundle, json) = (BundleReading(file: file, reading: reading), nil)
        self.name = name.onOneLine
        bytes = Array(try reading.schema.export())
        (modified, folder, source, shell, hasLines) = (nil, nil, .file, .sh, false)
        self.context = context
    }

    /// Takes a JSON Schema. If the catalogue knows the program, its file, and the keys that stay on a host, are kept.
    private init(
        _ json: (schema: Schema, leftOut: [Schema.Mistake]), named name: String, of domain: DomainName,
        _ context: CommandContext
    ) throws {
        var json = json
        if let known = SchemaPlaces(on: context.system).program(domain, on: context.system)?.schema {
            json.schema.keepFile(of: known)
        }
        (self.bundle, self.json) = (nil, json)
        self.name = name.onOneLine
        bytes = Array(try json.schema.export())
        (modified, folder, source, shell, hasLines) = (nil, nil, .file, .sh, false)
        self.context = context
    }

    /// Reads a schema file.
    ///
    /// - Parameter isInstalled: Whether it is to be installed. An installed schema cannot use schemas next to the file.
    init(
        _ path: FilePath, named name: String, isInstalled: Bool = false, source: Schema.Source = .file,
        shell: ScriptOutput = .sh, _ context: CommandContext
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
            folder: isInstalled ? nil : path.parent, source: source, shell: shell, context)
    }

    /// Reads the schema that an argument names: a schema file, a script with a declaration, a settings bundle, or a
    /// JSON Schema. `-` is the standard input.
    ///
    /// - Parameter domain: The domain of a settings bundle or JSON Schema; nil if it is not known or not needed.
    init(
        _ argument: String, isInstalled: Bool = false, domain: String? = nil, _ context: CommandContext
    ) throws {
        guard argument == "-" else {
            if let bundle = try BundleFile(folder: argument, context) {
                self = try SchemaFile(bundle, named: argument, domain: domain, context)
                return
            }
            let path = try context.path(argument)
            self = try SchemaFile(path, named: argument, isInstalled: isInstalled, context)
            if ScriptReference.isScript(beginning: bytes) {
                self = try ScriptFile(argument, context).ownSchema()
            } else if let bundle = BundleFile(pane: path, named: argument, bytes, context) {
                self = try SchemaFile(bundle, named: argument, domain: domain, context)
            } else if let domain = try domain.map({ try DomainName(word: $0) }) {
                let texts = try? context.fileSystem.contents(
                    of: path.parent.appending("package.nls.json"), limit: SchemaPlaces.mostBytes)
                guard let json = Schema.read(jsonSchema: bytes, domain: domain.text, texts: texts) else { return }
                self = try SchemaFile(json, named: argument, of: domain, context)
            }
            return
        }
        self.init(
            name: "standard input", bytes: try context.terminal.input(limit: SchemaPlaces.mostBytes),
            modified: nil, folder: nil, context)
    }
}

/// A settings bundle, and the result of reading it.
private struct BundleReading {
    let file: BundleFile
    let reading: SettingsBundle
}

extension SchemaFile {
    /// Reads the schema that the arguments of a verb name.
    ///
    /// - Parameter needsDomain: Whether a settings bundle or a JSON Schema requires `--domain`.
    static func named(
        _ argument: String, _ invocation: Invocation, isInstalled: Bool = false, needsDomain: Bool,
        _ context: CommandContext
    ) throws -> SchemaFile {
        let domain = invocation[.bundleDomain]
        let file = try SchemaFile(argument, isInstalled: isInstalled, domain: domain, context)
        if !file.isImported, domain != nil {
            throw CommandFailure(
                .usage, "\(file.name): neither a settings bundle nor a JSON Schema; only these require --domain")
        }
        guard domain == nil, needsDomain else { return file }
        let isJSON = !file.isImported && Schema.read(jsonSchema: file.bytes, domain: "") != nil
        if isJSON || file.isImported {
            let kind = isJSON ? "a JSON Schema" : "a settings bundle"
            throw CommandFailure(.usage, "\(file.name): \(kind) does not name its domain; add --domain DOMAIN")
        }
        return file
    }

    /// Returns the declaration that the operand names by its path, of a script, a settings bundle or, without
    /// `--schema`, a schema; nil if it names a domain or the file of one.
    static func ofOperand(_ invocation: Invocation, _ context: CommandContext) throws -> SchemaFile? {
        let argument = invocation[operand: Operand.domain.name] ?? ""
        if invocation.has(.bundleDomain) { return try named(argument, invocation, needsDomain: true, context) }
        guard DomainArgument.isPath(argument) else { return nil }
        if try BundleFile(folder: argument, context) != nil {
            return try named(argument, invocation, needsDomain: true, context)
        }
        if let script = try ofScript(argument, context) { return script }
        if invocation.has(.schema) { return nil }
        guard try context.fileSystem.status(of: context.path(argument)) != nil else {
            throw CommandFailure(.notFound, "\(argument.onOneLine): no such file")
        }
        let schema = try named(argument, invocation, needsDomain: true, context)
        return schema.read().schema?.domain.isEmpty ?? false ? nil : schema
    }

    /// Returns the declaration of a script that is named by its path; nil for anything else.
    static func ofScript(_ argument: String, _ context: CommandContext) throws -> SchemaFile? {
        guard DomainArgument.isPath(argument),
            let file = try context.fileSystem.open(context.path(argument), .reading),
            try file.status().kind == .file,
            ScriptReference.isScript(beginning: try file.beginning(limit: ScriptReference.bytesOfHead))
        else { return nil }
        return try ScriptFile(argument, context).ownSchema()
    }

    /// Whether the schema was read from something else than a schema.
    var isImported: Bool { bundle != nil || json != nil }

    /// The parts of a settings bundle or a JSON Schema that the schema leaves out, each with its place.
    var leftOut: [String] {
        guard let bundle else { return (json?.leftOut ?? []).map { line(for: $0) } }
        return bundle.reading.findings.filter(\.isWarning).map { bundle.file.line(for: $0) }
    }

    /// Returns the readable part of the schema, and a line for each error in the order of the text.
    ///
    /// - Parameter checks: Whether to check the declarations against each other.
    func read(checks: Bool = true) -> (schema: Schema?, mistakes: [String]) {
        if let bundle {
            let errors = bundle.reading.findings.filter { !$0.isWarning }
            return (bundle.reading.schema, errors.map { bundle.file.line(for: $0) })
        }
        if let json { return (json.schema, []) }
        let (schema, mistakes) = readMistakes(checks: checks, warns: false)
        if schema == nil, let line = InvalidInput.lineOfUnsupportedLanguage(name) { return (nil, [line]) }
        return (schema, mistakes.map { line(for: $0) })
    }

    /// Returns the errors and warnings of `schema check`, each with how to fix it, and whether there are errors.
    func findings() -> (lines: [String], isFaulty: Bool) {
        if let bundle {
            let findings = bundle.reading.findings
            return (findings.map { bundle.file.line(for: $0) }, findings.contains { !$0.isWarning })
        }
        if json != nil { return (leftOut, false) }
        let (schema, mistakes) = readMistakes(checks: true, warns: true)
        if schema == nil, let line = InvalidInput.lineOfUnsupportedLanguage(name) { return ([line], true) }
        return (mistakes.map { line(for: $0, fixes: true) }, mistakes.contains { !$0.isWarning })
    }

    /// A line for each key with the place where its value is stored, if the schema has commands.
    var places: [String] { (read().schema?.placesOfKeys ?? []).map { "\(name): \($0)".shown } }

    private func readMistakes(checks: Bool, warns: Bool) -> (schema: Schema?, mistakes: [Schema.Mistake]) {
        guard hasLines else {
            return Schema.read(bytes, from: source, for: shell, checks: checks, warns: warns) { try declared(by: $0) }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return Schema.read(lines: text, for: shell, checks: checks, warns: warns) { try declared(by: $0) }
    }

    /// Returns a line for each of these errors, which have no locations yet.
    func lines(for mistakes: [Schema.Mistake]) -> [String] {
        let located =
            hasLines
            ? Schema.located(mistakes, inLines: String(decoding: bytes, as: UTF8.self))
            : Schema.located(mistakes, in: bytes)
        return located.map { line(for: $0) }
    }

    private func line(for mistake: Schema.Mistake, fixes: Bool = false) -> String {
        let isHinted = "\(mistake.reason)".hasSuffix("?")
        let fix = fixes && !isHinted ? mistake.fix(inLines: hasLines).map { "; \($0)" } ?? "" : ""
        let place = mistake.location.map { "\($0.line):\($0.column): " } ?? " "
        // A line of a declaration has no path, which only a property list has.
        let text = hasLines ? mistake.withAttribute : mistake.withoutLocation
        return "\(name):\(place)\(mistake.isWarning ? "warning: " : "")\(text)\(fix)".shown
    }

    /// Returns the schema, or throws if it has errors. The thrown error lists all of them, even if not all were checked
    /// for.
    func schema(checks: Bool = true) throws -> Schema {
        let (schema, mistakes) = read(checks: checks)
        if var schema, mistakes.isEmpty {
            // People edit the settings of a script by hand.
            if source == .head, schema.isStored, schema.newFormat == nil { schema.newFormat = .json }
            return schema
        }
        throw InvalidSchema(mistakes: checks ? mistakes : read().mistakes)
    }

    /// Returns the declarations of an extended schema: the one next to this file, or else the installed one.
    private func declared(by domain: String) throws -> Schema? {
        if let folder, let name = try? DomainName(domain),
            let bytes = try context.fileSystem.contents(
                of: SchemaPlaces.file(of: name, in: folder), limit: SchemaPlaces.mostBytes)
        {
            return try Schema.declared(in: bytes)
        }
        return try SchemaPlaces(on: context.system).declared(by: domain, on: context.system)
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

/// A settings bundle of iOS on disk: its folder, or one of its panes.
struct BundleFile {
    let folder: FilePath
    /// The name of the pane without `.plist`.
    let pane: String
    /// The beginning of the names of the bundle's files in messages.
    private let prefix: String
    private let context: CommandContext

    /// Returns the bundle whose folder an argument names, or nil if the argument is not a folder.
    init?(folder argument: String, _ context: CommandContext) throws {
        let path = try context.path(argument)
        guard try context.fileSystem.status(of: path)?.kind == .folder else { return nil }
        let (root, name): (FileName, String) = ("Root.plist", argument.onOneLine)
        guard try context.fileSystem.status(of: path.appending(root)) != nil else {
            guard argument.hasSuffix(".bundle") || argument.hasSuffix(".bundle/") else { return nil }
            throw CommandFailure(.notFound, "\(name): has no Root.plist, which a settings bundle requires")
        }
        self.init(folder: path, pane: "Root", prefix: name.hasSuffix("/") ? name : name + "/", context)
    }

    /// Returns the bundle that a file is a pane of, or nil if the file is not a pane.
    init?(pane path: FilePath, named argument: String, _ bytes: [UInt8], _ context: CommandContext) {
        guard let file = path.lastComponent?.description, file.hasSuffix(".plist"), SettingsBundle.isPane(bytes) else {
            return nil
        }
        let prefix = argument.onOneLine.dropLast(file.onOneLine.count)
        self.init(folder: path.parent, pane: String(file.dropLast(6)), prefix: String(prefix), context)
    }

    private init(folder: FilePath, pane: String, prefix: String, _ context: CommandContext) {
        (self.folder, self.pane, self.prefix, self.context) = (folder, pane, prefix, context)
    }

    func read(domain: String) throws -> SettingsBundle {
        try SettingsBundle(domain: domain, pane: pane, languages: context.environment.bundleLanguages) { name in
            try contents(of: name)
        }
    }

    /// Returns a finding as a line with its place.
    func line(for finding: SettingsBundle.Finding) -> String {
        let place = finding.location.map { "\($0.line):\($0.column): " } ?? " "
        let path = finding.path.components.isEmpty ? "" : "\(shortened(finding.path.description, to: 200)): "
        return "\(prefix)\(finding.file):\(place)\(finding.isWarning ? "warning: " : "")\(path)\(finding.text)".shown
    }

    /// Returns the contents of a file in the bundle.
    private func contents(of name: String) throws -> SettingsBundle.Contents {
        var path = folder
        for component in name.split(separator: "/") {
            // A file in place of a language's folder is treated as missing.
            guard try context.fileSystem.status(of: path)?.kind == .folder else { return .missing }
            guard let component = FileName(component) else { return .refused("is not a valid file name") }
            path = path.appending(component)
            // A link to another file of the same folder is common in bundles that are shared by languages.
            var links = 0
            while let destination = try context.fileSystem.destination(ofLink: path) {
                guard let target = FileName(destination.bytes), links < 8 else {
                    return .refused("is a symbolic link that leads out of its folder")
                }
                path = path.parent.appending(target)
                links += 1
            }
        }
        guard let file = try context.fileSystem.open(path, .readingNoFollow) else { return .missing }
        let status = try file.status()
        guard status.kind == .file else { return .refused("is not a regular file") }
        guard status.size <= SchemaPlaces.mostBytes else {
            return .refused("is too large, with \(status.size) bytes")
        }
        return .bytes(try file.contents(status, limit: SchemaPlaces.mostBytes))
    }
}

extension Environment {
    /// The user's languages as in the names of a bundle's folders, best first, and those that bundles fall back to.
    fileprivate var bundleLanguages: [String] {
        let locale =
            [Variable.locale, .localeOfMessages, .defaultLocale].lazy.compactMap { variables[$0.rawValue] }
            .first { !$0.isEmpty } ?? "C"
        let isPlain = ["C", "POSIX"].contains(locale.prefix { $0 != "." })
        let names =
            isPlain
            ? [] : (variables[Variable.languages.rawValue] ?? "").split(separator: ":").map(String.init) + [locale]
        var languages: [String] = []
        for name in names {
            let name = name.prefix { $0 != "." && $0 != "@" }
            let parts = name.split(whereSeparator: { $0 == "_" || $0 == "-" }).map(String.init)
            guard let language = parts.first else { continue }
            languages += [parts.joined(separator: "_"), parts.joined(separator: "-")]
            if language == "zh" {
                languages.append(parts.contains { ["TW", "HK", "MO", "Hant"].contains($0) } ? "zh-Hant" : "zh-Hans")
            }
            languages.append(language)
        }
        return (languages + ["en", "Base"]).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
