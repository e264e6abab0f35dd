// From the directory into the state.
extension Engine {
    /// Compares what is in view with what was joined, and asks for the rest.
    mutating func take(_ listing: Listing, at moment: Moment) {
        guard standing.isOpen else { return }
        folders = known(listing).mapValues { files in Set(files.keys.compactMap { PackName($0) }) }
        closed = listing.closed
        faulty = faulty.filter { isInView($0.key) }
        waiting = waiting.filter { $0.value.pack != nil || isInView($0.key) }
        askedAgain = []
        sizes = Dictionary(faulty.keys.map { ($0, listing.size(of: $0)) }) { $1 }
        noteOwnFiles(sizes: listing.folders[local.writer] ?? [:], at: moment.now)
        notePeers(at: moment.now)
        var wanted = unknownOwnFiles
        for (writer, names) in folders where writer != local.writer {
            let joined = local.peers[writer]?.joined ?? []
            wanted += names.filter { !joined.contains($0.hash) }.map { PackAddress(writer: writer, name: $0) }
                .filter { waiting[$0] == nil }
                .filter { faulty[$0]?.isWorthReading(size: listing.size(of: $0), at: moment.now) ?? true }
        }
        if let own = ownFileToCheck(at: moment.now) { wanted.append(own) }
        if !wanted.isEmpty { act(.fetch(wanted.sorted(by: PackAddress.isReadBefore))) }
        joinWaiting(at: moment.now)
        leaveNameToOther(at: moment)
    }

    /// Whether our own folder shows that this state is a copy or an old one: then what others wrote is to be taken in
    /// before what was changed in files here, of which some may be theirs.
    package func shouldPullFirst(_ listing: Listing) -> Bool {
        (listing.folders[local.writer] ?? [:]).keys.contains { PackName($0).map(isUnknown) ?? false }
    }

    private func isInView(_ address: PackAddress) -> Bool { folders[address.writer]?.contains(address.name) ?? false }

    /// The folders of ourselves and of writers met before, and of new ones as long as there is room for them: whoever
    /// was ever met is named in what we write.
    private func known(_ listing: Listing) -> [WriterID: [String: Int]] {
        let new = listing.folders.keys.filter { $0 != local.writer && local.peers[$0] == nil }
        let room = max(0, limits.writers - local.peers.count)
        guard new.count > room else { return listing.folders }
        let strangers = Set(new.sorted().dropFirst(room))
        return listing.folders.filter { !strangers.contains($0.key) }
    }

    /// Files in our own folder that we know nothing of.
    private var unknownOwnFiles: [PackAddress] {
        guard let names = folders[local.writer] else { return [] }
        return names.filter { isUnknown($0) }.map { PackAddress(writer: local.writer, name: $0) }
    }

    private func isUnknown(_ name: PackName) -> Bool {
        name.kind != .note && local.folder.created[name] == nil && local.intent?.pack.name != name
    }

    /// What was intended may stand there already, and what was created may be gone.
    private mutating func noteOwnFiles(sizes: [String: Int], at now: Int64) {
        let names = folders[local.writer] ?? []
        if let intent = local.intent, names.contains(intent.pack.name) { finishCreation(intent.pack.name, at: now) }
        let needed = local.folder.created.filter { local.folder.needs($0.key) }
        let damaged = needed.filter { name, file in sizes[name.description].map { $0 != file.size } ?? false }
        let lostBlobs = local.folder.blobs.filter { name, blob in
            blob.unneededSince == nil && sizes[name.description] != blob.size
        }
        if !damaged.isEmpty || !lostBlobs.isEmpty || isOwnFileMissing {
            heal(damaged.keys.sorted(), blobs: lostBlobs.keys.sorted(), at: now)
        }
    }

    private var isOwnFileMissing: Bool {
        let names = folders[local.writer] ?? []
        return local.folder.created.keys.contains { local.folder.needs($0) && !names.contains($0) }
    }

