internal import Digests
package import Platform
package import PropertyLists

/// Changes domains under their locks. Each file is replaced as a whole, and either all files or none.
///
/// For each file it takes the lock, reads the file unless it is the known one, applies the change, writes a temporary
/// file, keeps the previous contents, syncs the new file, writes the mark, renames, syncs the folder, and keeps the new
/// version. For several files it writes a `TransactionRecord` before the first rename.
package struct DomainWriter: Sendable {
    package let system: SystemServices
    package var author: WriteAuthor
    /// The time to wait for locks.
    package var patience: Duration
    package var policy: HistoryPolicy
    /// Called after each part of a commit, on the thread of the caller.
    package var report: @Sendable (CommitStep) -> Void = { _ in }

    package init(
        _ system: SystemServices, _ author: WriteAuthor, patience: Duration = .seconds(5),
        policy: HistoryPolicy = HistoryPolicy()
    ) {
        self.system = system
        self.author = author
        self.patience = patience
        self.policy = policy
    }

    /// Makes a writer with the user's settings.
    package init(_ system: SystemServices, _ author: WriteAuthor, by policy: StorePolicy) {
        self.init(system, author, patience: policy.patience, policy: policy.history)
    }

    /// Makes all changes, or none if one of them fails.
    ///
    /// When this returns, the changes are on the disk. If the system refuses a step after several changes were
    /// committed, `unfinished` is thrown and the changes remain committed.
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

    /// Returns the outcomes of changes without making them. Throws for a change that cannot be made.
    package func preview(_ edits: [DomainEdit]) throws -> [CommittedDomain] {
        try check(edits)
        let files = try edits.map { edit throws(StoreFailure) in try ResolvedFile(edit.file, on: system) }
        try checkDistinct(files)
        edits.first?.file.finishTransactions(on: system)
        return try zip(edits, files).map { edit, file in
            try FileCommit(edit, file, .none(in: system.fileSystem), self).preview(self)
        }
    }

    private func commitOnce(_ edits: [DomainEdit]) throws -> [CommittedDomain] {
        try check(edits)
        let files = try edits.map { edit throws(StoreFailure) in try ResolvedFile(edit.file, on: system) }
        try checkDistinct(files)
        if let outcomes = try outcomesOfNothing(edits, files) { return outcomes }
        let locks = try lock(files)
        var hasStrays = false
        let outcomes: [CommittedDomain]
        do {
            defer { locks.release() }
            outcomes = try commit(edits, files, under: locks, noting: &hasStrays)
        }
        if hasStrays, let file = files.first?.file { removeStrays(besides: file) }
        return outcomes
    }

    /// Returns the outcomes if the changes require domains that have never existed. Then not even a lock is created.
    private func outcomesOfNothing(
        _ edits: [DomainEdit], _ files: [ResolvedFile]
    ) throws -> [CommittedDomain]? {
        guard edits.allSatisfy(\.requiresDomain), try files.allSatisfy(isUnknown) else { return nil }
        let plans = try zip(edits, files).map { edit, file in
            try FileCommit(edit, file, .none(in: system.fileSystem), self)
        }
        return plans.contains(where: \.isChanged) ? nil : plans.map(\.outcome)
    }

    /// Whether there is neither a domain nor its lock, which every writer of a domain creates first.
    private func isUnknown(_ file: ResolvedFile) throws(StoreFailure) -> Bool {
        guard case .file(let lock) = file.file.lock else { return false }
        return try file.file.reporting { () throws(SystemFailure) in
            for path in [lock, file.file.former?.lock, file.file.path, file.file.folder].compactMap(\.self)
            where try system.fileSystem.status(of: path, followingLink: false) != nil {
                return false
            }
            return true
        }
    }

    /// Makes the changes under locks that are held already.
    func commit(
        _ edits: [DomainEdit], _ files: [ResolvedFile], under locks: DomainLocks
    ) throws -> [CommittedDomain] {
        var hasStrays = false
        return try commit(edits, files, under: locks, noting: &hasStrays)
    }

    /// - Parameter hasStrays: Set to true if there are temporary files of other domains.
    private func commit(
        _ edits: [DomainEdit], _ files: [ResolvedFile], under locks: DomainLocks, noting hasStrays: inout Bool
    ) throws -> [CommittedDomain] {
        var plans: [FileCommit] = []
        do {
            for (edit, file) in zip(edits, files) {
                plans.append(try FileCommit(edit, file, locks, self))
            }
            hasStrays = removeLeftovers(of: plans.filter(\.isChanged).map(\.resolved))
            for plan in plans where plan.isChanged { plan.folder?.removeLeftovers(on: system) }
            var (openCount, firstOpen) = (0, plans.startIndex)
            for index in plans.indices {
                try plans[index].startTemporary(self, isAlone: plans.count == 1)
                openCount += plans[index].openCount
                guard openCount >= FileCommit.mostOpen else { continue }
                for index in firstOpen...index { try plans[index].finishTemporary() }
                (openCount, firstOpen) = (0, index + 1)
            }
            try carryOut(&plans, locks)
        } catch {
            for plan in plans { plan.removeTemporary(on: system) }
            throw error
        }
        return plans.map(\.outcome)
    }

    /// Replaces a file that is addressed by path under its lock, whatever its contents.
    ///
    /// - Parameter isSensitive: Whether only this user may read the file.
    package func replace(_ file: DomainFile, with bytes: [UInt8], isSensitive: Bool) throws(StoreFailure) {
        let resolved = try ResolvedFile(file, on: system)
        let locks = try DomainLocks(of: [resolved], on: system, patience: patience)
        defer { locks.release() }
        removeLeftovers(of: [resolved])
        try file.reporting { () throws(SystemFailure) in
            let files = system.fileSystem
            try files.replace(
                resolved.target, with: bytes, like: files.status(of: resolved.target),
                for: isSensitive ? .owner : .umask)
        }
    }

    /// Removes temporary files of killed writers. Requires the locks of the files. Returns whether there are others.
    @discardableResult
    func removeLeftovers(of files: [ResolvedFile]) -> Bool {
        // A dictionary of the files by folder would take a tenth of the time of a write.
        var folders: [FilePath] = []
        for file in files where !folders.contains(file.target.parent) { folders.append(file.target.parent) }
        var hasOthers = false
        for folder in folders {
            let names = try? system.fileSystem.names(in: folder)
            for left in (names ?? []).filter(\.isTemporary).map(folder.appending) {
                guard files.contains(where: { left.isTemporary(of: $0.target) }) else {
                    hasOthers = true
                    continue
                }
                _ = try? system.fileSystem.remove(left)
            }
        }
        return hasOthers
    }

    /// Removes the temporary files that killed writers have left in a store, unless a writer is active. Files that a
    /// record names remain.
    private func removeStrays(besides file: DomainFile) {
        let files = system.fileSystem
        guard let path = file.lockOfStore, let store = file.transactions?.parent,
            case .locked(let lock)? = try? files.openLocked(path, .writing, .exclusive)
        else { return }
        defer { lock.unlock() }
        var formerLock: (any OpenFile)?
        if let former = file.former {
            switch try? files.openLocked(former.lockOfStore, .writing, .exclusive) {
            case .locked(let held)?: formerLock = held
            case .absent?: break
            case .busy?, nil: return
            }
        }
        defer { formerLock?.unlock() }
        let pending = PendingTransactions(in: file.transactions, on: system)
        guard let needed = pending.temporaries else { return }
        let folders = [store, store.appending(StoreFolder.hostFolder)]
        var strays = pending.leftovers
        for folder in folders {
            for name in (try? files.names(in: folder)) ?? [] {
                let path = folder.appending(name)
                if name.isTemporary { strays.append(path) }
                guard name.folderStem != nil else { continue }
                let inner = (try? files.names(in: path)) ?? []
                strays += inner.filter(\.isTemporary).map(path.appending)
            }
        }
        for stray in strays where !needed.contains(stray) { _ = try? files.remove(stray) }
        if !pending.leftovers.isEmpty, let folder = file.transactions { _ = try? files.remove(folder) }
    }

    /// Keeps a version that was not kept when it was written, unless another writer has kept it since.
    ///
    /// Throws if another writer holds the lock. Returns false if the version could not be kept.
    package func keep(_ version: PendingVersion, of file: DomainFile) throws(StoreFailure) -> Bool {
        guard let history = History(of: file, on: system) else { return true }
        let locks = try DomainLocks(of: [ResolvedFile(file, on: system)], on: system, patience: .zero)
        defer { locks.release() }
        guard let lock = locks.markFile(of: file), WriteMarker(in: lock)?.transaction == version.transaction else {
            return true
        }
        guard var former = try? history.listed() else { return false }
        return history.record(version, after: &former, policy: policy)
    }

    func check(_ edits: [DomainEdit]) throws(StoreFailure) {
        for edit in edits {
            if edit.file.isReadOnly { throw StoreFailure(edit.file, .readOnly) }
            if edits.count > 1, edit.file.transactions != edits[0].file.transactions {
                throw StoreFailure(edit.file, .differentStores)
            }
        }
    }

    /// Throws if two changes have the same file. Both would start from its present contents, and the second would
    /// revert the first.
    func checkDistinct(_ files: [ResolvedFile]) throws(StoreFailure) {
        guard files.count > 1 else { return }
        var targets: Set<FilePath> = []
        for file in files where !targets.insert(file.target).inserted {
            throw StoreFailure(file.file, .duplicateFile)
        }
    }

    /// Acquires the locks after completing pending transactions on the files.
    func lock(_ files: [ResolvedFile]) throws(StoreFailure) -> DomainLocks {
        let deadline = system.clock.now.advanced(by: patience)
        for _ in 0..<16 {
            let left = max(system.clock.now.duration(to: deadline), .zero)
            let locks = try DomainLocks(of: files, on: system, patience: left)
            // The writer of a pending record held the lock that we hold now, so it was killed or could not complete it.
            let pending = PendingTransactions(in: files.first?.file.transactions, on: system)
            if let failure = pending.refusal(for: files) {
                locks.release()
                throw StoreFailure(failure, files.first?.file.name ?? "")
            }
            if let record = pending.recordOfAnotherUser, let file = files.first?.file {
                locks.release()
                throw StoreFailure(file, .pendingOfAnotherUser(record: record.description))
            }
            pending.removeLeftovers(of: files)
            if !pending.concern(files) { return locks }
            locks.release()
            if let failure = pending.finish(patience: left, for: files) { throw failure.afterCommit }
        }
        throw StoreFailure(.locked(holder: nil), files.first?.file.name ?? "")
    }

    // MARK: Committing

    private func carryOut(_ plans: inout [FileCommit], _ locks: DomainLocks) throws(StoreFailure) {
        for plan in plans where plan.isInDoubt { try plan.synchronizeFormer(self) }
        let changed = plans.indices.filter { plans[$0].isChanged }
        guard let first = changed.first else { return }
        let transaction = transactionName()
        for index in changed { try plans[index].keepFormer(self, locks, transaction) }
        for index in changed { try plans[index].finishTemporary() }
        let isOnly = changed.reduce(0) { $0 + plans[$1].changes.count } < 2
        let record = isOnly ? nil : try writeRecord(&plans, changed, transaction)
        var current = first
        do throws(SystemFailure) {
            for index in changed {
                current = index
                try plans[index].replace(self, locks, transaction, isOnly: isOnly)
            }
            let folders = changed.flatMap { plans[$0].changes.map(\.target.parent) }
            do throws(SystemFailure) {
                try synchronize(folders)
            } catch {
                // The system may drop the data after a failed fsync, and another fsync would succeed regardless.
                // Therefore everything is written again. A removal cannot be repeated.
                guard changed.allSatisfy({ !plans[$0].removesAny }) else { throw error }
                for index in changed { try plans[index].replaceAgain(self) }
                try synchronize(folders)
            }
        } catch {
            // With a record, the change is committed: the next program that opens one of the files completes it.
            if record != nil { for index in changed { plans[index].forgetTemporary() } }
            // The next attempt finds the file missing, and would not keep a version of the removal.
            if record == nil {
                var alone = Participants()
                for index in changed where plans[index].isCarriedOut && plans[index].removesDomain {
                    plans[index].keepNew(self, transaction, with: &alone)
                }
            }
            let file = plans[current].resolved.file
            if error.meansOtherContents, plans[current].requiresKnown { throw StoreFailure(file, .notCurrent) }
            if record != nil { throw file.failure(error).afterCommit }
            throw file.failure(plans[current].isCarriedOut ? error.after(plans[current].change) : error)
        }
        var participants = Participants(paths: changed.map { plans[$0].resolved.file.path })
        for index in changed {
            plans[index].removeEmptyFolder(on: system)
            plans[index].keepNew(self, transaction, with: &participants)
            report(.keptVersion)
        }
        // Until now, the next program that completes the change would keep the versions.
        if let record { PendingTransactions.remove(record, on: system) }
    }

    /// Writes the record of the transaction. From then on the change is committed.
    private func writeRecord(
        _ plans: inout [FileCommit], _ changed: [Int], _ transaction: String
    ) throws(StoreFailure) -> FilePath {
        var steps: [TransactionRecord.Step] = []
        for index in changed {
            steps += try plans[index].steps(self, transaction)
        }
        let domain = plans[changed[0]].resolved.file
        guard let folder = domain.transactions, let name = FileName(transactionName()) else {
            throw StoreFailure(domain, .differentStores)
        }
        let path = folder.appending(name)
        // The record refers to the new files by name, so the names must survive a power failure.
        try domain.reporting { () throws(SystemFailure) in try synchronize(steps.map(\.target.parent)) }
        let failure = try domain.reporting { () throws(SystemFailure) in
            try PendingTransactions.write(
                TransactionRecord(steps: steps), at: path, named: plans[changed[0]].resolved.target.lastComponent,
                readableLike: changed.flatMap { plans[$0].statusesOfWritten }, on: system)
        }
        guard let failure else { return path }
        // The change is committed, because a reader may have seen it, but a power failure may still undo it. Replacing
        // some of the files first would not be undone.
        for index in changed { plans[index].forgetTemporary() }
        throw domain.failure(failure).afterCommit
    }

    /// Syncs the folders, each once.
    private func synchronize(_ folders: [FilePath]) throws(SystemFailure) {
        var synchronized: Set<FilePath> = []
        for folder in folders where synchronized.insert(folder).inserted {
            try system.fileSystem.synchronizeFolder(folder)
        }
    }

    func transactionName() -> String {
        let name = Hexadecimal.text(of: system.fileSystem.unpredictableNumber())
        guard let run = WatchedTransactions.name(in: system.environment) else { return name }
        return run + name.dropFirst(run.utf8.count)
    }
}

