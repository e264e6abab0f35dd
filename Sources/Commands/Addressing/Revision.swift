internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

/// The changes of a verb to the domain or file that the command line names, or to all files that a pattern matches.
struct Revision {
    let access: StoreAccess
    let domains: [AddressedDomain]
    /// The pattern, or nil if the command line names one domain or file.
    let pattern: String?
    /// Whether to print the changes without making them.
    private let isTrial: Bool

    init(_ invocation: Invocation, _ context: CommandContext) throws {
        let word = invocation[operand: Operand.domain.name] ?? ""
        guard DomainArgument.isPath(word), let files = try context.files(matching: word, isWriting: true) else {
            let (access, domain) = try StoreAccess.ofDomain(invocation, context)
            self.init(access, [domain], invocation)
            return
        }
        let access = try StoreAccess(invocation, context)
        let domains = try files.words.map { word in
            let domain = try access.domain(word)
            try access.checkLayer(of: domain, invocation)
            return try domain.requiringFormat(of: invocation)
        }
        self.init(access, domains, invocation, pattern: word)
    }

    init(
        _ access: StoreAccess, _ domains: [AddressedDomain], _ invocation: Invocation, pattern: String? = nil
    ) {
        (self.access, self.domains, self.pattern) = (access, domains, pattern)
        isTrial = invocation.has(.dryRun)
    }

    /// The domain or the pattern in messages.
    var name: String { pattern ?? domains.first?.word ?? "" }

    /// Throws if a pattern is given with an option that is for one file.
    func checkSingle(_ option: Option, _ invocation: Invocation) throws(CommandFailure) {
        guard pattern != nil, invocation.has(option) else { return }
        throw CommandFailure(.usage, "\(name.onOneLine): a pattern; \(option.name) is for one file")
    }

    /// Makes the changes, one for each domain, in one transaction, or prints them for `--dry-run`. Prints the name of
    /// each file that a pattern matches and that is changed.
    ///
    /// - Parameters:
    ///   - reason: The reason to record; nil for the verb.
    ///   - count: Returns the number of changed entries to print, or nil to print none. Throws if there is none.
    ///   - report: Called with the index of each domain that was written, to print notes.
    func carryOut(
        _ edits: [DomainEdit], _ reason: WriteReason? = nil, count: () throws -> Int? = { nil },
        report: (_ index: Int, CommittedDomain) throws -> Void = { _, _ in }
    ) throws -> ExitStatus {
        let edits = pattern == nil ? edits : edits.map(requiringFile)
        let outcomes = try access.commit(edits, reason, isTrial: isTrial)
        let count = try count()
        for (index, (domain, outcome)) in zip(domains, outcomes).enumerated() {
            guard !isTrial else {
                try show(outcome, of: domain)
                continue
            }
            if pattern != nil, outcome.isChanged {
                try access.printing(domain) { try access.context.say(domain.word.onOneLine) }
            }
            try report(index, outcome)
        }
        if let count, let domain = domains.first {
            func say() throws { try access.context.say("\(count) \(count == 1 ? "entry" : "entries")") }
            if isTrial { try say() } else { try access.printing(domain, say) }
        }
        return isTrial && outcomes.contains(where: \.isChanged) ? .different : .done
    }

    /// Returns a change that does not create a file which was removed since it matched the pattern, and whose failure
    /// names the file.
    private func requiringFile(_ edit: DomainEdit) -> DomainEdit {
        var requiring = edit
        requiring.change = { draft in
            guard draft.exists else {
                throw CommandFailure(.notFound, "\(edit.file.name.onOneLine): no such file; nothing was changed")
            }
            do {
                try edit.change(&draft)
            } catch {
                throw error.naming(edit.file.name.onOneLine)
            }
        }
        return requiring
    }

    /// Prints what a change would do.
    private func show(_ outcome: CommittedDomain, of domain: AddressedDomain) throws {
        guard outcome.isChanged else { return }
        let heading = domain.heading(access.context.dialect).onOneLine
        let differences = Differences(
            from: outcome.before.values.withoutHidden, to: outcome.after.values.withoutHidden)
        if let former = outcome.before.format, let format = outcome.after.format, former != format {
            try access.context.say("~ \(heading): \(former.rawValue) → \(format.rawValue)")
        } else if differences.isEmpty {
            let sign = !outcome.before.exists ? "+" : !outcome.after.exists ? "-" : "~"
            try access.context.say("\(sign) \(heading)")
        }
        try access.context.print(lines: differences.lines(of: heading, masking: access.masking(domain)))
    }
}

extension Error {
    /// Returns the error with the name of a file in its first line, unless it names it already.
    fileprivate func naming(_ file: String) -> any Error {
        if self is StoreFailure || self is SystemFailure { return self }
        let (status, lines) = Prefs.explanation(of: self)
        guard let first = lines.first, !first.hasPrefix(file) else { return self }
        let named = ["\(file): \(first)"] + lines.dropFirst()
        return CommandFailure(status, named, classic: named)
    }
}

/// The entries that a command has selected in each file. A change may be computed again, so the last selection is used.
final class SelectedEntries: Sendable {
    private let state = Mutex<[DomainFile: Int]>([:])

    /// Notes the number of entries of a file.
    func note(_ count: Int, in file: DomainFile) { state.withLock { $0[file] = count } }

    var count: Int { state.withLock { $0.values.reduce(0, +) } }
}
