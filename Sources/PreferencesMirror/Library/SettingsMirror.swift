internal import MirrorEngine
internal import Platform
public import Preferences
internal import PropertyLists
internal import Synchronization

/// A mirror of a store: the same settings on several hosts, through a directory that they share.
///
///     let mirror = try SettingsMirror(at: "/mnt/shared/settings", domains: ["com.example.*"])
///     try mirror.sync()
///     for await event in mirror.events() { … }
public final class SettingsMirror: Sendable {
    /// The session while no exchange uses it, kept so that the next exchange need not load the state.
    private let idle: Mutex<MirrorSession?>
    private let snapshot: Mutex<(pendingChanges: Int, state: State)>
    private let joined: MirrorPlaces.Joined
    private let places: MirrorPlaces

    /// Opens the mirror in a directory, and joins it if the store has not joined it yet. Throws a `MirrorFailure` if
    /// the directory is not a mirror or cannot be used.
    ///
    /// - Parameters:
    ///   - folder: The path of the directory, which must be a mirror already. To create one, use
    ///     `create(at:of:domains:)`.
    ///   - store: The store to mirror.
    ///   - domains: Patterns of the names of domains to mirror, such as `com.example.*`, in addition to those that are
    ///     already mirrored.
    public convenience init(at folder: String, of store: Store = .native, domains: [String]) throws {
        try self.init(folder, store, domains) { places, path, options throws(MirrorFailure) in
            try places.join(path, options)
        }
    }

    /// Creates a mirror in a directory, and joins it. Throws a `MirrorFailure` if the directory is already a mirror or
    /// cannot be used.
    ///
    /// - Parameters:
    ///   - folder: The absolute path of the directory.
    ///   - store: The store to mirror.
    ///   - domains: Patterns of the names of domains to mirror, such as `com.example.*`.
    public static func create(
        at folder: String, of store: Store = .native, domains: [String] = []
    ) throws -> SettingsMirror {
        try SettingsMirror(folder, store, domains) { places, path, options throws(MirrorFailure) in
            try places.initialise(path, options)
        }
    }

    private init(
        _ folder: String, _ store: Store, _ domains: [String],
        _ enter: (MirrorPlaces, FilePath, MirrorPlaces.JoinOptions) throws(MirrorFailure) -> MirrorPlaces.Joined
    ) throws {
        guard let path = FilePath(folder)?.normalized, path.isAbsolute, let files = try store.shared.places.get()
        else {
            throw MirrorFailure(.noMirror(directory: folder))
        }
        guard files.user.arrangement == .own else {
            throw MirrorFailure(.refused("stores of other programs cannot be mirrored"))
        }
        places = try MirrorPlaces(files, on: store.shared.system)
        let (known, failures) = places.listing
        if let former = known.first(where: { $0.configuration.directory == path }) {
            joined = former
        } else if let failure = failures.first(where: { !$0.isOfMissingFile }) {
            // It may be the configuration of the mirror in this directory.
            throw failure
        } else {
            joined = try enter(places, path, MirrorPlaces.JoinOptions())
        }
        var session = MirrorSession(joined, places)
        try session.begin()
        defer { session.end() }
        try session.configure { configuration in
            for pattern in domains where !configuration.selection.patterns.contains(exactly: pattern) {
                configuration.selection.add(pattern)
            }
        }
        session.end()
        snapshot = Mutex((session.unpublishedCount, State(session.condition(after: session.takeReports()))))
        idle = Mutex(session)
    }

    /// Merges the changes of other hosts into the store, and publishes the changes of this host. Throws if the
    /// directory or the store cannot be used.
    ///
    /// Calling it again without further changes has no effect.
    public func sync() throws {
        let clock = places.system.clock
        // Concurrent exchanges wait for the lock of the state, not for that of this object.
        var session = idle.withLock { $0.take() } ?? MirrorSession(joined, places)
        defer {
            let reports = session.takeReports()
            updateSnapshot(session, session.condition(after: reports))
            idle.withLock { $0 = session }
        }
        try session.sync { duration in _ = Gate().wait(until: clock.now.advanced(by: duration)) }
    }

    /// The number of transactions that are not published yet, as of the last exchange.
    public var pendingChanges: Int { snapshot.withLock(\.pendingChanges) }

    /// The status of the mirror, as of the last exchange.
    public var state: State { snapshot.withLock(\.state) }

    private func updateSnapshot(_ session: MirrorSession, _ condition: MirrorCondition) {
        let now = (session.unpublishedCount, State(condition))
        snapshot.withLock { $0 = now }
    }

    /// The status of a mirror.
    @nonexhaustive
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// There is nothing to fetch or to publish.
        case inSync
        /// A user has paused the exchange.
        case paused
        /// There are unresolved conflicts.
        case conflicts
        /// There are changes to fetch or to publish.
        case waiting
        /// The values of this host exceed a limit.
        case overQuota
        /// Nothing is exchanged until a user decides.
        case halted
        /// The directory cannot be reached.
        case unavailable
    }

    /// Returns the events of the mirror. As long as the stream has a consumer, changes are exchanged as they occur. If
    /// it is late by more than 1,000 events, the oldest are dropped, and an event says how many.
    public func events() -> AsyncStream<MirrorEvent> {
        let events = BoundedStream<MirrorEvent> { count, next in [.dropped(count), next] }
        let (mirror, bell) = (self, ResettableEvent())
        let ending = Ending(bell)
        places.system.background {
            var service = MirrorService(MirrorSession(mirror.joined, mirror.places), isEager: false) { bell.ring() }
            while true {
                bell.reset()
                if ending.hasCome || service.isOver { break }
                let turn = service.turn()
                if let condition = turn.condition { mirror.updateSnapshot(service.session, condition) }
                for event in turn.reports.compactMap({ service.session.event($0) }) { events.append(event) }
                if turn.failure == nil, turn.condition == .inSync, turn.reports.contains(where: \.isNews) {
                    events.append(.caughtUp)
                }
                _ = bell.next.wait(until: turn.next)
            }
            _ = service.finish()
            events.finish()
        }
        return events.stream(from: SettingsObservation { ending.end() })
    }
}

/// The end of an event stream.
private final class Ending: Sendable {
    private let hasEnded = Mutex(false)
    private let bell: ResettableEvent

    init(_ bell: ResettableEvent) { self.bell = bell }

    var hasCome: Bool { hasEnded.withLock(\.self) }

    func end() {
        hasEnded.withLock { $0 = true }
        bell.ring()
    }
}

extension Report {
    /// Whether the report announces a change.
    fileprivate var isNews: Bool {
        switch self {
        case .changed, .directory, .conflict: true
        default: false
        }
    }
}

extension SettingsMirror.State {
    fileprivate init(_ condition: MirrorCondition) {
        switch condition {
        case .inSync: self = .inSync
        case .paused, .left: self = .paused
        case .conflicts: self = .conflicts
        case .waiting, .readOnly: self = .waiting
        case .overQuota: self = .overQuota
        case .halted: self = .halted
        case .unavailable: self = .unavailable
        }
    }
}
