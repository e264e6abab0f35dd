internal import Platform
internal import Preferences
internal import PropertyLists
internal import SettingsSchema
internal import Synchronization

extension StoreAccess {
    /// Changes domains in one transaction.
    ///
    /// - Parameters:
    ///   - reason: The reason to record; nil for the verb.
    ///   - isTrial: Whether to return the outcomes without making the changes.
    @discardableResult
    func commit(
        _ edits: [DomainEdit], _ reason: WriteReason? = nil, isTrial: Bool = false
    ) throws -> [CommittedDomain] {
        let policy = places.policy
        var writer = DomainWriter(system, context.author(of: reason ?? self.reason), by: policy)
        writer.report = context.progress.ofCommit(of: edits.count)
        for edit in edits where !edit.file.isOfDomain {
            try context.checkNoDescriptor(edit.file.path, edit.file.name)
            try context.checkLanguage(ofNewFile: edit.file.name)
        }
        // The lock of each file needs a descriptor.
        if edits.count > 256 { CommandContext.allowDescriptors() }
        defer { context.delayInterrupts(false) }
        let outcomes: [CommittedDomain]
        do {
            let edits = edits.map { edit in
                var edit = refusingMasks(judgingSecrets(edit.made(in: format(of: edit, policy))))
                if !isTrial { edit = delayingInterrupts(edit) }
                edit.writesWholeText = edit.writesWholeText || writesAnew
                edit.padsReals = context.isRunAsAppleTool
                return edit
            }
            if isTrial { return try writer.preview(edits) }
            outcomes = try writer.commit(edits)
        } catch let failure as StoreFailure where !offersForce {
            let lines = lines(of: failure)
            throw CommandFailure(failure.status, lines, classic: lines)
        }
        if edits.contains(where: { $0.file.name == StorePolicy.domain.text }) { places.reloadPolicy() }
        for outcome in outcomes {
            if let recovery = outcome.before.recovery { context.note(recovery.description) }
            if outcome.hasDroppedFractions { context.noteDroppedFractions(in: outcome.file.path.description) }
            if let format = outcome.convertedFrom {
                context.note(
                    "\(outcome.file.path): converted from \(format.rawValue) to binary, which keeps fractions of a second"
                )
            }
            context.note(removed: outcome.removedComments, from: outcome.file.name)
            if let folder = outcome.unwritableHistory {
                let which = outcome.losesFormer ? "the previous" : "this"
                context.note(
                    "\(outcome.file.name): written, but \(which) version could not be kept in \(folder)")
            }
        }
        return outcomes
    }

    /// Prints a change that was written. A failure to print it reports that it was written.
    func printing(_ domain: AddressedDomain, _ print: () throws -> Void) throws {
        do { try print() } catch let failure as SystemFailure {
            throw failure.after(.wrote(domain.file.place(on: system)))
        }
    }

    /// Returns the edit with a check for sensitive values, if the file will be readable by everyone.
    /// Returns the format of the file if it is new.
    private func format(of edit: DomainEdit, _ policy: StorePolicy) -> PropertyList.Format {
        guard policy.newFormat == nil else { return policy.format(by: nil) }
        if let format = edit.scriptFormat { return format }
        return policy.format(by: (try? DomainName(edit.file.name)).flatMap { schemas[$0]?.schema })
    }

    private func judgingSecrets(_ edit: DomainEdit) -> DomainEdit {
        guard edit.file.audience == .everyone, let name = try? DomainName(edit.file.name) else { return edit }
        // Unreadable schemas are ignored here. Otherwise nothing could be written for all users.
        let masking = Masking(declaredBy: schemas.secrecy(of: name))
        var judging = edit
        judging.isSensitive = { key, value in masking.touches(value, at: [EntryPath.Component(key)]) }
        return judging
    }

    /// Returns the edit with a check that it does not replace a sensitive value by the dots that are printed in its
    /// place, such as an edit from a file with the output of `read`.
    private func refusingMasks(_ edit: DomainEdit) -> DomainEdit {
        guard let name = try? DomainName(edit.file.name) else { return edit }
        var refusing = edit
        refusing.change = { draft in
            let before = draft.values
            try edit.change(&draft)
            for entry in draft.values {
                let paths = entry.value.paths(to: .string(Masking.dots))
                guard !paths.isEmpty, before[entry.key] != entry.value else { continue }
                let masking = Masking(schemas.secrecy(of: name))
                for path in paths.map({ EntryPath([EntryPath.Component(entry.key)] + $0.components) })
                where masking.hides(path) {
                    throw CommandFailure(
                        .invalidValue,
                        "\(edit.file.name.onOneLine): \(path.description.onOneLine) is sensitive, and \(Masking.dots) is what is printed in its place; nothing was changed"
                    )
                }
            }
        }
        return refusing
    }

