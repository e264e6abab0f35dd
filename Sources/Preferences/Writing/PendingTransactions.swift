package import Platform
internal import PropertyLists

/// The transactions that are committed but may not be complete.
struct PendingTransactions {
    private let system: SystemServices
    private let records: [(path: FilePath, record: TransactionRecord)]
    /// A record that belongs to another user, or is in another user's store. Only that user may complete it.
    let recordOfAnotherUser: FilePath?
    /// The incomplete records of killed writers.
    private let leftovers: [FilePath]

    /// Reads the records in a folder. Invalid records are ignored, and left for a user to examine.
    init(in folder: FilePath?, on system: SystemServices) {
        self.system = system
        guard let folder, let names = try? system.fileSystem.names(in: folder) else {
            (records, recordOfAnotherUser, leftovers) = ([], nil, [])
            return
        }
        let isOwn = Self.isOwn(folder, system)
        var (records, other) = ([(path: FilePath, record: TransactionRecord)](), FilePath?.none)
        for name in names where !name.isTemporary {
            let path = folder.appending(name)
            let status = (try? system.fileSystem.status(of: path, followingLink: false)) ?? nil
            if !isOwn || status.map({ $0.owner != system.environment.user }) ?? false {
                other = other ?? path
            } else if let record = Self.record(at: path, folder, system) {
                records.append((path, record))
            }
        }
        (self.records, recordOfAnotherUser) = (records, other)
        leftovers = isOwn ? names.filter(\.isTemporary).map(folder.appending) : []
    }

    /// Whether only this user can have written records into the folder: the folder and its store belong to the user,
    /// and it is not a link.
    private static func isOwn(_ folder: FilePath, _ system: SystemServices) -> Bool {
        let (files, user) = (system.fileSystem, system.environment.user)
        guard let records = try? files.status(of: folder, followingLink: false), records.kind == .folder,
            let store = try? files.status(of: folder.parent)
        else {
            return false
        }
        return records.owner == user && store.owner == user && !records.isWritableByAny
    }

    /// Reads a record in a folder of the user's own. Returns nil if another user may have written it.
    ///
    /// A record is carried out with our permissions, so that a forged one could create and rename any file. Therefore
    /// links are not followed, and a record may only change the targets of its domains.
    static func record(at path: FilePath, _ folder: FilePath, _ system: SystemServices) -> TransactionRecord? {
        guard isOwn(folder, system), let file = try? system.fileSystem.open(path, .readingItself),
            let status = try? file.status(), status.kind == .file, status.links == 1,
            status.owner == system.environment.user, let bytes = try? file.contents(status, limit: 64 << 20),
            let value = try? PropertyList(parsing: bytes, as: .binary), var record = TransactionRecord(value),
            record.steps.allSatisfy({ $0.isWithinReach(of: folder.parent, system) })
        else {
            return nil
        }
        for index in record.steps.indices { record.steps[index].file.transactions = folder }
        return record
    }

    var isEmpty: Bool { records.isEmpty }

    /// Removes incomplete records of writers that were killed while they changed one of the files. Requires the locks.
    func removeLeftovers(of files: [ResolvedFile]) {
        for path in leftovers where files.contains(where: { path.isTemporary(of: $0.target) }) {
            _ = try? system.fileSystem.remove(path)
        }
    }

    func concern(_ files: [ResolvedFile]) -> Bool {
        guard !records.isEmpty else { return false }
        let (targets, locks) = (Set(files.map(\.target)), Set(files.map(\.file.lock)))
        return records.contains { $0.record.concerns(targets, locks) }
    }

    func concern(_ file: DomainFile) -> Bool {
        records.contains { $0.record.concerns([file.path], [file.lock]) }
    }

    /// Completes the transactions whose locks can be acquired. The writers of the others are still running.
    ///
    /// - Parameter needed: The files that the caller needs.
    /// - Returns: The reason a transaction of these files cannot be completed.
    @discardableResult
    func finish(patience: Duration, for needed: [ResolvedFile] = []) -> StoreFailure? {
        var failure: StoreFailure?
        let (targets, ownLocks) = (Set(needed.map(\.target)), Set(needed.map(\.file.lock)))
        for (path, record) in records {
            var current = record.steps.first?.file
            guard let locks = try? DomainLocks(of: record.files, on: system, patience: patience) else { continue }
            defer { locks.release() }
            // Another process may have completed it.
            guard (try? system.fileSystem.status(of: path)) != nil else { continue }
            do throws(SystemFailure) {
                for step in record.steps {
                    current = step.file
                    try step.carryOut(in: system.fileSystem)
                }
                for folder in Set(record.steps.map(\.target.parent)).sorted() {
                    try system.fileSystem.synchronizeFolder(folder)
                }
            } catch {
                if record.concerns(targets, ownLocks) { failure = failure ?? current?.failure(error) }
                continue
            }
            Self.remove(path, on: system)
        }
        return failure
    }

