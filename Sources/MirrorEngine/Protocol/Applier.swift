internal import PropertyLists

/// The exchange between the state and the preference files: captures changes in the files, and writes changes of the
/// mirror into them.
///
/// A file is written only directly after it was captured under the same lock.
struct Applier: Sendable {
    /// Whether files were joined since the locks of preference files were last requested.
    var hasJoined = false
    /// Whether locks were requested and not released.
    private var isApplying = false
    /// Whether preference files are being written. Files of other writers that arrive meanwhile are joined afterwards,
    /// so that what the files show is known.
    private(set) var isWriting = false
    /// The domains whose locks were last requested.
    private var asked: [Path] = []
    /// The domains that could not be changed since `requestLocks`.
    private var skipped: Set<Path> = []
    /// The domains whose files were captured for the first time and not written since.
    private var seeding: Set<Path> = []
    /// The number of failed writes since `requestLocks`.
    private var refusals = 0
    /// The domains whose files could not be written the last time.
    private var refused: Set<Path> = []
    /// The held domains whose files a user has accepted.
    private var accepted: Set<Path> = []
    /// The held domains whose files a user has decided to overwrite.
    private var overruled: Set<Path> = []

    /// Whether every decision of a user about a held domain has taken effect.
    var isAtRest: Bool { accepted.isEmpty && overruled.isEmpty }

    /// Accepts the file of a held domain, or the mirror's values instead.
    mutating func release(_ domain: String, takesFile: Bool, in context: inout EngineContext) {
        let path = Path(domain: domain)
        guard context.local.trackedFiles[path]?.held != nil else { return }
        if takesFile { accepted.insert(path) } else { overruled.insert(path) }
        context.act(.observe([domain]))
    }
}

// MARK: From the preference files to the state

extension Applier {
    /// Captures the changes in preference files, and then requests the locks of the files that must be changed.
    mutating func observe(_ observations: [Observation], at moment: Moment, in context: inout EngineContext) {
        guard context.directoryStatus != .left, capture(observations, at: moment, in: &context) else { return }
        requestLocks(in: &context)
    }

    /// Captures the files. Returns false if others must be read together with them first.
    private mutating func capture(
        _ observations: [Observation], at moment: Moment, in context: inout EngineContext
    ) -> Bool {
        let open = context.local.openDomains
        let read = Set(observations.map { Path(domain: $0.domain) })
        guard open.isSubset(of: read) else {
            context.act(.observe(open.union(read).map(\.domain).sorted { $0.isBefore($1) }))
            return false
        }
        let mirrored = observations.filter { context.local.trackedFiles[Path(domain: $0.domain)]?.isMirrored ?? false }
            .sorted { Path(domain: $0.domain) < Path(domain: $1.domain) }
        let known = mirrored.filter { context.local.trackedFiles[Path(domain: $0.domain)]?.isCaptured ?? false }
        captureKnown(known, at: moment, in: &context)
        for observation in mirrored where !known.contains(observation) {
            captureNew(observation, at: moment, in: &context)
        }
        return true
    }

    private mutating func captureKnown(
        _ observations: [Observation], at moment: Moment, in context: inout EngineContext
    ) {
        let application = context.local.application
        var builder = CaptureBuilder(
            context.local, policy: context.policy, mostLosers: context.limits.losers, at: moment)
        for observation in observations {
            let domain = Path(domain: observation.domain)
            guard let trackedFile = context.local.trackedFiles[domain],
                application != nil || isChanged(observation, trackedFile, context)
            else { continue }
            var comparison = FileComparison(observation, context)
            if case .recovered(let values)? = observation.mark { comparison.compare(with: values) }
            comparison.resolveInterrupted(context.local.interruptedChanges(in: domain))
            if overruled.remove(domain) != nil {
                builder.overrule(observation, comparison)
            } else if accepted.remove(domain) != nil {
                if trackedFile.held == .newerVersion { comparison.compareWithMirror(context) }
                builder.add(
                    observation, comparison, releasedFrom: trackedFile.suspicion == nil ? trackedFile.held : .rolledBack
                )
            } else if let reason = trackedFile.reasonToHold(observation, comparison) ?? context.versionHold(of: domain)
            {
                if trackedFile.held != reason {
                    builder.hold(domain, reason)
                    context.report(.held(domain: observation.domain, reason))
                }
            } else {
                builder.add(observation, comparison)
            }
        }
        context.record(builder.capture(settlesApplication: application != nil), moment.random)
    }

