internal import Platform
internal import Preferences
internal import PropertyLists
internal import SchemaTools
internal import SettingsSchema
internal import Synchronization

extension Verb {
    package static let schema = Verb(
        "schema", .new, "check, show, list, install, migrate and convert declarations of settings",
        details: [
            "A schema declares the settings of a domain. See prefs-schema(5) for its format.",
            "A FILE can also be a script with a declaration, a settings bundle of iOS or one of its panes, or a JSON Schema.",
        ],
        parts: [checking, showing, listing, installing, uninstalling, migrating, importingBundle, exportingBundle],
        scope: .allHosts)

    /// The words of the command that migrates stored values, before the domain.
    static let wordsOfMigration = ["schema", "migrate"]

    /// Returns the commands that move values to one of several commands of a script.
    static func commandsOfMigration(_ spelling: CommandSpelling, to commands: [String]) -> String {
        commands.map { ShellWord.line(spelling.words(wordsOfMigration) + [Option.claimingCommand.name, $0]) }
            .joined(separator: " or ")
    }

    private static let checking = Verb(
        "check", .new, "find all errors in a schema, script or settings bundle, with their locations",
        details: [
            "If several commands of a script declare one key, a line for each key shows where its value is stored, and which commands share it."
        ],
        forms: [[.files]],
        statuses: [.notFound, .damaged, .systemFailed], scope: .nothing
    ) { invocation, context in
        try context.worst(of: invocation.words("FILE")) { name in
            let file = try SchemaFile(name, context)
            let (lines, isFaulty) = file.findings()
            for line in lines + (isFaulty ? [] : file.places + ["\(file.name): OK"]) { try context.say(line) }
            return isFaulty ? .damaged : .done
        }
    }

    /// Returns the schema in a file or bundle, or the one that is installed for a domain, with the name of its program.
    private static func schema(
        named word: String, _ invocation: Invocation, _ context: CommandContext
    ) throws -> (schema: Schema, program: String) {
        let isFile = word == "-" || DomainArgument.isPath(word) || invocation.has(.bundleDomain)
        let file = isFile ? try SchemaFile.named(word, invocation, needsDomain: false, context) : nil
        let access = try StoreAccess(invocation, context)
        let schema = try file?.schema() ?? access.requiredSchema(of: try access.domain(word))
        // A script has the name of its file.
        let isScript = file.map { $0.source != .file } ?? false
        let words = schema.isStored && !isScript ? schema.domain.split(separator: ".") : word.split(separator: "/")
        return (schema, schema.program ?? words.last.map(String.init) ?? word)
    }

    private static let showing = Verb(
        "show", .new, "print the settings that a domain's schema, file or bundle declares",
        options: [.format([.table, .markdown, .man, .commandLine, .jsonSchema, .openstep]), .bundleDomain],
        forms: [[Operand("DOMAIN|FILE", .declaredDomain)]], statuses: [.notFound, .damaged, .systemFailed]
    ) { invocation, context in
        let word = invocation[operand: "DOMAIN|FILE"] ?? ""
        let (schema, program) = try schema(named: word, invocation, context)
        let text =
            switch invocation.format {
            case .markdown where schema.hasCommandLine: schema.commandLineInMarkdown(program: program)
            case .markdown: schema.markdown()
            case .commandLine: schema.commandLineInJSON(program: program)
            case .man: schema.manualPage(program: program, date: context.clock.wall.dayOfManual)
            case .jsonSchema: schema.jsonSchemaText()
            case .openstep: try schema.openStepText()
            default: schema.table(width: context.terminal.width(of: .output))
            }
        try context.terminal.write(text, to: .output)
        return .done
    }

    private static let installing = Verb(
        "install", .new, "make the schema in a file, script or bundle known to the user's programs",
        options: [.bundleDomain], forms: [[.file]],
        statuses: [.notFound, .damaged, .systemFailed]
    ) { invocation, context in
        let file = try SchemaFile.named(
            invocation[operand: "FILE"] ?? "-", invocation, isInstalled: true, needsDomain: true, context)
        let schema = try file.schema()
        let access = try StoreAccess(invocation, context)
        guard schema.isStored else {
            throw CommandFailure(.usage, "\(file.name): declares no Domain, so that nothing is stored")
        }
        guard schema.domain != StorePolicy.domain.text else {
            throw CommandFailure(.usage, "\(schema.domain): the schema of this domain is built in")
        }
        guard let folder = access.schemas.places.folders.first else {
            throw CommandFailure(.usage, "schemas can be installed for the native store only")
        }
        let domain = try access.domain(DomainName(schema.domain))
        let path = SchemaPlaces.file(of: try DomainName(schema.domain), in: folder)
        // Before the schema, so that it never declares a secret that is not remembered.
        try access.schemas.remembered(of: DomainName(schema.domain))?.replace(by: schema)
        try context.fileSystem.makeFolders(folder)
        var bytes = file.bytes
        if file.source == .head {
            var plain = schema
            for key in plain.removeChoiceCommands() {
                context.note("\(key): ChoicesFrom is left out, since only a script can have it".onOneLine)
            }
            bytes = Array(try plain.export())
        }
        try context.fileSystem.replace(path, with: bytes.span.bytes)
        let stored = try context.after("installed \(path)") { try domain.file.contents(on: access.system).values }
        if schema.needsMigration(stored) {
            let words = ShellWord.line(CommandSpelling(schema.domain).words(wordsOfMigration))
            context.note("\(schema.domain.onOneLine): its settings are of an earlier version; \(words)")
        }
        return .done
    }

