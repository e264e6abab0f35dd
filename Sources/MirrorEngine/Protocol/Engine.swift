/// The part of one store in a mirror: receives events and returns the actions that follow. It performs no I/O.
///
/// An exchange sends `directory`, then `observed` with all changed preference files, then `listed`, then `publish`. The
/// caller carries out the returned actions in order, each durably before the next is started. Then it sends their
/// results, one by one. After a crash, the engine starts with the state in the journal, and needs no report of what was
/// in progress.
///
/// The engine passes events to three parts, each with its own state: the inbox for the files of other writers, the
/// publisher for our own folder, and the applier for the preference files.
package struct Engine: Sendable {
    private(set) var context: EngineContext
    private(set) var inbox = Inbox()
    private(set) var publisher = Publisher()
    private var applier = Applier()

    /// The description of this host for others.
    package struct Profile: Hashable, Sendable {
        package var label: String
        package var platform: String
        package var software: String

        package init(label: String, platform: String, software: String) {
            self.label = label
            self.platform = platform
            self.software = software
        }
    }

    package init(
        _ local: LocalState, profile: Profile, policy: DomainPolicy = .plain, limits: EngineLimits = EngineLimits(),
        seed: Seeding = .merge, longValues: (any LongValueStore)? = nil, directoryStatus: DirectoryStatus = .unknown,
        continuing waits: PendingWaits? = nil
    ) {
        var local = local
        local.restart()
        context = EngineContext(
            local, profile: profile, policy: policy, limits: limits, seed: seed, longValues: longValues)
        context.directoryStatus = directoryStatus
        guard let waits else { return }
        inbox.resume(waits)
        publisher.lastCheck = waits.lastCheck.map { ($0, waits.lastChecked) }
    }

    /// Handles an event. Returns the actions that follow from it.
    package mutating func handle(_ event: Event, at moment: Moment) -> [Action] {
        guard local.participation != .detached else { return [] }
        switch event {
        case .directory(let directory): context.look(at: directory)
        case .listed(let listing): take(listing, at: moment)
        case .fetched(let files, let isLast): take(files, isLast: isLast, at: moment)
        case .foundMark(let mark): context.check(mark)
        case .exchangeEnded: context.leaveMark(moment.random)
        case .marked: context.commit(.foundMark)
        case .observed(let observations): applier.observe(observations, at: moment, in: &context)
        case .locked(let observations): applier.applyUnderLock(observations, at: moment, in: &context)
        case .written(let outcome):
            applier.finishWrite(outcome, in: &context)
            joinWaiting(at: moment)
        case .publish: publisher.publish(at: moment.now, in: &context)
        case .created(let name): publisher.finish(name, at: moment.now, in: &context)
        case .notCreated(let failure): context.report(.waiting(failure))
        case .removed(let names): publisher.recordRemoved(.removed(names), in: &context)
        case .removedBlobs(let names): publisher.recordRemoved(.removedBlobs(names), in: &context)
        case .compact: publisher.compact(at: moment.now, in: &context)
        case .command(let command): carryOut(command, at: moment)
        }
        return context.takeActions()
    }
}

// MARK: The state

extension Engine {
    var local: LocalState { context.local }
    private var directoryStatus: DirectoryStatus { context.directoryStatus }

    /// The status of the engine. While a caller keeps it, an event copies the parts of the state that it changes.
    package var status: EngineStatus { EngineStatus(self) }

    package var policy: DomainPolicy {
        get { context.policy }
        set { context.policy = newValue }
    }

    package var limits: EngineLimits {
        get { context.limits }
        set { context.limits = newValue }
    }

    /// Whether none of our own files is due.
    var isFullyPublished: Bool { publisher.isFullyPublished(context) }

    /// Whether publishing would exceed a limit, determined by a copy that computes no digest: a digest reads the bytes
    /// of every value.
    func exceedsQuota(at moment: Moment) -> Bool {
        guard !isFullyPublished else { return false }
        var trial = self
        trial.context.isTrial = true
        return trial.handle(.publish, at: moment).contains(.report(.waiting(.quota)))
    }

