internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let export = Verb(
        "export", .classic, "write a domain, or all of them, to a file",
        details: [
            "Without --format, the extension of the file decides; other files are binary, and the standard output (-) is XML. Sensitive values are written to files only.",
            "--format env writes lines KEY='value' for a POSIX shell, and leaves out sensitive values. A key that is no name of a shell variable is an error, and so are arrays, dictionaries and data.",
            "--domains writes all domains of the user, or of --layer, to one file or the standard output: a backup, which `prefs apply --domains FILE` reads. Values for single hosts, schemas, history and what other programs keep in their own files are not part of it.",
        ],
        classicDetails: [
            "A file is written as binary, the standard output (-) as XML, unless --format says otherwise. Sensitive values are written to files only."
        ],
        options: [.effective, .layer, .format(FormatName.ofValues + [.env], "how to write it"), .allDomains],
        forms: [[.domain, .file], [Operand("FILE", .file, .optional), .option(.allDomains)]],
        statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
        guard !invocation.has(.allDomains) else { return try exportAll(invocation, context) }
        guard invocation[operand: Operand.domain.name] != nil else {
            guard let word = invocation[operand: Operand.file.name] else {
                throw UsageFailure(.missingOperand(Operand.domain.name), path: [invocation.verb.name])
            }
            let isFile = DomainArgument.isPath(word) || FileExtension(fileName: word) != nil
            throw CommandFailure(
                .usage,
                isFile
                    ? "export requires DOMAIN before \(word.onOneLine); \(Option.allDomains.name) exports all domains"
                    : "export requires FILE; - is the standard output")
        }
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let file = invocation[operand: "FILE"] ?? "-"
        try context.checkLanguage(ofNewFile: file)
        let isEffective = invocation.has(.effective)
        let contents = try isEffective ? nil : access.existingContents(domain)
        guard let values = try isEffective ? access.valuesInForce(domain) : contents?.values else {
            let failure = try access.failure(ofMissing: nil, in: domain)
            throw CommandFailure(
                .notFound, failure.lines.joined(), classic: "The domain \(domain.word.onOneLine) does not exist")
        }
        let rendering = Rendering(invocation, preset: FormatName(exportingTo: file, invocation.dialect))
        // An environment is passed on to every program that is started in it.
        let shown = try access.publishable(values, of: domain, to: rendering.format == .env ? "-" : file)
        let root = (contents?.rootKind ?? .dictionary).root(of: shown.values)
        try write(root, to: file, rendering, isSensitive: shown.isSensitive, context)
        return .done
    }

    /// Writes all domains of a layer. If one cannot be read, nothing is written: a backup is complete.
    private static func exportAll(_ invocation: Invocation, _ context: CommandContext) throws -> ExitStatus {
        let access = try StoreAccess(invocation, context)
        guard invocation[operand: Operand.domain.name] == nil, !invocation.has(.effective) else {
            throw CommandFailure(.usage, "export: \(Option.allDomains.name) takes neither DOMAIN nor --effective")
        }
        let file = invocation[operand: "FILE"] ?? "-"
        try context.checkLanguage(ofNewFile: file)
        let rendering = Rendering(invocation, preset: FormatName(exportingTo: file, invocation.dialect))
        guard rendering.format != .env else {
            throw CommandFailure(.usage, "export: variables of several domains cannot be in one file")
        }
        var all = PropertyList.Dictionary()
        var isSensitive = false
        for name in try access.names() {
            let domain = try access.domain(name)
            guard !domain.file.isAdopted, let contents = try access.existingContents(domain) else { continue }
            guard contents.rootKind == .dictionary else {
                throw CommandFailure(.invalidValue, "\(domain.word.onOneLine): its root is no dictionary")
            }
            let shown = try access.publishable(contents.values.withoutHidden, of: domain, to: file)
            all[name.text] = .dictionary(shown.values)
            isSensitive = isSensitive || shown.isSensitive
        }
        try write(.dictionary(all), to: file, rendering, isSensitive: isSensitive, context)
        if isSensitive {
            context.note(
                "\(file.onOneLine) has sensitive values in clear text; in another home, they are masked only once their schemas are installed"
            )
        }
        return .done
    }

    private static func write(
        _ root: PropertyList, to file: String, _ rendering: Rendering, isSensitive: Bool, _ context: CommandContext
    ) throws {
        let bytes = try rendering.bytes(of: root)
        if rendering.dropsFractions(of: root) {
            context.noteDroppedFractions(in: file == "-" ? "standard output" : file.onOneLine)
        }
        try context.write(bytes, to: file, isSensitive: isSensitive)
    }
}

extension Option {
    fileprivate static let allDomains = Option("--domains", "write all domains, as apply --domains reads them")
}

extension FormatName {
    /// The format of an exported file without `--format`.
    fileprivate init(exportingTo file: String, _ dialect: Dialect) {
        if dialect == .modern, file.lowercased().hasSuffix(".env") {
            self = .env
            return
        }
        let named = dialect == .modern ? FileExtension(fileName: file) : nil
        let preset: PropertyList.Format = CommandContext.outputStream(file) == nil ? .binary : .xml
        // As on macOS, an exported property list is binary.
        self = FormatName(named == .plist ? preset : named?.format ?? preset)
    }
}
