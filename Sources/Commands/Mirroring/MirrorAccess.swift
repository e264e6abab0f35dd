internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PreferencesMirror
internal import PropertyLists

/// The mirrors that a command applies to.
struct MirrorAccess {
    let context: CommandContext
    let places: MirrorPlaces
    let stored: StoreAccess
    private let word: String?
    /// The store named on the command line.
    private let store: String?

    init(_ invocation: Invocation, _ context: CommandContext) throws {
        self.context = context
        store = invocation[.store]
        stored = try StoreAccess(invocation, context)
        guard stored.places.user.arrangement == .own else {
            throw CommandFailure(.usage, "stores of other programs cannot be mirrored")
        }
        places = try MirrorPlaces(stored.places, on: stored.system)
        word = invocation[.mirror]
    }

    /// Returns the masking of the sensitive values in a domain.
    func masking(_ domain: String) throws -> Masking {
        guard let name = try? DomainName(domain) else { return .none }
        return stored.masking(try stored.domain(name))
    }

    /// Returns all mirrors of this store, or the one named on the command line.
    func all() throws -> [MirrorSession] {
        let (joined, failures) = places.listing
        var found = joined
        if let word {
            let path = try directory(word)
            found.removeAll { $0.configuration.directory != path && !$0.id.description.hasPrefix(word) }
        }
        // The word may name a mirror whose settings cannot be read.
        if let failure = failures.first, word == nil || found.isEmpty { throw failure }
        guard !found.isEmpty else {
            throw word.map { MirrorFailure(.unknown("\($0.onOneLine): this store is not part of such a mirror")) }
                ?? MirrorFailure(.notJoined)
        }
        return found.map { MirrorSession($0, places) }
    }

    /// Runs `body` for each mirror, and returns the worst status.
    func each(_ body: (inout MirrorSession) throws -> ExitStatus) throws -> ExitStatus {
        var worst = ExitStatus.done
        for var session in try all() { worst = max(worst, try body(&session)) }
        return worst
    }

    /// Returns the only mirror, or the one named on the command line.
    func one() throws -> MirrorSession {
        let all = try all()
        guard all.count == 1 else {
            throw CommandFailure(
                .usage, "there are several mirrors; name one with --mirror: \(all.map(\.place).joined(separator: ", "))"
            )
        }
        return all[0]
    }

    /// The folder of the store named on the command line; nil for the default one.
    var namedStore: FilePath? { store.flatMap { Option.store(named: $0) == nil ? places.store.user.folder : nil } }

    /// Prints a text. Commands in it are spelled for the named store.
    func say(_ text: String) throws { try context.say(Self.spelled(text, for: store)) }

    func note(_ text: String) { context.note(Self.spelled(text, for: store)) }

    /// Returns a text with the commands in it spelled for a store.
    static func spelled(_ text: String, for store: String?) -> String {
        guard store != nil else { return text }
        let words = ShellWord.line([Prefs.name] + Option.words(naming: store)).shown
        return text.replacing("`\(Prefs.name) ", with: "`\(words) ")
    }

    /// Throws if the directory of a mirror cannot be used, with advice.
    func check(_ session: MirrorSession) throws {
        guard let obstacle = session.obstacle else { return }
        let reason = MirrorLine.text(of: obstacle, session.id, session.directory.path)
        throw CommandFailure(obstacle.status, Self.spelled("\(session.place): \(reason)", for: store))
    }

    /// Throws if this store is part of a mirror in the directory and the directory has lost files, so that nothing must
    /// be created or joined there.
    func checkLoss(in directory: FilePath) throws {
        for joined in places.joined where joined.configuration.directory == directory {
            let session = MirrorSession(joined, places)
            if session.obstacle.map({ $0.status == .unavailable }) ?? false { try check(session) }
        }
    }

    /// Waits, or returns early when the command is interrupted.
    func wait(_ duration: Duration) {
        let gate = Gate()
        let wakeup = context.clock.wake(at: context.clock.now.advanced(by: duration)) { gate.open() }
        _ = context.wait(gate)
        wakeup.cancel()
    }

