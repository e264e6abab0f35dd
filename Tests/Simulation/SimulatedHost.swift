import MirrorEngine
import PropertyLists
import TestSupport

/// One host: its view of the directory, its preference files, its clock, and an engine that can die at any step.
final class SimulatedHost {
    static let mirror = MirrorID(high: 1, low: 1)
    static let profile = Engine.Profile(label: "host", platform: "simulated", software: "1")
    /// 2025, in milliseconds.
    static let epoch: Int64 = 1_750_000_000_000

    enum FileState { case whole, partial, spoilt }

    let world: World
    let label: String
    var view: [PackAddress: FileState] = [:]
    /// The long values that it sees, by the folder in which they are.
    var blobView: [WriterID: Set<BlobName>] = [:]
    var files: [String: PreferenceFile] = [:]
    /// Seconds that the clock is ahead.
    var skew: Int64 = 0
    private(set) var engine: Engine
    /// The state as a crash would leave it.
    private(set) var durable: LocalState
    /// Former states, to which a backup may take the host back.
    private(set) var history: [LocalState] = []
    private(set) var reports: [Report] = []
    /// Stands in for the random numbers of the rim.
    var fixedRandom: UInt64?
    /// What happens between a capture and the write that follows it, once.
    var interference: (() -> Void)?
    /// The step at which the host dies, counted from the beginning.
    var breaksAt: Int?
    /// The preference files as they were last read.
    private var lastRead: [String: PropertyList.Dictionary] = [:]
    private var steps = 0
    /// The state as bytes on a disk, where the run keeps them.
    private(set) var journal: [UInt8]?
    /// What a format makes of values that it cannot hold.
    var distortion: ((inout PropertyList.Dictionary) -> Void)?
    /// How many actions there were but reports, since somebody last asked.
    var actionCount = 0

    struct Crash: Error {}

    /// A preference file that anybody may write.
    struct PreferenceFile: Hashable {
        var values = PropertyList.Dictionary()
        var generation: UInt64 = 0
        var modified: Int64 = 0
        var mark: Mark? = .write
        /// What is there in place of values.
        var content: Observation.Content?
        var hash = Fingerprint(of: [])
    }

    init(_ world: World, _ label: String, state: LocalState? = nil) {
        self.world = world
        self.label = label
        durable =
            state
            ?? LocalState(
                mirror: Self.mirror, writer: .first(random: world.generator.next()), rules: world.scenario.rules)
        engine = Self.engine(durable, world.scenario)
        if state == nil {
            for domain in world.scenario.domains { durable.apply(.configured(domain: domain, isMirrored: true)) }
            restart()
        }
        beginJournal()
    }

    private func beginJournal() { journal = world.keepsJournals ? Journal.beginning(with: durable) : nil }

    private static func engine(_ state: LocalState, _ scenario: Scenario) -> Engine {
        let kinds = scenario.dictionaryKeys
        let policy = DomainPolicy(
            kind: { _, key in kinds.contains(key) ? .dictionary : .register }, staysHome: scenario.staysHome)
        return Engine(state, profile: profile, policy: policy, limits: scenario.limits, seed: scenario.seeding)
    }

    func setPolicy(_ policy: DomainPolicy) { engine.policy = policy }

    func clone(_ label: String) -> SimulatedHost {
        let clone = SimulatedHost(world, label, state: durable)
        clone.history = history
        clone.files = files
        return clone
    }

    /// Begins again with what is durable.
    func restart(from state: LocalState? = nil) {
        if let state {
            durable = state
            beginJournal()
        } else if let journal, let reading = try? Journal.replay(journal, rules: world.scenario.rules) {
            if reading.state != durable || reading.damage != nil {
                world.complain("\(label): the journal says something else")
            }
            durable = reading.state
        }
        engine = Self.engine(durable, world.scenario)
    }

    var now: Int64 { Self.epoch + (world.time + skew) * 1000 }
}

// MARK: What a host does

extension SimulatedHost {
    /// One step of a mirror: capture, pull, publish, compact.
    func sync(compacts: Bool = false) {
        let mayRest = !compacts && mayRest
        let before = actionCount
        defer {
            if mayRest, actionCount > before { world.complain("\(label): had something to do, its head said not") }
        }
        attempt {
            if engine.shouldPullFirst(listing) { try pull() }
            try capture()
            try pull()
            try publish()
            if compacts { try compact() }
        }
    }

    func attempt(_ body: () throws -> Void) {
        do { try body() } catch {
            world.count(.crash)
            restart()
        }
    }

    func capture() throws {
        try send(.observed(observations(world.scenario.domains)))
        if world.chance(0.1) { checkShadows() }
    }