    private mutating func notePeers(at now: Int64) {
        for (writer, peer) in local.peers.sorted(by: { $0.key < $1.key }) where writer != local.writer {
            guard let names = folders[writer] else {
                if peer.vanishedAt == nil {
                    commit(.vanished(writer, at: now))
                    // One that was taken over before is missed by nobody.
                    if !local.carried.contains(writer) { report(.vanished(writer)) }
                } else if let since = peer.vanishedAt, now - since >= limits.vanishedFor, !isCarried(writer) {
                    commit(.carries(writer))
                }
                continue
            }
            if peer.vanishedAt != nil { commit(.returned(writer)) }
            // What lies in a folder that cannot be looked into is what lay there.
            if closed.contains(writer) { continue }
            let gone = peer.joined.subtracting(names.map(\.hash))
            // The anchor of the last base is mostly gone, and what follows it still to come.
            let forgettable = gone.subtracting([peer.tip?.prefix].compactMap { $0 })
            if !forgettable.isEmpty { commit(.forgot(writer, forgettable)) }
        }
    }

    /// Whether some base in view carries a writer's atoms.
    func isCarried(_ writer: WriterID) -> Bool {
        local.carried.contains(writer)
            || local.peers.contains { folders[$0.key] != nil && $0.value.carries.contains(writer) }
    }
}

extension PackAddress {
    /// Bases first, the newest of them before the others, because they make most else unnecessary.
    fileprivate static func isReadBefore(_ left: PackAddress, _ right: PackAddress) -> Bool {
        if left.name.kind != right.name.kind { return left.name.kind.rawValue < right.name.kind.rawValue }
        if left.name.kind == .base, left.name.number != right.name.number {
            return left.name.number > right.name.number
        }
        return left < right
    }
}

// MARK: Files that were read

extension Engine {
    mutating func take(_ files: [PackAddress: Fetch], isLast: Bool, at moment: Moment) {
        guard standing.isOpen else { return }
        for (address, fetch) in files.sorted(by: { $0.key < $1.key }) {
            switch fetch {
            case .pack(let pack) where pack.address == address && pack.mirror == local.mirror:
                faulty[address] = nil
                if address.writer != local.writer {
                    let since = waiting[address]?.since ?? waitedSince(address, at: moment.now)
                    waiting[address] = WaitingFile(pack, since: since ?? moment.now)
                } else if isUnknown(address.name), local.rules.reincarnates {
                    reincarnate(at: moment)
                }
            case .pack: noteFault(address, .contradiction("name or mirror"), at: moment.now)
            case .faulty(let fault) where fault.isOfNewerVersion && address.writer == local.writer:
                // Whole, so somebody who was us and has a newer version by now has said it.
                if isUnknown(address.name), local.rules.reincarnates { reincarnate(at: moment) }
            case .faulty(let fault) where local.folder.created[address.name] != nil && address.writer == local.writer:
                if case .missingBlobs(let references) = fault {
                    heal([], blobs: references.map(\.name), at: moment.now)
                } else {
                    heal([address.name], at: moment.now)
                }
            case .faulty(let fault): noteFault(address, fault, at: moment.now)
            case .unreadable: note(address, at: moment.now)
            }
        }
        joinWaiting(isLast: isLast, at: moment.now)
        leaveNameToOther(at: moment)
    }

    /// Takes another name where others know more under ours than we have said: somebody else was us, whose files need
    /// not have come yet.
    private mutating func leaveNameToOther(at moment: Moment) {
        if isDoubled, local.rules.reincarnates { reincarnate(at: moment) }
    }

    private mutating func noteFault(_ address: PackAddress, _ fault: PackFault, at now: Int64) {
        switch fault {
        case .missingBlobs:
            let since = note(address, .lacksBlobs, at: now)
            guard now - since >= limits.waitsFor, unheard.insert(address).inserted else { return }
            report(.missingBlobs(address))
        case _ where fault.isOfNewerVersion:
            // Whole, and not for us: a newer version will read it.
            if faulty[address] == nil, recalled.files[address]?.isTold != true { report(.tooNew(address)) }
            note(address, .tooNew, at: now)
        default:
            let since = note(address, at: now)
            guard now - since >= limits.waitsFor, quarantined.insert(address).inserted else { return }
            act(.quarantine(address))
            report(.quarantined(address, fault))
        }
    }

