package import Platform
internal import PropertyLists

/// The record of a committed change of several files.
///
/// It exists from the moment of the commit until the last file is replaced. After a crash, the next program that opens
/// one of the files completes it.
struct TransactionRecord: Sendable, Equatable {
    var steps: [Step]

    /// The change of one file.
    struct Step: Sendable, Equatable {
        /// The file, as far as its lock requires it.
        var file: DomainFile
        var target: FilePath
        /// The file to be replaced.
        var former: Former
        var change: Change
    }

    /// The file at the target when the change was committed.
    enum Former: Sendable, Equatable {
        /// Not recorded, by a former version of this library.
        case unknown
        case none
        case file(inode: UInt64, size: Int, modified: Timestamp)
    }

    /// In both cases the temporary file is renamed to the target. If it is missing, it was renamed already.
    enum Change: Sendable, Equatable {
        case replace(by: FilePath)
        /// The file is a tombstone, which is then removed from the target.
        case remove(by: FilePath)
    }
}

extension TransactionRecord.Change {
    var temporary: FilePath {
        switch self {
        case .replace(let temporary), .remove(let temporary): temporary
        }
    }
}

extension TransactionRecord.Step {
    /// Completes the step. A file that was written since the commit remains: a program that may not read the record, or
    /// that addresses the file otherwise, does not complete the record first.
    func carryOut(in files: some FileSystem) throws(SystemFailure) {
        let temporary = change.temporary
        guard temporary.parent == target.parent else { return }
        if try files.status(of: temporary) != nil {
            if former.isStill(try files.status(of: target)) {
                try files.rename(temporary, to: target)
            } else {
                try files.remove(temporary)
            }
        }
        guard case .remove = change, try files.status(of: target)?.size == DomainState.tombstone.count else { return }
        if try files.contents(of: target, limit: 4096) == DomainState.tombstone { try files.remove(target) }
    }
}

extension TransactionRecord.Former {
    init(_ status: FileStatus?) {
        self = status.map { .file(inode: $0.inode, size: $0.size, modified: $0.modified) } ?? .none
    }

    /// Whether the present file is the former one.
    ///
    /// A power failure may truncate a file or renumber the device, but makes nothing newer. A file system without
    /// permanent inode numbers is identified by size and time.
    func isStill(_ found: FileStatus?) -> Bool {
        switch (self, found) {
        case (.unknown, _), (.none, nil): true
        case (.none, _?), (.file, nil): false
        case (.file(let inode, let size, let modified), let found?):
            found.modified == modified && found.size == size
                || found.inode == inode && found.modified <= modified
        }
    }
}

// MARK: Encoding

extension TransactionRecord {
    var encoded: PropertyList { .array(steps.map(\.encoded)) }

    /// Returns nil for any value that our writers do not produce.
    init?(_ value: PropertyList) {
        guard let elements = value.arrayValue else { return nil }
        steps = []
        for element in elements {
            guard let step = Step(element) else { return nil }
            steps.append(step)
        }
    }
}

extension TransactionRecord.Step {
    fileprivate var encoded: PropertyList {
        var entries: PropertyList.Dictionary = [
            "name": .string(file.name), "path": .path(file.path), "target": .path(target),
        ]
        if case .file(let lock) = file.lock { entries["lock"] = .path(lock) }
        if let history = file.history { entries["history"] = .path(history) }
        entries["former"] = former.encoded
        switch change {
        case .replace(let temporary): entries["temporary"] = .path(temporary)
        case .remove(let temporary): entries["tombstone"] = .path(temporary)
        }
        return .dictionary(entries)
    }

    fileprivate init?(_ value: PropertyList) {
        guard let name = value["name"]?.stringValue, let path = value["path"]?.pathValue,
            let target = value["target"]?.pathValue
        else {
            return nil
        }
        let lock = value["lock"]?.pathValue
        file = DomainFile(
            name: name, path: path, lock: lock.map(LockPlace.file) ?? .byPath, history: value["history"]?.pathValue)
        self.target = target
        former = TransactionRecord.Former(encoded: value["former"])
        if let temporary = value["temporary"]?.pathValue {
            change = .replace(by: temporary)
        } else if let temporary = value["tombstone"]?.pathValue {
            change = .remove(by: temporary)
        } else {
            return nil
        }
        guard change.temporary.lastComponent?.isTemporary == true else { return nil }
    }
}

