internal import PropertyLists

/// The result of reading preference files: the transactions made of their changes, and the new contents of each file.
package struct Capture: Hashable, Sendable {
    /// The changes in the files: one transaction, or several if one would exceed the size of a record.
    package var transactions: [Transaction]
    /// The last stamp of the clock after the capture.
    package var clock: Stamp
    /// The time at which the files were read, in milliseconds since 1970.
    package var when: Int64
    package var domains: [CapturedDomain]
    /// Whether this completes the application that was in progress.
    package var settlesApplication: Bool
}

/// A preference file after it was captured.
package struct CapturedDomain: Hashable, Sendable {
    package var domain: Path
    package var file: FileIdentity?
    package var hash: ContentHash?
    /// The keys whose value in the file differs from the view.
    package var exceptions: [Path: TrackedFile.Exception]
    package var held: HoldReason?
    /// The keys at which a user reverted the last write into the file.
    package var reverted: [Path]
    /// Writes of other writers with the values that were written here.
    package var adopted: [WriteID] = []
    /// Values of the file that the mirror replaces, although the writer of the replacement had not seen them.
    package var replaced: [Path: CanonicalValue] = [:]
}

/// Changes to preference files that are made together.
package struct Application: Hashable, Sendable {
    package var domains: [DomainChange]
    /// Whether a file is left alone if it is not the one that was captured.
    package var isChecked = true
}

/// The changes to one preference file.
package struct DomainChange: Hashable, Sendable {
    package var domain: Path
    /// The file as it was captured. A different file must not be replaced.
    package var file: FileIdentity?
    package var changes: [Path: TrackedFile.Replacement]
}

/// A preference file after it was written, as it was read back.
package struct AppliedDomain: Hashable, Sendable {
    package var domain: Path
    package var file: FileIdentity?
    package var hash: ContentHash?
    package var exceptions: [Path: TrackedFile.Exception]
    package var replaced: [Path: TrackedFile.Replacement]
}

/// A capture in progress: first the writes of some preference files, then the keys at which the files differ from the
/// view.
///
/// It is consumed when the capture is recorded. While it shares the state, any change to the state would copy all of
/// it.
struct CaptureBuilder: ~Copyable {
    private let local: LocalState
    private let policy: DomainPolicy
    private let moment: Moment
    private var writes: [Write] = []
    /// The time at which each written key was written.
    private var times: [Path: Int64] = [:]
    private var readings: [Reading] = []
    private var held: [CapturedDomain] = []
    private var isGapFilling = false
    /// Domains whose files came back from a backup or from damage, so that what they showed is unknown.
    private var unknown: Set<Path> = []
    /// Keys that were being written at a crash. Their files showed either the previous value or the new one.
    private let interrupted: [Path: TrackedFile.Replacement]

    /// The contents of a file, and the results of capturing it other than writes.
    private struct Reading {
        let values: FileComparison
        let observation: Observation
        var reverted: [Path] = []
        var adopted: [WriteID] = []
        var replaced: [Path: CanonicalValue] = [:]
    }

    init(_ local: LocalState, policy: DomainPolicy, at moment: Moment) {
        self.local = local
        self.policy = policy
        self.moment = moment
        interrupted = local.trackedFiles.keys.reduce(into: [:]) {
            $0.merge(local.interruptedChanges(in: $1)) { $1 }
        }
    }

    /// Leaves a domain alone until a user decides.
    mutating func hold(_ domain: Path, _ reason: HoldReason) {
        held.append(
            CapturedDomain(domain: domain, file: nil, hash: nil, exceptions: [:], held: reason, reverted: []))
    }

    /// Captures the file of a domain that begins to be mirrored. The seed decides which values enter the mirror, and
    /// those that the mirror replaces are listed.
    mutating func begin(_ observation: Observation, _ values: FileComparison, seed: Seeding) {
        isGapFilling = seed == .merge
        var reading = Reading(values: values, observation: observation)
        for key in values.file.keys.sorted() where !values.localKeys.contains(key) {
            guard let value = values.file[key] else { continue }
            let isGap = local.mergeState.overlapping(key).isEmpty
            if seed == .local || seed == .merge && isGap {
                add(from: nil, to: value, at: key, observation, &reading)
            } else {
                replace(value, at: key, &reading)
            }
        }
        finish(reading)
    }

