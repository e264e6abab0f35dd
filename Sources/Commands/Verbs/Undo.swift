internal import Platform
internal import Preferences
internal import PropertyLists
internal import Synchronization

extension Verb {
    package static let undo = Verb(
        "undo", .new, "undo the last change of a domain, or the last N",
        details: [
            "A change is any write that made a difference, by any program. Undo reverts the latest change that is not undone yet, so two calls revert two changes. Undoing the first change removes the file.",
            "With --transaction, the latest change is undone in every domain that it changed together with DOMAIN, in all layers and for all hosts, as apply, form and delete-all make it. If it cannot be undone in one of them, because that has changed since or has no such version, nothing is undone; --partial undoes it in the others.",
            "A change that a mirror brought is undone only with --mirrored, and then on all hosts.",
            "An undo can be undone: it prints the command that does so. Values that the administrator forces are unchanged.",
        ],
        options: [.wholeTransaction, .partial, .mirrored, .layer, .force, .from],
        forms: [[.domain, Operand("N", .word, .optional)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout, .different]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let word = invocation[operand: "N"] ?? "1"
        let hint = Int(word) == nil ? "; `prefs history DOMAIN KEY` lists the changes of one key" : ""
        let steps = try number(word, "a number of steps\(hint)")
        guard invocation.has(.wholeTransaction) else {
            if invocation.has(.partial) {
                throw CommandFailure(.usage, "undo: --partial is for --transaction")
            }
            let others = steps == 1 ? (try? TransactionUndo(of: domain, access).others()) ?? [] : []
            let hasLater = (try? access.hasLaterChangeOnHost(than: domain)) ?? false
            try access.undo(steps, of: [domain], invocation) { _, _ in }
            if hasLater {
                context.note(
                    "a later change is in layer \(Layer.userHost), where it stays (\(Option.currentHost.longName))")
            }
            if !others.isEmpty {
                context.note(
                    "the change was also made in \(abridged(others, most: 3)), where it stays (\(Option.wholeTransaction.name) undoes it everywhere)"
                )
            }
            return .done
        }
        guard steps == 1 else { throw CommandFailure(.usage, "undo: --transaction undoes one change") }
        try TransactionUndo(of: domain, access).carryOut(invocation)
        return .done
    }
}

extension Option {
    package static let wholeTransaction = Option(
        "--transaction", "undo the change in all domains that were changed with it")
    package static let partial = Option(
        "--partial", "with --transaction, undo the change where that is possible")
    package static let mirrored = Option("--mirrored", "also undo changes that a mirror brought, on all hosts")
}

extension StoreAccess {
    /// Returns whether the values for this host were changed after those for all hosts.
    fileprivate func hasLaterChangeOnHost(than domain: AddressedDomain) throws -> Bool {
        guard let name = domain.name, domain.layer == .user, places.folder(of: .userHost) != nil,
            let other = History(of: try self.domain(name, in: .userHost).file, on: system)?.undoChain.last,
            let newest = History(of: domain.file, on: system)?.undoChain.last
        else { return false }
        return other.time > newest.time
    }

    /// Undoes the latest changes of domains in one transaction.
    ///
    /// - Parameter check: Throws if a domain with this state must not be undone. Called while the domain is locked.
    fileprivate func undo(
        _ steps: Int, of domains: [AddressedDomain], _ invocation: Invocation,
        check: @escaping @Sendable (AddressedDomain, DomainState) throws -> Void
    ) throws {
        let authors = Mutex<[DomainFile: String]>([:])
        func undone(_ domain: AddressedDomain) -> String? { authors.withLock { $0[domain.file] } }
        try restoreState(domains, .undo(to: 0), invocation, undone: undone) { domain, draft in
            let history = try history(of: domain)
            guard draft.exists || !history.versions.isEmpty else {
                throw try failure(ofMissing: nil, in: domain)
            }
            try check(domain, DomainState(draft))
            let present = DomainState(draft)
            guard let former = try history.earlierState(steps, from: present, domain) else {
                let what = steps == 1 ? "no earlier version is" : "fewer than \(steps) earlier versions are"
                throw CommandFailure(.notFound, "\(domain.label.onOneLine): \(what) kept; nothing was changed")
            }
            if !invocation.has(.mirrored), let origin = origin(of: steps, since: former.sequence, domain) {
                throw CommandFailure(.different, "\(origin); nothing was changed")
            }
            draft.reason = .undo(to: former.sequence)
            let undone = history.undone(steps, to: former, from: present, places.policy.history)
            authors.withLock { $0[domain.file] = "\(domains.count > 1 ? "\(domain.label): " : "")\(undone)".onOneLine }
            // Changes that cancel each other are undone, too: the next undo goes on before them.
            draft.isRecorded = former.state == present
            return former.state
        }
    }

