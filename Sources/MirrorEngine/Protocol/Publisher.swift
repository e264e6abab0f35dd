/// Our own folder in the directory: the next file to create, the room for it, and what is lost or no longer needed.
///
/// Every file is recorded in the journal before it is created, so that after a crash the same file is created.
struct Publisher: Sendable {
    /// Writers whose folders will be removed once a base of ours carries their writes.
    private var purging: Set<WriterID> = []
    /// The writers among them whose writes the intended base carries.
    private var purgingCarried: Set<WriterID> = []
    /// Whether all superseded files are to be removed once a base replaces them.
    private(set) var isCompacting = false
    /// The size of the files that are being removed from our folder.
    private var bytesBeingRemoved = 0
    /// Whether files of ours were found missing or damaged and no base has replaced them yet.
    private(set) var hasLosses = false
    /// Whether missing files of our own are written now, regardless of when this was last done.
    var healsNow = false
    /// The time of the last check of one of our own files, and the name of that file.
    var lastCheck: (at: Int64, name: PackName?)?

    /// Whether no folder is to be removed.
    var isAtRest: Bool { purging.isEmpty }

    /// Whether none of our own files is due.
    func isFullyPublished(_ context: EngineContext) -> Bool {
        context.local.outbox.isEmpty && context.local.intent == nil && !context.isNoteDue(at: nil)
            && !isBaseDue(context)
    }
}

// MARK: The next file

extension Publisher {
    /// Creates the next file that is due, if any.
    mutating func publish(at moment: Moment, in context: inout EngineContext) {
        guard context.directoryStatus == .present else { return }
        removeSuperseded(at: moment.now, in: &context)
        if context.local.intent == nil { intendNext(hasPublished: false, at: moment, in: &context) }
        context.createIntended()
    }

    /// - Parameter hasPublished: Whether a file of ours was created just now. Otherwise, many small logs do not justify
    ///   a base, because they would remain beside it for a day.
    private mutating func intendNext(hasPublished: Bool = true, at moment: Moment, in context: inout EngineContext) {
        if context.isNumberUsedUp { context.takeNextNumber(at: moment) }
        if context.isNoteDue(at: moment.now) {
            context.intendNote(at: moment.now)
        } else if !context.local.outbox.isEmpty {
            intendLog(at: moment, in: &context)
        } else if hasPublished ? isBaseDue(context) : isBaseOverdue(context) {
            intendBase(at: moment, in: &context)
        }
    }

    /// Handles the creation of our intended file, and continues with the next.
    mutating func finish(_ name: PackName, at moment: Moment, in context: inout EngineContext) {
        finishCreation(name, at: moment.now, in: &context)
        guard context.directoryStatus == .present else { return }
        if context.local.intent == nil { intendNext(at: moment, in: &context) }
        context.createIntended()
    }

    private mutating func finishCreation(_ name: PackName, at now: Int64, in context: inout EngineContext) {
        guard context.local.intent?.pack.name == name else { return }
        context.commit(.created(name, at: now))
        context.updateStatusAfterLeaving()
        guard name.kind == .base else { return }
        hasLosses = false
        removePurged(purgingCarried, in: &context)
        if isCompacting, context.local.outbox.isEmpty { removeAllSuperseded(at: now, in: &context) }
    }

    /// Requests the removal of the folders of these writers, whose writes our base carries.
    private mutating func removePurged(_ writers: Set<WriterID>, in context: inout EngineContext) {
        for writer in purging.intersection(writers).sorted() { context.removeFolder(of: writer) }
        purging.subtract(writers)
    }

    /// Records that files or blobs of ours were removed.
    mutating func recordRemoved(_ record: LocalRecord, in context: inout EngineContext) {
        bytesBeingRemoved = 0
        context.commit(record)
    }

    /// Removes a writer's folder once a base of ours carries its writes.
    mutating func purge(_ writer: WriterID, at moment: Moment, in context: inout EngineContext) {
        if !Rule.purgesAfterBase.isKept { return context.removeFolder(of: writer) }
        context.commit(.kept(writer))
        purging.insert(writer)
        compact(at: moment, in: &context)
    }
}

extension EngineContext {
    /// Requests the removal of a writer's folder with the files that were joined.
    mutating func removeFolder(of writer: WriterID) {
        act(.removeFolder(writer, joined: local.peers[writer]?.joined ?? []))
    }

