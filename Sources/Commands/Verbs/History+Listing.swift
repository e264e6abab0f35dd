internal import Platform
internal import Preferences
internal import PropertyLists
internal import Screens
internal import SettingsSchema

/// The versions that a command lists, the entries whose changes it lists, and how.
struct HistoryRequest {
    /// The time from which on versions are listed.
    var since: Timestamp?
    /// The largest number of versions.
    var limit: Int?
    /// The paths of one entry, the present one first; nil for all changes.
    var paths: [EntryPath]?
    /// Whether changes are not abbreviated.
    var isFull = false
    /// The time to which times are relative; nil to print each time itself.
    var now: Timestamp?

    init() {}

    init(_ invocation: Invocation, _ context: CommandContext) throws {
        let now = context.clock.wall
        since = try invocation[.sinceTime].map { word in
            if let duration = Duration(word: word), duration >= .zero { return now.advanced(by: .zero - duration) }
            guard let date = Date(word: word) else {
                throw CommandFailure(
                    .usage,
                    "\(Option.sinceTime.name): \(ShellWord.quoted(word.onOneLine)) is neither a duration such as 2h or 7d, nor a date"
                )
            }
            return Timestamp(date)
        }
        limit = try invocation[.mostVersions].map { try Verb.number($0, "a number of versions") }
        isFull = invocation.has(.full)
        self.now = context.terminal.isTerminal(.output) && !isFull ? now : nil
        guard invocation.has(.forgotten), !isEverything else { return }
        throw CommandFailure(.usage, "history: \(Option.forgotten.name) cannot be limited to some versions")
    }

    var isEverything: Bool { since == nil && limit == nil }

    fileprivate func includes(_ version: KeptVersion) -> Bool { since.map { version.time >= $0 } ?? true }

    /// Whether the entry has different values in two states.
    fileprivate func changes(from former: DomainState, to state: DomainState) -> Bool {
        let (old, new) = (PropertyList.dictionary(former.values), PropertyList.dictionary(state.values))
        return paths?.contains { old[$0] != new[$0] } ?? true
    }

    func failure(in domain: String, _ key: KeyArgument? = nil) -> CommandFailure {
        let what = key.map { " of \($0.spelling.onOneLine)" } ?? ""
        let time = since.map { " since \($0)" } ?? ""
        return CommandFailure(.notFound, "\(domain.onOneLine): no change\(what)\(time) is kept")
    }
}

extension HistoryListing {
    func reduced(to request: HistoryRequest) -> HistoryListing {
        var listing = self
        let entries = entries.filter { request.includes($0.version) && $0.changes(request) }
        listing.entries = request.limit.map { Array(entries.prefix($0)) } ?? entries
        return listing
    }
}

extension HistoryListing.Entry {
    /// Whether the version changed a selected entry, as far as is known.
    fileprivate func changes(_ request: HistoryRequest) -> Bool {
        state.map { request.changes(from: former ?? .absent, to: $0) } ?? true
    }
}

// MARK: All domains

extension StoreAccess {
    /// Prints the versions of all domains, newest first.
    func printHistoryOfAll(
        _ request: HistoryRequest, _ invocation: Invocation
    ) throws -> ExitStatus {
        try context.progress.during("reading histories") { try printVersionsOfAll(request, invocation) }
    }

    private func printVersionsOfAll(_ request: HistoryRequest, _ invocation: Invocation) throws -> ExitStatus {
        var (sources, status) = (
            [(domain: AddressedDomain, history: History, versions: [KeptVersion])](), ExitStatus.done
        )
        let domains = try domainsWithHistory()
        for (number, domain) in domains.enumerated() {
            context.progress.show(number, of: domains.count, "domains listed")
            guard let history = History(of: domain.file, on: system) else { continue }
            do {
                sources.append((domain, history, try history.listed()))
            } catch {
                context.note("\(domain.label.onOneLine): \(error)")
                status = .systemFailed
            }
        }
        var places = sources.indices.flatMap { source in
            sources[source].versions.indices.map {
                (source: source, index: $0, time: sources[source].versions[$0].time)
            }
        }
        places.sort { ($0.time, $1.source, $0.index) > ($1.time, $0.source, $1.index) }
        let isQuiet = invocation.format != nil || !context.terminal.isTerminal(.output)
        var (maskings, count, values) = ([Int: Masking](), 0, [PropertyList]())
        for (source, index, _) in places {
            if let limit = request.limit, count == limit { break }
            let (domain, history, versions) = sources[source]
            guard request.includes(versions[index]), !history.isTruncated(versions[index]) else { continue }
            count += 1
            // Printed versions show by themselves how far the work is.
            if isQuiet { context.progress.show(count, "versions read") }
            let entry = HistoryListing.Entry(versions, index, in: history)
            let masking = maskings[source] ?? masking(domain)
            maskings[source] = masking
            if invocation.format == nil {
                var text = StyledText("\(domain.label.onOneLine)  ")
                text.append(entry.text(request, masking))
                try context.print(text)
            } else {
                var entry = entry.values(request, masking)
                entry["domain"] = .string(domain.word)
                entry["host"] = domain.host.map { .string($0) }
                values.append(.dictionary(entry))
            }
        }
        guard count > 0 || status != .done else { throw request.failure(in: "all domains") }
        if invocation.format != nil {
            try context.print(.dictionary(["versions": .array(values)]), Rendering(invocation))
        }
        return status
    }