/// A part of a commit that can take long.
package enum CommitStep: Hashable, Sendable {
    /// One of the new files of a domain is complete beside the one that it replaces.
    case wroteFile(of: Int)
    /// A domain is replaced, and its new version is kept.
    case keptVersion
}

/// A change of one domain.
package struct DomainEdit: Sendable {
    package private(set) var file: DomainFile
    /// The contents that the caller has read. They are not read again if the file has not changed.
    package var known: DomainContents?
    /// Whether to throw `notCurrent` if the file is not the known one.
    package var requiresKnown = false
    /// Whether to throw `notKept` if the present contents cannot be kept as a version.
    package var requiresFormer = false
    /// Whether the change fails or does nothing if there is no domain.
    package var requiresDomain = false
    /// Whether to replace a damaged file in whose place no version is used. The file is set aside next to the new one.
    package var acceptsLoss = false
    /// The version that the caller has written before and not kept yet.
    package var unkept: PendingVersion?
    /// Whether the new version is kept later, by the caller or by the next writer.
    package var isKeptLater = false
    /// Whether to write all of a text file, and not only its changes. It is written even if there are none.
    package var writesWholeText = false
    /// Whether reals in XML have the 17 digits that Apple's tools write, and not the fewest.
    package var padsReals = false
    /// Whether a value is sensitive according to the domain's schema, or nil for a domain without one.
    package var isSensitive: (@Sendable (_ key: String, _ value: PropertyList) -> Bool)?
    /// The format of a new file by the schema with which the settings are saved, or nil if it declares none.
    package var scriptFormat: PropertyList.Format?
    /// Changes the present values under the lock. If it throws, nothing is written.
    package var change: @Sendable (inout DomainDraft) throws -> Void

    package init(
        _ file: DomainFile, known: DomainContents? = nil, acceptsLoss: Bool = false,
        change: @escaping @Sendable (inout DomainDraft) throws -> Void
    ) {
        self.file = file
        self.known = known
        self.acceptsLoss = acceptsLoss
        self.change = change
    }

    /// Returns the edit with a format for the file if it is new.
    package func made(in format: PropertyList.Format) -> DomainEdit {
        var edit = self
        edit.file = file.made(in: format)
        return edit
    }
}

