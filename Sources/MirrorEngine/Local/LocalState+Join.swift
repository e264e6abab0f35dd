// Joining the files of other writers.
extension LocalState {
    /// Returns the record that joins a file of another writer.
    ///
    /// Of the values in a base, the record has only those that change: most bases have nothing new.
    package func record(ofJoining pack: Pack, at now: Int64) -> LocalRecord {
        guard case .base(var base) = pack.content, !publishesWaiting(base.state.live) else {
            return .joined(pack, at: now)
        }
        var changed: [Atom] = []
        if !base.skipsValues {
            var noted = self
            noted.publishWhatIsKnown(by: base, hash: pack.hash)
            noted.noteFiles(of: base, hash: pack.hash)
            changed = noted.shared.changes(by: base.state(hash: pack.hash))
        }
        (base.state.live, base.deletions, base.skipsValues) = (MergeState(), 0, false)
        return .joinedBase(pack.with(base), changed: changed, at: now)
    }

    /// Whether joining a base changes no value, as far as its header shows: all its transactions are known, from the
    /// same files.
    package func hasAll(of base: BasePack, hash: ContentHash) -> Bool {
        // Our own files are read to find damage, also of their blobs.
        if base.writer == writer { return false }
        let vector = base.state(hash: hash).vector
        let isKnown = shared.vector.includes(vector)
        guard isKnown, Rule.readsNewBases.isKept else { return isKnown }
        // A copy of this store may have published what waits here.
        guard !needsWholeBases, outbox.isEmpty, shared.forks.isEmpty, base.state.forks.isEmpty,
            base.beyond?.isEmpty == true
        else {
            return false
        }
        return tags(of: base.writer).firstContradiction(to: base.tags(hash: hash)) == nil
            && vector.sorted.allSatisfy { knows($0.entry, of: $0.writer) }
            // No transaction states that a deletion was forgotten.
            && base.deletions == shared.live.deletions(where: vector.includes)
    }

    /// Whether a transaction is known from this very file.
    private func knows(_ entry: VersionVector.Entry, of writer: WriterID) -> Bool {
        shared.vector.entry(of: writer) == entry || tags(of: writer).tag(of: entry.sequence) == entry.tag
    }

    /// The logs of a writer that are known.
    private func tags(of writer: WriterID) -> FileTags {
        writer == self.writer ? folder.tags : peers[writer]?.tags ?? FileTags()
    }

    /// Joins a file of another writer.
    ///
    /// - Parameter changed: The values that a base changes, or nil if the base has all its values.
    mutating func join(_ pack: Pack, changed: [Atom]? = nil, at now: Int64) {
        let writer = pack.address.writer
        let (before, inDoubt) = (shared.live, shared.inDoubt)
        switch pack.content {
        case .note(let note):
            if note.number >= peers[writer]?.note?.number ?? 0 {
                peers[writer, default: Peer()].note = note
                peers[writer]?.label = note.label
            }
            peers[writer, default: Peer()].knowledge.merge(note.knowledge)
        case .log(let log):
            retired[writer] = nil
            peers[writer]?.isKept = false
            adopt(log)
            join(log, tag: FileTag(pack.hash))
            updateExceptions(at: log.keys, since: before)
            keepResolved(at: log.keysOfAccepted, since: before, at: now)
        case .base(let base):
            if base.last > shared.vector[writer] { retired[writer] = nil }
            peers[writer]?.isKept = false
            publishWhatIsKnown(by: base, hash: pack.hash)
            if changed == nil { adopt(base.state.live) }
            join(base, hash: pack.hash, changed: changed)
            updateExceptions(
                at: changed.map { keys(changedBy: base, $0) } ?? before.keysDiffering(from: shared.live), since: before)
        }
        peers[writer, default: Peer()].joined.insert(pack.hash.prefix)
        publishDoubts(since: inDoubt)
    }

    /// Publishes what a file of our own contains, if another host has read that file: the creation can have succeeded
    /// although this was not recorded, and the file can have been removed since. Only then does the base prove which of
    /// these values were replaced.
    private mutating func publishWhatIsKnown(by base: BasePack, hash: ContentHash) {
        guard let intent, Rule.publishesKnown.isKept,
            base.state(hash: hash).vector.entry(of: writer)
                == VersionVector.Entry(sequence: intent.last, tag: FileTag(intent.pack.hash))
        else { return }
        publish(intent)
    }

    /// Makes a base due after a change of what is in doubt: only a base tells the others what was replaced of it.
    mutating func publishDoubts(since inDoubt: SharedState) {
        if shared.inDoubt != inDoubt { folder.owesBase = true }
    }