    /// Remembers that a file cannot be joined as it is, and since when that has been so.
    @discardableResult
    private mutating func note(
        _ address: PackAddress, _ kind: FaultyFile.Kind = .damaged, at now: Int64
    ) -> Int64 {
        let recalled = waitedSince(address, at: now).map { FaultyFile(nil, kind, size: 0, at: $0) }
        let file = FaultyFile(faulty[address] ?? recalled, kind, size: sizes[address] ?? 0, at: now)
        faulty[address] = file
        return file.since
    }

    private mutating func reincarnate(at moment: Moment) {
        isDoubled = false
        let former = local.writer
        let inView = local.intent.map { folders[former]?.contains($0.pack.name) ?? false } ?? false
        if isOwnFileMissing { commit(.lostFiles(at: moment.now)) }
        commit(.reincarnated(former.next(random: moment.random), intentIsInView: inView))
        report(.reincarnated(former: former, new: local.writer))
        let files = (folders[former] ?? []).map { PackAddress(writer: former, name: $0) }
        act(.fetch(files.sorted(by: PackAddress.isReadBefore)))
    }
}

extension PackFault {
    /// Whether the file is whole, and only a newer version reads it.
    fileprivate var isOfNewerVersion: Bool {
        switch self {
        case .newerVersion, .unknownField: true
        default: false
        }
    }
}

// MARK: Joining

extension Engine {
    /// Joins what a writer has said although something before it is missing.
    mutating func joinAllWaiting(of writer: WriterID, at now: Int64) {
        for address in waiting.keys where address.writer == writer {
            waiting[address]?.since = now - limits.waitsFor
        }
        joinWaiting(at: now)
    }

    /// Joins every file whose turn has come, until none is left of which that is so.
    private mutating func joinWaiting(isLast: Bool = true, at now: Int64) {
        let conflicts = local.conflicts.conflicts.count
        var (progress, again) = (true, [PackAddress]())
        while progress {
            progress = false
            for address in waiting.keys.sorted(by: PackAddress.isReadBefore) {
                guard let file = waiting[address], isDue(file, of: address.writer, at: now) else { continue }
                guard let pack = file.pack else {
                    if askedAgain.insert(address).inserted { again.append(address) }
                    continue
                }
                waiting[address] = nil
                join(pack, at: now)
                progress = true
                hasJoined = true
            }
        }
        dropWaiting()
        if !again.isEmpty { act(.fetch(again)) }
        guard hasJoined else { return }
        for conflict in local.conflicts.conflicts.dropFirst(conflicts) { report(.conflict(loser: conflict.loser)) }
        guard isLast else { return }
        hasJoined = false
        let known = Set(local.shadows.keys)
        for domain in local.atoms.domains where !known.contains(Path(domain: domain)) {
            report(.unknownDomain(domain))
        }
        askForLocks()
    }

    /// Keeps of files that wait for long what tells when they are due; they are read again then.
    private mutating func dropWaiting() {
        var bytes = 0
        for address in waiting.keys.sorted(by: PackAddress.isReadBefore) {
            bytes += waiting[address]?.pack?.size ?? 0
            if bytes > limits.bytesWaiting { waiting[address]?.pack = nil }
        }
    }

    private func isDue(_ file: WaitingFile, of writer: WriterID, at now: Int64) -> Bool {
        guard let link = file.link, let previous = link.previous else { return true }
        guard let peer = local.peers[writer] else { return now - file.since >= limits.waitsFor }
        let reached = local.rules.chainsByFirst ? link.first - 1 : link.last
        return peer.joined.contains(previous.prefix) || peer.tip == previous || reached <= peer.baseSequence
            || now - file.since >= limits.waitsFor
    }

    private mutating func join(_ pack: Pack, at now: Int64) {
        if pack.sequence(of: local.writer) > local.sequence { isDoubled = true }
        commit(.joined(pack, at: now))
        reportChanges(pack)
        if case .base(let base) = pack.content { compareDigests(base) }
    }

    private mutating func compareDigests(_ base: BasePack) {
        guard base.digest != .none, local.outbox.isEmpty else { return }
        // Only who knows the same can compare, and to know that costs next to nothing.
        var known = base.knowledge
        known[base.writer] = base.last
        guard known == local.knowledge else { return }
        guard let theirs = Digest(base.digest) else { return }
        let ours = local.digest
        if ours.tips == theirs.tips, ours.state != theirs.state { report(.digestMismatch(base.writer)) }
    }
}
