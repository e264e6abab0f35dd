internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

extension Verb {
    package static let restore = Verb(
        "restore", .new, "restore a version of a domain",
        details: [
            "ID is the number that prefs history prints. The file keeps its current format, unless only the format differs or the file is damaged. A damaged file is set aside next to the new one. Values that the administrator forces are unchanged."
        ],
        options: [.layer, .force, .from], forms: [[.domain, Operand("ID", .version)]],
        statuses: [.notFound, .invalidValue, .forced, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let (access, domain) = try StoreAccess.ofDomain(invocation, context)
        let id = try number(invocation[operand: "ID"] ?? "", "the number of a version")
        let kept = try access.version(id, of: domain, isWriting: true)
        try access.restoreState([domain], .restore, invocation) { _, draft in
            var state = kept.history.state(of: kept.version, over: DomainState(draft)) ?? kept.state
            let keepsFormat = draft.exists && !draft.isDamaged && state.format != nil
            if keepsFormat, state.values != draft.values { state.form = draft.form }
            return state
        }
        return .done
    }

    /// Parses an integer of at least 1.
    static func number(_ word: String, _ meaning: String) throws -> Int {
        guard let number = Int(word), number > 0 else {
            throw CommandFailure(.usage, "\(ShellWord.quoted(word.onOneLine)) is not \(meaning)")
        }
        return number
    }
}

extension StoreAccess {
    /// Returns a version and the state that it has. Throws if the version is not kept or is damaged.
    ///
    /// - Parameter isWriting: Whether it is to be written, so that a failure says that nothing was changed.
    fileprivate func version(
        _ number: Int, of domain: AddressedDomain, isWriting: Bool = false
    ) throws -> (version: KeptVersion, state: DomainState, history: History) {
        let history = try history(of: domain)
        guard let version = history.versions.first(where: { $0.sequence == number }), !history.isTruncated(version)
        else {
            let listing = ShellWord.line(spelling(domain.word, in: domain.layer).words([Verb.history.name]))
            throw CommandFailure(
                .notFound,
                "\(domain.word.onOneLine): no version \(number) is kept; `\(listing.onOneLine)` lists those that are")
        }
        guard let state = history.state(of: version) else {
            throw history.failure(ofVersion: number, of: domain, isWriting: isWriting)
        }
        return (version, state, history)
    }

