extension LocalState {
    /// Applies a record. The state changes in no other way.
    package mutating func apply(_ record: LocalRecord) {
        switch record {
        case .captured(let capture): apply(capture)
        case .joined(let pack, let now): join(pack, at: now)
        case .intended(let intent): apply(intent)
        case .created(let name, let now): markCreated(name, at: now)
        case .removed(let names): folder.remove(names)
        case .removedBlobs(let names): for name in names { folder.blobs[name] = nil }
        case .tookNewNumber(let writer, let intentIsInView): takeNewNumber(as: writer, intentIsInView: intentIsInView)
        case .intendedApplication(let application): self.application = application
        case .applied(let domains): apply(domains)
        case .abandonedApplication: application = nil
        case .vanished(let writer, let now): peers[writer, default: Peer()].vanishedAt = now
        case .returned(let writer):
            peers[writer, default: Peer()].vanishedAt = nil
            // A writer that we carried, and that was hidden from lists, exists after all.
            if carried.remove(writer) != nil { retired.remove(writer) }
        case .forgot(let writer, let hashes): peers[writer]?.joined.subtract(hashes)
        case .forgotWriters(let writers):
            for writer in writers {
                peers[writer] = nil
                knowledge[writer] = 0
            }
        case .carries(let writer): carried.insert(writer)
        case .lostFiles(let now):
            (folder.owesBase, folder.owesNote) = (true, true)
            folder.lastHealing = now
        case .configured(let domain, let isMirrored):
            trackedFiles[Path(domain: domain), default: TrackedFile()].isMirrored = isMirrored
            trackedFiles[Path(domain: domain)]?.retryFormats()
        case .resolvedConflicts(let ids, let now): conflicts.resolve(ids, at: now)
        case .resolvedTransaction(let loser, let now): conflicts.resolve(transaction: loser, at: now)
        case .marked(let mark): self.mark(mark)
        case .foundMark: restoreMarkers.unwritten = 0
        case .suspected(let suspicion): suspect(suspicion)
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
        for domain in capture.domains { for id in domain.adopted where Rule.adoptsEqual.isKept { adopted.insert(id) } }
        for transaction in capture.transactions {
            sequence = transaction.id.sequence
            knowledge[writer] = sequence
            for write in transaction.versionedWrites { settle(mergeState.join(write), ofMade: write, at: capture.when) }
            outbox.append(transaction)
        }
        if capture.settlesApplication {
            for change in application?.domains ?? [] {
                let changes = interruptedChanges(in: change.domain)
                trackedFiles[change.domain]?.interrupted = changes
            }
            application = nil
        }
        for domain in capture.domains { apply(domain, at: capture.when) }
        restoreMarkers.isDue = true
    }

    /// The files are not changed yet, so writes in them until then have not seen the restored values.
    private mutating func apply(_ restoration: Restoration) {
        clock = HybridClock(local: max(clock.local, restoration.clock))
        conflicts.resolve(restoration.conflicts, at: restoration.when)
        if let loser = restoration.loser { conflicts.resolve(transaction: loser, at: restoration.when) }
        guard let transaction = restoration.transaction else { return }
        for write in transaction.versionedWrites { settle(joinAtFile(write), ofMade: write, at: restoration.when) }
        sequence = transaction.id.sequence
        knowledge[writer] = sequence
        outbox.append(transaction)
    }

    private mutating func noteReverted(_ capture: Capture) {
        for path in capture.domains.flatMap(\.reverted) {
            guard let write = mergeState.write(at: path) else { continue }
            guard let winner = capture.transactions.lazy.flatMap(\.versionedWrites).first(where: { $0.path == path })
            else {
                continue
            }
            conflicts.add(lost: write, to: winner, kind: .reverted, at: Int64(winner.stamp.milliseconds))
        }
    }

    private mutating func apply(_ captured: CapturedDomain, at now: Int64) {
        for (path, value) in captured.replaced.sorted(by: { $0.key < $1.key }) {
            conflicts.add(replaced: value, at: path, by: mergeState.overlapping(path).last, when: now)
        }
        var trackedFile = trackedFiles[captured.domain] ?? TrackedFile()
        trackedFile.isCaptured = trackedFile.isCaptured || captured.held == nil
        trackedFile.held = captured.held
        if captured.held == nil {
            trackedFile.setFile(captured.file, captured.hash)
            trackedFile.exceptions = captured.exceptions
            trackedFile.suspicion = nil
            (trackedFile.replaced, trackedFile.interrupted) = ([:], [:])
        }
        trackedFiles[captured.domain] = trackedFile
    }

    private mutating func apply(_ applied: [AppliedDomain]) {
        application = nil
        for domain in applied {
            trackedFiles[domain.domain, default: TrackedFile()].setFile(domain.file, domain.hash)
            trackedFiles[domain.domain]?.exceptions = domain.exceptions
            trackedFiles[domain.domain]?.replaced = domain.replaced
            trackedFiles[domain.domain]?.interrupted = [:]
        }
        restoreMarkers.isDue = true
    }
}

// MARK: Restored backups

extension LocalState {
    /// From now on, changes in the files are not taken for edits until the files were checked.
    private mutating func suspect(_ suspicion: TrackedFile.Suspicion) {
        for (domain, trackedFile) in trackedFiles where trackedFile.isCaptured || trackedFile.suspicion != nil {
            trackedFiles[domain]?.suspicion = suspicion
            guard suspicion == .stateIsOlder else { continue }
            // The previous contents of the file are unknown, so it is read like the file of a newly mirrored domain.
            trackedFiles[domain]?.isCaptured = false
            trackedFiles[domain]?.held = nil
            trackedFiles[domain]?.exceptions = [:]
            trackedFiles[domain]?.interrupted = [:]
        }
        if suspicion == .stateIsOlder { application = nil }
        restoreMarkers.isDue = true
    }

    private mutating func mark(_ mark: UInt64) {
        restoreMarkers.marks.insert(mark, at: 0)
        if restoreMarkers.marks.count > RestoreMarkers.most { restoreMarkers.marks.removeLast() }
        restoreMarkers.unwritten = min(restoreMarkers.unwritten + 1, RestoreMarkers.most)
        restoreMarkers.isDue = false
    }
}

extension TrackedFile {
    fileprivate mutating func setFile(_ file: FileIdentity?, _ hash: Fingerprint?) {
        self.file = file
        if let former = self.hash, former != hash {
            generations.insert(former, at: 0)
            if generations.count > Self.mostGenerations { generations.removeLast() }
        }
        self.hash = hash
    }
}