    private mutating func captureNew(
        _ observation: Observation, at moment: Moment, in context: inout EngineContext
    ) {
        let domain = Path(domain: observation.domain)
        var builder = CaptureBuilder(
            context.local, policy: context.policy, mostLosers: context.limits.losers, at: moment)
        let comparison = FileComparison(observation, context)
        let isOverruled = overruled.remove(domain) != nil
        accepted.remove(domain)
        if isOverruled {
            builder.overrule(observation, comparison)
        } else if case .unreadable = observation.content {
            guard context.local.trackedFiles[domain]?.held != .unreadable else { return }
            builder.hold(domain, .unreadable)
            context.report(.held(domain: observation.domain, .unreadable))
        } else {
            let isSuspect = context.local.trackedFiles[domain]?.suspicion == .stateIsOlder
            if isSuspect || context.seed == .found, Rule.keepsFound.isKept {
                builder.find(observation, comparison)
            } else {
                builder.begin(observation, comparison, seed: isSuspect ? .merge : context.seed)
            }
        }
        context.record(builder.capture(settlesApplication: false), moment.random)
        if context.local.trackedFiles[domain]?.isPending ?? false { seeding.insert(domain) }
    }

    /// Whether a file may have contents that were not captured.
    private func isChanged(_ observation: Observation, _ trackedFile: TrackedFile, _ context: EngineContext) -> Bool {
        let domain = Path(domain: observation.domain)
        // A file that could not be opened has neither contents nor an identity.
        let isRefused = observation.content == .unreadable && observation.hash == nil
        return observation.identity != trackedFile.file || trackedFile.held != nil || trackedFile.suspicion != nil
            || isRefused
            || !trackedFile.interrupted.isEmpty || overruled.contains(domain) || accepted.contains(domain)
            || !context.local.keysToMirror(of: domain, context.policy).isEmpty
    }
}

extension EngineContext {
    fileprivate mutating func record(_ capture: Capture?, _ random: UInt64) {
        guard let capture else { return }
        if !local.restoreMarkers.isDue { leaveMark(ahead: random) }
        let (before, keys) = (
            local.shared.live, capture.transactions.reduce(into: Set<Path>()) { $0.formUnion($1.keys) }
        )
        commit(.captured(capture))
        reportConflicts(at: keys, since: before)
    }
}

extension TrackedFile {
    /// Returns the reason a file must not be captured, or nil.
    fileprivate func reasonToHold(_ observation: Observation, _ comparison: FileComparison) -> HoldReason? {
        // A restored file is still old after it was removed or its mark came back.
        let isOther = observation.hash != hash
        if isOther, held == .rolledBack || suspicion == .fileIsOlder { return .rolledBack }
        switch observation.content {
        case .unreadable: return .unreadable
        case .missing: return !comparison.hadKeys || observation.mark == .deleted ? nil : .missing
        case .empty: return !comparison.hadKeys || observation.mark == .deleted ? nil : .empty
        case .values: break
        }
        guard isOther else { return nil }
        let isFormer = observation.hash.map { generations.dropFirst().contains($0) } ?? false
        if suspicion == .markIsGone, let hash = observation.hash, generations.contains(hash) { return .rolledBack }
        guard observation.mark == nil else { return nil }
        // A program that writes its file in parts completes it.
        if comparison.isEmptied || held == .emptied && !observation.isOfProgram { return .emptied }
        return isFormer && comparison.changedKeys.count > 1 ? .rolledBack : nil
    }
}

// MARK: From the state to the preference files

extension Applier {
    /// Requests the locks of the preference files that must be changed.
    mutating func requestLocks(in context: inout EngineContext) {
        skipped = []
        refusals = 0
        requestNextLocks(in: &context)
    }

    /// Requests the locks of the next domains.
    private mutating func requestNextLocks(in context: inout EngineContext) {
        // Files that arrive in several parts are applied after the last part.
        guard context.directoryStatus == .present, !isApplying, !hasJoined else { return }
        context.holdNewerSettings()
        repeat {
            asked = context.local.portion(of: nextDomains(of: context.local), context.limits)
        } while context.markLocalKeys(in: asked)
        guard !asked.isEmpty else { return }
        if Rule.capturesBeforeApplying.isKept {
            isApplying = true
            context.act(.lock(asked.map(\.domain)))
        } else {
            apply(asked, mark: 0, in: &context)
        }
    }

