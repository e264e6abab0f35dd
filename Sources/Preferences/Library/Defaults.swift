internal import Platform
public import PropertyLists
public import Queries
internal import SettingsSchema
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
    let observedSettings = Mutex(WeaklyObserved())
    /// The path of the dictionary whose entries are the settings; empty for the whole domain.
    let path: EntryPath
    private let lookup: LookupOptions
    /// The schema in force, or nil until it is loaded.
    private let prepared = Mutex<Prepared?>(nil)
    /// Held while the layers are being determined.
    private let preparing = Mutex(())

    struct Prepared: Sendable {
        let schema: EffectiveSchema?
        /// The schema of the whole domain.
        let whole: EffectiveSchema?
        /// The number of schemas that the program had declared, and of changes of its suites.
        let changes: Int
    }

    /// Opens a domain.
    ///
    /// - Parameters:
    ///   - name: The domain's name.
    ///   - store: The store of the domain.
    ///   - environment: Environment variables, each with the key of the setting that it sets.
    ///   - defaults: The values of the layer `default`, for all instances of the domain.
    public convenience init(
        _ name: DomainName, in store: Store = .native, environment: [String: String] = [:],
        defaults: PropertyList.Dictionary = [:]
    ) {
        self.init(name, store, environment, defaults, nil)
    }

    /// Opens a domain whose values come from these layers, highest priority first. Values that the administrator
    /// forces always precede them, and defaults and registered values always follow.
    ///
    /// Throws a `StoreFailure` if a file cannot be read, or a required one does not exist. Later, a file that has
    /// become unreadable is reported as an issue, and its last values stay in force. Values are set in the user's
    /// layer, whether or not it is searched.
    ///
    /// - Parameters:
    ///   - name: The domain's name.
    ///   - store: The store of the domain.
    ///   - layers: The layers to search.
    ///   - environment: Environment variables, each with the key of the setting that it sets.
    ///   - defaults: The values of the layer `default`, for all instances of the domain.
    public convenience init(
        _ name: DomainName, in store: Store = .native, layers: [SearchedLayer], environment: [String: String] = [:],
        defaults: PropertyList.Dictionary = [:]
    ) throws {
        let others = try layers.compactMap { layer throws(StoreFailure) -> OpenedLayer? in
            try OpenedLayer(layer, in: store.shared, for: name)
        }
        self.init(name, store, environment, defaults, (layers, others))
    }

    private init(
        _ name: DomainName, _ store: Store, _ environment: [String: String], _ defaults: PropertyList.Dictionary,
        _ searched: (order: [SearchedLayer], others: [OpenedLayer])?
    ) {
        self.name = name
        self.store = store
        let shared = store.shared
        target = shared.target(of: name)
        table = Mutex(ResolvedTable(of: name))
        path = EntryPath()
        lookup = LookupOptions(environment, searched)
        if !defaults.isEmpty { shared.volatile(name, .default).replaceAll(defaults) }
    }

    private init(_ whole: Defaults, _ path: EntryPath) {
        (name, store, target, lookup) = (whole.name, whole.store, whole.target, whole.lookup)
        self.path = path
        table = Mutex(ResolvedTable(of: name, in: path))
    }

    deinit { stopObserving() }

    /// Returns the settings of a part of the program, such as a library, which need not know the others.
    ///
    ///     let http = Defaults("com.example.service").scoped("http")
    ///     http[Setting("timeout", default: 30)]
    ///
    /// Files and other stored layers have the values in a dictionary: `timeout` is the value of `:http:timeout`. The
    /// command line has it as `--http-timeout`, and the environment as `SERVICE_HTTP_TIMEOUT`, which begins with the
    /// last part of the domain's name. `Schema.scope` declares such settings.
    ///
    /// Values that are set, observed and explained are those of the scope. Methods that name a domain concern the whole
    /// domain. Keep the result: each call prepares the layers anew.
    public func scoped(_ name: String) -> Defaults {
        Defaults(self, path.appending(EntryPath.Component(name)))
    }

    /// The settings of the running program: the domain with the name of its executable.
    public static let standard = Defaults(DomainName(encoding: SystemServices.ofThisProcess().program))

    // MARK: Looking up

    /// Returns the value in force for a key.
    func found(_ key: String) -> PropertyList? { refreshed { $0.value(key) } }

    /// The observers of what the program reads.
    var reads: ReadObservers { lookup.reads }

    /// Returns the value in force for a key, and reports that it was read.
    func value(_ key: String) -> PropertyList? {
        let value = found(key)
        if reads.isActive { report(reading: key, value, from: origin(forKey: key), stack.declaration(of: key)) }
        return value
    }

    /// The schema in force, which is loaded at the first access and when the program declares one. That of a scope has
    /// the settings of the scope.
    var schema: EffectiveSchema? { inForce.schema }

    var inForce: Prepared {
        let schemas = store.shared.schemas
        let changes = schemas.declarations + lookup.changes
        if let prepared = prepared.withLock(\.self), prepared.changes == changes { return prepared }
        return preparing.withLock { _ in
            let former = prepared.withLock(\.self)
            if let former, former.changes >= changes { return former }
            let whole = schemas.schemaInForce(of: name, isAdopted: target.file?.isAdopted ?? false)
            if former == nil || former?.whole !== whole {
                let memory = whole?.schema.hasSecrets ?? false ? schemas.remembered(of: name) : nil
                target.state.withLock { ($0.rules, $0.memory) = (whole?.rules, memory) }
            }
            let schema = replaceLayers(whole)
            // This must be last, because other threads then use the layers at once.
            let new = Prepared(schema: schema, whole: whole, changes: changes)
            prepared.withLock { $0 = new }
            return new
        }
    }

    private var isScope: Bool { !path.components.isEmpty }

    /// Replaces the layers. Returns the schema of the settings.
    private func replaceLayers(_ whole: EffectiveSchema?) -> EffectiveSchema? {
        let shared = store.shared
        var stack = shared.layers(
            of: name, suites: lookup.suites, environment: lookup.environment, whole, isForScope: isScope)
        if let (order, others) = lookup.searched { stack = stack.searched(in: order, others.map(\.source)) }
        if isScope {
            let scope = SettingsScope(path, in: name, whole, shared.system.environment.variables)
            stack = stack.scoped(to: scope)
        }
        table.withLock { $0.replaceLayers(stack) }
        return stack.schema
    }

    /// The layers, as of the last refresh.
    var stack: LayerStack {
        _ = schema
        return table.withLock(\.stack)
    }

    /// Returns the origin of a key's value.
    public func origin(forKey key: String) -> Origin? {
        refreshed { $0.found.origin(of: Name(key)) ?? $0.stack.valueOfVariable(key)?.origin }
    }

    /// Calls `body` with an up-to-date table.
    func refreshed<Result: Sendable>(_ body: (borrowing ResolvedTable) -> Result) -> Result {
        let (epoch, tick) = (store.shared.context.epoch.load(ordering: .acquiring), store.shared.system.clock.tick)
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
        for entry in store.shared.context.unreported(among: skipped).sorted(by: { $0.key.isBefore($1.key) }) {
            post(.ignored(key: entry.key, origin: entry.origin, reason: entry.reason))
        }
    }

    /// Changes the suites, which are sorted by descending priority.
    func setSuites(_ change: (inout [DomainName]) -> Void) {
        lookup.changeSuites(change)
        store.shared.context.publishChange()
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
        target.checkFile()
        let (schema, whole) = (inForce.schema, inForce.whole)
        guard schema != nil || whole != nil || isScope else { return target.set(changes) }
        let stored = target.stored
        let edits = path.edits(
            schema?.edits(for: changes, in: path.values(in: stored)) ?? changes.map { ValueEdit($0.key, $0.value) })
        // Only the keys that change, because a copy of all values would take longer than the rest.
        var new = PropertyList.Dictionary()
        for edit in edits where !edit.rest.isEmpty { new[edit.key] = stored[edit.key] }
        do throws(EntryPath.Failure) { for edit in edits { try edit.apply(to: &new) } } catch {
            throw StoreFailure(.notAllowed(error.description), name.text)
        }
        guard let rules = whole?.rules else { return target.set(edits) }
        try rules.check(edits.map { ($0.key, new[$0.key]) }, over: stored, isExposed: target.isExposed, name.text)
        // The version is set in memory too, because later changes are checked against it before it is on the disk.
        let beginning = stored.isEmpty && !new.isEmpty ? rules.beginning : []
        target.set(edits + beginning.map { ValueEdit($0.key, $0.value) })
    }

    /// Reports values that could not be set.
    func report(_ refusal: StoreFailure, of keys: [String]) {
        for (key, reason) in refusal.reasons(of: keys) {
            store.shared.context.issues.post(Issue(.refused(key: key, reason: reason), domain: refusal.domain))
        }
    }

    func post(_ kind: Issue.Kind) { store.shared.context.issues.post(Issue(kind, domain: name.text)) }

    /// Returns a stream of the problems in all domains of the store that cannot be thrown to a caller. They are not
    /// printed to standard error while there is such a stream. If the reader is late by more than 1,000 elements, the
    /// oldest are dropped, and an issue says how many.
    public func issues() -> AsyncStream<Issue> { store.shared.context.issues.issues() }

    /// Writes pending changes, and returns when they are on the disk. Throws a `StoreFailure` if they cannot be
    /// written.
    public func flush() throws { try target.flush() }
}

