import MirrorEngine
import PropertyLists
import TestSupport

/// A host: its view of the directory, its preference files, its clock, and an engine that can crash at any step.
final class SimulatedHost {
    static let mirror = MirrorID(high: 1, low: 1)
    static let profile = Engine.Profile(label: "host", platform: "simulated", software: "1")
    static let epoch = HostClock.epoch

    /// The state of a file as a host sees it: complete, incomplete, damaged, or only a name.
    enum FileState { case whole, partial, damaged, stale }

    let world: World
    let label: String
    var view: [PackAddress: FileState] = [:]
    /// The blobs in view, by the folder that contains them.
    var blobView: [WriterID: Set<BlobName>] = [:]
    /// The files in folders that do not belong to the mirror.
    var strays: [WriterID: [String: Int]] = [:]
    var files: [String: PreferenceFile] = [:]
    /// Former contents of preference files.
    var formerFiles: [String: [PreferenceFile]] = [:]
    var clock = HostClock()
    /// The state of the directory that this host sees because of a fault, and the time at which the fault ends.
    var misfortune: (directory: Directory, until: Int64)?
    /// Whether the host is away and does nothing.
    var isAway = false
    private let knowsSchema: Bool
    /// The keys that stay on this host, and why.
    var kept: Set<String> = []
    private let stay: DomainPolicy.Stay
    /// Whether the schema is missing that has declared which keys stay.
    var lacksDeclaration = false
    var engine: Engine
    /// The state that remains after a crash.
    private(set) var durable: LocalState
    /// Former states, which a backup may restore.
    private(set) var history: [LocalState] = []
    /// Backups of former preference files.
    private(set) var configurations: [Configuration] = []
    private(set) var backups: [(state: LocalState, configuration: Configuration)] = []
    /// The mark beside the preference files.
    var restoreMarker: RestoreMarker?
    private(set) var hasNarrowFormat: Bool
    /// The seeding of domains after a loss of the state, or nil before a loss.
    private(set) var seed: Seeding?

    struct RestoreMarker {
        let mark: UInt64
        let writers: [WriterID]
    }
    private(set) var reports: [Report] = []
    /// A fixed value in place of random numbers, or nil.
    var fixedRandom: UInt64?
    /// An action to run once between a capture and the write that follows it.
    var interference: (() -> Void)?
    /// The step at which the host crashes, counted from the beginning.
    var breaksAt: Int?
    /// The preference files as they were last read.
    var lastRead: [String: PropertyList.Dictionary] = [:]
    private(set) var stepCount = 0
    /// The requests to the system that fail, counted from the beginning.
    var failing: Range<Int> = 0..<0
    var failure = Report.Waiting.space
    private var requestCount = 0
    /// Whether its version can read only the oldest format.
    private(set) var isOld: Bool
    /// The encoded state, if the run keeps journals.
    private(set) var journal: [UInt8]?
    /// The change that a format makes to values that it cannot hold.
    var distortion: ((inout PropertyList.Dictionary) -> Void)?
    /// The domains whose files cannot be written.
    var unwritable: Set<String> = []
    /// What the program with a cache remembers, and the values that it has removed since the last capture.
    var cache: PropertyList.Dictionary?
    var hidden: [String: [PropertyList]] = [:]
    /// The number of actions other than reports since this was last reset.
    var actionCount = 0

    struct Crash: Error {}

    init(_ world: World, _ label: String, state: LocalState? = nil) {
        self.world = world
        self.label = label
        durable =
            state
            ?? LocalState(
                mirror: Self.mirror, writer: WriterID(number: world.generator.next()))
        isOld = world.scenario.mixesVersions && world.chance(0.4)
        knowsSchema = !world.misfortune(0.2)
        if !knowsSchema { world.count(.withoutSchema) }
        stay = world.scenario.actors.contains(.keeper) && world.chance(0.3) ? .declared : .unselected
        hasNarrowFormat = world.scenario.hasNarrowFormats && world.chance(0.5)
        engine = Engine(durable, profile: Self.profile, limits: world.scenario.limits)
        if state == nil {
            for domain in world.scenario.domains { durable.apply(.configured(domain: domain, isMirrored: true)) }
        }
        restart()
        beginJournal()
    }

    private func beginJournal() { journal = world.keepsJournals ? Journal.beginning(with: durable) : nil }

    /// How this host mirrors each key.
    var policy: DomainPolicy {
        let (scenario, knowsSchema, kept, stay) = (world.scenario, knowsSchema, kept, stay)
        let (staysLocal, isDeclared) = (world.scenario.staysLocal, !lacksDeclaration)
        return DomainPolicy(
            kind: { _, key in knowsSchema ? scenario.kind(of: key) : nil },
            stay: { domain in { kept.contains($0) ? stay : staysLocal(domain, $0) ? .declared : nil } },
            isDeclared: { _ in isDeclared })
    }

    func setPolicy(_ policy: DomainPolicy) { engine.policy = policy }

    func clone(_ label: String) -> SimulatedHost {
        let clone = SimulatedHost(world, label, state: durable)
        clone.history = history
        clone.files = files
        clone.formerFiles = formerFiles
        clone.restoreMarker = restoreMarker
        return clone
    }

    /// Loses the state, and joins again.
    func loseState() {
        let former = Set(restoreMarker?.writers ?? [])
        var fresh = LocalState(
            mirror: Self.mirror, writer: WriterID(number: world.generator.next()), formerWriters: former)
        for domain in world.scenario.domains { fresh.apply(.configured(domain: domain, isMirrored: true)) }
        history = []
        seed = .found
        restart(from: fresh)
    }

