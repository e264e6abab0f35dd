internal import Digests
package import Platform
internal import PropertyLists

/// The transactions that are committed but may not be complete.
struct PendingTransactions {
    /// A record in the folder.
    struct Entry: Sendable {
        let path: FilePath
        /// The owner of the record.
        let owner: UInt32
        /// The changes, or nil if they cannot be read, so that they may concern any file of the store.
        let record: TransactionRecord?
        /// The reason the record cannot be used, or nil if it can.
        let refusal: SystemFailure?
    }

    private let system: SystemServices
    private(set) var entries: [Entry] = []
    /// The incomplete records of killed writers.
    private(set) var leftovers: [FilePath] = []

    /// Reads the records in a folder.
    init(in folder: FilePath?, on system: SystemServices) {
        self.system = system
        guard let folder else { return }
        let names: [FileName]
        do throws(SystemFailure) {
            guard let found = try system.fileSystem.names(in: folder) else { return }
            names = found
        } catch {
            // If the store itself is not accessible, reading its files fails too, with a better message.
            let isInaccessible =
                error.code == .notAFolder || error.code == .accessDenied && Self.isClosed(folder, system)
            if !isInaccessible { entries = [Entry(SystemFailure(error.code, .useRecord, folder))] }
            return
        }
        guard !names.isEmpty else { return }
        do throws(SystemFailure) {
            let store = try system.fileSystem.status(of: folder.parent)
            let own = try system.fileSystem.status(of: folder, followingLink: false)
            let isSafe = own?.kind == .folder && own?.owner == store?.owner && own?.isWritableByAny == false
            for name in names where name.isOfRecord {
                guard let store, let entry = try Self.entry(folder.appending(name), store, system) else { continue }
                entries.append(isSafe ? entry : entry.refused(.notPermitted))
            }
        } catch {
            entries.append(Entry(SystemFailure(error.code, .useRecord, error.path ?? folder)))
        }
        leftovers = names.filter(\.isTemporary).map(folder.appending)
    }

    private static func isClosed(_ folder: FilePath, _ system: SystemServices) -> Bool {
        do throws(SystemFailure) {
            _ = try system.fileSystem.status(of: folder, followingLink: false)
            return false
        } catch {
            return error.code == .accessDenied
        }
    }

