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
        /// A record of a former version of this library, which does not contain this.
        case unknown
        case none
        case file(inode: UInt64, size: Int, modified: Timestamp)
    }

    /// In both cases the temporary file is renamed to the target. If it is missing, that has been done.
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

/// The record of a transaction that is still in its store.
package struct PendingTransaction: Hashable, Sendable {
    package let path: FilePath
    /// The names of the domains that it changes, or nil if the record cannot be read.
    package let domains: [String]?
    /// The new files of the domains.
    package let temporaries: [FilePath]
    /// Whether a process holds the lock of one of the domains.
    package let isBusy: Bool
    /// Whether the record or the store belongs to another user.
    package var isOfOthers = false
}

extension StoreFolder {
    /// Returns the records of transactions in this store. Opening a domain completes those that can be completed.
    package func pendingTransactions(on system: SystemServices) -> [PendingTransaction] {
        guard arrangement == .own else { return [] }
        let folder = transactions
        let other = recordOfAnotherUser(on: system)
        let names = (try? system.fileSystem.names(in: folder)) ?? []
        return names.filter { !$0.isTemporary }.map { name in
            let path = folder.appending(name)
            guard let record = PendingTransactions.record(at: path, folder, system) else {
                return PendingTransaction(
                    path: path, domains: nil, temporaries: [], isBusy: false, isOfOthers: path == other)
            }
            let locks = try? DomainLocks(of: record.files, on: system, patience: .zero)
            locks?.release()
            return PendingTransaction(
                path: path, domains: record.files.map(\.file.name),
                temporaries: record.steps.map(\.change.temporary),
                isBusy: locks == nil)
        }
    }
}
