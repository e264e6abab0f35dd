internal import Platform

/// An open file of a simulated process.
final class SimulatedFile: OpenFile {
    let path: FilePath
    private let fileSystem: SimulatedFileSystem
    private let number: Int

    init(_ fileSystem: SimulatedFileSystem, _ path: FilePath, opening number: Int) {
        self.fileSystem = fileSystem
        self.path = path
        self.number = number
    }

    deinit { fileSystem.disk.withState { [number] in $0.close(number) } }

    func status() throws(SystemFailure) -> FileStatus {
        try perform(.status) { state, node in state.disk[node].status }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemFailure) -> Int {
        let count = buffer.count
        let bytes = try perform(.read) { state, node throws(ErrorCode) in
            guard state.disk[node].kind == .file else { throw .isAFolder }
            return Array(state.disk[node].data.dropFirst(offset).prefix(count))
        }
        buffer.copyBytes(from: bytes)
        return bytes.count
    }

    func write(_ bytes: RawSpan, at offset: Int) throws(SystemFailure) {
        let bytes = bytes.withUnsafeBytes { Array($0) }
        try perform(.write) { state, node throws(ErrorCode) in
            try self.change(&state, .write(bytes, at: offset))
        } failing: { state, count in
            try? self.change(&state, .write(Array(bytes.prefix(count)), at: offset))
        }
    }

    func truncate(to size: Int) throws(SystemFailure) {
        try perform(.truncate) { state, node throws(ErrorCode) in try self.change(&state, .truncate(to: size)) }
    }

    func synchronize() throws(SystemFailure) {
        try perform(.synchronize) { state, node in
            state.disk[node].synchronize(failing: false)
        } failing: { state, _ in
            guard let node = state.openings[self.number]?.node else { return }
            state.disk[node].synchronize(failing: true)
        }
    }

    func startSynchronizing() {}

    func setPermissions(_ permissions: FilePermissions) throws(SystemFailure) {
        try changeAttributes(.setMode) { $0.permissions = permissions }
    }

    func setOwner(_ owner: UInt32, group: UInt32) throws(SystemFailure) {
        try changeAttributes(.setOwner) { ($0.owner, $0.group) = (owner, group) }
    }

    /// Simulated files have no attributes.
    func adoptAttributes(of path: FilePath) -> Bool { true }

    private func changeAttributes(
        _ operation: SystemFailure.Operation, _ change: @Sendable (inout Node.Attributes) -> Void
    ) throws(SystemFailure) {
        let fileSystem = fileSystem
        try perform(operation) { state, node throws(ErrorCode) in
            guard !state.disk.limitations.contains(.noPermissions) else { throw .notPermitted }
            guard !state.disk.isReadOnly else { throw .readOnly }
            guard let user = state.processes[fileSystem.number]?.user else { throw .inputOutput }
            var attributes = state.disk[node].attributes
            let former = attributes
            change(&attributes)
            // The owner may change the group to one of which they are a member, but not the owner.
            let isAllowed =
                user.isRoot
                || (former.owner == user.user && attributes.owner == former.owner
                    && (attributes.group == former.group || user.isIn(attributes.group)))
            guard isAllowed else { throw .notPermitted }
            _ = state.disk.change(
                node,
                .attributes(attributes.permissions, owner: attributes.owner, group: attributes.group))
            state.tell(.attributes, of: node)
        }
    }

    private func change(_ state: inout SimulatedDisk.State, _ effect: DataEffect) throws(ErrorCode) {
        guard let opening = state.openings[number], opening.isWritable else { throw .badDescriptor }
        guard !state.disk.isReadOnly else { throw .readOnly }
        let failure = state.disk.change(opening.node, effect)
        if let failure { throw failure }
    }

    /// Performs an operation on the file.
    @discardableResult
    private func perform<Success: Sendable>(
        _ operation: SystemFailure.Operation,
        _ body: (inout SimulatedDisk.State, NodeID) throws(ErrorCode) -> Success,
        failing: (inout SimulatedDisk.State, Int) -> Void = { _, _ in }
    ) throws(SystemFailure) -> Success {
        try fileSystem.perform(operation, path) { state, _ throws(ErrorCode) in
            guard let node = state.openings[number]?.node else { throw .badDescriptor }
            return try body(&state, node)
        } failing: { state, _, count in
            failing(&state, count)
        }
    }
}

// MARK: Locks

extension SimulatedFile {
    func lock(_ mode: LockMode, patience: Duration) throws(SystemFailure) -> Bool {
        let isTaken = try perform(.lock) { state, node throws(ErrorCode) in
            guard !state.disk.limitations.contains(.noLocks) else { throw .unsupported }
            return state.take(mode, self.number)
        }
        if isTaken || patience <= .zero { return isTaken }
        fileSystem.otherProcessesRun()
        if take(mode) { return true }
        fileSystem.disk.clock.advance(by: patience)
        return take(mode)
    }

    private func take(_ mode: LockMode) -> Bool { fileSystem.disk.withState { $0.take(mode, self.number) } }

    func unlock() {
        fileSystem.disk.withState { [number] state in
            state.openings[number]?.lock = nil
        }
    }
}

extension SimulatedDisk.State {
    /// Takes the lock if it is free.
    fileprivate mutating func take(_ mode: LockMode, _ number: Int) -> Bool {
        guard let opening = openings[number], isFree(mode, for: number, of: opening.node) else { return false }
        openings[number]?.lock = mode
        return true
    }
}
