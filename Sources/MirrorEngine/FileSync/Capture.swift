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
    /// Values of the file that the mirror replaces, by the decision of a user.
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
    /// What was changed in the file, and what it showed there before.
    package var past: Past
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
    /// The number of lost values that a place may have.
    private let mostLosers: Int
    private var writes: [MadeWrite] = []
    private var readings: [Reading] = []
    private var held: [CapturedDomain] = []
    /// Keys that were being written at a crash. Their files showed either the previous value or the new one.
    private let interrupted: [Path: TrackedFile.Replacement]

    /// A write in a preference file.
    private struct MadeWrite {
        let write: Write
        /// The time at which it was made.
        let time: Int64
        let reason: Atom.Reason
        let replaced: MergeState.Replaced
    }

    /// The contents of a file, and the results of capturing it other than writes.
    private struct Reading {
        let values: FileComparison
        let observation: Observation
        var replaced: [Path: CanonicalValue] = [:]
        /// What the file shows at the keys that were written.
        var shown: [Path: [Shown]] = [:]
    }

    init(_ local: LocalState, policy: DomainPolicy, mostLosers: Int, at moment: Moment) {
        self.mostLosers = mostLosers
        self.local = local
        self.policy = policy
        self.moment = moment
        interrupted = local.trackedFiles.keys.reduce(into: [:]) {
            $0.merge(local.interruptedChanges(in: $1)) { $1 }
        }
    }

    /// Leaves a domain alone until a user decides.
    mutating func hold(_ domain: Path, _ reason: HoldReason) {
        held.append(CapturedDomain(domain: domain, file: nil, hash: nil, exceptions: [:], held: reason))
    }
}

// MARK: Newly mirrored domains

extension CaptureBuilder {
    /// Captures the file of a domain that begins to be mirrored. The seed decides which values enter the mirror. The
    /// user was shown those that are replaced.
    mutating func begin(_ observation: Observation, _ values: FileComparison, seed: Seeding) {
        var reading = Reading(values: values, observation: observation)
        for key in values.file.keys.sorted() where !values.localKeys.contains(key) {
            guard let value = values.file[key], local.shared.live.value(at: key) != value else { continue }
            let isGap = local.shared.live.overlapping(key).isEmpty
            let kind = local.kind(of: key, policy)
            if seed == .merge, kind.unites {
                let writes = Difference.writes(
                    from: nil, to: value, at: key, kind: kind, number: number(ofWriteAt: key, value))
                for write in writes where isGap || write.path.merged != nil {
                    add(write, from: nil, shown: [], .found, &reading)
                }
            } else if seed == .local || seed == .merge && isGap {
                // A value that only fills a gap has the oldest stamp of all that can be in force, so that any other
                // write prevails.
                let reason: Atom.Reason = seed == .local ? .written : .found
                let shown = seed == .local ? local.shared.live.shown(at: key) : []
                let former = local.shared.live.value(at: key).map(WrittenValue.value)
                add(Write(path: key, value: .value(value)), from: former, shown: shown, reason, &reading)
            } else {
                replace(value, at: key, &reading)
            }
        }
        finish(reading)
    }

    /// Captures a file that may be older or newer than the state: its values are kept as open conflicts where others
    /// are in force.
    mutating func find(_ observation: Observation, _ values: FileComparison) {
        var reading = Reading(values: values, observation: observation)
        for key in values.file.keys.sorted() where !values.localKeys.contains(key) {
            guard let value = values.file[key], local.shared.live.value(at: key) != value else { continue }
            add(Write(path: key, value: .value(value)), from: nil, shown: [], .found, &reading)
        }
        finish(reading)
    }

    /// Records that the file is to be overwritten, and with which values.
    mutating func overrule(_ observation: Observation, _ values: FileComparison) {
        var reading = Reading(values: values, observation: observation)
        for key in values.changedKeys + local.keysToMirror(of: values.domain, policy) {
            if let value = values.file[key] { replace(value, at: key, &reading) }
        }
        readings.append(reading)
    }

    private func replace(_ value: CanonicalValue, at key: Path, _ reading: inout Reading) {
        let live = local.shared.live
        if live.value(at: key) != value, !live.isLeft(key) { reading.replaced[key] = value }
    }
}

// MARK: Changes in known files

