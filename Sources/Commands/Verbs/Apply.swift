internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

extension Verb {
    package static let apply = Verb(
        "apply", .new, "make domains equal to files, in one transaction",
        details: [
            "A file contains one domain, named by the file name or by --domain; with --domains it is a dictionary of domains. For a folder, all files in it that end in \(Declaration.endings) are read, and its other entries are listed on standard error. If several files declare a key, the value in the last file is used.",
            "Each change is printed: `+` for a new key, `-` for a deleted one, `~` for another value.",
            "The keys that a call sets form a set, named by --set, or else by the path if FILE is a single file or folder, or else `default`. Keys that no file declares are kept, unless --prune is given: then those of the set are deleted, and a domain without keys is removed. A domain of the set for which there is no file is only pruned with --prune-domains. A key belongs to one set; --take moves it into this one. --list prints the sets and their keys.",
            "With --layers, the subfolders of FILE are layers: site, forced, and in hosts one for each host. Folders of hosts that have no files here are not applied, unless --new-host is given. To change site and forced requires the rights of the administrator.",
            "--dry-run prints what would change, and exits with 8 if anything would; --check prints nothing.",
            "prefs undo DOMAIN --transaction undoes the whole of it; after --layers, what was changed in the same store.",
        ],
        options: [
            .set, .prune, .pruneDomains, .take, .listSets, .dryRun, .checkOnly, .quiet, .force, .rewrite, .fromLines,
            .declaredDomain, .severalDomains, .foldersAreLayers, .newHost,
        ],
        forms: [[.files], []],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let access = try StoreAccess(invocation, context)
        let arguments = invocation.words("FILE")
        guard !invocation.has(.listSets) else {
            guard arguments.isEmpty else { throw CommandFailure(.usage, "apply: --list takes no FILE") }
            try AppliedSets.list(in: StoreOfLayers.all(invocation, access), access)
            return .done
        }
        guard !arguments.isEmpty else { throw UsageFailure(.missingOperand("FILE"), path: [invocation.verb.name]) }
        let isTrial = invocation.has(.dryRun) || invocation.has(.checkOnly)
        let isOfLayers = invocation.has(.foldersAreLayers)
        func show(_ changes: Applying.Changes) throws {
            guard !invocation.has(.quiet), !invocation.has(.checkOnly) else { return }
            for (domain, differences) in changes {
                let heading = (isOfLayers ? domain.labelOfLayer : domain.heading(context.dialect)).onOneLine
                let lines = differences.lines(of: heading, masking: access.masking(domain))
                func printLines() throws { try context.print(lines: lines) }
                if isTrial { try printLines() } else { try access.printing(domain, printLines) }
            }
        }
        let stores = StoreOfLayers.all(invocation, access)
        let applications = try context.progress.during("applying") {
            let declaration = try Declaration(arguments, invocation, access)
            var applications = try stores.map { store in
                Applying(
                    access: access, store: store, declaration: declaration,
                    set: try AppliedSets.name(invocation[.set], of: arguments, context),
                    prunes: invocation.has(.prune) || invocation.has(.pruneDomains),
                    prunesDomains: invocation.has(.pruneDomains), takes: invocation.has(.take),
                    isForced: invocation.has(.force), isTrial: isTrial)
            }
            if let forced = applications.first(where: { $0.store.layers.contains(.forced) }) {
                let values = try forced.valuesAfter()
                for index in applications.indices { applications[index].forcedValues = values }
            }
            return applications
        }
        var changesAny = false
        if isTrial || applications.count > 1 {
            // No store is changed if what is declared for another one is refused.
            let changes = try context.progress.during("applying") { try applications.flatMap { try $0.differences() } }
            if isTrial { try show(changes) }
            changesAny = !changes.isEmpty
        }
        guard !isTrial else { return changesAny ? .different : .done }
        for applying in applications { try show(context.progress.during("applying") { try applying.commit() }) }
        return .done
    }
}

/// Layers whose files one transaction can change, and the folder with the record of what was applied there.
struct StoreOfLayers: Sendable {
    let folder: StoreFolder
    let layers: [Layer]

    /// Returns those that a call of `apply` changes, in order: the administrator's first, which can be refused to the
    /// user.
    static func all(_ invocation: Invocation, _ access: StoreAccess) -> [StoreOfLayers] {
        guard invocation.has(.foldersAreLayers) else {
            return [StoreOfLayers(folder: access.places.user, layers: [access.layer])]
        }
        let layers = Layer.writableByPriority
        return [Layer.forced, .site, .user].compactMap { layer in
            guard let folder = access.places.folder(of: layer) else { return nil }
            return StoreOfLayers(folder: folder, layers: layers.filter { access.places.folder(of: $0) == folder })
        }
    }
}