    /// Whether our note is missing or outdated, or must announce that we leave.
    ///
    /// - Parameter now: The time, or nil to leave out what is due only because time has passed.
    fileprivate func isNoteDue(at now: Int64?) -> Bool {
        let folder = local.folder
        if folder.noteNumber == 0 || folder.owesNote { return true }
        // Other hosts wait for our acknowledgement before they forget what was deleted, or leave.
        if let now, let last = folder.acknowledgedAt, !now.isWithin(limits.acknowledgesEvery, of: last),
            folder.noteKnowledge != local.appliedKnowledge
        {
            return true
        }
        if folder.hasLeft != (isLeaving && (folder.hasLeft || local.outbox.isEmpty)) || isNumberUsedUp { return true }
        // The name of a note depends on all its contents.
        let published = folder.noteKnowledge
        return folder.created[note(folder.noteNumber, published, hasLeft: folder.hasLeft).encoded().name] == nil
    }

    fileprivate mutating func intendNote(at now: Int64) {
        let isLastNote = isLeaving && local.outbox.isEmpty
        let applied = local.appliedKnowledge
        let note = note(local.folder.noteNumber % 9999 + 1, applied, hasLeft: isLastNote)
        intend(note.encoded(), last: 0, knowledge: applied, isFarewell: isLastNote)
    }

    private func note(_ number: UInt64, _ knowledge: VersionVector, hasLeft: Bool) -> WriterNote {
        WriterNote(
            mirror: local.mirror, writer: local.writer, number: number, label: profile.label,
            platform: profile.platform, software: profile.software, hasLeft: hasLeft, knowledge: knowledge,
            signers: profile.signers)
    }

    /// Whether our note is to announce that nothing more will be published under our number.
    private var isLeaving: Bool { local.participation == .leaving || isNumberFull }

    /// Whether our number has as many logs as one may have. Every base lists all of them.
    private var isNumberFull: Bool {
        Rule.limitsNumbers.isKept && local.folder.tags.spans.count >= limits.logsOfNumber
    }

    /// Whether the others were told that nothing more will be published under our number, so that we take another.
    fileprivate var isNumberUsedUp: Bool {
        isNumberFull && local.folder.hasLeft && local.participation == .full
    }

    /// Takes another number. The folder of the former one is removed a day after a base contains its values.
    fileprivate mutating func takeNextNumber(at moment: Moment) {
        let former = local.writer
        commit(.tookNewNumber(WriterID(number: moment.random)))
        commit(.retired(former, at: moment.now))
    }

    fileprivate mutating func intend(
        _ pack: EncodedPack, last: UInt64, publishing count: Int = 0, knowledge: VersionVector? = nil,
        isFarewell: Bool = false
    ) {
        let intent = PackIntent(
            pack: local.withoutExistingBlobs(pack), last: last, published: count,
            knowledge: knowledge ?? local.knowledgeOfOthers, isFarewell: isFarewell,
            references: pack.blobs.map(\.reference))
        commit(.intended(intent), isDurable: Rule.recordsIntent.isKept)
    }

    fileprivate mutating func createIntended() {
        guard let pack = local.intent?.pack else { return }
        act(.create(PackAddress(writer: local.writer, name: pack.name), pack))
    }
}

extension LocalState {
    /// Returns the pack without the blobs that exist and are not about to be removed.
    fileprivate func withoutExistingBlobs(_ pack: EncodedPack) -> EncodedPack {
        var new = pack
        new.blobs = pack.blobs.filter { blob in folder.blobs[blob.name].map { $0.unneededSince != nil } ?? true }
        return new
    }

    /// A base with the whole state, which publishes the changes that wait.
    package var base: BasePack {
        var published = self
        published.publish(outbox.count, tag: FileTag(number: 0))
        var state = published.shared
        if !Rule.publishesAll.isKept {
            state.live = MergeState(sorted: state.live.atoms.filter { $0.name.dot?.writer == writer })
        }
        if !Rule.keepsGone.isKept { state.gone = [:] }
        var labels = peers.compactMapValues(\.label)
        if labels.count > Self.mostLabels { labels = [:] }
        return BasePack(
            mirror: mirror, writer: writer, last: published.sequence, state: state, tags: folder.tags, labels: labels,
            beyond: needsWholeBases ? nil : peers.mapValues { FileTags($0.beyond) }.filter { !$0.value.spans.isEmpty })
    }

    private static let mostLabels = 2048

    /// Returns the values of a domain that this host wrote and that our files contain.
    func published(in domain: String) -> [Atom] {
        shared.live.under(Path(domain: domain)).filter { atom in
            guard let author = atom.name.dot?.writer, atom.value.value != nil else { return false }
            return author == writer || formerWriters.contains(author)
        }
    }
}

// MARK: Logs and bases