    /// After every capture, what the mirror takes a file to hold is what it holds.
    private func checkShadows() {
        for (domain, shadow) in engine.local.shadows where shadow.isMirrored && shadow.held == nil {
            let known = engine.local.fileValues(in: domain).map { ($0.key.key ?? "", $0.value.propertyList) }
            let file = files[domain.domain]?.values ?? [:]
            guard shadow.file?.inode == files[domain.domain]?.generation else { continue }
            if PropertyList.Dictionary(known) != file {
                world.complain("\(label): \(domain) is taken to hold \(known)")
            }
        }
    }

    func pull() throws {
        try send(.directory(.marked([Self.mirror])))
        try send(.listed(listing))
        if world.chance(0.1) { checkTransactions() }
    }

    /// Whoever has one atom of a transaction has all of them that nobody overwrote.
    private func checkTransactions() {
        // A dot that is two changes, in a fork, says nothing of either.
        guard !world.scenario.clones, !world.scenario.rollbacks else { return }
        let atoms = engine.local.atoms
        for transaction in world.captured.values where transaction.writes.count > 1 {
            // What somebody overwrote may be missing where a base came before that.
            let isKnown = transaction.atoms.filter { world.survivors.atom(at: $0.path) == $0 }.map { atom in
                atoms.above(atom.path).contains { $0 == atom || $0.dominates(atom) }
            }
            let isLive = transaction.atoms.contains { atoms.atom(at: $0.path) == $0 }
            if isLive, isKnown.contains(false) { world.complain("\(label): a part of \(transaction.dot)") }
        }
    }

    var listing: Listing {
        var folders: [WriterID: [String: Int]] = [:]
        for address in view.keys { folders[address.writer, default: [:]][world.name(of: address)] = size(of: address) }
        for (writer, names) in blobView {
            for name in names {
                folders[writer, default: [:]][name.description] = world.blobs.all[name]?.value.bytes.count
            }
        }
        return Listing(folders: folders)
    }

    private func size(of address: PackAddress) -> Int {
        (world.files[address]?.size ?? 1) - (view[address] == .partial ? 1 : 0)
    }

    /// Whether the head of the state says that there is nothing to do.
    var mayRest: Bool {
        let bytes = Journal.encoded(engine.head(journalLength: 0))
        guard let head = try? Journal.head(bytes) else { return false }
        let identities = world.scenario.domains.map { ($0, observation($0).identity) }
        return !head.needsState(
            listing, files: Dictionary(identities) { $1 }, at: now, limits: world.scenario.limits)
    }

    func publish() throws {
        try send(.directory(.marked([Self.mirror])))
        try send(.publish)
    }

    func compact() throws { try send(.compact) }

    func command(_ command: Command) { attempt { try send(.command(command)) } }

    /// Tells the engine, and does what it says; a crash may come before, between and after. What follows from that is
    /// told when all of it is done.
    func send(_ event: Event) throws {
        var events = [event]
        while !events.isEmpty {
            let random = fixedRandom ?? world.generator.next()
            for action in engine.handle(events.removeFirst(), at: Moment(now: now, random: random)) {
                if case .report = action {} else { actionCount += 1 }
                try crashPerhaps()
                if let answer = try carryOut(action) { events.append(answer) }
            }
        }
        try crashPerhaps()
    }

    private func crashPerhaps() throws {
        steps += 1
        if steps == breaksAt { throw Crash() }
        if world.canCrash, world.chance(0.01) { throw Crash() }
    }

    var stepCount: Int { steps }

    private func carryOut(_ action: Action) throws -> Event? {
        switch action {
        case .append(let record): append(record)
        case .fetch(let addresses): return .fetched(fetch(addresses))
        case .create(let address, let pack):
            for blob in pack.blobs {
                world.create(blob, of: address.writer, by: self)
                try crashPerhaps()
            }
            world.create(address, pack, by: self)
            try crashPerhaps()
            return .created(pack.name)
        case .removeBlobs(let names):
            for name in names { world.remove(name, of: durable.writer, by: self) }
            try crashPerhaps()
            return .removedBlobs(names)
        case .remove(let names):
            for name in names { world.remove(PackAddress(writer: durable.writer, name: name), by: self) }
            try crashPerhaps()
            return .removed(names)
        case .observe(let domains): return .observed(observations(domains))
        case .lock(let domains): return .locked(observations(domains))
        case .write(let application): return .written(try write(application))
        case .report(let report): note(report)
        case .removeFolder(let writer):
            for address in world.files.keys where address.writer == writer { world.remove(address, by: self) }
            for name in blobView[writer] ?? [] { world.remove(name, of: writer, by: self) }
        case .unlock, .quarantine: break
        }
        return nil
    }

