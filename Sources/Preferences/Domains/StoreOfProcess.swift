internal import Platform
internal import PropertyLists
internal import Synchronization

/// A store as one process uses it: what all instances that name a domain of it share.
package final class StoreOfProcess: Sendable {
    package let kind: Store.Kind
    package let machine: Machine
    /// Where the files lie; nil for a store in memory. An error where nobody can say.
    package let places: Result<StorePlaces?, StoreFailure>
    let signals: StoreSignals
    let schemas: DomainSchemas
    let namedDomains = NamedDomains()
    private let open = Mutex<[Key: Held]>([:])

    private enum Key: Hashable { case file(DomainFile), volatile(DomainName, Layer) }

    /// Files are let go with the last who uses them; what lives in memory only stays.
    private enum Held {
        case always(OpenDomain)
        case asLongAsUsed(Weak)
    }

    private struct Weak { weak var domain: OpenDomain? }

    init(_ kind: Store.Kind, on machine: Machine) {
        self.kind = kind
        self.machine = machine
        places = Result { () throws(StoreFailure) in try StorePlaces(kind, on: machine) }
        signals = StoreSignals(
            IssueBoard(machine.terminal, machine.program), PendingDomains(machine),
            PolicyInForce((try? places.get()) ?? nil, machine))
        schemas = DomainSchemas(kind, machine, signals.issues)
    }

    /// Writes all that was set and is not on the disk yet, as the end of the program does.
    package func flushAll() { signals.pending.flushAll() }

    /// The values of a file, shared by all of the process.
    func domain(of file: DomainFile, mustBeTrusted: Bool = false) -> OpenDomain {
        open.withLock { open in
            if case .asLongAsUsed(let held)? = open[.file(file)], let domain = held.domain { return domain }
            let domain = OpenDomain(.file(file, mustBeTrusted: mustBeTrusted), on: machine, signals)
            open = open.filter {
                if case .asLongAsUsed(let held) = $0.value { held.domain != nil } else { true }
            }
            open[.file(file)] = .asLongAsUsed(Weak(domain: domain))
            return domain
        }
    }

    /// The values of a layer that has no file.
    ///
    /// - Parameter failure: Why there is no file though there should be one.
    func volatile(
        _ domain: DomainName, _ layer: Layer, initially values: PropertyList.Dictionary = [:],
        failure: StoreFailure? = nil
    ) -> OpenDomain {
        let key = Key.volatile(domain, layer)
        return open.withLock { open in
            if case .always(let domain)? = open[key] { return domain }
            let domain = OpenDomain(.memory(values, failure: failure), on: machine, signals)
            open[key] = .always(domain)
            return domain
        }
    }
}

/// What all open domains of a store tell to.
final class StoreSignals: Sendable {
    /// Grows with every change that this process makes or sees.
    let epoch = Atomic<UInt64>(1)
    let issues: IssueBoard
    let pending: PendingDomains
    let policy: PolicyInForce

    init(_ issues: IssueBoard, _ pending: PendingDomains, _ policy: PolicyInForce) {
        self.issues = issues
        self.pending = pending
        self.policy = policy
    }

    private let told = Mutex<Set<ResolvedTable.PassedOver>>([])

    /// Those that nobody was told of yet: each is told of once, however many instances come across it.
    func news(of passedOver: Set<ResolvedTable.PassedOver>) -> Set<ResolvedTable.PassedOver> {
        if passedOver.isEmpty { return [] }
        return told.withLock { told in
            defer { told.formUnion(passedOver) }
            return passedOver.subtracting(told)
        }
    }

    func noteChange() { epoch.add(1, ordering: .releasing) }
}

/// What the user has set of the store, read when the first domain is written.
final class PolicyInForce: Sendable {
    private let places: StorePlaces?
    private let machine: Machine
    private let policy = Mutex<StorePolicy?>(nil)

    init(_ places: StorePlaces?, _ machine: Machine) {
        self.places = places
        self.machine = machine
    }

    var value: StorePolicy {
        policy.withLock { policy in
            if let policy { return policy }
            let read = places.map { StorePolicy(in: $0, on: machine) } ?? StorePolicy()
            policy = read
            return read
        }
    }
}