extension DomainEdit {
    /// The same change of a domain that must exist.
    package var ofExistingDomain: DomainEdit {
        var edit = self
        edit.requiresDomain = true
        return edit
    }

    /// Returns the present contents, and the bytes of the file if it was read. It is not read if it is the known one.
    func presentContents(
        of resolved: ResolvedFile, on system: SystemServices
    ) throws(StoreFailure) -> (DomainContents, [UInt8]?) {
        if let known, known.recovery == nil {
            let isKnown = try generation(of: resolved, on: system) == known.generation
            // Contents that another writer left are read again, because there may be no version of them.
            if isKnown, known.isOwn || !known.exists {
                var known = known
                if !known.exists, try folderPlace(of: resolved, on: system) != nil { known.members = [] }
                return (known, nil)
            }
            if requiresKnown, !isKnown { throw StoreFailure(file, .notCurrent) }
        }
        let present = try file.presentContents(acceptsLoss: acceptsLoss, on: system)
        return (present.contents, try file.versionBytes(of: present))
    }

    private func folderPlace(
        of resolved: ResolvedFile, on system: SystemServices
    ) throws(StoreFailure) -> FileStatus? {
        try resolved.file.reporting { () throws(SystemFailure) in try resolved.file.folderPlace(on: system) }
    }