    /// Captures the changes in a file.
    ///
    /// - Parameter held: The reason the file was held, if a user has accepted it. An accepted file is a change made
    ///   now, and one that came back from a backup replaces writes that its user had not seen.
    mutating func add(_ observation: Observation, _ values: FileComparison, releasedFrom held: HoldReason? = nil) {
        if held == .rolledBack || values.isRecovered { unknown.insert(values.domain) }
        var reading = Reading(values: values, observation: observation)
        let replaced = local.trackedFiles[values.domain]?.replaced ?? [:]
        for key in values.changedKeys {
            add(from: values.formerValue(of: key), to: values.file[key], at: key, observation, &reading)
            if held != nil { times[key] = moment.now }
            if observation.mark == nil, let last = replaced[key], last.old == values.file[key],
                last.new == values.formerValue(of: key)
            {
                reading.reverted.append(key)
            }
        }
        finish(reading)
    }

    /// Records that the file is to be overwritten, and lists the values that this replaces.
    mutating func overrule(_ observation: Observation, _ values: FileComparison) {
        var reading = Reading(values: values, observation: observation)
        for key in values.changedKeys {
            if let value = values.file[key] { replace(value, at: key, &reading) }
        }
        readings.append(reading)
    }

    private mutating func finish(_ reading: Reading) {
        for key in reading.values.localKeys.sorted() where isKnownToOthers(key) {
            writes.append(Write(path: key, value: .left))
            times[key] = reading.observation.modified
        }
        readings.append(reading)
    }

    private func isKnownToOthers(_ key: Path) -> Bool {
        local.mergeState.under(key).contains { $0.path != key || $0.value != .left }
    }

    /// Adds the writes of a key, except those whose values the mirror already has. The writes that set these values are
    /// adopted as ours.
    private mutating func add(
        from old: CanonicalValue?, to new: CanonicalValue?, at key: Path, _ observation: Observation,
        _ reading: inout Reading
    ) {
        if local.mergeState.value(at: key) == new {
            let writes = local.mergeState.overlapping(key)
            reading.adopted += writes.filter { !local.isOwn($0) && !$0.isHidden(in: writes) }.map(\.id)
        }
        let kind = policy.kind(key.domain, key.key ?? "")
        let values = reading.values
        let new = Difference.writes(from: old, to: new, at: key, kind: kind).filter { !isKnown($0, values) }
        guard !new.isEmpty else { return }
        times[key] = observation.written[Name(key.key ?? "")] ?? observation.modified
        writes += new
    }

    /// Whether the mirror has the value of a write, from writes that have seen everything that this one visibly
    /// replaced. Otherwise, only this write can show other hosts that a user saw the replaced writes.
    private func isKnown(_ write: Write, _ values: FileComparison) -> Bool {
        guard local.mergeState.value(at: write.path) == write.value.value else { return false }
        let inForce = local.mergeState.overlapping(write.path)
        return shown(at: write.path.prefix(components: 2), in: values).replacedDirectly(byWriteAt: write.path)
            .allSatisfy { replaced in inForce.contains { $0.id == replaced.id || $0.hasSeen(replaced) } }
    }

    private func replace(_ value: CanonicalValue, at key: Path, _ reading: inout Reading) {
        if local.mergeState.value(at: key) != value, local.mergeState.write(at: key)?.value != .left {
            reading.replaced[key] = value
        }
    }
}

// MARK: Recording

extension CaptureBuilder {
    /// Returns the capture, or nil if there is nothing to record.
    consuming func capture(settlesApplication: Bool) -> Capture? {
        guard !readings.isEmpty || !held.isEmpty || settlesApplication else { return nil }
        var clock = local.clock
        let transactions = transactions(&clock)
        var (after, made) = (local.mergeState, [Path: [VersionedWrite]]())
        for write in transactions.flatMap(\.versionedWrites) {
            after.join(write)
            made[write.path.prefix(components: 2), default: []].append(write)
        }
        let domains = readings.map { captured($0, after, made) }
        return Capture(
            transactions: transactions, clock: clock.local, when: moment.now, domains: domains + held,
            settlesApplication: settlesApplication)
    }

    private func transactions(_ clock: inout HybridClock) -> [Transaction] {
        let stamps = stamps(&clock)
        var transactions: [Transaction] = []
        var (key, shown) = (Path?.none, [VisibleWrite]())
        for part in writes.normalised.parts {
            let transactionID = TransactionID(
                writer: local.writer, sequence: local.sequence + UInt64(transactions.count) + 1)
            let stamped = part.map { write in
                let place = write.path.prefix(components: 2)
                if key != place { (key, shown) = (place, self.shown(at: place)) }
                let stamp = stamps[times[place] ?? moment.now] ?? .zero
                return write.stamped(stamp, over: shown, by: transactionID, moment.random)
            }
            transactions.append(
                Transaction(id: transactionID, stamp: stamped.map(\.stamp).min() ?? .zero, writes: stamped))
        }
        return transactions
    }

