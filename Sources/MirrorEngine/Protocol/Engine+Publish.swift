// From the state to the directory.
extension Engine {
    /// Creates the next file that is due, if any.
    mutating func publish(at now: Int64) {
        guard standing.isOpen else { return }
        removeSuperseded(at: now)
        if local.intent == nil { intendNext(hasSpoken: false, at: now) }
        createIntended()
    }

    private mutating func createIntended() {
        guard let pack = local.intent?.pack else { return }
        act(.create(PackAddress(writer: local.writer, name: pack.name), pack))
    }

    /// - Parameter hasSpoken: Whether a file of ours was created just now. Otherwise, many small logs do not justify a
    ///   base, because they would remain beside it for a day.
    private mutating func intendNext(hasSpoken: Bool = true, at now: Int64) {
        if isNoteDue {
            intendNote()
        } else if !local.outbox.isEmpty {
            intendLog(at: now)
        } else if hasSpoken ? isBaseDue : isBaseOverdue {
            intendBase(at: now)
        }
    }

    /// Whether our note does not describe us correctly, or must announce that we leave.
    var isNoteDue: Bool {
        let folder = local.folder
        if folder.noteNumber == 0 || folder.owesNote { return true }
        if folder.hasLeft != (isLeaving && (folder.hasLeft || local.outbox.isEmpty)) { return true }
        // The name of a note depends on all its contents.
        return folder.created[note(folder.noteNumber, hasLeft: folder.hasLeft).encoded().name] == nil
    }

    private func note(_ number: UInt64, hasLeft: Bool) -> WriterNote {
        WriterNote(
            mirror: local.mirror, writer: local.writer, number: number, label: profile.label,
            platform: profile.platform, software: profile.software, hasLeft: hasLeft)
    }

    private var isLeaving: Bool { local.participation == .leaving }

    /// Handles the creation of our intended file, and continues with the next.
    mutating func finish(_ name: PackName, at now: Int64) {
        finishCreation(name, at: now)
        guard standing.isOpen else { return }
        if local.intent == nil { intendNext(at: now) }
        createIntended()
    }

    mutating func finishCreation(_ name: PackName, at now: Int64) {
        guard local.intent?.pack.name == name else { return }
        commit(.created(name, at: now))
        if standing == .present { standing = standingWherePresent }
        guard name.kind == .base else { return }
        hasLosses = false
        removePurged(purgingCarried)
        if isCompacting, local.outbox.isEmpty { removeAllSuperseded(at: now) }
    }

    /// Requests the removal of the folders of these writers, whose atoms our base carries.
    private mutating func removePurged(_ writers: Set<WriterID>) {
        for writer in purging.intersection(writers).sorted() { act(.removeFolder(writer)) }
        purging.subtract(writers)
    }

    private mutating func intend(_ pack: EncodedPack, last: UInt64, isFarewell: Bool = false) {
        let intent = PackIntent(
            pack: withoutExistingBlobs(pack), last: last, knowledge: local.knowledgeOfOthers, isFarewell: isFarewell,
            references: pack.blobs.map(\.reference))
        commit(.intended(intent), isDurable: Rule.recordsIntent.isKept)
    }

    /// Returns the pack without the blobs that exist and are not about to be removed.
    private func withoutExistingBlobs(_ pack: EncodedPack) -> EncodedPack {
        var new = pack
        new.blobs = pack.blobs.filter { blob in
            local.folder.blobs[blob.name].map { $0.unneededSince != nil } ?? true
        }
        return new
    }

    /// Returns the size of our folder with a new pack, and without the files that are being removed.
    private func sizeOfFolder(with pack: EncodedPack) -> Int {
        local.folder.size - bytesBeingRemoved + withoutExistingBlobs(pack).size
    }

    /// Whether there is room for a pack once unneeded files are gone, which are removed early from a full folder.
    private func willHaveRoom(for pack: EncodedPack) -> Bool {
        let folder = local.folder
        return folder.size - bytesBeingRemoved > limits.bytesOfWriter / 4 * 3
            && folder.neededSize + withoutExistingBlobs(pack).size <= limits.bytesOfWriter
    }
}

