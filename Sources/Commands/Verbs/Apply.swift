internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

extension Verb {
    package static let apply = Verb(
        "apply", .new, "make domains equal to files, in one transaction",
        details: [
            "A file contains one domain, named by the file name or by --domain; with --domains it is a dictionary of domains. For a folder, all files in it that end in \(Declaration.endings) are read, and its other entries are listed on standard error.",
            "Keys that no file declares are kept, unless --prune is given and a previous apply has set them; so pass all files in one call. --dry-run prints what would change, and exits with 8 if anything would.",
            "prefs undo DOMAIN --transaction undoes the whole of it.",
        ],
        options: [.prune, .dryRun, .force, .rewrite, .fromLines, .declaredDomain, .severalDomains, .newHost],
        forms: [[.files]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let declaration = try Declaration(
            invocation.words("FILE"), only: invocation[.declaredDomain], invocation, context)
        let applying = Applying(
            access: access, declaration: declaration, prunes: invocation.has(.prune),
            isForced: invocation.has(.force))
        guard invocation.has(.dryRun) else {
            try applying.commit()
            return .done
        }
        let drift = try applying.differences()
        for (domain, differences) in drift {
            try context.say(domain.heading(context.dialect).onOneLine + ":")
            try context.terminal.write(differences.text(masking: access.masking(domain)), to: .output)
        }
        return drift.isEmpty ? .done : .different
    }
}

extension Option {
    package static let prune = Option("--prune", "also delete keys that a previous apply set and no file declares now")
    package static let declaredDomain = Option(
        "--domain", Argument("DOMAIN", .domain), "the domain of the file, regardless of its name")
    package static let severalDomains = Option("--domains", "each file is a dictionary of domains")
}

/// Makes domains equal to a declaration in one transaction.
struct Applying: Sendable {
    let access: StoreAccess
    let declaration: Declaration
    /// Whether to remove keys that were applied before and are no longer declared.
    let prunes: Bool
    /// Whether to write keys that the administrator forces.
    let isForced: Bool

    /// The values to set and the keys to remove in one domain.
    private struct Step: Sendable {
        let domain: AddressedDomain
        let declared: PropertyList.Dictionary
        let pruned: Set<EntryPath.Component>

        func apply(to values: inout PropertyList.Dictionary) {
            for key in pruned { values[key.text] = nil }
            for entry in declared { values[entry.key] = entry.value }
        }
    }

    /// Another process has applied domains that this one has not locked.
    private struct RecordChanged: Error {}

    // MARK: Writing

    func commit() throws {
        for _ in 0..<Self.mostAttempts {
            do {
                return try commit(steps(by: record()).map(\.domain))
            } catch is RecordChanged {
                continue
            }
        }
        throw CommandFailure(.lockTimeout, "other processes keep applying other domains; nothing was changed")
    }

    private static let mostAttempts = 16

    private func commit(_ domains: [AddressedDomain]) throws {
        let decided = Mutex<[Step]>([])
        // The first edit of the transaction. It runs while all domains are locked, and determines the changes of the
        // others.
        let record = DomainEdit(access.places.user.recordOfApplied) { draft in
            let former = AppliedRecord(draft.values)
            let steps = try steps(by: former)
            guard Set(steps.map(\.domain.file)).isSubset(of: domains.map(\.file)) else { throw RecordChanged() }
            for step in steps { try check(step) }
            draft.values = next(former, steps).values
            decided.withLock { $0 = steps }
        }
        let edits = try domains.map { domain in
            try access.edit(domain, isForced: isForced) { draft in
                let step = decided.withLock { $0.first { $0.domain.file == domain.file } }
                step?.apply(to: &draft.values)
            }
        }
        try access.commit([record] + edits)
    }

    private func check(_ step: Step) throws {
        guard !isForced else { return }
        try access.checkNotForced(Array(step.declared.keys) + step.pruned.map(\.text), in: step.domain)
        for (file, values) in declaration.values(of: step.domain, step.declared) {
            try access.checkNotExposing(values, from: file, in: step.domain)
        }
    }

    // MARK: Comparing

    /// Returns what a commit would change in each domain.
    func differences() throws -> [(domain: AddressedDomain, differences: Differences)] {
        try steps(by: record()).compactMap { step in
            try check(step)
            let values = try access.values(step.domain) ?? [:]
            var changed = values
            step.apply(to: &changed)
            if !isForced, let rules = try access.rules(for: step.domain) {
                try rules.check(from: values, to: changed, step.domain.word.onOneLine)
            }
            let differences = Differences(from: values, to: changed)
            return differences.isEmpty ? nil : (step.domain, differences)
        }
    }

