internal import MirrorEngine
internal import Platform
internal import Preferences
internal import PropertyLists

// Reading and writing preference files for the engine.
extension MirrorSession {
    /// Captures the changes in preference files.
    mutating func capture() throws(MirrorFailure) {
        try observe(changedDomains().union(pendingDomains))
        unlock()
    }

    /// Reads the files of the open application, which must be read together, and those of the first of some domains, up
    /// to a limit of bytes in memory. Returns the event for the engine, or nil if there is nothing to send, and the
    /// domains whose files must still be read.
    mutating func readFirst(of domains: Set<Path>) -> (event: Event?, rest: Set<Path>) {
        let open = engine.status.openDomains
        let rest = domains.subtracting(open)
        let first = open.union(portion(of: rest))
        // If a file cannot be read now, it must be read later, even if it does not change.
        for domain in first { heldFiles.removeValue(forKey: domain) }
        guard !first.isEmpty, let observations = lockAndRead(first) else {
            return (nil, open.isEmpty ? rest.subtracting(first) : [])
        }
        return (.observed(observations), rest.subtracting(first.union(observations.map { Path(domain: $0.domain) })))
    }

    /// Returns as many domains as can be in memory together with others, and at least one if there are no others.
    private func portion(of domains: Set<Path>, with others: Set<Path> = []) -> ArraySlice<Path> {
        func size(_ domain: Path) -> Int64 { preferences.presence(of: domain.domain).identity?.size ?? 0 }
        var sum = others.reduce(0) { $0 + size($1) }
        return domains.sorted().prefix { domain in
            defer { sum += size(domain) }
            return sum < bytesOfFilesAtOnce
        }
    }

    mutating func lock(_ domains: [String]) -> Event {
        guard let observations = lockAndRead(Set(domains.map { Path(domain: $0) })) else {
            hasUnfinished = true
            return .locked([])
        }
        return .locked(observations)
    }

    mutating func write(_ application: Application) -> Event {
        guard let locked else { return .written(.failed(domain: nil)) }
        do {
            let (outcome, notes) = try preferences.write(
                application, under: locked.locks, read: locked.readings, schema: { schemas[$0]?.readable },
                hiding: schemas.secrecy,
                staysLocal: { [policy = engine.policy] in policy.staysLocal($0.domain, $0.key ?? "") },
                hosts: authors)
            for text in notes { addTrouble(text) }
            for _ in application.domains { count(.wroteDomain) }
            return .written(outcome)
        } catch {
            addTrouble(words(error))
            return .written(.failed(domain: culprit(error, of: application)))
        }
    }

    /// Returns the labels of the hosts that wrote the values of a change, as far as its first keys show.
    private func authors(of change: DomainChange) -> [String] {
        let atoms = change.changes.keys.prefix(100).compactMap { mergeState.cells(under: $0).first?.winner }
        return Set(atoms.filter { $0.name.dot.map { $0.writer != writer } ?? false }.map(host)).sorted()
    }

    /// Returns the domain whose file could not be written, or nil if leaving it out would not help, as on a full disk.
    private func culprit(_ error: any Error, of application: Application) -> String? {
        guard let failure = error as? StoreFailure, case .system(let code, _) = failure.problem,
            ![.noSpace, .overQuota].contains(ErrorCode(rawValue: code))
        else { return nil }
        let domains = application.domains.lazy.map(\.domain.domain)
        return domains.first { preferences.file(of: $0)?.name.hasSameBytes(as: failure.domain) ?? false }
    }

    /// Returns the description of a failure to write. It names the file itself, because the temporary file has another
    /// name each time.
    private func words(_ error: any Error) -> String {
        guard let failure = error as? StoreFailure, case .system(let code, _) = failure.problem else {
            return "\(error)"
        }
        let file = preferences.file(of: failure.domain)?.path
        return SystemFailure(ErrorCode(rawValue: code), .write, file).description
    }

