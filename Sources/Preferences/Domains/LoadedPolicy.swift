internal import Synchronization

/// The settings of the store, read when the first domain is written.
final class LoadedPolicy: Sendable {
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
