internal import Digests
internal import Platform
internal import PropertyLists

/// The part of a commit that concerns one file.
struct FileCommit {
    let resolved: ResolvedFile
    let before: DomainContents
    private var draft: DomainDraft
    /// The bytes of the file, or nil if it was not read because its contents are known.
    let bytesBefore: [UInt8]?
    /// The version that this writer has written before and not kept yet.
    let unkeptBefore: PendingVersion?
    /// The new version, if it is kept later.
    var unkept: PendingVersion?
    /// The kept versions, after they were listed.
    var versions: [KeptVersion]?
    /// The folder of the history, if the new version could not be kept in it.
    var unwritableHistory: FilePath?
    /// Whether the previous version could not be kept.
    var losesFormer = false
    /// The users who may access the new file.
    private var audience: Audience
    let isKeptLater: Bool
    let isFirst: Bool
    /// Whether the present contents must be kept.
    let requiresFormer: Bool
    /// Whether the unchanged contents may not be on the disk.
    private(set) var isInDoubt = false
    private(set) var bytes: [UInt8]?
    /// The comments that the change removes from the text.
    private var removedComments: [String] = []
    /// Whether reals in XML have the digits that Apple's tools write.
    private let padsReals: Bool
    private(set) var changes: [FileChange] = []
    var after: DomainContents
    private var transaction: String?
    /// Whether to check that the file is still the one that was read. The lock does not ensure that, because other
    /// programs take none.
    private let comparesFormer: Bool
    /// Whether only the file that the caller knows may be replaced.
    let requiresKnown: Bool
    /// Whether dates lost their fractions, because the file's format cannot hold them.
    private let hasDroppedFractions: Bool
    /// The format of the domain before it was converted to preserve fractions, or nil if it was not converted.
    private let convertedFrom: PropertyList.Format?

    /// Reads the file under the lock, and applies the change.
    init(_ edit: DomainEdit, _ resolved: ResolvedFile, _ locks: DomainLocks, _ writer: DomainWriter) throws {
        self.resolved = resolved
        (before, bytesBefore) = try edit.presentContents(of: resolved, on: writer.system)
        isKeptLater = edit.isKeptLater && locks.markFile(of: resolved.file) != nil
        unkeptBefore = edit.unkept
        isFirst = !before.exists || (before.isOwn && edit.unkept?.isFirst == true)
        var draft = DomainDraft(
            values: before.values, form: before.form ?? .file(edit.file.newFormat), status: before.status)
        if !before.exists, before.members != nil { draft.form = .folder }
        draft.rootKind = before.rootKind
        draft.isExposed = edit.file.isExposed(before.status, to: writer.system.environment.user)
        draft.isDamaged = before.recovery != nil
        (draft.writesWholeText, draft.rewrites) = (edit.writesWholeText, edit.writesWholeText)
        try edit.change(&draft)
        // Values removed by key leave gaps between the indices of an array, and may leave nothing that is one.
        if draft.rootKind != .dictionary { draft.root = draft.root }
        try resolved.check(draft.form)
        if !before.exists, let link = edit.file.linkOfAdopted,
            (try? writer.system.fileSystem.destination(ofLink: link)) != nil
        {
            throw StoreFailure(
                .notAllowed("\(link) makes it the file of a program; nothing was changed"), edit.file.name, file: link)
        }
        if edit.file.isAdopted, before.exists,
            draft.removesFile || draft.form != before.form ?? .file(edit.file.newFormat)
        {
            throw StoreFailure(edit.file, .adopted)
        }
        // An invalid key that the file has already may remain.
        for key in draft.values.keys
        where !key.isFitForWriting && before.values[key] == nil && draft.rootKind == .dictionary {
            throw StoreFailure(edit.file, .invalidKey(key))
        }
        audience = try Self.audience(of: draft.values, edit, before)
        convertedFrom = edit.file.preserveFractions(in: &draft)
        hasDroppedFractions =
            !edit.file.isOfDomain && !draft.format.keepsFractions && draft.values.dropFractions()
        self.draft = draft
        (requiresKnown, requiresFormer, padsReals) = (edit.requiresKnown, edit.requiresFormer, edit.padsReals)
        comparesFormer = requiresKnown || edit.file.lock == .byPath
        after = before
        if !isChanged, !isKeptLater, mayBeUnfinished(locks, writer) {
            // If no version can prove that the last write was completed, syncing is enough and the file is not
            // rewritten each time.
            self.draft.rewrites = leavesVersion(writer.policy)
            isInDoubt = !self.draft.rewrites
        }
    }

