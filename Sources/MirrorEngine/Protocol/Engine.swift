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
        /// The hosts that may write to a signed mirror; nil in a mirror without signatures.
        package var signers: Signers?

        package init(label: String, platform: String, software: String, signers: Signers? = nil) {
            self.label = label
            self.platform = platform
            self.software = software
            self.signers = signers
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
        case .publish:
            context.hasReadAll = inbox.hasReadAll(local)
            publisher.publish(at: moment, in: &context)
        case .created(let name): publisher.finish(name, at: moment, in: &context)
        case .notCreated(let failure): context.report(.waiting(failure))
        case .removed(let names): publisher.recordRemoved(.removed(names), in: &context)
        case .removedBlobs(let names): publisher.recordRemoved(.removedBlobs(names), in: &context)
        case .compact: publisher.compact(at: moment, in: &context)
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

    /// Returns the keys of a domain that stayed on this host, and no longer do.
    package func keysToMirror(of domain: Path) -> [Path] { local.keysToMirror(of: domain, policy) }

    package var policy: DomainPolicy {
        get { context.policy }
        set { context.policy = newValue }
    }

    package var profile: Profile {
        get { context.profile }
        set { context.profile = newValue }
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
        context.hasReadAll = false
        let writer = local.writer
        publisher.checkFolder(
            inbox.folders[writer], sizes: listing.folders[writer] ?? [:], at: moment.now, in: &context)
        inbox.recordPeers(at: moment.now, in: &context)
        var wanted = inbox.wanted(listing, at: moment.now, local)
        if let own = publisher.fileToCheck(at: moment.now, context) { wanted.append(own) }
        if !wanted.isEmpty { context.act(.fetch(wanted.sorted(by: PackAddress.isReadBefore))) }
        joinWaiting(at: moment)
        purgeRetired(at: moment)
    }

    /// Removes the folders of hosts that were retired a day ago and published nothing since.
    private mutating func purgeRetired(at moment: Moment) {
        for (writer, since) in local.retired.sorted(by: { $0.key < $1.key }) where inbox.hasOnlyJoined(writer, local) {
            guard !moment.now.isWithin(context.limits.retiredFor, of: since), writer != local.writer else { continue }
            if local.peers[writer]?.isKept ?? false, !local.folder.owesBase {
                // The folder could not be removed before.
                context.removeFolder(of: writer)
            } else {
                publisher.purge(writer, at: moment, in: &context)
            }
        }
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
        let isFileMissing = local.folder.created.keys.contains { local.folder.needs($0) && !names.contains($0) }
        if isFileMissing { context.commit(.lostFiles(at: moment.now)) }
        context.commit(.tookNewNumber(WriterID(number: moment.random)))
        context.report(.tookNewNumber(former: former, new: local.writer))
        let files = names.map { PackAddress(writer: former, name: $0) }
        context.act(.fetch(files.sorted(by: PackAddress.isReadBefore)))
    }

    /// Joins every file that is due, until none is left.
    private mutating func joinWaiting(isLast: Bool = true, at moment: Moment) {
        guard !applier.isWriting else { return }
        var (progress, again) = (true, [PackAddress]())
        while progress {
            progress = false
            for address in inbox.waitingFiles {
                switch inbox.takeDue(address, at: moment.now, context) {
                case .notDue: break
                case .dropped(let address): again += [address].compactMap(\.self)
                case .pack(let pack) where !local.mayJoin(pack): again.append(pack.address)
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
        guard isLast else { return }
        applier.hasJoined = false
        applier.requestLocks(in: &context)
    }

    private mutating func join(_ pack: Pack, at moment: Moment) {
        if local.isContradicted(by: pack), Rule.takesNewNumber.isKept { takeNewNumber(at: moment) }
        let before = local.shared.live
        let record = local.record(ofJoining: pack, at: moment.now)
        context.commit(record)
        let keys =
            switch (pack.content, record) {
            case (.log(let log), _): log.keys
            case (.base(let base), .joinedBase(_, let changed, _)): local.keys(changedBy: base, changed)
            case (.base, _): before.keysDiffering(from: local.shared.live)
            case (.note, _): Set<Path>()
            }
        context.reportConflicts(at: keys, since: before)
    }
}

extension LocalState {
    /// Whether a file has all that joining it requires: the values of a base were skipped only if it still has nothing
    /// new.
    fileprivate func mayJoin(_ pack: Pack) -> Bool {
        guard case .base(let base) = pack.content, base.skipsValues else { return true }
        return hasAll(of: base, hash: pack.hash)
    }

    /// Whether another writer read files under our number that we did not publish, so that a copy of this store did.
    /// Its files may not have arrived yet, and other hosts would ignore our next changes under the number as known.
    fileprivate func isContradicted(by pack: Pack) -> Bool {
        if case .base(let base) = pack.content, base.state.forks[writer] != nil { return true }
        guard let entry = pack.knowledge.entry(of: writer) else { return false }
        if entry.sequence > sequence { return !isIntended(entry) }
        return Rule.comparesTags.isKept && folder.tags.tag(of: entry.sequence).map { $0 != entry.tag } ?? false
    }

    /// Whether a transaction is in the log that we were about to create.
    private func isIntended(_ entry: VersionVector.Entry) -> Bool {
        guard let intent, intent.published > 0 else { return false }
        return entry.sequence <= intent.last && entry.tag == FileTag(intent.pack.hash)
    }
}

// MARK: Commands

extension Engine {
    private mutating func carryOut(_ command: Command, at moment: Moment) {
        switch command {
        case .add(let domain): context.commit(.configured(domain: domain, isMirrored: true))
        case .remove(let domain): context.commit(.configured(domain: domain, isMirrored: false))
        case .release(let domain, let takesFile): applier.release(domain, takesFile: takesFile, in: &context)
        case .accept(let conflicts): accept(conflicts, at: moment)
        case .retire(let writer): context.commit(.retired(writer, at: moment.now))
        case .leave: context.setParticipation(.leaving)
        case .detach: context.setParticipation(.detached)
        case .purge(let writer): purge(writer, at: moment)
        case .rebuild(let packs):
            let before = local.shared.live
            context.commit(.rebuilt(packs))
            context.reportConflicts(at: before.keysDiffering(from: local.shared.live), since: before)
            applier.requestLocks(in: &context)
        case .compact: publisher.compactNow(at: moment, in: &context)
        case .withdraw(let domain): withdraw(domain, at: moment)
        case .heal: publisher.healsNow = true
        case .pause: context.setParticipation(.paused)
        case .resume: context.setParticipation(.full)
        }
    }

    /// Accepts lost values where they are open conflicts now.
    private mutating func accept(_ conflicts: [Conflict], at moment: Moment) {
        var changes: [Change] = []
        let open = Dictionary(grouping: Set(conflicts.map { $0.place.prefix(components: 2) })) { $0 }.keys.reduce(
            into: [:]) {
                $0[$1] = local.shared.live.conflicts(under: $1)
            }
        for conflict in conflicts.sorted(by: { $0.place < $1.place }) {
            let key = conflict.place.prefix(components: 2)
            guard let present = open[key]?.first(where: { $0.isSame(as: conflict) }) else { continue }
            changes.append(
                Change(
                    WriteID(random: moment.random, path: present.place, stamp: .zero, value: conflict.value),
                    at: present.place, nil, stamp: .zero, covers: present.covers.joined))
        }
        decide(changes, local.clock, at: moment)
    }

    /// Replaces our values of a domain with `left`, so that each host keeps its own, and removes the files that contain
    /// them. In a mirrored domain, these are the values of keys that are declared to stay on each host.
    private mutating func withdraw(_ domain: String, at moment: Moment) {
        var published = local.published(in: domain)
        if local.trackedFiles[Path(domain: domain)]?.isMirrored == true {
            let stay = policy.stay(domain)
            published = published.filter { stay($0.path.key ?? "")?.isDeclared ?? false }
        }
        guard !published.isEmpty else { return }
        var clock = local.clock
        let stamp = clock.stamp(at: moment.now)
        let changes = Set(published.map { $0.path.prefix(components: 2) }).sorted().map { key in
            let replaced = local.shared.live.replaced(byWriteAt: key, of: .left, shown: [], showing: nil)
            let stamp = max(stamp, replaced.stamp?.next ?? .zero)
            return Change(
                WriteID(random: moment.random, path: key, stamp: stamp, value: .left), at: key, .left, stamp: stamp,
                covers: replaced.covers)
        }
        decide(changes, clock, at: moment)
        publisher.compactNow(at: moment, in: &context)
    }

    private mutating func decide(_ changes: [Change], _ clock: HybridClock, at moment: Moment) {
        guard !changes.isEmpty else { return }
        context.commit(
            .decided(Decision(transaction: Transaction(changes), clock: clock.local, when: moment.now)))
        applier.requestLocks(in: &context)
    }

    /// Publishes everything that a writer wrote, and then removes its folder. A folder stays if it has a file that was
    /// not read or is not kept in memory: a newer version may read more of it, and missing blobs may still arrive.
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
        publisher.purge(writer, at: moment, in: &context)
    }
}
