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
        var local: Instant?
        var directory: Instant?
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
        note { $0.local = self.clock.now }
    }

    func noteConfiguration(_ event: FolderEvent) {
        if case .change(_, let name) = event, name != MirrorConfiguration.fileName { return }
        note { $0.local = self.clock.now }
    }

    func noteDirectory(_ event: FolderEvent) {
        let now = clock.now
        var isWhole = false
        if case .change(let change, let name) = event {
            if name.description.hasPrefix("~") { return }
            isWhole = change == .movedHere && PackName("l/" + name.description) != nil
        }
        let due = isWhole ? now : now.advanced(by: Self.patience)
        note { $0.directory = min($0.directory ?? due, due) }
    }

    private func note(_ change: (inout State) -> Void) {
        state.withLock { change(&$0) }
        ring()
    }

    /// Takes what is due.
    func take(at now: Instant) -> Heard {
        state.withLock { state in
            var heard = Heard()
            if let local = state.local, local <= now { (heard.local, state.local) = (true, nil) }
            if let due = state.directory, due <= now { (heard.directory, state.directory) = (true, nil) }
            heard.next = min(state.local ?? .never, state.directory ?? .never)
            return heard
        }
    }
}
