internal import Platform
internal import PropertyLists

/// Each key's value in force and where it comes from, so that a look-up is one look into a dictionary.
struct ResolvedTable: Sendable {
    /// A layer, and who has its values.
    struct Source: Sendable {
        let origin: Origin
        let domain: OpenDomain
        /// The version of the layer that the table was made from.
        var seen: UInt64 = 0

        init(_ layer: Layer, _ domain: OpenDomain) {
            origin = Origin(layer, file: domain.file?.path.description)
            self.domain = domain
        }
    }

    struct Entry: Sendable {
        let value: PropertyList
        /// The position of the source.
        let source: Int
    }

    private(set) var sources: [Source]
    private(set) var entries: [String: Entry] = [:]
    private var epoch: UInt64 = 0
    private var tick: Instant?

    init(_ sources: [Source]) { self.sources = sources }

    func isCurrent(_ epoch: UInt64, _ tick: Instant) -> Bool { self.epoch == epoch && self.tick == tick }

    /// Takes other layers.
    mutating func replaceSources(_ sources: [Source]) {
        self.sources = sources
        epoch = 0
    }

    /// Brings the table up to date and returns what that changes; nothing unless `notes` asks for it.
    mutating func refresh(_ epoch: UInt64, _ tick: Instant, notes: Bool) -> [SettingsChange] {
        // Whoever sets something meanwhile makes another epoch, and so another refresh.
        self.epoch = epoch
        if self.tick != tick {
            self.tick = tick
            for source in sources { source.domain.look() }
        }
        var changes: [ChangeLog.Change] = []
        var isKnown = true
        for index in sources.indices where sources[index].domain.hasChanged(since: sources[index].seen) {
            let (version, changed) = sources[index].domain.changes(since: sources[index].seen)
            sources[index].seen = version
            changes += changed ?? []
            if changed == nil { isKnown = false }
        }
        return isKnown ? resolve(changes, notes) : resolveAll(notes)
    }

    private mutating func resolve(_ log: [ChangeLog.Change], _ notes: Bool) -> [SettingsChange] {
        guard notes else {
            for change in log { entries[change.key] = lookUp(change.key) }
            return []
        }
        let own = Set(log.lazy.filter(\.isOwn).map(\.key))
        return Set(log.map(\.key)).sorted { $0.isBefore($1) }.compactMap { key in
            let former = entries[key]
            entries[key] = lookUp(key)
            return change(key, former, entries[key], isOwn: own.contains(key))
        }
    }

    private mutating func resolveAll(_ notes: Bool) -> [SettingsChange] {
        let former = entries
        entries = [:]
        for (index, source) in sources.enumerated().reversed() {
            for entry in source.domain.snapshot().values {
                entries[entry.key] = Entry(value: entry.value, source: index)
            }
        }
        guard notes else { return [] }
        return Set(former.keys).union(entries.keys).sorted { $0.isBefore($1) }.compactMap { key in
            change(key, former[key], entries[key], isOwn: false)
        }
    }

    private func lookUp(_ key: String) -> Entry? {
        for (index, source) in sources.enumerated() {
            if let value = source.domain.value(key) { return Entry(value: value, source: index) }
        }
        return nil
    }

    private func change(_ key: String, _ former: Entry?, _ entry: Entry?, isOwn: Bool) -> SettingsChange? {
        guard former?.value != entry?.value, !key.isHidden else { return nil }
        return SettingsChange(
            key: key, oldValue: former?.value, newValue: entry?.value,
            origin: entry.map { sources[$0.source].origin }, isOwn: isOwn)
    }
}

extension String {
    /// Whether the key is the store's own and not one of the program's settings.
    package var isHidden: Bool { self == "$schemaVersion" }
}