    /// Returns from which hosts the last changes of a domain came, and the option that undoes them; nil if no mirror
    /// brought any.
    fileprivate func origin(of steps: Int, since sequence: Int, _ domain: AddressedDomain) -> String? {
        let changes = History(of: domain.file, on: system)?.changes(since: sequence, places.policy.history) ?? []
        let brought = changes.filter { $0.author.reason == .mirrored }
        guard !brought.isEmpty else { return nil }
        let hosts = brought.reduce(into: [String]()) { hosts, version in
            guard let host = version.author.host, !hosts.contains(exactly: host) else { return }
            hosts.append(host)
        }
        let whose = hosts.isEmpty ? "another host" : abridged(hosts)
        let which = steps == 1 ? "its last change" : "one of its last \(steps) changes"
        return "\(domain.label.onOneLine): \(which) came from \(whose), through a mirror; "
            + "\(Option.mirrored.name) undoes it on all hosts"
    }
}

extension History {
    /// Returns the versions that an undo to a version reverts, oldest first.
    fileprivate func changes(since sequence: Int, _ policy: HistoryPolicy) -> [KeptVersion] {
        undoChain.filter { version in
            // A large version is the replaced file, and names the author of the next one.
            let isLarge = version.size > policy.mostCopiedBytes
            return version.sequence > sequence || isLarge && version.sequence == sequence
        }
    }

    /// Returns the words for the changes that an undo to a version reverts, with the entries that change.
    fileprivate func undone(
        _ steps: Int, to former: (state: DomainState, sequence: Int), from present: DomainState,
        _ policy: HistoryPolicy
    ) -> String {
        let changes = changes(since: former.sequence, policy)
        let entries = Differences(
            from: present.values.withoutHidden, to: former.state.values.withoutHidden
        ).entries.map(\.label)
        let what = entries.isEmpty ? "" : " of \(abridged(entries, most: 3))"
        let isRecorded = changes.last.map {
            $0.size > policy.mostCopiedBytes || state(of: $0, over: present) == present
        }
        let last = isRecorded ?? false ? [] : ["another program"]
        guard steps > 1 else { return "undid a change\(what) by \(last.first ?? changes.last?.author.words ?? "")" }
        let names = (changes.map(\.author.program) + last).reversed().reduce(into: [String]()) { names, name in
            if !names.contains(exactly: name) { names.append(name) }
        }
        return "undid \(steps) changes\(what) by \(abridged(names))"
    }

    /// Returns the state before the last changes, and its version; nil if fewer changes are kept.
    fileprivate func earlierState(
        _ steps: Int, from present: DomainState, _ domain: AddressedDomain, isWriting: Bool = true
    ) throws -> (state: DomainState, sequence: Int)? {
        do throws(DamagedVersion) {
            return try back(steps, from: present)
        } catch {
            throw failure(ofVersion: error.sequence, of: domain, isWriting: isWriting)
        }
    }
}

/// The undo of the latest change of a domain in all files that it changed: in all of them, or with `--partial` where
/// that is possible.
private struct TransactionUndo: Sendable {
    private let access: StoreAccess
    private let domain: AddressedDomain
    private let transaction: String

    init(of domain: AddressedDomain, _ access: StoreAccess) throws {
        (self.domain, self.access) = (domain, access)
        guard let newest = try access.history(of: domain).undoChain.last else {
            guard try domain.file.status(on: access.system) != nil else {
                throw try access.failure(ofMissing: nil, in: domain)
            }
            throw CommandFailure(
                .notFound, "\(domain.label.onOneLine): no earlier version is kept; nothing was changed")
        }
        transaction = newest.transaction
    }

    /// Returns the other domains that the transaction changed, if its versions have recorded them.
    func others() throws -> [String] {
        try (access.history(of: domain).participants(of: transaction) ?? []).filter { $0 != domain.file.path }
            .compactMap { try access.domain(at: $0, beside: domain)?.label.onOneLine }
    }

    func carryOut(_ invocation: Invocation) throws {
        let isPartial = invocation.has(.partial)
        var (domains, obstacles) = try participants()
        domains = domains.filter { domain in
            guard let obstacle = obstacle(to: domain, invocation) else { return true }
            obstacles.append(obstacle)
            return false
        }
        if !obstacles.isEmpty, !isPartial || domains.isEmpty {
            throw Self.refusal(obstacles, couldBePartial: !domains.isEmpty)
        }
        while true {
            do {
                try access.undo(1, of: domains, invocation) { domain, present in
                    if let obstacle = try obstacle(to: domain, at: present, invocation) {
                        throw Self.refusal([obstacle])
                    }
                }
                break
            } catch let failure as StoreFailure where isPartial {
                // The present contents of this domain cannot be kept, so they are not replaced.
                guard case .notKept(let folder) = failure.problem, domains.count > 1,
                    let index = domains.firstIndex(where: { $0.file.history?.description == folder })
                else { throw failure }
                domains.remove(at: index)
                obstacles.append(CommandFailure(failure.status, failure.description))
            }
        }
        for line in obstacles.flatMap(\.lines) { access.context.note("not undone: \(line)") }
    }