    private mutating func join(_ log: LogPack, tag: FileTag) {
        let writer = log.writer
        var tags = FileTags([FileTags.Span(first: log.first, last: log.last, tag: tag)])
        if let previous = log.previous, Rule.listsFiles.isKept, log.first > 1 {
            tags.insert(FileTags.Span(first: log.first - 1, last: log.first - 1, tag: FileTag(previous)))
        }
        note(tags, of: writer)
        let isContiguous = log.first <= shared.vector[writer] + 1
        let isLatest = log.last > shared.vector[writer]
        shared.join(log.transactions, from: log.first, of: writer, tag: tag, isContiguous: isContiguous)
        var peer = peers[writer] ?? Peer()
        // A stamp that only exceeds the one that it replaces has the time of another host, or of a former clock.
        let stamps = log.transactions.flatMap(\.changes).map(\.stamp).filter(\.isOfClock)
        if isLatest { peer.lastStamp = stamps.max() ?? .zero }
        peer.knowledge.merge(log.knowledge)
        if !isContiguous { peer.beyond.append(FileTags.Span(first: log.first, last: log.last, tag: tag)) }
        peers[writer] = peer
        closeGaps(of: writer)
    }

    /// Returns the keys at which a base may have changed something, if files of this store can show it.
    func keys(changedBy base: BasePack, _ changed: [Atom]) -> Set<Path> {
        if trackedFiles.isEmpty { return [] }
        let places = changed.map(\.path) + base.state.gone.values.flatMap(\.roots)
        return Set(places.map { $0.prefix(components: 2) })
    }

    /// Records the logs that a base lists. If they contradict known ones, two copies of a writer publish under its
    /// number.
    private mutating func noteFiles(of base: BasePack, hash: ContentHash) {
        let logs = base.tags(hash: hash)
        note(Rule.listsFiles.isKept ? logs : FileTags(logs.spans.suffix(1)), of: base.writer)
        guard Rule.comparesTags.isKept else { return }
        for (other, entry) in base.state(hash: hash).vector.sorted {
            if let tag = tags(of: other).tag(of: entry.sequence), tag != entry.tag { shared.fork(other, at: 1) }
        }
    }

    private mutating func join(_ base: BasePack, hash: ContentHash, changed: [Atom]?) {
        let (writer, state, former) = (base.writer, base.state(hash: hash), shared.forks)
        noteFiles(of: base, hash: hash)
        let changed = changed ?? shared.changes(by: state)
        if base.beyond == nil, !changed.isEmpty { needsWholeBases = true }
        shared.join(state, changing: changed)
        for other in shared.forks.keys where former[other] != shared.forks[other] { readAgain(other) }
        peers[writer, default: Peer()].knowledge.merge(state.vector)
        for (other, label) in base.labels where peers[other]?.note == nil && other != self.writer {
            peers[other, default: Peer()].label = label
        }
        // Their values are part of the base.
        for (other, logs) in base.beyond ?? [:] where other != self.writer {
            for log in logs.spans where peers[other]?.beyond.contains(log) != true {
                peers[other, default: Peer()].beyond.append(log)
            }
        }
        for other in shared.vector.writers { closeGaps(of: other) }
    }

    /// Makes transactions known that were joined before the ones before them.
    private mutating func closeGaps(of writer: WriterID) {
        guard var peer = peers[writer], !peer.beyond.isEmpty else { return }
        while let index = peer.beyond.firstIndex(where: { $0.first <= shared.vector[writer] + 1 }) {
            let span = peer.beyond.remove(at: index)
            shared.vector.raise(writer, to: VersionVector.Entry(sequence: span.last, tag: span.tag))
        }
        peers[writer] = peer
        shared.forgetProven()
    }

    /// Records logs of a writer. If they contradict known ones, two copies of the writer publish under its number.
    private mutating func note(_ tags: FileTags, of writer: WriterID) {
        if let sequence = self.tags(of: writer).firstContradiction(to: tags), sequence < shared.forks[writer] ?? .max {
            shared.fork(writer, at: sequence)
            readAgain(writer)
        }
        if let entry = shared.vector.entry(of: writer), let tag = tags.tag(of: entry.sequence), tag != entry.tag,
            Rule.comparesTags.isKept, shared.forks[writer] != 1
        {
            shared.fork(writer, at: 1)
            readAgain(writer)
        }
        if writer != self.writer { peers[writer, default: Peer()].tags.merge(tags) }
    }

    /// Reads all files of a writer again, because known transactions no longer prove anything.
    private mutating func readAgain(_ writer: WriterID) {
        peers[writer]?.joined = []
        folder.owesBase = true
    }
}

// MARK: Copies of this store