    /// Returns the domains whose locks must still be requested. Domains that could not be written the last time follow
    /// the others, so that they do not delay them.
    private func nextDomains(of local: LocalState) -> [Path] {
        let domains = local.pendingDomains.filter { !skipped.contains($0) }
        let last = Set(local.domainsAppliedWith(of: refused, among: domains))
        return last.count < domains.count ? domains.filter { !last.contains($0) } : domains
    }

    /// Captures the contents of the locked files, and then changes them.
    mutating func applyUnderLock(_ observations: [Observation], at moment: Moment, in context: inout EngineContext) {
        guard context.directoryStatus != .left, capture(observations, at: moment, in: &context) else {
            return unlock(in: &context)
        }
        let locked = Set(observations.map { Path(domain: $0.domain) })
        let domains = context.local.pendingDomains.filter(locked.contains)
        guard domains.isEmpty || context.directoryStatus != .present else {
            // The capture may have left a mark with the number itself.
            return apply(domains, mark: moment.random &+ 1, in: &context)
        }
        unlock(in: &context)
        passOver(asked, in: &context)
    }

    /// Continues with other domains, because these cannot be changed now.
    private mutating func passOver(_ domains: [Path], in context: inout EngineContext) {
        skipped.formUnion(domains)
        requestNextLocks(in: &context)
    }

    private mutating func unlock(in context: inout EngineContext) {
        isApplying = false
        context.act(.unlock)
    }

    private mutating func apply(_ domains: [Path], mark: UInt64, in context: inout EngineContext) {
        let local = context.local
        let changes = domains.map { domain in
            DomainChange(
                domain: domain, file: local.trackedFiles[domain]?.file, changes: local.pendingChanges(in: domain))
        }
        let application = Application(domains: changes, isChecked: Rule.capturesBeforeApplying.isKept)
        isWriting = true
        context.commit(.intendedApplication(application))
        context.leaveMark(ahead: mark)
        context.act(.write(application))
    }

    mutating func finishWrite(_ outcome: WriteOutcome, in context: inout EngineContext) {
        isWriting = false
        guard let application = context.local.application else { return unlock(in: &context) }
        let domains = application.domains.map(\.domain)
        switch outcome {
        case .changedMeanwhile:
            context.commit(.abandonedApplication)
            isApplying = true
            context.act(.lock(domains.map(\.domain)))
        case .failed(let domain):
            context.commit(.abandonedApplication)
            refusals += 1
            var unwritten = domains
            if let culprit = domain.map({ Path(domain: $0) }) {
                refused.insert(culprit)
                if refusals < Self.mostRefusals {
                    unwritten = context.local.domainsAppliedWith(of: [culprit], among: domains)
                }
            }
            for domain in unwritten { context.report(.unwritten(domain: domain.domain)) }
            unlock(in: &context)
            passOver(unwritten, in: &context)
        case .done(let observations):
            let applied = application.domains.compactMap { change in
                observations.first { Path(domain: $0.domain) == change.domain }
                    .map { readBack(change, $0, context) }
            }
            for (change, applied) in zip(application.domains, applied) {
                context.reportChanges(applied, change, isSeeding: seeding.remove(applied.domain) != nil)
                context.reportUnheld(applied, change)
            }
            context.commit(.applied(applied))
            refused.subtract(domains)
            unlock(in: &context)
            // Continue with the next domains, and with changes that were joined meanwhile.
            requestNextLocks(in: &context)
        }
    }

    /// The number of unwritable files that are left out one by one. After that, all remaining files wait for the next
    /// exchange.
    private static let mostRefusals = 16