extension Option {
    fileprivate static let set = Option("--set", Argument("NAME", .word), "the name of the set of keys")
    fileprivate static let prune = Option("--prune", "also delete keys of the set that no file declares now")
    fileprivate static let pruneDomains = Option(
        "--prune-domains", "like --prune, and also in domains for which there is no file")
    fileprivate static let take = Option("--take", "make keys of other sets part of this one")
    fileprivate static let listSets = Option("--list", "print the sets and their keys")
    fileprivate static let checkOnly = Option("--check", "like --dry-run, and print nothing")
    fileprivate static let quiet = Option("--quiet", "do not print the changes")
    package static let foldersAreLayers = Option("--layers", "subfolders of FILE are layers: site, forced, hosts/NAME")
    package static let declaredDomain = Option(
        "--domain", Argument("DOMAIN", .domain), "the domain of the file, regardless of its name")
    package static let severalDomains = Option("--domains", "each file is a dictionary of domains")
}

/// Makes domains equal to a declaration in one transaction.
struct Applying: Sendable {
    typealias Changes = [(domain: AddressedDomain, differences: Differences)]

    let access: StoreAccess
    let store: StoreOfLayers
    let declaration: Declaration
    /// The set that gets the declared keys.
    let set: Name
    /// Whether to remove keys of the set that are no longer declared.
    let prunes: Bool
    /// Whether to do so in domains that are not declared at all.
    let prunesDomains: Bool
    /// Whether declared keys of other sets become part of this one.
    let takes: Bool
    /// Whether to write keys that the administrator forces.
    let isForced: Bool
    /// Whether nothing is to be changed.
    let isTrial: Bool
    /// What the administrator forces after this call, for the domains whose forced values it changes.
    var forcedValues: [DomainName: PropertyList.Dictionary] = [:]

    /// The values to set and the keys to remove in one domain.
    private struct Step: Sendable {
        let target: Declaration.Target
        let domain: AddressedDomain
        let declared: PropertyList.Dictionary
        let pruned: Set<EntryPath.Component>

        func apply(to values: inout PropertyList.Dictionary) {
            for key in pruned { values[key.text] = nil }
            for entry in declared { values[entry.key] = entry.value }
        }
    }

    /// What a call changes, and the declared keys that remain part of other sets.
    private struct Plan: Sendable {
        var steps: [Step] = []
        var ofOthers: [Name: [String]] = [:]
    }

    /// Another process has applied domains that this one has not locked.
    private struct RecordChanged: Error {}

    // MARK: Writing

    /// Returns what was changed.
    func commit() throws -> Changes {
        for _ in 0..<Self.mostAttempts {
            do {
                let domains = try plan(by: .read(store, access)).steps.map(\.domain)
                return domains.isEmpty ? [] : try commit(domains)
            } catch is RecordChanged {
                continue
            }
        }
        throw CommandFailure(.lockTimeout, "other processes keep applying other domains; nothing was changed")
    }

    private static let mostAttempts = 16

    private func commit(_ domains: [AddressedDomain]) throws -> Changes {
        let decided = Mutex(Plan())
        // The first edit of the transaction. It runs while all domains are locked, and determines the changes of the
        // others.
        let record = DomainEdit(store.folder.recordOfApplied) { draft in
            let former = AppliedSets(draft.values)
            let plan = try plan(by: former)
            guard Set(plan.steps.map(\.domain.file)).isSubset(of: domains.map(\.file)) else { throw RecordChanged() }
            for step in plan.steps { try check(step) }
            draft.values = next(former, plan.steps).values
            decided.withLock { $0 = plan }
        }
        let edits = try domains.map { domain in
            try access.edit(domain, isForced: isForced) { draft in
                let step = decided.withLock { $0.steps.first { $0.domain.file == domain.file } }
                let wasEmpty = draft.values.isEmpty
                step?.apply(to: &draft.values)
                // A link belongs to the user who made it, and the file of a program to the program.
                let isRemovable = domain.file.isRecoverable(on: access.system) && !domain.file.isAdopted
                let isEmptied = draft.values.isEmpty && !wasEmpty && isRemovable
                if isEmptied { draft.removesFile = true }
            }
        }
        let outcomes = try access.commit([record] + edits).dropFirst()
        note(decided.withLock { $0 })
        return zip(domains, outcomes).compactMap { domain, outcome in
            let differences = Differences(from: outcome.before.values, to: outcome.after.values)
            return differences.isEmpty ? nil : (domain, differences)
        }
    }

