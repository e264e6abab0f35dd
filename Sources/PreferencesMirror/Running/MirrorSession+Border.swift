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
        try send(.observed(observations))
        locked?.release()
        locked = nil
    }

    mutating func observe(_ domains: [String]) -> Event? { take(domains).map(Event.observed) }

    mutating func lock(_ domains: [String]) -> Event {
        guard let observations = take(domains) else {
            hasUnfinished = true
            return .locked([])
        }
        return .locked(observations)
    }

    mutating func write(_ application: Application) -> Event {
        guard let locked else { return .written(.failed) }
        do {
            return .written(try preferences.write(application, under: locked, read: readings))
        } catch {
            note("\(error)")
            return .written(.failed)
        }
    }

    /// Domains whose files are still to be changed, because that could not be done before.
    private var pendingDomains: [String] {
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
    /// seen whole; then reads them. Nil where a program may still be at one of them.
    private mutating func take(_ domains: [String]) -> [Observation]? {
        locked?.release()
        locked = nil
        var wanted = Set(domains.map { Path(domain: $0) })
        for _ in 0..<Self.mostTurns {
            preferences.places.user.finishTransactions(on: machine)
            let names = wanted.sorted().map(\.domain)
            guard let locks = lockFiles(of: names) else { return nil }
            let others = Set(changedDomains().map { Path(domain: $0) }).subtracting(wanted)
            guard others.isEmpty else {
                locks.release()
                wanted.formUnion(others)
                continue
            }
            return read(names, under: locks)
        }
        hasUnfinished = true
        return nil
    }

    private static let mostTurns = 64

    private mutating func lockFiles(of domains: [String]) -> LockedDomains? {
        do throws(StoreFailure) {
            return try LockedDomains(domains.compactMap { preferences.file(of: $0) }, by: preferences.writer)
        } catch {
            note(error.description)
            hasUnfinished = true
            return nil
        }
    }

    private mutating func read(_ domains: [String], under locks: LockedDomains) -> [Observation]? {
        var read: [PreferenceFiles.Reading] = []
        for domain in domains {
            do throws(SystemFailure) {
                let wasThere = engine.local.shadows[Path(domain: domain)]?.file != nil
                read.append(try preferences.read(domain, wasThere: wasThere, under: locks))
            } catch {
                note(error.description)
                hasUnfinished = true
                locks.release()
                return nil
            }
        }
        for reading in read {
            readings[reading.observation.domain] = reading
            heldFiles[Path(domain: reading.observation.domain)] = reading.observation.identity
        }
        let settled = read.filter { !$0.isUnsettled }
        if settled.count < read.count { hasUnfinished = true }
        guard !settled.isEmpty else {
            locks.release()
            return nil
        }
        locked = locks
        return settled.map(\.observation)
    }
}
