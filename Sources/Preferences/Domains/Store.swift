package import Platform
internal import PropertyLists
internal import Synchronization

/// A place where domains are stored. All values for the same place represent the same store.
public struct Store: Sendable {
    package let shared: SharedStore

    package init(_ shared: SharedStore) { self.shared = shared }

    /// Creates a store that uses these services of the system, which a test can simulate.
    package init(_ kind: Kind, on system: SystemServices) { shared = SharedStore(kind, on: system) }

    package enum Kind: Hashable, Sendable {
        case native, foundation, gnustep, memory
        case folder(FilePath)
    }

    /// The user's own store, `$XDG_CONFIG_HOME/prefs`, with the layers of the administrator.
    public static let native = Store(.native, on: .ofThisProcess())

    /// The files of `UserDefaults` in programs that use Swift's Foundation on Linux. These programs take no lock and
    /// can overwrite concurrent changes.
    public static let foundation = Store(.foundation, on: .ofThisProcess())

    /// The files of the defaults of GNUstep programs. This store is read-only.
    public static let gnustep = Store(.gnustep, on: .ofThisProcess())

    /// Returns a store in a folder, without the administrator's layers, or nil if the path is invalid.
    public static func folder(_ path: String) -> Store? { folders.store(path) }

    /// Returns a new store in memory, for tests and experiments.
    public static func memory() -> Store { Store(.memory, on: .ofThisProcess()) }

    private static let folders = FolderStores()
}

/// The state of a store that all of its instances in this process share.
package final class SharedStore: Sendable {
    package let kind: Store.Kind
    package let system: SystemServices
    /// The places of the files, nil for a store in memory, or an error if they cannot be determined.
    package let places: Result<StorePlaces?, StoreFailure>
    let context: StoreContext
    let schemas: SchemaCache
    let namedDomains = NamedDomains()
    private let open = Mutex<[Key: Held]>([:])

    private enum Key: Hashable { case file(DomainFile), volatile(DomainName, Layer) }

    /// A domain with a file is released with its last user. A domain that is only in memory is never released.
    private enum Held {
        case always(OpenDomain)
        case asLongAsUsed(Weak)
    }

    private struct Weak { weak var domain: OpenDomain? }

    init(_ kind: Store.Kind, on system: SystemServices) {
        self.kind = kind
        self.system = system
        places = Result { () throws(StoreFailure) in try StorePlaces(kind, on: system) }
        context = StoreContext(
            IssueReporter(system.terminal, system.program), PendingDomains(system), try? places.get())
        schemas = SchemaCache(kind, in: (try? places.get()) ?? nil, on: system) {
            [issues = context.issues] schema, domain in
            issues.post(
                Defaults.Issue(.invalidSchema(file: schema.place, reason: schema.faults[0]), domain: domain.text))
        }
    }

    /// Writes all pending changes, as the end of the program does.
    package func flushAll() { context.pending.flushAll() }

    /// Returns the values of a file, which the whole process shares.
    func domain(of file: DomainFile, mustBeTrusted: Bool = false) -> OpenDomain {
        var file = file
        file.inexactIntegers = .text
        return open.withLock { open in
            if case .asLongAsUsed(let held)? = open[.file(file)], let domain = held.domain { return domain }
            let domain = OpenDomain(.file(file, mustBeTrusted: mustBeTrusted), on: system, context)
            open = open.filter {
                if case .asLongAsUsed(let held) = $0.value { held.domain != nil } else { true }
            }
            open[.file(file)] = .asLongAsUsed(Weak(domain: domain))
            return domain
        }
    }

    /// Returns the values of a layer that has no file.
    ///
    /// - Parameter failure: The reason there is no file, although there should be one.
    func volatile(
        _ domain: DomainName, _ layer: Layer, initially values: PropertyList.Dictionary = [:],
        failure: StoreFailure? = nil
    ) -> OpenDomain {
        let key = Key.volatile(domain, layer)
        return open.withLock { open in
            if case .always(let domain)? = open[key] { return domain }
            let domain = OpenDomain(.memory(values, failure: failure), on: system, context)
            open[key] = .always(domain)
            return domain
        }
    }
}

extension SharedStore {
    /// The user's own values of a domain.
    func target(of name: DomainName) -> OpenDomain {
        switch places {
        case .success(let places?):
            return domain(of: places.fileOfUser(name))
        case .success(nil): return volatile(name, .user)
        case .failure(let failure): return volatile(name, .user, failure: failure)
        }
    }

    /// Returns the layers of a look-up in a domain.
    func layers(
        of name: DomainName, suites: [DomainName] = [], environment: [String: String] = [:], _ schema: EffectiveSchema?,
        isForScope: Bool = false
    ) -> LayerStack {
        var added = [
            LayerSource(.default, volatile(name, .default)), LayerSource(.registered, volatile(name, .registered)),
        ]
        if schema?.program == nil { added.append(LayerSource(.arguments, arguments)) }
        let stack = LayerStack(
            storedLayers(of: name, suites: suites), adding: added, schema, on: system, mapping: environment,
            isForScope: isForScope)
        // A program that parses its command line has read the file then.
        guard let schema, schema.program == nil, schema.configuration != nil else { return stack }
        stack.checkFiles()
        return (try? stack.withConfiguration(on: system) { LayerSource(.file, domain(of: $0)) }) ?? stack
    }

