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
            beat += former.filter { $0.by.writer == writer } + unseen(former, by: atom, context)
            guard !isOwn(other.dot), !context.covers(other.dot), other.value != atom.value else { continue }
            beat.append(Beat(beaten: other.dot, by: atom.dot))
        }
        for depth in 1..<max(1, atom.path.depth) {
            beat += unseen(beats[atom.path.prefix(components: depth)] ?? [], by: atom, context)
        }
        if !beat.isEmpty { beats[atom.path] = beat }
    }

    /// What others, or we under another name, had beaten already and no file showed to whoever made this change: he
    /// beat that, too.
    private func unseen(_ beats: [Beat], by atom: Atom, _ context: VersionVector) -> [Beat] {
        beats.filter { $0.by.writer != writer && !context.covers($0.beaten) }
            .map { Beat(beaten: $0.beaten, by: atom.dot) }
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
