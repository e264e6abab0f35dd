internal import Platform
internal import PropertyLists

/// The transactions that were decided but perhaps not carried out.
struct PendingTransactions {
    private let machine: Machine
    private let records: [(path: FilePath, record: TransactionRecord)]

    /// Those that are noted in a folder. What cannot be read does not count, and is left for a person to look at.
    init(in folder: FilePath?, on machine: Machine) {
        self.machine = machine
        guard let folder, let names = try? machine.fileSystem.names(in: folder) else {
            records = []
            return
        }
        records = names.filter { !$0.isTemporary }.compactMap { name in
            let path = folder.appending(name)
            guard let record = Self.record(at: path, folder, machine) else { return nil }
            return (path, record)
        }
    }

    static func record(at path: FilePath, _ folder: FilePath, _ machine: Machine) -> TransactionRecord? {
        // Carrying it out takes our rights: what somebody else has noted could have us make and rename any file.
        guard let file = try? machine.fileSystem.open(path, .reading), let status = try? file.status(),
            status.owner == machine.environment.user, let bytes = try? file.contents(status, limit: 64 << 20),
            let value = try? PropertyList(parsing: bytes, as: .binary), var record = TransactionRecord(value)
        else {
            return nil
        }
        for index in record.steps.indices { record.steps[index].file.transactions = folder }
        return record
    }

    var isEmpty: Bool { records.isEmpty }

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
        try machine.makingFolder(path.parent) { () throws(SystemFailure) in
            try machine.fileSystem.replace(path, with: bytes)
        }
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

extension StoreFolder {
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
