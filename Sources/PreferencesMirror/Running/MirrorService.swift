package import MirrorEngine
package import Platform
internal import Preferences

/// Keeps a mirror up to date: exchanges when something is heard of, and now and then when nothing is.
///
/// Hints are a help and no more: whatever is missed is found by looking. Whoever runs it calls `turn` when the bell has
/// rung, and at the time that the last turn has named.
package struct MirrorService: Sendable {
    package private(set) var session: MirrorSession
    /// Whether the store takes part no more, so that there is nothing left to do.
    package private(set) var isOver = false
    private let hints: Hints
    private let clock: any Clock
    private let watcher: any FolderWatcher
    private var watches: [FilePath: any FolderWatch] = [:]
    private var pace = Pace()
    private var publishing = PublishingPace()
    private var nextLook: Instant
    private let isEager: Bool
    /// Whether the kernel tells nothing of the directory, so that only looking helps.
    private var isUntold = false
    private var watchLock: (any OpenFile)?
    /// Whether a watch is new: what came before it did is not told, so it is looked once more.
    private var hasNewWatch = false
    /// Whether all that was to be watched was so at the last turn, so that whatever comes should be told.
    private var hasAllWatches = false
    /// Why the last exchange failed, if it did.
    private var lastFailure: MirrorFailure?
    /// What waited at the end of the last exchange in both directions, and what it could not do.
    private var lastWaiting: [Report] = []
    private var lastTroubles: [String] = []
    /// How many turns in a row have left a file to be looked at again.
    private var unfinishedTurns = 0

    /// What is still in the way after so many is no program that is just writing.
    private static let mostUnfinishedTurns = 15

    package init(_ session: MirrorSession, isEager: Bool, ring: @escaping @Sendable () -> Void) {
        self.session = session
        self.isEager = isEager
        let machine = session.machine
        (clock, watcher) = (machine.clock, machine.watcher)
        hints = Hints(machine.clock, ring: ring)
        nextLook = machine.clock.now
        if isEager { pace.longest = .seconds(2) }
    }

    /// What a turn came to.
    package struct Turn: Sendable {
        /// When the next one is due at the latest.
        package let next: Instant
        /// What was told; of what waits, only what did not at the last turn.
        package let reports: [Report]
        /// How the mirror stands; nil where nothing was looked at.
        package var condition: MirrorCondition?
        /// What could not be done, in words, where it could at the last turn.
        package var troubles: [String] = []
        /// Why nothing could be done; nil where nothing has happened since that was said.
        package var failure: MirrorFailure?
    }

    /// Notes that this service watches the mirror; false where another one does.
    package mutating func claim() throws(MirrorFailure) -> Bool {
        do throws(SystemFailure) {
            let path = session.folder.appending("watch")
            guard
                case .locked(let file) = try session.files.openLocked(
                    path, .creating(.privateFile), .exclusive)
            else {
                return false
            }
            watchLock = file
            return true
        } catch {
            throw MirrorFailure(error)
        }
    }

    /// Does what is due.
    package mutating func turn() -> Turn {
        watchOwnFolders()
        let now = clock.now
        let heard = hints.take(at: now)
        let isLook = nextLook <= now
        guard heard.local || heard.directory || isLook else {
            return Turn(next: min(heard.next, nextLook), reports: [])
        }
        let delay = publishing.delay(at: now.nanoseconds)
        let former = session.engine.local.published
        let direction: MirrorSession.Direction = delay > .zero ? .pull : .both
        let outcome = exchange(direction)
        let published = session.engine.local.published != former
        if published { publishing.note(at: clock.now.nanoseconds) }
        watchWriters()
        let told = session.takeReports()
        let condition = session.condition(after: told)
        let (reports, troubles) = news(told, direction)
        let said = outcome == lastFailure && reports.isEmpty ? nil : outcome
        let isFirstFailure = outcome != nil && lastFailure == nil
        lastFailure = outcome
        let isNews = published || isFirstFailure || reports.contains { !$0.isOfWaiting }
        if heard.local || heard.directory || isNews { pace.quicken() }
        if isLook, !heard.directory, hasAllWatches, reports.contains(where: \.isFromOthers) { notePassedOver() }
        hasAllWatches = !hasNewWatch
        return Turn(
            next: schedule(outcome, delay), reports: reports, condition: condition, troubles: troubles, failure: said)
    }

    /// What was not told at the last turn already. What waits for hours is no news each time that it is tried.
    private mutating func news(_ told: [Report], _ direction: MirrorSession.Direction) -> ([Report], [String]) {
        let reports = told.filter { !$0.isOfWaiting || !lastWaiting.contains($0) }
        let troubles = session.troubles.filter { !lastTroubles.contains($0) }
        // One that only fetches does not come upon all that waits.
        if direction == .both { (lastWaiting, lastTroubles) = (told.filter(\.isOfWaiting), session.troubles) }
        return (reports, troubles)
    }

    /// Publishes what there is, before the end.
    package mutating func finish() -> Turn {
        for watch in watches.values { watch.cancel() }
        watches = [:]
        let failure = exchange(.push)
        if failure == nil { session.keepHead() }
        watchLock?.unlock()
        let (reports, troubles) = news(session.takeReports(), .push)
        return Turn(next: .never, reports: reports, troubles: troubles, failure: failure)
    }

    private mutating func exchange(_ direction: MirrorSession.Direction) -> MirrorFailure? {
        do throws(MirrorFailure) {
            try session.begin(patience: .seconds(1))
            defer { session.end() }
            try session.exchange(direction)
            return nil
        } catch {
            if error.problem == .notJoined { isOver = true }
            return error
        }
    }

    private mutating func schedule(_ failure: MirrorFailure?, _ delay: Duration) -> Instant {
        let now = clock.now
        nextLook = now.advanced(by: pace.next(random: session.moment.random))
        if delay > .zero, !session.engine.local.outbox.isEmpty { nextLook = min(nextLook, now.advanced(by: delay)) }
        // What fails is tried again at the pace of a look, which becomes ever slower.
        unfinishedTurns = failure == nil && session.hasUnfinished ? unfinishedTurns + 1 : 0
        if (1...Self.mostUnfinishedTurns).contains(unfinishedTurns) {
            nextLook = min(nextLook, now.advanced(by: PreferenceFiles.quiet))
        }
        if hasNewWatch { nextLook = now }
        hasNewWatch = false
        return min(nextLook, hints.take(at: Instant(nanoseconds: .min)).next)
    }

    /// A file came of which nobody told, so from now on it is looked more often.
    private mutating func notePassedOver() { pace.longest = min(pace.longest, .seconds(10)) }

    // MARK: Watches

    private mutating func watchOwnFolders() {
        let (hints, store) = (hints, session.places.store.user.folder)
        watch(store) { hints.noteLocal($0, in: store, holdsDomains: true) }
        watch(session.folder) { hints.noteConfiguration($0) }
    }

    /// The folders with files of this host: its store, what is kept of the mirror, and where linked files stand.
    private var ownFolders: Set<FilePath> {
        Set(session.linkedFiles.map(\.parent)).union([session.places.store.user.folder, session.folder])
    }

    /// Watches the folders in which files stand to which those of domains are linked.
    private mutating func watchLinkedFiles() {
        let (hints, files) = (hints, session.linkedFiles)
        hints.setLinked(files)
        for folder in Set(files.map(\.parent)) {
            watch(folder) { hints.noteLocal($0, in: folder, holdsDomains: false) }
        }
    }

    /// Watches the directory where the kernel tells of it; elsewhere only looking helps.
    private mutating func watchWriters() {
        let (hints, directory) = (hints, session.directory)
        watchLinkedFiles()
        noteSilence()
        var wanted: Set<FilePath> = isUntold ? [] : [directory.path, directory.writers]
        if !isUntold, session.engine.standing == .present {
            for writer in session.engine.writersInView where writer != session.engine.local.writer {
                let folder = directory.folder(of: writer)
                wanted.formUnion(["l", "b"].map { folder.appending($0) })
            }
        }
        for path in wanted { watch(path) { hints.noteDirectory($0) } }
        let own = ownFolders
        for (path, watch) in watches where !wanted.contains(path) && !own.contains(path) {
            watch.cancel()
            watches[path] = nil
        }
    }

    /// Lets go of watches that would themselves look into folder after folder, each file of it, to tell what one look
    /// of ours finds. The medium may be one that the kernel tells nothing of from the beginning, or from when it was
    /// mounted.
    private mutating func noteSilence() {
        isUntold = isUntold || watches.contains { path, watch in !ownFolders.contains(path) && watch.isPolling }
        if isUntold { pace.longest = min(pace.longest, .seconds(10)) }
    }

    private mutating func watch(_ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void) {
        guard watches[folder] == nil else { return }
        let watch = watcher.watch(folder, receive)
        if watch.isPolling { pace.longest = min(pace.longest, .seconds(10)) }
        watches[folder] = watch
        hasNewWatch = true
    }
}

extension FolderWatch {
    fileprivate var isPolling: Bool { if case .polling = means { true } else { false } }
}

extension Report {
    fileprivate var isFromOthers: Bool { if case .changed = self { true } else { false } }
}