    /// Whether nothing is incomplete, unpublished or due. While the mirror is paused or left, every exchange must
    /// report that, so the state is needed.
    var isAtRest: Bool {
        isFullyPublished && local.participation == .full && local.application == nil && !local.restoreMarkers.isOpen
            && inbox.isAtRest && publisher.isAtRest && applier.isAtRest
    }
}

// MARK: Continuation by another engine

extension Engine {
    /// Continues under other settings, with another state or, if it is nil, with the same one.
    package mutating func restart(
        with state: LocalState? = nil, profile: Profile, policy: DomainPolicy, seed: Seeding,
        longValues: (any LongValueStore)?, continuing waits: PendingWaits?
    ) {
        self = Engine(
            state ?? local, profile: profile, policy: policy, seed: seed, longValues: longValues,
            directoryStatus: directoryStatus, continuing: waits)
    }

    /// Returns a journal that starts with the state.
    ///
    /// Files that wait for others are released and read again when they are due, because a new journal keeps only the
    /// long values of the state.
    package mutating func checkpoint() -> Journal.Checkpoint {
        inbox.dropWaiting(beyond: 0)
        return Journal.checkpoint(of: local)
    }

    /// The waits that the next engine should continue.
    package var pendingWaits: PendingWaits {
        var waits = inbox.pendingWaits
        (waits.lastCheck, waits.lastChecked) = (publisher.lastCheck?.at, publisher.lastCheck?.name)
        return waits
    }
}

// MARK: Files in the directory

extension Engine {
    /// Compares the files in view with those that were joined, and fetches the rest.
    private mutating func take(_ listing: Listing, at moment: Moment) {
        guard directoryStatus == .present else { return }
        inbox.take(listing, in: &context)
        let writer = local.writer
        publisher.checkFolder(
            inbox.folders[writer], sizes: listing.folders[writer] ?? [:], at: moment.now, in: &context)
        inbox.recordPeers(at: moment.now, in: &context)
        var wanted = inbox.wanted(listing, at: moment.now, local)
        if let own = publisher.fileToCheck(at: moment.now, context) { wanted.append(own) }
        if !wanted.isEmpty { context.act(.fetch(wanted.sorted(by: PackAddress.isReadBefore))) }
        joinWaiting(at: moment)
    }

    private mutating func take(_ files: [PackAddress: Fetch], isLast: Bool, at moment: Moment) {
        guard directoryStatus == .present else { return }
        for (address, fetch) in files.sorted(by: { $0.key < $1.key }) {
            if address.writer == local.writer, takeOwn(address, fetch, at: moment) { continue }
            switch fetch {
            case .pack(let pack) where pack.address == address && pack.mirror == local.mirror:
                inbox.keep(pack, at: moment.now)
            case .pack:
                inbox.note(.contradiction("name or mirror"), at: address, now: moment.now, in: &context)
            case .faulty(let fault): inbox.note(fault, at: address, now: moment.now, in: &context)
            case .unreadable: inbox.note(address, at: moment.now)
            }
        }
        joinWaiting(isLast: isLast, at: moment)
    }

    /// Handles a file in our own folder. Returns false for one that is handled like a file of another writer.
    private mutating func takeOwn(_ address: PackAddress, _ fetch: Fetch, at moment: Moment) -> Bool {
        switch fetch {
        case .pack(let pack) where pack.address == address && pack.mirror == local.mirror:
            inbox.clearFault(address)
            if local.isForeign(address.name), Rule.takesNewNumber.isKept { takeNewNumber(at: moment) }
        case .faulty(let fault) where fault.isOfNewerVersion:
            // The file is valid, so a copy of this store that has a newer version created it.
            if local.isForeign(address.name), Rule.takesNewNumber.isKept { takeNewNumber(at: moment) }
        case .faulty(let fault) where local.folder.created[address.name] != nil:
            let isFolderMissing = inbox.folders[local.writer] == nil
            if case .missingBlobs(let references) = fault {
                publisher.heal(
                    [], blobs: references.map(\.name), isFolderMissing: isFolderMissing, at: moment.now, in: &context)
            } else {
                publisher.heal([address.name], isFolderMissing: isFolderMissing, at: moment.now, in: &context)
            }
        default: return false
        }
        return true
    }

