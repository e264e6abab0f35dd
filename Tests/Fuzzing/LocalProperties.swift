internal import Digests
internal import MirrorEngine
internal import PropertyLists

/// A journal that a crash, a bad disk or another user may have damaged.
extension Target {
    /// Reads bytes as a journal: unchanged, and with valid checksums of its records.
    func checkLocal(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        let bytes = Array(bytes)
        guard bytes.count <= 1 << 16 else { return }
        try checkJournal(bytes)
        try checkJournal(repaired(bytes))
    }

    private func checkJournal(_ bytes: [UInt8]) throws(BrokenProperty) {
        if let summary = try? Journal.summary(bytes) {
            guard (try? Journal.summary(Journal.encoded(summary))) == summary else {
                throw BrokenProperty(self, "a summary is not readable as it is written")
            }
            _ = summary.needsState(Listing(folders: [:]), files: [:], at: moment.now, limits: EngineLimits())
        }
        guard let reading = try? Journal.replay(bytes) else { return }
        guard (0...bytes.count).contains(reading.length) else {
            throw BrokenProperty(self, "a journal longer than its file")
        }
        guard (try? Journal.replay(Journal.beginning(with: reading.state)))?.state == reading.state else {
            throw BrokenProperty(self, "a state is not readable as it is written")
        }
        try goOn(with: reading.state)
    }

    private var moment: Moment { Moment(now: 1_750_000_000_000, random: 42) }

    /// With any state, a host continues without a trap, and all records that it writes are readable.
    private func goOn(with state: LocalState) throws(BrokenProperty) {
        let profile = Engine.Profile(label: "l", platform: "p", software: "s")
        var engine = Engine(state, profile: profile, seed: .local)
        var journal = Journal.beginning(with: state)
        var events: [Event] = [
            .directory(.marked([state.mirror])), .command(.add(domain: "d")), .observed(observations(["d"])),
            .listed(Listing(folders: [state.writer: ["l/000000000001.2e9f0a77d0.log": 1]])), .publish, .compact,
        ]
        events += state.shared.live.conflicts.prefix(2).map { .command(.accept([$0])) }
        var steps = 0
        while !events.isEmpty, steps < 50 {
            steps += 1
            for action in engine.handle(events.removeFirst(), at: moment) {
                if case .append(let record) = action { journal += Journal.entry(record) }
                if let answer = answer(to: action) { events.append(answer) }
            }
        }
        guard let reading = try? Journal.replay(journal), reading.damage == nil,
            engine.status.matches(reading.state)
        else {
            throw BrokenProperty(self, "the records that a host makes give another state")
        }
        _ = Journal.encoded(engine.summary(journalLength: journal.count))
        var check = engine.status.check(of: Listing(folders: [:]))
        check.add(PackAddress(writer: state.writer, name: reading.state.base.encoded().name), .unreadable)
        _ = check.finish()
    }

    private func answer(to action: Action) -> Event? {
        switch action {
        case .create(_, let pack): .created(pack.name)
        case .remove(let names): .removed(names)
        case .removeBlobs(let names): .removedBlobs(names)
        case .observe(let domains): .observed(observations(domains))
        case .lock(let domains): .locked(observations(domains))
        case .write(let application): .written(.done(observations(application.domains.map(\.domain.domain))))
        case .fetch(let addresses): .fetched(Dictionary(addresses.map { ($0, .unreadable) }) { $1 })
        default: nil
        }
    }

    private func observations(_ domains: [String]) -> [Observation] {
        domains.map { domain in
            Observation(
                domain: domain, identity: FileIdentity(device: 1, inode: 1, size: 1, modified: 1, changed: 1),
                hash: ContentHash(of: [1]), content: .values(["k": 1]), modified: moment.now, mark: .write)
        }
    }

    /// Returns the same journal, with valid checksums in all of its records.
    private func repaired(_ bytes: [UInt8]) -> [UInt8] {
        var (repaired, reader) = (bytes, ByteReader(bytes))
        guard (try? reader.bytes(5)) != nil else { return bytes }
        while let body = try? reader.run(limit: bytes.count), (try? reader.halfWord()) != nil {
            replace(&repaired, at: reader.position - 4, by: UInt64(CRC32C.checksum(Array(body))), count: 4)
        }
        return repaired
    }
}