    /// Returns the users who may access a file with these values: only the owner if one of them is sensitive. Throws if
    /// a new sensitive value would be readable by everyone.
    private static func audience(
        of values: PropertyList.Dictionary, _ edit: DomainEdit, _ before: DomainContents
    ) throws(StoreFailure) -> Audience {
        guard edit.file.audience != .owner, let isSensitive = edit.isSensitive else { return edit.file.audience }
        let secrets = values.filter { isSensitive($0.key, $0.value) }
        if edit.file.audience == .everyone, let new = secrets.first(where: { before.values[$0.key] != $0.value }) {
            throw StoreFailure(.exposed(key: new.key), edit.file.name)
        }
        return secrets.isEmpty ? edit.file.audience : .owner
    }

    /// Syncs the present file.
    func synchronizeFormer(_ writer: DomainWriter) throws(StoreFailure) {
        try resolved.file.reporting { () throws(SystemFailure) in try former.synchronize(on: writer.system) }
    }

    /// Whether the file was replaced or removed.
    var isCarriedOut: Bool { transaction != nil }

    /// The change of the file for messages.
    var change: SystemFailure.Change {
        removesDomain ? .removed(resolved.file.path) : .wrote(storage.path)
    }

    // MARK: Writing the file

    /// The storage that the domain has, and the one that it gets.
    var former: any DomainStorage { resolved.storage(before.form) }
    var storage: any DomainStorage { resolved.storage(draft.form) }

    /// The domain's folder if it exists or is made, also without files.
    var folder: StoredFolder? { before.members != nil || draft.form == .folder ? resolved.folder : nil }

    /// Whether there is no domain afterwards. A folder without values remains as a folder.
    var removesDomain: Bool { draft.removesFile || draft.form == .folder && draft.values.isEmpty }

    /// The contents whose files the new ones replace. Files of the other form are removed.
    private var replaced: DomainContents { (former.onlyFile == nil) == (storage.onlyFile == nil) ? before : .absent }

    var isChanged: Bool {
        if draft.isRecorded { return true }
        if removesDomain { return before.exists }
        if draft.createsFile, !before.exists { return true }
        if draft.root != before.root || before.recovery != nil { return true }
        // The bytes of a version can differ although its values are the same.
        if let restoredBytes, let bytesBefore, restoredBytes != bytesBefore { return true }
        return before.exists && (draft.rewrites || draft.form != before.form)
    }

    var outcome: CommittedDomain {
        CommittedDomain(
            file: resolved.file, before: before, after: after, isChanged: transaction != nil, transaction: transaction,
            unkept: unkept, bytes: transaction == nil ? nil : bytes, hasDroppedFractions: hasDroppedFractions,
            convertedFrom: transaction == nil ? nil : convertedFrom,
            removedComments: transaction == nil ? [] : removedComments, unwritableHistory: unwritableHistory,
            losesFormer: losesFormer)
    }

    /// Returns the bytes of the new file, or those that represent a folder.
    private func newBytes(_ writer: DomainWriter) throws(StoreFailure) -> EditResult {
        if let restoredBytes { return EditResult(restoredBytes) }
        return try resolved.file.serialized(draft, editing: formerText(writer.system), padsReals: padsReals)
    }

    /// Returns the outcome of writing the files, without writing them.
    func preview(_ writer: DomainWriter) throws(StoreFailure) -> CommittedDomain {
        var after = before
        var isChanged = isChanged
        if isChanged, removesDomain {
            after = .absent
        } else if isChanged {
            (after.values, after.rootKind, after.form) = (draft.values, draft.rootKind, draft.form)
            if storage.onlyFile != nil { isChanged = try newBytes(writer).bytes != bytesBefore }
        }
        return CommittedDomain(
            file: resolved.file, before: before, after: after, isChanged: isChanged, transaction: nil, unkept: nil,
            bytes: nil, hasDroppedFractions: false, convertedFrom: nil, removedComments: [], unwritableHistory: nil,
            losesFormer: false)
    }

    /// Writes the new files beside the present ones.
    ///
    /// - Parameter isAlone: Whether no other domain is changed.
    mutating func startTemporary(_ writer: DomainWriter, isAlone: Bool) throws(StoreFailure) {
        guard isChanged else { return }
        if !removesDomain {
            let edited = try newBytes(writer)
            (bytes, removedComments) = (edited.bytes, edited.removedComments)
            changes = try storage.changes(
                to: draft, image: edited.bytes, from: replaced, for: audience, on: writer.system)
        } else if !draft.removesFile {
            try resolved.file.reporting { () throws(SystemFailure) in
                try writer.system.fileSystem.makeFolders(storage.path, for: audience)
            }
        }
        if removesDomain || !replaced.exists { changes += former.removals(of: before) }
        try startTemporaries(of: changes.indices.filter { changes[$0].bytes != nil }, writer, isAlone: isAlone)
    }

    /// The number of temporary files that may be open, and again in the next plan. Some systems allow a process 256.
    static let mostOpen = 64

    /// The number of temporary files that are open and not on the disk yet.
    var openCount: Int { changes.count { $0.unsynchronized != nil } }

