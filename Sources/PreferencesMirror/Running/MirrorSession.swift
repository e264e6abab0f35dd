package import MirrorEngine
package import Platform
internal import Preferences

/// A store's part in one mirror, loaded: it tells the engine what happens and does what the engine says.
///
/// What it knows may be old as soon as the state's lock is not held: `begin` looks, and loads anew where it is.
package struct MirrorSession: Sendable {
    package let id: MirrorID
    package let places: MirrorPlaces
    package private(set) var configuration: MirrorConfiguration
    package internal(set) var engine: Engine
    package private(set) var directory: SharedDirectory
    /// What was told since somebody last took it.
    var reports: [Report] = []
    /// What could not be done, in words.
    package private(set) var troubles: [String] = []
    /// Whether a file has to be looked at again before long.
    package internal(set) var hasUnfinished = false
    /// Writers whose folders could not be looked into.
    package internal(set) var closedFolders: Set<WriterID> = []

    let preferences: PreferenceFiles
    private let schemas: SchemaPolicy
    var journal: StateJournal
    /// Since when files are waited for, as it was last left to those who come after us.
    private var vigil: Vigil?
    private var stateLock: (any OpenFile)?
    /// Records that are not on the disk yet.
    var records: [LocalRecord] = []
    var locked: LockedDomains?
    var readings: [String: PreferenceFiles.Reading] = [:]
    /// Files that were settled and readable, as they were last looked at; asked of held ones alone.
    var heldFiles: [Path: MirrorEngine.FileIdentity?] = [:]

    /// Opens a mirror that the store takes part in.
    package init(_ joined: MirrorPlaces.Joined, _ places: MirrorPlaces) {
        (id, configuration, self.places) = (joined.id, joined.configuration, places)
        let machine = places.machine
        directory = SharedDirectory(configuration.directory, in: machine.fileSystem)
        preferences = PreferenceFiles(places.store, on: machine)
        schemas = SchemaPolicy(machine)
        journal = StateJournal(in: places.folder(of: id), machine.fileSystem)
        engine = Self.engine(LocalState(mirror: id, writer: WriterID(number: 0)), configuration, schemas)
    }

    private static func engine(
        _ state: LocalState, _ configuration: MirrorConfiguration, _ schemas: SchemaPolicy
    ) -> Engine {
        let profile = Engine.Profile(label: configuration.label, platform: "linux", software: "prefs 1")
        return Engine(state, profile: profile, policy: schemas.policy, seed: configuration.seed)
    }

    package var folder: FilePath { places.folder(of: id) }
    var machine: Machine { places.machine }
    var files: any FileSystem { places.machine.fileSystem }

    var moment: Moment {
        Moment(now: machine.clock.wall.milliseconds, random: files.unpredictableNumber())
    }

    /// What was told since the last time.
    package mutating func takeReports() -> [Report] {
        defer { reports = [] }
        return reports
    }

    mutating func note(_ trouble: String) { if !troubles.contains(trouble) { troubles.append(trouble) } }
}

// MARK: The state's lock

extension MirrorSession {
    /// Takes the state's lock, and loads what another program has changed meanwhile. To be ended.
    package mutating func begin(patience: Duration = .seconds(30)) throws(MirrorFailure) {
        let attempt: LockAttempt
        do throws(SystemFailure) {
            let path = folder.appending("lock")
            let deadline = places.machine.clock.now.advanced(by: patience)
            attempt = try files.openLocked(
                path, .creating(.privateFile), .exclusive, until: deadline, by: places.machine.clock)
        } catch {
            throw MirrorFailure(error.code == .noSuchFile ? MirrorFailure(.notJoined) : error)
        }
        guard case .locked(let file) = attempt else { throw MirrorFailure(.busy) }
        stateLock = file
        do {
            try places.checkServant()
            guard let configuration = MirrorConfiguration(in: folder, files) else { throw MirrorFailure(.notJoined) }
            let isSame = configuration.isSame(as: self.configuration)
            self.configuration = configuration
            (troubles, hasUnfinished, closedFolders) = ([], false, [])
            if !journal.isCurrent { try load() } else if !isSame { goOn(with: engine.local) }
        } catch {
            end()
            throw MirrorFailure(error)
        }
    }

    package mutating func end() {
        try? flush()
        locked?.release()
        locked = nil
        stateLock?.unlock()
        stateLock = nil
    }

    /// Reads the state. One that is lost or cannot be read begins anew under another name, as a new host does.
    private mutating func load() throws(MirrorFailure) {
        do {
            records = []
            var state = try journal.load()
            if state == nil {
                try forgetSeeding()
                // Whoever this store was before the state was lost, what it wrote then is its own.
                let former = Set(StoreMark(of: id, in: places)?.writers ?? [])
                let fresh = LocalState(mirror: id, writer: .first(random: moment.random), formerWriters: former)
                try journal.begin(fresh)
                state = fresh
            }
            if let state { goOn(with: state) }
        } catch {
            throw MirrorFailure(error)
        }
    }

    /// Lets a store whose state is lost join once more: what others wrote comes in first, and what is in files here may
    /// be old, so that it only fills gaps.
    private mutating func forgetSeeding() throws(MirrorFailure) {
        guard configuration.isSeeded else { return }
        try amend { ($0.isSeeded, $0.seed) = (false, .merge) }
    }

    /// Goes on with a state as the configuration says by now.
    private mutating func goOn(with state: LocalState) {
        directory = SharedDirectory(configuration.directory, in: files)
        schemas.reload()
        heldFiles = [:]
        engine = Self.engine(state, configuration, schemas)
        vigil = journal.vigil
        if let vigil { engine.recall(vigil) }
    }

    /// Changes the configuration, for all programs that look at it from now on.
    package mutating func configure(_ change: (inout MirrorConfiguration) -> Void) throws(MirrorFailure) {
        let former = configuration
        try amend(change)
        guard configuration != former else { return }
        if configuration.selection != former.selection { try amend { $0.isSeeded = false } }
        // Whoever looks at the head alone must not take it for one of this configuration.
        journal.forgetHead()
        goOn(with: engine.local)
    }

    /// Writes the configuration down, where it is another one.
    mutating func amend(_ change: (inout MirrorConfiguration) -> Void) throws(MirrorFailure) {
        var changed = configuration
        change(&changed)
        guard changed != configuration else { return }
        try changed.write(in: folder, files)
        configuration = changed
    }

    /// Begins a long journal anew, and leaves what those who come after us cannot know.
    mutating func settle() throws(MirrorFailure) {
        do throws(SystemFailure) {
            let state = engine.local
            try journal.compact(state)
        } catch {
            throw MirrorFailure(error)
        }
        // That our own files were read again is nothing for whose sake one who watches would write each hour.
        if engine.vigil.files != vigil?.files ?? [:] { keepVigil() }
    }

    private mutating func keepVigil() {
        let now = engine.vigil
        guard now != vigil else { return }
        journal.keep(now)
        vigil = now
    }

    /// Leaves what tells the next one whether there is anything to do, and since when files are waited for.
    mutating func keepHead() {
        keepVigil()
        if condition(after: []) > .conflicts {
            journal.forgetHead()
        } else {
            journal.keep(engine.head(journalLength: journal.length))
        }
    }

    var head: LocalHead? { journal.head }

    /// Whether it is time to read one of our own files again, or nobody knows when that was last done.
    var isCheckDue: Bool {
        journal.vigil?.isCheckDue(at: machine.clock.wall.milliseconds, engine.limits) ?? true
    }
}