/// What the settings of a domain and those of its scopes have in common.
final class LookupOptions: Sendable {
    let environment: [String: String]
    /// The layers to search, and the files and providers among them; nil for all layers.
    let searched: (order: [SearchedLayer], others: [OpenedLayer])?
    /// The observers of what the program reads.
    let reads = ReadObservers()
    private let names = Mutex<[DomainName]>([])
    private let count = Atomic(0)

    init(_ environment: [String: String], _ searched: (order: [SearchedLayer], others: [OpenedLayer])?) {
        (self.environment, self.searched) = (environment, searched)
    }

    /// The suites, sorted by descending priority.
    var suites: [DomainName] { names.withLock(\.self) }

    /// The number of times that the suites were changed.
    var changes: Int { count.load(ordering: .acquiring) }

    func changeSuites(_ change: (inout [DomainName]) -> Void) {
        names.withLock { change(&$0) }
        count.add(1, ordering: .releasing)
    }
}

extension Defaults {
    /// Returns the records of the values in force that satisfy a query. Throws if the query cannot be evaluated.
    ///
    ///     let query = try Query(where: "read == NO", over: ["messages"], sort: "-date")
    ///     for record in try defaults.records(matching: query) { … }
    public func records(matching query: Query) throws(Query.Predicate.Failure) -> [Query.Record] {
        var values = refreshed(\.values)
        values.removeAll(where: \.key.isHidden)
        return try PropertyList.dictionary(values).records(matching: query)
    }

