/// The part of one store in a mirror: receives events and returns the actions that follow. It performs no I/O.
///
/// An exchange sends `directory`, then `observed` with all changed preference files, then `listed`, then `publish`. The
/// caller carries out the returned actions in order, each durably before the next is started. Then it sends their
/// results, one by one. After a crash, the engine starts with the state in the journal, and needs no report of what was
/// in progress.
package struct Engine: Sendable {
    package private(set) var local: LocalState
    package var policy: DomainPolicy
    package var limits: EngineLimits
    /// The side whose values are used when a domain begins to be mirrored and both sides have a value.
    package var seed: Seeding
    package var profile: Profile

    package internal(set) var standing = DirectoryStatus.unknown
    /// The files in view, as last listed.
    var folders: [WriterID: Set<PackName>] = [:]
    /// The writers whose folders could not be listed.
    var closed: Set<WriterID> = []
    /// Files that were read and wait for files before them.
    var waiting: [PackAddress: WaitingFile] = [:]
    /// The waiting files that were requested again since the directory was last listed.
    var askedAgain: Set<PackAddress> = []
    /// Files that could not be joined as they were.
    package internal(set) var faulty: [PackAddress: FaultyFile] = [:]
    /// The sizes of faulty files when the directory was last listed.
    var sizes: [PackAddress: Int] = [:]
    var quarantined: Set<PackAddress> = []
    /// Files that were reported as waiting for blobs.
    var reportedMissingBlobs: Set<PackAddress> = []
    /// The waits that former engines recorded.
    var formerWaits = PendingWaits()
    /// Writers whose folders will be removed once a base of ours carries their atoms.
    var purging: Set<WriterID> = []
    /// The writers among them whose atoms the intended base carries.
    var purgingCarried: Set<WriterID> = []
    /// Whether files were joined since the locks of preference files were last requested.
    var hasJoined = false
    /// Whether locks were requested and not released.
    var isApplying = false
    /// The domains whose locks were requested, and those that could not be changed since `requestLocks`.
    var asked: [Path] = []
    var passedOver: Set<Path> = []
    /// The domains whose files were captured for the first time and not written since.
    var seeding: Set<Path> = []
    /// The number of failed writes since `requestLocks`.
    var refusals = 0
    /// The domains whose files could not be written the last time.
    var refused: Set<Path> = []
    /// Whether all superseded files are to be removed once a base replaces them.
    package internal(set) var isCompacting = false
    /// The size of the files that are being removed from our folder.
    var bytesBeingRemoved = 0
    /// The last result when a log had no room.
    var lackOfRoom: QuotaMiss?
    /// The `changeCount` of the state when the application was made.
    var changesAtApplication: Int?
    /// Whether files of ours were found missing or damaged and no base has replaced them yet.
    package internal(set) var hasLosses = false
    /// The time of the last check of one of our own files, and the name of that file.
    var lastCheck: (at: Int64, name: PackName?)?
    /// The held domains for which a user has accepted the file, or the mirror.
    var accepted: Set<Path> = []
    var overruled: Set<Path> = []
    /// Whether missing files of our own are written now, regardless of when this was last done.
    var healsNow = false
    private var actions: [Action] = []

    /// The description of this host for others.
    package struct Profile: Hashable, Sendable {
        package var label: String
        package var platform: String
        package var software: String

        package init(label: String, platform: String, software: String) {
            self.label = label
            self.platform = platform
            self.software = software
        }
    }

    package init(
        _ local: LocalState, profile: Profile, policy: DomainPolicy = .plain, limits: EngineLimits = EngineLimits(),
        seed: Seeding = .merge
    ) {
        self.local = local
        self.local.restart()
        self.profile = profile
        self.policy = policy
        self.limits = limits
        self.seed = seed
    }

    /// Handles an event. Returns the actions that follow from it.
    package mutating func handle(_ event: Event, at moment: Moment) -> [Action] {
        guard local.participation != .detached else { return [] }
        switch event {
        case .directory(let directory): look(at: directory)
        case .listed(let listing): take(listing, at: moment)
        case .fetched(let files, let isLast): take(files, isLast: isLast, at: moment)
        case .foundMark(let mark): find(mark)
        case .settled: leaveMark(moment.random)
        case .marked: commit(.foundMark)
        case .observed(let observations): observe(observations, at: moment)
        case .locked(let observations): applyUnderLock(observations, at: moment)
        case .written(let outcome): settle(outcome)
        case .publish: publish(at: moment.now)
        case .created(let name): finish(name, at: moment.now)
        case .notCreated(_, let failure): report(.waiting(Report.Waiting(failure)))
        case .removed(let names):
            bytesBeingRemoved = 0
            commit(.removed(names))
        case .removedBlobs(let names):
            bytesBeingRemoved = 0
            commit(.removedBlobs(names))
        case .compact: compact(at: moment.now)
        case .command(let command): carryOut(command, at: moment)
        }
        defer { actions = [] }
        return actions
    }

    /// The writers whose folders were in view when the directory was last listed.
    package var writersInView: [WriterID] { folders.keys.sorted() }

    /// Changes the state, durably.
    mutating func commit(_ record: LocalRecord, isDurable: Bool = true) {
        local.apply(record)
        if isDurable { actions.append(.append(record)) }
    }

    mutating func act(_ action: Action) { actions.append(action) }
    mutating func report(_ report: Report) { actions.append(.report(report)) }
}

extension Report.Waiting {
    fileprivate init(_ failure: CreationFailure) {
        switch failure {
        case .space: self = .space
        case .permission: self = .permission
        case .later: self = .later
        }
    }
}

// MARK: The directory

extension Engine {
    private mutating func look(at directory: Directory) {
        let former = standing
        switch directory {
        case .unavailable: standing = .unavailable
        case .marked([]): standing = .unavailable
        case .marked(let mirrors) where mirrors.count > 1: standing = .split
        case .marked(let mirrors): standing = mirrors == [local.mirror] ? .present : .swapped
        }
        if standing == .present { standing = standingWherePresent }
        if standing != former { report(.standing(standing)) }
    }

    /// The status of the directory for this store when its marker is correct.
    var standingWherePresent: DirectoryStatus {
        switch local.participation {
        case .full: .present
        case .paused: .paused
        case .leaving: local.folder.hasLeft ? .left : .present
        case .detached: .detached
        }
    }

    private mutating func setParticipation(_ participation: Participation) {
        guard local.participation != participation else { return }
        commit(.participation(participation))
        if [.present, .paused, .left].contains(standing) || participation == .detached {
            standing = standingWherePresent
        }
    }
}

// MARK: Commands

extension Engine {
    private mutating func carryOut(_ command: Command, at moment: Moment) {
        switch command {
        case .add(let domain): commit(.configured(domain: domain, isMirrored: true))
        case .remove(let domain): commit(.configured(domain: domain, isMirrored: false))
        case .release(let domain, let takesFile): release(domain, takesFile: takesFile)
        case .resolve(let conflicts): commit(.resolvedConflicts(conflicts, at: moment.now))
        case .restore(let conflicts): restore(conflicts, at: moment)
        case .retire(let writer): commit(.retired(writer))
        case .leave: setParticipation(.leaving)
        case .detach: setParticipation(.detached)
        case .purge(let writer): purge(writer, at: moment)
        case .rebuild(let packs):
            commit(.rebuilt(packs))
            requestLocks()
        case .compact: compactNow(at: moment.now)
        case .withdraw(let domain): withdraw(domain, at: moment)
        case .heal: healsNow = true
        case .pause: setParticipation(.paused)
        case .resume: setParticipation(.full)
        }
    }
}
