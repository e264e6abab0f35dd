internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

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
        try access.commit([record] + edits, WriteReason(rawValue: "apply"))
    }

    private func check(_ step: Step) throws {
        guard !isForced else { return }
        try access.checkNotForced(Array(step.declared.keys) + step.pruned.map(\.text), in: step.domain)
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
        let contents = try access.places.user.recordOfApplied.contents(on: access.machine)
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
                if file.path.description == path { names.insert(entry.domain) }
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