extension LocalState {
    private mutating func adopt(_ log: LogPack) {
        adopt { published in
            for (sequence, transaction) in zip(log.first..., log.transactions) {
                let dot = TransactionID(writer: log.writer, sequence: sequence)
                for change in transaction.changes { published(AtomName(change.id, dot)) }
            }
        }
    }

    /// Whether values have the name of a change that waits here.
    private func publishesWaiting(_ live: MergeState) -> Bool {
        guard !outbox.isEmpty else { return false }
        let waiting = Set(outbox.flatMap(\.changes).map(\.id))
        var isFound = false
        live.visit { if waiting.contains($0.name.id) { isFound = true } }
        return isFound
    }

    private mutating func adopt(_ live: MergeState) { adopt { published in live.visit { published($0.name) } } }

    /// Records that a copy of this store has published changes that wait here. Then they no longer wait.
    private mutating func adopt(_ forEachPublished: ((AtomName) -> Void) -> Void) {
        guard !outbox.isEmpty, Rule.adoptsPublished.isKept else { return }
        let waiting = Set(outbox.flatMap(\.changes).map(\.id))
        var names: [WriteID: AtomName] = [:]
        forEachPublished { if waiting.contains($0.id), names[$0.id] == nil { names[$0.id] = $0 } }
        if names.isEmpty { return }
        // What is replaced here with these names is stated by no transaction.
        needsWholeBases = true
        let published = outbox.flatMap(\.changes).compactMap { change in
            names[change.id].map { (change: change, name: $0) }
        }
        for index in outbox.indices { outbox[index].changes.removeAll { names[$0.id] != nil } }
        outbox.removeAll { $0.changes.isEmpty }
        // A log that was about to be created contains them.
        if (intent?.published ?? 0) > 0 { intent = nil }
        for (change, name) in published where change.value != nil {
            // Where a value was replaced here, its published copy is replaced too.
            let region = shared.live.atom(AtomName(change.id, nil), at: change.path)?.region ?? .none
            let replaced = Region(change.path).subtracting(region)
            if !replaced.isEmpty { shared.gone[name] = shared.gone[name]?.union(replaced) ?? replaced }
            // Where the published copy was replaced before its file was read, the value is replaced here too.
            guard shared.proves(name) else { continue }
            let remaining = shared.live.atom(name, at: change.path)?.region ?? .none
            shared.live.cover(AtomName(change.id, nil), region.subtracting(remaining))
        }
        rename(published)
    }

    /// Takes another number, because a copy of this store publishes under the present one. The changes that wait have
    /// no number yet.
    mutating func takeNewNumber(as new: WriterID) {
        intent = nil
        let former = writer
        formerWriters.insert(former)
        var peer = peers[former] ?? Peer()
        // What we published under it is part of the state; what the copy publishes is read like any other file.
        peer.joined.formUnion(folder.created.keys.map(\.hash))
        peer.tags.merge(folder.tags)
        peers[former] = peer
        (writer, sequence) = (new, shared.vector[new])
        folder = OwnFolder()
        folder.owesBase = true
    }
}

// MARK: Rebuilding

extension LocalState {
    /// Joins all files again, from an empty state. The changes that wait remain, and so do the values that no file
    /// proves to be replaced.
    mutating func rebuild(from packs: [Pack]) {
        let before = shared.live
        publishWaiting(in: packs)
        var rebuilt = SharedState()
        rebuilt.forks = shared.forks
        for pack in packs.sorted(by: { PackAddress.isReadBefore($0.address, $1.address) }) { rebuilt.join(pack) }
        // What the present state has known proves nothing here, because it may be wrong.
        let published = MergeState(sorted: shared.live.atoms.filter { $0.name.dot != nil })
        rebuilt.join(
            SharedState(live: published, vector: VersionVector(), gone: shared.gone, forks: shared.forks))
        for transaction in outbox { rebuilt.apply(transaction.changes, nil) }
        if !rebuilt.vector.includes(shared.vector) { needsWholeBases = true }
        rebuilt.vector.merge(shared.vector)
        shared = rebuilt
        shared.forgetProven()
        updateExceptions(at: before.keysDiffering(from: shared.live), since: before)
    }

    /// Publishes the changes that wait here and are in some of the files. Otherwise they would be there twice, and what
    /// replaces the waiting ones would not replace the others.
    private mutating func publishWaiting(in packs: [Pack]) {
        guard Rule.publishesKnown.isKept else { return }
        // The creation of a file of our own can have succeeded although this was not recorded.
        if let intent, packs.contains(where: { $0.address.writer == writer && $0.address.name == intent.pack.name }) {
            publish(intent)
        }
        for pack in packs {
            switch pack.content {
            case .note: break
            case .log(let log): adopt(log)
            case .base(let base):
                publishWhatIsKnown(by: base, hash: pack.hash)
                adopt(base.state.live)
            }
        }
    }
}
