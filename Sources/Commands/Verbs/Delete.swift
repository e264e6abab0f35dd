internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

extension Verb {
    package static let delete = Verb(
        "delete", aliases: ["remove"], .classic, "remove a value, or a whole domain",
        options: [.layer, .force], forms: [[.domain, .anyKey]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, surroundings in
        let access = try StoreAccess(invocation, surroundings)
        let domain = try access.domain(invocation[operand: "DOMAIN"] ?? "")
        try remove(invocation, from: [domain], access)
        return .done
    }

    package static let deleteAll = Verb(
        "delete-all", .classic, "remove from every layer that the user may write, this host's too",
        options: [.force], forms: [[.domain, .anyKey]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, surroundings in
        let access = try StoreAccess(invocation, surroundings)
        let domain = try access.domain(invocation[operand: "DOMAIN"] ?? "")
        let domains = try domain.name.map { try access.domainsOfUser($0) } ?? [domain]
        try remove(invocation, from: domains, access)
        return .done
    }

    /// Removes a key, or everything, from all of the files in one step.
    private static func remove(
        _ invocation: Invocation, from domains: [AddressedDomain], _ access: StoreAccess
    ) throws {
        guard let first = domains.first else { return }
        let key = try invocation[operand: "KEY"].map { try access.present(KeyArgument($0), in: first) }
        if let key, !invocation.has(.force) { try access.checkNotForced([key.key], in: first) }
        let found = Mutex((domain: false, key: false))
        let edits = try domains.map { domain in
            // To let all go is always allowed, whatever a schema says.
            guard let key else {
                return DomainEdit(domain.file, acceptsLoss: true) { draft in
                    found.withLock { $0.domain = $0.domain || draft.exists }
                    draft.removesFile = draft.exists
                }
            }
            return try access.edit(domain, isForced: invocation.has(.force)) { draft in
                guard draft.exists else { return }
                found.withLock { $0.domain = true }
                var root = PropertyList.dictionary(draft.values)
                if !key.key.isHidden, try root.remove(at: key.path) != nil { found.withLock { $0.key = true } }
                draft.values = root.dictionaryValue ?? draft.values
            }
        }
        try access.commit(edits, .delete)
        let unchanged = "Defaults have not been changed."
        let (hasDomain, hasKey) = found.withLock { $0 }
        if !hasDomain {
            throw CommandFailure(.notFound, "Domain (\(first.application.onOneLine)) not found.", unchanged)
        }
        if let key, !hasKey {
            throw CommandFailure(
                .notFound,
                "Key (\(key.spelling.onOneLine)) not found in domain (\(first.application.onOneLine)).", unchanged)
        }
    }
}