    /// Returns the records that satisfy a query, first the current ones and then those after each change. A reader that
    /// is late receives only the newest records. The stream ends with an error if the query cannot be evaluated.
    public func changes(of query: Query) -> AsyncThrowingStream<[Query.Record], any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: [Query.Record].self, bufferingPolicy: .bufferingNewest(1))
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

/// All layers that have a value for a key, highest priority first.
public struct Explanation: Sendable, Hashable {
    /// A layer that has a value for the key.
    public struct Entry: Sendable, Hashable {
        /// The origin of the value.
        public let origin: Origin
        /// The line of the value in a file that the program was told to read; nil for other layers.
        public let line: Int?
        /// The value in the layer.
        public let value: PropertyList
        /// The rule of the schema that the value violates; nil for a valid value.
        public let fault: String?
        /// Whether programs that parse their command line do not start with the value. A `Defaults` ignores it, as any
        /// invalid value.
        public let isError: Bool
    }

    /// The domain.
    public let domain: DomainName
    /// The key.
    public let key: String
    /// All layers that have the key, highest priority first.
    public let entries: [Entry]

    /// The value in force and its origin, or nil if there is none.
    public var inForce: Entry? { entries.first { $0.fault == nil } }
}

extension Defaults {
    /// Returns the value of a key in each layer.
    public func explain(_ key: String) -> Explanation {
        let stack = refreshed(\.stack)
        return explanation(of: key, stack, stack.declaration(of: key))
    }

    private func explanation(
        of key: String, _ stack: LayerStack, _ declaration: SettingDeclaration?
    ) -> Explanation {
        let answers = stack.explanation(of: key, declaration).answers
        let lines = stack.lines(of: answers.map { ($0, [EntryPath.Component(key)], []) }, on: store.shared.system)
        let entries = zip(answers, lines).map { answer, line in
            let value = answer.value ?? answer.stored
            return Explanation.Entry(
                origin: answer.origin, line: line,
                value: masked(value, under: key, declaration),
                fault: answer.fault, isError: answer.isError)
        }
        return Explanation(domain: name, key: key, entries: entries)
    }

    /// Returns the value of a setting in each layer.
    public func explain<Value>(_ setting: Setting<Value>) -> Explanation {
        let stack = refreshed(\.stack)
        return explanation(of: setting.key, stack, stack.declaration(of: setting.key) ?? setting.declaration)
    }
}

extension Explanation: CustomStringConvertible {
    /// A line for each layer, highest priority first.
    public var description: String {
        entries.map { entry in
            let fault = entry.fault.map { " (\(entry.isError ? "error" : "ignored"): \($0))" } ?? ""
            let line = entry.line.map { ", line \($0)" } ?? ""
            return "\(entry.origin)\(line): \(entry.value)\(fault)"
        }.joined(separator: "\n")
    }
}

