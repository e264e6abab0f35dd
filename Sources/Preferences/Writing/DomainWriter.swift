internal import Digests
internal import Platform
internal import PropertyLists

/// Changes domains: under their locks, each file as a whole, all of them or none.
///
/// For each file: lock, read again if it is not the one known, change, write a temporary one, keep what was before, put
/// the new one on the disk, leave a mark, rename, put the name on the disk, keep the version. Several files have a
/// record between (`TransactionRecord`).
package struct DomainWriter: Sendable {
    package let machine: Machine
    package var note: WriteNote
    /// How long to wait for locks that others hold.
    package var patience: Duration
    package var policy: HistoryPolicy

    package init(
        _ machine: Machine, _ note: WriteNote, patience: Duration = .seconds(5),
        policy: HistoryPolicy = HistoryPolicy()
    ) {
        self.machine = machine
        self.note = note
        self.patience = patience
        self.policy = policy
    }

    /// A writer as the user wants writers to be.
    package init(_ machine: Machine, _ note: WriteNote, by policy: StorePolicy) {
        self.init(machine, note, patience: policy.patience, policy: policy.history)
    }

    /// Makes all of the changes, or, where one of them fails, none.
    ///
    /// Once this has returned, the changes are on the disk. Of several that are decided each holds, though the system
    /// may refuse a step: then `unfinished` is thrown.
    @discardableResult
    package func commit(_ edits: [DomainEdit]) throws -> [CommittedDomain] {
        for _ in 0..<16 {
            do {
                return try commitOnce(edits)
            } catch let failure as StoreFailure where failure.meansOtherContents {
                continue
            }
        }
        return try commitOnce(edits)
    }

    private func commitOnce(_ edits: [DomainEdit]) throws -> [CommittedDomain] {
        try check(edits)
        let files = try edits.map { edit throws(StoreFailure) in try ResolvedFile(edit.file, on: machine) }
        try checkDistinct(files)
        let locks = try lock(files)
        defer { locks.release() }
        return try commit(edits, files, under: locks)
    }

    /// The most new files that stay open at once.
    private static let mostOpen = 16

    /// Makes the changes under locks that are ours already.
    func commit(
        _ edits: [DomainEdit], _ files: [ResolvedFile], under locks: DomainLocks
    ) throws -> [CommittedDomain] {
        var plans: [FilePlan] = []
        do {
            for (edit, file) in zip(edits, files) {
                plans.append(try FilePlan(edit, file, locks, self))
            }
            removeLeftovers(of: plans.filter(\.isChanged).map(\.resolved))
            for index in plans.indices {
                try plans[index].startTemporary(self)
                // Of very many none stays open.
                if plans.count > Self.mostOpen { try plans[index].finishTemporary() }
            }
            try carryOut(&plans, locks)
        } catch {
            for plan in plans { plan.removeTemporary(on: machine) }
            throw error
        }
        return plans.map(\.outcome)
    }

    /// Replaces a file that is named by its path, whatever it holds, under its lock.
    ///
    /// - Parameter isSensitive: Whether the bytes are for nobody but this user.
    package func replace(_ file: DomainFile, with bytes: [UInt8], isSensitive: Bool) throws(StoreFailure) {
        let resolved = try ResolvedFile(file, on: machine)
        let locks = try DomainLocks(of: [resolved], on: machine, patience: patience)
        defer { locks.release() }
        removeLeftovers(of: [resolved])
        try file.reporting { () throws(SystemFailure) in
            let files = machine.fileSystem
            try files.replace(
                resolved.target, with: bytes, like: files.status(of: resolved.target),
                for: isSensitive ? .owner : .umask)
        }
    }

    /// Removes temporary files of killed writers beside the files, whose locks are held.
    private func removeLeftovers(of files: [ResolvedFile]) {
        for (folder, files) in Dictionary(grouping: files, by: \.target.parent) {
            let names = (try? machine.fileSystem.names(in: folder)) ?? nil
            for left in (names ?? []).filter(\.isTemporary).map(folder.appending)
            where files.contains(where: { left.isTemporary(of: $0.target) }) {
                _ = try? machine.fileSystem.remove(left)
            }
        }
    }

    /// Keeps a version that this writer left unkept, unless another one has done so since.
    ///
    /// Whoever has the lock now sees to it himself.
    package func keep(_ version: UnkeptVersion, of file: DomainFile) throws(StoreFailure) {
        guard let history = History(of: file, on: machine) else { return }
        let locks = try DomainLocks(of: [ResolvedFile(file, on: machine)], on: machine, patience: .zero)
        defer { locks.release() }
        guard let lock = locks.markFile(of: file), DomainMark(in: lock)?.transaction == version.transaction else {
            return
        }
        guard var former = try? history.listed() else { return }
        history.record(version, after: &former, policy: policy)
    }

    func check(_ edits: [DomainEdit]) throws(StoreFailure) {
        for edit in edits {
            if edit.file.isReadOnly { throw StoreFailure(edit.file, .readOnly) }
            if edits.count > 1, edit.file.transactions != edits[0].file.transactions {
                throw StoreFailure(edit.file, .severalStores)
            }
        }
    }

    /// Two changes of one file would both begin with what it holds now, and the second would undo the first.
    func checkDistinct(_ files: [ResolvedFile]) throws(StoreFailure) {
        guard files.count > 1 else { return }
        var targets: Set<FilePath> = []
        for file in files where !targets.insert(file.target).inserted {
            throw StoreFailure(file.file, .changedTwice)
        }
    }

    /// Takes the locks once no transaction is left half done on the files.
    func lock(_ files: [ResolvedFile]) throws(StoreFailure) -> DomainLocks {
        let deadline = machine.clock.now.advanced(by: patience)
        for _ in 0..<16 {
            let left = max(machine.clock.now.duration(to: deadline), .zero)
            let locks = try DomainLocks(of: files, on: machine, patience: left)
            // Whoever noted a change to one of these files had its lock, which is ours now: the writer is dead.
            let pending = PendingTransactions(in: files.first?.file.transactions, on: machine)
            if let note = pending.noteOfOthers, let file = files.first?.file {
                locks.release()
                throw StoreFailure(file, .pendingOfOthers(note: note.description))
            }
            pending.removeLeftovers(of: files)
            if !pending.concern(files) { return locks }
            locks.release()
            let targets = Set(files.map(\.target))
            if let failure = pending.finish(patience: left, for: targets) { throw failure.ofDecidedChange }
        }
        throw StoreFailure(.locked(holder: nil), files.first?.file.name ?? "")
    }

    // MARK: Carrying out

    private func carryOut(_ plans: inout [FilePlan], _ locks: DomainLocks) throws(StoreFailure) {
        for plan in plans where plan.isInDoubt { try plan.synchronizeFormer(self) }
        let changed = plans.indices.filter { plans[$0].isChanged }
        guard let first = changed.first else { return }
        let transaction = transactionName()
        for index in changed { try plans[index].keepFormer(self, locks, transaction) }
        for index in changed { try plans[index].finishTemporary() }
        let record = changed.count > 1 ? try note(&plans, changed) : nil
        var current = first
        do throws(SystemFailure) {
            for index in changed {
                current = index
                try plans[index].replace(self, locks, transaction, isOnly: changed.count == 1)
            }
            let folders = changed.map { plans[$0].resolved.target.parent }
            do throws(SystemFailure) {
                try synchronize(folders)
            } catch {
                // What it was to write may be dropped, and another fsync says nothing of that: so everything anew. What
                // is gone cannot go once more.
                guard changed.allSatisfy({ !plans[$0].removesFile }) else { throw error }
                for index in changed { try plans[index].replaceAnew(self) }
                try synchronize(folders)
            }
        } catch {
            // With a record the change holds: whoever opens one of the files next carries it out.
            if record != nil { for index in changed { plans[index].forgetTemporary() } }
            // A file that is gone is not found to be so by the next attempt, which would keep the removal.
            if record == nil {
                for index in changed where plans[index].isCarriedOut && plans[index].removesFile {
                    plans[index].keepNew(self, transaction)
                }
            }
            let file = plans[current].resolved.file
            if error.meansOtherContents, plans[current].requiresKnown { throw StoreFailure(file, .notCurrent) }
            throw record == nil ? file.failure(error) : file.failure(error).ofDecidedChange
        }
        if let record { PendingTransactions.remove(record, on: machine) }
        for index in changed { plans[index].keepNew(self, transaction) }
    }

    /// Notes what is decided. From here on the change holds.
    private func note(_ plans: inout [FilePlan], _ changed: [Int]) throws(StoreFailure) -> FilePath {
        var steps: [TransactionRecord.Step] = []
        for index in changed {
            if let step = try plans[index].step(self) { steps.append(step) }
        }
        let domain = plans[changed[0]].resolved.file
        guard let folder = domain.transactions, let name = FileName(transactionName()) else {
            throw StoreFailure(domain, .severalStores)
        }
        let path = folder.appending(name)
        // Whoever carries the record out needs the new files by their names, after a loss of power too.
        try domain.reporting { () throws(SystemFailure) in try synchronize(steps.map(\.target.parent)) }
        do throws(SystemFailure) {
            try PendingTransactions.note(TransactionRecord(steps: steps), at: path, on: machine)
            return path
        } catch {
            // A record that may come back must find what it speaks of.
            if !PendingTransactions.withdraw(path, on: machine) {
                for index in changed { plans[index].forgetTemporary() }
            }
            throw StoreFailure(error, domain.name)
        }
    }

    /// Puts the names in the folders on the disk, each folder once. There are few different ones.
    private func synchronize(_ folders: [FilePath]) throws(SystemFailure) {
        for (index, folder) in folders.enumerated() where !folders[..<index].contains(folder) {
            try machine.fileSystem.synchronizeFolder(folder)
        }
    }

    func transactionName() -> String { Hexadecimal.text(of: machine.fileSystem.unpredictableNumber()) }
}