    /// Returns the edit with interrupts delayed from the moment its change runs. By then all locks are held, so the
    /// rest is short.
    private func delayingInterrupts(_ edit: DomainEdit) -> DomainEdit {
        let delay = context.delayInterrupts
        var delaying = edit
        delaying.change = { draft in
            delay(true)
            try edit.change(&draft)
        }
        return delaying
    }

    /// Changes the root of one domain, subject to its schema.
    ///
    /// - Parameter step: Returns what the change does to an entry of the present values, unless the values show it.
    @discardableResult
    func change(
        _ domain: AddressedDomain, _ reason: WriteReason? = nil, isForced: Bool,
        by step: @escaping @Sendable (PropertyList) -> EntryStep? = { _ in nil },
        _ body: @escaping @Sendable (inout PropertyList) throws -> Void
    ) throws -> CommittedDomain? {
        let edit = try edit(domain, isForced: isForced) { draft in
            var root = draft.root
            draft.step = step(root)
            try body(&root)
            draft.root = root
        }
        return try commit([edit], reason).first
    }

    /// Throws if any of the stored keys is forced by the administrator, also under a former key.
    ///
    /// - Parameters:
    ///   - schema: The schema; nil for the installed one.
    ///   - forced: The forced values; nil for those in the file.
    func checkNotForced(
        _ keys: some Sequence<String>, in domain: AddressedDomain, by schema: Schema? = nil,
        forced: PropertyList.Dictionary? = nil
    ) throws {
        let planned = domain.layer == .forced ? nil : domain.name.flatMap { places.forced?.file(of: $0) }
        guard let file = forced == nil ? try forcedFile(of: domain) : planned else { return }
        let forced = try forced ?? file.contents(on: system).values
        guard !forced.isEmpty else { return }
        let schema = schema ?? schemaInForce(domain)?.schema
        for key in keys {
            let paths = schema?.storedPaths(of: key) ?? [[EntryPath.Component(key)]]
            guard paths.contains(where: { forced.value(at: $0) != nil }) else { continue }
            throw CommandFailure(
                .forced,
                "\(domain.word.onOneLine) \(key.onOneLine): forced by the administrator in \(file.place(on: system)); \(StoreFailure.unchanged(offersForce))"
            )
        }
    }
}

extension StoreAccess {
    /// Returns the stored key whose value contains an entry: an entry in the dictionary of a command is a setting of
    /// its own.
    func storedKey(of key: KeyArgument, in domain: AddressedDomain) -> String {
        schemaInForce(domain)?.schema.ownSetting(at: key.path)?.storedKey ?? key.key
    }
}

extension StoreFailure: Reportable {
    package var status: ExitStatus {
        switch problem {
        case .damaged, .notADictionary: .damaged
        case .locked: .lockTimeout
        case .unwritable(let failure) where failure.problem == .notKept: .systemFailed
        case .unwritable, .invalidKey, .notAllowed, .duplicateFile, .refused, .invalid, .otherVersion,
            .exposed, .reservedKey:
            .invalidValue
        case .notCurrent: .different
        case .pendingOfAnotherUser: .systemFailed
        case .forced: .forced
        case .differentStores, .adopted: .usage
        default: .systemFailed
        }
    }

    static func unchanged(_ offersForce: Bool) -> String {
        "nothing was changed\(offersForce ? " (--force overrides this)" : "")"
    }

    package var lines: [String] { lines(offersForce: true) }

    /// Returns the lines for standard error.
    ///
    /// - Parameter offersForce: Whether the verb has the option `--force`.
    func lines(offersForce: Bool) -> [String] {
        let text = description
        switch problem {
        case .damaged: return [InvalidInput.lineOfUnsupportedLanguage(file ?? domain) ?? description]
        case .refused(let problems):
            let force = Self.unchanged(offersForce)
            guard problems.count > 1 else { return ["\(text); \(force)"] }
            return problems.map { "\(domain): \($0)" } + [force]
        case .notKept: return ["\(text); \(Self.unchanged(offersForce))"]
        case .otherVersion(_, _, isNewer: false):
            let words = ShellWord.line(CommandSpelling(domain).words(Verb.wordsOfMigration))
            return ["\(text): \(words)"]
        default: return [description]
        }
    }
}

extension SecrecyDoubt: Reportable {
    package var status: ExitStatus { .damaged }
    package var lines: [String] { [description] }
}

extension DomainName.Failure: Reportable {
    package var status: ExitStatus { .usage }
    package var lines: [String] { [description] }
}

extension StoreAccess {
    /// Returns the kept versions of a domain.
    func history(of domain: AddressedDomain) throws -> History {
        guard let history = History(of: domain.file, on: system) else {
            throw CommandFailure(.notFound, "\(domain.word.onOneLine): no versions are kept here")
        }
        // Completing a change keeps its versions.
        domain.file.finishTransactions(on: system)
        // Throws if the folder cannot be listed, which does not mean that it is empty.
        _ = try history.listed()
        return history
    }