// MARK: Contents of a file

extension Engine {
    private mutating func intendLog(at now: Int64) {
        guard !hasTooManyKeys else { return report(.waiting(.quota)) }
        var (count, size) = (0, 0)
        for transaction in local.outbox {
            size += transaction.size
            if count > 0, size > limits.bytesOfLog { break }
            count += 1
        }
        let log = LogPack(
            mirror: local.mirror, writer: local.writer, previous: local.folder.tip,
            knowledge: local.knowledgeOfOthers, formerKnowledge: local.folder.publishedKnowledge,
            transactions: Array(local.outbox.prefix(count)), lineage: local.lineage(of: []))
        let pack = log.encoded()
        if sizeOfFolder(with: pack) <= limits.bytesOfWriter {
            intend(pack, last: log.last)
        } else if willHaveRoom(for: pack) {
            report(.waiting(.quota))
        } else {
            intendBaseInsteadOfLog(at: now)
        }
    }

    /// Intends a base that also publishes the outbox, as far as it is in force.
    private mutating func intendBaseInsteadOfLog(at now: Int64) {
        let size = local.folder.size - bytesBeingRemoved
        // The computation is expensive, and usually has the same result until a file of ours changes.
        if let lack = lackOfRoom, (lack.sequence, lack.size) == (local.sequence, size),
            now.isWithin(limits.waitsFor, of: lack.since)
        {
            return report(.waiting(.quota))
        }
        intendBase(insteadOfLog: true, at: now)
        lackOfRoom = local.intent == nil ? QuotaMiss(sequence: local.sequence, size: size, since: now) : nil
    }

    /// The circumstances in which there was no room for a base in place of a log.
    struct QuotaMiss {
        let sequence: UInt64
        let size: Int
        let since: Int64
    }

    /// Whether we have written more values than one writer may. Values of other writers and deletions are not limited
    /// here.
    private var hasTooManyKeys: Bool {
        guard local.atoms.count > limits.keys else { return false }
        var count = 0
        local.atoms.visit { if $0.dot.writer == local.writer, $0.value.value != nil { count += 1 } }
        return count > limits.keys
    }

    mutating func intendNote() {
        let isLastWord = isLeaving && local.outbox.isEmpty
        let note = note(local.folder.noteNumber % 9999 + 1, hasLeft: isLastWord)
        intend(note.encoded(), last: 0, isFarewell: isLastWord)
    }

    private mutating func intendBase(insteadOfLog: Bool = false, at now: Int64) {
        let base = local.base
        let values = base.atoms.reduce(0) { $0 + $1.value.bytes.count }
        let paths = base.atoms.reduce(0) { $0 + $1.path.bytes.count }
        guard values <= BlobTable.mostExpanded, paths <= DecodedPathBudget.mostBytes else {
            return report(.waiting(.quota))
        }
        let pack = base.encoded()
        guard pack.bytes.count <= limits.bytesOfFile else { return report(.waiting(.quota)) }
        // The files that it supersedes remain beside it for a while.
        let hasRoom = pack.size <= limits.bytesOfWriter && sizeOfFolder(with: pack) <= limits.bytesOfWriter * 2
        guard !insteadOfLog || hasRoom else { return report(.waiting(.quota)) }
        // A base that may be lost is written again, under the same name if its contents are the same.
        guard local.folder.owesBase || local.folder.created[pack.name] == nil else {
            removePurged(purging)
            if isCompacting { removeAllSuperseded(at: now) }
            return
        }
        purgingCarried = purging
        intend(pack, last: local.sequence)
    }
}

extension LocalState {
    /// A base with the atoms that we wrote, and those that we carry for writers whose folders are gone.
    package var base: BasePack {
        var said: [Atom] = []
        atoms.visit { if isOurs($0) { said.append($0) } }
        return BasePack(
            mirror: mirror, writer: writer, last: sequence, anchor: folder.tip, knowledge: knowledge, atoms: said,
            digest: digest.fingerprint, lineage: lineage(of: carried))
    }

