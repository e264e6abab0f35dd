internal import PropertyLists

// Between the preference files and the state.
extension Engine {
    /// Takes up what was changed in preference files, and goes on to change them where the mirror says so.
    mutating func observe(_ observations: [Observation], at now: Int64) {
        guard standing != .left, capture(observations, at: now) else { return }
        askForLocks()
    }

    /// Takes up the files; false where others must be read with them first.
    private mutating func capture(_ observations: [Observation], at now: Int64) -> Bool {
        let open = Set((local.application?.domains ?? []).map(\.domain))
        let read = Set(observations.map { Path(domain: $0.domain) })
        guard open.isSubset(of: read) else {
            act(.observe(open.union(read).map(\.domain).sorted()))
            return false
        }
        let mirrored = observations.filter { local.shadows[Path(domain: $0.domain)]?.isMirrored ?? false }
            .sorted { Path(domain: $0.domain) < Path(domain: $1.domain) }
        let known = mirrored.filter { local.shadows[Path(domain: $0.domain)]?.isCaptured ?? false }
        captureKnown(known, settlesApplication: local.application != nil, at: now)
        for observation in mirrored where !known.contains(observation) { captureNew(observation, at: now) }
        return true
    }

    private mutating func captureKnown(_ observations: [Observation], settlesApplication: Bool, at now: Int64) {
        var draft = CaptureDraft(local, policy: policy, at: now)
        for observation in observations {
            let domain = Path(domain: observation.domain)
            guard let shadow = local.shadows[domain], isNews(observation, shadow) else { continue }
            var reading = DomainReading(observation, local: local, policy: policy)
            if case .recovered(let values)? = observation.mark { reading.compare(with: values) }
            for change in local.application?.domains ?? [] where change.domain == domain { reading.settle(change) }
            if overruled.remove(domain) != nil {
                draft.overrule(observation, reading)
            } else if accepted.remove(domain) == nil, let reason = reasonToHold(observation, reading, shadow) {
                if shadow.held != reason {
                    draft.hold(domain, reason)
                    report(.held(domain: observation.domain, reason))
                }
            } else {
                draft.add(observation, reading)
            }
        }
        record(draft.capture(settlesApplication: settlesApplication))
    }

    private mutating func captureNew(_ observation: Observation, at now: Int64) {
        let domain = Path(domain: observation.domain)
        var draft = CaptureDraft(local, policy: policy, at: now)
        let reading = DomainReading(observation, local: local, policy: policy)
        let isOverruled = overruled.remove(domain) != nil
        accepted.remove(domain)
        if isOverruled {
            draft.overrule(observation, reading)
        } else if case .unreadable = observation.content {
            guard local.shadows[domain]?.held != .unreadable else { return }
            draft.hold(domain, .unreadable)
            report(.held(domain: observation.domain, .unreadable))
        } else {
            draft.begin(observation, reading, seed: seed)
        }
        record(draft.capture(settlesApplication: false))
        reportSeeded(domain)
    }

    private mutating func record(_ capture: Capture?) {
        guard let capture else { return }
        let conflicts = local.conflicts.conflicts.count
        commit(.captured(capture))
        for conflict in local.conflicts.conflicts.dropFirst(conflicts) { report(.conflict(loser: conflict.loser)) }
    }

    /// Whether a file may say something that was not taken up.
    private func isNews(_ observation: Observation, _ shadow: Shadow) -> Bool {
        observation.identity != shadow.file || shadow.held != nil || local.application != nil
            || overruled.contains(Path(domain: observation.domain))
            || accepted.contains(Path(domain: observation.domain)) || observation.isRefused
    }

    /// Why a file is not to be believed.
    private func reasonToHold(_ observation: Observation, _ reading: DomainReading, _ shadow: Shadow) -> Held? {
        switch observation.content {
        case .unreadable: return .unreadable
        case .missing: return !reading.hadKeys || observation.mark == .deleted ? nil : .missing
        case .empty: return !reading.hadKeys || observation.mark == .deleted ? nil : .empty
        case .values: break
        }
        guard observation.mark == nil else { return nil }
        if let held = shadow.held, held == .emptied || held == .rolledBack {
            return observation.hash == shadow.hash ? nil : held
        }
        if reading.isEmptied { return .emptied }
        let isFormer = observation.hash.map { shadow.generations.dropFirst().contains($0) } ?? false
        return isFormer && reading.changedKeys.count > 1 ? .rolledBack : nil
    }

    mutating func release(_ domain: String, takesFile: Bool) {
        let path = Path(domain: domain)
        guard local.shadows[path]?.held != nil else { return }
        if takesFile { accepted.insert(path) } else { overruled.insert(path) }
        act(.observe([domain]))
    }
}

extension Observation {
    /// Whether the rim could not look into the file, of which it then knows neither content nor identity.
    fileprivate var isRefused: Bool { content == .unreadable && hash == nil }
}

// MARK: Applying

extension Engine {
    /// Asks for the preference files that are still to be changed.
    mutating func askForLocks() {
        passedOver = []
        refusals = 0
        askForMoreLocks()
    }

