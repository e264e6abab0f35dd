/// The context that the parts of the engine share: the durable state, the settings, and the actions that follow from an
/// event.
struct EngineContext: Sendable {
    private(set) var local: LocalState
    var policy: DomainPolicy
    var limits: EngineLimits
    /// The side whose values are used when a domain begins to be mirrored and both sides have a value.
    var seed: Seeding
    var profile: Engine.Profile
    /// Where long values are kept, or nil to keep them in memory.
    let longValues: (any LongValueStore)?
    var directoryStatus = DirectoryStatus.unknown
    /// Whether every file in view was joined, so that no unread value is older than what they have.
    var hasReadAll = false
    /// Whether only the sizes of files matter, and none of them is created.
    var isTrial = false
    private var actions: [Action] = []

    init(
        _ local: LocalState, profile: Engine.Profile, policy: DomainPolicy, limits: EngineLimits, seed: Seeding,
        longValues: (any LongValueStore)?
    ) {
        self.local = local
        self.profile = profile
        self.longValues = longValues
        self.policy = policy
        self.limits = limits
        self.seed = seed
    }

    /// Changes the state, durably.
    mutating func commit(_ record: LocalRecord, isDurable: Bool = true) {
        local.apply(record)
        if isDurable { actions.append(.append(record)) }
    }

    mutating func act(_ action: Action) { actions.append(action) }
    mutating func report(_ report: Report) { actions.append(.report(report)) }

    /// Reports the conflicts at keys of mirrored domains that were not open before.
    mutating func reportConflicts(at keys: Set<Path>, since before: MergeState) {
        for key in keys.sorted() where local.trackedFiles[key.prefix(components: 1)]?.isMirrored ?? false {
            let open = local.shared.live.conflicts(under: key)
            guard !open.isEmpty else { continue }
            let former = before.conflicts(under: key)
            for conflict in open where !former.contains(where: { $0.isSame(as: conflict) }) {
                report(.conflict(conflict))
            }
        }
    }

    /// Returns the actions of this event.
    mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// The status of the directory for this store when its marker is correct.
    private var statusWherePresent: DirectoryStatus {
        switch local.participation {
        case .full: .present
        case .paused: .paused
        case .leaving: local.folder.hasLeft ? .left : .present
        case .detached: .detached
        }
    }

    /// Sets the status from the markers in the directory.
    mutating func look(at directory: Directory) {
        let former = directoryStatus
        directoryStatus =
            switch directory {
            case .unavailable, .marked([]): .unavailable
            case .marked([local.mirror]): statusWherePresent
            case .marked(let mirrors): mirrors.count > 1 ? .split : .swapped
            }
        if directoryStatus != former { report(.directory(directoryStatus)) }
    }

    /// Updates the status after our note announced that we left.
    mutating func updateStatusAfterLeaving() {
        if directoryStatus == .present { directoryStatus = statusWherePresent }
    }

    mutating func setParticipation(_ participation: Participation) {
        guard local.participation != participation else { return }
        commit(.participation(participation))
        if [.present, .paused, .left].contains(directoryStatus) || participation == .detached {
            directoryStatus = statusWherePresent
        }
    }
}

extension LocalState {
    /// Whether a file in our own folder was created by a copy of this store.
    func isForeign(_ name: PackName) -> Bool {
        name.kind != .note && folder.created[name] == nil && intent?.pack.name != name && !folder.removed.contains(name)
    }
}

/// The limits of a mirror, and its delays in milliseconds.
package struct EngineLimits: Hashable, Sendable {
    /// The values of the whole mirror, and their bytes in a base, which contains all of them. A file may be larger,
    /// because several hosts can reach the limit at the same time.
    package var keys = 1_000_000
    package var bytesOfMirror = 64 << 20
    /// The lost values that are listed at one place. Beyond that, the oldest are only counted.
    package var losers = 64
    package var bytesOfWriter = 256 << 20
    package var writers = ByteReader.mostWriters
    package var bytesOfFile = Envelope.longestFile
    /// The bytes of preferences that are written together, unless the domains of a single transaction have more.
    package var bytesAtOnce = 16 << 20
    /// The memory for a value, besides its own bytes.
    package var bytesOfEntry = 64
    /// The bytes of transactions in one log, unless a single one has more.
    package var bytesOfLog = 1 << 20
    /// The bytes of waiting files that are kept in memory.
    package var bytesWaiting = 16 << 20
    /// The logs of one number of a host. The header of each base lists them.
    package var logsOfNumber = 4096
    package var leastLogBytes = 64 << 10
    package var leastLogs = 32
    /// The time that a superseded log or base remains.
    package var supersededFor: Int64 = 86_400_000
    /// The least time that it remains, even if too many are superseded.
    package var supersededAtLeastFor: Int64 = 600_000
    /// The limit of superseded files. Superseded files may take a quarter of a writer's bytes, and so may unneeded
    /// blobs, unless the whole folder takes more than three quarters.
    package var mostSuperseded = 4096
    /// The time that a folder is out of view before its writes are carried.
    package var vanishedFor: Int64 = 86_400_000
    /// The time after which the folder of a retired host is removed.
    package var retiredFor: Int64 = 86_400_000
    /// The time that an unneeded blob remains.
    package var unneededFor: Int64 = 7 * 86_400_000
    /// The time that a log waits for the one before it, and a faulty file for its bytes.
    package var waitsFor: Int64 = 600_000
    /// The time after which a host that publishes nothing else acknowledges what it has read.
    package var acknowledgesEvery: Int64 = 86_400_000
    /// The time between two checks of our own files.
    package var checksEvery: Int64 = 3_600_000
    /// The least time between two restorations of missing files of our own.
    package var healsEvery: Int64 = 3_600_000
    /// The least time between two restorations of our whole folder.
    package var restoresEvery: Int64 = 60_000

    package init() {}
}
