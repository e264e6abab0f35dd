internal import Platform
internal import PropertyLists
internal import SettingsSchema

/// The values in force of a domain as its layers last resolved them, so that a look-up is one look into a dictionary.
struct ResolvedTable: Sendable {
    /// An invalid value that was skipped, and why.
    struct SkippedValue: Sendable, Hashable {
        let domain: DomainName
        let key: String
        let origin: Origin
        let reason: String
    }

    private(set) var stack = LayerStack([], nil)
    private(set) var found = ValuesInForce()
    /// The version of each layer that the table was made from.
    private var seen: [UInt64] = []
    private let domain: DomainName
    private var epoch: UInt64 = 0
    private var tick: Instant?

    init(of domain: DomainName) { self.domain = domain }

    func isCurrent(_ epoch: UInt64, _ tick: Instant) -> Bool { self.epoch == epoch && self.tick == tick }

    /// The values in force.
    var values: PropertyList.Dictionary { found.entries }

    /// Takes other layers.
    mutating func replaceLayers(_ stack: LayerStack) {
        self.stack = stack
        seen = stack.layers.map { _ in 0 }
        epoch = 0
    }

    /// Returns the values that were skipped since the last call.
    mutating func takeSkipped() -> Set<SkippedValue> {
        guard !found.skipped.isEmpty else { return [] }
        defer { found.skipped = [] }
        return Set(
            found.skipped.map { key, answer in
                SkippedValue(domain: domain, key: key, origin: answer.origin, reason: answer.fault ?? "")
            })
    }

    /// Brings the table up to date and returns what that changes; nothing unless `notes` asks for it.
    mutating func refresh(_ epoch: UInt64, _ tick: Instant, notes: Bool) -> [SettingsChange] {
        // A change made meanwhile starts another epoch, and so another refresh.
        self.epoch = epoch
        if self.tick != tick {
            self.tick = tick
            stack.look()
        }
        var changes: [ChangeLog.Change] = []
        var isKnown = true
        for (index, layer) in stack.layers.enumerated() {
            guard let open = layer.openDomain, open.hasChanged(since: seen[index]) else { continue }
            let (version, changed) = open.changes(since: seen[index])
            seen[index] = version
            changes += changed ?? []
            if changed == nil { isKnown = false }
        }
        return isKnown ? resolve(changes, notes) : resolveAll(notes)
    }

    private mutating func resolve(_ log: [ChangeLog.Change], _ notes: Bool) -> [SettingsChange] {
        let presentKeys = stack.schema?.presentKeys ?? [:]
        guard notes else {
            for change in log {
                let key = ExactKey(change.key)
                found.take(stack[key.text], for: key)
                if let key = presentKeys[key] { found.take(stack[key.text], for: key) }
            }
            return []
        }
        let own = Set(log.lazy.filter(\.isOwn).map { ExactKey($0.key) })
        let keys = Set(log.map { ExactKey($0.key) })
        return keys.union(keys.compactMap { presentKeys[$0] }).sorted { $0.text.isBefore($1.text) }.compactMap { key in
            let former = values[key.text]
            found.take(stack[key.text], for: key)
            return change(key, former, isOwn: own.contains(key))
        }
    }

    private mutating func resolveAll(_ notes: Bool) -> [SettingsChange] {
        let former = values
        found = stack.valuesInForce()
        guard notes else { return [] }
        let keys = Array(found.layers.keys) + former.lazy.map { ExactKey($0.key) }.filter { found.layers[$0] == nil }
        return keys.sorted { $0.text.isBefore($1.text) }.compactMap { key in
            change(key, former[key.text], isOwn: false)
        }
    }

    private func change(_ key: ExactKey, _ former: PropertyList?, isOwn: Bool) -> SettingsChange? {
        let value = values[key.text]
        guard former != value, !key.text.isHidden else { return nil }
        return SettingsChange(
            key: key.text, oldValue: former, newValue: value, origin: found.origin(of: key), isOwn: isOwn)
    }
}

extension String {
    /// Whether the key is the store's own and not one of the program's settings.
    package var isHidden: Bool { self == Schema.versionKey }
}
