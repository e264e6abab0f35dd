internal import Platform
public import PropertyLists
internal import Queries
internal import Synchronization

/// The settings of a domain. The value of a key is that of the first layer that has one, from the values that the
/// administrator forces to those that the program registers.
///
/// All instances of a domain share their values. A change is visible to the whole process at once, and is written to
/// the disk within 100 milliseconds or at the end of the program. Calling `synchronize()` is not necessary.
public final class Defaults: Sendable {
    /// The domain of these settings.
    public let name: DomainName
    /// The store of the domain.
    public let store: Store

    /// The domain that is written when a value is set.
    let target: OpenDomain
    let table: Mutex<ResolvedTable>
    let observation = ChangeObservers()
    let watched = Mutex<[WatchedDomain]>([])
    let suites = Mutex<[DomainName]>([])
    let observedSettings = Mutex(WeaklyObserved())
    private let environment: [String: String]
    /// The schema in effect, or nil until it is loaded.
    private let prepared = Mutex<Prepared?>(nil)
    /// Held while the layers are being determined.
    private let preparing = Mutex(())

    private struct Prepared: Sendable {
        let schema: EffectiveSchema?
        /// The number of schemas that the program had declared.
        let declarations: Int
    }

    /// Opens a domain.
    ///
    /// - Parameters:
    ///   - name: The domain's name.
    ///   - store: The store of the domain.
    ///   - environment: Environment variables, each with the key of the setting that it sets.
    ///   - defaults: The values of the layer `default`, for all instances of the domain.
    public init(
        _ name: DomainName, in store: Store = .native, environment: [String: String] = [:],
        defaults: PropertyList.Dictionary = [:]
    ) {
        self.name = name
        self.store = store
        let process = store.process
        target = process.target(of: name)
        table = Mutex(ResolvedTable(of: name))
        self.environment = environment
        if !defaults.isEmpty { process.volatile(name, .default).replaceAll(defaults) }
    }

    deinit { stopObserving() }

    /// The settings of the running program: the domain with the name of its executable.
    public static let standard = Defaults(DomainName(encoding: SystemServices.ofThisProcess().program))

    // MARK: Looking up

    /// Returns the value in effect for a key.
    func value(_ key: String) -> PropertyList? { refreshed { $0.found.entries[key] } }

    /// The schema in effect, which is loaded at the first access and when the program declares one.
    var schema: EffectiveSchema? {
        let schemas = store.process.schemas
        let declarations = schemas.declarations
        if let prepared = prepared.withLock(\.self), prepared.declarations == declarations { return prepared.schema }
        return preparing.withLock { _ in
            let former = prepared.withLock(\.self)
            if let former, former.declarations >= declarations { return former.schema }
            let schema = schemas.schemaInForce(of: name)
            if former == nil || former?.schema !== schema {
                target.state.withLock { $0.rules = schema?.rules }
                replaceLayers(schema)
            }
            // This must be last, because other threads then use the layers at once.
            prepared.withLock { $0 = Prepared(schema: schema, declarations: declarations) }
            return schema
        }
    }

    private func replaceLayers(_ schema: EffectiveSchema?) {
        let names = suites.withLock(\.self)
        let stack = store.process.layers(of: name, suites: names, environment: environment, schema)
        table.withLock { $0.replaceLayers(stack) }
    }

    /// The layers, as of the last refresh.
    var stack: LayerStack {
        _ = schema
        return table.withLock(\.stack)
    }

    /// Returns the origin of a key's value.
    public func origin(forKey key: String) -> Origin? {
        refreshed { $0.found.origin(of: ExactKey(key)) }
    }

    /// Calls `body` with an up-to-date table.
    func refreshed<Result: Sendable>(_ body: (borrowing ResolvedTable) -> Result) -> Result {
        let (epoch, tick) = (store.process.signals.epoch.load(ordering: .acquiring), store.process.system.clock.tick)
        let result = table.withLock { table -> Result? in
            table.isCurrent(epoch, tick) ? body(table) : nil
        }
        if let result { return result }
        refresh(epoch, tick)
        return table.withLock { body($0) }
    }

