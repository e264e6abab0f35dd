// From the state to the preference files.
extension Engine {
    /// Requests the locks of the preference files that must be changed.
    mutating func requestLocks() {
        passedOver = []
        refusals = 0
        requestNextLocks()
    }

    /// Requests the locks of the next domains.
    private mutating func requestNextLocks() {
        // Files that arrive in several parts are applied after the last part.
        guard standing.isOpen, !isApplying, !hasJoined else { return }
        markLocalKeys()
        asked = local.portion(of: nextDomains, most: limits.changesAtOnce)
        guard !asked.isEmpty else { return }
        if Rule.capturesBeforeApplying.isKept {
            isApplying = true
            act(.lock(asked.map(\.domain)))
        } else {
            apply(asked)
        }
    }

    /// Marks keys that stay on this host, so that the values of the mirror are not written into its files.
    private mutating func markLocalKeys() {
        guard local.application == nil else { return }
        for domain in pendingDomains {
            guard var shadow = local.trackedFiles[domain] else { continue }
            let keys = shadow.exceptions.filter { key, exception in
                exception.reason == .pending && policy.staysHome(domain.domain, key.key ?? "")
            }
            guard !keys.isEmpty else { continue }
            for (key, exception) in keys {
                shadow.exceptions[key] = TrackedFile.Exception(
                    value: exception.value, reason: .home, shown: exception.shown)
            }
            let unchanged = AppliedDomain(
                domain: domain, file: shadow.file, hash: shadow.hash, exceptions: shadow.exceptions,
                replaced: shadow.replaced)
            commit(.applied([unchanged]))
        }
    }

    /// The domains whose locks must still be requested. Domains that could not be written the last time come last, so
    /// that they do not delay the others.
    private var nextDomains: [Path] {
        let domains = pendingDomains.filter { !passedOver.contains($0) }
        let last = Set(local.domainsAppliedWith(of: refused, among: domains))
        return last.count < domains.count ? domains.filter { !last.contains($0) } : domains
    }

    private var pendingDomains: [Path] {
        let pending = local.trackedFiles.filter { _, shadow in
            shadow.isMirrored && shadow.isCaptured && shadow.held == nil && shadow.isPending
        }
        return pending.keys.sorted()
    }

    /// Captures the contents of the locked files, and then changes them.
    mutating func applyUnderLock(_ observations: [Observation], at moment: Moment) {
        guard standing != .left, capture(observations, at: moment) else { return unlock() }
        let locked = Set(observations.map { Path(domain: $0.domain) })
        let domains = pendingDomains.filter(locked.contains)
        guard domains.isEmpty || !standing.isOpen else {
            markAhead(moment.random)
            return apply(domains)
        }
        unlock()
        passOver(asked)
    }

    /// Continues with other domains, because these cannot be changed now.
    private mutating func passOver(_ domains: [Path]) {
        passedOver.formUnion(domains)
        requestNextLocks()
    }

    private mutating func unlock() {
        isApplying = false
        act(.unlock)
    }

    private mutating func apply(_ domains: [Path]) {
        let changes = domains.map { domain in
            DomainChange(
                domain: domain, file: local.trackedFiles[domain]?.file, changes: local.pendingChanges(in: domain))
        }
        let application = Application(domains: changes, isChecked: Rule.capturesBeforeApplying.isKept)
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
            var unwritten = domains
            if let culprit = domain.map({ Path(domain: $0) }) {
                refused.insert(culprit)
                if refusals < Self.mostRefusals { unwritten = local.domainsAppliedWith(of: [culprit], among: domains) }
            }
            for domain in unwritten { report(.unwritten(domain: domain.domain)) }
            unlock()
            passOver(unwritten)
        case .done(let observations):
            let applied = application.domains.compactMap { change in
                observations.first { Path(domain: $0.domain) == change.domain }
                    .map { readBack(change, $0) }
            }
            for (change, applied) in zip(application.domains, applied) {
                reportChanges(applied, change)
                reportUnheld(applied, change)
            }
            commit(.applied(applied))
            refused.subtract(application.domains.map(\.domain))
            unlock()
            // Continue with the next domains, and with changes that were joined meanwhile.
            requestNextLocks()
        }
    }

    /// The number of unwritable files that are left out one by one. After that, all remaining files wait for the next
    /// exchange.
    private static let mostRefusals = 16

    private func readBack(_ change: DomainChange, _ observation: Observation) -> AppliedDomain {
        let reading = FileComparison(observation)
        // A new dictionary, so that the capacity of removed entries is not kept.
        let former = local.trackedFiles[change.domain]?.exceptions ?? [:]
        var exceptions = former.filter { change.changes[$0.key] == nil }
        let isSameView = changesAtApplication == local.atoms.changeCount
        for (key, replacement) in change.changes {
            let isWritten = reading.file[key] == replacement.new
            if isWritten, isSameView { continue }
            guard reading.file[key] != local.atoms.value(at: key) else { continue }
            // The written value is no longer in force, and which writes the file shows now is not recorded.
            exceptions[key] = TrackedFile.Exception(
                value: reading.file[key], reason: isWritten ? .pending : .format,
                shown: isWritten ? [] : former[key]?.shown ?? [])
        }
        return AppliedDomain(
            domain: change.domain, file: observation.identity, hash: observation.hash, exceptions: exceptions,
            replaced: change.changes.count <= Self.mostRemembered ? change.changes : [:])
    }

    /// The limit of keys whose replaced values are recorded. A save that reverts more than these is intended.
    private static let mostRemembered = 1000
}