    /// Returns the values of a domain in our files.
    package func published(in domain: String) -> [Atom] {
        atoms.under(Path(domain: domain)).filter { isOurs($0) && $0.value.value != nil }
    }

    /// Whether our files contain an atom: we wrote it, or carry it for a writer whose folder is gone.
    private func isOurs(_ atom: Atom) -> Bool { atom.dot.writer == writer || carried.contains(atom.dot.writer) }
}

// MARK: Compaction

extension Engine {
    /// Whether a base would save more than it costs.
    var isBaseDue: Bool {
        let folder = local.folder
        return isBaseOverdue
            || folder.logCount >= max(limits.leastLogs, folder.baseBytes / (64 << 10)) && hasRoomForSuperseded
    }

    private var isBaseOverdue: Bool {
        let folder = local.folder
        // A base makes room for new logs by what it supersedes.
        let room = limits.bytesOfWriter - folder.baseBytes
        let isGreat = folder.logBytes >= max(limits.leastLogBytes, min(folder.baseBytes, room) / 2)
        return isGreat || folder.owesBase || !purging.isEmpty || isCompacting
    }

    /// Whether many small logs justify a base. Superseded files remain for a while, so a stream of changes would
    /// replace each base as soon as it is read.
    private var hasRoomForSuperseded: Bool {
        let superseded = local.folder.created.values.reduce(0) { $0 + ($1.supersededAt == nil ? 0 : $1.size) }
        return superseded <= limits.bytesOfWriter / 8
    }

    /// Creates a base now, unless there is something to publish first.
    mutating func compact(at now: Int64) {
        guard standing.isOpen, local.intent == nil else { return }
        if local.outbox.isEmpty { intendBase(at: now) } else { intendNext(at: now) }
        createIntended()
    }

    /// Creates a base, and then removes what it supersedes without the usual delay.
    mutating func compactNow(at now: Int64) {
        isCompacting = true
        compact(at: now)
    }

    private mutating func removeAllSuperseded(at now: Int64) {
        removeSuperseded(at: now)
        isCompacting = false
    }

    private mutating func removeSuperseded(at now: Int64) {
        let files = local.folder.created.compactMap { name, file in
            file.supersededAt.map { Leftover(name: name, size: file.size, since: $0) }
        }
        let open = Set(local.intent?.references.map(\.name) ?? [])
        let blobs = local.folder.blobs.compactMap { name, blob in
            open.contains(name) ? nil : blob.unneededSince.map { Leftover(name: name, size: blob.size, since: $0) }
        }
        bytesBeingRemoved = 0
        let goingBlobs = removable(blobs, after: limits.unneededFor, at: now)
        // A file must be removed no later than a blob to which it refers, or its readers would wait for the blob.
        let last = goingBlobs.map(\.since).max() ?? .min
        let referring = files.filter { $0.since <= last }
        bytesBeingRemoved += referring.reduce(0) { $0 + $1.size }
        let goingFiles = referring + removable(files.filter { $0.since > last }, after: limits.supersededFor, at: now)
        if !goingFiles.isEmpty { act(.remove(goingFiles.map(\.name).sorted())) }
        if !goingBlobs.isEmpty { act(.removeBlobs(goingBlobs.map(\.name).sorted())) }
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
        _ leftovers: [Leftover<Name>], after time: Int64, at now: Int64
    ) -> [Leftover<Name>] {
        var bytes = leftovers.reduce(0) { $0 + $1.size }
        var count = leftovers.count
        var size = local.folder.size - bytesBeingRemoved
        func exceed(_ part: Int, of parts: Int) -> Bool {
            count > limits.mostSuperseded / parts * part || bytes > limits.bytesOfWriter / 4 / parts * part
                || size > limits.bytesOfWriter / 4 * 3 / parts * part
        }
        let isOverfull = !local.outbox.isEmpty && exceed(1, of: 1)
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

extension Transaction {
    /// The approximate number of bytes in a log and its blobs.
    fileprivate var size: Int {
        writes.reduce(32) { $0 + $1.path.bytes.count + $1.value.bytes.count + 24 + $1.seen.count * 24 }
    }
}
