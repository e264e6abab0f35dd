package import Platform
internal import PropertyLists

/// The transactions that were decided but perhaps not carried out.
struct PendingTransactions {
    private let machine: Machine
    private let records: [(path: FilePath, record: TransactionRecord)]
    /// A note that another user has left, or that lies in another user's store. Only that user may carry it out.
    let noteOfOthers: FilePath?
    /// The unfinished notes of killed writers.
    private let leftovers: [FilePath]

    /// Those that are noted in a folder. What cannot be read is ignored, and left for a person to look at.
    init(in folder: FilePath?, on machine: Machine) {
        self.machine = machine
        guard let folder, let names = try? machine.fileSystem.names(in: folder) else {
            (records, noteOfOthers, leftovers) = ([], nil, [])
            return
        }
        let isOwn = Self.isOwn(folder, machine)
        var (records, other) = ([(path: FilePath, record: TransactionRecord)](), FilePath?.none)
        for name in names where !name.isTemporary {
            let path = folder.appending(name)
            let status = (try? machine.fileSystem.status(of: path, followingLink: false)) ?? nil
            if !isOwn || status.map({ $0.owner != machine.environment.user }) ?? false {
                other = other ?? path
            } else if let record = Self.record(at: path, folder, machine) {
                records.append((path, record))
            }
        }
        (self.records, noteOfOthers) = (records, other)
        leftovers = isOwn ? names.filter(\.isTemporary).map(folder.appending) : []
    }

    /// Whether nobody but this user can have put notes into the folder: it and the store that it belongs to are the
    /// user's own, and it is no link to another place.
    private static func isOwn(_ folder: FilePath, _ machine: Machine) -> Bool {
        let (files, user) = (machine.fileSystem, machine.environment.user)
        guard let notes = try? files.status(of: folder, followingLink: false), notes.kind == .folder,
            let store = try? files.status(of: folder.parent)
        else {
            return false
        }
        return notes.owner == user && store.owner == user && !notes.isWritableByAny
    }

    /// The record of a note in a folder of the user's own; nil where anybody else may have had a hand in it.
    ///
    /// Carrying it out takes our rights: what somebody else has noted could have us make and rename any file. So the
    /// note itself is read, no link to another file, and it changes nothing but what its domains lead to.
    static func record(at path: FilePath, _ folder: FilePath, _ machine: Machine) -> TransactionRecord? {
        guard isOwn(folder, machine), let file = try? machine.fileSystem.open(path, .readingItself),
            let status = try? file.status(), status.kind == .file, status.links == 1,
            status.owner == machine.environment.user, let bytes = try? file.contents(status, limit: 64 << 20),
            let value = try? PropertyList(parsing: bytes, as: .binary), var record = TransactionRecord(value),
            record.steps.allSatisfy({ $0.isWithinReach(of: folder.parent, machine) })
        else {
            return nil
        }
        for index in record.steps.indices { record.steps[index].file.transactions = folder }
        return record
    }

    var isEmpty: Bool { records.isEmpty }

    /// Removes unfinished notes of writers that were killed while they changed one of the files. Only the holder of
    /// the locks may call this.
    func removeLeftovers(of files: [ResolvedFile]) {
        for path in leftovers where files.contains(where: { path.isTemporary(of: $0.target) }) {
            _ = try? machine.fileSystem.remove(path)
        }
    }

    func concern(_ files: [ResolvedFile]) -> Bool {
        let targets = Set(files.map(\.target))
        return records.contains { $0.record.steps.contains { targets.contains($0.target) } }
    }

    /// Carries out those whose locks become free. The writer of any other one is still at it.
    ///
    /// - Parameter targets: The files that the caller needs.
    /// - Returns: Why one that changes them cannot be carried out.
    @discardableResult
    func finish(patience: Duration, for targets: Set<FilePath> = []) -> StoreFailure? {
        var failure: StoreFailure?
        for (path, record) in records {
            var current = record.steps.first?.file
            let files = record.steps.map { ResolvedFile(decided: $0.file, target: $0.target) }
            guard let locks = try? DomainLocks(of: files, on: machine, patience: patience) else { continue }
            defer { locks.release() }
            // Somebody else may have been quicker.
            guard (try? machine.fileSystem.status(of: path)) != nil else { continue }
            do throws(SystemFailure) {
                for step in record.steps {
                    current = step.file
                    try step.carryOut(in: machine.fileSystem)
                }
                for folder in Set(record.steps.map(\.target.parent)).sorted() {
                    try machine.fileSystem.synchronizeFolder(folder)
                }
            } catch {
                let isNeeded = record.steps.contains { targets.contains($0.target) }
                if isNeeded { failure = failure ?? current?.failure(error) }
                continue
            }
            Self.remove(path, on: machine)
        }
        return failure
    }

    // MARK: Notes

    /// Puts a record on the disk.
    static func note(
        _ record: TransactionRecord, at path: FilePath, on machine: Machine
    ) throws(SystemFailure) {
        let bytes: [UInt8]
        do throws(EncodingFailure) {
            bytes = Array(try record.encoded.serialized(as: .binary))
        } catch {
            throw SystemFailure(.invalidArgument, .write, path)
        }
        let files = machine.fileSystem
        // Named for a file that it changes, so that the holder of that file's lock can remove leftovers.
        let named = record.steps.first?.target.lastComponent.map(path.parent.appending) ?? path
        let temporary = try machine.makingFolder(path.parent) { () throws(SystemFailure) in
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

    /// Takes back a record whose way to the disk failed. False where it may come back after a crash.
    static func withdraw(_ path: FilePath, on machine: Machine) -> Bool {
        do throws(SystemFailure) {
            if try machine.fileSystem.remove(path) { try machine.fileSystem.synchronizeFolder(path.parent) }
            return true
        } catch {
            return false
        }
    }

    /// Removes a record that is carried out, and the folder with the last one: readers then look in vain only once.
    static func remove(_ path: FilePath, on machine: Machine) {
        _ = try? machine.fileSystem.remove(path)
        _ = try? machine.fileSystem.remove(path.parent)
    }
}

extension FilePath {
    /// Whether a file of this name was being written to take the place of `other`.
    func isTemporary(of other: FilePath) -> Bool {
        guard let name = lastComponent, let other = other.lastComponent else { return false }
        return name.isTemporary(of: other)
    }
}

extension TransactionRecord.Step {
    /// Whether the user whose store this is would change the same files by writing the domain: its target is where the
    /// domain's path leads, in a folder of the user's own, and its lock is the store's.
    fileprivate func isWithinReach(of store: FilePath, _ machine: Machine) -> Bool {
        let (files, user) = (machine.fileSystem, machine.environment.user)
        if case .file(let lock) = file.lock, !lock.components.starts(with: store.components) { return false }
        return (try? files.status(of: target.parent))?.owner == user
            && (try? file.path.leadingToTarget(for: user, in: files)) == target
            && change.temporary.parent == target.parent
    }
}

extension StoreFolder {
    /// The note of a change of several files that only another user can carry out; nil where there is none.
    package func noteOfOthers(on machine: Machine) -> FilePath? {
        PendingTransactions(in: transactions, on: machine).noteOfOthers
    }

    /// Carries out what a writer that died has decided, where nobody is at it.
    package func finishTransactions(on machine: Machine) {
        file(of: .global).finishTransactions(on: machine)
    }
}

extension DomainFile {
    /// Carries out what a writer that died has decided, where nobody is at it.
    package func finishTransactions(on machine: Machine) {
        let pending = PendingTransactions(in: transactions, on: machine)
        if !pending.isEmpty { pending.finish(patience: .zero) }
    }
}
