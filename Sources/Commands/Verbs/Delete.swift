internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

extension Verb {
    package static let delete = Verb(
        "delete", aliases: ["remove"], .classic, "remove a value, or a whole domain",
        options: [.layer, .force, .rewrite, .dryRun, .predicate, .bind, .from], forms: [[.domain, .anyKey]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let revision = try Revision(invocation, context)
        guard let selection = try EntrySelection(invocation[operand: Operand.key.name], invocation) else {
            return try remove(invocation, from: revision)
        }
        return try remove(selection, from: revision, isForced: invocation.has(.force))
    }

    package static let deleteAll = Verb(
        "delete-all", .classic, "remove from every layer that the user can write, including this host's",
        details: [
            "Values for other hosts, the history and the schema stay; `prefs help files` says how to remove them."
        ],
        options: [.force, .rewrite, .dryRun], forms: [[.domain, .anyKey]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let domains = try domain.name.map { try access.domainsOfUser($0) } ?? [domain]
        let others = try domain.name.map { try access.domainsOfOtherHosts($0) } ?? []
        let left = try others.filter { other in
            try !domains.contains { $0.file.path == other.file.path } && other.file.status(on: access.system) != nil
        }.compactMap(\.host)
        let status = try remove(invocation, from: Revision(access, domains, invocation))
        if !left.isEmpty, context.dialect == .modern {
            context.note(
                "\(domain.word.onOneLine): for other hosts there are still values: \(abridged(left)) (\(Option.host.longName) NAME)"
            )
        }
        return status
    }

    /// Removes a key, or everything, from all files in one transaction.
    private static func remove(_ invocation: Invocation, from revision: Revision) throws -> ExitStatus {
        let access = revision.access
        guard let first = revision.domains.first else { return .done }
        let isForced = invocation.has(.force)
        let key = try invocation.key.map { try access.currentKey(for: $0, in: first) }
        if let key, !isForced { try access.checkNotForced([access.storedKey(of: key, in: first)], in: first) }
        if let pattern = revision.pattern, key == nil {
            throw CommandFailure(.usage, "\(pattern.onOneLine): a pattern, which requires KEY; no file is removed")
        }
        let found = Found()
        let edits = try revision.domains.map { domain in
            // Removing a whole domain is always allowed by its schema.
            guard let key else {
                return DomainEdit(domain.file, acceptsLoss: domain.file.isRecoverable(on: access.system)) {
                    found.removeAll(of: &$0)
                }.ofExistingDomain
            }
            return try access.edit(domain, isForced: isForced) { try found.remove(key, from: &$0) }.ofExistingDomain
        }
        return try revision.carryOut(edits, .delete) {
            try found.check(key, in: first, access, pattern: revision.pattern)
            if let key, revision.domains.count == 1 { access.noteValueBefore(first, at: key, isForced: isForced) }
            return nil
        }
    }

    /// Removes the selected entries.
    private static func remove(
        _ selection: EntrySelection, from revision: Revision, isForced: Bool
    ) throws -> ExitStatus {
        let access = revision.access
        let selected = SelectedEntries()
        let edits = try revision.domains.map { domain in
            try access.checkSecrecy(of: domain, "no entries are selected")
            return try access.edit(domain, isForced: isForced) { draft in
                var root = draft.root
                let paths = try selection.paths(in: root, of: domain, access, creates: false)
                selected.note(paths.count, in: domain.file)
                guard !paths.isEmpty else {
                    draft.rewrites = false
                    return
                }
                if !isForced {
                    let keys = try paths.map { try access.storedKey(of: KeyArgument($0), in: domain) }
                    try access.checkNotForced(keys, in: domain)
                }
                draft.step = .removals(paths)
                try root.remove(at: paths)
                draft.root = root
            }.ofExistingDomain
        }
        return try revision.carryOut(edits, .delete) {
            guard selected.count > 0 else { throw selection.failure(in: revision.name) }
            return selected.count
        }
    }
}

extension CommandFailure {
    /// No file that a pattern matches has a key.
    static func noFile(of pattern: String, has key: KeyArgument) -> CommandFailure {
        CommandFailure(.notFound, "\(pattern.onOneLine): no file has the key \(key.spelling.onOneLine)")
    }
}

/// Records whether the domain and the key were found in any of the layers.
private final class Found: Sendable {
    private let state = Mutex((domain: false, key: false))

    func removeAll(of draft: inout DomainDraft) {
        let exists = draft.exists
        state.withLock { $0.domain = $0.domain || exists }
        draft.removesFile = exists
    }

    func remove(_ key: KeyArgument, from draft: inout DomainDraft) throws {
        guard draft.exists else { return }
        state.withLock { $0.domain = true }
        var root = draft.root
        draft.step = .removal(root.counted(key.path))
        guard !key.key.isHidden, try root.remove(at: key.path) != nil else {
            // Without a removal, the file is not written anew either.
            draft.rewrites = false
            return
        }
        state.withLock { $0.key = true }
        draft.root = root
    }

    /// Throws if the domain or the key was not found.
    func check(
        _ key: KeyArgument?, in domain: AddressedDomain, _ access: StoreAccess, pattern: String?
    ) throws {
        let unchanged = "Defaults have not been changed."
        let name = domain.application.onOneLine
        let (hasDomain, hasKey) = state.withLock { $0 }
        guard hasDomain else {
            let failure = try access.failure(ofMissing: nil, in: domain)
            throw CommandFailure(
                .notFound, failure.lines.joined(), classic: "Domain (\(name)) not found.", unchanged)
        }
        guard let key, !hasKey else { return }
        if let pattern { throw CommandFailure.noFile(of: pattern, has: key) }
        throw try access.failure(
            ofMissing: key, in: domain,
            classic: ["Key (\(key.spelling.onOneLine)) not found in domain (\(name)).", unchanged])
    }
}
