package import MirrorEngine
internal import Platform
internal import Preferences
internal import PropertyLists

// One exchange with the directory.
extension MirrorSession {
    /// The direction of an exchange.
    package enum Direction: Hashable, Sendable {
        case both
        /// Only local changes are published.
        case push
        /// Only changes of other hosts are joined.
        case pull
    }

    /// Whether there is nothing to do, determined without loading the state. The caller must not hold a lock.
    package var isAtRest: Bool {
        guard let (summary, time) = journal.datedSummary, !isCheckDue, case .marked([id]) = look,
            let all = try? directory.listing(own: summary.writer, chosen: chosenID),
            let listing = withoutIgnored(all, summary.knows)
        else {
            return false
        }
        let known = summary.files.keys
        if haveSchemasChanged(since: time) { return false }
        guard (try? preferences.checkRecords()) != nil else { return false }
        let taking = preferences.domains().filter(configuration.selection.includes).map { Path(domain: $0.text) }
        guard Set(taking).isSubset(of: known) else { return false }
        var current: [Name: MirrorEngine.FileIdentity?] = [:]
        for path in known {
            let presence = preferences.presence(of: path.domain)
            guard isIncluded(path.domain), presence != .unknown else { return false }
            current[Name(path.domain)] = .some(presence.identity)
        }
        return !summary.needsState(
            listing, files: current, at: system.clock.wall.milliseconds, limits: EngineLimits())
    }

    func haveSchemasChanged(since time: Timestamp) -> Bool {
        schemas.places.lastChange(on: system).map { $0 >= time } ?? false
    }

    /// This mirror's number, if it was selected among several in the directory.
    var chosenID: MirrorID? { configuration.isChosen ? id : nil }

    private var look: Directory { directory.look(for: id, isChosen: configuration.isChosen) }

    /// Captures local changes, joins those of other hosts, and publishes. Requires the lock of the state.
    package mutating func exchange(_ direction: Direction = .both) throws(MirrorFailure) {
        try preferences.checkRecords()
        let marker = try MirrorFailure.wrapping { try RestoreMarker(of: id, in: places) }
        try handle(.foundMark(marker?.mark))
        unlock()
        try handle(.directory(look))
        var listing = try list()
        let mustPullFirst = listing.map { engine.status.shouldPullFirst($0) || !configuration.isSeeded } ?? false
        if mustPullFirst, let listing { try handle(.listed(listing)) }
        schemas.reload()
        try selectDomains()
        // A withdrawal changes our own folder.
        if try withdrawLocalKeys() { listing = try list() }
        try capture()
        if direction != .push, let listing {
            try handle(.listed(listing))
            try selectDomains()
            try capture()
        }
        if listing != nil { try recordSeeding() }
        if direction != .pull { try publish() }
        try flush()
        try handle(.exchangeEnded)
        try flush()
        try restartLongJournal()
        if direction == .both || !troubles.isEmpty { journal.store(troubles: troubles) }
    }

    /// Returns the files in view, or nil if the directory must not be read or became unavailable.
    private mutating func list() throws(MirrorFailure) -> Listing? {
        guard directoryStatus == .present else { return nil }
        do throws(SystemFailure) {
            let listing = try directory.listing(own: writer, chosen: chosenID, faulty: engine.status.faulty.keys)
            recordClosedFolders(of: listing)
            return screened(listing)
        } catch {
            addTrouble(error.description)
            try handle(.directory(.unavailable))
            return nil
        }
    }

    /// Records the folders that cannot be listed.
    mutating func recordClosedFolders(of listing: Listing) {
        closedFolders = listing.closed
        for writer in closedFolders.sorted() {
            addTrouble("\(directory.folder(of: writer)): the folder of \(host(writer)) cannot be read")
        }
    }

    /// Withdraws the values that this host published before a schema declared that they stay here. Returns whether
    /// there were any.
    private mutating func withdrawLocalKeys() throws(MirrorFailure) -> Bool {
        let domains = domainsToWithdraw
        for domain in domains { try handle(.command(.withdraw(domain: domain))) }
        return !domains.isEmpty
    }

    /// The domains in which this host published values that a schema has since declared to stay here.
    var domainsToWithdraw: [String] {
        domains.filter { domain in
            (try? DomainName(domain)).map { schemas.secrecy(of: $0).keepsValues } ?? false
                && engine.status.published(in: domain).contains { isDeclaredLocal($0.path) }
        }
    }

    private mutating func publish() throws(MirrorFailure) {
        try handle(.publish)
        if directoryStatus == .present { directory.sweep(writer, at: system.clock.wall) }
        try publishAfterExpulsion()
    }

    // MARK: Mirrored domains

    private func isIncluded(_ domain: String) -> Bool {
        leftOut[Name(domain)] == nil && (try? DomainName(domain)).map(configuration.selection.includes) ?? false
    }