extension Publisher {
    private mutating func intendLog(at moment: Moment, in context: inout EngineContext) {
        guard !context.isFull || !context.local.addsValues else { return context.report(.waiting(.quota)) }
        var (count, size) = (0, 0)
        for transaction in context.local.outbox {
            size += transaction.size
            if count > 0, size > context.limits.bytesOfLog { break }
            count += 1
        }
        let log = context.local.log(of: count)
        let pack = log.encoded()
        if sizeOfFolder(with: pack, context.local) <= context.limits.bytesOfWriter {
            context.intend(pack, last: log.last, publishing: count)
        } else if willHaveRoom(for: pack, context) {
            context.report(.waiting(.quota))
        } else {
            // A base also publishes the outbox, as far as it is in force.
            intendBase(insteadOfLog: true, at: moment, in: &context)
        }
    }

    /// Whether there is room for a pack once unneeded files are gone, which are removed early from a full folder.
    private func willHaveRoom(for pack: EncodedPack, _ context: EngineContext) -> Bool {
        let (local, most) = (context.local, context.limits.bytesOfWriter)
        return local.folder.size - bytesBeingRemoved > most / 4 * 3
            && local.folder.neededSize + local.withoutExistingBlobs(pack).size <= most
    }

    private mutating func intendBase(
        insteadOfLog: Bool = false, at moment: Moment, in context: inout EngineContext
    ) {
        context.forgetDeletions(at: moment)
        let base = context.local.base
        guard base.state.live.size.isReadable else { return context.report(.waiting(.quota)) }
        let pack = base.encoded()
        guard pack.bytes.count <= context.limits.bytesOfFile else { return context.report(.waiting(.quota)) }
        // The files that it supersedes remain beside it for a while.
        let most = context.limits.bytesOfWriter
        let hasRoom = pack.size <= most && sizeOfFolder(with: pack, context.local) <= most * 2
        guard !insteadOfLog || hasRoom else { return context.report(.waiting(.quota)) }
        // A base that may be lost is written again, under the same name if its contents are the same.
        guard context.local.folder.owesBase || context.local.folder.created[pack.name] == nil else {
            removePurged(purging, in: &context)
            if isCompacting { removeAllSuperseded(at: moment.now, in: &context) }
            return
        }
        purgingCarried = purging
        context.intend(pack, last: base.last, publishing: context.local.outbox.count)
    }

    /// Returns the size of our folder with a new pack, and without the files that are being removed.
    private func sizeOfFolder(with pack: EncodedPack, _ local: LocalState) -> Int {
        local.folder.size - bytesBeingRemoved + local.withoutExistingBlobs(pack).size
    }
}

extension MergeState.Size {
    /// Whether other hosts can read a file with all of it.
    fileprivate var isReadable: Bool {
        values <= BlobTable.mostExpanded && paths <= DecodedPathBudget.mostBytes && long <= BlobTable.mostBlobs
    }
}

extension LocalState {
    /// Whether values wait to be published. Deletions and accepted conflicts are published even to a full mirror,
    /// because they make room.
    fileprivate var addsValues: Bool {
        outbox.contains { transaction in
            transaction.changes.contains {
                $0.value?.value != nil && shared.live.atom(AtomName($0.id, nil), at: $0.path) != nil
            }
        }
    }
}

extension LocalState {
    /// Returns a log of the first transactions in the outbox.
    fileprivate func log(of count: Int) -> LogPack {
        var transactions = Array(outbox.prefix(count))
        let ids = Set(transactions.flatMap(\.changes).map(\.id))
        var dots: [WriteID: TransactionID] = [:]
        for (index, transaction) in transactions.enumerated() {
            let dot = TransactionID(writer: writer, sequence: sequence + UInt64(index) + 1)
            for change in transaction.changes { dots[change.id] = dot }
        }
        for index in transactions.indices {
            let dot = TransactionID(writer: writer, sequence: sequence + UInt64(index) + 1)
            transactions[index].changes = transactions[index].changes.map { published($0, as: dot, dots, ids) }
        }
        return LogPack(
            mirror: mirror, writer: writer, first: sequence + 1, previous: folder.tip,
            knowledge: knowledgeOfOthers.differences(from: folder.publishedKnowledge), transactions: transactions)
    }