/// The values in force of a domain as of the last refresh, so that a look-up is one access to a dictionary.
struct ResolvedTable: Sendable {
    /// An invalid value that was skipped, and the reason.
    struct SkippedValue: Sendable, Hashable {
        let domain: DomainName
        let key: String
        let origin: Origin
        let reason: String
    }

    private(set) var stack = LayerStack([], nil)
    private(set) var found = ValuesInForce()
    /// The version of each layer at the last refresh.
    private var seen: [UInt64] = []
    private let domain: DomainName
    private let path: EntryPath
    private var epoch: UInt64 = 0
    private var tick: Instant?

    /// - Parameter path: The path of a scope.
    init(of domain: DomainName, in path: EntryPath = EntryPath()) { (self.domain, self.path) = (domain, path) }

    /// Returns the value in force of a key.
    func value(_ key: String) -> PropertyList? { found.entries[key] ?? stack.valueOfVariable(key)?.value }

    func isCurrent(_ epoch: UInt64, _ tick: Instant) -> Bool { self.epoch == epoch && self.tick == tick }

    /// The values in force.
    var values: PropertyList.Dictionary { found.entries }

    /// The layers with the values that were found, or nil if a layer has changed since the last refresh.
    var frozenStack: LayerStack? {
        let (frozen, versions) = stack.frozen()
        return zip(versions, seen).allSatisfy { $0 == nil || $0 == $1 } ? frozen : nil
    }

    /// Replaces the layers.
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
                SkippedValue(domain: domain, key: path.name(of: key), origin: answer.origin, reason: answer.fault ?? "")
            })
    }

    /// Updates the table. Returns the changes, or an empty array if `reportsChanges` is false.
    mutating func refresh(_ epoch: UInt64, _ tick: Instant, reportsChanges: Bool) -> [SettingsChange] {
        // A change made meanwhile starts another epoch, and so another refresh.
        self.epoch = epoch
        if self.tick != tick {
            self.tick = tick
            stack.checkFiles()
        }
        var changes: [ChangeLog.Change] = []
        var isKnown = true
        for (index, layer) in stack.layers.enumerated() {
            guard let open = layer.openDomain, open.hasChanged(since: seen[index]) else { continue }
            let (version, changed) = open.changes(since: seen[index])
            seen[index] = version
            changes += layer.relevant(changed ?? [])
            if changed == nil { isKnown = false }
        }
        guard isKnown else { return resolveAll(reportsChanges) }
        if path.components.isEmpty { return resolve(changes, reportsChanges) }
        // The log has the keys of the domain, and not those of the entries in the scope.
        return changes.isEmpty ? [] : resolveAll(reportsChanges, isOwn: changes.allSatisfy(\.isOwn))
    }

    private mutating func resolve(_ log: [ChangeLog.Change], _ reportsChanges: Bool) -> [SettingsChange] {
        let dependentKeys = stack.schema?.dependentKeys ?? [:]
        guard reportsChanges else {
            for change in log {
                let key = Name(change.key)
                stack.update(&found, key)
                for key in dependentKeys[key] ?? [] { stack.update(&found, key) }
            }
            return []
        }
        func withDependents(_ keys: Set<Name>) -> Set<Name> { keys.union(keys.flatMap { dependentKeys[$0] ?? [] }) }
        let own = withDependents(Set(log.lazy.filter(\.isOwn).map { Name($0.key) }))
        return withDependents(Set(log.map { Name($0.key) })).sorted().compactMap { key in
            let former = values[key.text]
            stack.update(&found, key)
            return change(key, former, isOwn: own.contains(key))
        }
    }

    private mutating func resolveAll(_ reportsChanges: Bool, isOwn: Bool = false) -> [SettingsChange] {
        let former = values
        found = stack.valuesInForce()
        guard reportsChanges else { return [] }
        let keys = Array(found.layers.keys) + former.lazy.map { Name($0.key) }.filter { found.layers[$0] == nil }
        return keys.sorted { $0.text.isBefore($1.text) }.compactMap { key in
            change(key, former[key.text], isOwn: isOwn)
        }
    }

    private func change(_ key: Name, _ former: PropertyList?, isOwn: Bool) -> SettingsChange? {
        let value = values[key.text]
        guard former != value, !key.text.isHidden else { return nil }
        return SettingsChange(
            key: key.text, oldValue: former, newValue: value, origin: found.origin(of: key), isOwn: isOwn,
            hasSecret: stack.hasSecret([former, value], under: key.text))
    }
}
