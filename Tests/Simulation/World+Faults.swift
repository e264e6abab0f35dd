import MirrorEngine
import PropertyLists

// Faults of the directory.
extension World {
    /// Whether power can fail before created files are durable. Not if hosts are also cloned, lose their state or
    /// vanish, because then no host could publish the lost changes again.
    var canLoseUnsynced: Bool {
        medium.losesUnsynced && !scenario.clones && !scenario.rollbacks && !scenario.losesState
            && !scenario.actors.contains(.vanishingAuthor)
    }

    /// The reason that a file cannot be created now, or nil.
    func refusal() -> Report.Waiting? {
        guard misfortune(0.04) else { return nil }
        let (fault, failure) = pick([
            (Fault.noSpace, Report.Waiting.space), (.noPermission, .permission), (.inputOutput, .later),
        ])
        count(fault)
        return failure
    }

    /// Makes a host see a missing or different directory for a while.
    func changeDirectory(_ host: SimulatedHost) {
        let other = MirrorID(high: 9, low: 9)
        let (fault, directory) = pick([
            (Fault.unavailable, Directory.unavailable), (.emptyMountPoint, .marked([])), (.swapped, .marked([other])),
            (.split, .marked([SimulatedHost.mirror, other])),
        ])
        count(fault)
        host.misfortune = (directory, until: time + pick([5, 60, 600]))
    }

    /// Rolls the directory back to an earlier state, or removes a random half or all of its files. On SFTP, where files
    /// cannot be synchronized, it may instead lose some of the last files.
    func loseFiles() {
        let standing = creations.filter { !removed.contains($0) }
        let kinds: [Fault] =
            [.directoryRolledBack, .halfRestored, .wiped]
            + (medium == .sftp ? [.forgotten, .forgotten, .forgotten] : [])
        let fault = pick(kinds)
        count(fault)
        switch fault {
        case .wiped: lose(standing)
        case .forgotten: lose(standing.suffix(3).filter { _ in chance(0.5) })
        case .halfRestored: lose(standing.filter { _ in chance(0.5) })
        default:
            let since = Int.random(in: 0...creations.count, using: &generator)
            lose(creations.dropFirst(since).filter { !removed.contains($0) })
            for address in creations.prefix(since) where removed.contains(address) && chance(0.2) { restore(address) }
        }
    }

    private func restore(_ address: PackAddress) {
        count(.returned)
        for host in hosts where host.durable.writer != address.writer { host.view[address] = .whole }
        schedule(in: 500) { [self] in
            guard removed.contains(address) else { return }
            for host in hosts { host.view[address] = nil }
        }
    }

    /// Puts a stray file into a folder.
    func addStrayFile(_ host: SimulatedHost) {
        guard let writer = host.view.keys.map(\.writer).sorted().randomElement(using: &generator) else { return }
        count(.stray)
        let names = host.view.keys.filter { $0.writer == writer }.sorted().map { name(of: $0) }
        let copy = (names.randomElement(using: &generator) ?? "x").replacing(
            ".", with: " (conflicted copy).", maxReplacements: 1)
        let junk = pick([copy, ".DS_Store", "l/._000000000001.0000000000.log", "desktop.ini", "~q8x2.tmp", "l/~.log"])
        host.strays[writer, default: [:]][junk] = pick([0, 1, 512, 4096])
    }

    /// Moves a directory on a memory stick to a random host.
    func passMedium() {
        if medium == .usb { holder = hosts.filter { !$0.isAway }.randomElement(using: &generator) }
    }

    // MARK: Backups

    /// Restores all preference files of a host, but not its state.
    func restoreConfiguration(of host: SimulatedHost) {
        guard let former = host.configurations.randomElement(using: &generator) else { return }
        count(.configurationRestored)
        host.restore(former)
    }

    /// Restores the files and the state of a host.
    func restoreMachine(_ host: SimulatedHost) {
        guard let former = host.backups.randomElement(using: &generator) else { return }
        count(.machineRestored)
        host.restore(former.configuration)
        host.restart(from: former.state)
    }

    func loseState(of host: SimulatedHost) {
        count(.stateLost)
        host.loseState()
    }
}

