/// A store's part in a mirror: told what happens, it decides what is to be done, and does nothing.
///
/// A sync tells it `directory`, then `observed` with all preference files that changed, then `listed`, then `publish`.
/// Whatever it answers is carried out in order, each action so that it lasts through a crash before the next is begun;
/// only when all are done is it told, one after the other, what they led to. After a crash it begins again with the
/// state that the journal says, and needs to be told nothing of what was under way.
package struct Engine: Sendable {
    package private(set) var local: LocalState
    package var policy: DomainPolicy
    package var limits: EngineLimits
    /// What becomes of values that are there on both sides when a domain begins to take part.
    package var seed: Seeding
    package var profile: Profile

    package internal(set) var standing = Standing.unknown
    /// The files in view, as last listed.
    var folders: [WriterID: Set<PackName>] = [:]
    /// The writers whose folders could not be looked into then.
    var closed: Set<WriterID> = []
    /// Files that were read and wait for those before them, and since when.
    var waiting: [PackAddress: WaitingFile] = [:]
    /// Which of them were asked for anew since the directory was last listed.
    var askedAgain: Set<PackAddress> = []
    /// Files that were not whole.
    package internal(set) var faulty: [PackAddress: FaultyFile] = [:]
    /// How long those were that were faulty when the directory was last listed.
    var sizes: [PackAddress: Int] = [:]
    var quarantined: Set<PackAddress> = []
    /// Files of which it was said that they wait for blobs.
    var unheard: Set<PackAddress> = []
    /// What those before us have left.
    var recalled = Vigil()
    /// Writers whose folders are to be removed once a base of ours carries what they said.
    var purging: Set<WriterID> = []
    /// Those of them that the base carries which is to be created.
    var purgingCarried: Set<WriterID> = []
    /// Whether files were joined since preference files were last asked for.
    var hasJoined = false
    /// Whether locks were asked for and not given back.
    var isApplying = false
    /// The domains whose locks were asked for, and those that could not be changed since preference files were last
    /// asked for.
    var asked: [Path] = []
    var passedOver: Set<Path> = []
    /// The domains whose files were read for the first time and not written since.
    var seeding: Set<Path> = []
    /// How many times since then files could not be written.
    var refusals = 0
    /// The domains whose files could not be written the last time.
    var refused: Set<Path> = []
    /// Whether all superseded files are to be removed once a base replaces them.
    package internal(set) var isCompacting = false
    /// How much of what stands in our folder is about to go.
    var bytesBeingRemoved = 0
    /// What was last found when a log had no room.
    var lackOfRoom: LackOfRoom?
    /// The state's count of changes when the application was made.
    var changesAtApplication: Int?
    /// Whether files of ours were found lost or damaged, and no base has replaced them yet.
    package internal(set) var hasLosses = false
    /// When one of our own files was last read again, and which.
    var lastCheck: (at: Int64, name: PackName?)?
    /// Held domains of which a person said that the file is right, or that the mirror is.
    var accepted: Set<Path> = []
    var overruled: Set<Path> = []
    /// Whether files of our own that are missing are written now, however recently some were.
    var healsNow = false
    private var actions: [Action] = []

    /// How this host describes itself to the others.
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

    /// Takes up an event and says what follows from it.
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

    /// Whose folders were in view when the directory was last listed.
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

    /// How the directory stands to us where it is as it should be.
    var standingWherePresent: Standing {
        switch local.participation {
        case .full: .present
        case .paused: .paused
        case .leaving: local.folder.hasLeft ? .left : .present
        case .detached: .detached
        }
    }

    private mutating func takePart(_ participation: Participation) {
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
        case .leave: takePart(.leaving)
        case .detach: takePart(.detached)
        case .purge(let writer): purge(writer, at: moment)
        case .rebuild(let packs):
            commit(.rebuilt(packs))
            askForLocks()
        case .compact: compactNow(at: moment.now)
        case .withdraw(let domain): withdraw(domain, at: moment)
        case .heal: healsNow = true
        case .pause: takePart(.paused)
        case .resume: takePart(.full)
        }
    }
}