    /// Returns the stamp of each time of writing, in ascending order. Values that only fill gaps get the oldest stamp,
    /// so that any other write prevails.
    private func stamps(_ clock: inout HybridClock) -> [Int64: Stamp] {
        guard !isGapFilling else { return [:] }
        var stamps: [Int64: Stamp] = [:]
        for time in Set(times.values).sorted() where !writes.isEmpty {
            stamps[time] = clock.stamp(at: min(moment.now, time))
        }
        return stamps
    }

    private func captured(_ reading: Reading, _ after: MergeState, _ made: [Path: [VersionedWrite]]) -> CapturedDomain {
        let (values, observation) = (reading.values, reading.observation)
        let former = local.trackedFiles[values.domain] ?? TrackedFile()
        let differing = differing(values, former, after)
        var exceptions = [Path: TrackedFile.Exception](minimumCapacity: differing.count)
        for (key, isInView) in differing {
            let isLeft = !isInView && after.write(at: key)?.value == .left
            let isLocal = isLeft || values.localKeys.contains(key)
            // A value that the format of the file could not hold is tried again, because the format may have changed.
            exceptions[key] = TrackedFile.Exception(
                value: values.file[key], reason: isLocal ? .local : .pending, shown: shown(at: key, made[key] ?? []))
        }
        for key in values.beyondLimit { exceptions[key] = TrackedFile.Exception(value: nil, reason: .limit) }
        return CapturedDomain(
            domain: values.domain, file: observation.identity, hash: observation.hash, exceptions: exceptions,
            held: nil,
            reverted: reading.reverted, adopted: reading.adopted, replaced: reading.replaced)
    }

    /// Returns the writes that the file showed at a key before it was changed.
    private func shown(at key: Path) -> [VisibleWrite] {
        shown(at: key, in: readings.first { $0.values.domain.isPrefix(of: key) }?.values)
    }

    private func shown(at key: Path, in values: FileComparison?) -> [VisibleWrite] {
        let domain = key.prefix(components: 1)
        if unknown.contains(domain) { return [] }
        guard let replacement = interrupted[key] else { return local.shownWrites(at: key) }
        let before = local.trackedFiles[domain]?.exceptions[key]?.shown ?? []
        let after = [VisibleWrite](local.mergeState.overlapping(key))
        let value = values?.file[key]
        if value == replacement.old { return before }
        return value == replacement.new && value == local.mergeState.value(at: key) ? after : before.inBoth(after)
    }

    /// Returns the writes that the file shows at a key after these writes were made in it.
    private func shown(at key: Path, _ made: [VersionedWrite]) -> [VisibleWrite] {
        let remaining = shown(at: key).filter { shown in
            !made.contains { $0.path.isPrefix(of: shown.write.path) }
        }
        return remaining + made.map { VisibleWrite($0) }
    }

    private typealias Differing = [(key: Path, isInView: Bool)]

    /// Returns the keys whose value in the file differs from the view, and whether the view has a value.
    private func differing(_ reading: FileComparison, _ former: TrackedFile, _ after: MergeState) -> Differing {
        guard former.isCaptured, !reading.isRecovered else { return differingAnywhere(reading, after) }
        return candidates(reading, former).compactMap { key in
            let value = after.value(at: key)
            return value == reading.file[key] ? nil : (key, value != nil)
        }
    }

    private func differingAnywhere(_ reading: FileComparison, _ after: MergeState) -> Differing {
        var differing = Differing()
        for (key, value) in after.keys(under: reading.domain)
        where reading.file[key] != value && !reading.beyondLimit.contains(key) { differing.append((key, true)) }
        for key in reading.file.keys where after.value(at: key) == nil { differing.append((key, false)) }
        return differing
    }

    /// Returns the keys that can differ from the view. No other key has changed, in the file or in the view.
    private func candidates(_ reading: FileComparison, _ former: TrackedFile) -> Set<Path> {
        Set(reading.differingKeys).union(former.exceptions.keys).union(reading.localKeys)
            .union(local.interruptedChanges(in: reading.domain).keys).subtracting(reading.beyondLimit)
    }
}

extension Write {
    /// Returns this write as part of a transaction: later than the writes that its file showed, and replacing them.
    func stamped(
        _ clock: Stamp, over shown: [VisibleWrite], by transactionID: TransactionID, _ random: UInt64
    ) -> Transaction.StampedWrite {
        let above = Rule.bumpsStamps.isKept ? shown.stamp(forWriteAt: path) : nil
        let stamp = max(clock, above ?? .zero)
        let id = WriteID(random: random, transactionID: transactionID, path: path, stamp: stamp, value: value)
        return Transaction.StampedWrite(
            path: path, stamp: stamp, value: value, id: id, seen: shown.replaced(byWriteAt: path))
    }
}