    func keepBackup() {
        configurations.append(configuration)
        backups.append((durable, configuration))
    }

    /// Restarts with the durable state.
    func restart(from state: LocalState? = nil) {
        if let state {
            durable = state
            beginJournal()
        } else if let journal, let reading = try? Journal.replay(journal) {
            if reading.state != durable || reading.damage != nil {
                world.complain("\(label): the journal leads to another state")
            }
            durable = reading.state
            self.journal = Array(journal.prefix(reading.length))
        }
        engine = Engine(
            durable, profile: Self.profile, policy: policy, limits: world.scenario.limits,
            seed: seed ?? world.scenario.seeding)
    }

    /// Upgrades to a version that can read all files.
    func upgrade() {
        isOld = false
        restart()
    }

    func downgrade() {
        isOld = true
        restart()
    }

    var now: Int64 { clock.reading(at: world.time) }
    var skew: Int64 {
        get { clock.skew }
        set { clock.skew = newValue }
    }
}

// MARK: Crashes

extension SimulatedHost {
    func attempt(_ body: () throws -> Void) {
        do { try body() } catch {
            world.log("\(label) dies")
            world.count(.crash)
            restart()
        }
    }

    func crashPerhaps() throws {
        stepCount += 1
        if stepCount == breaksAt { throw Crash() }
        if world.canCrash, world.chance(0.01) { throw Crash() }
    }

    /// Counts a request to the system, and returns whether it fails.
    func isRefused() -> Bool {
        requestCount += 1
        return failing.contains(requestCount)
    }

    /// Whether a request has failed.
    var hasFailed: Bool { requestCount >= failing.lowerBound }

    /// Makes these requests fail, counted from now on.
    func fail(_ requests: Range<Int>, as failure: Report.Waiting) {
        (requestCount, failing, self.failure) = (0, requests, failure)
    }

    func append(_ record: LocalRecord) throws {
        // A change that cannot be recorded has not occurred, so the state is loaded again.
        if isRefused() { throw Crash() }
        let entry = journal == nil ? [] : Journal.entry(record)
        if world.canCrash, world.misfortune(0.002), entry.count > 1 {
            world.count(.tornRecord)
            journal? += entry.prefix(.random(in: 1..<entry.count, using: &world.generator))
            throw Crash()
        }
        world.log("\(label) \(record)")
        let interrupted = durable.application?.domains.flatMap(\.changes.keys) ?? []
        if case .captured(let capture) = record {
            noteSeeded(capture)
            noteCounted(capture)
            noteLeft(capture)
        }
        if case .decided(let decision) = record { noteAccepted(decision) }
        durable.apply(record)
        journal? += entry
        switch record {
        case .intended(let intent) where intent.pack.name.kind == .base && intent.published > 0:
            world.count(.fullFolder)
        case .captured(let capture):
            if capture.settlesApplication { world.record.note(uncertain: interrupted) }
            for transaction in capture.transactions { world.record.note(transaction) }
        default: break
        }
        if world.chance(0.05) { history.append(durable) }
        if case .foundMark = record, world.chance(0.1) { keepBackup() }
    }

    /// A user was shown the values that they accept as lost.
    private func noteAccepted(_ decision: Decision) {
        var after = durable.shared
        after.apply(decision.transaction.changes, nil)
        let open = after.live.conflicts
        // A text can be in another lost value, which the user of another host accepts.
        let accepted = durable.shared.live.conflicts.filter { former in !open.contains { $0.isSame(as: former) } }
        world.record.note(counted: Set(accepted.flatMap(\.lostTexts)))
    }

    /// Values that are only counted from now on are no longer listed one by one.
    private func noteCounted(_ capture: Capture) {
        let changes = capture.transactions.flatMap(\.changes)
        var before = durable.shared
        before.apply(changes.filter { $0.reason != .older }, nil)
        var after = before
        after.apply(changes.filter { $0.reason == .older }, nil)
        let listed = after.live.conflicts.flatMap(\.lostTexts)
        world.record.note(counted: Set(before.live.conflicts.flatMap(\.lostTexts)).subtracting(listed))
    }

    /// The values of a key that is left to each host are withdrawn.
    private func noteLeft(_ capture: Capture) {
        for change in capture.transactions.flatMap(\.changes) where change.value == .left {
            let live = durable.shared.live
            let lost = live.conflicts(under: change.path).flatMap(\.lostTexts)
            let value = live.value(at: change.path)?.propertyList
            world.record.note(counted: Set(lost + (value?.texts ?? [])))
        }
    }

    /// A user who starts to mirror a file, or releases a held one, is shown the values that it replaces.
    private func noteSeeded(_ capture: Capture) {
        for change in capture.transactions.flatMap(\.changes) {
            let domain = change.path.prefix(components: 1)
            let trackedFile = durable.trackedFiles[domain]
            guard trackedFile?.held != nil || trackedFile?.isCaptured != true && seed == nil else { continue }
            world.record.note(nil, over: durable.shared.live.value(at: change.path)?.propertyList, by: label)
            for loser in durable.shared.live.conflicts(under: change.path) where change.reason == .written {
                world.record.note(nil, over: loser.value.value?.propertyList, by: label)
            }
        }
    }

    func note(_ report: Report) {
        world.log("\(label) \(report)")
        reports.append(report)
        if case .tookNewNumber = report { world.count(.newNumber) }
    }
}
