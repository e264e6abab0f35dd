internal import MirrorEngine
internal import Platform
internal import Synchronization

/// The pending notifications of folder watches. They record that something may have changed, not what.
final class ChangeHints: Sendable {
    private let clock: any Clock
    private let ring: @Sendable () -> Void
    private let state = Mutex(State())

    private struct State: Sendable {
        /// The targets of links in place of domain files, by folder.
        var linked: [FilePath: Set<FileName>] = [:]
        var local = Hint()
        var directory = Hint()
    }

    /// The time at which something should be checked.
    private struct Hint: Sendable {
        var due: Instant?
        /// The last time that was due to an unspecific event.
        private var lastVague: Instant?

        mutating func schedule(at time: Instant) { due = min(due ?? time, time) }

        /// Schedules a check after an unspecific event, which some file systems report again and again.
        mutating func scheduleVaguely(at now: Instant) {
            let soon = now.advanced(by: ChangeHints.patience)
            let time = max(soon, lastVague?.advanced(by: ChangeHints.distance) ?? soon)
            guard due.map({ time < $0 }) ?? true else { return }
            (due, lastVague) = (time, time)
        }

        mutating func take(at now: Instant) -> Bool {
            guard let time = due, time <= now else { return false }
            due = nil
            return true
        }
    }

    /// The notifications that are due at some time.
    struct DueHints: Hashable, Sendable {
        var local = false
        var directory = false
        /// The time at which the next of the others is due.
        var next = Instant.never
    }

    init(_ clock: any Clock, ring: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.ring = ring
    }

    /// The delay before a file is read that may still be written. A pack that was renamed to its name is complete.
    private static let patience: Duration = .milliseconds(250)
    /// The least time between two checks that are due to unspecific events.
    private static let distance: Duration = .seconds(1)

    /// Sets the targets of links in place of domain files. They are relevant whatever their names are.
    func setLinked(_ files: [FilePath]) {
        var linked: [FilePath: Set<FileName>] = [:]
        for file in files { if let name = file.lastComponent { linked[file.parent, default: []].insert(name) } }
        state.withLock { $0.linked = linked }
    }

    func receiveLocal(_ event: FolderEvent, in folder: FilePath, holdsDomains: Bool) {
        if case .change(_, let name) = event {
            // Changes of locks, temporary files and folders are ignored.
            let isDomain =
                holdsDomains && !name.isTemporary
                && [".plist", ".prefs"].contains { name.description.hasSuffix($0) }
            guard isDomain || state.withLock({ $0.linked[folder]?.contains(name) ?? false }) else { return }
        }
        receiveLocal(event)
    }

    /// Receives an event in the folder of a domain.
    func receiveMember(_ event: FolderEvent) {
        if case .change(_, let name) = event, name.isTemporary { return }
        receiveLocal(event)
    }

    func receiveConfiguration(_ event: FolderEvent) {
        if case .change(_, let name) = event, name != MirrorConfiguration.fileName { return }
        receiveLocal(event)
    }

    private func receiveLocal(_ event: FolderEvent) {
        let now = clock.now
        update { event == .anything ? $0.local.scheduleVaguely(at: now) : $0.local.schedule(at: now) }
    }

    func receiveDirectory(_ event: FolderEvent) {
        let now = clock.now
        guard case .change(let change, let name) = event else {
            return update { $0.directory.scheduleVaguely(at: now) }
        }
        if name.description.hasPrefix("~") { return }
        let isPack = ["l/", "b/"].contains { PackName($0 + name.description) != nil }
        let isWhole = change == .movedHere && isPack
        update { $0.directory.schedule(at: isWhole ? now : now.advanced(by: Self.patience)) }
    }

    private func update(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        ring()
    }

    /// Removes and returns the notifications that are due.
    func take(at now: Instant) -> DueHints {
        state.withLock { state in
            var due = DueHints()
            (due.local, due.directory) = (state.local.take(at: now), state.directory.take(at: now))
            due.next = min(state.local.due ?? .never, state.directory.due ?? .never)
            return due
        }
    }
}

/// The interval between periodic exchanges: a second after a change, and ever longer without one.
struct Backoff: Hashable, Sendable {
    private(set) var interval = Self.shortest
    /// The upper limit of the interval.
    var longest: Duration = .seconds(60)

    static let shortest: Duration = .seconds(1)

    /// Resets the interval after a change.
    mutating func quicken() { interval = Self.shortest }

    /// Returns the next interval. It varies by a fifth, so that hosts do not all exchange at once.
    mutating func next(random: UInt64) -> Duration {
        let share = 80 + Int(random % 41)
        defer { interval = min(interval * 8 / 5, longest) }
        return min(interval, longest) * share / 100
    }
}

/// The delay before local changes are published: none after a quiet period, and longer during a stream of changes.
///
/// It grows from 50 ms to one second during the first five minutes of a stream, mostly towards the end. A user who
/// changes one setting after another should not notice it, and a program that never stops should not fill the
/// directory.
struct PublishingDelay: Hashable, Sendable {
    private var began: Int64?
    private var last: Int64?

    private static let shortest: Duration = .milliseconds(50)
    private static let longest: Duration = .seconds(1)
    /// The duration of a stream after which the delay is longest.
    private static let untilLongest: Duration = .seconds(300)
    /// The pause that ends a stream.
    private static let quiet: Duration = .seconds(1)

    /// Returns the remaining delay, or zero if changes may be published.
    func delay(at nanoseconds: Int64) -> Duration {
        guard let last, let began else { return .zero }
        let share = min(1, Duration.nanoseconds(last - began) / Self.untilLongest)
        let interval = Self.shortest + (Self.longest - Self.shortest) * (share * share)
        return max(.zero, interval - .nanoseconds(nanoseconds - last))
    }

    /// Records that something was published.
    mutating func record(at nanoseconds: Int64) {
        let isStream = last.map { .nanoseconds(nanoseconds - $0) < Self.quiet + Self.longest } ?? false
        if !isStream { began = nanoseconds }
        last = nanoseconds
    }
}
