internal import Synchronization

/// The domains with changes that must be written or kept before the program ends.
///
/// They are retained, so that pending changes are not lost.
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

    /// Forgets a domain if its changes are written. Further changes may have been made since the writer checked.
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