extension CaptureBuilder {
    /// Captures the changes in a file.
    ///
    /// - Parameter held: The reason the file was held, if a user has accepted it. The user was shown what the file
    ///   replaces.
    mutating func add(_ observation: Observation, _ values: FileComparison, releasedFrom held: HoldReason? = nil) {
        var reading = Reading(values: values, observation: observation)
        let tracked = local.trackedFiles[values.domain] ?? TrackedFile()
        let foreign =
            held == nil && Rule.remembersPast.isKept ? values.foreign(observation).map(IndexedValues.init) : nil
        let lastSeen = foreign.map { tracked.past.lastSeen(in: $0) } ?? .max
        let beginning = Set(local.keysToMirror(of: values.domain, policy))
        for key in values.changedKeys where !beginning.contains(key) {
            let (former, value) = (values.formerValue(of: key), values.file[key])
            // The library has seen what it replaced.
            let seen = foreign.map { $0[key] != former } ?? false ? lastSeen : .max
            var shown = shown(at: key, values)
            if held != nil { shown = local.shared.live.overlapping(key).map { Shown($0.name, $0.region, $0.stamp) } }
            // It is unknown what a program had read that may have read it before the oldest known change.
            let isForgotten = seen < tracked.past.forgotten
            if isForgotten { shown = [] }
            let kind = local.kind(of: key, policy)
            let isKnown = !values.isUnknown(key) && !values.isRecovered && !isForgotten
            // Of a value that stayed on its host, the mirror has no part.
            let mirrored = stayed(key, tracked) ? nil : former
            let writes = Difference.writes(
                from: mirrored, to: value, at: key, kind: kind, number: number(ofWriteAt: key, value))
            let before = IndexedValues(former.map { [key: $0] } ?? [:])
            for write in writes {
                let replaced = before.formerValue(ofWriteAt: write.path).map(WrittenValue.value) ?? .deleted
                add(
                    write, from: isKnown ? replaced : nil, shown: shown,
                    reverted: seen == .max
                        ? []
                        : tracked.past.reverted(byWriteAt: write.path, in: foreign ?? IndexedValues([:]), after: seen),
                    isOfLibrary: foreign.map { $0[key] != value } ?? true, isReleased: held != nil, &reading)
            }
        }
        beginMirroring(beginning, &reading)
        finish(reading)
    }

    /// Returns a number that no other write has.
    private func number(ofWriteAt key: Path, _ value: CanonicalValue?) -> UInt64 {
        let stamp = Stamp(number: UInt64(max(0, moment.now)))
        let written = value.map(WrittenValue.value) ?? .deleted
        return WriteID(random: moment.random, path: key, stamp: stamp, value: written).number
    }

    /// Whether the file's value of a key was not mirrored when the file was last read.
    private func stayed(_ key: Path, _ tracked: TrackedFile) -> Bool {
        local.shared.live.isLeft(key) || tracked.exceptions[key].map { local.keeps(key, $0) } ?? false
    }

    /// Captures keys that stayed on this host until now. Otherwise they would look like keys that the mirror has
    /// deleted. Where the mirror has another value, an older one of the file is kept as an open conflict.
    private mutating func beginMirroring(_ keys: Set<Path>, _ reading: inout Reading) {
        let (values, live) = (reading.values, local.shared.live)
        for key in keys.sorted() {
            guard let value = values.file[key], live.value(at: key) != value else { continue }
            let isLeft = live.isLeft(key)
            let isOld = !isLeft && values.formerValue(of: key) == value
            add(
                Write(path: key, value: .value(value)), from: nil, shown: isLeft ? live.shown(at: key) : [],
                isOld ? .found : .written, &reading)
        }
    }

    private mutating func add(
        _ write: Write, from former: WrittenValue?, shown: [Shown], reverted: [(Region, [Shown])], isOfLibrary: Bool,
        isReleased: Bool, _ reading: inout Reading
    ) {
        guard !reverted.isEmpty else {
            return add(write, from: former, shown: shown, .written, isReleased: isReleased, &reading)
        }
        // What a counter had before others added to it is no difference.
        if write.path.merged?.part.kind == .addend { return }
        var seenBefore = shown
        for (region, before) in reverted {
            seenBefore = seenBefore.subtracting(region) + before.within(region)
        }
        add(write, from: nil, shown: seenBefore, isOfLibrary ? .written : .reverted, &reading)
    }

    /// - Parameter former: The value that the file showed at the key, or nil if only its writes are known.
    private mutating func add(
        _ write: Write, from former: WrittenValue?, shown: [Shown], _ reason: Atom.Reason, isReleased: Bool = false,
        _ reading: inout Reading
    ) {
        let live = local.shared.live
        let key = write.path.prefix(components: 2)
        var replaced = live.replaced(byWriteAt: write.path, of: write.value, shown: shown, showing: former)
        if reason == .found { replaced = MergeState.Replaced() }
        let write = sum(of: write, &replaced, shown)
        let isNews = reason != .found && !live.isKnown(write, replacing: replaced)
        let isFound = reason == .found && !live.cells(under: write.path).allSatisfy { $0.has(write) }
        guard isNews || isFound, !write.isRemovalOfPart || !replaced.covers.isEmpty else { return }
        let observation = reading.observation
        let written = observation.written[Name(key.key ?? "")] ?? observation.modified
        writes.append(
            MadeWrite(write: write, time: isReleased ? moment.now : written, reason: reason, replaced: replaced))
        reading.shown[key] = shown
    }