    /// Restores a previous state of domains in one transaction, and prints the commands that reverse this.
    ///
    /// Unless the command is forced, values that the administrator forces are unchanged, and the current state must be
    /// kept as a version.
    ///
    /// - Parameters:
    ///   - undone: Returns the words for what was undone in a domain, for a note; nil for a restored version.
    ///   - choose: Returns the state to restore. Called while the domain is locked.
    func restoreState(
        _ domains: [AddressedDomain], _ reason: WriteReason, _ invocation: Invocation,
        undone: (AddressedDomain) -> String? = { _ in nil },
        choose: @escaping @Sendable (AddressedDomain, inout DomainDraft) throws -> DomainState
    ) throws {
        guard places.policy.history.versions > 0 else {
            throw CommandFailure(
                .notFound,
                "\(domains[0].word.onOneLine): historyVersions is 0, so no versions are kept; nothing was changed")
        }
        let left = Mutex<[DomainFile: [String]]>([:])
        let edits = try domains.map { domain in
            try edit(bringingBack: domain, invocation, choose) { kept in left.withLock { $0[domain.file] = kept } }
        }
        let outcomes = try commit(edits, reason)
        for (domain, outcome) in zip(domains, outcomes) {
            for key in left.withLock({ $0[domain.file] ?? [] }) {
                context.note(
                    "\(domain.word.onOneLine) \(key.onOneLine): unchanged, since the administrator forces this value")
            }
            guard outcome.isChanged else { continue }
            let words = [undone(domain), undoCommand(domain, from: outcome).map { "to undo this: \($0)" }]
            let note = words.compactMap(\.self).joined(separator: "; ")
            if !note.isEmpty { context.note(note) }
        }
    }

    private func edit(
        bringingBack domain: AddressedDomain, _ invocation: Invocation,
        _ choose: @escaping @Sendable (AddressedDomain, inout DomainDraft) throws -> DomainState,
        leaving: @escaping @Sendable ([String]) -> Void
    ) throws -> DomainEdit {
        let forced = invocation.has(.force) ? [] : try forcedKeys(of: domain)
        if let schema = installedSchema(domain)?.readable { remember(schema, of: domain) }
        var edit = DomainEdit(domain.file) { draft in
            let state = try choose(domain, &draft)
            let kept = forced.filter { state.values[$0] != draft.values[$0] }
            var values = state.values
            for key in kept { values[key] = draft.values[key] }
            if !kept.isEmpty, values == draft.values { throw CommandFailure.allForced(domain, kept) }
            leaving(kept)
            (draft.values, draft.rootKind) = (values, state.rootKind)
            draft.restoredBytes = state.bytes
            if let form = state.form {
                draft.form = form
                // A file without values is a state, too.
                draft.createsFile = true
            }
            draft.removesFile = state.form == nil && values.isEmpty
        }
        edit.requiresFormer = !invocation.has(.force)
        // What is to be restored does not depend on the present contents, unlike what is to be undone.
        edit.acceptsLoss = invocation.verb.name == Verb.restore.name
        return edit.ofExistingDomain
    }

    /// Returns the command that restores the state before a change, or nil if no version has it.
    private func undoCommand(_ domain: AddressedDomain, from outcome: CommittedDomain) -> String? {
        let former = DomainState(outcome.before)
        guard outcome.before.recovery.map({ $0.version != nil }) ?? true,
            let history = History(of: domain.file, on: system),
            let version = history.versions.last(where: { history.state(of: $0) == former })
        else { return nil }
        return ShellWord.line(spelling(of: domain).words([Verb.restore.name], [version.sequence.description]))
    }

    /// Returns the keys of a domain that the administrator forces.
    func forcedKeys(of domain: AddressedDomain) throws -> [String] {
        try forcedFile(of: domain)?.contents(on: system).values.keys.sorted { $0.isBefore($1) } ?? []
    }
}

extension CommandFailure {
    fileprivate static func allForced(_ domain: AddressedDomain, _ keys: [String]) -> CommandFailure {
        let names = keys.map(\.onOneLine).joined(separator: ", ")
        return CommandFailure(
            .forced,
            "\(domain.word.onOneLine): the administrator forces all values that would change (\(names)); nothing was changed (--force overrides this)"
        )
    }
}

extension PropertyList {
    /// Returns the paths at which a value occurs.
    func paths(to value: PropertyList) -> [EntryPath] {
        func inside(_ component: EntryPath.Component, _ element: PropertyList) -> [EntryPath] {
            element.paths(to: value).map { EntryPath([component] + $0.components) }
        }
        return switch self {
        case .array(let elements): elements.enumerated().flatMap { inside(EntryPath.Component($0), $1) }
        case .dictionary(let entries): entries.flatMap { inside(EntryPath.Component($0.key), $0.value) }
        default: self == value ? [EntryPath()] : []
        }
    }
}