    /// Goes on with those that were not asked for yet.
    private mutating func askForMoreLocks() {
        // What comes in several pieces is written once the last is there.
        guard standing.isOpen, !isApplying, !hasJoined else { return }
        keepHome()
        asked = local.portion(of: pendingDomains.filter { !passedOver.contains($0) }, most: limits.changesAtOnce)
        guard !asked.isEmpty else { return }
        if local.rules.capturesBeforeApplying {
            isApplying = true
            act(.lock(asked.map(\.domain)))
        } else {
            apply(asked)
        }
    }

    /// What came in for keys that stay on this host is not written into its files.
    private mutating func keepHome() {
        guard local.application == nil else { return }
        for domain in pendingDomains {
            guard var shadow = local.shadows[domain] else { continue }
            let keys = shadow.exceptions.filter { key, exception in
                exception.reason == .pending && policy.staysHome(domain.domain, key.key ?? "")
            }
            guard !keys.isEmpty else { continue }
            for (key, exception) in keys {
                shadow.exceptions[key] = Shadow.Exception(value: exception.value, reason: .home)
            }
            let unchanged = AppliedDomain(
                domain: domain, file: shadow.file, hash: shadow.hash, exceptions: shadow.exceptions, seen: shadow.seen,
                replaced: shadow.replaced)
            commit(.applied([unchanged]))
        }
    }

    private var pendingDomains: [Path] {
        let pending = local.shadows.filter { _, shadow in
            shadow.isMirrored && shadow.isCaptured && shadow.held == nil && shadow.isPending
        }
        return pending.keys.sorted()
    }

    /// Captures what is in the files by now, and then changes them.
    mutating func applyUnderLock(_ observations: [Observation], at now: Int64) {
        guard standing != .left, capture(observations, at: now) else { return unlock() }
        let locked = Set(observations.map { Path(domain: $0.domain) })
        let domains = pendingDomains.filter(locked.contains)
        guard domains.isEmpty || !standing.isOpen else { return apply(domains) }
        unlock()
        passOver(asked)
    }

    /// Goes on with other domains than these, which cannot be changed now.
    private mutating func passOver(_ domains: [Path]) {
        passedOver.formUnion(domains)
        askForMoreLocks()
    }

    private mutating func unlock() {
        isApplying = false
        act(.unlock)
    }

    private mutating func apply(_ domains: [Path]) {
        let changes = domains.map { domain in
            DomainChange(domain: domain, file: local.shadows[domain]?.file, changes: local.pendingChanges(in: domain))
        }
        let application = Application(
            domains: changes, seen: local.knowledge, isChecked: local.rules.capturesBeforeApplying)
        changesAtApplication = local.atoms.changeCount
        commit(.intendedApplication(application))
        act(.write(application))
    }

    mutating func settle(_ outcome: WriteOutcome) {
        guard let application = local.application else { return unlock() }
        switch outcome {
        case .changedMeanwhile:
            commit(.abandonedApplication)
            isApplying = true
            act(.lock(application.domains.map { $0.domain.domain }))
        case .failed(let domain):
            commit(.abandonedApplication)
            refusals += 1
            let domains = application.domains.map(\.domain)
            let culprit = refusals < Self.mostRefusals ? domain.map { Path(domain: $0) } : nil
            let unwritten = culprit.map { local.companions(of: $0, among: domains) } ?? domains
            for domain in unwritten { report(.unwritten(domain: domain.domain)) }
            unlock()
            passOver(unwritten)
        case .done(let observations):
            let applied = application.domains.compactMap { change in
                observations.first { Path(domain: $0.domain) == change.domain }
                    .map { readBack(change, $0, application) }
            }
            for (change, applied) in zip(application.domains, applied) { reportUnheld(applied, change) }
            commit(.applied(applied))
            unlock()
            // The next portion, and what came in meanwhile.
            askForMoreLocks()
        }
    }

    /// How many files that cannot be written are left out one by one, before all others are left for later.
    private static let mostRefusals = 16

    private func readBack(_ change: DomainChange, _ observation: Observation, _ application: Application)
        -> AppliedDomain
    {
        let reading = DomainReading(observation)
        // Made anew, so that the room of those that go is not kept.
        var exceptions = (local.shadows[change.domain]?.exceptions ?? [:]).filter { change.changes[$0.key] == nil }
        let isSameView = changesAtApplication == local.atoms.changeCount
        for (key, replacement) in change.changes {
            let isWritten = reading.file[key] == replacement.new
            if isWritten, isSameView { continue }
            guard reading.file[key] != local.atoms.value(at: key) else { continue }
            exceptions[key] = Shadow.Exception(value: reading.file[key], reason: isWritten ? .pending : .format)
        }
        return AppliedDomain(
            domain: change.domain, file: observation.identity, hash: observation.hash, exceptions: exceptions,
            seen: application.seen, replaced: change.changes.count <= Self.mostRemembered ? change.changes : [:])
    }

    /// The most keys of which it is kept what a write replaced: a save that takes more than these back is no slip.
    private static let mostRemembered = 1000
}
