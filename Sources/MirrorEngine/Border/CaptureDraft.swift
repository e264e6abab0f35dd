internal import PropertyLists

/// A capture in the making: the writes of some preference files, then what the files hold apart from the view.
///
/// It is gone when it is recorded, since as long as it holds the state a change to that would copy all of it.
struct CaptureDraft: ~Copyable {
    private let local: LocalState
    private let policy: DomainPolicy
    private let now: Int64
    private var writes: [Write] = []
    private var readings: [(reading: DomainReading, observation: Observation)] = []
    private var held: [CapturedDomain] = []
    private var reverted: [Path: [Path]] = [:]
    private var modified: Int64 = .min
    private var isGapFilling = false

    init(_ local: LocalState, policy: DomainPolicy, at now: Int64) {
        self.local = local
        self.policy = policy
        self.now = now
    }

    /// Leaves a domain alone until a person decides.
    mutating func hold(_ domain: Path, _ reason: Held) {
        held.append(
            CapturedDomain(
                domain: domain, file: nil, hash: nil, exceptions: [:], seen: VersionVector(), held: reason, reverted: []
            ))
    }

    /// Takes what is in the file for what the mirror lacks. What both have is as the seed says.
    mutating func begin(_ observation: Observation, _ reading: DomainReading, seed: Seeding) {
        isGapFilling = seed == .merge
        for key in reading.file.keys.sorted() where !reading.atHome.contains(key) {
            let isGap = local.atoms.above(key).isEmpty && local.atoms.under(key).isEmpty
            if seed == .local || seed == .merge && isGap { add(from: nil, to: reading.file[key], at: key) }
        }
        finish(observation, reading)
    }

    /// Takes up what was changed in a file.
    mutating func add(_ observation: Observation, _ reading: DomainReading) {
        let replaced = local.shadows[reading.domain]?.replaced ?? [:]
        for key in reading.changedKeys {
            add(from: reading.formerValue(of: key), to: reading.file[key], at: key)
            if observation.mark == nil, let last = replaced[key], last.old == reading.file[key],
                last.new == reading.formerValue(of: key)
            {
                reverted[reading.domain, default: []].append(key)
            }
        }
        finish(observation, reading)
    }

    /// Takes the file as one that is to be overwritten.
    mutating func overrule(_ observation: Observation, _ reading: DomainReading) {
        readings.append((reading, observation))
    }

    private mutating func finish(_ observation: Observation, _ reading: DomainReading) {
        for key in reading.atHome.sorted() where isKnownToOthers(key) { writes.append(Write(path: key, value: .left)) }
        modified = max(modified, observation.modified)
        readings.append((reading, observation))
    }

    private func isKnownToOthers(_ key: Path) -> Bool {
        local.atoms.under(key).contains { $0.path != key || $0.value != .left }
    }

    /// Adds the writes of a key, but not what the mirror has already.
    private mutating func add(from old: CanonicalValue?, to new: CanonicalValue?, at key: Path) {
        if local.atoms.value(at: key) == new { return }
        let kind = policy.kind(key.domain, key.key ?? "")
        writes += Difference.writes(from: old, to: new, at: key, kind: kind).filter { write in
            write.path == key || local.atoms.value(at: write.path) != write.value.value
        }
    }
}

// MARK: The record

extension CaptureDraft {
    /// What is to be recorded; nil where nothing was read anew.
    consuming func capture(settlesApplication: Bool) -> Capture? {
        guard !readings.isEmpty || !held.isEmpty || settlesApplication else { return nil }
        var clock = local.clock
        let transactions = transactions(&clock)
        var after = local.atoms
        for atom in transactions.flatMap(\.atoms) { after.join(atom) }
        let domains = readings.map { captured($0.reading, $0.observation, after) }
        return Capture(
            transactions: transactions, clock: clock.local, domains: domains + held,
            settlesApplication: settlesApplication)
    }

