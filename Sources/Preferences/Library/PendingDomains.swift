internal import Synchronization

/// The domains of a store with changes that are to be written, or kept, before the program ends.
///
/// It holds them, so that nothing that was set is let go unwritten.
final class PendingDomains: Sendable {
    private let machine: Machine
    private let state = Mutex(State())

    private struct State: Sendable {
        var domains: [ObjectIdentifier: OpenDomain] = [:]
        var isRegistered = false
    }

    init(_ machine: Machine) { self.machine = machine }

    func register(_ domain: OpenDomain) {
        let isFirst = state.withLock { state in
            state.domains[ObjectIdentifier(domain)] = domain
            _ = domain.setAwaitedAtEnd(true)
            defer { state.isRegistered = true }
            return !state.isRegistered
        }
        if isFirst { machine.atEnd { [self] in flushAll() } }
    }

    /// Forgets a domain if its changes are written. Something may have been set since its writer last looked.
    func forget(_ domain: OpenDomain) {
        state.withLock { state in
            if domain.setAwaitedAtEnd(false) { state.domains[ObjectIdentifier(domain)] = nil }
        }
    }

    func flushAll() {
        for domain in state.withLock({ Array($0.domains.values) }) {
            _ = try? domain.flush()
            domain.keepVersion()
        }
    }
}
