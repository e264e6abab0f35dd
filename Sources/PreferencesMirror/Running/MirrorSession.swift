package import MirrorEngine
package import Platform
internal import Preferences
internal import PropertyLists

/// One loaded mirror of a store. It sends events to the engine, and carries out the engine's actions.
///
/// Its state is current only while the lock of the state is held. `begin` checks it, and loads it again if necessary.
package struct MirrorSession: Sendable {
    package let id: MirrorID
    package let places: MirrorPlaces
    package internal(set) var configuration: MirrorConfiguration
    var engine: Engine
    package private(set) var directory: SharedDirectory
    /// The keys whose values in preference files the mirror replaces because a user decided so, with these values.
    var replaced: [Path: CanonicalValue] = [:]
    /// The reports since they were last taken.
    var reports: [Report] = []
    /// Descriptions of failures.
    package private(set) var troubles: [String] = []
    /// Whether a file must be read again soon.
    package internal(set) var hasUnfinished = false
    /// Writers whose folders could not be listed.
    package internal(set) var closedFolders: Set<WriterID> = []

    let preferences: PreferenceFiles
    let schemas: SchemaCache
    var journal: StateJournal
    /// The waits that were last written or read.
    private var pendingWaits: PendingWaits?
    private var stateLock: (any OpenFile)?
    /// Records that are not on the disk yet.
    var records: [LocalRecord] = []
    var locked: LockedFiles?
    /// The bytes of preference files that are read at once, unless a single file has more.
    var bytesOfFilesAtOnce: Int64 = 16 << 20
    /// The selected domains that are not mirrored at present.
    var leftOut: [Name: MirrorStatus.LeftOut] = [:]
    /// Called after each part of an exchange, with the number of such parts in it.
    package var progress: @Sendable (ExchangeStep, _ count: Int) -> Void = { _, _ in }
    var counts: [ExchangeStep: Int] = [:]
    /// The identities of complete and readable files when they were last read. Used for held domains.
    var heldFiles: [Path: MirrorEngine.FileIdentity?] = [:]

    /// Opens a mirror that the store has joined.
    package init(_ joined: MirrorPlaces.Joined, _ places: MirrorPlaces) {
        (id, configuration, self.places) = (joined.id, joined.configuration, places)
        let system = places.system
        preferences = PreferenceFiles(places.store, on: system)
        schemas = SchemaCache(in: places.store, on: system)
        journal = StateJournal(in: places.folder(of: id), system.fileSystem)
        directory = Self.directory(joined, places, journal)
        engine = Engine(
            LocalState(mirror: id, writer: WriterID(number: 0)), profile: Self.profile(configuration),
            policy: DomainPolicy(schemas, configuration.selection))
    }

    private static func profile(
        _ configuration: MirrorConfiguration, _ signatures: FileSignatures? = nil
    ) -> Engine.Profile {
        Engine.Profile(
            label: configuration.label, platform: "linux", software: "prefs 1", signers: signatures?.signers)
    }

    private static func directory(
        _ joined: MirrorPlaces.Joined, _ places: MirrorPlaces, _ journal: StateJournal
    ) -> SharedDirectory {
        let signatures = joined.configuration.signing.map {
            FileSignatures($0, label: joined.configuration.label, in: places.folder(of: joined.id), on: places.system)
        }
        return SharedDirectory(
            joined.configuration.directory, in: places.system.fileSystem, longValues: journal.longValues,
            signatures: signatures)
    }

    private mutating func openDirectory() {
        directory = Self.directory(MirrorPlaces.Joined(id: id, configuration: configuration), places, journal)
    }

    /// Lets the next note of this host list the hosts that may write.
    mutating func publishSigners() { engine.profile = Self.profile(configuration, directory.signatures) }

    package var folder: FilePath { places.folder(of: id) }
    var system: SystemServices { places.system }
    var files: any FileSystem { places.system.fileSystem }

    var moment: Moment {
        Moment(now: system.clock.wall.milliseconds, random: files.unpredictableNumber())
    }

    /// Returns the reports since the last call.
    package mutating func takeReports() -> [Report] {
        defer { reports = [] }
        return reports
    }

    /// Returns the values in preference files that the mirror replaced by a decision of the user, since the last call.
    package mutating func takeReplaced() -> [Path: CanonicalValue] {
        defer { replaced = [:] }
        return replaced
    }

    mutating func addTrouble(_ trouble: String) { if !troubles.contains(trouble) { troubles.append(trouble) } }
}

/// A part of an exchange that can take long.
package enum ExchangeStep: Hashable, Sendable {
    /// A preference file of this host was read, or written.
    case readDomain, wroteDomain
    /// A file of another host was fetched, or one of this host was written.
    case fetchedFile, wroteFile
}

extension MirrorSession {
    mutating func count(_ step: ExchangeStep) {
        counts[step, default: 0] += 1
        progress(step, counts[step] ?? 0)
    }
}

// MARK: The state's lock

extension MirrorSession {
    /// Forgets the mirror without announcing it. Preference files are not changed.
    package mutating func forget() throws(MirrorFailure) {
        // A state of an earlier format cannot be loaded.
        try lockState(patience: .seconds(30))
        defer { end() }
        try places.forget(id)
    }

    /// Loads the state, to read it. Nothing is exchanged.
    package mutating func read() throws(MirrorFailure) {
        try begin(patience: .seconds(5))
        end()
    }

    /// Loads the state if another program has changed it. Nothing is locked otherwise, since each lock is an event in
    /// the folder of the state.
    package mutating func readChanges() throws(MirrorFailure) { if !journal.isCurrent { try read() } }

