internal import PropertyLists

/// What a preference file says beside what the mirror last knew of it, key by key.
struct DomainReading {
    let domain: Path
    /// The values of the file.
    var file: [Path: CanonicalValue] = [:]
    /// The values that the file had when it was last read or written.
    var shadow: [Path: CanonicalValue] = [:]
    /// The keys of which the file's value is beyond a limit of the mirror.
    var beyondLimit: Set<Path> = []
    /// The keys that stay on this host.
    var atHome: Set<Path> = []
    /// Whether what was before is not what the mirror knows of.
    private(set) var isRecovered = false

    init(_ observation: Observation, local: LocalState, policy: DomainPolicy) {
        self.init(observation)
        shadow = local.fileValues(in: domain)
        let keys = Set(file.keys).union(shadow.keys)
        atHome = keys.filter { policy.staysHome(observation.domain, $0.key ?? "") }
        for key in beyondLimit { shadow[key] = nil }
    }

    /// What the file says, beside nothing.
    init(_ observation: Observation) {
        domain = Path(domain: observation.domain)
        if case .values(let values) = observation.content { read(values) }
    }

    private mutating func read(_ values: PropertyList.Dictionary) {
        for entry in values {
            let key = domain.appending(entry.key)
            if entry.key.utf8.count <= Path.longestComponent, let value = try? CanonicalValue(entry.value) {
                file[key] = value
            } else {
                beyondLimit.insert(key)
            }
        }
    }

    /// Takes another state of the file for what it was before.
    mutating func compare(with values: PropertyList.Dictionary) {
        isRecovered = true
        shadow = [:]
        for entry in values { shadow[domain.appending(entry.key)] = try? CanonicalValue(entry.value) }
    }

    /// Takes the outcome of a write that a crash may have come before or after.
    mutating func settle(_ change: DomainChange) {
        for (key, replacement) in change.changes {
            let isEither = file[key] == replacement.old || file[key] == replacement.new
            shadow[key] = isEither ? file[key] : replacement.new
        }
    }

    /// The keys whose value somebody changed.
    var changedKeys: [Path] {
        let keys = Set(file.keys).union(shadow.keys).subtracting(atHome)
        return keys.filter { file[$0] != shadow[$0] && !beyondLimit.contains($0) }.sorted()
    }

    /// Whether over half of the keys are gone, and more than a few.
    var isEmptied: Bool {
        let gone = shadow.keys.count { file[$0] == nil }
        return gone > Self.fewKeys && gone * 2 > shadow.count
    }

    private static let fewKeys = 20
}

extension LocalState {
    /// What a preference file held when it was last read or written: the view, but for the exceptions.
    package func fileValues(in domain: Path) -> [Path: CanonicalValue] {
        guard let shadow = shadows[domain], shadow.isCaptured else { return [:] }
        var values: [Path: CanonicalValue] = [:]
        for (key, value) in atoms.keys(under: domain) { values[key] = value }
        for (key, exception) in shadow.exceptions { values[key] = exception.value }
        return values
    }

    /// What is still to be changed in a preference file.
    func pendingChanges(in domain: Path) -> [Path: Shadow.Replacement] {
        let pending = (shadows[domain]?.exceptions ?? [:]).filter { $0.value.reason == .pending }
        var changes = pending.mapValues { Shadow.Replacement(old: $0.value, new: nil) }
        if pending.count < 64 {
            for (key, exception) in pending {
                changes[key] = Shadow.Replacement(old: exception.value, new: atoms.value(at: key))
            }
            return changes
        }
        // Many are found faster all in a row.
        for (key, value) in atoms.keys(under: domain) {
            guard let exception = pending[key] else { continue }
            changes[key] = Shadow.Replacement(old: exception.value, new: value)
        }
        return changes
    }
}
