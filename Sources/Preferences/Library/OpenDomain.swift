internal import Platform
internal import PropertyLists
internal import Synchronization

/// One file of settings as this process sees it: what the disk holds, and over it what this process has set.
///
/// A change is seen by all of the process at once. It reaches the disk by itself a little later, together with what
/// else was set meanwhile.
final class OpenDomain: Sendable {
    /// Where the values are kept.
    enum Keeping: Sendable {
        case file(DomainFile, mustBeTrusted: Bool)
        /// Nowhere. Where the files should be but cannot, with the reason.
        case memory(PropertyList.Dictionary, failure: StoreFailure?)
    }

    let keeping: Keeping
    let machine: Machine
    let signals: StoreSignals
    let state: Mutex<State>
    /// Grows with every change that can be seen; to be looked at without a lock.
    private let published = Atomic<UInt64>(1)
    /// Held by whoever writes the file: one at a time.
    let writing = Mutex(())

    struct State: Sendable {
        /// The file as it was last seen.
        var stored = DomainContents.absent
        /// How often what the file holds was taken over.
        var readings: UInt64 = 0
        /// Why it could not be read.
        var failure: StoreFailure?
        /// The file that was read and is damaged: as long as it is the same, reading it again tells nothing new.
        var damaged: FileGeneration?
        /// What was set and is not on the disk yet; nil for a removal.
        var pending: [ExactKey: PendingChange] = [:]
        /// What the process sees.
        var values = PropertyList.Dictionary()
        var changes = ChangeLog()
        /// When the file was last looked at; nil for never.
        var lastLook: Instant?
        /// Whether the file is to go once it has no values.
        var removesFile = false
        var flush = FlushState()
        var watch = WatchState()
        /// Whether this process is writing the file: what it finds there is its own work.
        var isWriting = false
        /// Whether a look was put off because of that.
        var missedLook = false
        /// What the domain's schema demands of writers, where it has one.
        var rules: SchemaRules?
    }

    struct PendingChange: Sendable {
        let value: PropertyList?
        /// The version that the change made.
        let version: UInt64
    }

    init(_ keeping: Keeping, on machine: Machine, _ signals: StoreSignals) {
        self.keeping = keeping
        self.machine = machine
        self.signals = signals
        var state = State()
        if case .memory(let values, _) = keeping { state.values = values }
        self.state = Mutex(state)
    }

    var file: DomainFile? {
        if case .file(let file, _) = keeping { file } else { nil }
    }

    // MARK: Seeing

    /// What the values are, after a look at the file if the last one is too old.
    func snapshot() -> (values: PropertyList.Dictionary, failure: StoreFailure?) {
        look()
        return state.withLock { ($0.values, $0.failure) }
    }

    /// The values as this process sees them.
    var stored: PropertyList.Dictionary { state.withLock(\.values) }

    func value(_ key: String) -> PropertyList? { state.withLock { $0.values[key] } }

    /// Whether there may be more than the version that is known.
    func hasChanged(since version: UInt64) -> Bool { published.load(ordering: .acquiring) != version }

    /// Whether others can read the file.
    var isExposed: Bool {
        state.withLock { $0.stored.status?.isExposed(to: machine.environment.user) ?? false }
    }

    /// The version now, and the keys that have changed since `version`; nil if that is too long ago to tell.
    func changes(since version: UInt64) -> (version: UInt64, changes: [ChangeLog.Change]?) {
        state.withLock { ($0.changes.version, $0.changes.changes(since: version)) }
    }

    /// Lets whoever looks things up know that there is something new.
    func noteChange() { noteChange(state.withLock(\.changes.version)) }

    private func noteChange(_ version: UInt64) {
        published.max(version, ordering: .releasing)
        signals.noteChange()
    }

    /// Looks whether somebody else has changed the file.
    ///
    /// - Parameter isExact: Whether a look within the same tick of the clock will not do.
    func look(isExact: Bool = false) {
        guard case .file(let file, let mustBeTrusted) = keeping else { return }
        let tick = machine.clock.tick
        var isFirst = false
        let isDue = state.withLock { state in
            guard isExact || (state.lastLook != tick && !state.watch.isTold) else { return false }
            if state.isWriting {
                state.missedLook = true
                return false
            }
            isFirst = state.lastLook == nil
            state.lastLook = tick
            return true
        }
        guard isDue else { return }
        // What a writer that died has decided need not show in this file yet.
        if isExact || isFirst { file.finishTransactions(on: machine) }
        let generation: FileGeneration?
        do throws(SystemFailure) {
            generation = try machine.fileSystem.status(of: file.path)?.generation
        } catch {
            return noteUnreadable(file.failure(error))
        }
        let isSame = state.withLock { $0.knows(generation, isExact) }
        // Each turn that is in vain is one in which somebody else has read or written.
        if !isSame { for _ in 0..<64 where read(file, generation, mustBeTrusted) { return } }
    }