    /// Returns the state that a version has. Throws if the version is not kept or is damaged.
    ///
    /// - Parameter isWriting: Whether the state is to be written, so that a failure says that nothing was changed.
    func state(
        ofVersion number: Int, of domain: AddressedDomain, isWriting: Bool = false
    ) throws -> DomainState {
        try version(number, of: domain, isWriting: isWriting).state
    }
}

extension History {
    /// Returns the reason a version has no state.
    func failure(
        ofVersion sequence: Int, of domain: AddressedDomain, isWriting: Bool
    ) -> CommandFailure {
        let (word, outcome) = (domain.word.onOneLine, isWriting ? "; nothing was changed" : "")
        guard let failure = versions.first(where: { $0.sequence == sequence }).flatMap({ self.failure(of: $0) }) else {
            return CommandFailure(.damaged, "\(word): version \(sequence) is damaged\(outcome)")
        }
        return CommandFailure(
            .systemFailed, "\(word): version \(sequence) cannot be read: \(failure.code)\(outcome)")
    }
}

extension Verb {
    package static let history = Verb(
        "history", .new, "list the earlier versions of a domain or of all, and what each changed",
        details: [
            "Versions are listed newest first, each with its number for prefs restore and with its changes, which are abbreviated unless --full is given. With KEY, only the changes of that key or entry are listed. Without DOMAIN, the versions of all domains of the user are listed.",
            "--show N prints the values of version N instead, as read does.",
            "For a domain over 1 MiB, a version is the replaced file, listed with the time of the replacement and the program that made it.",
            "--forget removes the value of KEY from all versions in the user's layers, or without KEY all versions. The present value stays, also if undo or restore returns to one of these versions. Copies in mirrors and backups are not changed.",
            "A terminal shows how long ago a change of the last week was made; with --full, or in a pipe, each change has its time.",
        ],
        options: [
            .forgotten, .full, .mostVersions, .shownVersion, .sinceTime, .layer, .format(FormatName.ofValues), .from,
        ],
        forms: [[.anyDomain, .anyKey]], statuses: [.notFound, .invalidValue, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let key = try invocation.key
        var request = try HistoryRequest(invocation, context)
        guard invocation[operand: Operand.domain.name] != nil else {
            for option in [Option.forgotten, .shownVersion, .from] where invocation.has(option) {
                throw CommandFailure(.usage, "history: \(option.name) requires DOMAIN")
            }
            return try StoreAccess(invocation, context).printHistoryOfAll(request, invocation)
        }
        let (access, addressed) = try StoreAccess.ofDomain(invocation, context)
        if invocation.has(.forgotten) { return try access.forget(key, in: addressed, invocation) }
        var domain = addressed
        domain.file.inexactIntegers = .text
        if let word = invocation[.shownVersion] {
            guard key == nil, request.isEverything, !invocation.has(.full) else {
                throw CommandFailure(.usage, "history: \(Option.shownVersion.name) prints a whole version")
            }
            let id = try number(word, "the number of a version")
            let state = try access.state(ofVersion: id, of: domain)
            guard state != .absent else {
                throw CommandFailure(.notFound, "\(domain.word.onOneLine): version \(id) is of a time without a file")
            }
            let root = state.rootKind.root(of: state.values.withoutHidden)
            try context.print(root, Rendering(invocation), masking: access.masking(domain))
            return .done
        }
        request.paths = key.map { access.pathsInVersions(of: $0, in: domain) }
        let history = try access.history(of: domain)
        let whole = HistoryListing(history)
        guard !whole.entries.isEmpty else {
            guard try access.values(domain) != nil else { throw try access.failure(ofMissing: nil, in: domain) }
            throw CommandFailure(.notFound, "\(domain.word.onOneLine): no earlier version is kept")
        }
        let listing = whole.reduced(to: request)
        if invocation.format == nil {
            let present = try access.presentState(of: domain)
            let text = listing.text(
                present: present, newest: present.flatMap { history.newestState(over: $0) },
                request, masking: access.masking(domain))
            guard !text.parts.isEmpty else { throw request.failure(in: domain.word, key) }
            try context.print(text)
        } else {
            guard !listing.entries.isEmpty else { throw request.failure(in: domain.word, key) }
            let value = listing.propertyList(domain: domain.word, request, masking: access.masking(domain))
            try context.print(value, Rendering(invocation))
        }
        return .done
    }
}

extension History {
    /// The state in the newest version, with the present values of what was removed from it.
    fileprivate func newestState(over present: DomainState) -> DomainState? {
        versions.last { !isTruncated($0) }.flatMap { state(of: $0, over: present) }
    }
}

extension StoreAccess {
    /// Returns the present state of a domain; nil for a damaged file that no version replaces, which is reported.
    fileprivate func presentState(of domain: AddressedDomain) throws -> DomainState? {
        do {
            let contents = try domain.file.contents(on: system)
            warn(contents.recovery)
            return DomainState(contents)
        } catch {
            guard error.goodVersion != nil else { throw error }
            for line in lines(of: error) { context.note(line) }
            return nil
        }
    }
}

extension Option {
    package static let sinceTime = Option(
        "--since", Argument("TIME", .word), "list changes since a date, or since so long ago: 90m, 2h, 7d")
    package static let mostVersions = Option("--limit", Argument("N", .number), "list at most N versions")
    package static let shownVersion = Option("--show", Argument("N", .version), "print the values of version N")
    package static let full = Option("--full", "print all changes, without shortening")
    package static let forgotten = Option("--forget", "remove the value of KEY from all versions, or all versions")
}

extension StoreAccess {
    /// Removes a value from the versions of a domain in all layers of the user, or in the one that the command names.
    /// Reports what it removed and which copies it cannot remove.
    fileprivate func forget(
        _ key: KeyArgument?, in domain: AddressedDomain, _ invocation: Invocation
    ) throws -> ExitStatus {
        if invocation.has(.full) || invocation[.shownVersion] != nil {
            throw CommandFailure(.usage, "history: only one of --forget, --full and --show can be given")
        }
        let isNamed = invocation[.layer] != nil || invocation[.host] != nil || invocation.has(.currentHost)
        let domains =
            try isNamed ? [domain] : domain.name.map { try domainsOfUser($0) + domainsOfOtherHosts($0) } ?? [domain]
        let word = domain.word.onOneLine
        let what = key?.spelling.onOneLine
        var (count, status) = (0, ExitStatus.done)
        for domain in domains {
            let policy = places.policy
            let result = try DomainWriter(system, context.author(of: reason), by: policy)
                .forget(key.map { pathsInVersions(of: $0, in: domain) }, in: domain.file)
            count += result.count + result.damaged.count
            for version in result.damaged {
                context.note("\(word): version \(version) in layer \(domain.layer) was damaged, and is removed")
            }
            for (version, failure) in result.failures {
                context.note("\(word): version \(version) in layer \(domain.layer) is unchanged: \(failure)")
                status = .systemFailed
            }
        }
        guard count > 0 || status != .done else {
            throw CommandFailure(.notFound, "\(word): no version \(what.map { "has \($0)" } ?? "is kept")")
        }
        let versions = counted(count, "version")
        if count > 0 {
            context.note("\(word): \(what.map { "removed \($0) from \(versions)" } ?? "removed \(versions)")")
        }
        try noteCopies(of: key, in: domains)
        // The store must know what is sensitive as long as there is a value.
        if let name = domain.name, key == nil, !isNamed, status == .done,
            try !exists(domain), try domains.allSatisfy({ try $0.file.status(on: system) == nil })
        {
            try schemas.remembered(of: name)?.forget()
        }
        return status
    }