    private static let listing = Verb(
        "list", .new, "print the domains that have an installed schema, with the files", forms: [[]],
        statuses: [.systemFailed]
    ) { invocation, context in
        let places = try StoreAccess(invocation, context).schemas.places
        for domain in places.domains(on: context.system) {
            for file in places.files(of: domain, on: context.system) {
                try context.say("\(domain)\t\(file.description.onOneLine)")
            }
        }
        return .done
    }

    /// Returns the domain of a schema file or script, or the domain that the word names.
    private static func domain(declaredBy word: String, _ context: CommandContext) throws -> DomainName? {
        guard DomainArgument.isPath(word) else { return try DomainName(word: word) }
        let schema = try SchemaFile(word, context).schema(checks: false)
        return schema.isStored ? try DomainName(schema.domain) : nil
    }

    private static let uninstalling = Verb(
        "uninstall", .new, "remove the user's schema of a domain; the stored values stay",
        forms: [[Operand("DOMAIN|FILE", .declaredDomain)]], statuses: [.notFound, .damaged, .systemFailed]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let places = access.schemas.places
        guard let folder = places.folders.first,
            let domain = try Verb.domain(declaredBy: invocation[operand: "DOMAIN|FILE"] ?? "", context)
        else { throw CommandFailure(.usage, "schemas belong to domains of the native store") }
        let files = places.files(of: domain, on: access.system)
        guard files.first == SchemaPlaces.file(of: domain, in: folder), let file = files.first else {
            let other = files.first.map { "the schema in \($0) is for all users" } ?? "no schema is installed"
            throw CommandFailure(.notFound, "\(domain): \(other)".onOneLine)
        }
        let named = try access.domain(domain)
        try access.checkSecrecy(of: named, "install a readable schema first, or remove the file")
        if let schema = access.installedSchema(named)?.readable {
            try access.schemas.remembered(of: domain)?.add(schema)
        }
        _ = try context.fileSystem.remove(file)
        if let next = files.dropFirst().first {
            context.note("\(domain): the schema in \(next) applies now".onOneLine)
        }
        return .done
    }

