package import MirrorEngine
package import Platform
internal import Preferences

/// Keeps a mirror up to date: exchanges after notifications, and periodically without.
///
/// Notifications only make it faster, because a periodic exchange finds every missed change. The caller calls `turn`
/// when it is notified, and at the time that the last turn returned.
package struct MirrorService: Sendable {
    package private(set) var session: MirrorSession
    /// Whether the store has left the mirror, so that there is nothing left to do.
    package private(set) var isOver = false
    private let hints: ChangeHints
    private let clock: any Clock
    private let watcher: any FolderWatcher
    private var watches: [FilePath: any FolderWatch] = [:]
    private var backoff = Backoff()
    private var publishing = PublishingDelay()
    private var nextExchange: Instant
    /// Whether the kernel does not report changes of the directory, so that only periodic exchanges find them.
    private var lacksNotifications = false
    private var watchLock: (any OpenFile)?
    /// Whether a watch is new. It does not report earlier changes, so another exchange is due.
    private var hasNewWatch = false
    /// Whether all watches were in place at the last turn, so that any later change should have been reported.
    private var hasAllWatches = false
    /// The error of the last exchange, if it failed.
    private var lastFailure: MirrorFailure?
    /// The waiting reports and the troubles of the last exchange in both directions.
    private var lastWaiting: [Report] = []
    private var lastTroubles: [String] = []
    /// The number of consecutive turns after which a file still had to be read again.
    private var unfinishedTurns = 0

    /// The limit of such turns. Beyond it, the file is assumed not to be in the middle of a write.
    private static let mostUnfinishedTurns = 15

    package init(_ session: MirrorSession, isEager: Bool, ring: @escaping @Sendable () -> Void) {
        self.session = session
        let system = session.system
        (clock, watcher) = (system.clock, system.watcher)
        hints = ChangeHints(system.clock, ring: ring)
        nextExchange = system.clock.now
        if isEager { backoff.longest = .seconds(2) }
    }

    /// The result of a turn.
    package struct Turn: Sendable {
        /// The time at which the next turn is due at the latest.
        package let next: Instant
        /// The reports, without those of waits that were reported in the last turn already.
        package let reports: [Report]
        /// The status of the mirror, or nil if there was no exchange.
        package var condition: MirrorCondition?
        /// Descriptions of failures that did not occur in the last turn.
        package var troubles: [String] = []
        /// The error of the exchange, or nil if it is the same as in the last turn and nothing else was reported.
        package var failure: MirrorFailure?
    }

    /// Takes the lock that marks this service as the one that watches the mirror. Returns false if another has it.
    ///
    /// A program that reads the status holds the lock for a moment.
    package mutating func claim() throws(MirrorFailure) -> Bool {
        let attempt = try MirrorFailure.wrapping { try session.lockFile("watch", patience: .seconds(1)) }
        guard case .locked(let file) = attempt else { return false }
        watchLock = file
        return true
    }

    /// Exchanges if that is due, and updates the watches.
    package mutating func turn() -> Turn {
        watchOwnFolders()
        let now = clock.now
        let due = hints.take(at: now)
        let isExchangeDue = nextExchange <= now
        guard due.local || due.directory || isExchangeDue else {
            return Turn(next: min(due.next, nextExchange), reports: [])
        }
        let delay = publishing.delay(at: now.nanoseconds)
        let former = session.engine.status.lastPublished
        let direction: MirrorSession.Direction = delay > .zero ? .pull : .both
        let outcome = exchange(direction)
        let published = session.engine.status.lastPublished != former
        if published { publishing.record(at: clock.now.nanoseconds) }
        watchWriters()
        let all = session.takeReports()
        let condition = session.condition(after: all)
        let (reports, troubles) = newReports(all, direction)
        let newFailure = outcome == lastFailure && reports.isEmpty ? nil : outcome
        let isFirstFailure = outcome != nil && lastFailure == nil
        lastFailure = outcome
        let isNews = published || isFirstFailure || reports.contains { !$0.isOfWaiting }
        if due.local || due.directory || isNews { backoff.quicken() }
        if isExchangeDue, !due.directory, hasAllWatches, reports.contains(where: \.isFromOthers) { shortenBackoff() }
        hasAllWatches = !hasNewWatch
        return Turn(
            next: schedule(outcome, delay), reports: reports, condition: condition, troubles: troubles,
            failure: newFailure)
    }

    /// Returns the reports and failures that are new since the last turn, so that a long wait is reported only once.
    private mutating func newReports(_ all: [Report], _ direction: MirrorSession.Direction) -> ([Report], [String]) {
        let reports = all.filter { !$0.isOfWaiting || !lastWaiting.contains($0) }
        let troubles = session.troubles.filter { !lastTroubles.contains($0) }
        // A pull does not encounter everything that waits.
        if direction == .both { (lastWaiting, lastTroubles) = (all.filter(\.isOfWaiting), session.troubles) }
        return (reports, troubles)
    }

    /// Makes an exchange due now.
    package mutating func hasten() { nextExchange = clock.now }

    /// Publishes pending changes before the end.
    package mutating func finish() -> Turn {
        for watch in watches.values { watch.cancel() }
        watches = [:]
        let failure = exchange(.push, storesSummary: true)
        watchLock?.unlock()
        let (reports, troubles) = newReports(session.takeReports(), .push)
        return Turn(next: .never, reports: reports, troubles: troubles, failure: failure)
    }

    private mutating func exchange(
        _ direction: MirrorSession.Direction, storesSummary: Bool = false
    ) -> MirrorFailure? {
        do throws(MirrorFailure) {
            try session.begin(patience: .seconds(1))
            defer { session.end() }
            try session.exchange(direction)
            if storesSummary { session.storeSummary() }
            return nil
        } catch {
            if error.problem == .notJoined { isOver = true }
            return error
        }
    }

    private mutating func schedule(_ failure: MirrorFailure?, _ delay: Duration) -> Instant {
        let now = clock.now
        nextExchange = now.advanced(by: backoff.next(random: session.moment.random))
        if delay > .zero, session.unpublishedCount > 0 {
            nextExchange = min(nextExchange, now.advanced(by: delay))
        }
        // After a failure the next attempt is periodic, at growing intervals.
        unfinishedTurns = failure == nil && session.hasUnfinished ? unfinishedTurns + 1 : 0
        if (1...Self.mostUnfinishedTurns).contains(unfinishedTurns) {
            nextExchange = min(nextExchange, now.advanced(by: PreferenceFiles.quiet))
        }
        if hasNewWatch { nextExchange = now }
        hasNewWatch = false
        return min(nextExchange, hints.take(at: Instant(nanoseconds: .min)).next)
    }

    /// Reduces the longest interval, because a change was found that was not reported.
    private mutating func shortenBackoff() { backoff.longest = min(backoff.longest, .seconds(10)) }

    // MARK: Watches

    private mutating func watchOwnFolders() {
        let (hints, store) = (hints, session.places.store.user.folder)
        watch(store) { hints.receiveLocal($0, in: store, holdsDomains: true) }
        watch(session.folder) { hints.receiveConfiguration($0) }
    }

    /// The folders with files of this host: its store, the state of the mirror, and the targets of links.
    private var ownFolders: Set<FilePath> {
        Set(session.linkedFiles.map(\.parent)).union(session.domainFolders)
            .union([session.places.store.user.folder, session.folder])
    }

    /// Watches the folders of the targets of links in place of domain files.
    private mutating func watchLinkedFiles() {
        let (hints, files) = (hints, session.linkedFiles)
        hints.setLinked(files)
        for folder in Set(files.map(\.parent)) {
            watch(folder) { hints.receiveLocal($0, in: folder, holdsDomains: false) }
        }
        for folder in session.domainFolders { watch(folder) { hints.receiveMember($0) } }
    }

    /// Watches the directory if the kernel reports its changes. Otherwise only periodic exchanges find them.
    private mutating func watchWriters() {
        let (hints, directory) = (hints, session.directory)
        watchLinkedFiles()
        dropPollingWatches()
        var wanted: Set<FilePath> = lacksNotifications ? [] : [directory.path, directory.writers]
        if !lacksNotifications, session.directoryStatus == .present {
            for writer in session.engine.status.writersInView where writer != session.writer {
                let folder = directory.folder(of: writer)
                wanted.formUnion(["l", "b"].map { folder.appending($0) })
            }
        }
        for path in wanted { watch(path) { hints.receiveDirectory($0) } }
        let own = ownFolders
        for (path, watch) in watches where !wanted.contains(path) && !own.contains(path) {
            watch.cancel()
            watches[path] = nil
        }
    }

    /// Cancels watches that poll. They would read every folder and file to find what one listing of ours finds. A file
    /// system may not support notifications from the beginning, or since it was mounted.
    private mutating func dropPollingWatches() {
        lacksNotifications =
            lacksNotifications || watches.contains { path, watch in !ownFolders.contains(path) && watch.isPolling }
        if lacksNotifications { backoff.longest = min(backoff.longest, .seconds(10)) }
    }

    private mutating func watch(_ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void) {
        guard watches[folder] == nil else { return }
        let watch = watcher.watch(folder, receive)
        if watch.isPolling { backoff.longest = min(backoff.longest, .seconds(10)) }
        watches[folder] = watch
        hasNewWatch = true
    }
}

extension FolderWatch {
    fileprivate var isPolling: Bool { if case .polling = method { true } else { false } }
}

extension Report {
    fileprivate var isFromOthers: Bool { if case .changed = self { true } else { false } }
}
