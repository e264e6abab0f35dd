internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema

extension Verb {
    package static let importing = Verb(
        "import", .classic, "import the keys of a file into a domain",
        details: [
            "FILE can be in any format; - is the standard input, and pipes are accepted. To import the output of export --format typed, give --from typed. Keys that are not in the file are kept. If FILE is that of another domain, a sensitive value is imported only to a sensitive key, unless --force is given.",
            "--from dconf, env and ini read settings of other programs: the output of dconf dump, variables as lines KEY=VALUE or as env -0 prints them, and INI files. Texts become values of the types that the schema declares, and each change is printed. Of variables, only those are imported that the schema declares, by their key or as Environment, unless --all is given.",
        ],
        options: [
            .everyVariable, .layer, .force, .rewrite, .replace, .dryRun, .fromOtherPrograms, .newDomain, .newHost,
        ],
        forms: [[.domain, .file]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let file = invocation[operand: "FILE"] ?? "-"
        return try context.progress.during("importing \(InputFile.name(file))") {
            try importKeys(of: file, invocation, context)
        }
    }

    private static func importKeys(
        of file: String, _ invocation: Invocation, _ context: CommandContext
    ) throws -> ExitStatus {
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        try access.checkNewDomain(domain, invocation)
        let isEnvironment = invocation[.fromOtherPrograms] == FormatName.env.rawValue
        guard isEnvironment || !invocation.has(.everyVariable) else {
            throw CommandFailure(.usage, "import: --all requires --from env")
        }
        let input = try InputFile(
            file, invocation, context, unwrapsJSON: domain.name != nil)
        context.progress.show(input.bytes.count >> 20, "MiB read")
        var text = input.importedText
        if isEnvironment { text = try text?.variables(of: domain, access, takesAll: invocation.has(.everyVariable)) }
        let imported = try access.importableValues(text?.values ?? input.dictionary(), from: input, into: domain)
        context.progress.show(imported.count, "keys read")
        if try input.roundsReals() { context.note("\(input.name): reals are rounded to 17 digits") }
        if !invocation.has(.force) {
            try input.checkNotMasked(imported)
            try text?.check(imported, in: domain, access, name: input.name)
            try access.checkNotForced(imported.keys, in: domain)
            try access.checkNotExposing(imported, from: file, in: domain)
        }
        let replaces = invocation.has(.replace)
        // The variables of a command's settings are entries of a dictionary, which can have others.
        let scopes = isEnvironment ? access.schemaInForce(domain)?.schema.scopes.map(\.key) ?? [] : []
        let edit = try access.edit(domain, isForced: invocation.has(.force)) { draft in
            let root = draft.root
            guard replaces || root.kind == .dictionary else {
                let reason = "the root is \(root.kind.withArticle), which \(Option.replace.name) replaces"
                throw CommandFailure(.invalidValue, "\(domain.word.onOneLine): \(reason)")
            }
            var values = root.dictionaryValue ?? [:]
            if replaces {
                values.replaceVisible(with: imported)
            } else if values.isEmpty {
                values = imported
            } else {
                for entry in imported {
                    let isScope = scopes.contains { $0.hasSameBytes(as: entry.key) }
                    values[entry.key] = isScope ? entry.value.added(to: values[entry.key]) : entry.value
                }
            }
            draft.root = .dictionary(values)
        }
        return try Revision(access, [domain], invocation).carryOut(
            [edit],
            report: { _, outcome in
                guard text != nil else { return context.noteDomains(imported, in: input.name) }
                let differences = Differences(from: outcome.before.values, to: outcome.after.values)
                let lines = differences.lines(
                    of: domain.heading(context.dialect).onOneLine, masking: access.masking(domain))
                try access.printing(domain) { try context.print(lines: lines) }
            })
    }
}

extension Option {
    package static let replace = Option("--replace", "make the domain equal to the file")
    fileprivate static let everyVariable = Option(
        "--all", "with --from env, also variables that the schema does not declare")
    fileprivate static let fromOtherPrograms = Option(
        "--from", Argument("FORMAT", .choice(.formats(FormatName.importable + FormatName.ofOtherPrograms))),
        "the required format of the input")
}

extension CommandContext {
    /// Notes that the keys of an imported file are probably domains.
    fileprivate func noteDomains(_ imported: PropertyList.Dictionary, in file: String) {
        let areDomains = imported.allSatisfy { entry in
            entry.value.kind == .dictionary && entry.key.contains(".") && (try? DomainName(entry.key)) != nil
        }
        guard dialect == .modern, areDomains, !imported.isEmpty else { return }
        note("\(file): imported as one domain; prefs apply --domains takes its keys as domains".onOneLine)
    }
}

extension PropertyList {
    /// Returns the entries of another dictionary with those of this one, which replace them.
    fileprivate func added(to former: PropertyList?) -> PropertyList {
        guard case .dictionary(let new) = self, case .dictionary(var entries)? = former else { return self }
        for entry in new { entries[entry.key] = entry.value.added(to: entries[entry.key]) }
        return .dictionary(entries)
    }
}

extension ImportedText {
    /// Returns the variables that the schema of a domain declares, under the keys of their settings.
    ///
    /// - Parameter takesAll: Whether others are included, under their names.
    fileprivate func variables(
        of domain: AddressedDomain, _ access: StoreAccess, takesAll: Bool
    ) throws -> ImportedText {
        guard access.installedSchema(domain) != nil else {
            if takesAll { return self }
            throw CommandFailure(
                .notFound,
                "no schema is installed for \(domain.word.onOneLine), so only --all imports variables"
            )
        }
        let schema = try access.requiredSchema(of: domain)
        var paths: [(key: String, path: EntryPath)] = []
        var names: Set<Name> = []
        for setting in schema.allSettings {
            let variable = setting.variable { values[$0]?.stringValue }?.name
            names.formUnion(setting.environment.map { Name($0) })
            if let variable { paths.append((variable, setting.storedAt ?? [EntryPath.Component(setting.key)])) }
            guard setting.storedAt == nil else { continue }
            for key in setting.allKeys {
                names.insert(Name(key))
                if variable == nil { paths.append((key, [EntryPath.Component(key)])) }
            }
        }
        let others = values.keys.filter { !names.contains(Name($0)) }
        if takesAll {
            paths += others.map { ($0, [EntryPath.Component($0)]) }
        } else if !others.isEmpty {
            let count = counted(others.count, "variable")
            access.context.note("\(count) not imported, since not declared by the schema (--all imports all)")
        }
        return try moved(to: paths)
    }

    /// Throws all values that violate the schema of a domain, each with its place in the text.
    fileprivate func check(
        _ imported: PropertyList.Dictionary, in domain: AddressedDomain, _ access: StoreAccess, name: String
    ) throws(CommandFailure) {
        guard let schema = access.installedSchema(domain)?.schema?.concealing(access.secrecy(domain)) else { return }
        let problems = imported.flatMap { schema.problems(with: $0.value, forKey: $0.key) }
        guard !problems.isEmpty else { return }
        // A value under a former key has the line of that key.
        let former = problems.map { problem in
            let key = problem.path.components.first?.text ?? ""
            return (schema.anyDeclaration(of: key)?.renamedFrom ?? []).first { values[$0] != nil && values[key] == nil }
        }
        let places = zip(problems, former).map { problem, key in key.map { [EntryPath.Component($0)] } ?? problem.path }
        let lines = zip(problems, self.lines(of: places)).sorted { $0.1 ?? 0 < $1.1 ?? 0 }.map { problem, line in
            "\(name)\(line.map { ":\($0)" } ?? ""): \(problem)"
        }
        throw CommandFailure(.invalidValue, lines + [StoreFailure.unchanged(true)], classic: lines)
    }
}
