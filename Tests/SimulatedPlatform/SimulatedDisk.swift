internal import Platform
internal import Synchronization

/// A simulated disk, and the processes that use it.
///
/// It distinguishes changes that are on the disk from those that are only visible, of which `crash` drops any. A copy
/// continues from the same state, so that a test can try several crashes.
package final class SimulatedDisk: Sendable {
    package let clock: SimulatedClock
    private let state: Mutex<State>

    struct State: Sendable {
        var disk: DiskState
        var processes: [Int: ProcessState] = [:]
        var openings: [Int: Opening] = [:]
        var watches: [Int: Watch] = [:]
        var last = 0

        mutating func nextNumber() -> Int {
            last += 1
            return last
        }
    }

    /// A file that a process has open.
    struct Opening: Sendable {
        let node: NodeID
        let process: Int
        let isWritable: Bool
        var lock: LockMode?
    }

    struct ProcessState: Sendable {
        let user: Identity
        var plan = FaultPlan()
        var isDead = false
        var operations: [SimulatedFileSystem.Operation] = []
    }

    /// A watch of a folder.
    struct Watch: Sendable {
        let path: FilePath
        var folder: NodeID?
        let receive: @Sendable ([FolderEvent]) -> Void
    }

    package init(seed: UInt64 = 0, clock: SimulatedClock = SimulatedClock()) {
        self.clock = clock
        state = Mutex(State(disk: DiskState(seed: seed)))
    }

    private init(_ disk: DiskState, _ clock: SimulatedClock) {
        self.clock = clock
        state = Mutex(State(disk: disk))
    }

    /// Creates a process on this disk.
    ///
    /// - Parameter groups: The supplementary groups of the user.
    package func process(
        user: UInt32 = 0, groups: Set<UInt32> = [], _ plan: FaultPlan = FaultPlan()
    ) -> SimulatedFileSystem {
        let number = state.withLock { state in
            let number = state.nextNumber()
            state.processes[number] = ProcessState(user: Identity(user: user, groups: groups), plan: plan)
            return number
        }
        return SimulatedFileSystem(self, process: number)
    }

    /// Returns a copy of the disk without processes.
    package func copy() -> SimulatedDisk { SimulatedDisk(state.withLock(\.disk), clock) }

    /// The limit of bytes in all files.
    package var capacity: Int {
        get { state.withLock(\.disk.capacity) }
        set { state.withLock { $0.disk.capacity = newValue } }
    }

    package var used: Int { state.withLock(\.disk.used) }

    package var isReadOnly: Bool {
        get { state.withLock(\.disk.isReadOnly) }
        set { state.withLock { $0.disk.isReadOnly = newValue } }
    }

    package var limitations: Set<Limitation> {
        get { state.withLock(\.disk.limitations) }
        set { state.withLock { $0.disk.limitations = newValue } }
    }

    /// Writes all visible changes to the disk.
    package func synchronize() { state.withLock { $0.disk.synchronizeAll() } }

    /// The unsynchronized changes that survive a loss of power.
    package enum Survivors: Hashable, Sendable {
        case none
        case all
        /// A random subset, determined by the number.
        case some(UInt64)
    }

    /// Simulates a loss of power. It ends all processes and watches.
    package func crash(_ survivors: Survivors) {
        let seed: UInt64 = if case .some(let seed) = survivors { seed } else { 0 }
        var randomness = Randomness(seed: seed)
        state.withLock { state in
            for number in state.processes.keys { state.processes[number]?.isDead = true }
            state.openings = [:]
            state.watches = [:]
            state.disk.crash(
                keeping: { randomness in
                    switch survivors {
                    case .none: false
                    case .all: true
                    case .some: Bool.random(using: &randomness)
                    }
                }, &randomness)
        }
    }

    // MARK: For the parts of the simulation

    /// Changes the state, and then calls the watches.
    func withState<Result: Sendable>(_ body: (inout sending State) -> Result) -> Result {
        let (result, calls) = state.withLock { state in
            state.disk.setTime(clock.wall)
            let result = body(&state)
            return (result, state.takeCalls())
        }
        for (receive, events) in calls { receive(events) }
        return result
    }
}

extension SimulatedDisk.State {
    /// Removes and returns the pending events by watch. They are delivered after the lock is released.
    fileprivate mutating func takeCalls() -> [(@Sendable ([FolderEvent]) -> Void, [FolderEvent])] {
        defer { disk.events = [] }
        return watches.keys.sorted().compactMap { number in
            guard var watch = watches[number] else { return nil }
            let folder = watch.find(in: disk)
            var events = disk.events.filter { $0.folder == folder }.map { FolderEvent.change($0.change, $0.name) }
            if folder != watch.folder { events = [.anything] }
            watch.folder = folder
            watches[number] = watch
            return events.isEmpty ? nil : (watch.receive, events)
        }
    }
}

extension SimulatedDisk.Watch {
    /// The folder at the path.
    func find(in disk: DiskState) -> NodeID? {
        guard let place = try? disk.locate(path, followingLink: true, as: Identity(user: 0)), let node = place.node,
            disk[node].kind == .folder
        else {
            return nil
        }
        return node
    }
}
