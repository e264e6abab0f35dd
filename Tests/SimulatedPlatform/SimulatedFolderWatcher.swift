package import Platform
internal import Synchronization

/// A watcher whose delays and losses of events a test controls.
package final class SimulatedFolderWatcher: FolderWatcher {
    private let disk: SimulatedDisk
    private let state: Mutex<State>

    fileprivate struct State: Sendable {
        var manner = Manner()
        var randomness: Randomness
        var watches: [Int: SimulatedWatch] = [:]
    }

    /// The delivery of events.
    package struct Manner: Hashable, Sendable {
        package enum Delivery: Hashable, Sendable {
            /// Events are delivered before the operation that caused them returns.
            case atOnce
            /// Events are delivered after a delay.
            case after(Duration)
            /// Events are delivered when the test calls `deliver`.
            case onRequest
        }

        package var delivery = Delivery.atOnce
        /// Whether consecutive equal events are merged, like those of the kernel.
        package var coalesces = true
        /// The limit of pending events. Beyond it, a single `anything` replaces them.
        package var queueLength = 16_384
        /// The percentage of events that are lost, like those of changes by another machine.
        package var percentLost = 0

        package init() {}
    }

    package init(_ disk: SimulatedDisk, seed: UInt64 = 0) {
        self.disk = disk
        state = Mutex(State(randomness: Randomness(seed: seed)))
    }

    package var manner: Manner {
        get { state.withLock(\.manner) }
        set { state.withLock { $0.manner = newValue } }
    }

    package func watch(
        _ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) -> any FolderWatch {
        let watch = SimulatedWatch(disk, receive)
        let number = disk.addWatch(folder) { [weak self, weak watch] events in
            guard let self, let watch else { return }
            take(events, for: watch)
        }
        watch.begin(number)
        state.withLock { $0.watches[number] = watch }
        return SimulatedWatchHandle(watch) { [weak self] in
            self?.state.withLock { _ = $0.watches.removeValue(forKey: number) }
        }
    }

    /// Delivers all pending events.
    package func deliver() {
        for watch in state.withLock({ state in state.watches.keys.sorted().compactMap { state.watches[$0] } }) {
            watch.deliver()
        }
    }

    private func take(_ events: [FolderEvent], for watch: SimulatedWatch) {
        let (manner, kept) = state.withLock { state in (state.manner, state.kept(of: events)) }
        watch.add(kept, manner)
        switch manner.delivery {
        case .atOnce: watch.deliver()
        case .onRequest: break
        case .after(let delay):
            let clock = disk.clock
            _ = clock.wake(at: clock.now.advanced(by: delay)) { [weak watch] in watch?.deliver() }
        }
    }
}

extension SimulatedFolderWatcher.State {
    fileprivate mutating func kept(of events: [FolderEvent]) -> [FolderEvent] {
        guard manner.percentLost > 0 else { return events }
        return events.filter { _ in Int.random(in: 0..<100, using: &randomness) >= manner.percentLost }
    }
}

/// A watch and its pending events.
private final class SimulatedWatch: Sendable {
    private let disk: SimulatedDisk
    private let receive: @Sendable (FolderEvent) -> Void
    private let state = Mutex(State())

    private struct State: Sendable {
        var number: Int?
        var waiting: [FolderEvent] = []
    }

    init(_ disk: SimulatedDisk, _ receive: @escaping @Sendable (FolderEvent) -> Void) {
        self.disk = disk
        self.receive = receive
    }

    func begin(_ number: Int) { state.withLock { $0.number = number } }

    func end() {
        let number = state.withLock { state in
            state.waiting = []
            return state.number.take()
        }
        if let number { disk.removeWatch(number) }
    }

    func add(_ events: [FolderEvent], _ manner: SimulatedFolderWatcher.Manner) {
        state.withLock { state in
            for event in events where !manner.coalesces || state.waiting.last != event { state.waiting.append(event) }
            if state.waiting.count > manner.queueLength { state.waiting = [.anything] }
        }
    }

    func deliver() {
        while let event = state.withLock({ $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }) { receive(event) }
    }
}

/// The caller's reference to a watch, which ends when this is released.
private final class SimulatedWatchHandle: FolderWatch {
    private let watch: SimulatedWatch
    private let forget: @Sendable () -> Void

    init(_ watch: SimulatedWatch, forget: @escaping @Sendable () -> Void) {
        self.watch = watch
        self.forget = forget
    }

    var method: WatchMethod { .notification }

    func cancel() {
        watch.end()
        forget()
    }

    deinit { cancel() }
}

extension SimulatedDisk {
    fileprivate func addWatch(_ path: FilePath, _ receive: @escaping @Sendable ([FolderEvent]) -> Void) -> Int {
        withState { state in
            let number = state.nextNumber()
            var watch = Watch(path: path, folder: nil, receive: receive)
            watch.folder = watch.find(in: state.disk)
            state.watches[number] = watch
            return number
        }
    }

    fileprivate func removeWatch(_ number: Int) { withState { _ = $0.watches.removeValue(forKey: number) } }
}
