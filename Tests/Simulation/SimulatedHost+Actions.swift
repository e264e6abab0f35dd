import MirrorEngine

// Carrying out the actions of the engine.
extension SimulatedHost {
    /// Sends an event to the engine and carries out the actions, with possible crashes before, between and after them.
    /// The results are sent after all actions are complete.
    func send(_ event: Event) throws {
        var events = [event]
        while !events.isEmpty {
            let random = fixedRandom ?? world.generator.next()
            for action in engine.handle(events.removeFirst(), at: Moment(now: now, random: random)) {
                if case .report = action {
                } else {
                    actionCount += 1
                    world.log("\(label) carries out \(String(describing: action).prefix(60))")
                }
                try crashPerhaps()
                if let answer = try carryOut(action) { events.append(answer) }
            }
        }
        try crashPerhaps()
    }

    private func carryOut(_ action: Action) throws -> Event? {
        switch action {
        case .append(let record): try append(record)
        case .fetch(let addresses):
            let status = engine.status
            return .fetched(
                fetch(addresses).mapValues { fetched in
                    if case .pack(let pack) = fetched { .pack(pack.skippingValues(of: status)) } else { fetched }
                })
        case .create(let address, let pack): return try create(address, pack)
        case .removeBlobs(let names): return .removedBlobs(try remove(names))
        case .remove(let names): return .removed(try remove(names))
        case .observe(let domains): return isRefused() ? nil : .observed(observations(domains))
        case .lock(let domains): return .locked(isRefused() ? [] : observations(domains))
        case .write(let application): return .written(try write(application))
        case .report(let report): note(report)
        case .removeFolder(let writer, let joined): removeFolder(of: writer, joined)
        case .mark(let mark):
            guard !isRefused() else { return nil }
            restoreMarker = RestoreMarker(mark: mark, writers: engine.status.numbers)
            return .marked
        case .unlock, .quarantine: break
        }
        return nil
    }

    // MARK: Own files

    private func create(_ address: PackAddress, _ pack: EncodedPack) throws -> Event {
        if let failure = isRefused() ? failure : world.refusal() {
            // A failed creation may leave a part of the blobs.
            if let blob = pack.blobs.first, world.chance(0.5) { world.create(blob, of: address.writer, by: self) }
            return .notCreated(failure)
        }
        for blob in pack.blobs {
            world.create(blob, of: address.writer, by: self)
            try crashPerhaps()
        }
        world.create(address, pack, by: self)
        try losePower(after: address)
        try crashPerhaps()
        return .created(pack.name)
    }

    /// Simulates a loss of power in which a file that others have read is lost before it was synchronized.
    private func losePower(after address: PackAddress) throws {
        guard world.canCrash, world.canLoseUnsynced, world.misfortune(0.02) else { return }
        world.count(.unsynced)
        let others = world.hosts.filter { $0 !== self && !$0.isAway }
        if let witness = others.randomElement(using: &world.generator), world.chance(0.5) {
            witness.attempt { try witness.pull() }
        }
        world.lose([address])
        throw Crash()
    }

    private func remove(_ names: [PackName]) throws -> [PackName] {
        let removed = names.filter { _ in !isRemovalRefused }
        for name in removed { world.remove(PackAddress(writer: durable.writer, name: name), by: self) }
        try crashPerhaps()
        return removed
    }

    private func remove(_ names: [BlobName]) throws -> [BlobName] {
        let removed = names.filter { _ in !isRemovalRefused }
        for name in removed { world.remove(name, of: durable.writer, by: self) }
        try crashPerhaps()
        return removed
    }

    private var isRemovalRefused: Bool {
        if isRefused() { return true }
        guard world.medium == .smb, world.misfortune(0.2) else { return false }
        world.count(.refusedRemoval)
        return true
    }

    private func removeFolder(of writer: WriterID, _ joined: Set<UInt64>) {
        let addresses = view.keys.filter { $0.writer == writer }
        guard addresses.allSatisfy({ joined.contains($0.name.hash) }) else { return }
        for address in addresses.sorted() { world.remove(address, by: self) }
        for name in blobView[writer] ?? [] { world.remove(name, of: writer, by: self) }
    }

    // MARK: Files of other hosts

    func fetch(_ addresses: [PackAddress]) -> [PackAddress: Fetch] {
        var fetched: [PackAddress: Fetch] = [:]
        for address in addresses {
            switch view[address] {
            case _ where isRefused(): fetched[address] = .unreadable
            case .whole where isOld && world.newFormat.contains(address): fetched[address] = .faulty(.newerVersion(4))
            case .whole: fetched[address] = whole(address)
            case .partial, .damaged: fetched[address] = .faulty(.wrongHash)
            case .stale, nil: fetched[address] = .unreadable
            }
        }
        return fetched
    }

    /// Returns a file if all blobs that it requires are in view, in any folder.
    private func whole(_ address: PackAddress) -> Fetch? {
        let seen = blobView.values.reduce(into: Set<BlobName>()) { $0.formUnion($1) }
        let missing = world.blobs.needs(address).filter { !seen.contains($0.name) }
        return missing.isEmpty
            ? world.files[address].map(Fetch.pack) : .faulty(.missingBlobs(missing))
    }
}

extension Pack {
    /// Returns this file as a host decodes it: a base without its values, if the host has all of them.
    func skippingValues(of status: EngineStatus) -> Pack {
        guard case .base(var base) = content, base.state.gone.isEmpty, status.hasAll(of: base, hash: hash) else {
            return self
        }
        (base.state.live, base.skipsValues) = (MergeState(), true)
        return with(base)
    }
}