    /// Writes new files, or tombstones. The disk writes many in about the time of one, so it gets a group of them
    /// before the first wait.
    private mutating func startTemporaries(
        of indices: [Int], _ writer: DomainWriter, isAlone: Bool
    ) throws(StoreFailure) {
        for start in stride(from: 0, to: indices.count, by: Self.mostOpen) {
            let group = indices[start...].prefix(Self.mostOpen)
            for index in group {
                try startTemporary(changes[index].bytes ?? DomainState.tombstone, index, writer)
                if !isAlone || indices.count > 1 { changes[index].unsynchronized?.startSynchronizing() }
                writer.report(.wroteFile(of: changes.count))
            }
            if indices.count > Self.mostOpen { for index in group { try finishTemporary(index) } }
        }
    }

    /// The bytes of a version that is restored unchanged.
    private var restoredBytes: [UInt8]? {
        guard draft.form != .folder, let bytes = draft.restoredBytes, !DomainFile.isImage(bytes),
            let (values, format) = try? resolved.file.parse(bytes),
            values == draft.values, format == draft.format
        else { return nil }
        return bytes
    }

    /// The bytes from which the new ones are made by an edit, if the file is a text.
    private func formerText(_ system: SystemServices) -> [UInt8]? {
        if before.form == .folder || before.format == .binary && draft.format == .binary { return nil }
        if let bytes = draft.restoredBytes, (try? resolved.file.parse(bytes))?.1 == draft.format { return bytes }
        if let version = before.recovery?.version {
            return History(of: resolved.file, on: system)?.bytes(of: version)
        }
        if bytesBefore != nil || before.recovery != nil || !before.exists { return bytesBefore }
        // The values are known, but not the text.
        guard let file = try? resolved.file.open(on: system) else { return nil }
        return try? resolved.file.load(file).1
    }

    private mutating func startTemporary(
        _ bytes: [UInt8], _ index: Int, _ writer: DomainWriter
    ) throws(StoreFailure) {
        let (files, target) = (writer.system.fileSystem, changes[index].target)
        let (audience, status) = (audience, changes[index].former)
        let (path, file) = try reporting(target) { () throws(SystemFailure) in
            guard resolved.file.createsFolder else {
                return try files.startTemporary(bytes, beside: target, like: status, for: audience)
            }
            return try writer.system.makingFolder(target.parent, for: audience) { () throws(SystemFailure) in
                try files.startTemporary(bytes, beside: target, like: status, for: audience)
            }
        }
        (changes[index].temporary, changes[index].unsynchronized) = (path, file)
    }

    /// Waits until the new files are on the disk.
    mutating func finishTemporary() throws(StoreFailure) {
        for index in changes.indices { try finishTemporary(index) }
    }

    private mutating func finishTemporary(_ index: Int) throws(StoreFailure) {
        guard let file = changes[index].unsynchronized else { return }
        changes[index].unsynchronized = nil
        changes[index].written = try reporting(changes[index].target) { () throws(SystemFailure) in
            try file.synchronize()
            return try file.status()
        }
    }

    /// Calls `body`, and reports an error of the system as one of the file that is written.
    private func reporting<Result>(
        _ target: FilePath, _ body: () throws(SystemFailure) -> Result
    ) throws(StoreFailure) -> Result {
        do throws(SystemFailure) {
            return try body()
        } catch {
            throw StoreFailure(error.naming(resolved.file.shown(target)), resolved.file.name)
        }
    }

    func removeTemporary(on system: SystemServices) {
        for case let temporary? in changes.map(\.temporary) { _ = try? system.fileSystem.remove(temporary) }
    }

    mutating func forgetTemporary() { for index in changes.indices { changes[index].temporary = nil } }

    /// Removes the folder of a domain that is no longer a folder, unless it has other files.
    func removeEmptyFolder(on system: SystemServices) {
        if before.members != nil, draft.removesFile || draft.form != .folder { folder?.removeIfEmpty(on: system) }
    }

    /// Whether a file is removed.
    var removesAny: Bool { changes.contains { $0.bytes == nil } }

    /// Returns the steps for the record of a transaction over several files.
    mutating func steps(
        _ writer: DomainWriter, _ transaction: String
    ) throws(StoreFailure) -> [TransactionRecord.Step] {
        try startTemporaries(of: changes.indices.filter { changes[$0].bytes == nil }, writer, isAlone: false)
        try finishTemporary()
        let isKept = storage.isCopied(bytes, writer.policy)
        let outcome = TransactionRecord.Outcome(
            path: resolved.file.path, folder: resolved.file.folder, mark: mark(writer, transaction),
            isPublic: resolved.file.audience == .everyone, versions: isKept ? writer.policy.versions : 0,
            bytes: writer.policy.bytes, isFirst: isFirst)
        return changes.compactMap { change in
            guard let temporary = change.temporary else { return nil }
            var file = resolved.file
            file.folder = nil
            if change.target != resolved.target { file.path = change.target }
            return TransactionRecord.Step(
                file: file, target: change.target, former: TransactionRecord.Former(change.former),
                change: change.bytes == nil ? .remove(by: temporary) : .replace(by: temporary),
                written: TransactionRecord.Former(change.written), outcome: outcome)
        }
    }

