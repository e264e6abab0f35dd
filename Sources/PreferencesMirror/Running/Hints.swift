internal import MirrorEngine
internal import Platform
internal import Synchronization

/// What watchers have told: that something may be there, never what.
final class Hints: Sendable {
    private let clock: any Clock
    private let ring: @Sendable () -> Void
    private let state = Mutex(State())

    private struct State: Sendable {
        /// Where files stand to which those of domains are linked.
        var linked: [FilePath: Set<FileName>] = [:]
        var local = Hint()
        var directory = Hint()
    }

    /// When something is to be looked at.
    private struct Hint: Sendable {
        var due: Instant?
        /// When it was last due for a hint that told nothing in particular.
        private var lastVague: Instant?

        mutating func note(at time: Instant) { due = min(due ?? time, time) }

        /// Notes that anything may have happened, which some media say again and again.
        mutating func noteVaguely(at now: Instant) {
            let soon = now.advanced(by: Hints.patience)
            let time = max(soon, lastVague?.advanced(by: Hints.distance) ?? soon)
            guard due.map({ time < $0 }) ?? true else { return }
            (due, lastVague) = (time, time)
        }

        mutating func take(at now: Instant) -> Bool {
            guard let time = due, time <= now else { return false }
            due = nil
            return true
        }
    }

    /// What has been heard of by some time.
    struct Heard: Hashable, Sendable {
        var local = false
        var directory = false
        /// When the next of the rest is due.
        var next = Instant.never
    }

    init(_ clock: any Clock, ring: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.ring = ring
    }

    /// Files that are being written are left alone a while; a pack that was renamed to its name is whole.
    private static let patience: Duration = .milliseconds(250)
    /// What is between two looks for which nothing in particular was the reason.
    private static let distance: Duration = .seconds(1)

    /// Files to which those of domains are linked, and that matter for it whatever they are called.
    func setLinked(_ files: [FilePath]) {
        var linked: [FilePath: Set<FileName>] = [:]
        for file in files { if let name = file.lastComponent { linked[file.parent, default: []].insert(name) } }
        state.withLock { $0.linked = linked }
    }

    func noteLocal(_ event: FolderEvent, in folder: FilePath, holdsDomains: Bool) {
        if case .change(_, let name) = event {
            // Locks, temporaries and folders are not what is looked at.
            let isDomain = holdsDomains && !name.isTemporary && name.description.hasSuffix(".plist")
            guard isDomain || state.withLock({ $0.linked[folder]?.contains(name) ?? false }) else { return }
        }
        noteLocal(event)
    }

    func noteConfiguration(_ event: FolderEvent) {
        if case .change(_, let name) = event, name != MirrorConfiguration.fileName { return }
        noteLocal(event)
    }

    private func noteLocal(_ event: FolderEvent) {
        let now = clock.now
        note { event == .anything ? $0.local.noteVaguely(at: now) : $0.local.note(at: now) }
    }

    func noteDirectory(_ event: FolderEvent) {
        let now = clock.now
        guard case .change(let change, let name) = event else { return note { $0.directory.noteVaguely(at: now) } }
        if name.description.hasPrefix("~") { return }
        let isPack = ["l/", "b/"].contains { PackName($0 + name.description) != nil }
        let isWhole = change == .movedHere && isPack
        note { $0.directory.note(at: isWhole ? now : now.advanced(by: Self.patience)) }
    }

    private func note(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        ring()
    }

    /// Takes what is due.
    func take(at now: Instant) -> Heard {
        state.withLock { state in
            var heard = Heard()
            (heard.local, heard.directory) = (state.local.take(at: now), state.directory.take(at: now))
            heard.next = min(state.local.due ?? .never, state.directory.due ?? .never)
            return heard
        }
    }
}