    private func transactions(_ clock: inout HybridClock) -> [Transaction] {
        var transactions: [Transaction] = []
        for part in writes.normalised.parts {
            let sequence = local.sequence + UInt64(transactions.count) + 1
            transactions.append(transaction(part, sequence: sequence, &clock))
        }
        return transactions
    }

    private func transaction(_ writes: [Write], sequence: UInt64, _ clock: inout HybridClock) -> Transaction {
        let overlaps = writes.map { write in
            local.rules.bumpsStamps ? local.atoms.greatestStamp(overlapping: write.path) : nil
        }
        let stamps: HybridClock.Stamps
        if isGapFilling {
            stamps = HybridClock.Stamps(common: .zero, writes: writes.map { _ in .zero })
        } else {
            stamps = clock.stamp(at: min(now, modified), now: now, over: overlaps)
        }
        let stamped = zip(writes, stamps.writes).map { write, stamp in
            Transaction.StampedWrite(
                path: write.path, stamp: stamp, value: write.value, replaced: local.atoms.atom(at: write.path)?.dot)
        }
        var context = context(of: writes)
        context[local.writer] = sequence - 1
        let dot = Dot(writer: local.writer, sequence: sequence)
        return Transaction(dot: dot, stamp: stamps.common, context: context, writes: stamped)
    }

    /// What the author of all these writes can have seen.
    private func context(of writes: [Write]) -> VersionVector {
        let domains = Set(writes.map { $0.path.prefix(components: 1) })
        return domains.reduce(local.knowledge) { $0.minimum(with: local.seen(in: $1)) }
    }

    private func captured(
        _ reading: DomainReading, _ observation: Observation, _ after: AtomStore
    ) -> CapturedDomain {
        let former = local.shadows[reading.domain] ?? Shadow()
        let differing = differing(reading, former, after)
        var exceptions = [Path: Shadow.Exception](minimumCapacity: differing.count)
        for (key, isInView) in differing {
            let isLeft = !isInView && after.atom(at: key)?.value == .left
            let reason: Shadow.Exception.Reason =
                isLeft || reading.atHome.contains(key) ? .home : former.exceptions[key]?.reason ?? .pending
            exceptions[key] = Shadow.Exception(value: reading.file[key], reason: reason)
        }
        for key in reading.beyondLimit { exceptions[key] = Shadow.Exception(value: nil, reason: .limit) }
        return CapturedDomain(
            domain: reading.domain, file: observation.identity, hash: observation.hash, exceptions: exceptions,
            seen: local.seen(in: reading.domain), held: nil, reverted: reverted[reading.domain] ?? [])
    }

    private typealias Differing = [(key: Path, isInView: Bool)]

    /// The keys whose value in the file is not that in the view, and whether they have one in the view.
    private func differing(_ reading: DomainReading, _ former: Shadow, _ after: AtomStore) -> Differing {
        guard former.isCaptured, !reading.isRecovered else { return differingAnywhere(reading, after) }
        return candidates(reading, former).compactMap { key in
            let value = after.value(at: key)
            return value == reading.file[key] ? nil : (key, value != nil)
        }
    }

    private func differingAnywhere(_ reading: DomainReading, _ after: AtomStore) -> Differing {
        var differing = Differing()
        for (key, value) in after.keys(under: reading.domain)
        where reading.file[key] != value && !reading.beyondLimit.contains(key) { differing.append((key, true)) }
        for key in reading.file.keys where after.value(at: key) == nil { differing.append((key, false)) }
        return differing
    }

    /// The keys that may differ from the view: all other keys are as they were, in the file and in the view.
    private func candidates(_ reading: DomainReading, _ former: Shadow) -> Set<Path> {
        let application =
            local.application?.domains.first { $0.domain == reading.domain }?.changes.keys.map { $0 } ?? []
        return Set(reading.differingKeys).union(former.exceptions.keys).union(reading.atHome).union(application)
            .subtracting(reading.beyondLimit)
    }
}
