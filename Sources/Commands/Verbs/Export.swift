internal import Platform
internal import Preferences
internal import PropertyLists

extension Verb {
    package static let export = Verb(
        "export", .classic, "write a domain to a file",
        details: [
            "Without --format, the extension of the file decides; other files are binary, and the standard output (-) is XML. Sensitive values are written to files only.",
            "--format env writes lines KEY='value' for a POSIX shell, and leaves out sensitive values. A key that is no name of a shell variable is an error, and so are arrays, dictionaries and data.",
        ],
        classicDetails: [
            "A file is written as binary, the standard output (-) as XML, unless --format says otherwise. Sensitive values are written to files only."
        ],
        options: [.effective, .layer, .format(FormatName.ofValues + [.env], "how to write it")],
        forms: [[.domain, .file]], statuses: [.notFound, .invalidValue, .damaged, .systemFailed]
    ) { invocation, context in
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
        let bytes = try rendering.bytes(of: root)
        if rendering.dropsFractions(of: root) {
            context.noteDroppedFractions(in: file == "-" ? "standard output" : file.onOneLine)
        }
        try context.write(bytes, to: file, isSensitive: shown.isSensitive)
        return .done
    }
}

extension FormatName {
    /// The format of an exported file without `--format`.
    fileprivate init(exportingTo file: String, _ dialect: Dialect) {
        let named = dialect == .modern ? FileExtension(fileName: file) : nil
        let preset: PropertyList.Format = CommandContext.outputStream(file) == nil ? .binary : .xml
        // As on macOS, an exported property list is binary.
        self = FormatName(named == .plist ? preset : named?.format ?? preset)
    }
}