    /// Refreshes the layers that may have changed, and notifies observers.
    func refresh(_ epoch: UInt64, _ tick: Instant) {
        _ = schema
        let (isChanged, skipped) = table.withLock { table in
            // Recorded under the lock that also guards the registration of observers. An observer that is not
            // registered yet receives the changes of the next refresh.
            let changes = table.refresh(epoch, tick, reportsChanges: observation.hasObservers)
            if !changes.isEmpty { observation.record(changes, of: name) }
            return (!changes.isEmpty, table.takeSkipped())
        }
        // In a transaction, observers could not make changes. They are notified after it.
        if isChanged, !target.isInTransaction { observation.deliver() }
        report(skipped)
    }

    /// Reports values that were skipped, each once.
    func report(_ skipped: Set<ResolvedTable.SkippedValue>) {
        for entry in store.process.signals.unreported(among: skipped).sorted(by: { $0.key.isBefore($1.key) }) {
            post(.ignored(key: entry.key, origin: entry.origin, reason: entry.reason))
        }
    }

    /// Changes the suites, which are sorted by descending priority.
    func setSuites(_ change: (inout [DomainName]) -> Void) {
        let schema = schema
        preparing.withLock { _ in
            suites.withLock { suites in change(&suites) }
            replaceLayers(schema)
        }
        restartObserving()
    }

    // MARK: Changing

    /// Sets values in the user's layer, or removes those that are nil.
    func set(_ changes: [(key: String, value: PropertyList?)]) {
        do throws(StoreFailure) {
            try setChecked(changes)
        } catch {
            report(error, of: changes.map(\.key))
        }
    }

    /// Makes all changes or none. Throws if a schema or the store refuses one.
    func setChecked(_ changes: [(key: String, value: PropertyList?)]) throws(StoreFailure) {
        try checkReentrancy(of: target, name)
        for (key, value) in changes {
            if value != nil, !key.isFitForWriting { throw StoreFailure(.invalidKey(key), name.text) }
            if let reason = value?.unfitness(under: key) { throw StoreFailure(.notAllowed(reason), name.text) }
            if key.isHidden { throw StoreFailure(.reservedKey(key), name.text) }
        }
        target.look()
        guard let schema else { return target.set(changes) }
        let stored = target.stored
        try schema.rules.check(changes, over: stored, isExposed: target.isExposed, name.text)
        // The version is set in memory too, because later changes are checked against it before it is on the disk.
        let beginning = stored.isEmpty && changes.contains { $0.value != nil } ? schema.rules.beginning : []
        target.set(schema.withFormerKeys(changes, in: stored) + beginning)
    }

    /// Reports values that could not be set.
    func report(_ refusal: StoreFailure, of keys: [String]) {
        for (key, reason) in refusal.reasons(of: keys) {
            store.process.signals.issues.post(Issue(.refused(key: key, reason: reason), domain: refusal.domain))
        }
    }

    func post(_ kind: Issue.Kind) { store.process.signals.issues.post(Issue(kind, domain: name.text)) }

    /// A new stream of the problems in all domains of the store that cannot be thrown to a caller. They are not printed
    /// to standard error while there is such a stream.
    public var issues: AsyncStream<Issue> { store.process.signals.issues.issues() }

    /// Writes pending changes, and returns when they are on the disk. Throws a `StoreFailure` if they cannot be
    /// written.
    public func flush() throws { try target.flush() }
}

// The API of Foundation's `UserDefaults` for whole domains.
extension Defaults {
    /// Returns all values in effect, converted as by `object(forKey:)`.
    public func dictionaryRepresentation() -> [String: Any] {
        var values = refreshed(\.values)
        values.removeAll(where: \.key.isHidden)
        return values.anyValue
    }

    /// The names of the volatile domains.
    public var volatileDomainNames: [String] {
        [Self.argumentDomain, Self.registrationDomain] + store.process.namedDomains.names
    }

    /// Returns the values of a volatile domain.
    public func volatileDomain(forName domainName: String) -> [String: Any] {
        // The command line that the program has parsed takes the place of the words after its name.
        if domainName == Self.argumentDomain, let given = stack.layers.first(where: { $0.layer == .arguments }) {
            return given.values.anyValue
        }
        return volatileLayer(domainName)?.snapshot().values.anyValue
            ?? store.process.namedDomains[domainName]?.anyValue ?? [:]
    }