    private func generation(
        of resolved: ResolvedFile, on system: SystemServices
    ) throws(StoreFailure) -> FileGeneration? {
        try resolved.file.reporting { () throws(SystemFailure) in
            if let status = try system.fileSystem.status(of: resolved.target) { return status.generation }
            return try resolved.file.presentStatus(on: system)?.generation
        }
    }
}

/// The contents of a domain during a change.
package struct DomainDraft: Sendable {
    package var values: PropertyList.Dictionary
    package var rootKind = FileRoot.dictionary
    package var form: StorageForm
    /// Whether to remove the file.
    package var removesFile = false
    /// Whether to write the file even if nothing changes.
    package var rewrites = false
    /// Whether the change is a version of its own even if nothing changes, not even from one absence to another.
    package var isRecorded = false
    /// Whether to create a file that does not exist even if there are no values.
    package var createsFile = false
    /// Whether to write all of a text file and not only its changes.
    package var writesWholeText = false
    /// What the verb has done to an entry, or nil if the values show it.
    package var step: EntryStep?
    /// The reason for the change if it replaces that of the writer, or nil.
    package var reason: WriteReason?
    /// The author's program if it replaces that of the writer, or nil.
    package var program: String?
    /// The bytes of the version from which the values come, or nil if they come from the file.
    package var restoredBytes: [UInt8]?
    /// The status of the file, or nil if there is none.
    package let status: FileStatus?
    /// Whether others can read the file.
    package var isExposed = false
    /// Whether the file is damaged, so that it has no format and no values of its own.
    package var isDamaged = false

    package var exists: Bool { status != nil }

    /// The format of the new file. A folder has none.
    package var format: PropertyList.Format {
        get { form.format }
        set { if form != .folder { form = .file(newValue) } }
    }
}

