internal import MirrorEngine
internal import Platform
internal import Preferences

// Between the preference files and the engine.
extension MirrorSession {
    /// Takes up what was changed in preference files. False where a file has to be looked at again before long.
    mutating func capture() throws(MirrorFailure) {
        let domains = changedDomains() + pendingDomains
        let open = (engine.local.application?.domains ?? []).map(\.domain.domain)
        guard !domains.isEmpty || !open.isEmpty, let observations = take(domains + open) else { return }
        try handle(.observed(observations))
        locked?.release()
        locked = nil
    }

    mutating func observe(_ domains: [String]) -> Event? {
        // Where that cannot be done now, it must be done later, even if the files stay as they are.
        for domain in domains { heldFiles.removeValue(forKey: Path(domain: domain)) }
        return take(domains).map(Event.observed)
    }

    mutating func lock(_ domains: [String]) -> Event {
        guard let observations = take(domains) else {
            hasUnfinished = true
            return .locked([])
        }
        return .locked(observations)
    }

    mutating func write(_ application: Application) -> Event {
        guard let locked else { return .written(.failed(domain: nil)) }
        do {
            return .written(try preferences.write(application, under: locked, read: readings))
        } catch {
            note(words(error))
            return .written(.failed(domain: culprit(error, of: application)))
        }
    }

    /// The domain without which the others can perhaps be written; nil where that would not help, as on a full disk.
    private func culprit(_ error: any Error, of application: Application) -> String? {
        guard let failure = error as? StoreFailure, case .system(let code, _) = failure.problem,
            ![.noSpace, .overQuota].contains(ErrorCode(rawValue: code))
        else { return nil }
        let domains = application.domains.lazy.map(\.domain.domain)
        return domains.first { preferences.file(of: $0)?.name == failure.domain }
    }

    /// What is said of a failure to write: of the system's refusals the file itself, for the one that could not be made
    /// beside it is called otherwise each time.
    private func words(_ error: any Error) -> String {
        guard let failure = error as? StoreFailure, case .system(let code, _) = failure.problem else {
            return "\(error)"
        }
        let file = preferences.file(of: failure.domain)?.path
        return SystemFailure(ErrorCode(rawValue: code), .write, file).description
    }

    /// Where the files stand to which those of domains are linked.
    var linkedFiles: [FilePath] {
        engine.local.shadows.filter(\.value.isMirrored).keys.compactMap { domain in
            guard let path = preferences.file(of: domain.domain)?.path else { return nil }
            let target = try? path.followingLinks(in: files)
            return target == path ? nil : target
        }
    }

    /// Domains whose files are still to be changed, because that could not be done before.
    var pendingDomains: [String] {
        guard engine.standing == .present else { return [] }
        return engine.local.shadows.filter { $0.value.isMirrored && $0.value.held == nil && $0.value.isPending }
            .keys.map(\.domain)
    }

    /// Domains whose files are not as they were last read or written.
    private func changedDomains() -> [String] {
        engine.local.shadows.filter { path, shadow in
            guard shadow.isMirrored, shadow.isCaptured || engine.standing == .present else { return false }
            // What cannot be looked at is looked at again later.
            let presence = preferences.presence(of: path.domain)
            guard presence != .unknown else { return false }
            let identity = presence.identity
            if shadow.held != nil, let last = heldFiles[path], last == identity { return false }
            return !shadow.isCaptured || shadow.held != nil || identity != shadow.file
        }.keys.map(\.domain)
    }

    // MARK: Locking and reading

    /// Locks the files of the domains, and with them all others that changed, so that a transaction over several is
    /// seen whole; then reads them. One that cannot be had is left out. Nil where there is nothing to be said of any,
    /// or a program may still be at one that an application is open for: that must be read with the others.
    private mutating func take(_ domains: [String]) -> [Observation]? {
        locked?.release()
        locked = nil
        var wanted = Set(domains.map { Path(domain: $0) })
        for _ in 0..<Self.mostTurns {
            preferences.places.user.finishTransactions(on: machine)
            guard let grasp = lockFiles(of: wanted.sorted().map(\.domain)) else { return nil }
            let others = Set(changedDomains().map { Path(domain: $0) }).subtracting(wanted)
            guard others.isEmpty else {
                grasp.locks.release()
                wanted.formUnion(others)
                continue
            }
            let observations = read(grasp)
            let needed = Set((engine.local.application?.domains ?? []).map(\.domain)).intersection(wanted)
            guard !observations.isEmpty, needed.isSubset(of: observations.map { Path(domain: $0.domain) }) else {
                grasp.locks.release()
                return nil
            }
            locked = grasp.locks
            return observations
        }
        hasUnfinished = true
        return nil
    }

    private static let mostTurns = 64

    /// Domains as far as their locks could be had.
    private struct Grasp {
        let locks: LockedDomains
        let domains: [String]
        /// What is said of those whose locks nobody gets before something is done about it.
        let refused: [PreferenceFiles.Reading]
    }

    /// Locks what can be locked. Nil where nothing can be said of why it cannot.
    private mutating func lockFiles(of domains: [String]) -> Grasp? {
        var (domains, refused, busy) = (domains, [PreferenceFiles.Reading](), 0)
        while true {
            do throws(StoreFailure) {
                let locks = try LockedDomains(domains.compactMap { preferences.file(of: $0) }, by: preferences.writer)
                return Grasp(locks: locks, domains: domains, refused: refused)
            } catch {
                note(error.description)
                let failed = domains.filter { preferences.file(of: $0)?.name == error.domain }
                if error.isLasting {
                    refused += failed.compactMap { refusal(of: $0) }
                } else {
                    hasUnfinished = true
                    busy += 1
                }
                guard !failed.isEmpty, busy <= Self.mostBusy else { return nil }
                domains.removeAll { failed.contains($0) }
            }
        }
    }

    /// For each of these it is waited as long as a writer has patience.
    private static let mostBusy = 2

    /// What is said of a domain that cannot be read, which is held from then on; nil where it is held already.
    private func refusal(of domain: String) -> PreferenceFiles.Reading? {
        engine.local.shadows[Path(domain: domain)]?.held == nil ? preferences.refusal(of: domain) : nil
    }

    /// Reads what can be read and no program may still be at.
    private mutating func read(_ grasp: Grasp) -> [Observation] {
        var observations = grasp.refused.map(\.observation)
        for reading in grasp.refused { readings[reading.observation.domain] = reading }
        for domain in grasp.domains {
            guard let reading = read(domain, under: grasp.locks) else { continue }
            readings[domain] = reading
            guard !reading.isUnsettled else {
                hasUnfinished = true
                continue
            }
            // What was refused may be given the next time, without a change to the file.
            if !reading.isRefused { heldFiles[Path(domain: domain)] = reading.observation.identity }
            observations.append(reading.observation)
        }
        return observations
    }

    private mutating func read(_ domain: String, under locks: LockedDomains) -> PreferenceFiles.Reading? {
        do throws(SystemFailure) {
            let lastRead = engine.local.shadows[Path(domain: domain)]?.file
            return try preferences.read(domain, since: lastRead, under: locks)
        } catch {
            note(error.description)
            if error.code.isLasting { return refusal(of: domain) }
            hasUnfinished = true
            return nil
        }
    }
}

extension StoreFailure {
    /// Whether the system's refusal stands until something is done about it.
    fileprivate var isLasting: Bool {
        if case .system(let code, _) = problem { ErrorCode(rawValue: code).isLasting } else { false }
    }
}