    /// Records that the initial capture is complete. From now on a new domain is a change.
    private mutating func recordSeeding() throws(MirrorFailure) {
        let isComplete = engine.status.mirroredFiles.values.allSatisfy { $0.isCaptured || $0.held != nil }
        guard !configuration.isSeeded, isComplete, !hasUnfinished else { return }
        try flush()
        // The files of domains that are added later are not those of a lost state.
        try amend { ($0.isSeeded, $0.seed) = (true, $0.seed == .found ? .merge : $0.seed) }
    }

    /// The domains to be mirrored: those with a file here, and those that other hosts have written.
    var selectedDomains: [String] {
        let here = preferences.domains().map(\.text)
        return (here + mergeState.domains).filter(isIncluded)
    }

    /// Returns the events that start to mirror domains. After the initial capture, a domain that appears had no values
    /// before, so everything in its file is a change. All are added at once, because a transaction may span several.
    func selecting(_ domains: Set<Path>) -> [Event] {
        let new = domains.filter { engine.status.trackedFile(of: $0)?.isMirrored != true }.sorted()
        guard !new.isEmpty else { return [] }
        let nothing = new.filter { engine.status.trackedFile(of: $0) == nil && configuration.isSeeded }.map { domain in
            Observation(
                domain: domain.domain, identity: nil, hash: nil, content: .missing,
                modified: system.clock.wall.milliseconds, mark: .deleted)
        }
        return new.map { .command(.add(domain: $0.domain)) } + (nothing.isEmpty ? [] : [.observed(nothing)])
    }

    /// Returns the domains in a file that are mirrored or will be.
    func domains(in pack: Pack) -> Set<Path> {
        let domains =
            switch pack.content {
            case .log(let log): Set(log.keys.map { $0.prefix(components: 1) })
            case .base(let base): Set(base.state.live.domains.map { Path(domain: $0) })
            case .note: Set<Path>()
            }
        return domains.filter { isIncluded($0.domain) }
    }

    private mutating func selectDomains() throws(MirrorFailure) {
        findLeftOut()
        for event in selecting(Set(selectedDomains.map { Path(domain: $0) })) { try handle(event) }
        unlock()
        for path in engine.status.mirroredFiles.keys where !isIncluded(path.domain) {
            try handle(.command(.remove(domain: path.domain)))
        }
    }
}

extension MirrorSession {
    /// Exchanges until no file must be read again, and writes a summary for the next program.
    package mutating func sync(
        _ direction: Direction = .both, wait: (Duration) -> Void
    ) throws(MirrorFailure) {
        try begin()
        defer { end() }
        try exchangeUntilFinished(direction, wait)
        storeSummary()
    }

    /// Exchanges until no file must be read again.
    private mutating func exchangeUntilFinished(
        _ direction: Direction, _ wait: (Duration) -> Void
    ) throws(MirrorFailure) {
        try exchange(direction)
        for _ in 0..<Self.mostExchanges where hasUnfinished {
            hasUnfinished = false
            wait(PreferenceFiles.quiet)
            try exchange(direction)
        }
    }

    private static let mostExchanges = 15

    /// Whether the directory is available and has no folder of a writer.
    package func hasNoFolder(of writer: WriterID) -> Bool {
        directoryStatus == .present && !engine.status.writersInView.contains(writer)
    }

    /// Sends a command of a user to the engine, without an exchange.
    package mutating func submit(_ command: MirrorEngine.Command) throws(MirrorFailure) {
        try begin()
        defer { end() }
        try send(.command(command))
    }

    /// Rebuilds the state from all valid files in view, with an exchange before and after it.
    package mutating func rebuild(
        progress: (Int, Int) -> Void, wait: (Duration) -> Void
    ) throws(MirrorFailure) {
        // The files are read after the exchange, which removes long values that the state does not have.
        try carryOut(wait: wait) { session throws(MirrorFailure) in .rebuild(try session.packsInView(progress)) }
    }

    /// Carries out a command of a user, with an exchange before and after it.
    package mutating func carryOut(_ command: MirrorEngine.Command, wait: (Duration) -> Void) throws(MirrorFailure) {
        try carryOut(wait: wait) { _ in command }
    }

    private mutating func carryOut(
        wait: (Duration) -> Void, _ makeCommand: (Self) throws(MirrorFailure) -> MirrorEngine.Command
    ) throws(MirrorFailure) {
        try begin()
        defer { end() }
        try exchange()
        let command = try makeCommand(self)
        try send(.command(command))
        unlock()
        try exchangeUntilFinished(.both, wait)
        // A host whose folder a user has removed is not reported as missing.
        if case .purge(let writer) = command, hasNoFolder(of: writer) { try send(.command(.retire(writer))) }
        storeSummary()
    }
}
