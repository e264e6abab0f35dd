extension LocalState {
    /// Carries out a record: the only way in which the state changes.
    package mutating func apply(_ record: LocalRecord) {
        switch record {
        case .captured(let capture): apply(capture)
        case .joined(let pack, let now): join(pack, at: now)
        case .intended(let intent): apply(intent)
        case .created(let name, let now): markCreated(name, at: now)
        case .removed(let names): for name in names { folder.created[name] = nil }
        case .removedBlobs(let names): for name in names { folder.blobs[name] = nil }
        case .reincarnated(let writer, let intentIsInView): reincarnate(as: writer, intentIsInView: intentIsInView)
        case .intendedApplication(let application): self.application = application
        case .applied(let domains): apply(domains)
        case .abandonedApplication: application = nil
        case .vanished(let writer, let now): peers[writer, default: Peer()].vanishedAt = now
        case .returned(let writer):
            peers[writer, default: Peer()].vanishedAt = nil
            // One that was taken over and shown no more is there after all.
            if carried.remove(writer) != nil { retired.remove(writer) }
        case .forgot(let writer, let hashes): peers[writer]?.joined.subtract(hashes)
        case .carries(let writer): carried.insert(writer)
        case .lostFiles(let now):
            (folder.owesBase, folder.owesNote) = (true, true)
            folder.lastHealing = now
        case .configured(let domain, let isMirrored):
            shadows[Path(domain: domain), default: Shadow()].isMirrored = isMirrored
        case .resolvedConflict(let loser, let now): conflicts.resolve(loser, at: now)
        case .retired(let writer): retired.insert(writer)
        case .restored(let restoration): apply(restoration)
        case .participation(let participation): self.participation = participation
        case .rebuilt(let packs): rebuild(from: packs)
        }
    }
}

// MARK: Our own changes

extension LocalState {
    private mutating func apply(_ capture: Capture) {
        clock = HybridClock(local: max(clock.local, capture.clock))
        noteReverted(capture)
        for transaction in capture.transactions {
            sequence = transaction.dot.sequence
            knowledge[writer] = sequence
            for atom in transaction.atoms {
                let outcome = atoms.join(atom)
                note(outcome, of: atom, context: transaction.context)
                // Nothing is later than a stamp at the end of time, which only a hostile writer gives.
                guard case .dominated(let winners) = outcome, let winner = winners.first else { continue }
                conflicts.add(
                    path: atom.path, value: atom.value, loser: atom.dot, winner: winner,
                    at: Int64(capture.clock.milliseconds))
            }
            outbox.append(transaction)
        }
        for domain in capture.domains { apply(domain) }
        forgetShown()
        if capture.settlesApplication { application = nil }
    }

    /// The files are still to be changed to it, and whoever writes in them until then has not seen it.
    private mutating func apply(_ restoration: Restoration) {
        clock = HybridClock(local: max(clock.local, restoration.clock))
        conflicts.resolve(restoration.loser, at: restoration.when)
        guard let transaction = restoration.transaction else { return }
        for atom in transaction.atoms { note(joinAtBorder(atom), of: atom, context: transaction.context) }
        sequence = transaction.dot.sequence
        knowledge[writer] = sequence
        outbox.append(transaction)
    }

    /// An atom of our own takes over what its predecessors beat.
    private mutating func note(_ outcome: AtomStore.Outcome, of atom: Atom, context: VersionVector) {
        guard case .joined(let displaced) = outcome else { return }
        guard rules.keepsBeat else { return }
        var beat: [Beat] = []
        for other in displaced {
            let former = beats.removeValue(forKey: other.path) ?? []
            beat += former.filter { isOwn($0.by) } + unseen(former, by: atom, context)
            guard !isOwn(other.dot), !context.covers(other.dot), other.value != atom.value else { continue }
            beat.append(Beat(beaten: other.dot, by: atom.dot))
        }
        for depth in 1..<max(1, atom.path.depth) {
            beat += unseen(beats[atom.path.prefix(components: depth)] ?? [], by: atom, context)
        }
        if !beat.isEmpty { beats[atom.path] = beat }
    }

    /// What others had beaten already and no file showed to whoever made this change: he beat that, too.
    private func unseen(_ beats: [Beat], by atom: Atom, _ context: VersionVector) -> [Beat] {
        beats.filter { !isOwn($0.by) && !context.covers($0.beaten) }.map { Beat(beaten: $0.beaten, by: atom.dot) }
    }

    /// Forgets what others beat and the files have shown since, or what came after it.
    private mutating func forgetShown() {
        guard !beats.isEmpty else { return }
        let seen = seenInAllFiles
        beats = beats.reduce(into: [:]) { beats, entry in
            let kept = entry.value.filter { isOwn($0.by) || !seen.covers($0.beaten) }
            if !kept.isEmpty { beats[entry.key] = kept }
        }
    }

    private mutating func noteReverted(_ capture: Capture) {
        for path in capture.domains.flatMap(\.reverted) {
            guard let atom = atoms.atom(at: path) else { continue }
            guard let winner = capture.transactions.lazy.flatMap(\.atoms).first(where: { $0.path == path }) else {
                continue
            }
            conflicts.add(
                path: path, value: atom.value, loser: atom.dot, winner: winner, kind: .reverted,
                at: Int64(winner.stamp.milliseconds))
        }
    }

    private mutating func apply(_ captured: CapturedDomain) {
        var shadow = shadows[captured.domain] ?? Shadow()
        shadow.isCaptured = shadow.isCaptured || captured.held == nil
        shadow.held = captured.held
        if captured.held == nil {
            shadow.setFile(captured.file, captured.hash)
            shadow.exceptions = captured.exceptions
            shadow.seen = captured.seen
            shadow.replaced = [:]
        }
        shadows[captured.domain] = shadow
    }