    /// Finds the selected domains that must not be mirrored at present.
    mutating func findLeftOut() {
        leftOut = [:]
        let selection = configuration.selection
        let known = Set(preferences.domains()).union(mergeState.domains.compactMap { try? DomainName($0) })
        let domains = known.filter(selection.includes).sorted()
        // Domains that share a file through links have the same values here, so only one of them is mirrored: the one
        // whose file it is, or else the first by name.
        let targets = Dictionary(grouping: domains.map(\.name)) { domain in
            preferences.file(of: domain.text).flatMap { try? $0.path.followingLinks(in: files) }
        }
        for (target, domains) in targets where target != nil && domains.count > 1 {
            let owner = domains.first { preferences.file(of: $0.text)?.path == target } ?? domains[0]
            for domain in domains where domain != owner { leftOut[domain] = .fileOf(owner.text) }
        }
        for domain in domains {
            if let reason = reasonToLeaveOut(domain, selection) {
                leftOut[domain.name] = reason
            }
        }
        // Without its schema, it is not known which keys of a domain are secret.
        for domain in domains {
            if let doubt = schemas.secrecy(of: domain).doubt {
                leftOut[domain.name] = .unreadableSchema("\(doubt.file):\(doubt.reason)")
            }
        }
    }

    /// Whether this host has read a file of the domain.
    package func isCaptured(_ domain: String) -> Bool {
        engine.status.trackedFile(of: Path(domain: domain))?.isCaptured ?? false
    }

    /// Returns the reason that a domain is not mirrored although the selection includes it, or nil.
    private func reasonToLeaveOut(_ domain: DomainName, _ selection: DomainSelection) -> MirrorStatus.LeftOut? {
        let (selected, isNamed) = (selection.file(of: domain), selection.patterns.contains(exactly: domain.text))
        if preferences.isAdopted(domain) {
            guard let path = preferences.file(of: domain.text)?.path, !path.isOfSystem(on: system) else {
                return .ofSystem
            }
            guard selected?.path == path else { return isNamed ? .otherFile : .adopted }
            // The schema declares which keys stay here.
            return selected?.keys == .declared && schemas[domain] == nil ? .withoutSchema : nil
        }
        if selected != nil { return .notAdopted }
        // The values of a program are of no use in a file of the store.
        let isKnown =
            isCaptured(domain.text) || preferences.presence(of: domain.text) != .absent
        return !isKnown && schemas.places.program(domain, on: system) != nil ? .notAdopted : nil
    }

    /// The files outside the store: the targets of links in place of domain files, and those of programs.
    var linkedFiles: [FilePath] {
        engine.status.mirroredFiles.keys.flatMap { domain -> [FilePath] in
            guard let file = preferences.file(of: domain.domain) else { return [] }
            let target = try? file.path.followingLinks(in: files)
            return [file.isAdopted ? file.path : nil, target == file.path ? nil : target].compactMap(\.self)
        }
    }

    /// The folders of domains that are stored as folders.
    var domainFolders: [FilePath] {
        engine.status.mirroredFiles.keys.compactMap { domain in
            guard let folder = preferences.file(of: domain.domain)?.folder,
                (try? files.status(of: folder))??.kind == .folder
            else { return nil }
            return folder
        }
    }

    /// The domains whose files must still be changed, because that was not possible before.
    var pendingDomains: [Path] {
        directoryStatus == .present ? engine.status.pendingDomains : []
    }

    /// Returns the domains whose files differ from when they were last read or written.
    private func changedDomains() -> Set<Path> {
        let changed = engine.status.mirroredFiles.filter { path, trackedFile in
            guard trackedFile.isCaptured || directoryStatus == .present else { return false }
            // A file that is not accessible now is checked again later.
            let presence = preferences.presence(of: path.domain)
            guard presence != .unknown else { return false }
            let identity = presence.identity
            // A held domain is read again if its file has changed, or if a new schema may support its version.
            if trackedFile.held != nil, trackedFile.held != .newerVersion, let last = heldFiles[path], last == identity
            {
                return false
            }
            return trackedFile.held != nil || isChanged(path, trackedFile, identity)
        }
        return Set(changed.keys)
    }

    /// Whether a file that is not held has values that the state lacks.
    func isChanged(_ domain: Path, _ trackedFile: TrackedFile, _ identity: MirrorEngine.FileIdentity?) -> Bool {
        !trackedFile.isCaptured || identity != trackedFile.file || !engine.keysToMirror(of: domain).isEmpty
    }

    // MARK: Locking and reading

    /// Files that were read under their locks, until these are released.
    struct LockedFiles {
        let locks: LockedDomains
        let readings: [Path: PreferenceFiles.Reading]
    }

    mutating func unlock() {
        locked?.locks.release()
        locked = nil
    }

