package import Platform
internal import Synchronization

/// A process's view of a simulated disk: its permissions, its open files and its faults.
package final class SimulatedFileSystem: FileSystem {
    package let disk: SimulatedDisk
    let number: Int
    private let busy = Mutex<(@Sendable () -> Void)?>(nil)

    /// An operation that the process requested.
    package struct Operation: Hashable, Sendable {
        package let operation: SystemFailure.Operation
        package let path: FilePath?
    }

    init(_ disk: SimulatedDisk, process number: Int) {
        self.disk = disk
        self.number = number
    }

    /// The operations of the process, in order. A fault plan counts them from 1.
    package var operations: [Operation] { process(\.operations) }

    package var isDead: Bool { process(\.isDead) }

    /// The number of operations into which a fault was injected.
    package var hits: Int { process(\.plan.hits) }

    /// Replaces the faults. Operations are counted from now on.
    package func setFaults(_ plan: FaultPlan) { disk.withState { [number] in $0.processes[number]?.plan = plan } }

    /// Ends the process. Its files are closed, its locks are released, and all its later operations fail.
    package func kill() { disk.withState { [number] in $0.kill(number) } }

    /// Sets an action that simulates other processes during a wait for a lock. Without it, the wait only takes time.
    package func whenBusy(_ action: (@Sendable () -> Void)?) { busy.withLock { $0 = action } }

    func otherProcessesRun() { busy.withLock(\.self)?() }

    private func process<Value: Sendable>(_ value: @Sendable (SimulatedDisk.ProcessState) -> Value) -> Value {
        disk.withState { [number] state in
            value(state.processes[number] ?? SimulatedDisk.ProcessState(user: Identity(user: 0)))
        }
    }
}

extension SimulatedFileSystem {
    package func open(_ path: FilePath, _ access: FileAccess) throws(SystemFailure) -> (any OpenFile)? {
        let number = try perform(.open, path) { state, user throws(ErrorCode) -> Int? in
            guard let node = try state.disk.openOrNil(path, access, as: user) else { return nil }
            state.disk.opened(node)
            let opening = state.nextNumber()
            state.openings[opening] = SimulatedDisk.Opening(
                node: node, process: self.number, isWritable: ![.reading, .readingNoFollow].contains(access), lock: nil)
            return opening
        }
        return number.map { SimulatedFile(self, path, opening: $0) }
    }

    package func unpredictableNumber() -> UInt64 { disk.withState { $0.disk.randomness.next() } }

    package func rename(_ path: FilePath, to other: FilePath, _ manner: RenameMode) throws(SystemFailure) {
        try perform(manner == .exchanging ? .exchange : .rename, path) { state, user throws(ErrorCode) in
            try state.disk.rename(path, to: other, manner, as: user)
        }
    }

    package func link(_ path: FilePath, to other: FilePath) throws(SystemFailure) {
        try perform(.link, path) { state, user throws(ErrorCode) in try state.disk.link(path, to: other, as: user) }
    }

    @discardableResult
    package func remove(_ path: FilePath) throws(SystemFailure) -> Bool {
        try perform(.remove, path) { state, user throws(ErrorCode) in
            try absentIsNil { () throws(ErrorCode) in try state.disk.remove(path, as: user) } ?? false
        }
    }

    /// Removes a file, or a folder with everything in it.
    package func removeAll(_ path: FilePath) throws(SystemFailure) {
        if try status(of: path, followingLink: false)?.kind == .folder {
            for name in try names(in: path) ?? [] { try removeAll(path.appending(name)) }
        }
        try remove(path)
    }

    package func names(in folder: FilePath) throws(SystemFailure) -> [FileName]? {
        try perform(.list, folder) { state, user throws(ErrorCode) -> [FileName]? in
            guard let node = try state.disk.find(folder, followingLink: true, as: user) else { return nil }
            guard let names = state.disk[node].names else { throw .notAFolder }
            guard state.disk.allows(.read, node, user) else { throw .accessDenied }
            return names.keys.sorted()
        }
    }

    package func makeFolder(_ path: FilePath, _ permissions: FilePermissions) throws(SystemFailure) -> Bool {
        try perform(.makeFolder, path) { state, user throws(ErrorCode) in
            try state.disk.makeFolder(path, permissions, as: user)
        }
    }

    package func makeSymbolicLink(_ path: FilePath, to target: FilePath) throws(SystemFailure) {
        try perform(.link, path) { state, user throws(ErrorCode) in
            try state.disk.makeSymbolicLink(path, to: target, as: user)
        }
    }

    package func synchronizeFolder(_ path: FilePath) throws(SystemFailure) {
        try perform(.synchronizeFolder, path) { state, user throws(ErrorCode) in
            try state.disk.synchronizeFolder(path, failing: false, as: user)
        } failing: { state, user, _ in
            try? state.disk.synchronizeFolder(path, failing: true, as: user)
        }
    }

    package func status(of path: FilePath, followingLink: Bool) throws(SystemFailure) -> FileStatus? {
        try perform(.status, path) { state, user throws(ErrorCode) -> FileStatus? in
            try state.disk.find(path, followingLink: followingLink, as: user).map { state.disk[$0].status }
        }
    }

    package func destination(ofLink path: FilePath) throws(SystemFailure) -> FilePath? {
        try perform(.readLink, path) { state, user throws(ErrorCode) -> FilePath? in
            guard let node = try state.disk.find(path, followingLink: false, as: user),
                case .symbolicLink(let target) = state.disk[node].contents
            else {
                return nil
            }
            return target
        }
    }

    package func mayWrite(in folder: FilePath) -> Bool {
        let may = try? perform(.status, folder) { state, user throws(ErrorCode) -> Bool in
            guard let node = try state.disk.find(folder, followingLink: true, as: user) else { return false }
            return !state.disk.isReadOnly && state.disk.allows(.write, node, user)
        }
        return may ?? false
    }
}

extension DiskState {
    /// The node at a path, or nil if there is none.
    func find(_ path: FilePath, followingLink: Bool, as user: Identity) throws(ErrorCode) -> NodeID? {
        try absentIsNil { () throws(ErrorCode) in
            try locate(path, followingLink: followingLink, as: user).node
        } ?? nil
    }

    fileprivate mutating func openOrNil(
        _ path: FilePath, _ access: FileAccess, as user: Identity
    ) throws(ErrorCode) -> NodeID? {
        do {
            return try open(path, access, as: user)
        } catch  where error == .noSuchFile && [.reading, .readingNoFollow, .writing].contains(access) {
            return nil
        }
    }

    fileprivate mutating func synchronizeFolder(
        _ path: FilePath, failing: Bool, as user: Identity
    ) throws(ErrorCode) {
        guard let node = try find(path, followingLink: true, as: user) else { throw .noSuchFile }
        guard self[node].kind == .folder else { throw .notAFolder }
        if !limitations.contains(.noFolderSynchronization) { synchronizeNames(of: node, failing: failing) }
    }
}

private func absentIsNil<Result>(_ body: () throws(ErrorCode) -> Result) throws(ErrorCode) -> Result? {
    do {
        return try body()
    } catch  where error == .noSuchFile {
        return nil
    }
}