    private func readBack(
        _ change: DomainChange, _ observation: Observation, _ context: EngineContext
    ) -> AppliedDomain {
        let comparison = FileComparison(observation, context, staysLocal: { _ in false })
        // A new dictionary, so that the capacity of removed entries is not kept.
        let former = context.local.trackedFiles[change.domain]?.exceptions ?? [:]
        var exceptions = former.filter { change.changes[$0.key] == nil }
        for (key, replacement) in change.changes where comparison.file[key] != replacement.new {
            exceptions[key] = TrackedFile.Exception(
                value: comparison.file[key], reason: .format, shown: former[key]?.shown ?? [])
        }
        return AppliedDomain(
            domain: change.domain, file: observation.identity, hash: observation.hash, exceptions: exceptions,
            past: (context.local.trackedFiles[change.domain] ?? TrackedFile())
                .past(
                    after: change.changes.filter { exceptions[$0.key] == nil },
                    kind: { context.local.kind(of: $0, context.policy) }))
    }
}

extension LocalState {
    /// The domains whose files are being written, or were being written when the last program ended.
    var openDomains: Set<Path> { Set((application?.domains ?? []).map(\.domain)) }

    /// The domains whose files must still be changed, in order.
    var pendingDomains: [Path] {
        mirroredFiles.filter { $0.value.isCaptured && $0.value.held == nil && $0.value.isPending }.keys.sorted()
    }
}

extension EngineContext {
    /// Holds the domains into whose files a version would be written that this host does not support, so that programs
    /// here could no longer change them.
    fileprivate mutating func holdNewerSettings() {
        guard local.application == nil else { return }
        let held = local.pendingDomains.compactMap { domain in
            versionHold(of: domain).map { reason in
                CapturedDomain(domain: domain, file: nil, hash: nil, exceptions: [:], held: reason)
            }
        }
        guard !held.isEmpty else { return }
        commit(
            .captured(
                Capture(transactions: [], clock: local.clock.local, when: 0, domains: held, settlesApplication: false)))
        for captured in held { report(.held(domain: captured.domain.domain, .newerVersion)) }
    }

    /// Returns the reason to hold a domain because of the version that would be written into its file, or nil.
    fileprivate func versionHold(of domain: Path) -> HoldReason? {
        guard let path = policy.versionKey.map(domain.appending),
            local.trackedFiles[domain]?.exceptions[path]?.isPending ?? false,
            let version = local.shared.live.value(at: path)
        else { return nil }
        return policy.supports(domain.domain, version) ? nil : .newerVersion
    }

    /// Marks keys that stay on this host, so that the values of the mirror are not written into its files. Returns
    /// whether there are any.
    fileprivate mutating func markLocalKeys(in domains: [Path]) -> Bool {
        guard local.application == nil else { return false }
        var marksAny = false
        for domain in domains {
            guard var trackedFile = local.trackedFiles[domain] else { continue }
            let stay = policy.stay(domain.domain)
            let keys = trackedFile.exceptions.filter { $1.isPending && stay($0.key ?? "") != nil }
            guard !keys.isEmpty else { continue }
            marksAny = true
            for (key, exception) in keys {
                trackedFile.exceptions[key] = TrackedFile.Exception(
                    value: exception.value, reason: stay(key.key ?? "")?.isUnselected ?? false ? .unselected : .kept,
                    shown: exception.shown)
            }
            let unchanged = AppliedDomain(
                domain: domain, file: trackedFile.file, hash: trackedFile.hash, exceptions: trackedFile.exceptions,
                past: trackedFile.past)
            commit(.applied([unchanged]))
        }
        return marksAny
    }

    /// Reports the keys that received values of the mirror, once each, by the writers of the values in force.
    fileprivate mutating func reportChanges(_ applied: AppliedDomain, _ change: DomainChange, isSeeding: Bool) {
        var keys: [WriterID: [String]] = [:]
        for key in change.changes.keys.sorted().prefix(Self.mostReportedKeys) where applied.exceptions[key] == nil {
            let latest = local.shared.live.overlapping(key).max { $1.isAfter($0) }
            guard let name = key.key, let writer = latest?.name.dot?.writer, writer != local.writer else {
                continue
            }
            keys[writer, default: []].append(name)
        }
        for (writer, names) in keys.sorted(by: { $0.key < $1.key }) {
            let domain = applied.domain.domain
            report(
                isSeeding
                    ? .seeded(domain: domain, keys: names, by: writer)
                    : .changed(domain: domain, keys: names, by: writer))
        }
    }

    /// The limit of reported keys for one write.
    private static let mostReportedKeys = 1000

