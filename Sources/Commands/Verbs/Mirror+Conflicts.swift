internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

// Listing, accepting and restoring conflicts.
extension MirrorVerbs {
    static let conflicts = Verb(
        "conflicts", .new, "list, show, accept or restore conflicts",
        details: [
            "A conflict is a value that was replaced by a host that had not seen it. All hosts keep the lost value and list the conflict under the same name, until a user on any host accepts or restores it.",
            "Without an action, the open conflicts are listed, of one domain if it is named. `show` prints conflicts, `accept` keeps the values in force, and `restore` writes a lost value again, on all hosts. They take the names from the list, or as many of the first digits as are unique; `show` and `accept` also take domains or --all.",
            "`restore` exchanges nothing before it writes. It refuses with status 9 if the value has changed since the command began, or if the file here does not show the value in force yet; --force writes anyway.",
            "A resolved conflict is kept for 90 days, and `show` and `restore` take its name too.",
            "With --watch, the list is followed by each conflict that appears or is resolved, with its state, until the command is interrupted. Nothing is exchanged; `prefs mirror watch` does that.",
        ],
        options: [.all, .allDomains, .watch, .force, .format([.text, .json]), .mirror],
        forms: [[], [.domain], [ConflictAction.operand, Operand("NAME|DOMAIN", .domain, .oneOrMore)]],
        statuses: [.invalidValue, .forced, .different] + outcomes
    ) { invocation, context in
        var resolution = try ConflictCommand(invocation, context)
        // A single word can be either a domain or an action without operands.
        let word = invocation[operand: ConflictAction.operand.name] ?? invocation[operand: "DOMAIN"]
        guard let action = word.flatMap(ConflictAction.init) else {
            return invocation.has(.watch) ? try resolution.watch(word) : try resolution.list(word)
        }
        guard !invocation.has(.watch) else {
            throw CommandFailure(.usage, "\(action.rawValue): --watch is for the list of conflicts")
        }
        return try resolution.carryOut(action, invocation.words("NAME|DOMAIN"))
    }
}

private enum ConflictAction: String, CaseIterable {
    case show, accept, restore

    static let operand: Operand = {
        let words = allCases.map(\.rawValue)
        return Operand(words.joined(separator: "|"), .choice(.words(words)))
    }()
}

extension Option {
    fileprivate static let all = Option(
        "--all", "list resolved conflicts too; with an action, take all open ones")
    fileprivate static let watch = Option(
        "--watch", "list conflicts that appear or are resolved, until interrupted")
    fileprivate static let allDomains = Option("--all-domains", "also of domains that are not mirrored on this host")
}

/// A call of `mirror conflicts`.
private struct ConflictCommand {
    let invocation: Invocation
    let access: MirrorAccess
    /// The state of each mirror when the command began, or as of the last change that it follows.
    private var sessions: [MirrorSession]
    private var names: ConflictNames

    init(_ invocation: Invocation, _ context: CommandContext) throws {
        self.invocation = invocation
        access = try MirrorAccess(invocation, context)
        var sessions = try access.all()
        for index in sessions.indices { try sessions[index].read() }
        self.sessions = sessions
        names = ConflictNames(of: sessions)
    }

    private var takesAll: Bool { invocation.has(.all) }

    /// The open conflicts that the command lists, of one domain if it is named.
    private func open(in domain: String? = nil) -> [ListedConflict] {
        sessions.flatMap { session in
            (invocation.has(.allDomains) ? session.mergeState.conflicts : session.openConflicts)
                .map { ListedConflict($0, session) }
        }
        .filter { conflict in domain.map { conflict.place.domain.hasSameBytes(as: $0) } ?? true }
    }

    // MARK: Listing

    func list(_ word: String?) throws -> ExitStatus {
        if let word, !word.contains("."), !named(word).isEmpty {
            throw CommandFailure(.usage, "\(word): specify what to do with it: show, accept or restore")
        }
        let domain = try word.map { try DomainName(word: $0).text }
        let open = open(in: domain)
        let resolved =
            takesAll
            ? resolved.filter { conflict in
                domain.map { conflict.place.domain.hasSameBytes(as: $0) } ?? true
            } : []
        if let domain, open.isEmpty, resolved.isEmpty,
            !sessions.contains(where: { $0.domains.contains(exactly: domain) })
        {
            throw MirrorFailure(.unknown("\(domain.onOneLine): not a mirrored domain"))
        }
        for conflict in open + resolved { try say(conflict, withState: takesAll || invocation.has(.watch)) }
        return open.isEmpty ? .done : .conflicts
    }

    /// Lists conflicts, and then each that appears or is resolved, until the command is interrupted.
    mutating func watch(_ word: String?) throws -> ExitStatus {
        let bell = ResettableEvent()
        let watches = sessions.map { $0.watchState { bell.ring() } }
        defer { for watch in watches { watch.cancel() } }
        // A watch reports no earlier changes.
        try readChanges(bell)
        _ = try list(word)
        let domain = try word.map { try DomainName(word: $0).text }
        var former = open(in: domain)
        try access.context.follow(bell) {
            try readChanges(bell)
            let now = open(in: domain)
            let (old, new) = (Set(former.map(\.id)), Set(now.map(\.id)))
            for conflict in now where !old.contains(conflict.id) { try say(conflict, withState: true) }
            for conflict in former where !new.contains(conflict.id) {
                guard let open = conflict.open,
                    let session = sessions.first(where: { $0.id == conflict.session.id })
                else { continue }
                let closed = ListedConflict(closed: open, at: access.context.clock.wall, session)
                try say(closed, withState: true)
            }
            former = now
        }
        return .done
    }

