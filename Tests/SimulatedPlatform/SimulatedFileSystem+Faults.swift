internal import Platform

extension SimulatedFileSystem {
    typealias State = SimulatedDisk.State

    /// Performs one operation, unless a fault is injected.
    ///
    /// - Parameters:
    ///   - operation: The kind of operation, which is counted.
    ///   - path: The path for failures.
    ///   - body: The operation itself.
    ///   - failing: The change that a failing operation still makes. A write keeps the given number of bytes.
    @discardableResult
    func perform<Success: Sendable>(
        _ operation: SystemFailure.Operation, _ path: FilePath?,
        _ body: (inout State, Identity) throws(ErrorCode) -> Success,
        failing: (inout State, Identity, Int) -> Void = { _, _, _ in }
    ) throws(SystemFailure) -> Success {
        let result = disk.withState { state -> Result<Success, ErrorCode> in
            guard let user = state.begin(operation, path, by: number) else { return .failure(.inputOutput) }
            switch state.processes[number]?.plan.next(operation) {
            case nil: return Result { () throws(ErrorCode) in try body(&state, user) }
            case .fail(let code):
                failing(&state, user, 0)
                return .failure(code)
            case .tear(let count, let code):
                failing(&state, user, count)
                return .failure(code)
            case .dieBefore: break
            case .dieAfter: _ = try? body(&state, user)
            case .dieWithin(let count): failing(&state, user, count)
            }
            state.kill(number)
            return .failure(.inputOutput)
        }
        do {
            return try result.get()
        } catch {
            throw SystemFailure(error, operation, path)
        }
    }
}

extension SimulatedDisk.State {
    /// Counts an operation and returns the credentials of the process, or nil if the process has ended.
    fileprivate mutating func begin(
        _ operation: SystemFailure.Operation, _ path: FilePath?, by number: Int
    ) -> Identity? {
        guard processes[number]?.isDead == false else { return nil }
        processes[number]?.operations.append(SimulatedFileSystem.Operation(operation: operation, path: path))
        return processes[number]?.user
    }

    mutating func kill(_ number: Int) {
        processes[number]?.isDead = true
        for opening in openings.filter({ $0.value.process == number }).keys.sorted() { close(opening) }
    }

    mutating func close(_ number: Int) {
        guard let opening = openings.removeValue(forKey: number) else { return }
        disk.closed(opening.node)
        // The kernel reports when the file is closed after writing, not each write.
        if opening.isWritable { tell(.written, of: opening.node) }
    }

    /// Whether no other lock excludes this one.
    func isFree(_ mode: LockMode, for number: Int, of node: NodeID) -> Bool {
        openings.allSatisfy { other, opening in
            other == number || opening.node != node || opening.lock == nil
                || (mode == .shared && opening.lock == .shared)
        }
    }

    /// Records a change to a file under each of its names.
    mutating func tell(_ change: FolderChange, of node: NodeID) {
        guard !watches.isEmpty else { return }
        for folder in disk.nodes.keys.sorted() {
            guard let names = disk.nodes[folder]?.names else { continue }
            for name in names.filter({ $0.value == node }).keys.sorted() { disk.events.append((folder, change, name)) }
        }
    }
}
