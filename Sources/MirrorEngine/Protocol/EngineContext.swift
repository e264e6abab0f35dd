/// The context that the parts of the engine share: the durable state, the settings, and the actions that follow from an
/// event.
struct EngineContext: Sendable {
    private(set) var local: LocalState
    var policy: DomainPolicy
    var limits: EngineLimits
    /// The side whose values are used when a domain begins to be mirrored and both sides have a value.
    var seed: Seeding
    let profile: Engine.Profile
    var directoryStatus = DirectoryStatus.unknown
    private var actions: [Action] = []

    init(_ local: LocalState, profile: Engine.Profile, policy: DomainPolicy, limits: EngineLimits, seed: Seeding) {
        self.local = local
        self.profile = profile
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

    /// Reports the conflicts that were added to the first `count`.
    mutating func reportConflicts(since count: Int) {
        for conflict in local.conflicts.conflicts.dropFirst(count) { report(.conflict(conflict.id)) }
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
    mutating func noteLeaving() {
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