    /// Opens a file that a program reads as one of its layers. Throws if it cannot be read.
    func configuration(_ file: DomainFile) throws(StoreFailure) -> OpenDomain {
        let domain = domain(of: file)
        if let failure = domain.snapshot().failure { throw failure }
        // The absence of a file is not noticed as a change.
        if domain.state.withLock(\.stored.status) == nil { _ = try file.contents(on: system) }
        return domain
    }

    private func storedLayers(of name: DomainName, suites: [DomainName]) -> [LayerSource] {
        let list = Result { () throws(StoreFailure) -> [(layer: Layer, file: DomainFile)]? in
            guard let places = try places.get() else { return nil }
            // A program's file is the only layer with stored values.
            let file = places.fileOfUser(name)
            return file.isAdopted ? [(Layer.user, file)] : try places.searchList(name, suites: suites)
        }
        switch list {
        case .success(let files?):
            return files.map { layer, file in
                LayerSource(
                    layer, named: layer == .suite ? file.name : nil,
                    domain(of: file, mustBeTrusted: layer == .forced))
            }
        case .success(nil), .failure:
            return Layer.allCases.filter(\.isInMemoryStore).flatMap { layer in
                layer.domains(for: name, suites).map { name in
                    LayerSource(layer, named: layer == .suite ? name.text : nil, target(of: name))
                }
            }
        }
    }

    /// The values on this process's command line. A store in memory has none, so that tests do not depend on how they
    /// are run.
    var arguments: OpenDomain {
        let values = kind == .memory ? [:] : ArgumentDomain.values(in: Array(system.environment.arguments.dropFirst()))
        return volatile(.global, .arguments, initially: values)
    }
}

/// The state that all open domains of a store share.
final class StoreContext: Sendable {
    /// A counter of the changes that this process makes or observes.
    let epoch = Atomic<UInt64>(1)
    let issues: IssueReporter
    let pending: PendingDomains
    private let places: StorePlaces?
    /// The settings of the store.
    var policy: StorePolicy { places?.policy ?? StorePolicy() }

    init(_ issues: IssueReporter, _ pending: PendingDomains, _ places: StorePlaces?) {
        self.issues = issues
        self.pending = pending
        self.places = places
    }

    private let reported = Mutex<Set<ResolvedTable.SkippedValue>>([])

    /// Returns the values that were not reported yet. Each is reported once, however many instances encounter it.
    func unreported(among skipped: Set<ResolvedTable.SkippedValue>) -> Set<ResolvedTable.SkippedValue> {
        if skipped.isEmpty { return [] }
        return reported.withLock { reported in
            defer { reported.formUnion(skipped) }
            return skipped.subtracting(reported)
        }
    }

    var hasReported: Bool { reported.withLock { !$0.isEmpty } }

    /// Reports the values of changed keys of a file again if they are invalid.
    ///
    /// - Parameter changes: The changes, or nil if any key may have changed.
    func forgetReported(_ changes: [ChangeLog.Change]?, in file: String) {
        reported.withLock { reported in
            let keys = changes.map { Set($0.map { Name($0.key) }) }
            reported = reported.filter { value in
                guard value.origin.file == file, let keys else { return value.origin.file != file }
                // That of a setting in a dictionary is a path.
                let first = (try? EntryPath(parsing: value.key))?.components.first?.name
                return !keys.contains(Name(value.key)) && !(first.map(keys.contains) ?? false)
            }
        }
    }

    func publishChange() { epoch.add(1, ordering: .releasing) }
}

/// The folder stores of this process. All users of a folder share one store.
final class FolderStores: Sendable {
    private let stores = Mutex<[FilePath: Store]>([:])

    func store(_ path: String) -> Store? {
        guard let given = FilePath(path) else { return nil }
        let system = SystemServices.ofThisProcess()
        let path = (system.workingFolder ?? ".").resolving(given).normalized
        return stores.withLock { stores in
            if let store = stores[path] { return store }
            let store = Store(.folder(path), on: system)
            stores[path] = store
            return store
        }
    }
}

/// Volatile domains that are not a layer. They are only accessed by name.
final class NamedDomains: Sendable {
    private let domains = Mutex<[Name: PropertyList.Dictionary]>([:])

    var names: [String] { domains.withLock { $0.keys.sorted().map(\.text) } }

    subscript(name: String) -> PropertyList.Dictionary? {
        get { domains.withLock { $0[Name(name)] } }
        set { domains.withLock { $0[Name(name)] = newValue } }
    }
}