    /// Replaces all values of a volatile domain.
    public func setVolatileDomain(_ domain: [String: Any], forName domainName: String) {
        let values = converted(domain)
        if let layer = volatileLayer(domainName) {
            layer.replaceAll(values)
        } else {
            store.process.namedDomains[domainName] = values
        }
    }

    /// Removes a volatile domain.
    public func removeVolatileDomain(forName domainName: String) {
        if let layer = volatileLayer(domainName) {
            layer.replaceAll([:])
        } else {
            store.process.namedDomains[domainName] = nil
        }
    }

    private func volatileLayer(_ domainName: String) -> OpenDomain? {
        switch domainName {
        case Self.argumentDomain: store.process.arguments
        case Self.registrationDomain: store.process.volatile(name, .registered)
        default: nil
        }
    }

    /// Returns the user's own values of a domain, or nil if there are none.
    public func persistentDomain(forName domainName: String) -> [String: Any]? {
        guard let domain = persistent(domainName) else { return nil }
        domain.look()
        var values = domain.snapshot().values
        values.removeAll { $0.key.isHidden }
        return values.isEmpty ? nil : values.anyValue
    }

    /// Replaces all stored values of a domain.
    public func setPersistentDomain(_ domain: [String: Any], forName domainName: String) {
        var values = converted(domain)
        for key in domain.keys where !key.isFitForWriting {
            values[key] = nil
            post(.refused(key: key, reason: key.unfitness))
        }
        replacePersistent(domainName, with: values)
    }

    private func replacePersistent(_ domainName: String, with values: PropertyList.Dictionary) {
        guard let domain = persistent(domainName), let name = try? DomainName(domainName) else { return }
        do throws(StoreFailure) {
            try checkReentrancy(of: domain, name)
            domain.look()
            let stored = domain.stored
            let schema = name == self.name ? self.schema : store.process.schemas.schemaInForce(of: name)
            let removed = stored.keys.filter { values[$0] == nil && !$0.isHidden }.map { ($0, PropertyList?.none) }
            let changes = values.filter { !$0.key.isHidden }.map { ($0.key, PropertyList?.some($0.value)) } + removed
            try schema?.rules.check(changes, over: stored, isExposed: domain.isExposed, domainName)
            let beginning = stored.isEmpty && !values.isEmpty ? schema?.rules.beginning ?? [] : []
            domain.set(changes.filter { stored[$0.0] != $0.1 } + beginning)
        } catch {
            report(error, of: Array(values.keys))
        }
    }

    /// Removes all stored values of a domain.
    public func removePersistentDomain(forName domainName: String) {
        guard let domain = persistent(domainName), let name = try? DomainName(domainName) else { return }
        do throws(StoreFailure) {
            try checkReentrancy(of: domain, name)
            domain.removeAll()
        } catch {
            report(error, of: [])
        }
    }

    private func persistent(_ domainName: String) -> OpenDomain? {
        guard let name = try? DomainName(domainName) else {
            post(.refused(key: domainName, reason: "this is not a valid domain name"))
            return nil
        }
        return name == self.name ? target : store.process.target(of: name)
    }
}

extension Defaults {
    /// Returns the records of the values in effect that satisfy a query. Throws if the query cannot be evaluated.
    ///
    ///     let query = try Query(where: "read == NO", over: ["messages"], sort: "-date")
    ///     for record in try defaults.records(matching: query) { … }
    public func records(matching query: Query) throws(Query.Predicate.Failure) -> [Query.Record] {
        var values = refreshed(\.values)
        values.removeAll(where: \.key.isHidden)
        return try PropertyList.dictionary(values).records(matching: query)
    }

    /// Returns the records that satisfy a query, first the current ones and then those after each change. The stream
    /// ends with an error if the query cannot be evaluated.
    public func changes(of query: Query) -> AsyncThrowingStream<[Query.Record], any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: [Query.Record].self)
        let last = Mutex<[Query.Record]?>(nil)
        let observation = snapshots { defaults in
            do throws(Query.Predicate.Failure) {
                let records = try defaults.records(matching: query)
                last.withLock { last in
                    guard records != last else { return }
                    last = records
                    continuation.yield(records)
                }
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in observation.cancel() }
        return stream
    }
}