extension World {
    /// The users' writes that were replaced without being listed on all hosts.
    var unreported: [String] {
        let inForce = hosts.map { Set($0.files.values.flatMap { PropertyList.dictionary($0.values).texts }) }
        let listed = hosts.map { Set($0.engine.status.mergeState.conflicts.flatMap(\.lostTexts)) }
        func inAll(_ sets: [Set<String>]) -> Set<String> {
            sets.dropFirst().reduce(sets.first ?? []) { $0.intersection($1) }
        }
        let published = publishedTexts
        // A restored or lost state has lost its unpublished changes, and so has a host that vanished.
        let losesUnpublished =
            scenario.restoresMachines || scenario.rollbacks || scenario.losesState || scenario.clones
            || scenario.actors.contains(.vanishingAuthor)
        let left = hosts.flatMap { host in
            host.files.flatMap { domain, file in
                file.values.filter { host.isLeft(Path(domain: domain, key: $0.key)) }.flatMap(\.value.texts)
            }
        }
        return record.unreported(in: inAll(inForce).union(left), listed: inAll(listed)) { text in
            !losesUnpublished || published.contains(text)
        }
    }

    /// The open conflicts whose loser was seen by the user whose value is in force.
    package var needless: [String] {
        guard let host = hosts.first, faults[.withoutSchema] == nil, !hosts.contains(where: lacksRoom) else {
            return []
        }
        return host.engine.status.mergeState.conflicts.compactMap { conflict in
            let winning = conflict.winner.map { $0.value.texts } ?? []
            guard record.isNeedless(conflict.lostTexts, winning, at: conflict.place) else { return nil }
            return "\(conflict.place): \(conflict.lostTexts), which \(winning) has seen"
        }
    }
}

extension World {
    /// Whether a host reports that what it wrote exceeds a limit, and a file with all of it would. Its values wait.
    func lacksRoom(_ host: SimulatedHost) -> Bool {
        !host.durable.outbox.isEmpty
            && host.engine.status.exceedsQuota(at: Moment(now: host.now, random: 0))
            && host.durable.base.encoded().size > scenario.bytesOfWriter
    }
}

extension WrittenValue {
    var texts: [String] { value?.propertyList.texts ?? [] }
}

extension Conflict {
    /// The texts of the lost value that are an open conflict. Other entries of the value have been decided.
    var lostTexts: [String] {
        let region = losers.reduce(Region.none) { $0.union($1.region) }
        let texts = value.value?.propertyList.placedTexts ?? []
        return texts.filter { region.contains($0.place.reduce(place) { $0.appending($1) }) }.map(\.text)
    }
}

extension World {
    /// Checks that a host that has never seen the directory can join all existing files at once, without waiting for
    /// files that a base replaced. After clones it may wait, because one copy removes files that precede those of the
    /// other.
    func readFirst() {
        let addresses = creations.filter { !removed.contains($0) }
        var expected = SharedState()
        var folders: [WriterID: [String: Int]] = [:]
        for address in addresses.sorted(by: PackAddress.isReadBefore) {
            guard let pack = files[address] else { continue }
            folders[address.writer, default: [:]][name(of: address)] = pack.size
            expected.join(pack)
        }
        let state = LocalState(
            mirror: SimulatedHost.mirror, writer: WriterID(number: generator.next()))
        var engine = Engine(state, profile: SimulatedHost.profile, limits: scenario.limits, seed: .local)
        func read(after wait: Int64) -> Bool {
            var events = [Event.directory(.marked([SimulatedHost.mirror])), .listed(Listing(folders: folders))]
            while !events.isEmpty {
                let moment = Moment(now: SimulatedHost.epoch + time * 1000 + wait, random: generator.next())
                for action in engine.handle(events.removeFirst(), at: moment) {
                    guard case .fetch(let addresses) = action else { continue }
                    let status = engine.status
                    let fetched = addresses.map { address in
                        (address, files[address].map { Fetch.pack($0.skippingValues(of: status)) } ?? .unreadable)
                    }
                    events.append(.fetched(Dictionary(fetched) { $1 }))
                }
            }
            // Which values of two copies remain depends on what is known of both.
            return engine.status.mergeState == expected.live || !engine.status.shared.forks.isEmpty
        }
        guard !read(after: 0) else { return }
        guard scenario.clones, read(after: scenario.limits.waitsFor) else {
            return complain("a first reading waits for a missing file")
        }
    }
}