    private func record() throws -> AppliedRecord {
        let contents = try access.places.user.recordOfApplied.contents(on: access.system)
        access.warn(contents.recovery)
        return AppliedRecord(contents.values)
    }

    // MARK: Planning

    /// Returns the steps for all declared domains and, with `prunes`, those applied before, sorted by name.
    private func steps(by record: AppliedRecord) throws -> [Step] {
        var names = Set(declaration.domains.keys)
        if prunes {
            for (path, entry) in record.entries {
                // Entries for other hosts and stores are left alone.
                let file = try access.file(of: entry.domain, in: access.layer)
                if Name(file.path.description) == path { names.insert(entry.domain) }
            }
        }
        return try names.sorted().map { name in
            let domain = try access.domain(name)
            let declared = declaration.values(for: domain, in: access)
            let former = prunes ? record[domain.file]?.keys ?? [] : []
            return Step(
                domain: domain, declared: declared,
                pruned: former.filter { declared[$0.text] == nil && !$0.text.isHidden })
        }
    }

    private func next(_ record: AppliedRecord, _ steps: [Step]) -> AppliedRecord {
        var record = record
        for step in steps {
            guard let name = step.domain.name else { continue }
            var entry = record[step.domain.file] ?? AppliedRecord.Entry(domain: name, keys: [])
            entry.keys.subtract(step.pruned)
            entry.keys.formUnion(step.declared.keys.map { EntryPath.Component($0) })
            record[step.domain.file] = entry
        }
        return record
    }
}

/// The values that files declare for each domain.
struct Declaration: Sendable {
    private(set) var domains: [DomainName: PropertyList.Dictionary] = [:]
    /// Whether a file is in a format without types other than strings.
    private var isUntyped = false
    /// The file of each declared key, as named on the command line.
    private var sources: [DomainName: [Name: String]] = [:]

    /// Reads the files named on the command line.
    ///
    /// - Parameter only: The domain of the single file, if the command names it.
    init(_ arguments: [String], only: String?, _ invocation: Invocation, _ context: CommandContext) throws {
        if only != nil, arguments.count > 1 {
            throw CommandFailure(.usage, "apply: --domain requires a single file, not \(arguments.count)")
        }
        if let only, DomainArgument.isPath(only) {
            let words = ([only] + arguments).map { ShellWord.quoted($0.onOneLine) }.joined(separator: " ")
            throw CommandFailure(.usage, "apply changes domains, not files; use `prefs import \(words)`")
        }
        let holdsDomains = invocation.has(.severalDomains)
        guard only == nil || !holdsDomains else {
            throw CommandFailure(.usage, "apply: --domain is for a file with one domain, --domains for several")
        }
        for argument in try arguments.flatMap({ try Self.files(at: $0, context) }) {
            // The name of a stream does not indicate its format.
            let name = try context.isStream(argument) ? "" : argument
            let file = try InputFile(argument, invocation, context, unwrapsJSON: true)
            let values = try file.dictionary()
            if try file.isUntyped() { isUntyped = true }
            if let only {
                try add(values, to: try DomainName(word: only), file)
            } else if holdsDomains {
                for entry in values {
                    guard let values = entry.value.dictionaryValue else {
                        throw CommandFailure(
                            .usage, "\(file.name): \(entry.key.onOneLine) is not a dictionary, so it is not a domain")
                    }
                    try add(values, to: try Self.domain(entry.key, in: file), file)
                }
            } else {
                guard values.isEmpty || values.contains(where: { $0.value.kind != .dictionary }) else {
                    throw CommandFailure(
                        .usage,
                        "\(file.name): all values are dictionaries; use --domains if the keys are domains, or --domain if the file is one domain"
                    )
                }
                try add(values, to: try Self.domain(ofFile: name, file.name), file)
            }
        }
    }

    /// Returns the values declared for a domain. Values from formats without types are converted to the declared types.
    func values(for domain: AddressedDomain, in access: StoreAccess) -> PropertyList.Dictionary {
        let values = domain.name.flatMap { domains[$0] } ?? [:]
        return isUntyped ? access.adapted(values, in: domain) : values
    }

    /// Returns the values of a domain by the files that declare them.
    func values(
        of domain: AddressedDomain, _ values: PropertyList.Dictionary
    ) -> [(file: String, values: PropertyList.Dictionary)] {
        let sources = domain.name.flatMap { self.sources[$0] } ?? [:]
        return Dictionary(grouping: values) { sources[$0.name] ?? "-" }.sorted { $0.key.isBefore($1.key) }
            .map { ($0.key, PropertyList.Dictionary($0.value.map { ($0.key, $0.value) })) }
    }