    /// Reads the file. False where another one has done so meanwhile: what was read here may be older.
    private func read(_ file: DomainFile, _ generation: FileGeneration?, _ mustBeTrusted: Bool) -> Bool {
        let number = state.withLock(\.readings)
        do throws(StoreFailure) {
            let counts = mustBeTrusted ? try file.isTrusted(on: machine) : true
            let contents = counts ? try file.contents(on: machine) : .absent
            let isDamaged = state.withLock { state -> Bool? in
                guard state.readings == number else { return nil }
                if state.isWriting {
                    // It may be our own work already, which whoever writes takes over himself.
                    state.missedLook = true
                    return false
                }
                let isNews = contents.recovery != nil && state.stored.recovery != contents.recovery
                state.failure = nil
                state.take(contents)
                state.damaged = contents.recovery == nil ? nil : generation
                return isNews
            }
            guard let isDamaged else { return false }
            if isDamaged, let recovery = contents.recovery { post(.recovered(recovery.description)) }
        } catch {
            // What the system refuses now it may allow the next time.
            noteUnreadable(error, damaged: error.isDamage ? generation : nil)
            return true
        }
        noteChange()
        return true
    }

    /// Notes why the file could not be read, and posts it the first time. What was read of it before still holds.
    private func noteUnreadable(_ failure: StoreFailure, damaged generation: FileGeneration? = nil) {
        let isNews = state.withLock { state in
            defer { state.failure = failure }
            state.damaged = generation
            return state.failure != failure
        }
        if isNews { post(.unreadable(failure)) }
        noteChange()
    }

    func post(_ kind: Issue.Kind) { signals.issues.post(Issue(kind, domain: file?.name ?? "")) }

    // MARK: Changing

    /// Sets values, or removes those that are nil, for all of the process to see.
    func set(_ changes: [(key: String, value: PropertyList?)]) {
        let isFile = file != nil
        if case .memory(_, let failure?) = keeping { post(.unwritten(failure)) }
        let (version, isToBeFlushed) = state.withLock { state in
            state.removesFile = false
            let isToBeFlushed = isFile && !(state.flush.isScheduled && state.flush.isAwaitedAtEnd)
            for (key, value) in changes {
                state.values[key] = value
                let version = state.changes.note(key, isOwn: true)
                if isFile { state.pending[ExactKey(key)] = PendingChange(value: value, version: version) }
            }
            return (state.changes.version, isToBeFlushed)
        }
        noteChange(version)
        if isToBeFlushed { scheduleFlush() }
        tellObservers()
    }

    /// Makes the values those given, and removes all others.
    func replaceAll(_ values: PropertyList.Dictionary) {
        look()
        let former = state.withLock(\.values)
        let removed = former.keys.filter { values[$0] == nil }.map { ($0, PropertyList?.none) }
        let changed = values.filter { former[$0.key] != $0.value }.map { ($0.key, PropertyList?.some($0.value)) }
        set(removed + changed)
    }

    /// Removes all values, and the file with them.
    func removeAll() {
        replaceAll([:])
        state.withLock { $0.removesFile = $0.values.isEmpty }
    }
}

extension OpenDomain.State {
    /// Whether there is nothing in the file that was not seen yet.
    ///
    /// - Parameter isExact: Whether a kept version may stand in for a damaged file by now.
    fileprivate func knows(_ generation: FileGeneration?, _ isExact: Bool) -> Bool {
        if failure == nil, stored.recovery == nil { return stored.generation == generation }
        return !isExact && generation != nil && generation == damaged
    }

    /// Takes over what the file holds now, under what is not written yet.
    ///
    /// - Parameter own: The keys that this process has changed in it.
    mutating func take(_ contents: DomainContents, own: Set<ExactKey> = []) {
        var next = contents.values
        for (key, change) in pending { next[key.text] = change.value }
        for entry in values where next[entry.key] == nil {
            changes.note(entry.key, isOwn: own.contains(ExactKey(entry.key)))
        }
        // Whether others can read the file decides on what counts of it.
        let (former, new) = (stored.status, contents.status)
        let isOtherwise = former?.isExposed != new?.isExposed || former?.owner != new?.owner
        for entry in next where isOtherwise || values[entry.key] != entry.value {
            changes.note(entry.key, isOwn: own.contains(ExactKey(entry.key)))
        }
        values = next
        stored = contents
        readings += 1
    }
}