    /// Locks the files of the domains, and others that changed, so that a transaction over several domains is read as a
    /// whole if it fits into memory. Then reads them. A domain that cannot be locked is left out. Returns nil if there
    /// is nothing to send, or if a file of the open application cannot be read yet, because it must be read together
    /// with the others.
    private mutating func lockAndRead(_ domains: Set<Path>) -> [Observation]? {
        unlock()
        var wanted = domains
        for _ in 0..<Self.mostTurns {
            preferences.places.user.file(of: .global).finishTransactions(on: system)
            guard let acquired = lockFiles(of: wanted.sorted().map(\.domain)) else { return nil }
            let others = portion(of: changedDomains().subtracting(wanted), with: wanted)
            guard others.isEmpty else {
                acquired.locks.release()
                wanted.formUnion(others)
                continue
            }
            let observations = read(acquired)
            let needed = engine.status.openDomains.intersection(wanted)
            guard !observations.isEmpty, needed.isSubset(of: observations.map { Path(domain: $0.domain) }) else {
                unlock()
                return nil
            }
            return observations
        }
        hasUnfinished = true
        return nil
    }

    private static let mostTurns = 64

    /// The locks of some domains.
    private struct AcquiredLocks {
        let locks: LockedDomains
        let domains: [String]
        /// The readings of domains whose locks the system refuses until a user fixes the cause.
        let refused: [PreferenceFiles.Reading]
    }

    /// Locks the files that can be locked. Returns nil if the reason for a failure is unknown.
    private mutating func lockFiles(of domains: [String]) -> AcquiredLocks? {
        var (domains, refused, busy) = (domains, [PreferenceFiles.Reading](), 0)
        while true {
            do throws(StoreFailure) {
                let locks = try LockedDomains(domains.compactMap { preferences.file(of: $0) }, by: preferences.writer)
                return AcquiredLocks(locks: locks, domains: domains, refused: refused)
            } catch {
                addTrouble(error.description)
                let failed = domains.filter { preferences.file(of: $0)?.name.hasSameBytes(as: error.domain) ?? false }
                if error.isLasting {
                    refused += failed.compactMap { refusal(of: $0) }
                } else {
                    hasUnfinished = true
                    busy += 1
                }
                guard !failed.isEmpty, busy <= Self.mostBusy else { return nil }
                domains.removeAll { failed.contains(exactly: $0) }
            }
        }
    }

    /// The limit of busy locks. Waiting for each of them takes as long as a writer waits.
    private static let mostBusy = 2

    /// Returns the reading of a domain that cannot be read and will be held, or nil if it is held already.
    private func refusal(of domain: String) -> PreferenceFiles.Reading? {
        engine.status.trackedFile(of: Path(domain: domain))?.held == nil ? preferences.refusal(of: domain) : nil
    }

    /// Reads the files that can be read and are not being written. Returns the contents of complete files.
    private mutating func read(_ acquired: AcquiredLocks) -> [Observation] {
        var observations = acquired.refused.map(\.observation)
        var readings: [Path: PreferenceFiles.Reading] = [:]
        for reading in acquired.refused { readings[Path(domain: reading.observation.domain)] = reading }
        for domain in acquired.domains {
            guard let reading = read(domain, under: acquired.locks) else { continue }
            count(.readDomain)
            readings[Path(domain: domain)] = reading
            guard !reading.isUnsettled else {
                hasUnfinished = true
                continue
            }
            // A file that was refused may become readable without a change.
            if !reading.isRefused { heldFiles[Path(domain: domain)] = reading.observation.identity }
            observations.append(reading.observation)
        }
        locked = LockedFiles(locks: acquired.locks, readings: readings)
        return observations
    }

    private mutating func read(_ domain: String, under locks: LockedDomains) -> PreferenceFiles.Reading? {
        do throws(SystemFailure) {
            let last = engine.status.trackedFile(of: Path(domain: domain))
            return try preferences.read(
                domain, since: last?.file, with: last?.hash, under: locks, hiding: schemas.secrecy
            ) { values in
                mergeState.keys(of: domain).contains { key, _ in
                    values[key] == nil && !staysLocal(Path(domain: domain).appending(key))
                }
            }
        } catch {
            addTrouble(error.description)
            if error.code.isLasting { return refusal(of: domain) }
            hasUnfinished = true
            return nil
        }
    }
}

extension StoreFailure {
    /// Whether a refusal of the system persists until a user fixes the cause.
    fileprivate var isLasting: Bool {
        if case .system(let code, _) = problem { ErrorCode(rawValue: code).isLasting } else { false }
    }
}