    // MARK: Records

    /// Writes a record durably.
    ///
    /// - Parameter named: The name of a changed file. The temporary file is named after it, so that the holder of that
    ///   file's lock can remove it.
    static func write(
        _ record: TransactionRecord, at path: FilePath, named: FileName?, on system: SystemServices
    ) throws(SystemFailure) {
        let bytes: [UInt8]
        do throws(EncodingFailure) {
            bytes = Array(try record.encoded.serialized(as: .binary))
        } catch {
            throw SystemFailure(.invalidArgument, .write, path)
        }
        let files = system.fileSystem
        let named = named.map(path.parent.appending) ?? path
        let temporary = try system.makingFolder(path.parent) { () throws(SystemFailure) in
            try files.writeTemporary(bytes, beside: named)
        }
        do throws(SystemFailure) {
            try files.rename(temporary, to: path)
        } catch {
            _ = try? files.remove(temporary)
            throw error
        }
        try files.synchronizeFolder(path.parent)
    }

    /// Withdraws a record that could not be synced. Returns false if it may reappear after a crash.
    static func withdraw(_ path: FilePath, on system: SystemServices) -> Bool {
        do throws(SystemFailure) {
            if try system.fileSystem.remove(path) { try system.fileSystem.synchronizeFolder(path.parent) }
            return true
        } catch {
            return false
        }
    }

    /// Removes a completed record, and the folder if it is empty, so that readers find none.
    static func remove(_ path: FilePath, on system: SystemServices) {
        _ = try? system.fileSystem.remove(path)
        _ = try? system.fileSystem.remove(path.parent)
    }
}

extension TransactionRecord {
    /// The files to be locked. The files in the folder of a domain have one lock.
    var files: [ResolvedFile] {
        var locks: Set<LockPlace> = []
        return steps.compactMap { step in
            let isOwnLock = step.file.lock == .byPath || step.file.path != step.target
            guard locks.insert(step.file.lock).inserted || isOwnLock else { return nil }
            return ResolvedFile(resolved: step.file, target: step.target)
        }
    }

    /// Whether it changes one of the targets, or a file in the folder of a domain with one of the locks.
    func concerns(_ targets: Set<FilePath>, _ locks: Set<LockPlace>) -> Bool {
        steps.contains { targets.contains($0.target) || $0.file.lock != .byPath && locks.contains($0.file.lock) }
    }
}

extension FilePath {
    /// Whether this is the name of a temporary file for `other`.
    func isTemporary(of other: FilePath) -> Bool {
        guard let name = lastComponent, let other = other.lastComponent else { return false }
        return name.isTemporary(of: other)
    }
}

extension TransactionRecord.Step {
    /// Whether the user would change the same files by writing the domain: the target is the one of the domain's path
    /// and in a folder of the user's own, and the lock is the store's.
    fileprivate func isWithinReach(of store: FilePath, _ system: SystemServices) -> Bool {
        let (files, user) = (system.fileSystem, system.environment.user)
        if case .file(let lock) = file.lock, !lock.components.starts(with: store.components) { return false }
        return (try? files.status(of: target.parent))?.owner == user
            && (try? file.path.leadingToTarget(for: user, in: files)) == target
            && change.temporary.parent == target.parent
    }
}

extension StoreFolder {
    /// Returns a record that only another user can complete, or nil if there is none.
    package func recordOfAnotherUser(on system: SystemServices) -> FilePath? {
        PendingTransactions(in: transactions, on: system).recordOfAnotherUser
    }

    /// Completes the transactions of dead writers.
    package func finishTransactions(on system: SystemServices) {
        file(of: .global).finishTransactions(on: system)
    }
}

extension DomainFile {
    /// Completes the transactions of dead writers.
    package func finishTransactions(on system: SystemServices) {
        let pending = PendingTransactions(in: transactions, on: system)
        if !pending.isEmpty { pending.finish(patience: .zero) }
    }
}
