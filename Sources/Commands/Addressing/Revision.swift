internal import Preferences
internal import PropertyLists
internal import Synchronization

/// The changes of a verb to the domain or file that the command line names.
struct Revision {
    let access: StoreAccess
    let domains: [AddressedDomain]
    /// Whether to print the changes without making them.
    private let isTrial: Bool

    init(_ invocation: Invocation, _ context: CommandContext) throws {
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        self.init(access, [domain], invocation)
    }

    init(_ access: StoreAccess, _ domains: [AddressedDomain], _ invocation: Invocation) {
        (self.access, self.domains, isTrial) = (access, domains, invocation.has(.dryRun))
    }

    /// The name of the domain in messages.
    var name: String { domains.first?.word ?? "" }

    /// Makes the changes, one for each domain, in one transaction, or prints them for `--dry-run`.
    ///
    /// - Parameters:
    ///   - reason: The reason to record; nil for the verb.
    ///   - count: Returns the number of changed entries to print, or nil to print none. Throws if there is none.
    ///   - report: Called with each domain that was written, to print notes.
    func carryOut(
        _ edits: [DomainEdit], _ reason: WriteReason? = nil, count: () throws -> Int? = { nil },
        report: (AddressedDomain, CommittedDomain) throws -> Void = { _, _ in }
    ) throws -> ExitStatus {
        let outcomes = try access.commit(edits, reason, isTrial: isTrial)
        let count = try count()
        for (domain, outcome) in zip(domains, outcomes) {
            if isTrial { try show(outcome, of: domain) } else { try report(domain, outcome) }
        }
        if let count, let domain = domains.first {
            func say() throws { try access.context.say("\(count) \(count == 1 ? "entry" : "entries")") }
            if isTrial { try say() } else { try access.printing(domain, say) }
        }
        return isTrial && outcomes.contains(where: \.isChanged) ? .different : .done
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

/// The entries that a command has selected in each file. A change may be computed again, so the last selection is used.
final class SelectedEntries: Sendable {
    private let state = Mutex<[DomainFile: Int]>([:])

    /// Notes the number of entries of a file.
    func note(_ count: Int, in file: DomainFile) { state.withLock { $0[file] = count } }

    var count: Int { state.withLock { $0.values.reduce(0, +) } }
}