/// A domain after a commit.
package struct CommittedDomain: Sendable {
    package let file: DomainFile
    package let before: DomainContents
    package let after: DomainContents
    /// Whether anything was written.
    package let isChanged: Bool
    /// The identifier of the change in histories, or nil if nothing was written.
    package let transaction: String?
    /// The new version, if it is kept later.
    package let unkept: PendingVersion?
    /// The contents of the new file, or nil if nothing was written or the file was removed.
    package let bytes: [UInt8]?
    /// Whether dates lost their fractions, because the file's format cannot hold them.
    package let hasDroppedFractions: Bool
    /// The format of the domain before it was converted to binary to preserve fractions of a second.
    package let convertedFrom: PropertyList.Format?
    /// The comments that the change has removed from the text, with their marks.
    package let removedComments: [String]
    /// The folder of the history, if the new version could not be kept in it.
    package let unwritableHistory: FilePath?
    /// Whether the previous version could not be kept.
    package let losesFormer: Bool
}

/// The transactions of a program that `watch --run` runs. Their names begin with an identifier of the run, so that
/// they do not start the program again.
package enum WatchedTransactions {
    /// The variable with the identifier.
    package static let variable = "PREFS_WATCH"

    /// Returns an identifier of eight hexadecimal digits.
    package static func name(_ number: UInt64) -> String { String(Hexadecimal.text(of: number).suffix(8)) }

    /// Returns the identifier in the environment; nil if there is none or it is invalid.
    static func name(in environment: Environment) -> String? {
        guard let name = environment.variables[variable], name.utf8.count == 8,
            name.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
        else { return nil }
        return name
    }
}
