package import MirrorEngine
internal import Platform
internal import Preferences

// One exchange with the directory.
extension MirrorSession {
    /// Which way an exchange goes.
    package enum Direction: Hashable, Sendable {
        case both
        /// Only what was changed here goes out.
        case push
        /// Only what others changed comes in.
        case pull
    }

    /// Whether there is nothing to do, told without loading the state. Only for one who holds no lock, and asks once.
    package var isAtRest: Bool {
        guard let head, !isCheckDue, case .marked([id]) = look,
            let listing = try? directory.listing(own: head.writer)
        else {
            return false
        }
        let known = head.files.keys
        let taking = preferences.domains().filter(configuration.selection.includes).map { Path(domain: $0.text) }
        guard Set(taking).isSubset(of: known) else { return false }
        var current: [String: MirrorEngine.FileIdentity?] = [:]
        for path in known {
            let presence = preferences.presence(of: path.domain)
            guard isIncluded(path.domain), presence != .unknown else { return false }
            current[path.domain] = .some(presence.identity)
        }
        return !head.needsState(
            listing, files: current, at: machine.clock.wall.milliseconds, limits: EngineLimits())
    }

    private var look: Directory { directory.look(for: id, isChosen: configuration.isChosen) }

    /// Takes up what changed here, takes in what others wrote, and publishes. To be called under the state's lock.
    package mutating func exchange(_ direction: Direction = .both) throws(MirrorFailure) {
        try handle(.foundMark(StoreMark(of: id, in: places)?.mark))
        locked?.release()
        locked = nil
        try handle(.directory(look))
        let listing = try list()
        let mustPullFirst = listing.map { engine.shouldPullFirst($0) || !configuration.isSeeded } ?? false
        if mustPullFirst, let listing { try handle(.listed(listing)) }
        try selectDomains()
        try capture()
        if direction != .push, let listing {
            try handle(.listed(listing))
            try selectDomains()
            try capture()
        }
        if listing != nil { try noteSeeded() }
        if direction != .pull { try publish() }
        try flush()
        try handle(.settled)
        try flush()
        try settle()
    }

    /// The files in view; nil where the directory is not to be read, or went out of reach meanwhile.
    private mutating func list() throws(MirrorFailure) -> Listing? {
        guard engine.standing == .present else { return nil }
        do throws(SystemFailure) {
            let listing = try directory.listing(own: engine.local.writer, faulty: engine.faulty.keys)
            note(closed: listing)
            return listing
        } catch {
            note(error.description)
            try handle(.directory(.unavailable))
            return nil
        }
    }

    /// Remembers, for whoever asks, whose folders cannot be looked into.
    mutating func note(closed listing: Listing) {
        closedFolders = listing.closed
        for writer in closedFolders.sorted() {
            note("\(directory.folder(of: writer)): the folder of \(host(writer)) cannot be looked into")
        }
    }

    private mutating func publish() throws(MirrorFailure) {
        try handle(.publish)
        if engine.standing == .present { directory.sweep(engine.local.writer, at: machine.clock.wall) }
    }

    // MARK: Which domains take part

    private func isIncluded(_ domain: String) -> Bool {
        (try? DomainName(domain)).map(configuration.selection.includes) ?? false
    }

    /// From here on what comes up is new.
    private mutating func noteSeeded() throws(MirrorFailure) {
        let isComplete = engine.local.shadows.values.allSatisfy { !$0.isMirrored || $0.isCaptured || $0.held != nil }
        guard !configuration.isSeeded, isComplete, !hasUnfinished else { return }
        try flush()
        try amend { $0.isSeeded = true }
    }

    /// The domains that are to take part: those with a file here, and those that others have written.
    private var selectedDomains: [String] {
        let here = preferences.domains().map(\.text)
        return (here + engine.local.atoms.domains).filter(isIncluded)
    }

    /// Lets domains take part. Of those that have come up since all was taken up there was nothing before, so that all
    /// that is in their files is a change; they come in at once, for a transaction may be over several.
    func selecting(_ domains: Set<Path>) -> [Event] {
        let new = domains.filter { engine.local.shadows[$0]?.isMirrored != true }.sorted()
        guard !new.isEmpty else { return [] }
        let nothing = new.filter { engine.local.shadows[$0] == nil && configuration.isSeeded }.map { domain in
            Observation(
                domain: domain.domain, identity: nil, hash: nil, content: .missing,
                modified: machine.clock.wall.milliseconds, mark: .deleted)
        }
        return new.map { .command(.add(domain: $0.domain)) } + (nothing.isEmpty ? [] : [.observed(nothing)])
    }

    /// The domains of which a file speaks that take part, or will.
    func domains(in pack: Pack) -> Set<Path> {
        let paths =
            switch pack.content {
            case .log(let log): log.transactions.flatMap { $0.writes.map(\.path) }
            case .base(let base): base.atoms.map(\.path)
            case .note: [Path]()
            }
        var (found, last) = (Set<Path>(), Path?.none)
        for path in paths {
            // They stand in order, so most are of the same domain as the one before.
            if let last, last.isPrefix(of: path) { continue }
            let domain = path.prefix(components: 1)
            last = domain
            if isIncluded(domain.domain) { found.insert(domain) }
        }
        return found
    }

    private mutating func selectDomains() throws(MirrorFailure) {
        for event in selecting(Set(selectedDomains.map { Path(domain: $0) })) { try handle(event) }
        locked?.release()
        locked = nil
        for (path, shadow) in engine.local.shadows where shadow.isMirrored && !isIncluded(path.domain) {
            try handle(.command(.remove(domain: path.domain)))
        }
    }
}

extension MirrorSession {
    /// Exchanges until no file is in the way any more, and leaves a head for the next one.
    package mutating func sync(
        _ direction: Direction = .both, wait: (Duration) -> Void
    ) throws(MirrorFailure) {
        try begin()
        defer { end() }
        try exchange(direction)
        for _ in 0..<Self.mostLooks where hasUnfinished {
            hasUnfinished = false
            wait(PreferenceFiles.quiet)
            try exchange(direction)
        }
        keepHead()
    }

    private static let mostLooks = 15

    /// Whether the directory is there, and has no folder of a writer.
    package func hasNoFolder(of writer: WriterID) -> Bool {
        engine.standing == .present && !engine.writersInView.contains(writer)
    }

    /// Tells the engine something a person asks for, and exchanges nothing.
    package mutating func tell(_ command: MirrorEngine.Command) throws(MirrorFailure) {
        try begin()
        defer { end() }
        try send(.command(command))
    }

    /// Does something a person asks for, and what follows from it.
    package mutating func carryOut(_ command: MirrorEngine.Command, wait: (Duration) -> Void) throws(MirrorFailure) {
        try begin()
        defer { end() }
        try exchange()
        try send(.command(command))
        locked?.release()
        locked = nil
        try exchange()
        for _ in 0..<Self.mostLooks where hasUnfinished {
            hasUnfinished = false
            wait(PreferenceFiles.quiet)
            try exchange()
        }
        // Nobody is to be asked whether a host is gone whose folder a person has removed.
        if case .purge(let writer) = command, hasNoFolder(of: writer) { try send(.command(.retire(writer))) }
        keepHead()
    }
}