    /// The domains of the user that have a history or a file, or those of the layer that the command names.
    private func domainsWithHistory() throws -> [AddressedDomain] {
        guard let folder = places.folder(of: layer) else { return [] }
        // Completing a change keeps its versions.
        folder.file(of: .global).finishTransactions(on: system)
        let names = layer == .user ? (try? places.user.adoptedDomains(on: system)) ?? [] : []
        let adopted = try names.map { try domain($0) }
        let own = try folder.domainsWithHistory(in: system.fileSystem).compactMap { name, host -> AddressedDomain? in
            let isWanted =
                switch layer {
                case .userHost: host == self.host
                case .user: host == nil || requestedReading == nil
                default: host == nil
                }
            return isWanted ? try domain(name, in: host == nil ? layer : .userHost, on: host) : nil
        }
        return (own + adopted).sorted { $0.label.isBefore($1.label) }
    }
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
    fileprivate(set) var entries: [Entry]

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

extension HistoryListing.Entry {
    /// Reads one of the versions of a domain, and the one before it.
    fileprivate init(_ versions: [KeptVersion], _ index: Int, in history: History) {
        version = versions[index]
        state = history.state(of: version)
        failure = state == nil ? history.failure(of: version) : nil
        let earlier = versions[..<index].reversed().lazy.filter { !history.isTruncated($0) }
        former = earlier.compactMap { history.state(of: $0) }.first ?? (version.sequence == 1 ? .absent : nil)
    }
}

extension HistoryListing {
    /// The versions that changed an entry, newest first.
    func changes(of path: EntryPath) -> [Entry] {
        entries.filter { entry in
            guard let state = entry.state else { return false }
            guard let former = entry.former else { return true }
            return PropertyList.dictionary(former.values)[path] != PropertyList.dictionary(state.values)[path]
        }
    }
}

extension KeptVersion {
    /// When and by whom the version was written, as `3 min ago (14:15) by prefs (write)`.
    func occasion(at now: Timestamp) -> String {
        let when = time.occasion(at: now)
        let program = "\(author.program.onOneLine) (\(author.reason.word))"
        return when + " " + (author.host.map { "from \($0.onOneLine)" } ?? "by \(program)")
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
        present: DomainState?, newest: DomainState?, _ request: HistoryRequest, masking: Masking
    ) -> StyledText {
        var output = StyledText()
        if let present, let newest, newest != present, request.changes(from: newest, to: present) {
            output.append("now  not kept: it is too large, or was written by plutil, PlistBuddy or another program\n")
            output.append(request.indented(request.lines(from: newest, to: present, masking)))
        }
        for entry in entries { output.append(entry.text(request, masking)) }
        return output
    }
}

extension HistoryRequest {
    fileprivate func differences(from former: DomainState, to state: DomainState) -> Differences {
        let all = Differences(from: former.values.withoutHidden, to: state.values.withoutHidden)
        return paths.map(all.touching) ?? all
    }

    fileprivate func lines(from former: DomainState, to state: DomainState, _ masking: Masking) -> [StyledText] {
        let lines = differences(from: former, to: state).lines(masking: masking)
        guard lines.isEmpty else { return lines }
        let words =
            switch (former.format, state.format) {
            case (_, nil): "(removed)"
            case (nil, _?): "(created, without values)"
            case (let old?, let new?) where old != new: "(converted from \(old.rawValue) to \(new.rawValue))"
            default: "(no change)"
            }
        return [StyledText(words)]
    }

    private static let mostLines = 10
    private static let mostCharacters = 160

    fileprivate func indented(_ lines: [StyledText]) -> StyledText {
        let shown = isFull || lines.count <= Self.mostLines ? lines : Array(lines.prefix(Self.mostLines - 1))
        var output = StyledText()
        for line in shown {
            output.append("    ")
            output.append(isFull ? line : line.shortened(to: Self.mostCharacters))
            output.append("\n")
        }
        if shown.count < lines.count { output.append("    (and \(lines.count - shown.count) more lines)\n") }
        return output
    }
}

extension HistoryListing.Entry {
    /// The time and the reason of the change.
    var occasion: String { occasion(since: nil) }

    private func occasion(since now: Timestamp?) -> String {
        let reason = version.author.reason
        let word = reason.undoTarget.map { $0 == 0 ? "undo" : "undo to \($0)" } ?? reason.word
        return "\(now.flatMap { version.time.distance(before: $0) } ?? version.time.description)  \(word)"
    }

    /// The line of the version, and its changes.
    fileprivate func text(_ request: HistoryRequest, _ masking: Masking) -> StyledText {
        let size = state == .absent ? "no file" : "\(version.size) bytes"
        var text = StyledText(
            "\(version.sequence)  \(occasion(since: request.now))  \(version.author.words)  \(size)\n")
        text.append(request.indented(changes(request, masking)))
        return text
    }

    private func changes(_ request: HistoryRequest, _ masking: Masking) -> [StyledText] {
        guard let state else {
            return [StyledText(failure.map { "(cannot be read: \($0.code))" } ?? "(damaged)", .invalid)]
        }
        guard let former else {
            let count = request.differences(from: .absent, to: state).entries.count
            return [StyledText("(\(counted(count, "key")); the previous version is not kept)")]
        }
        return request.lines(from: former, to: state, masking)
    }
}

extension WriteAuthor {
    /// The program and the process.
    var words: String { "\(program.onOneLine)[\(process)]" }
}

// MARK: Property list

extension HistoryListing {
    /// Returns the versions as a dictionary with `domain` and an array `versions`.
    func propertyList(domain: String, _ request: HistoryRequest, masking: Masking) -> PropertyList {
        let versions = entries.map { PropertyList.dictionary($0.values(request, masking)) }
        return .dictionary(["domain": .string(domain), "versions": .array(versions)])
    }
}

extension HistoryListing.Entry {
    fileprivate func values(_ request: HistoryRequest, _ masking: Masking) -> PropertyList.Dictionary {
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
            values["changes"] = former.map { request.differences(from: $0, to: state).json(masking: masking) }
        }
        return values
    }
}