    /// Reports the keys of a file whose values in the mirror its format cannot hold.
    fileprivate mutating func reportUnheld(_ applied: AppliedDomain, _ change: DomainChange) {
        let keys = applied.exceptions.filter { $0.value.reason == .format && change.changes[$0.key] != nil }.keys
        guard !keys.isEmpty else { return }
        report(.unheld(domain: applied.domain.domain, keys: keys.compactMap(\.key).sorted { $0.isBefore($1) }))
    }
}

// MARK: The mark beside the preference files

extension EngineContext {
    /// Checks the mark beside the preference files. If it is not the latest mark of this state, the files or the state
    /// came back from a backup.
    mutating func check(_ mark: UInt64?) {
        let known = local.restoreMarkers
        guard Rule.noticesRestores.isKept, let latest = known.marks.first else { return }
        if mark == latest, !known.isDue {
            if known.unwritten > 0 { commit(.foundMark) }
            return
        }
        // Crashes may have prevented any of the marks since the last one that is known to be written.
        let mayBeLast = known.marks.prefix(known.unwritten + 1).contains { $0 == mark }
        let suspicion: TrackedFile.Suspicion =
            if mark == nil || mayBeLast {
                .markIsGone
            } else {
                known.marks.contains { $0 == mark } ? .fileIsOlder : .stateIsOlder
            }
        commit(.suspected(suspicion))
        let suspects = local.trackedFiles.filter { $0.value.isMirrored && $0.value.isCaptured }
        if !suspects.isEmpty { act(.observe(suspects.keys.map(\.domain).sorted { $0.isBefore($1) })) }
    }

    /// Writes a new mark before the state takes changes from preference files, or makes changes in them. An earlier
    /// state from a backup does not have that mark, even if a crash prevents the next one.
    fileprivate mutating func leaveMark(ahead mark: UInt64) {
        commit(.marked(mark))
        act(.mark(mark))
    }

    /// Writes a new mark if preference files were read or written since the last one.
    mutating func leaveMark(_ random: UInt64) {
        if local.restoreMarkers.isDue { commit(.marked(random)) }
        if let latest = local.restoreMarkers.marks.first, local.restoreMarkers.unwritten > 0 { act(.mark(latest)) }
    }
}

extension LocalState {
    /// Returns the first of the domains, and further ones up to the limit of bytes. Domains that share a transaction
    /// are kept together, because they change together or not at all.
    ///
    /// A file is written as a whole, and each of its values is in memory several times meanwhile.
    func portion(of domains: [Path], _ limits: EngineLimits) -> [Path] {
        let sizes = domains.map { domain in
            shared.live.under(domain).reduce(0) { $0 + limits.bytesOfEntry + ($1.value.value?.count ?? 0) }
        }
        guard sizes.reduce(0, +) > limits.bytesAtOnce else { return domains }
        let groups = sharing(domains)
        var (portion, size) = ([Int](), 0)
        for group in groups where size == 0 || size < limits.bytesAtOnce {
            portion += group
            for index in group { size += sizes[index] }
        }
        return portion.sorted().map { domains[$0] }
    }

    /// Returns the domains that must change together with these, including these.
    func domainsAppliedWith(of some: Set<Path>, among domains: [Path]) -> [Path] {
        guard domains.contains(where: some.contains) else { return [] }
        let groups = sharing(domains).filter { $0.contains { some.contains(domains[$0]) } }
        return groups.joined().sorted().map { domains[$0] }
    }

    /// Returns the indices of the domains, grouped by transactions that they share directly or through other domains.
    private func sharing(_ domains: [Path]) -> [[Int]] {
        var (groups, groupOf) = (domains.indices.map { [$0] }, Array(domains.indices))
        var firstWith: [TransactionID: Int] = [:]
        for index in domains.indices {
            var last: TransactionID?
            // Adjacent writes are often from the same transaction.
            for dot in shared.live.under(domains[index]).compactMap(\.name.dot) where dot != last {
                last = dot
                let other = firstWith[dot, default: index]
                firstWith[dot] = other
                var (from, to) = (groupOf[index], groupOf[other])
                guard from != to else { continue }
                if groups[from].count > groups[to].count { swap(&from, &to) }
                for member in groups[from] { groupOf[member] = to }
                groups[to] += groups[from]
                groups[from] = []
            }
        }
        return groups.filter { !$0.isEmpty }
    }
}
