// From the preference files to the state.
extension Engine {
    /// Captures the changes in preference files, and then requests the locks to write what the mirror has.
    mutating func observe(_ observations: [Observation], at moment: Moment) {
        guard standing != .left, capture(observations, at: moment) else { return }
        requestLocks()
    }

    /// Captures the files. Returns false if others must be read together with them first.
    mutating func capture(_ observations: [Observation], at moment: Moment) -> Bool {
        let open = Set((local.application?.domains ?? []).map(\.domain))
        let read = Set(observations.map { Path(domain: $0.domain) })
        guard open.isSubset(of: read) else {
            act(.observe(open.union(read).map(\.domain).sorted()))
            return false
        }
        let mirrored = observations.filter { local.trackedFiles[Path(domain: $0.domain)]?.isMirrored ?? false }
            .sorted { Path(domain: $0.domain) < Path(domain: $1.domain) }
        let known = mirrored.filter { local.trackedFiles[Path(domain: $0.domain)]?.isCaptured ?? false }
        captureKnown(known, settlesApplication: local.application != nil, at: moment)
        for observation in mirrored where !known.contains(observation) { captureNew(observation, at: moment) }
        return true
    }

    private mutating func captureKnown(
        _ observations: [Observation], settlesApplication: Bool, at moment: Moment
    ) {
        var draft = CaptureBuilder(local, policy: policy, at: moment)
        for observation in observations {
            let domain = Path(domain: observation.domain)
            guard let shadow = local.trackedFiles[domain], isNews(observation, shadow) else { continue }
            var reading = FileComparison(observation, local: local, policy: policy)
            if case .recovered(let values)? = observation.mark { reading.compare(with: values) }
            for change in local.application?.domains ?? [] where change.domain == domain { reading.settle(change) }
            if overruled.remove(domain) != nil {
                draft.overrule(observation, reading)
            } else if accepted.remove(domain) != nil {
                draft.add(observation, reading, releasedFrom: shadow.suspicion == nil ? shadow.held : .rolledBack)
            } else if let reason = reasonToHold(observation, reading, shadow) {
                if shadow.held != reason {
                    draft.hold(domain, reason)
                    report(.held(domain: observation.domain, reason))
                }
            } else {
                draft.add(observation, reading)
            }
        }
        record(draft.capture(settlesApplication: settlesApplication), moment.random)
    }

    private mutating func captureNew(_ observation: Observation, at moment: Moment) {
        let domain = Path(domain: observation.domain)
        var draft = CaptureBuilder(local, policy: policy, at: moment)
        let reading = FileComparison(observation, local: local, policy: policy)
        let isOverruled = overruled.remove(domain) != nil
        accepted.remove(domain)
        if isOverruled {
            draft.overrule(observation, reading)
        } else if case .unreadable = observation.content {
            guard local.trackedFiles[domain]?.held != .unreadable else { return }
            draft.hold(domain, .unreadable)
            report(.held(domain: observation.domain, .unreadable))
        } else {
            let isSuspect = local.trackedFiles[domain]?.suspicion == .stateIsOlder
            draft.begin(observation, reading, seed: isSuspect ? .merge : seed)
        }
        record(draft.capture(settlesApplication: false), moment.random)
        if local.trackedFiles[domain]?.isPending ?? false { seeding.insert(domain) }
    }

    private mutating func record(_ capture: Capture?, _ random: UInt64) {
        guard let capture else { return }
        markAhead(random)
        let conflicts = local.conflicts.conflicts.count
        commit(.captured(capture))
        for conflict in local.conflicts.conflicts.dropFirst(conflicts) { report(.conflict(conflict.id)) }
    }

    /// Whether a file may have contents that were not captured.
    private func isNews(_ observation: Observation, _ shadow: TrackedFile) -> Bool {
        observation.identity != shadow.file || shadow.held != nil || shadow.suspicion != nil || local.application != nil
            || overruled.contains(Path(domain: observation.domain))
            || accepted.contains(Path(domain: observation.domain)) || observation.isRefused
    }

    /// Returns the reason a file must not be captured, or nil.
    private func reasonToHold(_ observation: Observation, _ reading: FileComparison, _ shadow: TrackedFile)
        -> HoldReason?
    {
        // A restored file is still old after it was removed or its mark came back.
        let isOther = observation.hash != shadow.hash
        if isOther, shadow.held == .rolledBack || shadow.suspicion == .fileIsOlder { return .rolledBack }
        switch observation.content {
        case .unreadable: return .unreadable
        case .missing: return !reading.hadKeys || observation.mark == .deleted ? nil : .missing
        case .empty: return !reading.hadKeys || observation.mark == .deleted ? nil : .empty
        case .values: break
        }
        guard isOther else { return nil }
        let isFormer = observation.hash.map { shadow.generations.dropFirst().contains($0) } ?? false
        if shadow.suspicion == .markIsGone, let hash = observation.hash, shadow.generations.contains(hash) {
            return .rolledBack
        }
        guard observation.mark == nil else { return nil }
        if shadow.held == .emptied || reading.isEmptied { return .emptied }
        return isFormer && reading.changedKeys.count > 1 ? .rolledBack : nil
    }

    /// Checks the mark beside the preference files. If it is not the latest mark of this state, the files or the state
    /// came back from a backup.
    mutating func find(_ mark: UInt64?) {
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
        if !suspects.isEmpty { act(.observe(suspects.keys.map(\.domain).sorted())) }
    }

    /// Writes a new mark before the first change of the state or of preference files since the last mark. A state from
    /// before the change does not know that mark, even if a crash prevents the one after it.
    mutating func markAhead(_ random: UInt64) {
        guard !local.restoreMarkers.isDue else { return }
        commit(.marked(random))
        act(.mark(random))
    }

    /// Writes a new mark if preference files were read or written since the last one.
    mutating func leaveMark(_ random: UInt64) {
        if local.restoreMarkers.isDue { commit(.marked(random)) }
        if let latest = local.restoreMarkers.marks.first, local.restoreMarkers.unwritten > 0 { act(.mark(latest)) }
    }

    mutating func release(_ domain: String, takesFile: Bool) {
        let path = Path(domain: domain)
        guard local.trackedFiles[path]?.held != nil else { return }
        if takesFile { accepted.insert(path) } else { overruled.insert(path) }
        act(.observe([domain]))
    }
}

extension Observation {
    /// Whether the file could not be opened. Then neither its contents nor its identity is known.
    fileprivate var isRefused: Bool { content == .unreadable && hash == nil }
}
