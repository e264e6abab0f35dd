package import Platform
internal import PropertyLists

/// The file system as it is once the pending transactions of a store are complete.
///
/// Domains are read through it, so that a committed change is visible as a whole even if nobody can complete it: on a
/// file system that became read-only, while another process holds a lock, or in another user's store. Writing
/// operations are passed on.
struct CompletedFiles: FileSystem {
    private let files: any FileSystem
    /// The files that are not what their names lead to.
    private var contents: [Place: Contents] = [:]
    /// The reason no file of the store can be read: a record may concern any of them.
    private let refusal: SystemFailure?

    /// A name in a folder, however its path is spelled.
    private struct Place: Hashable {
        let folder: FileID
        let name: FileName

        /// Returns nil if the folder does not exist.
        init?(_ path: FilePath, on files: any FileSystem) throws(SystemFailure) {
            guard let name = path.lastComponent, let folder = try files.status(of: path.parent) else { return nil }
            (self.folder, self.name) = (folder.number, name)
        }
    }

    private enum Contents {
        /// Those of a temporary file, which must belong to the owner of the record.
        case file(FilePath, record: FilePath, owner: UInt32)
        case absent
        /// Unknown, since the record cannot be believed.
        case refused(SystemFailure)
    }

    init(after pending: PendingTransactions, on files: any FileSystem) {
        self.files = files
        var refusal: SystemFailure?
        for entry in pending.entries {
            guard let record = entry.record else {
                refusal = refusal ?? entry.refusal
                continue
            }
            for step in record.steps {
                do throws(SystemFailure) {
                    let contents = Self.contents(of: step, in: entry, on: files)
                    // A record that is not believed may name another target than that of the domain's path.
                    for path in entry.refusal == nil ? [step.target] : [step.target, step.file.path] {
                        guard let place = try Place(path, on: files) else { continue }
                        self.contents[place] = contents
                    }
                } catch  where error.code == .accessDenied {
                    // In a folder that this user may not search, files cannot be read anyway.
                } catch {
                    refusal = refusal ?? SystemFailure(error.code, .useRecord, entry.path)
                }
            }
        }
        self.refusal = refusal
    }

    private static func contents(
        of step: TransactionRecord.Step, in entry: PendingTransactions.Entry, on files: any FileSystem
    ) -> Contents? {
        if let refusal = entry.refusal { return .refused(refusal) }
        let state: TransactionRecord.Step.State
        do throws(SystemFailure) {
            state = try step.state(in: files, owner: entry.owner)
        } catch {
            return .refused(SystemFailure(error.code, .useRecord, entry.path))
        }
        switch state {
        case .pending:
            guard case .replace(let temporary) = step.change else { return .absent }
            return .file(temporary, record: entry.path, owner: entry.owner)
        case .buried: return .absent
        case .done: return nil
        case .unusable(let code): return .refused(SystemFailure(code, .useRecord, entry.path))
        }
    }

    /// Returns the contents of a file if they are not those that its name leads to.
    private func contents(of path: FilePath, followingLink: Bool) throws(SystemFailure) -> Contents? {
        if let refusal { throw refusal }
        guard !contents.isEmpty else { return nil }
        let target = followingLink ? try path.followingLinks(in: files) : path
        return try Place(target, on: files).flatMap { contents[$0] }
    }

    // MARK: Reading

    func open(_ path: FilePath, _ access: FileAccess) throws(SystemFailure) -> (any OpenFile)? {
        guard access == .reading || access == .readingNoFollow else { return try files.open(path, access) }
        switch try contents(of: path, followingLink: access == .reading) {
        case nil: return try files.open(path, access)
        case .absent: return nil
        case .refused(let failure): throw failure
        case .file(let temporary, let record, let owner):
            guard let file = try files.open(temporary, .readingNoFollow) else { throw Self.completed(path) }
            try Self.check(try file.status(), record, owner)
            return file
        }
    }

    func status(of path: FilePath, followingLink: Bool) throws(SystemFailure) -> FileStatus? {
        switch try contents(of: path, followingLink: followingLink) {
        case nil: return try files.status(of: path, followingLink: followingLink)
        case .absent: return nil
        case .refused(let failure): throw failure
        case .file(let temporary, let record, let owner):
            guard let status = try files.status(of: temporary, followingLink: false) else {
                throw Self.completed(path)
            }
            try Self.check(status, record, owner)
            return status
        }
    }

