internal import MirrorEngine
internal import Platform
public import Preferences
internal import Synchronization

/// A store's part in a mirror: the same settings on several hosts, through a directory that they share.
///
///     let mirror = try SettingsMirror(at: "/mnt/shared/settings", domains: ["com.example.*"])
///     try mirror.sync()
///     for await event in mirror.events { … }
public final class SettingsMirror: Sendable {
    /// The session that no exchange is using now, so that the next one need not load the state.
    private let idle: Mutex<MirrorSession?>
    private let standing: Mutex<(pendingChanges: Int, state: State)>
    private let joined: MirrorPlaces.Joined
    private let places: MirrorPlaces

    /// Opens the mirror in a directory, and joins it where the store has no part in it yet.
    ///
    /// - Parameters:
    ///   - folder: The path of the directory. Whoever makes a mirror says so: `create(at:of:domains:)`.
    ///   - store: The store that takes part.
    ///   - domains: Patterns of the names of those that take part, in addition to those that do already.
    public convenience init(at folder: String, of store: Store = .native, domains: [String]) throws {
        try self.init(folder, store, domains) { places, path, admission throws(MirrorFailure) in
            try places.join(path, admission)
        }
    }

    /// Makes a mirror in a directory, and the store a part of it.
    public static func create(
        at folder: String, of store: Store = .native, domains: [String] = []
    ) throws -> SettingsMirror {
        try SettingsMirror(folder, store, domains) { places, path, admission throws(MirrorFailure) in
            try places.initialise(path, admission)
        }
    }

    private init(
        _ folder: String, _ store: Store, _ domains: [String],
        _ enter: (MirrorPlaces, FilePath, MirrorPlaces.Admission) throws(MirrorFailure) -> MirrorPlaces.Joined
    ) throws {
        guard let path = FilePath(folder), path.isAbsolute, let files = try store.process.places.get() else {
            throw MirrorFailure(.noMirror(directory: folder))
        }
        places = try MirrorPlaces(files, on: store.process.machine)
        if let former = places.joined.first(where: { $0.configuration.directory == path }) {
            joined = former
        } else {
            joined = try enter(places, path, MirrorPlaces.Admission())
        }
        var session = MirrorSession(joined, places)
        try session.begin()
        defer { session.end() }
        try session.configure { configuration in
            for pattern in domains where !configuration.selection.patterns.contains(pattern) {
                configuration.selection.add(pattern)
            }
        }
        session.end()
        standing = Mutex((session.engine.local.outbox.count, State(session.condition(after: session.takeReports()))))
        idle = Mutex(session)
    }

    /// Takes up what changed here, takes in what others wrote, and publishes. A second time it changes nothing.
    public func sync() throws {
        let clock = places.machine.clock
        // Whoever exchanges at the same time waits for the state's lock, and nobody for this object's.
        var session = idle.withLock { $0.take() } ?? MirrorSession(joined, places)
        defer {
            let reports = session.takeReports()
            note(session, session.condition(after: reports))
            idle.withLock { $0 = session }
        }
        try session.sync { duration in _ = Gate().wait(until: clock.now.advanced(by: duration)) }
    }

    /// How many transactions are still to be published, as of the last look.
    public var pendingChanges: Int { standing.withLock(\.pendingChanges) }

    /// How the mirror stands, as of the last look.
    public var state: State { standing.withLock(\.state) }

    private func note(_ session: MirrorSession, _ condition: MirrorCondition) {
        let now = (session.engine.local.outbox.count, State(condition))
        standing.withLock { $0 = now }
    }

    /// How a mirror stands.
    @nonexhaustive
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// Nothing is to be fetched, and nothing to be published.
        case inSync
        /// A person has stopped the exchange for a while.
        case paused
        /// Changes lost against others, and a person has not looked at them yet.
        case conflicts
        /// Something is still to be exchanged.
        case waiting
        /// What this host has to say is over a limit.
        case overQuota
        /// Nothing is exchanged until a person decides.
        case halted
        /// The directory cannot be reached.
        case unavailable
    }

    /// Keeps the mirror up to date as long as somebody listens, and tells what happens.
    public var events: AsyncStream<MirrorEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: MirrorEvent.self)
        let (mirror, bell) = (self, Bell())
        let ending = Ending(bell)
        continuation.onTermination = { _ in ending.end() }
        places.machine.background {
            var service = MirrorService(MirrorSession(mirror.joined, mirror.places), isEager: false) { bell.ring() }
            while !ending.hasCome, !service.isOver {
                bell.reset()
                let turn = service.turn()
                if let condition = turn.condition { mirror.note(service.session, condition) }
                for event in turn.reports.compactMap({ service.session.event($0) }) { continuation.yield(event) }
                if turn.failure == nil, turn.condition == .inSync, turn.reports.contains(where: \.isNews) {
                    continuation.yield(.caughtUp)
                }
                _ = bell.next.wait(until: turn.next)
            }
            _ = service.finish()
            continuation.finish()
        }
        return stream
    }
}

/// That nobody listens any more.
private final class Ending: Sendable {
    private let hasEnded = Mutex(false)
    private let bell: Bell

    init(_ bell: Bell) { self.bell = bell }

    var hasCome: Bool { hasEnded.withLock(\.self) }

    func end() {
        hasEnded.withLock { $0 = true }
        bell.ring()
    }
}

extension Report {
    /// Whether it says that something else holds now.
    fileprivate var isNews: Bool {
        switch self {
        case .changed, .standing, .conflict: true
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