    /// Returns one addition in place of this one and those that no other host has seen.
    private func sum(of write: Write, _ replaced: inout MergeState.Replaced, _ shown: [Shown]) -> Write {
        guard let (key, part) = write.path.merged, part.kind == .addend else { return write }
        let names = Set(shown.map(\.name))
        let waiting = local.shared.live.under(key).filter {
            $0.name.dot == nil && $0.path.merged?.part.kind == .addend && names.contains($0.name)
        }
        let sum = PropertyList.combined(
            nil, with: ([write.value] + waiting.map(\.value)).map { (part, $0.value) })
        guard !waiting.isEmpty, let sum, let value = try? CanonicalValue(sum) else { return write }
        replaced.covers = (replaced.covers + waiting.map { Cover($0.name, $0.region) }).joined
        replaced.stamp = max(replaced.stamp ?? .zero, waiting.map(\.stamp).max() ?? .zero)
        return Write(path: write.path, value: .value(value))
    }

    private mutating func finish(_ reading: Reading) {
        let live = local.shared.live
        let stay = policy.stay(reading.values.domain.domain)
        for key in reading.values.localKeys.sorted()
        where stay(key.key ?? "") == .declared && live.under(key).contains(where: { $0.value != .left }) {
            let write = Write(path: key, value: .left)
            let replaced = live.replaced(byWriteAt: key, of: .left, shown: [], showing: nil)
            writes.append(
                MadeWrite(write: write, time: reading.observation.modified, reason: .written, replaced: replaced))
        }
        readings.append(reading)
    }

    /// Returns what the file showed at a key before it was changed.
    private func shown(at key: Path, _ values: FileComparison?) -> [Shown] {
        let domain = key.prefix(components: 1)
        if values?.isRecovered ?? false { return [] }
        guard let replacement = interrupted[key] else { return local.shown(at: key) }
        let before = local.trackedFiles[domain]?.exceptions[key]?.shown ?? []
        let after = local.shared.live.shown(at: key)
        let value = values?.file[key]
        if value == replacement.old { return before }
        let isNew = value == replacement.new && value == local.shared.live.value(at: key)
        return isNew ? after : before.inBoth(after)
    }
}

extension MergeState {
    /// Whether the mirror has the value of a write already, and the write replaces nothing else.
    fileprivate func isKnown(_ write: Write, replacing replaced: Replaced) -> Bool {
        cells(under: write.path).allSatisfy { cell in
            cell.has(write)
                && !cell.live.contains { atom in
                    atom.name != cell.winner?.name
                        && replaced.covers.contains { $0.name == atom.name && $0.region.contains(cell.place) }
                        && cell.losers.contains(atom)
                }
        }
    }
}

extension Cell {
    /// Whether the value in force is that of a write.
    fileprivate func has(_ write: Write) -> Bool {
        let part = Atom(AtomName(WriteID(number: 0), nil), at: write.path, write.value, stamp: .zero).part(at: place)
        return (winner?.part(at: place) ?? .none).isSame(as: part, at: place, except: below[...])
            && (winner != nil || write.value == .deleted)
    }
}

// MARK: Recording

extension CaptureBuilder {
    /// Returns the capture, or nil if there is nothing to record.
    consuming func capture(settlesApplication: Bool) -> Capture? {
        guard !readings.isEmpty || !held.isEmpty || settlesApplication else { return nil }
        var clock = local.clock
        var transactions = transactions(&clock)
        var after = local.shared
        for transaction in transactions { after.apply(transaction.changes, nil) }
        let older = olderChanges(after.live, at: transactions.reduce(into: []) { $0.formUnion($1.keys) })
        if !older.isEmpty {
            after.apply(older, nil)
            transactions.append(Transaction(older))
        }
        var made: [Path: [Change]] = [:]
        for change in transactions.flatMap(\.changes) {
            made[change.path.prefix(components: 2), default: []].append(change)
        }
        let domains = readings.map { captured($0, after.live, made) }
        return Capture(
            transactions: transactions, clock: clock.local, when: moment.now, domains: domains + held,
            settlesApplication: settlesApplication)
    }