    private mutating func apply(_ applied: [AppliedDomain]) {
        application = nil
        for domain in applied {
            shadows[domain.domain, default: Shadow()].setFile(domain.file, domain.hash)
            shadows[domain.domain]?.exceptions = domain.exceptions
            shadows[domain.domain]?.seen = domain.seen
            shadows[domain.domain]?.replaced = domain.replaced
        }
        forgetShown()
    }
}

extension Shadow {
    fileprivate mutating func setFile(_ file: FileIdentity?, _ hash: Fingerprint?) {
        self.file = file
        if let former = self.hash, former != hash {
            generations.insert(former, at: 0)
            if generations.count > Self.mostGenerations { generations.removeLast() }
        }
        self.hash = hash
    }
}

// MARK: Our own folder

extension LocalState {
    private mutating func apply(_ intent: PackIntent) {
        self.intent = intent
        guard !rules.clearsOutboxAfterCreation, intent.pack.name.kind == .log else { return }
        outbox.removeAll { $0.dot.sequence <= intent.last }
    }

    private mutating func markCreated(_ name: PackName, at now: Int64) {
        guard let intent, intent.pack.name == name else { return }
        self.intent = nil
        folder.created[name] = CreatedFile(size: intent.pack.bytes.count, last: intent.last)
        for reference in intent.references { folder.blobs[reference.name] = CreatedBlob(size: reference.size) }
        switch name.kind {
        case .log:
            folder.tip = intent.pack.hash
            folder.saidKnowledge = intent.knowledge
            folder.logBytes += intent.pack.size
            folder.logCount += 1
            outbox.removeAll { $0.dot.sequence <= intent.last }
        case .base: supersede(with: intent, at: now)
        case .note:
            (folder.noteNumber, folder.hasLeft) = (name.number, intent.isFarewell)
            folder.owesNote = false
            for (other, file) in folder.created where other.kind == .note && other != name && file.supersededAt == nil {
                folder.created[other]?.supersededAt = now
            }
        }
    }

    private mutating func supersede(with intent: PackIntent, at now: Int64) {
        folder.baseSequence = intent.last
        folder.baseBytes = intent.pack.bytes.count
        (folder.logBytes, folder.logCount, folder.owesBase) = (0, 0, false)
        for (name, file) in folder.created where name != intent.pack.name && name.kind != .note {
            guard file.last <= intent.last, file.supersededAt == nil else { continue }
            folder.created[name]?.supersededAt = now
        }
        let needed = Set(intent.references.map(\.name))
        for (name, blob) in folder.blobs where blob.unneededSince == nil && !needed.contains(name) {
            folder.blobs[name]?.unneededSince = now
        }
        beats = beats.compactMapValues { list in
            let kept = list.filter(isUnseen)
            return kept.isEmpty ? nil : kept
        }
    }

    /// Whether the author of what was beaten may not know yet by what.
    func isUnseen(_ beat: Beat) -> Bool { !(peers[beat.beaten.writer]?.knowledge.covers(beat.by) ?? false) }

    /// What we know of others, as our packs say it.
    var knowledgeOfOthers: VersionVector {
        var others = knowledge
        others[writer] = 0
        return others
    }
}

// MARK: Identity

extension LocalState {
    /// Takes another name, and with it all that was not published under the old one.
    private mutating func reincarnate(as new: WriterID, intentIsInView: Bool) {
        if let intent, intentIsInView, intent.pack.name.kind == .log {
            outbox.removeAll { $0.dot.sequence <= intent.last }
        }
        intent = nil
        let former = writer
        let published = (outbox.first?.dot.sequence).map { $0 - 1 } ?? sequence
        knowledge[former] = published
        // That came from the files, or it was seen in them.
        for domain in Array(shadows.keys) { shadows[domain]?.seen.raise(former, to: published) }
        let shown = shownValues(of: Set(outbox.flatMap(\.writes).map { $0.path.prefix(components: 2) }))
        takeBackOutbox()
        let renamed = zip(UInt64(1)..., outbox).map { sequence, transaction in
            transaction.renamed(Dot(writer: new, sequence: sequence), atMost: (former, knowledge[former]))
        }
        for transaction in renamed { for atom in transaction.atoms { atoms.join(atom) } }
        // Among equal stamps the new name may win where the former did not.
        for (key, value) in shown { updateException(key, before: value, after: atoms.value(at: key)) }
        renameBeats(to: renamed)
        outbox = renamed
        formerWriters.insert(former)
        // Whoever else had our name may remove long values that our files refer to, as needed by none of its own; and
        // nobody else may know of what we had to say again.
        if !folder.blobs.isEmpty || folder.owesBase { carried.insert(former) }
        writer = new
        sequence = UInt64(renamed.count)
        knowledge[new] = sequence
        folder = OwnFolder()
        folder.owesBase = true
        // What we published as our former self is read like any other's.
        peers[former] = Peer()
    }

    /// What the state says of keys whose domains have files here.
    private func shownValues(of keys: Set<Path>) -> [(Path, CanonicalValue?)] {
        keys.filter { shadows[$0.prefix(components: 1)]?.isCaptured ?? false }.sorted()
            .map { ($0, atoms.value(at: $0)) }
    }

    private mutating func takeBackOutbox() {
        for transaction in outbox {
            for atom in transaction.atoms where atoms.atom(at: atom.path) == atom { atoms.remove(at: atom.path) }
        }
    }

    private mutating func renameBeats(to renamed: [Transaction]) {
        let new = Dictionary(zip(outbox.map(\.dot), renamed.map(\.dot))) { $1 }
        beats = beats.mapValues { $0.map { Beat(beaten: $0.beaten, by: new[$0.by] ?? $0.by) } }
    }
}