    /// Takes the lock of the state, and loads changes by other programs. The caller must call `end`.
    package mutating func begin(patience: Duration = .seconds(30)) throws(MirrorFailure) {
        try lockState(patience: patience)
        do {
            try places.checkServingHost()
            guard let configuration = try MirrorConfiguration.read(in: folder, files) else {
                throw MirrorFailure(.notJoined)
            }
            let isSame = configuration.isSame(as: self.configuration)
            self.configuration = configuration
            (troubles, hasUnfinished, closedFolders, counts) = ([], false, [], [:])
            if !journal.isCurrent {
                try load()
            } else if !isSame {
                goOn()
            }
            // Another program may have changed who may write.
            else if configuration.signing != nil {
                openDirectory()
            }
        } catch {
            end()
            throw MirrorFailure(error)
        }
    }

    private mutating func lockState(patience: Duration) throws(MirrorFailure) {
        let attempt: LockAttempt
        do throws(SystemFailure) {
            attempt = try lockFile("lock", patience: patience)
        } catch {
            throw MirrorFailure(error.code == .noSuchFile ? MirrorFailure(.notJoined) : error)
        }
        guard case .locked(let file) = attempt else { throw MirrorFailure(.busy) }
        stateLock = file
    }

    /// Opens and locks a file in the folder of the mirror. If root creates it, it belongs to the owner of the folder.
    func lockFile(_ name: FileName, patience: Duration = .zero) throws(SystemFailure) -> LockAttempt {
        let path = folder.appending(name)
        let deadline = system.clock.now.advanced(by: patience)
        let attempt = try files.openLocked(
            path, .creating(.privateFile), .exclusive, until: deadline, by: system.clock)
        if system.environment.user == 0, case .locked(let file) = attempt {
            try files.giveToOwnerOfFolder(file, at: path)
        }
        return attempt
    }

    package mutating func end() {
        try? flush()
        if stateLock != nil { try? directory.signatures?.store() }
        unlock()
        stateLock?.unlock()
        stateLock = nil
    }

    /// Loads the state. If it is missing or unreadable, a new state is started under another number, as on a new host.
    private mutating func load() throws {
        records = []
        let state: LocalState?
        do {
            state = try journal.load()
        } catch let fault as PackFault where fault == .olderVersion {
            throw MirrorFailure(.earlierFormat(directory: directory.path.description))
        }
        if let state { return goOn(with: state) }
        try forgetSeeding()
        // The writes of the store's former numbers are its own.
        let former = Set(try RestoreMarker(of: id, in: places)?.writers ?? [])
        let fresh = LocalState(mirror: id, writer: WriterID(number: moment.random), formerWriters: former)
        try journal.begin(Journal.checkpoint(of: fresh))
        goOn(with: fresh)
    }

    /// Makes a store that has lost its state join again: the changes of others are joined first, and the values in the
    /// files here, which may be old, fill gaps or become open conflicts.
    private mutating func forgetSeeding() throws(MirrorFailure) {
        guard configuration.isSeeded else { return }
        try amend { ($0.isSeeded, $0.seed) = (false, .found) }
    }

    /// Continues under the present configuration, with another state or, if it is nil, with the same one.
    mutating func goOn(with state: LocalState? = nil) {
        openDirectory()
        schemas.reload()
        heldFiles = [:]
        pendingWaits = journal.pendingWaits
        engine.restart(
            with: state, profile: Self.profile(configuration, directory.signatures),
            policy: DomainPolicy(schemas, configuration.selection),
            seed: configuration.seed,
            longValues: journal.longValues, continuing: pendingWaits)
    }

    /// Changes the configuration, for all programs that read it from now on.
    package mutating func configure(_ change: (inout MirrorConfiguration) -> Void) throws(MirrorFailure) {
        let former = configuration
        try amend {
            change(&$0)
            if $0.selection != former.selection { $0.isSeeded = false }
        }
        guard configuration != former else { return }
        // The existing summary belongs to the former configuration.
        journal.forgetSummary()
        goOn()
    }

    /// Writes the configuration if it changed.
    mutating func amend(_ change: (inout MirrorConfiguration) -> Void) throws(MirrorFailure) {
        var changed = configuration
        change(&changed)
        guard changed != configuration else { return }
        try changed.write(in: folder, files)
        configuration = changed
    }

    /// Restarts a long journal, and writes the waits for the next program.
    mutating func restartLongJournal() throws(MirrorFailure) {
        try MirrorFailure.wrapping {
            guard journal.isLong else { return }
            try journal.begin(engine.checkpoint())
        }
        // A check of our own files alone does not justify a write every hour.
        if engine.pendingWaits.files != pendingWaits?.files ?? [:] { storeWaits() }
    }

    private mutating func storeWaits() {
        let now = engine.pendingWaits
        guard now != pendingWaits else { return }
        journal.store(now)
        pendingWaits = now
    }

    /// Writes the summary and the waits for the next program.
    mutating func storeSummary() {
        storeWaits()
        if condition(after: []) > .conflicts {
            journal.forgetSummary()
        } else {
            let isNew = journal.datedSummary.map { haveSchemasChanged(since: $0.written) } ?? true
            journal.store(engine.summary(journalLength: journal.length), isNew: isNew)
        }
    }

    /// Whether a check of our own files is due, or no waits are recorded.
    var isCheckDue: Bool {
        journal.pendingWaits?.isCheckDue(at: system.clock.wall.milliseconds, engine.limits) ?? true
    }
}