    /// Reads what other programs have changed. A state that another program uses is read a second later.
    private mutating func readChanges(_ bell: ResettableEvent) throws {
        let clock = access.context.clock
        for index in sessions.indices {
            do throws(MirrorFailure) {
                try sessions[index].readChanges()
            } catch {
                guard error.problem == .busy else { throw error }
                _ = clock.wake(at: clock.now.advanced(by: .seconds(1))) { bell.ring() }
            }
        }
        names = ConflictNames(of: sessions)
    }

    private func say(_ conflict: ListedConflict, withState: Bool) throws {
        let masking = try access.masking(conflict.place.domain)
        let lines =
            invocation.format == .json
            ? [conflict.json(masking)] : conflict.lines(names, masking, withState: withState)
        for line in lines { try access.context.say(line) }
    }

    // MARK: Names

    private var resolved: [ListedConflict] {
        sessions.flatMap { session in session.resolvedConflicts.map { ListedConflict($0, session) } }
    }

    /// Returns the conflicts whose names start with a word: open ones of all domains, or else the latest of each name
    /// that is resolved.
    private func named(_ word: String) -> [ListedConflict] {
        let beginning = word.lowercased()
        let open = sessions.flatMap { session in session.mergeState.conflicts.map { ListedConflict($0, session) } }
        let found = open.filter { $0.name.hasPrefix(beginning) }
        guard found.isEmpty else { return found }
        let latest = resolved.filter { $0.name.hasPrefix(beginning) }
        return Dictionary(latest.map { ($0.name, $0) }) { $1 }.values.sorted { $0.name < $1.name }
    }

    /// Returns the conflicts that a word names: one by its name, or the open ones of a domain.
    private func conflicts(_ word: String) throws -> [ListedConflict] {
        let named = word.contains(".") ? [] : named(word)
        let inDomain = (try? DomainName(word: word)).map { open(in: $0.text) } ?? []
        if named.count + (inDomain.isEmpty ? 0 : 1) > 1 {
            let all = named.map { names.short($0.name) } + (inDomain.isEmpty ? [] : ["the domain \(word.onOneLine)"])
            throw CommandFailure(.usage, "\(word.onOneLine): not unique: \(abridged(all))")
        }
        if let conflict = named.first { return [conflict] }
        if !inDomain.isEmpty { return inDomain }
        let isDomain =
            (try? DomainName(word: word)).map { name in
                word.contains(".") || sessions.contains { $0.domains.contains(exactly: name.text) }
            } ?? false
        guard isDomain else { throw CommandFailure(.usage, "\(word.onOneLine): no conflict has this name") }
        throw MirrorFailure(.unknown("\(word.onOneLine): no open conflict in this domain"))
    }

    // MARK: Actions

    func carryOut(_ action: ConflictAction, _ words: [String]) throws -> ExitStatus {
        let isRestoration = action == .restore
        guard takesAll == words.isEmpty, !(takesAll && isRestoration) else {
            let which = isRestoration ? "a conflict by its name" : "conflicts by name or domain, or --all"
            throw CommandFailure(.usage, "\(action.rawValue): specify \(which)")
        }
        let found = try takesAll ? open() : words.flatMap { try conflicts($0) }
        switch action {
        case .show:
            for conflict in found { try say(conflict, withState: conflict.open == nil) }
            return .done
        case .accept: return try accept(found, words)
        case .restore:
            guard found.count == 1, let conflict = found.first, words.count == 1 else {
                throw CommandFailure(.usage, "restore: specify one conflict by its name")
            }
            return try restore(conflict)
        }
    }

    /// Accepts that values lost. A conflict that arrives in the exchange of this call is not accepted.
    private func accept(_ found: [ListedConflict], _ words: [String]) throws -> ExitStatus {
        let isListed = takesAll || words.contains { word in !found.contains { $0.name.hasPrefix(word.lowercased()) } }
        for conflict in found {
            if isListed { try say(conflict, withState: false) }
            if conflict.open == nil { access.note("\(names.short(conflict.name)): resolved already") }
        }
        var status = ExitStatus.done
        for var session in sessions {
            let open = found.filter { $0.session.id == session.id }.compactMap(\.open)
            if open.isEmpty { continue }
            try session.carryOut(.accept(open)) { access.wait($0) }
            status = max(status, try access.conclude(&session))
            let rest = session.mergeState.conflicts.filter { item in open.contains { $0.isSame(as: item) } }
            guard !rest.isEmpty else { continue }
            let all = abridged(rest.map { names.short($0.name(in: session.id)) })
            access.note("still open, because the mirror has changed meanwhile: \(all)")
            status = max(status, .conflicts)
        }
        return status
    }

    // MARK: Restoring

    private func restore(_ conflict: ListedConflict) throws -> ExitStatus {
        var session = conflict.session
        try ConflictResolution(of: conflict, access, isForced: invocation.has(.force))
            .carryOut(.restore, in: &session)
        try access.sync(&session)
        return try access.conclude(&session)
    }
}