    private static func refusal(_ obstacles: [CommandFailure], couldBePartial: Bool = false) -> CommandFailure {
        var lines = obstacles.flatMap(\.lines)
        let hint = couldBePartial ? " (\(Option.partial.name) undoes the change in the other domains)" : ""
        if lines.count == 1 {
            lines[0] += "; nothing was changed\(hint)"
        } else {
            lines.append("nothing was changed\(hint)")
        }
        return CommandFailure(obstacles.first?.status ?? .different, lines, classic: lines)
    }

    /// Returns the domains that the transaction changed, and the reasons others are unknown.
    private func participants() throws -> ([AddressedDomain], [CommandFailure]) {
        let history = try access.history(of: domain)
        if let paths = try history.participants(of: transaction) {
            let others = try paths.filter { $0 != domain.file.path }.compactMap {
                try access.domain(at: $0, beside: domain)
            }
            return ([domain] + others, [])
        }
        guard domain.name != nil, let folder = access.places.folder(of: domain.layer) else { return ([domain], []) }
        // An earlier version has kept no list, so every history is searched.
        var (found, unknown) = ([domain], [CommandFailure]())
        for (name, host) in try folder.domainsWithHistory(in: access.system.fileSystem) {
            let other = try access.domain(name, in: domain.layer.ofFiles(on: host), on: host)
            guard other.file.path != domain.file.path else { continue }
            do {
                guard let history = History(of: other.file, on: access.system),
                    try history.listed().contains(where: { $0.transaction == transaction })
                else { continue }
                found.append(other)
            } catch {
                unknown.append(CommandFailure(.systemFailed, "\(other.label.onOneLine): \(error)"))
            }
        }
        return (found, unknown)
    }

    /// Returns the reason the change cannot be undone in a domain as it is now, or nil if it can be.
    private func obstacle(to domain: AddressedDomain, _ invocation: Invocation) -> CommandFailure? {
        do {
            return try obstacle(to: domain, at: DomainState(domain.file.contents(on: access.system)), invocation)
        } catch let failure as StoreFailure where failure.goodVersion != nil {
            let lines = access.lines(of: failure)
            return CommandFailure(failure.status, lines, classic: lines)
        } catch {
            let (status, lines) = Prefs.explanation(of: error)
            return CommandFailure(status, lines, classic: lines)
        }
    }

    /// Returns the reason the change cannot be undone in a domain with this state, or nil if it can be.
    private func obstacle(
        to domain: AddressedDomain, at present: DomainState, _ invocation: Invocation
    ) throws -> CommandFailure? {
        let label = domain.label.onOneLine
        let history = try access.history(of: domain)
        let chain = history.undoChain
        let isNamed = domain.file.path == self.domain.file.path
        guard let newest = chain.last(where: { !history.isTruncated($0) }),
            chain.contains(where: { $0.transaction == transaction })
        else {
            return CommandFailure(.notFound, "\(label): no version of this change is kept in \(history.folder)")
        }
        // For a large domain, the version is the replaced file.
        let isLarge = newest.size > access.places.policy.history.mostCopiedBytes
        let state = history.state(of: newest, over: present)
        guard newest.transaction == transaction, isLarge || state == nil || state == present else {
            return CommandFailure(
                .different,
                isNamed
                    ? "\(label): its latest change is not in its history, since another program made it or it could not be kept"
                    : "\(label): changed since the change of \(self.domain.word)".onOneLine)
        }
        guard let former = try history.earlierState(1, from: present, domain, isWriting: false) else {
            return CommandFailure(.notFound, "\(label): the version before this change is not kept")
        }
        if !invocation.has(.mirrored), let origin = access.origin(of: 1, since: former.sequence, domain) {
            return CommandFailure(.different, origin)
        }
        guard !invocation.has(.force) else { return nil }
        let forced = try access.forcedKeys(of: domain)
        let values = former.state.values
        let isAllForced = (Array(values.keys) + present.values.keys)
            .allSatisfy { values[$0] == present.values[$0] || forced.contains(exactly: $0) }
        guard values != present.values, isAllForced else { return nil }
        return CommandFailure(.forced, "\(label): the administrator forces all values that would change")
    }
}

extension StoreAccess {
    /// Returns the domain of a file that was changed together with a domain, or nil for the record of applied files,
    /// which is no domain.
    fileprivate func domain(at path: FilePath, beside domain: AddressedDomain) throws -> AddressedDomain? {
        let folder = places.folder(of: domain.layer) ?? places.user
        if let (name, host) = folder.address(of: path) {
            return try self.domain(name, in: domain.layer.ofFiles(on: host), on: host)
        }
        guard path != folder.recordOfApplied.path else { return nil }
        for name in try places.user.adoptedDomains(on: system)
        where try places.adoptedFile(of: name)?.path == path {
            return try self.domain(name, in: .user)
        }
        return try self.domain(path.description)
    }
}

extension Layer {
    /// Returns the layer of the files in the same folder that are for a host, or for all hosts if it is nil.
    func ofFiles(on host: String?) -> Layer { host != nil ? .userHost : isOfUser ? .user : self }
}