    private func check(_ step: Step) throws {
        guard !isForced else { return }
        let keys = Array(step.declared.keys) + step.pruned.map(\.text)
        try access.checkNotForced(keys, in: step.domain, forced: forcedValues[step.target.name])
        for (file, values) in declaration.values(of: step.target, step.declared) {
            try access.checkNotExposing(values, from: file, in: step.domain)
        }
    }

    private func note(_ plan: Plan) {
        for (owner, keys) in plan.ofOthers.sorted(by: { $0.key < $1.key }) {
            let list = keys.joined(separator: ", ")
            access.context.note("\(list): part of the set \(owner.text.onOneLine) (--take moves it to this one)")
        }
    }

    // MARK: Comparing

    /// Returns what a commit would change in each domain.
    func differences() throws -> Changes {
        let plan = try plan(by: .read(store, access))
        if isTrial { note(plan) }
        return try plan.steps.enumerated().compactMap { number, step in
            access.context.progress.show(number, of: plan.steps.count, "domains compared")
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

    /// Returns the values of each domain that a commit changes, as they are after it.
    func valuesAfter() throws -> [DomainName: PropertyList.Dictionary] {
        try plan(by: .read(store, access)).steps.reduce(into: [:]) { values, step in
            var changed = try access.values(step.domain) ?? [:]
            step.apply(to: &changed)
            values[step.target.name] = changed
        }
    }

    // MARK: Planning

    /// Returns the steps for all declared domains and, with `prunesDomains`, the others of the set, sorted by name.
    private func plan(by record: AppliedSets) throws -> Plan {
        var targets = Set(declaration.domains.keys.filter { store.layers.contains($0.layer) })
        if prunes {
            let absent = try record.domains(of: set, in: store.layers, access).subtracting(targets)
            try check(absent)
            targets.formUnion(absent)
        }
        var plan = Plan()
        for target in targets.sorted() {
            let domain = try target.domain(in: access)
            let declared = declaration.values(for: target, domain, in: access)
            let former = prunes ? record.keys(of: set, in: domain.file) : []
            plan.steps.append(
                Step(
                    target: target, domain: domain, declared: declared,
                    pruned: former.filter { declared[$0.text] == nil && !$0.text.isHidden }))
            guard !takes else { continue }
            for key in declared.keys {
                guard let owner = record.owner(of: .init(key), in: domain.file), owner != set else { continue }
                plan.ofOthers[owner, default: []].append("\(domain.word.onOneLine) \(key.onOneLine)")
            }
        }
        if prunes, let (owner, keys) = plan.ofOthers.min(by: { $0.key < $1.key }) {
            let list = keys.joined(separator: ", ")
            throw CommandFailure(
                .different,
                "\(list): part of the set \(owner.text.onOneLine); nothing was changed (--take moves it to this one)"
            )
        }
        return plan
    }

    /// Throws if pruning these domains may not be meant: there is no file for them.
    private func check(_ absent: Set<Declaration.Target>) throws {
        for domain in absent.sorted().map(\.name) {
            guard let file = declaration.skipped.first(where: { $0.hasPrefix(domain.text + ".") }) else { continue }
            throw CommandFailure(
                .different, "\(file.onOneLine): not read, and \(domain) has keys of the set; nothing was changed")
        }
        guard !prunesDomains, !absent.isEmpty else { return }
        let list = try absent.sorted().map { target in
            try target.domain(in: access).labelOfLayer.onOneLine
        }.joined(separator: ", ")
        throw CommandFailure(
            .different,
            "no file for \(list), where the set \(set.text.onOneLine) has keys; nothing was changed (--prune-domains deletes them)"
        )
    }

    private func next(_ record: AppliedSets, _ steps: [Step]) -> AppliedSets {
        var record = record
        for step in steps {
            record.change(
                step.target.name, step.domain.file, set: set, removing: step.pruned,
                adding: step.declared.keys.map { EntryPath.Component($0) }, takes: takes)
        }
        return record
    }
}

/// The values that files declare for each domain.
struct Declaration: Sendable {
    /// A domain in the layer and for the host whose files are declared.
    struct Target: Hashable, Comparable, Sendable {
        let name: DomainName
        let layer: Layer
        let host: String?

        func domain(in access: StoreAccess) throws -> AddressedDomain {
            // A program's file has no other layers.
            let domain = try access.domain(name, in: .user)
            guard layer != .user else { return domain }
            guard !domain.file.isAdopted else {
                throw CommandFailure(.usage, "\(name): a program's file, which has no layer \(layer)")
            }
            return try access.domain(name, in: layer, on: host)
        }

        static func < (left: Self, right: Self) -> Bool {
            (left.name, left.layer, left.host ?? "") < (right.name, right.layer, right.host ?? "")
        }
    }

    /// A file, and the layer and the host for which it declares domains.
    private struct Input {
        let argument: String
        let layer: Layer
        let host: String?
    }

    private(set) var domains: [Target: PropertyList.Dictionary] = [:]
    /// Whether a file is in a format without types other than strings.
    private var isUntyped = false
    /// The file of each declared key, as named on the command line.
    private var sources: [Target: [Name: String]] = [:]
    /// The names of files in folders that are not read.
    private(set) var skipped: [String] = []
    /// Whether skipped files are not named.
    private let isQuiet: Bool

    /// Reads the files named on the command line.
    init(_ arguments: [String], _ invocation: Invocation, _ access: StoreAccess) throws {
        isQuiet = invocation.has(.checkOnly)
        let (only, context) = (invocation[.declaredDomain], access.context)
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
        if invocation.has(.foldersAreLayers), only != nil || invocation[.host] != nil || invocation.has(.currentHost) {
            throw CommandFailure(
                .usage, "apply: with --layers, the folders say which domains, layers and hosts are meant")
        }
        let inputs = try arguments.flatMap { argument in
            let input = Input(argument: argument, layer: access.layer, host: access.host)
            return invocation.has(.foldersAreLayers)
                ? try files(ofLayersAt: argument, acceptsNewHosts: invocation.has(.newHost), access)
                : try files(at: input, context)
        }
        for (number, input) in inputs.enumerated() {
            let argument = input.argument
            context.progress.show(number, of: inputs.count, "files read")
            // The name of a stream does not indicate its format.
            let name = try context.isStream(argument) ? "" : argument
            let file = try InputFile(argument, invocation, context, unwrapsJSON: true)
            let values = try file.dictionary()
            if !invocation.has(.force) { try file.checkNotMasked(values) }
            if try file.isUntyped() { isUntyped = true }
            if let only {
                try add(values, to: try DomainName(word: only), input, file, context)
            } else if holdsDomains {
                for entry in values {
                    guard let values = entry.value.dictionaryValue else {
                        throw CommandFailure(
                            .usage, "\(file.name): \(entry.key.onOneLine) is not a dictionary, so it is not a domain")
                    }
                    try add(values, to: try Self.domain(entry.key, in: file), input, file, context)
                }
            } else {
                // A file in a folder is one domain, like its neighbours.
                let isNamed = arguments.contains(argument)
                guard !isNamed || values.isEmpty || values.contains(where: { $0.value.kind != .dictionary }) else {
                    throw CommandFailure(
                        .usage,
                        "\(file.name): all values are dictionaries; use --domains if the keys are domains, or --domain if the file is one domain"
                    )
                }
                try add(values, to: try Self.domain(ofFile: name, file.name), input, file, context)
            }
        }
    }

    /// Returns the values declared for a domain. Values from formats without types are converted to the declared types.
    func values(
        for target: Target, _ domain: AddressedDomain, in access: StoreAccess
    ) -> PropertyList.Dictionary {
        let values = domains[target] ?? [:]
        return isUntyped ? access.adapted(values, in: domain) : values
    }

    /// Returns the values of a domain by the files that declare them.
    func values(
        of target: Target, _ values: PropertyList.Dictionary
    ) -> [(file: String, values: PropertyList.Dictionary)] {
        let sources = self.sources[target] ?? [:]
        return Dictionary(grouping: values) { sources[$0.name] ?? "-" }.sorted { $0.key.isBefore($1.key) }
            .map { ($0.key, PropertyList.Dictionary($0.value.map { ($0.key, $0.value) })) }
    }

    private mutating func add(
        _ values: PropertyList.Dictionary, to domain: DomainName, _ input: Input, _ file: InputFile,
        _ context: CommandContext
    ) throws {
        let target = Target(name: domain, layer: input.layer, host: input.host)
        var declared = domains[target] ?? [:]
        for entry in values.withoutHidden {
            if let other = declared[entry.key], other != entry.value {
                let former = sources[target]?[entry.name]
                let place = "\(file.name): \(domain) \(entry.key.onOneLine)"
                guard let former, former != file.argument else {
                    throw CommandFailure(.invalidValue, "\(place): declared twice, with different values")
                }
                context.note("\(place): replaces the value in \(InputFile.name(former))")
            }
            declared[entry.key] = entry.value
            sources[target, default: [:]][entry.name] = file.argument
        }
        domains[target] = declared
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

    /// Returns the declarations in a folder and in its folders for layers and hosts.
    private mutating func files(
        ofLayersAt argument: String, acceptsNewHosts: Bool, _ access: StoreAccess
    ) throws -> [Input] {
        let context = access.context
        func isFolder(_ path: String) throws -> Bool {
            try context.fileSystem.status(of: context.path(path))?.kind == .folder
        }
        guard argument != "-", try isFolder(argument) else {
            throw CommandFailure(.usage, "\(argument.onOneLine): not a folder, as --layers requires")
        }
        let base = argument + (argument.hasSuffix("/") ? "" : "/")
        var parts = [Input(argument: argument, layer: .user, host: nil)]
        for layer in [Layer.site, .forced] where try isFolder(base + layer.name) {
            try access.check(layer)
            parts.append(Input(argument: base + layer.name, layer: layer, host: nil))
        }
        if try isFolder(base + Self.hosts) {
            for name in try context.fileSystem.names(in: context.path(base + Self.hosts)) ?? [] {
                let word = ByteText.text(name.bytes)
                let path = base + Self.hosts + "/" + word
                guard try isFolder(path), !word.hasPrefix(".") else {
                    if !word.hasPrefix(".") {
                        context.note("\(path.onOneLine): not read")
                        skipped.append(word)
                    }
                    continue
                }
                do {
                    let host = try access.host(named: word, isNew: acceptsNewHosts)
                    parts.append(Input(argument: path, layer: .userHost, host: host))
                } catch let failure as CommandFailure {
                    context.note("\(path.onOneLine): not applied: \(failure.lines.joined(separator: " "))")
                }
            }
        }
        let layers = Set(parts.map(\.argument) + [base + Self.hosts])
        let files = try parts.flatMap { try self.files(at: $0, besides: layers, context) }
        guard !files.isEmpty else { throw Self.empty(argument) }
        return files
    }

    private static let hosts = "hosts"

    private static func empty(_ folder: String) -> CommandFailure {
        CommandFailure(.notFound, "\(folder.onOneLine): no file in this folder ends in \(endings)")
    }

    /// Returns the declarations in a folder, sorted, or the argument itself if it is not a folder. Notes the other
    /// entries of the folder, unless they are hidden and not named like a declaration.
    ///
    /// - Parameter layers: The folders that are layers, or nil if none is.
    private mutating func files(
        at input: Input, besides layers: Set<String>? = nil, _ context: CommandContext
    ) throws -> [Input] {
        let argument = input.argument
        guard argument != "-", try context.fileSystem.status(of: context.path(argument))?.kind == .folder else {
            return [input]
        }
        let (folder, base) = (try context.path(argument), argument + (argument.hasSuffix("/") ? "" : "/"))
        var (files, others) = ([String](), [String]())
        for name in try context.fileSystem.names(in: folder) ?? [] where !name.isTemporary {
            let (text, isFolder) = (
                ByteText.text(name.bytes), try context.fileSystem.status(of: folder.appending(name))?.kind == .folder
            )
            let (isNamed, isHidden) = (FileExtension(fileName: text) != nil, text.hasPrefix("."))
            if isNamed, !isHidden, !isFolder {
                files.append(text)
            } else if isNamed || !isHidden, layers?.contains(base + text) != true {
                others.append(text.onOneLine + (isFolder ? "/" : ""))
                skipped.append(text)
            }
        }
        guard !files.isEmpty || layers != nil else { throw Self.empty(argument) }
        if !others.isEmpty, !isQuiet {
            context.note("\(argument.onOneLine): not read: \(others.joined(separator: ", "))")
        }
        return files.sorted { $0.isBefore($1) }
            .map { Input(argument: base + $0, layer: input.layer, host: input.host) }
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
