internal import PropertyLists

/// The contents of a preference file, compared with its last known contents key by key.
struct FileComparison {
    let domain: Path
    /// The values in the file.
    private(set) var file: [Path: CanonicalValue] = [:]
    /// The previous values of the keys that differ, or nil for a key that had no value.
    private var former: [Path: CanonicalValue?] = [:]
    /// The number of keys in the file when it was last read or written.
    private var formerCount = 0
    /// Whether the file is that of a program that may write it in parts.
    private let isOfProgram: Bool
    /// The keys whose value in the file exceeds a limit of the mirror.
    private(set) var beyondLimit: Set<Path> = []
    /// The keys that stay on this host.
    private(set) var localKeys: Set<Path> = []
    /// The keys that were being written at a crash and have neither the previous nor the new value.
    private var unknown: Set<Path> = []
    /// Returns how to find the value of a key in the mirror, if the key is an array whose order means nothing.
    private let valueOfSet: (Path) -> (() -> CanonicalValue?)?
    /// Whether the previous values come from a recovered generation of the file and not from the mirror.
    private(set) var isRecovered = false

    init(_ observation: Observation, _ context: EngineContext) {
        let stay = context.policy.stay(observation.domain)
        let staysLocal = { stay($0) != nil }
        self.init(observation, context, staysLocal: staysLocal)
        compare(with: context.local.fileValues(in: domain))
        for key in former.keys where file[key] == nil && staysLocal(key.key ?? "") { localKeys.insert(key) }
        guard !context.policy.isDeclared(observation.domain) else { return }
        // Without its schema, a key stays until it is changed.
        let exceptions = context.local.trackedFiles[domain]?.exceptions ?? [:]
        for (key, exception) in exceptions where exception.value == file[key] && context.local.keeps(key, exception) {
            localKeys.insert(key)
        }
    }

    /// Takes the contents of a file without previous values.
    init(_ observation: Observation, _ context: EngineContext, staysLocal: (String) -> Bool) {
        domain = Path(domain: observation.domain)
        let (local, policy) = (context.local, context.policy)
        valueOfSet = { key in
            local.kind(of: key, policy) == .set ? { local.shared.live.value(at: key) } : nil
        }
        isOfProgram = observation.isOfProgram
        guard case .values(let values) = observation.content else { return }
        file.reserveCapacity(values.count)
        for entry in values {
            let key = domain.appending(entry.key)
            if staysLocal(entry.key) { localKeys.insert(key) }
            if entry.key.utf8.count <= Path.longestComponent, let value = canonical(entry.value, at: key) {
                if let longValues = context.longValues { value.long?.store(in: longValues) }
                file[key] = value
            } else {
                beyondLimit.insert(key)
            }
        }
    }

    /// Compares with previous values, in which each key occurs once.
    private mutating func compare(with values: [(key: Path, value: CanonicalValue)]) {
        var known = 0
        (former, formerCount) = ([:], 0)
        for (key, value) in values where !beyondLimit.contains(key) {
            formerCount += 1
            let now = file[key]
            if now != nil { known += 1 }
            if now != value { former[key] = value }
        }
        guard known < file.count else { return }
        let keys = Set(values.map(\.key))
        for key in file.keys where !keys.contains(key) { former[key] = .some(nil) }
    }

    /// Compares with the values of another generation of the file.
    mutating func compare(with values: PropertyList.Dictionary) {
        isRecovered = true
        compare(with: self.values(of: values))
    }

    /// Returns the values of another generation of the file, as far as the mirror can hold them.
    func values(of generation: PropertyList.Dictionary) -> [(key: Path, value: CanonicalValue)] {
        generation.compactMap { entry in
            let key = domain.appending(entry.key)
            return canonical(entry.value, at: key).map { (key: key, value: $0) }
        }
    }

    /// Returns a value as the mirror has it, or nil if it exceeds a limit. The order of a set means nothing.
    private func canonical(_ value: PropertyList, at key: Path) -> CanonicalValue? {
        guard value.arrayValue?.count ?? 0 > 1, let mirrored = valueOfSet(key) else {
            return try? CanonicalValue(value)
        }
        let set = value.asSet ?? value
        if let inForce = mirrored(), inForce.propertyList.asSet ?? inForce.propertyList == set { return inForce }
        return try? CanonicalValue(set)
    }

    /// Returns what a program without the library wrote last: the values in the file, or those that the library has
    /// replaced; nil if only the library has written since the file was last read.
    func foreign(_ observation: Observation) -> [Path: CanonicalValue]? {
        guard observation.mark != nil else { return file }
        return observation.foreign.map { Dictionary(values(of: $0), uniquingKeysWith: { $1 }) }
    }

