internal import Platform
internal import PropertyLists
internal import SettingsSchema

/// Each key's value in force and where it comes from, so that a look-up is one look into a dictionary.
struct ResolvedTable: Sendable {
    /// A layer, and who has its values.
    struct Source: Sendable {
        let origin: Origin
        let domain: OpenDomain
        /// The version of the layer that the table was made from.
        var seen: UInt64 = 0

        init(_ layer: Layer, _ domain: OpenDomain) {
            self.init(Origin(layer, file: domain.file?.path.description), domain)
        }

        init(_ origin: Origin, _ domain: OpenDomain) {
            (self.origin, self.domain) = (origin, domain)
        }
    }

    struct Entry: Sendable {
        let value: PropertyList
        /// The position of the source.
        let source: Int
    }

    /// That a layer has a value which does not count, and why.
    struct PassedOver: Sendable, Hashable {
        let domain: DomainName
        let key: String
        let origin: Origin
        let reason: String
    }

    private(set) var sources: [Source]
    /// What the values of the layers have to be, to count.
    private var schema: SchemaInForce?
    /// What was passed over and is not told of yet.
    private var passedOver: Set<PassedOver> = []
    private let domain: DomainName
    /// The values in force. By the bytes of their keys, as the layers have them.
    private(set) var values = PropertyList.Dictionary()
    /// The position of each one's source.
    private var positions: [ExactKey: Int] = [:]
    private var epoch: UInt64 = 0
    private var tick: Instant?

    init(of domain: DomainName) { (self.domain, sources) = (domain, []) }

    func isCurrent(_ epoch: UInt64, _ tick: Instant) -> Bool { self.epoch == epoch && self.tick == tick }

    private(set) subscript(key: ExactKey) -> Entry? {
        get {
            guard let value = values[key.text], let source = positions[key] else { return nil }
            return Entry(value: value, source: source)
        }
        set { (values[key.text], positions[key]) = (newValue?.value, newValue?.source) }
    }

    /// Takes other layers, and the schema by which they are looked up.
    mutating func replaceSources(_ sources: [Source], _ schema: SchemaInForce?) {
        self.sources = sources
        self.schema = schema
        epoch = 0
    }

    /// What is to be told of.
    mutating func takePassedOver() -> Set<PassedOver> {
        defer { passedOver = [] }
        return passedOver
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
            for change in log {
                let key = ExactKey(change.key)
                self[key] = lookUp(key)
                if let key = schema?.presentKeys[key] { self[key] = lookUp(key) }
            }
            return []
        }
        let own = Set(log.lazy.filter(\.isOwn).map { ExactKey($0.key) })
        let keys = Set(log.map { ExactKey($0.key) })
        let present = schema.map { schema in keys.compactMap { schema.presentKeys[$0] } } ?? []
        return keys.union(present).sorted { $0.text.isBefore($1.text) }.compactMap { key in
            let former = values[key.text]
            self[key] = lookUp(key)
            return change(key, former, isOwn: own.contains(key))
        }
    }

    private mutating func resolveAll(_ notes: Bool) -> [SettingsChange] {
        let former = values
        (values, positions) = ([:], [:])
        for (index, source) in sources.enumerated().reversed() {
            for entry in source.domain.snapshot().values {
                self[ExactKey(entry.key)] = Entry(value: entry.value, source: index)
            }
        }
        for key in schema?.declarations.keys.map(\.self) ?? [] { self[key] = lookUp(key) }
        guard notes else { return [] }
        let keys = positions.keys + former.lazy.map { ExactKey($0.key) }.filter { positions[$0] == nil }
        return keys.sorted { $0.text.isBefore($1.text) }.compactMap { key in
            change(key, former[key.text], isOwn: false)
        }
    }

    private mutating func lookUp(_ key: ExactKey) -> Entry? {
        let declaration = schema?.declarations[key]
        for (index, source) in sources.enumerated() {
            guard let declaration else {
                if let value = source.domain.value(key.text) { return Entry(value: value, source: index) }
                continue
            }
            switch source.verdict(on: declaration) {
            case .usable(let value)?: return Entry(value: value, source: index)
            case .passedOver(let reason)?:
                passedOver.insert(PassedOver(domain: domain, key: key.text, origin: source.origin, reason: reason))
            case nil: continue
            }
        }
        return nil
    }

    private func change(_ key: ExactKey, _ former: PropertyList?, isOwn: Bool) -> SettingsChange? {
        let entry = self[key]
        guard former != entry?.value, !key.text.isHidden else { return nil }
        return SettingsChange(
            key: key.text, oldValue: former, newValue: entry?.value,
            origin: entry.map { sources[$0.source].origin }, isOwn: isOwn)
    }
}

extension ResolvedTable.Source {
    /// What the layer has for a declared key, under its present name or a former one; nil for nothing.
    func verdict(on declaration: SettingDeclaration) -> Verdict? {
        guard let stored = stored(declaration) else { return nil }
        return declaration.verdict(on: stored, isExposed: declaration.hasSecrets && domain.isExposed)
    }

    /// The value as the layer has it.
    func stored(_ declaration: SettingDeclaration) -> PropertyList? {
        declaration.allKeys.lazy.compactMap { domain.value($0) }.first
    }
}

extension String {
    /// Whether the key is the store's own and not one of the program's settings.
    package var isHidden: Bool { self == Schema.versionKey }
}
