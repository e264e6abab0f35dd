// From the preference files into the state.
extension Engine {
    /// Takes up what was changed in preference files, and goes on to change them where the mirror says so.
    mutating func observe(_ observations: [Observation], at now: Int64) {
        guard standing != .left, capture(observations, at: now) else { return }
        askForLocks()
    }

    /// Takes up the files; false where others must be read with them first.
    mutating func capture(_ observations: [Observation], at now: Int64) -> Bool {
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