    /// Takes another number, because another store writes under ours.
    private mutating func takeNewNumber(at moment: Moment) {
        let former = local.writer
        let names = inbox.folders[former] ?? []
        let inView = local.intent.map { names.contains($0.pack.name) } ?? false
        let isFileMissing = local.folder.created.keys.contains { local.folder.needs($0) && !names.contains($0) }
        if isFileMissing { context.commit(.lostFiles(at: moment.now)) }
        context.commit(.tookNewNumber(former.next(random: moment.random), intentIsInView: inView))
        context.report(.tookNewNumber(former: former, new: local.writer))
        let files = names.map { PackAddress(writer: former, name: $0) }
        context.act(.fetch(files.sorted(by: PackAddress.isReadBefore)))
    }

    /// Joins every file that is due, until none is left.
    private mutating func joinWaiting(isLast: Bool = true, at moment: Moment) {
        guard !applier.isWriting else { return }
        let conflicts = local.conflicts.entries.count
        var (progress, again) = (true, [PackAddress]())
        while progress {
            progress = false
            for address in inbox.waitingFiles {
                switch inbox.takeDue(address, at: moment.now, context) {
                case .notDue: break
                case .dropped(let address): again += [address].compactMap(\.self)
                case .pack(let pack):
                    join(pack, at: moment)
                    progress = true
                    applier.hasJoined = true
                }
            }
        }
        inbox.dropWaiting(beyond: context.limits.bytesWaiting)
        if !again.isEmpty { context.act(.fetch(again)) }
        guard applier.hasJoined else { return }
        context.reportConflicts(since: conflicts)
        guard isLast else { return }
        applier.hasJoined = false
        applier.requestLocks(in: &context)
    }

    private mutating func join(_ pack: Pack, at moment: Moment) {
        // If another writer knows more under our number than we have published, it read that from a copy of this store,
        // whose files may not have arrived yet. Other hosts would ignore our next changes under that number as known.
        if pack.sequence(of: local.writer) > local.lastPublished, Rule.takesNewNumber.isKept {
            takeNewNumber(at: moment)
        }
        context.commit(.joined(pack, at: moment.now))
        if case .base(let base) = pack.content, local.differs(from: base) {
            context.report(.digestMismatch(base.writer))
        }
    }
}

extension LocalState {
    /// Whether a base with the same knowledge shows another state.
    fileprivate func differs(from base: BasePack) -> Bool {
        guard outbox.isEmpty, let theirs = Digest(base.digest) else { return false }
        // Only hosts with the same knowledge can compare, and that check is cheap.
        var known = base.knowledge
        known[base.writer] = base.last
        guard known == knowledge else { return false }
        let ours = digest
        return ours.tips == theirs.tips && ours.state != theirs.state
    }
}

// MARK: Commands

extension Engine {
    private mutating func carryOut(_ command: Command, at moment: Moment) {
        switch command {
        case .add(let domain): context.commit(.configured(domain: domain, isMirrored: true))
        case .remove(let domain): context.commit(.configured(domain: domain, isMirrored: false))
        case .release(let domain, let takesFile): applier.release(domain, takesFile: takesFile, in: &context)
        case .resolve(let conflicts): context.commit(.resolvedConflicts(conflicts, at: moment.now))
        case .restore(let conflicts): restore(conflicts, at: moment)
        case .retire(let writer): context.commit(.retired(writer))
        case .leave: context.setParticipation(.leaving)
        case .detach: context.setParticipation(.detached)
        case .purge(let writer): purge(writer, at: moment)
        case .rebuild(let packs):
            context.commit(.rebuilt(packs))
            applier.requestLocks(in: &context)
        case .compact: publisher.compactNow(at: moment.now, in: &context)
        case .withdraw(let domain): withdraw(domain, at: moment)
        case .heal: publisher.healsNow = true
        case .pause: context.setParticipation(.paused)
        case .resume: context.setParticipation(.full)
        }
    }