    /// Exchanges changes, with a progress line.
    func sync(
        _ session: inout MirrorSession, _ direction: MirrorSession.Direction = .both
    ) throws(MirrorFailure) {
        session.progress = { [progress = context.progress] step, count in progress.show(count, step.name) }
        try context.progress.during("exchanging with \(session.place)") { () throws(MirrorFailure) in
            try session.sync(direction) { wait($0) }
        }
    }

    /// Returns the directory named on the command line.
    func directory(_ invocation: Invocation) throws -> FilePath {
        try directory(invocation[operand: "DIR"] ?? "")
    }

    /// Returns the directory that a word names. All spellings of a path give the same one.
    private func directory(_ word: String) throws -> FilePath { try context.absolutePath(word).normalized }

    /// Prints the reports of an exchange, and returns the exit status: `done` if the mirror has the wanted condition.
    ///
    /// - Parameters:
    ///   - reportsConflicts: Whether open conflicts are a failure.
    ///   - direction: The direction of the exchange, if new conflicts in it are announced, and those that a program has
    ///     resolved are exchanged again; otherwise nil.
    func conclude(
        _ session: inout MirrorSession, wanting wanted: MirrorCondition = .inSync, reportsConflicts: Bool = false,
        announcing direction: MirrorSession.Direction? = nil
    ) throws -> ExitStatus {
        let reports = session.takeReports()
        let shown = reports.filter { report in
            // Included in the advice at the end.
            if case .directory = report { false } else { true }
        }
        for line in MirrorLine.lines(of: shown, in: session, most: MirrorLine.mostLines) { try say(line) }
        if let direction, announce(MirrorLine.conflicts(in: reports, session)), direction != .pull {
            try sync(&session, direction)
            return try conclude(&session, wanting: wanted, reportsConflicts: reportsConflicts)
        }
        let replaced = session.takeReplaced()
        for domain in Set(replaced.keys.map { Name($0.domain) }).sorted() {
            let values = replaced.filter { Name($0.key.domain) == domain }
            for line in MirrorLine.replaced(values, in: session, try masking(domain.text)) { try say(line) }
        }
        for trouble in session.troubles { note(trouble) }
        let condition = session.condition(after: reports)
        guard condition != wanted, condition != .conflicts || reportsConflicts else { return .done }
        if let advice = MirrorLine.advice(condition, session) { note(advice) }
        return ExitStatus(condition)
    }
}

extension ExchangeStep {
    /// The things that the step concerns, for a progress line.
    fileprivate var name: String {
        switch self {
        case .readDomain: "domains read"
        case .wroteDomain: "domains written"
        case .fetchedFile: "files fetched"
        case .wroteFile: "files sent"
        }
    }
}

extension SharedDirectory.Obstacle {
    var status: ExitStatus {
        switch self {
        case .noDirectory, .unreadable, .noMarker, .noWriters, .linkedWriters: .unavailable
        case .otherMirror, .severalMirrors, .earlierFormat: .halted
        }
    }
}

extension ExitStatus {
    /// Creates the exit status for a condition.
    init(_ condition: MirrorCondition) {
        switch condition {
        case .inSync: self = .done
        case .conflicts: self = .conflicts
        case .waiting: self = .waiting
        case .readOnly: self = .systemFailed
        case .overQuota: self = .overQuota
        case .paused, .left, .halted: self = .halted
        case .unavailable: self = .unavailable
        }
    }
}

extension MirrorFailure: Reportable {
    package var status: ExitStatus {
        switch problem {
        case .noMirror, .noMarker: .unavailable
        case .alreadyMirror, .alreadyJoined, .signed, .refused: .invalidValue
        case .severalMirrors, .servedElsewhere, .earlierFormat: .halted
        case .notJoined, .unknown: .notFound
        case .damaged, .missing: .damaged
        case .busy: .lockTimeout
        case .system: .systemFailed
        }
    }

    package var lines: [String] { [description] }
}

extension Option {
    package static let mirror = Option(
        "--mirror", Argument("DIR|ID", .folder), "which mirror, where there are several")
}