    private func append(_ record: LocalRecord) {
        durable.apply(record)
        journal? += Journal.entry(record)
        switch record {
        case .captured(let capture): for transaction in capture.transactions { world.note(transaction) }
        case .restored(let restoration): restoration.transaction.map(world.note)
        default: break
        }
        if world.chance(0.05) { history.append(durable) }
    }

    private func note(_ report: Report) {
        reports.append(report)
        if case .reincarnated = report { world.count(.reincarnation) }
    }

    func fetch(_ addresses: [PackAddress]) -> [PackAddress: Fetch] {
        var fetched: [PackAddress: Fetch] = [:]
        for address in addresses {
            switch view[address] {
            case .whole: fetched[address] = whole(address)
            case .partial, .spoilt: fetched[address] = .faulty(.wrongHash)
            case nil: fetched[address] = .unreadable
            }
        }
        return fetched
    }
}

extension SimulatedHost {
    /// A file, if all long values that it needs are in view, in whichever folder.
    private func whole(_ address: PackAddress) -> Fetch? {
        let seen = blobView.values.reduce(into: Set<BlobName>()) { $0.formUnion($1) }
        let missing = world.blobs.needs(address).filter { !seen.contains($0.name) }
        return missing.isEmpty ? world.files[address].map(Fetch.pack) : .faulty(.missingBlobs(missing))
    }
}

// MARK: Preference files

extension SimulatedHost {
    private func observations(_ domains: [String]) -> [Observation] {
        for domain in domains { lastRead[domain] = files[domain]?.values }
        return domains.map(observation)
    }

    private func observation(_ domain: String) -> Observation {
        guard let file = files[domain] else {
            return Observation(domain: domain, identity: nil, hash: nil, content: .missing, modified: 0)
        }
        let identity = FileIdentity(
            device: 1, inode: file.generation, size: 1, modified: file.modified, changed: file.modified)
        return Observation(
            domain: domain, identity: file.content == .missing ? nil : identity, hash: file.hash,
            content: file.content ?? .values(file.values), modified: file.modified, mark: file.mark)
    }

    private func write(_ application: Application) throws -> WriteOutcome {
        if let interference {
            self.interference = nil
            interference()
        } else if world.scenario.hasForeignSaves, !world.isCalm, world.chance(0.05) {
            world.count(.foreignSave)
            editAnything()
        }
        let isStale = application.domains.contains { observation($0.domain.domain).identity != $0.file }
        if application.isChecked, isStale { return .changedMeanwhile }
        for change in application.domains {
            let domain = change.domain.domain
            save(domain) { values in
                values = lastRead[domain] ?? [:]
                for (key, replacement) in change.changes { values[key.key ?? ""] = replacement.new?.propertyList }
                distortion?(&values)
            }
        }
        try crashPerhaps()
        return .done(application.domains.map { observation($0.domain.domain) })
    }

    /// A program reads, changes and replaces a preference file.
    func save(_ domain: String, mark: Mark? = .write, _ change: (inout PropertyList.Dictionary) -> Void) {
        var file = files[domain] ?? PreferenceFile()
        change(&file.values)
        world.nextGeneration += 1
        file.generation = world.nextGeneration
        file.hash = Fingerprint(of: [
            UInt8(truncatingIfNeeded: file.generation), UInt8(truncatingIfNeeded: file.generation >> 8),
        ])
        file.modified = now
        file.mark = mark
        file.content = nil
        files[domain] = file
    }

    /// A program changes one to three things in one file.
    func editAnything() {
        let domain = world.pick(world.scenario.domains)
        save(domain) { values in
            for _ in 0..<world.pick([1, 1, 2, 3]) { edit(&values, world.pick(world.scenario.paths)) }
        }
    }

    private func edit(_ values: inout PropertyList.Dictionary, _ path: [String]) {
        let value: PropertyList? = world.chance(0.35) ? nil : .string(newText())
        guard path.count == 2 else {
            values[path[0]] = value
            return
        }
        var entries = values[path[0]]?.dictionaryValue ?? [:]
        entries[path[1]] = value
        values[path[0]] = entries.isEmpty && value == nil ? values[path[0]] : .dictionary(entries)
    }

    /// A text that no value had before, now and then one that is too long for a pack.
    private func newText() -> String {
        let text = "\(label).\(world.nextValue())"
        guard world.scenario.hasLongValues, world.chance(0.3) else { return text }
        return text + String(repeating: " long", count: Blob.longestInPack / 5 + 1)
    }
}