    private func transactions(_ clock: inout HybridClock) -> [Transaction] {
        let stamps = stamps(&clock)
        let sorted = writes.sorted { $0.write.path < $1.write.path }
        let changes = sorted.map { made in
            let fillsGap = local.shared.live.overlapping(made.write.path).isEmpty
            let clock = made.reason == .found ? fillsGap ? .ofGap : .zero : stamps[made.time] ?? .zero
            let above = made.reason == .found || !Rule.bumpsStamps.isKept ? nil : made.replaced.stamp?.next
            let stamp = max(clock, above ?? .zero)
            let (path, value) = (made.write.path, made.write.remains)
            return Change(
                WriteID(random: moment.random, path: path, stamp: stamp, value: value), at: path, value, stamp: stamp,
                reason: made.reason, covers: made.replaced.covers)
        }
        return changes.parts.map { Transaction($0) }
    }

    /// Returns the changes that replace the oldest of too many lost values by their number. Two programs that overwrite
    /// each other again and again would otherwise leave a value each time.
    private func olderChanges(_ live: MergeState, at keys: Set<Path>) -> [Change] {
        keys.sorted().flatMap { key -> [Change] in
            let conflicts = Dictionary(grouping: live.conflicts(under: key)) { $0.place }
            return conflicts.sorted { $0.key < $1.key }.compactMap { _, conflicts -> Change? in
                guard conflicts.count(where: { !$0.isOfOlder }) > mostLosers else { return nil }
                return olderChange(conflicts, live.cells(under: conflicts[0].place))
            }
        }
    }

    private func olderChange(_ conflicts: [Conflict], _ cells: [Cell]) -> Change? {
        // Half of the values are replaced at once, so that this is rare.
        let values = conflicts.filter { !$0.isOfOlder }.sorted { $0.loser.stamp < $1.loser.stamp }
        let going = values.prefix(values.count - mostLosers / 2) + conflicts.filter(\.isOfOlder)
        let count = going.reduce(0) { $0 + $1.valueCount }
        guard let place = conflicts.first?.place,
            let number = try? CanonicalValue(.integer(PropertyList.Integer(count)))
        else { return nil }
        let id = WriteID(random: moment.random, path: place, stamp: .zero, value: .value(number))
        // It stands only at the place itself, and not in the parts of the value.
        let below = (cells.first.map { Region(place).subtracting($0.region).roots } ?? [])
            .map { Cover(AtomName(id, nil), Region($0)) }
        return Change(
            id, at: place, .value(number), stamp: .zero, reason: .older,
            covers: (going.flatMap(\.covers) + below).joined)
    }

    /// Returns the stamp of each time of writing, in ascending order.
    private func stamps(_ clock: inout HybridClock) -> [Int64: Stamp] {
        let times = Set(writes.filter { $0.reason != .found }.map(\.time))
        return times.sorted().reduce(into: [:]) { $0[$1] = clock.stamp(at: min(moment.now, $1)) }
    }

    private func captured(_ reading: Reading, _ after: MergeState, _ made: [Path: [Change]]) -> CapturedDomain {
        let (values, observation) = (reading.values, reading.observation)
        let former = local.trackedFiles[values.domain] ?? TrackedFile()
        var exceptions: [Path: TrackedFile.Exception] = [:]
        let stay = policy.stay(values.domain.domain)
        for (key, isInView) in differing(values, former, after) {
            let reason: TrackedFile.Exception.Reason =
                if values.localKeys.contains(key) {
                    stay(key.key ?? "")?.isUnselected ?? false ? .unselected : .kept
                } else if !isInView, after.isLeft(key) { .left } else { .pending }
            // A value that the format of the file could not hold is tried again, because the format may have changed.
            exceptions[key] = TrackedFile.Exception(
                value: values.file[key], reason: reason,
                shown: shown(at: key, reading, made[key] ?? []))
        }
        for key in values.beyondLimit { exceptions[key] = TrackedFile.Exception(value: nil, reason: .limit) }
        return CapturedDomain(
            domain: values.domain, file: observation.identity, hash: observation.hash, exceptions: exceptions,
            held: nil, replaced: reading.replaced)
    }

    /// Returns what the file shows at a key after these changes were made in it.
    private func shown(at key: Path, _ reading: Reading, _ made: [Change]) -> [Shown] {
        let former = reading.shown[key] ?? shown(at: key, reading.values)
        return made.reduce(former) { shown, change in
            shown.subtracting(Region(change.path.replaced))
                + (change.value == nil ? [] : [Shown(AtomName(change.id, nil), Region(change.path), change.stamp)])
        }
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