    /// Returns a change in the form in which a log contains it: with published names, and without what was replaced
    /// since.
    private func published(
        _ change: Change, as dot: TransactionID, _ dots: [WriteID: TransactionID], _ ids: Set<WriteID>
    ) -> Change {
        var change = change
        change.covers = change.covers.compactMap { cover in
            guard cover.name.dot == nil else { return cover }
            return dots[cover.name.id].map { Cover(AtomName(cover.name.id, $0), cover.region) }
        }
        if change.value != nil, Rule.withholdsReplaced.isKept {
            let remaining = shared.live.atom(AtomName(change.id, nil), at: change.path)?.region ?? .none
            if remaining.isEmpty {
                change.value = nil
            } else if remaining != Region(change.path) {
                change.covers.append(Cover(AtomName(change.id, dot), Region(change.path).subtracting(remaining)))
            }
        }
        change.covers = change.covers.joined
        return change
    }
}

extension EngineContext {
    /// Forgets the deletions that no host needs. Otherwise, every key that ever existed would remain in every base.
    fileprivate mutating func forgetDeletions(at moment: Moment) {
        guard hasReadAll else { return }
        let changes = local.forgettable.map { atom in
            Change(
                WriteID(random: moment.random, path: atom.path, stamp: .zero, value: nil), at: atom.path, nil,
                stamp: .zero, covers: [Cover(atom.name, atom.region)])
        }
        for changes in changes.parts {
            commit(
                .decided(Decision(transaction: Transaction(changes), clock: local.clock.local, when: moment.now)))
        }
    }

    /// Whether the mirror, with the changes that wait, has more values than it may.
    fileprivate var isFull: Bool {
        let live = local.shared.live
        return live.count > limits.keys || !live.size.isReadable || live.size.file > limits.bytesOfMirror
    }
}

extension Transaction {
    /// The approximate number of bytes in a log and its blobs.
    fileprivate var size: Int { changes.reduce(32) { $0 + $1.size } }
}

// MARK: Compaction

extension Publisher {
    /// Whether a base would save more than it costs.
    private func isBaseDue(_ context: EngineContext) -> Bool {
        let (folder, limits) = (context.local.folder, context.limits)
        return isBaseOverdue(context)
            || folder.logCount >= max(limits.leastLogs, folder.baseBytes / (64 << 10)) && context.hasRoomForSuperseded
    }

    private func isBaseOverdue(_ context: EngineContext) -> Bool {
        let (folder, limits) = (context.local.folder, context.limits)
        // A base makes room for new logs by what it supersedes.
        let room = limits.bytesOfWriter - folder.baseBytes
        let isGreat = folder.logBytes >= max(limits.leastLogBytes, min(folder.baseBytes, room) / 2)
        return isGreat || folder.owesBase || !purging.isEmpty || isCompacting
    }

    /// Creates a base now, unless there is something to publish first.
    mutating func compact(at moment: Moment, in context: inout EngineContext) {
        guard context.directoryStatus == .present, context.local.intent == nil else { return }
        if context.local.outbox.isEmpty {
            intendBase(at: moment, in: &context)
        } else {
            intendNext(at: moment, in: &context)
        }
        context.createIntended()
    }

    /// Creates a base, and then removes what it supersedes without the usual delay.
    mutating func compactNow(at moment: Moment, in context: inout EngineContext) {
        isCompacting = true
        compact(at: moment, in: &context)
    }

    private mutating func removeAllSuperseded(at now: Int64, in context: inout EngineContext) {
        removeSuperseded(at: now, in: &context)
        isCompacting = false
    }

    private mutating func removeSuperseded(at now: Int64, in context: inout EngineContext) {
        let local = context.local
        let files = local.folder.created.compactMap { name, file in
            file.supersededAt.map { Leftover(name: name, size: file.size, since: $0) }
        }
        let open = Set(local.intent?.references.map(\.name) ?? [])
        let blobs = local.folder.blobs.compactMap { name, blob in
            open.contains(name) ? nil : blob.unneededSince.map { Leftover(name: name, size: blob.size, since: $0) }
        }
        bytesBeingRemoved = 0
        let goingBlobs = removable(blobs, after: context.limits.unneededFor, at: now, context)
        // A file must be removed no later than a blob to which it refers, or its readers would wait for the blob.
        let last = goingBlobs.map(\.since).max() ?? .min
        let referring = files.filter { $0.since <= last }
        bytesBeingRemoved += referring.reduce(0) { $0 + $1.size }
        let goingFiles =
            referring
            + removable(files.filter { $0.since > last }, after: context.limits.supersededFor, at: now, context)
        if !goingFiles.isEmpty { context.act(.remove(goingFiles.map(\.name).sorted())) }
        if !goingBlobs.isEmpty { context.act(.removeBlobs(goingBlobs.map(\.name).sorted())) }
    }

    /// A file or blob that is no longer needed.
    private struct Leftover<Name> {
        let name: Name
        let size: Int
        let since: Int64
    }

