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
        var keys: Set<String> = []
        var isKnown = true
        var own: Set<String> = []
        for index in sources.indices {
            let former = sources[index].seen
            let (version, changed) = sources[index].domain.changes(since: former)
            guard version != former else { continue }
            sources[index].seen = version
            for change in changed ?? [] {
                keys.insert(change.key)
                if change.isOwn { own.insert(change.key) }
            }
            if changed == nil { isKnown = false }
        }
        return isKnown ? resolve(keys, own, notes) : resolveAll(notes)
    }

    private mutating func resolve(_ keys: Set<String>, _ own: Set<String>, _ notes: Bool) -> [SettingsChange] {
        var changes: [SettingsChange] = []
        for key in keys {
            let (former, entry) = (entries[key], lookUp(key))
            entries[key] = entry
            if notes, let change = change(key, former, entry, isOwn: own.contains(key)) { changes.append(change) }
        }
        return notes ? changes.sorted { $0.key.isBefore($1.key) } : changes
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
