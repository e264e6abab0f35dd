internal import Platform
public import PropertyLists
internal import Synchronization

/// The settings of a domain as a program sees them: the first answer of all layers, from what the administrator forces
/// down to what the program registers.
///
/// Any number of instances of a domain agree. What is set is seen by all of the process at once and reaches the disk
/// within 100 milliseconds by itself, or at the end of the program; nobody need call `synchronize()` for that.
public final class Defaults: Sendable {
    /// The domain whose settings these are.
    public let name: DomainName
    /// Where the domain is kept.
    public let store: Store

    /// What is written when a value is set.
    let target: OpenDomain
    let table: Mutex<ResolvedTable>
    let observation = ObserverBoard()
    let watched = Mutex<[WatchedDomain]>([])
    let suites = Mutex<[DomainName]>([])
    let observedSettings = Mutex(WeaklyObserved())
    private let environment: [String: String]
    /// The schema by which the domain is looked up; nothing as long as nobody has looked for it.
    private let prepared = Mutex<Prepared?>(nil)
    /// Held by whoever says which layers there are: one at a time.
    private let preparing = Mutex(())

    private struct Prepared: Sendable { let schema: SchemaInForce? }

    /// Opens a domain.
    ///
    /// - Parameters:
    ///   - name: The domain's name.
    ///   - store: Where it is kept.
    ///   - environment: The variables that hold values, each with the key that its value is for.
    ///   - factory: The values of the layer `factory`, for all instances of the domain.
    public init(
        _ name: DomainName, in store: Store = .native, environment: [String: String] = [:],
        factory: PropertyList.Dictionary = [:]
    ) {
        self.name = name
        self.store = store
        let process = store.process
        target = process.target(of: name)
        table = Mutex(ResolvedTable(of: name))
        self.environment = environment
        if !factory.isEmpty { process.volatile(name, .factory).replaceAll(factory) }
    }

    deinit { stopObserving() }

    /// The settings of the running program: the domain that has the name of its file.
    public static let standard = Defaults(DomainName(encoding: Machine.ofThisProcess().program))

    // MARK: Looking up

    /// The value in force for a key, whatever layer it comes from.
    func value(_ key: String) -> PropertyList? { refreshed { $0.values[key] } }

    /// The schema that is in force, which the first look-up looks for.
    var schema: SchemaInForce? {
        if let prepared = prepared.withLock(\.self) { return prepared.schema }
        return preparing.withLock { _ in
            if let prepared = prepared.withLock(\.self) { return prepared.schema }
            let schema = store.process.schemas[name]
            target.state.withLock { $0.rules = schema?.rules }
            replaceSources(schema)
            // Only now: whoever finds it prepared looks into the layers at once.
            prepared.withLock { $0 = Prepared(schema: schema) }
            return schema
        }
    }

    private func replaceSources(_ schema: SchemaInForce?) {
        let names = suites.withLock(\.self)
        let sources = store.process.sources(of: name, suites: names, environment: environment, schema)
        table.withLock { $0.replaceSources(sources, schema) }
    }

    /// The layers that a look-up asks, as they were when they were last looked at.
    var sources: [ResolvedTable.Source] {
        _ = schema
        return table.withLock(\.sources)
    }

    /// Where the value in force for a key comes from.
    public func origin(forKey key: String) -> Origin? {
        refreshed { table in table[ExactKey(key)].map { table.sources[$0.source].origin } }
    }

    /// Runs `body` with a table that is as new as it should be.
    func refreshed<Result: Sendable>(_ body: (borrowing ResolvedTable) -> Result) -> Result {
        let (epoch, tick) = (store.process.signals.epoch.load(ordering: .acquiring), store.process.machine.clock.tick)
        let result = table.withLock { table -> Result? in
            table.isCurrent(epoch, tick) ? body(table) : nil
        }
        if let result { return result }
        refresh(epoch, tick)
        return table.withLock { body($0) }
    }

    /// Looks at all layers that may have changed, and tells observers what that changes.
    func refresh(_ epoch: UInt64, _ tick: Instant) {
        _ = schema
        let (isChanged, passedOver) = table.withLock { table in
            // Under the lock, under which observers come too: whoever is not here yet is told of what the next refresh
            // finds.
            let changes = table.refresh(epoch, tick, notes: observation.hasObservers)
            if !changes.isEmpty { observation.note(changes, of: name) }
            return (!changes.isEmpty, table.takePassedOver())
        }
        if isChanged { observation.tell() }
        for entry in store.process.signals.news(of: passedOver).sorted(by: { $0.key.isBefore($1.key) }) {
            post(.passedOver(key: entry.key, origin: entry.origin, reason: entry.reason))
        }
    }

    /// Takes other suites, the most important first.
    func setSuites(_ change: (inout [DomainName]) -> Void) {
        let schema = schema
        preparing.withLock { _ in
            suites.withLock { suites in change(&suites) }
            replaceSources(schema)
        }
        restartObserving()
    }

    // MARK: Changing

    /// Sets values in the user's layer, or removes those that are nil.
    func set(_ changes: [(key: String, value: PropertyList?)]) {
        do throws(StoreFailure) {
            try setChecked(changes)
        } catch {
            for (key, reason) in error.reasons(of: changes.map(\.key)) { post(.refused(key: key, reason: reason)) }
        }
    }

    /// The same, all or none. What a schema or the store itself does not allow is thrown.
    func setChecked(_ changes: [(key: String, value: PropertyList?)]) throws(StoreFailure) {
        for (key, value) in changes {
            if value != nil, !key.isFitForWriting { throw StoreFailure(.badKey(key), name.text) }
            if key.isHidden { throw StoreFailure(.ownKey(key), name.text) }
        }
        target.look()
        guard let schema else { return target.set(changes) }
        let stored = target.stored
        try schema.rules.check(changes, over: stored, isExposed: target.isExposed, name.text)
        // The next set is held against the version that this one begins, be it on the disk by then or not.
        let beginning = stored.isEmpty && changes.contains { $0.value != nil } ? schema.rules.beginning : []
        target.set(schema.withFormerKeys(changes, in: stored) + beginning)
    }

    func post(_ kind: Issue.Kind) { store.process.signals.issues.post(Issue(kind, domain: name.text)) }

    /// What went wrong where no caller could be told, from now on. An issue that nobody listens for is a line on
    /// standard error.
    public var issues: AsyncStream<Issue> { store.process.signals.issues.issues() }

    /// Writes what was set. Once this has returned, it is on the disk.
    public func flush() throws { try target.flush() }
}
