internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

extension StoreAccess {
    /// Returns the kept versions of a domain.
    func history(of domain: AddressedDomain) throws -> History {
        guard let history = History(of: domain.file, on: machine) else {
            throw CommandFailure(.notFound, "\(domain.word.onOneLine): no versions are kept here")
        }
        // Throws if the folder cannot be listed, which does not mean that it is empty.
        _ = try history.listed()
        return history
    }

    /// Restores a previous state of domains in one transaction, and prints the commands that reverse this.
    ///
    /// Unless the command is forced, values that the administrator forces are unchanged, and the current state must be
    /// kept as a version.
    ///
    /// - Parameter choose: Returns the state to restore. Called while the domain is locked.
    func restoreState(
        _ domains: [AddressedDomain], _ reason: WriteReason, _ invocation: Invocation,
        choose: @escaping @Sendable (AddressedDomain, inout DomainDraft) throws -> DomainState
    ) throws {
        guard policy.history.versions > 0 else {
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
            if outcome.isChanged { printUndoCommand(domain, from: outcome, invocation) }
        }
    }

    private func edit(
        bringingBack domain: AddressedDomain, _ invocation: Invocation,
        _ choose: @escaping @Sendable (AddressedDomain, inout DomainDraft) throws -> DomainState,
        leaving: @escaping @Sendable ([String]) -> Void
    ) throws -> DomainEdit {
        let forced = invocation.has(.force) ? [] : try forcedKeys(of: domain)
        var edit = DomainEdit(domain.file) { draft in
            let state = try choose(domain, &draft)
            let kept = forced.filter { state.values[$0] != draft.values[$0] }
            var values = state.values
            for key in kept { values[key] = draft.values[key] }
            if !kept.isEmpty, values == draft.values { throw CommandFailure.allForced(domain, kept) }
            leaving(kept)
            draft.values = values
            draft.restoredBytes = state.bytes
            if let format = state.format { (draft.format, draft.isFolder) = (format, state.isFolder) }
            draft.removesFile = state.format == nil && values.isEmpty
        }
        edit.requiresFormer = !invocation.has(.force)
        return edit
    }

    private func printUndoCommand(
        _ domain: AddressedDomain, from outcome: CommittedDomain, _ invocation: Invocation
    ) {
        let former = DomainState(outcome.before)
        guard let history = History(of: domain.file, on: machine),
            let version = history.versions.last(where: { history.state(of: $0) == former })
        else { return }
        let words = CommandSpelling(domain.word, in: domain.layer, invocation)
            .words([Verb.restore.name], [version.sequence.description])
        context.note("to undo this: \(ShellWord.line(words).onOneLine)")
    }

    /// Returns the keys of a domain that the administrator forces.
    func forcedKeys(of domain: AddressedDomain) throws -> [String] {
        try forcedFile(of: domain)?.contents(on: machine).values.keys.sorted() ?? []
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