    private static let migrating = Verb(
        "migrate", .new, "move stored values to the schema's version",
        details: [
            "DOMAIN can also be the path of a script with a declaration.",
            "With --to, the values that the commands of a script once shared, and now store for themselves, become those of COMMAND.",
        ],
        options: [.claimingCommand], forms: [[.domain]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let script = try SchemaFile.ofScript(invocation[operand: Operand.domain.name] ?? "", context)?.schema()
        let access = try StoreAccess(invocation, context)
        if let script, !script.isStored { throw CommandFailure(.usage, "the script declares no domain") }
        let domain =
            try script.map { try access.domain(DomainName($0.domain)) }
            ?? StoreAccess.ofDomain(invocation, context).domain
        let schema = try script ?? access.requiredSchema(of: domain)
        let command = try invocation[.claimingCommand].map { try schema.nameOfCommand($0) }
        guard let name = domain.name else { throw CommandFailure(.usage, "a file has no schema; name a domain") }
        let files = try access.domainsOfUser(name).map(\.file)
        let steps = Mutex<[DomainFile: [Schema.MigrationStep]]>([:])
        let edits = DomainMigration(schema, name).edits(of: files, claimingFor: command) { file, done in
            steps.withLock { $0[file] = done }
        }
        try access.commit(edits, .migrate)
        let made = files.flatMap { file in steps.withLock { $0[file] ?? [] } }
        try context.after("migrated the settings") { for step in made { try context.say("\(step)".onOneLine) } }
        return made.contains(where: \.isRefusal) ? .different : .done
    }

    private static let importingBundle = Verb(
        "import", .new, "convert a JSON Schema or a settings bundle of iOS to a schema",
        details: [
            "The schema is written as OpenStep text, or as XML if that keeps types that the text would lose, or in the format given. Whatever a schema cannot express is listed on standard error, with its place. Titles are those of the user's language.",
            "A JSON Schema describes the file of a program: its defaults become part of the descriptions. The package.json of an extension of Visual Studio Code contains one. If DOMAIN is a known program, its file, and the keys that stay on each host, are kept.",
        ],
        options: [.bundleDomain, .format([.openstep, .xml, .json]), .schemaOutput],
        forms: [[Operand("FILE", .file)]],
        statuses: [.notFound, .damaged, .systemFailed]
    ) { invocation, context in
        let file = try SchemaFile.named(
            invocation[operand: "FILE"] ?? "", invocation, needsDomain: true, context)
        let schema = try file.schema()
        guard file.isImported else {
            throw CommandFailure(.usage, "\(file.name): neither a settings bundle nor a JSON Schema")
        }
        for line in file.leftOut { context.note(line) }
        var bytes = try schema.encoded(as: invocation.format ?? .openstep)
        let losesTypes = Schema.read(bytes).schema != schema
        if losesTypes, invocation.format == nil {
            bytes = try schema.encoded(as: .xml)
        } else if losesTypes {
            context.note("\(file.name): some values lose their types in this format; --format xml keeps them")
        }
        if let output = invocation[.schemaOutput] {
            let path = try context.path(output)
            try context.fileSystem.replace(path, with: bytes.span.bytes, for: .umask)
        } else {
            try context.terminal.write(String(decoding: bytes, as: UTF8.self), to: .output)
        }
        return .done
    }

    private static let exportingBundle = Verb(
        "export", .new, "write a schema as a settings bundle of iOS",
        details: [
            "The folder must be missing or empty. Whatever a bundle cannot express is listed on standard error."
        ],
        options: [.settingsBundle], forms: [[Operand("DOMAIN|FILE", .declaredDomain)]],
        statuses: [.notFound, .damaged, .systemFailed]
    ) { invocation, context in
        guard let output = invocation[.settingsBundle] else {
            throw CommandFailure(.usage, "schema export requires --settings-bundle DIR")
        }
        let word = invocation[operand: "DOMAIN|FILE"] ?? ""
        let (schema, _) = try schema(named: word, invocation, context)
        let folder = try context.path(output)
        if let names = try context.fileSystem.names(in: folder), !names.isEmpty {
            throw CommandFailure(.usage, "\(output.onOneLine): the folder is not empty")
        }
        let (panes, leftOut) = schema.settingsBundle()
        try context.fileSystem.makeFolders(folder)
        // The first pane is written last, so that an incomplete bundle is not taken for a whole one.
        for pane in panes.reversed() {
            guard let name = FileName("\(pane.name).plist") else { continue }
            var options = PropertyList.WritingOptions()
            options.keepsKeyOrder = true
            let (path, bytes) = (folder.appending(name), Array(try pane.value.serialized(as: .xml, options: options)))
            try context.fileSystem.replace(path, with: bytes.span.bytes, for: .umask)
        }
        for line in leftOut { context.note(line.onOneLine) }
        return .done
    }
}

extension Schema {
    /// Returns the name of a command with values of its own, which a word names.
    fileprivate func nameOfCommand(_ word: String) throws -> String {
        let name = word.split { $0 == " " || $0 == "/" }.joined(separator: " ")
        guard command(named: name) != nil else {
            throw CommandFailure(
                .usage, "\(word.onOneLine): no such command\(Suggestion.hint(name, among: allCommands.map(\.name)))")
        }
        guard settings(of: name).contains(where: { $0.storedAt != nil }) else {
            throw CommandFailure(.usage, "\(name.onOneLine): this command has no values of its own")
        }
        return name
    }

    /// Returns the text of a schema file.
    fileprivate func encoded(as format: FormatName) throws -> [UInt8] {
        switch format {
        case .xml: Array(try export())
        case .json: Array(try export(as: .json))
        default: Array(try openStepText().utf8)
        }
    }
}

extension Option {
    static let bundleDomain = Option(
        "--domain", Argument("DOMAIN", .domain),
        "the domain of a settings bundle or JSON Schema, which does not name it")
    fileprivate static let claimingCommand = Option(
        "--to", Argument("COMMAND", .word), "the command that gets the values that commands no longer share")
    fileprivate static let schemaOutput = Option(
        "-o", Argument("OUT", .file), "write there instead of to standard output")
    fileprivate static let settingsBundle = Option(
        "--settings-bundle", Argument("DIR", .folder), "the folder of the bundle, such as Settings.bundle")
}