    /// Compares with the values in the mirror, whether the file has shown them or not.
    mutating func compareWithMirror(_ context: EngineContext) {
        compare(with: context.local.shared.live.keys(under: domain).map { (key: $0.path, value: $0.value) })
        localKeys.formUnion(former.keys.filter { context.policy.staysLocal(domain.domain, $0.key ?? "") })
    }

    /// Sets the previous values after writes that a crash may have prevented.
    mutating func resolveInterrupted(_ changes: [Path: TrackedFile.Replacement]) {
        for (key, replacement) in changes {
            let isEither = file[key] == replacement.old || file[key] == replacement.new
            let value = isEither ? file[key] : replacement.new
            if !isEither { unknown.insert(key) }
            formerCount += (value == nil ? 0 : 1) - (formerValue(of: key) == nil ? 0 : 1)
            former[key] = value == file[key] ? nil : .some(value)
        }
    }

    /// Returns the value that a key had when the file was last read or written.
    func formerValue(of key: Path) -> CanonicalValue? { former[key] ?? file[key] }

    /// Whether it is unknown what the file had at a key before.
    func isUnknown(_ key: Path) -> Bool { unknown.contains(key) }

    var hadKeys: Bool { formerCount > 0 }

    /// The keys whose value differs from the previous one.
    var differingKeys: [Path] { Array(former.keys) }

    /// The keys whose value a user changed, in order.
    var changedKeys: [Path] { differingKeys.filter { !localKeys.contains($0) && !beyondLimit.contains($0) }.sorted() }

    /// Whether more than half of the keys are gone, and more than a few. Of a program's file, half of them, and not
    /// only one of several.
    var isEmptied: Bool {
        let gone = former.count { $0.value != nil && file[$0.key] == nil }
        if isOfProgram { return gone * 2 >= formerCount && (gone > 1 || gone > 0 && file.isEmpty) }
        return gone > Self.fewKeys && gone * 2 > formerCount
    }

    private static let fewKeys = 20
}

extension LocalState {
    /// Returns the rule by which writes of a key are combined: as declared here, or else as other hosts have written.
    func kind(of key: Path, _ policy: DomainPolicy) -> MergeKind {
        policy.kind(key.domain, key.key ?? "") ?? shared.live.kind(of: key) ?? .value
    }

    /// Whether a declaration keeps a key on this host.
    func keeps(_ key: Path, _ exception: TrackedFile.Exception) -> Bool {
        exception.reason == .kept || exception.reason == .local && !shared.live.isLeft(key)
    }

    /// Returns the keys of a file that stayed on this host, and do not by this policy.
    func keysToMirror(of domain: Path, _ policy: DomainPolicy) -> [Path] {
        let exceptions = trackedFiles[domain]?.exceptions ?? [:]
        let stayed = exceptions.filter { key, exception in
            exception.reason == .returned || exception.reason == .unselected || keeps(key, exception)
        }
        guard !stayed.isEmpty else { return [] }
        let (stay, isDeclared) = (policy.stay(domain.domain), policy.isDeclared(domain.domain))
        return stayed.filter { key, exception in
            stay(key.key ?? "") == nil && (isDeclared || !keeps(key, exception))
        }.map(\.key)
    }

    /// Returns the contents of a preference file when it was last read or written: the view, except for the exceptions.
    package func fileValues(in domain: Path) -> [(key: Path, value: CanonicalValue)] {
        guard let trackedFile = trackedFiles[domain], trackedFile.isCaptured else { return [] }
        let view = shared.live.keys(under: domain).map { (key: $0.path, value: $0.value) }
        if trackedFile.exceptions.isEmpty { return view }
        return view.filter { trackedFile.exceptions[$0.key] == nil }
            + trackedFile.exceptions.compactMap { key, exception in exception.value.map { (key, $0) } }
    }

    /// Returns the changes of writes into a preference file that a crash may have prevented.
    func interruptedChanges(in domain: Path) -> [Path: TrackedFile.Replacement] {
        let open = application?.domains.first { $0.domain == domain }?.changes ?? [:]
        return (trackedFiles[domain]?.interrupted ?? [:]).merging(open) { $1 }
    }

    /// Returns the changes that a preference file still needs.
    func pendingChanges(in domain: Path) -> [Path: TrackedFile.Replacement] {
        let pending = (trackedFiles[domain]?.exceptions ?? [:]).filter { $0.value.reason == .pending }
        var changes = pending.mapValues { TrackedFile.Replacement(old: $0.value, new: nil) }
        if pending.count < 64 {
            for (key, exception) in pending {
                changes[key] = TrackedFile.Replacement(old: exception.value, new: shared.live.value(at: key))
            }
            return changes
        }
        // For many keys, one pass over the domain is faster than a lookup of each.
        for (key, value) in shared.live.keys(under: domain) {
            guard let exception = pending[key] else { continue }
            changes[key] = TrackedFile.Replacement(old: exception.value, new: value)
        }
        return changes
    }
}