    /// The failure if another process has completed the transaction meanwhile, after which the record is read again.
    private static func completed(_ path: FilePath) -> SystemFailure { SystemFailure(.staleHandle, .open, path) }

    private static func check(_ status: FileStatus, _ record: FilePath, _ owner: UInt32) throws(SystemFailure) {
        guard status.kind == .file, status.owner == owner else {
            throw SystemFailure(.notPermitted, .useRecord, record)
        }
    }

    func names(in folder: FilePath) throws(SystemFailure) -> [FileName]? {
        if let refusal { throw refusal }
        guard let names = try files.names(in: folder), !contents.isEmpty, let status = try files.status(of: folder)
        else { return try files.names(in: folder) }
        var all = Set(names)
        for (place, contents) in contents where place.folder == status.number {
            switch contents {
            case .file: all.insert(place.name)
            case .absent: all.remove(place.name)
            case .refused(let failure): throw failure
            }
        }
        return all.sorted()
    }

    // MARK: Everything else

    func unpredictableNumber() -> UInt64 { files.unpredictableNumber() }

    func rename(_ path: FilePath, to other: FilePath, _ manner: RenameMode) throws(SystemFailure) {
        try files.rename(path, to: other, manner)
    }

    func link(_ path: FilePath, to other: FilePath) throws(SystemFailure) { try files.link(path, to: other) }

    func makeSymbolicLink(_ path: FilePath, to target: FilePath) throws(SystemFailure) {
        try files.makeSymbolicLink(path, to: target)
    }

    @discardableResult
    func remove(_ path: FilePath) throws(SystemFailure) -> Bool { try files.remove(path) }

    func makeFolder(_ path: FilePath, _ permissions: FilePermissions) throws(SystemFailure) -> Bool {
        try files.makeFolder(path, permissions)
    }

    func synchronizeFolder(_ path: FilePath) throws(SystemFailure) { try files.synchronizeFolder(path) }

    func destination(ofLink path: FilePath) throws(SystemFailure) -> FilePath? { try files.destination(ofLink: path) }

    func mayWrite(in folder: FilePath) -> Bool { files.mayWrite(in: folder) }
}

extension DomainFile {
    /// Returns the services with which the domain is read: with its files as they are once the pending transactions
    /// are complete. Completes those that can be completed.
    package func completed(on system: SystemServices) -> SystemServices {
        var pending = PendingTransactions(in: transactions, on: system)
        guard !pending.isEmpty else { return system }
        pending.finish(patience: .zero)
        pending = PendingTransactions(in: transactions, on: system)
        guard !pending.isEmpty else { return system }
        var completed = system
        completed.fileSystem = CompletedFiles(after: pending, on: system.fileSystem)
        return completed
    }

    /// Calls `body` with the files as they are once the pending transactions are complete, and again if another process
    /// completes one meanwhile.
    package func reading<Result, Failure>(
        on system: SystemServices, _ body: (SystemServices) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        for _ in 1..<Self.mostReadings {
            do throws(Failure) {
                return try body(completed(on: system))
            } catch  where error.meansCompletion {}
        }
        return try body(completed(on: system))
    }

    private static let mostReadings = 64

    /// Returns the bytes of the domain's file, or nil if there is none.
    package func bytes(on system: SystemServices) throws(StoreFailure) -> [UInt8]? {
        try reading(on: system) { system throws(StoreFailure) in
            try reporting { () throws(SystemFailure) in
                try system.fileSystem.contents(of: path, limit: limits.inputBytes)
            }
        }
    }
}

extension Error {
    /// Whether another process may have completed a transaction while a file was read.
    fileprivate var meansCompletion: Bool {
        (self as? SystemFailure)?.code == .staleHandle || (self as? StoreFailure)?.meansOtherContents == true
    }
}

extension StoreFolder {
    /// Returns the domains that have a file, also in a committed transaction that is not complete, sorted.
    package func domains(on system: SystemServices) throws(SystemFailure) -> [DomainName] {
        try domains(in: file(of: .global).completed(on: system).fileSystem)
    }
}