extension TransactionRecord.Former {
    fileprivate var encoded: PropertyList? {
        switch self {
        case .unknown: nil
        case .none: .dictionary([:])
        case .file(let inode, let size, let modified):
            .dictionary([
                "inode": .integer(PropertyList.Integer(inode)), "size": .integer(PropertyList.Integer(size)),
                "modified": .integer(PropertyList.Integer(modified.nanoseconds)),
            ])
        }
    }

    fileprivate init(encoded value: PropertyList?) {
        guard let value else {
            self = .unknown
            return
        }
        func number<Number: FixedWidthInteger>(_ key: String) -> Number? {
            value[key]?.integerValue.flatMap { Number(exactly: $0) }
        }
        if let inode: UInt64 = number("inode"), let size: Int = number("size"),
            let modified: Int64 = number("modified")
        {
            self = .file(inode: inode, size: size, modified: Timestamp(nanoseconds: modified))
        } else {
            self = .none
        }
    }
}

extension PropertyList {
    /// A path is stored as data, because it need not be valid text.
    fileprivate static func path(_ path: FilePath) -> PropertyList { .data(Data(path.bytes)) }

    fileprivate var pathValue: FilePath? { dataValue.flatMap { FilePath($0) } }
}

/// The transactions that are committed but may not be complete.
struct PendingTransactions {
    private let system: SystemServices
    private let records: [(path: FilePath, record: TransactionRecord)]
    /// The path of a record that belongs to another user or is in another user's store, or nil. Only that user may
    /// complete it.
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
        guard isOwn(folder, system), let file = try? system.fileSystem.open(path, .readingNoFollow),
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
    /// Whether a write of the domain by this user would change the same files: the target is that of the domain's path
    /// and is in a folder of the user, and the lock is the store's.
    fileprivate func isWithinReach(of store: FilePath, _ system: SystemServices) -> Bool {
        let (files, user) = (system.fileSystem, system.environment.user)
        if case .file(let lock) = file.lock, !lock.components.starts(with: store.components) { return false }
        return (try? files.status(of: target.parent))?.owner == user
            && (try? file.path.leadingToTarget(for: user, in: files)) == target
            && change.temporary.parent == target.parent
    }
}

extension StoreFolder {
    /// Returns the path of a record that only another user can complete, or nil if there is none.
    package func recordOfAnotherUser(on system: SystemServices) -> FilePath? {
        PendingTransactions(in: transactions, on: system).recordOfAnotherUser
    }

    /// Completes the transactions that their writers left.
    package func finishTransactions(on system: SystemServices) {
        file(of: .global).finishTransactions(on: system)
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
    /// The names of the domains that it changes, or nil if the record cannot be read.
    package let domains: [String]?
    /// The new files of the domains.
    package let temporaries: [FilePath]
    /// Whether a process holds the lock of one of the domains.
    package let isBusy: Bool
    /// Whether the record or the store belongs to another user.
    package var belongsToAnotherUser = false
}

extension StoreFolder {
    /// Returns the records of transactions in this store. Opening a domain completes those that can be completed.
    package func transactionStatuses(on system: SystemServices) -> [TransactionStatus] {
        guard arrangement == .own else { return [] }
        let folder = transactions
        let other = recordOfAnotherUser(on: system)
        let names = (try? system.fileSystem.names(in: folder)) ?? []
        return names.filter { !$0.isTemporary }.map { name in
            let path = folder.appending(name)
            guard let record = PendingTransactions.record(at: path, folder, system) else {
                return TransactionStatus(
                    path: path, domains: nil, temporaries: [], isBusy: false, belongsToAnotherUser: path == other)
            }
            let locks = try? DomainLocks(of: record.files, on: system, patience: .zero)
            locks?.release()
            return TransactionStatus(
                path: path, domains: record.files.map(\.file.name),
                temporaries: record.steps.map(\.change.temporary),
                isBusy: locks == nil)
        }
    }
}