    /// The statuses of the new files.
    var statusesOfWritten: [FileStatus] { changes.compactMap(\.written) }

    mutating func replace(
        _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String, isOnly: Bool
    ) throws(SystemFailure) {
        let files = writer.system.fileSystem
        if let lock = locks.markFile(of: resolved.file) { try mark(writer, transaction).write(to: lock) }
        for index in changes.indices {
            if let temporary = changes[index].temporary {
                // With several files there is a record, which would restore a previous file that was exchanged.
                if comparesFormer, isOnly {
                    try exchange(temporary, index, in: files)
                } else {
                    do throws(SystemFailure) {
                        try files.rename(temporary, to: changes[index].target)
                    } catch {
                        throw error.naming(resolved.file.shown(changes[index].target))
                    }
                }
                changes[index].temporary = nil
            }
            if changes[index].bytes == nil { try files.remove(changes[index].target) }
        }
        self.transaction = transaction
        takeWritten(in: files)
    }

    private func mark(_ writer: DomainWriter, _ transaction: String) -> WriteMarker {
        WriteMarker(hash: bytes.map { SHA256.hash($0) }, transaction: transaction, author: author(writer))
    }

    /// Sets the new contents in `after`. The write is done, even if the status of a file cannot be read now.
    private mutating func takeWritten(in files: any FileSystem) {
        guard !removesDomain else {
            after = .absent
            if !draft.removesFile { after.members = [] }
            return
        }
        after = DomainContents(values: draft.values, form: draft.form)
        after.rootKind = draft.rootKind
        after.isOwn = true
        storage.setFiles(of: &after, after: changes, from: replaced, in: files)
    }

    /// Writes the new file again.
    mutating func replaceAgain(_ writer: DomainWriter) throws(SystemFailure) {
        let files = writer.system.fileSystem
        for index in changes.indices {
            let change = changes[index]
            guard let bytes = change.bytes else { continue }
            let copy = try files.writeTemporary(bytes, beside: change.target, like: change.former, for: audience)
            do throws(SystemFailure) {
                changes[index].written = try files.status(of: copy)
                try files.rename(copy, to: change.target)
            } catch {
                _ = try? files.remove(copy)
                throw error
            }
        }
        takeWritten(in: files)
    }

    /// Replaces the file that was read. A file that replaced it since is put back.
    private mutating func exchange(
        _ temporary: FilePath, _ index: Int, in files: any FileSystem
    ) throws(SystemFailure) {
        let (change, target) = (changes[index], changes[index].target)
        do throws(SystemFailure) {
            guard let former = change.former else { return try files.rename(temporary, to: target, .onlyIfAbsent) }
            try files.rename(temporary, to: target, .exchanging)
            let found = Result { () throws(SystemFailure) in try files.status(of: temporary) }
            if case .success(let out) = found, out?.number == former.number, out?.size == former.size,
                out?.modified == former.modified
            {
                // The write does not fail if this file stays, which the next writer removes.
                if (try? files.remove(temporary)) == nil { _ = try? files.remove(temporary) }
                return
            }
            do throws(SystemFailure) {
                try files.rename(temporary, to: target, .exchanging)
            } catch {
                // The replaced file may be unread, so it stays under its temporary name.
                changes[index].temporary = nil
                throw error.naming(target).after(.wrote(target))
            }
            _ = try found.get()
        } catch  where error.change == nil && error.code == .unsupported {
            // On file systems without this operation, a change since the last read is lost, as documented in the
            // manual.
            return try files.rename(temporary, to: target)
        } catch  where error.change == nil && [.exists, .noSuchFile].contains(error.code) {
            throw .otherContents(target)
        }
        throw .otherContents(target)
    }

    func author(_ writer: DomainWriter) -> WriteAuthor {
        var author = writer.author
        if let program = draft.program {
            author = WriteAuthor(program: program, process: author.process, reason: author.reason)
        }
        if let reason = draft.reason { author.reason = reason }
        if before.recovery?.version != nil { author.reason = .recovered }
        return author
    }
}

extension SystemFailure {
    /// The error that another file is in the place of the one that was read.
    fileprivate static func otherContents(_ path: FilePath) -> SystemFailure {
        SystemFailure(.staleHandle, .exchange, path)
    }

    var meansOtherContents: Bool { code == .staleHandle && operation == .exchange }
}