    private mutating func add(_ values: PropertyList.Dictionary, to domain: DomainName, _ file: InputFile) throws {
        var declared = domains[domain] ?? [:]
        for entry in values.withoutHidden {
            if let other = declared[entry.key], other != entry.value {
                throw CommandFailure(
                    .invalidValue,
                    "\(file.name): \(domain) \(entry.key.onOneLine): \(sources[domain]?[entry.name].map(InputFile.name) ?? "another file") declares a different value"
                )
            }
            declared[entry.key] = entry.value
            sources[domain, default: [:]][entry.name] = file.argument
        }
        domains[domain] = declared
    }

    private static func domain(_ name: String, in file: InputFile) throws -> DomainName {
        do throws(DomainName.Failure) {
            return try DomainName(word: name)
        } catch {
            throw CommandFailure(.usage, "\(file.name): \(error)")
        }
    }

    /// The extensions of declarations in a folder, for messages.
    static let endings: String = {
        let all = FileExtension.allCases.map { "." + $0.rawValue }
        return all.dropLast().joined(separator: ", ") + " or " + (all.last ?? "")
    }()

    /// Returns the declarations in a folder, sorted, or the argument itself if it is not a folder. Notes the other
    /// entries of the folder, unless they are hidden and not named like a declaration.
    private static func files(at argument: String, _ context: CommandContext) throws -> [String] {
        guard argument != "-", try context.fileSystem.status(of: context.path(argument))?.kind == .folder else {
            return [argument]
        }
        let folder = try context.path(argument)
        var (files, others) = ([String](), [String]())
        for name in try context.fileSystem.names(in: folder) ?? [] where !name.isTemporary {
            let (text, isFolder) = (
                ByteText.text(name.bytes), try context.fileSystem.status(of: folder.appending(name))?.kind == .folder
            )
            let (isNamed, isHidden) = (FileExtension(fileName: text) != nil, text.hasPrefix("."))
            if isNamed, !isHidden, !isFolder {
                files.append(text)
            } else if isNamed || !isHidden {
                others.append(text.onOneLine + (isFolder ? "/" : ""))
            }
        }
        guard !files.isEmpty else {
            throw CommandFailure(.notFound, "\(argument.onOneLine): no file in this folder ends in \(endings)")
        }
        if !others.isEmpty {
            context.note("\(argument.onOneLine): not read: \(others.joined(separator: ", "))")
        }
        return files.sorted { $0.isBefore($1) }.map { argument + (argument.hasSuffix("/") ? "" : "/") + $0 }
    }

    /// Returns the domain that a file is named after. A stream has an empty argument.
    private static func domain(ofFile argument: String, _ shown: String) throws -> DomainName {
        guard !argument.isEmpty else {
            throw CommandFailure(.usage, "\(shown): has no name, so the domain is unknown; add --domain DOMAIN")
        }
        guard !ByteText.holdsRaw(argument.split(separator: "/").last.map(String.init) ?? argument) else {
            throw CommandFailure(.usage, "\(shown): the name of the file is not valid UTF-8; add --domain DOMAIN")
        }
        do throws(DomainName.Failure) {
            return try DomainName(FileExtension.stem(ofFile: argument))
        } catch {
            throw CommandFailure(
                .usage, "\(shown): the file is not named after a domain, so add --domain DOMAIN: \(error)")
        }
    }
}

/// The keys that `apply` has set and still manages, by the file of each domain.
///
/// The record is itself a settings file, and is changed in the same transaction as the domains.
///
///     { "/home/ada/.config/prefs/com.example.app.plist" = { domain = "com.example.app"; keys = (size, theme); }; }
struct AppliedRecord: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let domain: DomainName
        var keys: Set<EntryPath.Component>
    }

    /// The entries by the path of the domain's file, which distinguishes hosts and stores.
    private(set) var entries: [Name: Entry] = [:]

    init(_ values: PropertyList.Dictionary) {
        for entry in values {
            guard let name = entry.value["domain"]?.stringValue, let domain = try? DomainName(name),
                let keys = entry.value["keys"]?.arrayValue
            else { continue }
            entries[entry.name] = Entry(
                domain: domain, keys: Set(keys.compactMap { $0.stringValue.map { EntryPath.Component($0) } }))
        }
    }

    subscript(file: DomainFile) -> Entry? {
        get { entries[Name(file.path.description)] }
        set { entries[Name(file.path.description)] = newValue.flatMap { $0.keys.isEmpty ? nil : $0 } }
    }

    var values: PropertyList.Dictionary {
        PropertyList.Dictionary(
            entries.sorted { $0.key < $1.key }.map { path, entry in
                let keys = entry.keys.map(\.text).sorted { $0.isBefore($1) }
                return (
                    path.text, ["domain": .string(entry.domain.text), "keys": .array(keys.map { .string($0) })]
                )
            })
    }
}