    /// Reads a record. Returns nil if it was completed meanwhile.
    ///
    /// A record is carried out with our permissions and read with them, so that a forged one could lead to any file.
    /// Therefore it is only believed if it belongs to the owner of the store, as the new files must, and if it changes
    /// nothing but the targets of its domains. Links are not followed.
    private static func entry(
        _ path: FilePath, _ store: FileStatus, _ system: SystemServices
    ) throws(SystemFailure) -> Entry? {
        let folder = path.parent
        let file: any OpenFile
        do throws(SystemFailure) {
            guard let opened = try system.fileSystem.open(path, .readingNoFollow) else { return nil }
            file = opened
        } catch {
            throw SystemFailure(error.code, error.operation, path)
        }
        let status = try file.status()
        guard status.kind == .file else { return Entry(SystemFailure(.notPermitted, .useRecord, path)) }
        let bytes = try file.contents(status, limit: 64 << 20)
        guard let value = try? PropertyList(parsing: bytes, as: .binary),
            var record = TransactionRecord(value, in: folder.parent)
        else {
            return Entry(SystemFailure(.invalidArgument, .useRecord, path))
        }
        for index in record.steps.indices { record.steps[index].file.transactions = folder }
        let entry = Entry(path: path, owner: status.owner, record: record, refusal: nil)
        guard status.owner == store.owner, status.links == 1 else { return entry.refused(.notPermitted) }
        for step in record.steps {
            do throws(SystemFailure) {
                guard try step.isWithinReach(of: folder.parent, owner: store.owner, system) else {
                    return entry.refused(.notPermitted)
                }
            } catch  where error.code == .accessDenied {
                // In a folder that this user may not search. The files in it cannot be read either.
            }
        }
        return entry
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The records that this user can complete.
    private var own: [(path: FilePath, record: TransactionRecord)] {
        entries.compactMap { entry in
            guard entry.refusal == nil, entry.owner == system.environment.user else { return nil }
            return entry.record.map { (entry.path, $0) }
        }
    }

    /// The path of a record that another user can complete, or nil.
    var recordOfAnotherUser: FilePath? {
        entries.first { $0.refusal == nil && $0.owner != system.environment.user }?.path
    }

    /// Returns the failure if a record that cannot be used may concern one of the files.
    func refusal(for files: [ResolvedFile]) -> SystemFailure? {
        let (targets, locks) = (Set(files.map(\.target)), Set(files.map(\.file.lock)))
        return entries.first { $0.refusal != nil && $0.record?.concerns(targets, locks) ?? true }?.refusal
    }

    /// Removes incomplete records of writers that were killed while they changed one of the files. Requires the locks.
    func removeLeftovers(of files: [ResolvedFile]) {
        for path in leftovers where files.contains(where: { path.isTemporary(of: $0.target) }) {
            _ = try? system.fileSystem.remove(path)
        }
    }

    func concern(_ files: [ResolvedFile]) -> Bool {
        guard !entries.isEmpty else { return false }
        let (targets, locks) = (Set(files.map(\.target)), Set(files.map(\.file.lock)))
        return own.contains { $0.record.concerns(targets, locks) }
    }

    /// The temporary files that a record names, or nil if a record cannot be read.
    var temporaries: Set<FilePath>? {
        guard entries.allSatisfy({ $0.record != nil }) else { return nil }
        return Set(entries.flatMap { $0.record?.steps.map(\.change.temporary) ?? [] })
    }

    /// Completes the transactions whose locks can be acquired. The writers of the others are still running.
    ///
    /// - Parameter needed: The files that the caller needs.
    /// - Returns: The reason a transaction of these files cannot be completed.
    @discardableResult
    func finish(patience: Duration, for needed: [ResolvedFile] = []) -> StoreFailure? {
        var failure: StoreFailure?
        let (targets, ownLocks) = (Set(needed.map(\.target)), Set(needed.map(\.file.lock)))
        let files = system.fileSystem
        for (path, record) in own {
            var current = record.steps.first?.file
            guard let locks = try? DomainLocks(of: record.files, on: system, patience: patience) else { continue }
            defer { locks.release() }
            do throws(SystemFailure) {
                // Another process may have completed it.
                guard try files.status(of: path) != nil else { continue }
                // Nothing is changed if not everything can be.
                for step in record.steps {
                    guard case .unusable(let code) = try step.state(in: files, owner: system.environment.user) else {
                        continue
                    }
                    current = step.file
                    throw SystemFailure(code, .useRecord, path)
                }
                // Its writer may have been killed before the record was on the disk.
                try files.synchronizeFolder(path.parent)
                for step in record.steps {
                    current = step.file
                    try step.carryOut(in: files, owner: system.environment.user)
                }
                // The writer may have removed the folder of a domain, and a power failure brought back the record.
                for folder in Set(record.steps.map(\.target.parent)).sorted()
                where try files.status(of: folder) != nil {
                    try files.synchronizeFolder(folder)
                }
            } catch {
                if record.concerns(targets, ownLocks) { failure = failure ?? current?.failure(error) }
                continue
            }
            keepOutcomes(of: record, in: path.parent, locks)
            Self.remove(path, on: system)
        }
        return failure
    }

    /// Leaves the marks and keeps the versions of a completed change, as its writer would have done. Nothing is kept of
    /// a domain that another program has changed since.
    private func keepOutcomes(of record: TransactionRecord, in folder: FilePath, _ locks: DomainLocks) {
        var domains: [(file: DomainFile, outcome: TransactionRecord.Outcome)] = []
        for step in record.steps {
            guard let outcome = step.outcome, !domains.contains(where: { $0.file.path == outcome.path }) else {
                continue
            }
            var file = step.file
            (file.path, file.folder, file.transactions) = (outcome.path, outcome.folder, folder)
            file.audience = outcome.isPublic ? .everyone : .owner
            domains.append((file, outcome))
        }
        var participants = Participants(paths: domains.map(\.file.path))
        for (file, outcome) in domains {
            guard let bytes = presentBytes(of: file, outcome.mark.hash) else { continue }
            if let lock = locks.markFile(of: file) { try? outcome.mark.write(to: lock) }
            guard outcome.versions > 0, let history = History(of: file, on: system),
                var versions = try? history.listed(removingLeftovers: true)
            else { continue }
            let transaction = outcome.mark.transaction
            let isKept = versions.contains { $0.transaction == transaction && history.isCopy($0, of: bytes) }
            guard !isKept, participants.paths.count < 2 || history.record(&participants, of: transaction) else {
                continue
            }
            let version = PendingVersion(
                bytes: bytes, author: outcome.mark.author, transaction: transaction, time: system.clock.wall,
                isFirst: outcome.isFirst)
            var policy = HistoryPolicy()
            (policy.versions, policy.bytes) = (outcome.versions, outcome.bytes)
            history.record(version, after: &versions, policy: policy)
        }
    }

    /// Returns the present contents of a domain as a version has them, or nil if they do not have a hash.
    private func presentBytes(of file: DomainFile, _ hash: [UInt8]?) -> [UInt8]? {
        // The record, which still exists, would be completed again.
        var file = file
        file.transactions = nil
        do throws(SystemFailure) {
            guard let found = try file.versionBytes(on: system) else {
                return hash == nil ? DomainState.tombstone : nil
            }
            return found.bytes.flatMap { SHA256.hash($0) == hash ? $0 : nil }
        } catch {
            return nil
        }
    }

    // MARK: Records

    /// Writes a record durably. Users who may read one of the new files may read it.
    ///
    /// - Parameters:
    ///   - named: The name of a changed file. The temporary file is named after it, so that the holder of that file's
    ///     lock can remove it.
    ///   - readers: The new files.
    /// - Returns: Nil if the record exists, or the reason it may not be on the disk. If this throws, there is none.
    static func write(
        _ record: TransactionRecord, at path: FilePath, named: FileName?, readableLike readers: [FileStatus],
        on system: SystemServices
    ) throws(SystemFailure) -> SystemFailure? {
        let (files, folder) = (system.fileSystem, path.parent)
        let bytes: [UInt8]
        do throws(EncodingFailure) {
            bytes = Array(try record.encoded(in: folder.parent).serialized(as: .binary))
        } catch {
            throw SystemFailure(.invalidArgument, .write, path)
        }
        let named = named.map(folder.appending) ?? path
        let temporary = try system.makingFolder(folder) { () throws(SystemFailure) in
            try files.writeTemporary(bytes, beside: named)
        }
        do throws(SystemFailure) {
            try open(folder, temporary, toReadersOf: readers, on: files)
            try files.rename(temporary, to: path)
        } catch {
            // Some network file systems report an error although the file was renamed.
            if mayExist(path, on: files) { return error }
            _ = try? files.remove(temporary)
            throw error
        }
        do throws(SystemFailure) {
            try files.synchronizeFolder(folder)
            return nil
        } catch {
            return error
        }
    }

    private static func mayExist(_ path: FilePath, on files: any FileSystem) -> Bool {
        do throws(SystemFailure) { return try files.status(of: path, followingLink: false) != nil } catch {
            return true
        }
    }

    /// Gives the users who may read one of the files access to the record.
    private static func open(
        _ folder: FilePath, _ record: FilePath, toReadersOf readers: [FileStatus], on files: any FileSystem
    ) throws(SystemFailure) {
        let access = readers.reduce(into: FilePermissions()) { $0.formUnion($1.permissions) }
            .intersection(FilePermissions(rawValue: 0o044))
        guard !access.isEmpty else { return }
        if let file = try files.open(record, .readingNoFollow) {
            let own = try file.status()
            let ofGroup = readers.first { !$0.permissions.isDisjoint(with: FilePermissions(rawValue: 0o040)) }
            if let ofGroup, ofGroup.group != own.group { _ = try? file.setOwner(own.owner, group: ofGroup.group) }
            try file.setPermissionsIfSupported(FilePermissions.privateFile.union(access))
        }
        // Users who may search the store may search and list the folder.
        let searching = FilePermissions(
            rawValue: (try files.status(of: folder.parent)?.permissions.rawValue ?? 0) & 0o011)
        let wanted = FilePermissions.privateFolder.union(searching)
            .union(FilePermissions(rawValue: searching.rawValue << 2))
        guard let place = try files.open(folder, .readingNoFollow), try place.status().permissions != wanted else {
            return
        }
        try place.setPermissionsIfSupported(wanted)
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

    /// Whether the transaction changes one of the targets, or a file in the folder of a domain with one of the locks.
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
    /// Whether a write of the domain by the owner of the store would change the same file: the target is that of the
    /// domain's path, the new file is beside it, and the lock is the store's.
    fileprivate func isWithinReach(
        of store: FilePath, owner: UInt32, _ system: SystemServices
    ) throws(SystemFailure) -> Bool {
        let (files, user) = (system.fileSystem, system.environment.user)
        let folders = [store, StoreFolder.state(ofAdministrator: store)].compactMap(\.self)
        if case .file(let lock) = file.lock,
            !folders.contains(where: { lock.components.starts(with: $0.components) })
        {
            return false
        }
        guard change.temporary.parent == target.parent else { return false }
        let leads =
            owner == user
            ? try file.path.leadingToTarget(for: user, in: files) : try file.path.followingLinks(in: files)
        return leads == target
    }
}

extension PendingTransactions.Entry {
    /// An entry that may concern any file of the store.
    fileprivate init(_ refusal: SystemFailure) {
        self.init(path: refusal.path ?? .root, owner: .max, record: nil, refusal: refusal)
    }

    fileprivate func refused(_ code: ErrorCode) -> PendingTransactions.Entry {
        PendingTransactions.Entry(
            path: path, owner: owner, record: record, refusal: SystemFailure(code, .useRecord, path))
    }
}

extension FileName {
    /// Whether this is the name of a record: 16 hexadecimal digits.
    fileprivate var isOfRecord: Bool {
        bytes.count == 16 && bytes.allSatisfy { Hexadecimal.value(ofDigit: $0).map(Hexadecimal.digit) == $0 }
    }
}

extension StoreFolder {
    /// Returns the path of a record that only another user can complete, or nil if there is none.
    package func recordOfAnotherUser(on system: SystemServices) -> FilePath? {
        PendingTransactions(in: transactions, on: system).recordOfAnotherUser
    }
}

extension DomainFile {
    /// Completes the transactions that their writers left.
    package func finishTransactions(on system: SystemServices) {
        let pending = PendingTransactions(in: transactions, on: system)
        if !pending.isEmpty { pending.finish(patience: .zero) }
    }
}

/// A transaction whose record is still in its store.
package struct TransactionStatus: Hashable, Sendable {
    package let path: FilePath
    /// The files that it changes.
    package let files: [DomainFile]
    /// The new files of the domains.
    package let temporaries: [FilePath]
    /// Whether a process holds the lock of one of the domains.
    package let isBusy: Bool
    /// Whether the record belongs to another user, who can complete it.
    package let belongsToAnotherUser: Bool
    /// The reason the record cannot be used, or nil.
    package let refusal: SystemFailure?
}

extension StoreFolder {
    /// Returns the records of transactions in this store. Opening a domain completes those that can be completed.
    package func transactionStatuses(on system: SystemServices) -> [TransactionStatus] {
        guard arrangement == .own else { return [] }
        return PendingTransactions(in: transactions, on: system).entries.map { entry in
            let isOwn = entry.refusal == nil && entry.owner == system.environment.user
            // The locks of a record that is not believed may be anywhere.
            let locked = isOwn ? entry.record?.files ?? [] : []
            let locks = try? DomainLocks(of: locked, on: system, patience: .zero)
            locks?.release()
            var refusal = entry.refusal
            for step in refusal == nil ? entry.record?.steps ?? [] : [] {
                guard case .unusable(let code)? = try? step.state(in: system.fileSystem, owner: entry.owner) else {
                    continue
                }
                refusal = SystemFailure(code, .useRecord, entry.path)
            }
            return TransactionStatus(
                path: entry.path, files: entry.record?.files.map(\.file) ?? [],
                temporaries: entry.record?.steps.map(\.change.temporary) ?? [],
                isBusy: locks == nil && refusal == nil,
                belongsToAnotherUser: entry.owner != system.environment.user && refusal == nil, refusal: refusal)
        }
    }
}
