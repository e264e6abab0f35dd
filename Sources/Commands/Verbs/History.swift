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
            if keepsFormat, state.values != draft.values {
                (state.format, state.isFolder) = (draft.format, draft.isFolder)
            }
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
        "history", .new, "list the earlier versions of a domain, and what each changed",
        details: [
            "Versions are listed newest first, each with its number for prefs restore and with its changes, which are abbreviated unless --full is given.",
            "--show N prints the values of version N instead, as read does.",
            "For a domain over 1 MiB, a version is the replaced file, listed with the time of the replacement and the program that made it.",
            "--forget removes the value of KEY from all versions in the user's layers, or without KEY all versions. The present value stays, also if undo or restore returns to one of these versions. Copies in mirrors and backups are not changed.",
        ],
        options: [.full, .shownVersion, .forgotten, .layer, .format(FormatName.ofValues), .from],
        forms: [[.domain, .anyKey]], statuses: [.notFound, .invalidValue, .damaged, .systemFailed, .lockTimeout]
    ) { invocation, context in
        let (access, addressed) = try StoreAccess.ofDomain(invocation, context)
        let key = try invocation.key
        if invocation.has(.forgotten) { return try access.forget(key, in: addressed, invocation) }
        guard key == nil else { throw CommandFailure(.usage, "history: KEY requires --forget") }
        var domain = addressed
        domain.file.inexactIntegers = .text
        if let word = invocation[.shownVersion] {
            let id = try number(word, "the number of a version")
            let state = try access.state(ofVersion: id, of: domain)
            guard state != .absent else {
                throw CommandFailure(.notFound, "\(domain.word.onOneLine): version \(id) is of a time without a file")
            }
            let root = state.rootKind.root(of: state.values.withoutHidden)
            try context.print(root, Rendering(invocation), masking: access.masking(domain))
            return .done
        }
        let history = try access.history(of: domain)
        let listing = HistoryListing(history)
        guard !listing.entries.isEmpty else {
            guard try access.values(domain) != nil else { throw try access.failure(ofMissing: nil, in: domain) }
            throw CommandFailure(.notFound, "\(domain.word.onOneLine): no earlier version is kept")
        }
        if invocation.format == nil {
            let present = try access.presentState(of: domain)
            let text = listing.text(
                present: present, newest: present.flatMap { history.newestState(over: $0) },
                isFull: invocation.has(.full), masking: access.masking(domain))
            try context.terminal.write(text, to: .output)
        } else {
            let value = listing.propertyList(domain: domain.word, masking: access.masking(domain))
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
        let domains = try isNamed ? [domain] : domain.name.map { try domainsOfUser($0) } ?? [domain]
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
        return status
    }

    /// Returns the paths of a value in the versions, also under its former keys.
    private func pathsInVersions(of key: KeyArgument, in domain: AddressedDomain) -> [EntryPath] {
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

/// The kept versions of a domain as text, newest first, each with what it changed.
///
///     2  2026-01-01T00:00:00Z  write  prefs[4711]  61 bytes
///         - theme: "light"
///         + theme: "dark"
struct HistoryListing {
    struct Entry {
        let version: KeptVersion
        /// The state; nil if the version cannot be read.
        let state: DomainState?
        /// The previous state; nil if unknown.
        let former: DomainState?
        /// The reason the version cannot be read; nil if it is damaged.
        let failure: SystemFailure?
    }

    /// The versions, newest first.
    let entries: [Entry]

    init(_ history: History) {
        var entries: [Entry] = []
        var former: DomainState?
        for version in history.versions where !history.isTruncated(version) {
            let isFirst = version.sequence == 1 && entries.isEmpty
            let state = history.state(of: version)
            let failure = state == nil ? history.failure(of: version) : nil
            entries.append(
                Entry(version: version, state: state, former: isFirst ? .absent : former, failure: failure))
            if let state { former = state }
        }
        self.entries = entries.reversed()
    }
}

// MARK: Text

extension HistoryListing {
    /// Returns the versions as text.
    ///
    /// - Parameters:
    ///   - present: The current state, which is listed first if it differs from the newest version; nil for a damaged
    ///     file, which has none.
    ///   - newest: The newest version, with the present values of what was removed from it.
    func text(
        present: DomainState?, newest: DomainState?, isFull: Bool, masking: Masking = .none
    ) -> String {
        var output = ""
        if let present, let newest, newest != present {
            output += "now  not kept: it is too large, or was written by plutil, PlistBuddy or another program\n"
            output += Self.indented(Self.changes(from: newest, to: present, masking), isFull)
        }
        for entry in entries { output += entry.heading + Self.indented(entry.changes(masking), isFull) }
        return output
    }

    fileprivate static func changes(
        from former: DomainState, to state: DomainState, _ masking: Masking
    ) -> [String] {
        let text = Differences(from: former.values.withoutHidden, to: state.values.withoutHidden).text(masking: masking)
        if !text.isEmpty { return text.split(separator: "\n").map(String.init) }
        switch (former.format, state.format) {
        case (_, nil): return ["(removed)"]
        case (nil, _?): return ["(created, without values)"]
        case (let old?, let new?) where old != new: return ["(converted from \(old.rawValue) to \(new.rawValue))"]
        default: return ["(no change)"]
        }
    }

    private static let mostLines = 10
    private static let mostCharacters = 160

    private static func indented(_ lines: [String], _ isFull: Bool) -> String {
        let shown = isFull || lines.count <= mostLines ? lines : Array(lines.prefix(mostLines - 1))
        var output = shown.map { "    " + (isFull ? $0 : shortened($0, to: mostCharacters)) + "\n" }.joined()
        if shown.count < lines.count { output += "    (and \(lines.count - shown.count) more lines)\n" }
        return output
    }
}

extension HistoryListing.Entry {
    /// The time and the reason of the change.
    var occasion: String {
        let reason = version.author.reason
        return "\(version.time)  \(reason.undoTarget.map { $0 == 0 ? "undo" : "undo to \($0)" } ?? reason.word)"
    }

    fileprivate var heading: String {
        let author = version.author
        let size = state == .absent ? "no file" : "\(version.size) bytes"
        return "\(version.sequence)  \(occasion)  \(author.program.onOneLine)[\(author.process)]  \(size)\n"
    }

    fileprivate func changes(_ masking: Masking) -> [String] {
        guard let state else { return [failure.map { "(cannot be read: \($0.code))" } ?? "(damaged)"] }
        let count = state.values.count
        guard let former else { return ["(\(counted(count, "key")); the previous version is not kept)"] }
        return HistoryListing.changes(from: former, to: state, masking)
    }
}

// MARK: Property list

extension HistoryListing {
    /// Returns the versions as a dictionary with `domain` and an array `versions`.
    func propertyList(domain: String, masking: Masking = .none) -> PropertyList {
        .dictionary(["domain": .string(domain), "versions": .array(entries.map { .dictionary($0.values(masking)) })])
    }
}

extension HistoryListing.Entry {
    fileprivate func values(_ masking: Masking) -> PropertyList.Dictionary {
        let author = version.author
        var values: PropertyList.Dictionary = [
            "id": .integer(PropertyList.Integer(version.sequence)),
            "time": .string(version.time.description),
            "reason": .string(author.reason.word), "program": .string(author.program),
            "process": .integer(PropertyList.Integer(Int(author.process))),
            "bytes": .integer(PropertyList.Integer(version.size)), "transaction": .string(version.transaction),
        ]
        if let target = author.reason.undoTarget { values["undoneTo"] = .integer(PropertyList.Integer(target)) }
        if let state {
            values["exists"] = .boolean(state != .absent)
            values["format"] = (state.format?.rawValue).map { .string($0) }
            values["changes"] = former.map { former in
                Differences(from: former.values.withoutHidden, to: state.values.withoutHidden).json(masking: masking)
            }
        }
        return values
    }
}
