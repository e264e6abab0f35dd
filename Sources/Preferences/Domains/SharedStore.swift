internal import Platform
internal import PropertyLists
internal import Synchronization

/// The state of a store that all of its instances in this process share.
package final class SharedStore: Sendable {
    package let kind: Store.Kind
    package let machine: Machine
    /// The places of the files, nil for a store in memory, or an error if they cannot be determined.
    package let places: Result<StorePlaces?, StoreFailure>
    let signals: StoreContext
    let schemas: SchemaCache
    let namedDomains = NamedDomains()
    private let open = Mutex<[Key: Held]>([:])

    private enum Key: Hashable { case file(DomainFile), volatile(DomainName, Layer) }

    /// A domain with a file is released with its last user. A domain that is only in memory is kept.
    private enum Held {
        case always(OpenDomain)
        case asLongAsUsed(Weak)
    }

    private struct Weak { weak var domain: OpenDomain? }

    init(_ kind: Store.Kind, on machine: Machine) {
        self.kind = kind
        self.machine = machine
        places = Result { () throws(StoreFailure) in try StorePlaces(kind, on: machine) }
        signals = StoreContext(
            IssueReporter(machine.terminal, machine.program), PendingDomains(machine),
            LoadedPolicy(try? places.get(), machine))
        schemas = SchemaCache(kind, on: machine) { [issues = signals.issues] schema, domain in
            issues.post(
                Defaults.Issue(.invalidSchema(file: schema.place, reason: schema.faults[0]), domain: domain.text))
        }
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
    /// - Parameter failure: The reason there is no file, although there should be one.
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