    /// Returns the paths of a value in the versions, also under its former keys.
    fileprivate func pathsInVersions(of key: KeyArgument, in domain: AddressedDomain) -> [EntryPath] {
        let stored = installedSchema(domain)?.readable?.storedPaths(of: key.key) ?? []
        return [key.path]
            + stored.map { EntryPath($0.components + key.rest.components) }.filter { $0 != key.path }
    }

    /// Reports the copies of forgotten values that remain.
    private func noteCopies(of key: KeyArgument?, in domains: [AddressedDomain]) throws {
        for domain in domains {
            guard let key, (try? domain.file.contents(on: system))?.values[key] != nil else { continue }
            let words = spelling(domain.word, in: domain.layer).words(
                [Verb.delete.name], [key.argument ?? key.spelling])
            context.note(
                "\(domain.word) still has a value in layer \(domain.layer), which later versions keep: \(ShellWord.line(words))"
                    .onOneLine)
        }
        for domain in domains {
            for path in domain.file.damagedCopies(on: system) {
                let command = ShellWord.line(["rm", "-f", path.description])
                context.note("\(path) may have the value; to remove it: \(command)".onOneLine)
            }
        }
        let mirrors = (try? MirrorPlaces(places, on: system))?.joined ?? []
        for mirror in mirrors
        where domains.contains(where: { $0.name.map(mirror.configuration.selection.includes) ?? false }) {
            let directory = mirror.configuration.directory.description.onOneLine
            context.note("the mirror in \(directory), and the hosts that use it, may have copies, which are unchanged")
        }
        context.note("backups, and copies that programs have made, are unchanged")
    }
}

extension PropertyList.Dictionary {
    fileprivate subscript(key: KeyArgument) -> PropertyList? { PropertyList.dictionary(self)[key.path] }
}
