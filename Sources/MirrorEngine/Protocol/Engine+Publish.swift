// From the state into the directory.
extension Engine {
    /// Creates the next file that is due; nothing where there is nothing to say.
    mutating func publish(at now: Int64) {
        guard standing.isOpen else { return }
        removeSuperseded(at: now)
        if local.intent == nil { intendNext(hasSpoken: false) }
        createIntended()
    }

    private mutating func createIntended() {
        guard let pack = local.intent?.pack else { return }
        act(.create(PackAddress(writer: local.writer, name: pack.name), pack))
    }

    /// - Parameter hasSpoken: Whether a file of ours was created just now: where there is nothing to say, many small
    ///   logs are no reason for a base, which would stand beside them for a day.
    private mutating func intendNext(hasSpoken: Bool = true) {
        if isNoteDue {
            intendNote()
        } else if !local.outbox.isEmpty {
            intendLog()
        } else if hasSpoken ? isBaseDue : isBaseOverdue {
            intendBase()
        }
    }

    /// Whether our note does not say who we are, or that we leave.
    var isNoteDue: Bool {
        let folder = local.folder
        if folder.noteNumber == 0 || folder.owesNote { return true }
        if folder.hasLeft != (isLeaving && (folder.hasLeft || local.outbox.isEmpty)) { return true }
        // The name of a note comes from all that it says.
        return folder.created[note(folder.noteNumber, hasLeft: folder.hasLeft).encoded().name] == nil
    }

    private func note(_ number: UInt64, hasLeft: Bool) -> WriterNote {
        WriterNote(
            mirror: local.mirror, writer: local.writer, number: number, label: profile.label,
            platform: profile.platform, software: profile.software, hasLeft: hasLeft)
    }

    private var isLeaving: Bool { local.participation == .leaving }

    /// A file of our own stands there: clear what it says, and go on with the next.
    mutating func finish(_ name: PackName, at now: Int64) {
        finishCreation(name, at: now)
        guard standing.isOpen else { return }
        if local.intent == nil { intendNext() }
        createIntended()
    }

    mutating func finishCreation(_ name: PackName, at now: Int64) {
        guard local.intent?.pack.name == name else { return }
        commit(.created(name, at: now))
        if standing == .present { standing = standingWherePresent }
        if name.kind == .base { removePurged() }
    }

    /// Has the folders removed whose writers our base, which stands there, speaks for.
    private mutating func removePurged() {
        for writer in purging.sorted() { act(.removeFolder(writer)) }
        purging = []
    }

    private mutating func intend(_ pack: EncodedPack, last: UInt64, isFarewell: Bool = false) {
        let size = pack.bytes.count + pack.blobs.filter { !isThere($0.name) }.reduce(0) { $0 + $1.value.bytes.count }
        guard local.folder.size + size <= limits.bytesOfWriter || pack.name.kind != .log else {
            return report(.waiting(.quota))
        }
        var new = pack
        new.blobs = pack.blobs.filter { !isThere($0.name) }
        let intent = PackIntent(
            pack: new, last: last, knowledge: local.knowledgeOfOthers, isFarewell: isFarewell,
            references: pack.blobs.map(\.reference))
        commit(.intended(intent), isDurable: local.rules.recordsIntent)
    }
}

extension Engine {
    /// Whether a blob of ours stands there and is not about to go.
    private func isThere(_ name: BlobName) -> Bool {
        local.folder.blobs[name].map { $0.unneededSince == nil } ?? false
    }
}

// MARK: What a file says

extension Engine {
    private mutating func intendLog() {
        guard !hasTooManyKeys else { return report(.waiting(.quota)) }
        var (count, size) = (0, 0)
        for transaction in local.outbox {
            size += transaction.size
            if count > 0, size > limits.bytesOfLog { break }
            count += 1
        }
        let log = LogPack(
            mirror: local.mirror, writer: local.writer, previous: local.folder.tip,
            knowledge: local.knowledgeOfOthers, formerKnowledge: local.folder.saidKnowledge,
            transactions: Array(local.outbox.prefix(count)))
        intend(log.encoded(), last: log.last)
    }

    /// Whether we have written more values than one writer may. What others write is theirs to bound, and what was
    /// deleted costs little.
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

    private mutating func intendBase() {
        let base = local.base
        let values = base.atoms.reduce(0) { $0 + $1.atom.value.bytes.count }
        let paths = base.atoms.reduce(0) { $0 + $1.atom.path.bytes.count }
        guard values <= Shelf.mostExpanded, paths <= PathBudget.mostBytes else { return report(.waiting(.quota)) }
        let pack = base.encoded()
        guard pack.bytes.count <= limits.bytesOfFile else { return report(.waiting(.quota)) }
        // Written again where it may be lost, under the same name if it says the same.
        guard local.folder.owesBase || local.folder.created[pack.name] == nil else { return removePurged() }
        intend(pack, last: local.sequence)
    }
}

extension LocalState {
    /// All that we still have to say, and what we carry for writers whose folders are gone.
    package var base: BasePack {
        var entries: [BasePack.Entry] = []
        atoms.visit { atom in
            guard atom.dot.writer == writer || carried.contains(atom.dot.writer) else { return }
            let beat = Set((beats[atom.path] ?? []).filter(isUnseen).map(\.beaten)).sorted()
            entries.append(BasePack.Entry(atom: atom, beat: atom.dot.writer == writer ? beat : []))
        }
        return BasePack(
            mirror: mirror, writer: writer, last: sequence, anchor: folder.tip, knowledge: knowledge, atoms: entries,
            digest: digest.fingerprint)
    }
}

// MARK: Compaction

extension Engine {
    /// Whether a base would spare more than it costs.
    var isBaseDue: Bool {
        let folder = local.folder
        return isBaseOverdue
            || folder.logCount >= max(limits.leastLogs, folder.baseBytes / (64 << 10)) && hasRoomForSuperseded
    }

    private var isBaseOverdue: Bool {
        let folder = local.folder
        return folder.owesBase || folder.logBytes >= max(limits.leastLogBytes, folder.baseBytes / 2)
    }

    /// Whether many small logs are worth a base: what is superseded stands for a day yet, and a stream of changes that
    /// lasts as long would fill with bases all that we may have.
    private var hasRoomForSuperseded: Bool {
        let superseded = local.folder.created.values.reduce(0) { $0 + ($1.supersededAt == nil ? 0 : $1.size) }
        return superseded <= limits.bytesOfWriter / 4
    }

    /// Writes a base now, if there is nothing to be published first.
    mutating func compact() {
        guard standing.isOpen, local.intent == nil else { return }
        if local.outbox.isEmpty { intendBase() } else { intendNext() }
        createIntended()
    }

    private mutating func removeSuperseded(at now: Int64) {
        let names = local.folder.created.filter { entry in
            entry.value.supersededAt.map { now - $0 >= limits.supersededFor } ?? false
        }
        if !names.isEmpty { act(.remove(names.keys.sorted())) }
        let blobs = local.folder.blobs.filter { entry in
            entry.value.unneededSince.map { now - $0 >= limits.unneededFor } ?? false
        }
        let open = Set(local.intent?.references.map(\.name) ?? [])
        let removable = blobs.keys.filter { !open.contains($0) }.sorted()
        if !removable.isEmpty { act(.removeBlobs(removable)) }
    }
}

extension Transaction {
    /// About how many bytes this takes in a log.
    fileprivate var size: Int {
        writes.reduce(32) { $0 + $1.path.bytes.count + min($1.value.bytes.count, Blob.longestInPack) + 24 }
    }
}
