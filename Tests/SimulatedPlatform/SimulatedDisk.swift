internal import Platform
internal import Synchronization

/// A disk that tests make up, and the processes that use it.
///
/// It knows what is on the disk for sure and what is only seen: `crash` drops any of the rest. A copy goes on from the
/// same moment, so that many ways to crash can be tried of one.
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

    /// Somebody who hears of changes in a folder.
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

    /// A new process on this disk.
    ///
    /// - Parameter groups: Those that the user is in beside the own one.
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

    /// The same disk, to go on otherwise. It has no processes.
    package func copy() -> SimulatedDisk { SimulatedDisk(state.withLock(\.disk), clock) }

    /// How many bytes the files may have together.
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

    /// Puts on the disk all that is only seen.
    package func synchronize() { state.withLock { $0.disk.synchronizeAll() } }

    /// Which of the changes that nobody synchronized survive a loss of power.
    package enum Survivors: Hashable, Sendable {
        case none
        case all
        /// Any, each by the fall of a coin that follows from the number.
        case some(UInt64)
    }

    /// Loses power. All processes are dead, all watches gone.
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

    /// Changes the state, and then tells who watches.
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
    /// What is to be told to whom, once the lock is free.
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
    /// The folder that the path stands for now.
    func find(in disk: DiskState) -> NodeID? {
        guard let place = try? disk.locate(path, followingLink: true, as: Identity(user: 0)), let node = place.node,
            disk[node].kind == .folder
        else {
            return nil
        }
        return node
    }
}