    /// Writes the values of conflicts again, as new changes. Values of keys that stay here do not enter the mirror.
    private mutating func restore(_ ids: [WriteID], at moment: Moment) {
        let conflicts = ids.compactMap { local.conflicts.conflict($0) }.filter {
            !policy.staysLocal($0.path.domain, $0.path.key ?? "")
        }
        guard !conflicts.isEmpty else { return }
        var clock = local.clock
        let transaction = local.transaction(of: conflicts, &clock, at: moment)
        context.commit(
            .restored(
                Restoration(
                    conflicts: conflicts.map(\.id), transaction: transaction, clock: clock.local, when: moment.now)))
        applier.requestLocks(in: &context)
    }

    /// Replaces our values of a domain with `left`, so that each host keeps its own, and removes the files that contain
    /// them. In a mirrored domain, these are the values of keys that stay here.
    private mutating func withdraw(_ domain: String, at moment: Moment) {
        var published = local.published(in: domain)
        if local.trackedFiles[Path(domain: domain)]?.isMirrored == true {
            published = published.filter { policy.staysLocal(domain, $0.path.key ?? "") }
        }
        guard !published.isEmpty else { return }
        var clock = local.clock
        let (transactionID, stamp) = (
            TransactionID(writer: local.writer, sequence: local.sequence + 1), clock.stamp(at: moment.now)
        )
        let writes = Set(published.map { $0.path.prefix(components: 2) }).sorted().map { key in
            let shown = [VisibleWrite](published.filter { key.isPrefix(of: $0.path) })
            return Write(path: key, value: .left).stamped(stamp, over: shown, by: transactionID, moment.random)
        }
        let transaction = Transaction(id: transactionID, stamp: writes.map(\.stamp).min() ?? stamp, writes: writes)
        context.commit(
            .restored(Restoration(conflicts: [], transaction: transaction, clock: clock.local, when: moment.now)))
        publisher.compactNow(at: moment.now, in: &context)
    }

    /// Carries the writes of a writer, and then removes its folder. A folder stays if it has a file that was not read
    /// or is not kept in memory: a newer version may read more of it, and missing blobs may still arrive.
    private mutating func purge(_ writer: WriterID, at moment: Moment) {
        guard !inbox.closed.contains(writer) else { return context.report(.closed(writer)) }
        let unread = inbox.unread(of: writer)
        guard unread.isEmpty else {
            for address in unread {
                context.report(inbox.faulty[address]?.kind == .tooNew ? .tooNew(address) : .unread(address))
            }
            return
        }
        inbox.stopWaiting(for: writer, at: moment.now, context.limits)
        joinWaiting(at: moment)
        publisher.purge(writer, at: moment.now, in: &context)
    }
}

extension LocalState {
    /// Returns the displaced values that are not in force again. They replace what the file shows, like any other
    /// write.
    fileprivate func transaction(
        of conflicts: [ConflictJournal.Conflict], _ clock: inout HybridClock, at moment: Moment
    ) -> Transaction? {
        let lost = conflicts.map { Write(path: $0.path, value: $0.value) }
        // Of several values at one path, the newest is restored.
        let writes = lost.normalised.filter { mergeState.value(at: $0.path) != $0.value.value }
        guard !writes.isEmpty else { return nil }
        let (transactionID, stamp) = (
            TransactionID(writer: writer, sequence: sequence + 1), clock.stamp(at: moment.now)
        )
        let stamped = writes.map { write in
            let shown = shownWrites(at: write.path.prefix(components: 2))
            return write.stamped(stamp, over: shown, by: transactionID, moment.random)
        }
        return Transaction(id: transactionID, stamp: stamped.map(\.stamp).min() ?? stamp, writes: stamped)
    }
}
