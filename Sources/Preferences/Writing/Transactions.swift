internal import Platform
internal import PropertyLists

/// The record of a committed change of several files.
///
/// It exists from the moment of the commit until the last file is replaced, and is never withdrawn. Until then, readers
/// take the contents of each file from its temporary file, see `CompletedFiles`. After a crash, the next program that
/// opens one of the files completes it.
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
        /// The temporary file when the change was committed, by which it is recognized at the target.
        var written = Former.unknown
        /// What is kept of the change; nil in a record of a former version of this library.
        var outcome: Outcome?
    }

    /// The new contents of a domain, for its mark and its history. The program that completes the change keeps them.
    struct Outcome: Sendable, Equatable {
        /// The domain's file, and the folder that can replace it.
        var path: FilePath
        var folder: FilePath?
        var mark: WriteMarker
        /// Whether everyone may read the domain.
        var isPublic: Bool
        /// The limits of the history: the number of versions, which is 0 if no version is kept, and their size.
        var versions: Int
        var bytes: Int
        /// Whether the domain is new.
        var isFirst: Bool
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
    /// What is left to do for a step.
    enum State: Hashable, Sendable {
        /// The target is still the former file, which the temporary file replaces.
        case pending
        /// The target is the tombstone, which has still to be removed.
        case buried
        /// The file was replaced or removed, by this transaction or since by another program. Its own contents are in
        /// force.
        case done
        /// The new contents are missing, or are not a file of the user who made the change.
        case unusable(ErrorCode)
    }

    /// Returns the state of the step.
    ///
    /// - Parameter owner: The user who made the change.
    func state(in files: some FileSystem, owner: UInt32) throws(SystemFailure) -> State {
        // The temporary file first: another process may rename it now, after which the target is the new file.
        let new = try files.status(of: change.temporary, followingLink: false)
        let found = try files.status(of: target)
        if let new, former.isStill(found) {
            return new.kind == .file && new.owner == owner ? .pending : .unusable(.notPermitted)
        }
        if case .remove = change, try isTombstone(found, in: files) { return .buried }
        // A record of an earlier version does not identify the new file. It was renamed.
        if new != nil || written == .unknown || written.isSame(found) { return .done }
        return former.isStill(found) ? .unusable(.noSuchFile) : .done
    }

    private func isTombstone(_ found: FileStatus?, in files: some FileSystem) throws(SystemFailure) -> Bool {
        guard let found, found.size == DomainState.tombstone.count else { return false }
        return try files.contents(of: target, limit: 4096) == DomainState.tombstone
    }

    /// Completes the step. A file that was written since the commit remains: a program that may not read the record, or
    /// that addresses the file otherwise, does not complete the record first.
    func carryOut(in files: some FileSystem, owner: UInt32) throws(SystemFailure) {
        switch try state(in: files, owner: owner) {
        case .pending: try files.rename(change.temporary, to: target)
        case .done: try files.remove(change.temporary)
        case .buried: break
        case .unusable(let code): throw SystemFailure(code, .useRecord, change.temporary)
        }
        if case .remove = change, try isTombstone(files.status(of: target), in: files) { try files.remove(target) }
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

    /// Whether the file is the recorded one, which must exist. An older file only has its inode number by chance, in a
    /// store that was copied back.
    func isSame(_ found: FileStatus?) -> Bool {
        guard case .file(let inode, let size, let modified) = self, let found else { return false }
        return found.inode == inode && found.modified >= modified || found.modified == modified && found.size == size
    }
}

// MARK: Encoding

extension TransactionRecord {
    /// - Parameter store: The folder of the store.
    func encoded(in store: FilePath) -> PropertyList { .array(steps.map { $0.encoded(in: store) }) }

    /// Returns nil for any value that our writers do not produce.
    ///
    /// - Parameter store: The folder of the store, which may have been moved since, or have another path here.
    init?(_ value: PropertyList, in store: FilePath) {
        guard let elements = value.arrayValue, !elements.isEmpty else { return nil }
        steps = []
        for element in elements {
            guard let step = Step(element, in: store) else { return nil }
            steps.append(step)
        }
    }
}

extension TransactionRecord.Step {
    fileprivate func encoded(in store: FilePath) -> PropertyList {
        var entries: PropertyList.Dictionary = [
            "name": .string(file.name), "path": .path(file.path), "target": .path(target), "store": .path(store),
        ]
        entries["written"] = written.encoded
        if case .file(let lock) = file.lock { entries["lock"] = .path(lock) }
        if let history = file.history { entries["history"] = .path(history) }
        entries["former"] = former.encoded
        entries["outcome"] = outcome?.encoded
        switch change {
        case .replace(let temporary): entries["temporary"] = .path(temporary)
        case .remove(let temporary): entries["tombstone"] = .path(temporary)
        }
        return .dictionary(entries)
    }

    fileprivate init?(_ value: PropertyList, in store: FilePath) {
        let recordedStore = value["store"]?.pathValue ?? store
        func recorded(_ key: String) -> FilePath? { value[key]?.pathValue?.moved(from: recordedStore, to: store) }
        guard let name = value["name"]?.stringValue, let path = recorded("path"), let target = recorded("target") else {
            return nil
        }
        let lock = recorded("lock")
        file = DomainFile(
            name: name, path: path, lock: lock.map(LockPlace.file) ?? .byPath, history: recorded("history"))
        self.target = target
        former = TransactionRecord.Former(encoded: value["former"])
        written = TransactionRecord.Former(encoded: value["written"])
        if let temporary = recorded("temporary") {
            change = .replace(by: temporary)
        } else if let temporary = recorded("tombstone") {
            change = .remove(by: temporary)
        } else {
            return nil
        }
        guard change.temporary.lastComponent?.isTemporary == true else { return nil }
        outcome = value["outcome"].flatMap { TransactionRecord.Outcome($0, from: recordedStore, to: store) }
    }
}

extension TransactionRecord.Outcome {
    fileprivate var encoded: PropertyList {
        var entries: PropertyList.Dictionary = [
            "path": .path(path), "mark": .data(Data(mark.line)), "public": .boolean(isPublic),
            "versions": .integer(PropertyList.Integer(versions)), "bytes": .integer(PropertyList.Integer(bytes)),
            "first": .boolean(isFirst),
        ]
        entries["folder"] = folder.map { .path($0) }
        return .dictionary(entries)
    }

    fileprivate init?(_ value: PropertyList, from recorded: FilePath, to store: FilePath) {
        guard let path = value["path"]?.pathValue,
            let mark = value["mark"]?.dataValue.flatMap({ WriteMarker($0[...]) }),
            let versions = value["versions"]?.integerValue.flatMap({ Int(exactly: $0) }),
            let bytes = value["bytes"]?.integerValue.flatMap({ Int(exactly: $0) })
        else { return nil }
        self.init(
            path: path.moved(from: recorded, to: store),
            folder: value["folder"]?.pathValue?.moved(from: recorded, to: store), mark: mark,
            isPublic: value["public"] == .boolean(true), versions: versions, bytes: bytes,
            isFirst: value["first"] == .boolean(true))
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

extension FilePath {
    /// Returns the path in a folder that has another path here.
    fileprivate func moved(from folder: FilePath, to other: FilePath) -> FilePath {
        guard folder != other, bytes.starts(with: folder.bytes + [UInt8(ascii: "/")]) else { return self }
        return other.resolving(FilePath(Array(bytes.dropFirst(folder.bytes.count + 1))) ?? ".")
    }
}

extension PropertyList {
    /// A path is stored as data, because it need not be valid text.
    fileprivate static func path(_ path: FilePath) -> PropertyList { .data(Data(path.bytes)) }

    fileprivate var pathValue: FilePath? { dataValue.flatMap { FilePath($0) } }
}