    /// Returns the leftovers to remove: those that have expired and, if a continuous stream of changes leaves more than
    /// the limits allow, the oldest of the others. Without an outbox nothing is removed early, so that a host at rest
    /// has nothing to do. Many are removed at once, because finding them requires a pass over all.
    private mutating func removable<Name>(
        _ leftovers: [Leftover<Name>], after time: Int64, at now: Int64, _ context: EngineContext
    ) -> [Leftover<Name>] {
        let limits = context.limits
        var bytes = leftovers.reduce(0) { $0 + $1.size }
        var count = leftovers.count
        var size = context.local.folder.size - bytesBeingRemoved
        func exceed(_ part: Int, of parts: Int) -> Bool {
            count > limits.mostSuperseded / parts * part || bytes > limits.bytesOfWriter / 4 / parts * part
                || size > limits.bytesOfWriter / 4 * 3 / parts * part
        }
        let isOverfull = !context.local.outbox.isEmpty && exceed(1, of: 1)
        var going: [Leftover<Name>] = []
        for leftover in isOverfull ? leftovers.sorted(by: { $0.since < $1.since }) : leftovers {
            // The recorded time can be in the future if a clock was ahead.
            let isOlderThan = { (least: Int64) in !now.isWithin(least, of: leftover.since) }
            guard
                isCompacting || isOlderThan(time)
                    || isOverfull && isOlderThan(limits.supersededAtLeastFor) && exceed(3, of: 4)
            else {
                continue
            }
            going.append(leftover)
            count -= 1
            bytes -= leftover.size
            size -= leftover.size
            bytesBeingRemoved += leftover.size
        }
        return going
    }
}

extension EngineContext {
    /// Whether many small logs justify a base. Superseded files remain for a while, so a stream of changes would
    /// replace each base as soon as it is read.
    fileprivate var hasRoomForSuperseded: Bool {
        let superseded = local.folder.created.values.reduce(0) { $0 + ($1.supersededAt == nil ? 0 : $1.size) }
        return superseded <= limits.bytesOfWriter / 8
    }
}

// MARK: Lost and damaged files

extension Publisher {
    /// Compares our folder with what we created: the intended file may exist already, and created files may be gone.
    ///
    /// - Parameter names: The files in our folder, or nil if the folder is missing.
    mutating func checkFolder(
        _ names: Set<PackName>?, sizes: [String: Int], at now: Int64, in context: inout EngineContext
    ) {
        let inView = names ?? []
        if let intent = context.local.intent, inView.contains(intent.pack.name) {
            finishCreation(intent.pack.name, at: now, in: &context)
        }
        let folder = context.local.folder
        let returned = folder.removed.filter { inView.contains($0) && folder.created[$0] == nil }
        if !returned.isEmpty { context.act(.remove(returned)) }
        let (files, blobs) = folder.losses(sizes)
        hasLosses = false
        guard !files.isEmpty || !blobs.isEmpty else { return }
        heal(files.filter(inView.contains), blobs: blobs, isFolderMissing: names == nil, at: now, in: &context)
    }

    /// Removes damaged files of ours, and schedules a base with the contents of all that are lost.
    mutating func heal(
        _ damaged: [PackName], blobs: [BlobName] = [], isFolderMissing: Bool, at now: Int64,
        in context: inout EngineContext
    ) {
        hasLosses = true
        guard context.directoryStatus == .present else { return }
        guard !context.local.folder.owesBase else {
            // The scheduled base must not refer to blobs that were lost since.
            if !blobs.isEmpty { context.act(.removeBlobs(blobs)) }
            return
        }
        let every = isFolderMissing ? context.limits.restoresEvery : context.limits.healsEvery
        if !healsNow, let last = context.local.folder.lastHealing, now.isWithin(every + 1, of: last) { return }
        healsNow = false
        context.commit(.lostFiles(at: now))
        context.report(.lostFiles)
        if !damaged.isEmpty { context.act(.remove(damaged)) }
        if !blobs.isEmpty { context.act(.removeBlobs(blobs)) }
    }

    /// Returns the next of our own files to read again, in rotation, to detect damage of the medium.
    mutating func fileToCheck(at now: Int64, _ context: EngineContext) -> PackAddress? {
        let local = context.local
        let names = local.folder.created.keys.filter(local.folder.needs).sorted()
        guard let last = lastCheck else {
            lastCheck = (now, nil)
            return nil
        }
        guard !now.isWithin(context.limits.checksEvery, of: last.at), let first = names.first else { return nil }
        let next = names.first { name in last.name.map { $0 < name } ?? true } ?? first
        lastCheck = (now, next)
        return PackAddress(writer: local.writer, name: next)
    }
}
