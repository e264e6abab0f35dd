internal import Digests
internal import Platform
internal import PropertyLists

/// The part of a commit that concerns one file.
struct FileCommit {
    let resolved: ResolvedFile
    let before: DomainContents
    private var draft: DomainDraft
    /// The bytes of the file, if it was read again.
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
    private var temporary: FilePath?
    /// The open temporary file until it is synced.
    private var unsynchronized: (any OpenFile)?
    /// The status of the new file, which another program may have replaced since.
    private var written: FileStatus?
    private var after: DomainContents
    private var transaction: String?
    /// Whether a file that was replaced since it was read must remain despite the lock, because other programs take
    /// none.
    private let comparesFormer: Bool
    /// Whether only the file that the caller knows may be replaced.
    let requiresKnown: Bool
    /// Whether dates lost their fractions, because the file's format cannot hold them.
    private let hasDroppedFractions: Bool
    /// The format of the domain before it was converted to keep fractions, or nil if it was not converted.
    private let convertedFrom: PropertyList.Format?

    /// Reads the file under the lock, and applies the change.
    init(_ edit: DomainEdit, _ resolved: ResolvedFile, _ locks: DomainLocks, _ writer: DomainWriter) throws {
        self.resolved = resolved
        (before, bytesBefore) = try Self.read(edit, resolved, writer.machine)
        isKeptLater = edit.isKeptLater && locks.markFile(of: resolved.file) != nil
        unkeptBefore = edit.unkept
        isFirst = !before.exists || (before.isOwn && edit.unkept?.isFirst == true)
        var draft = DomainDraft(
            values: before.values, format: before.format ?? edit.file.newFormat, status: before.status)
        draft.isExposed = before.status?.isExposed(to: writer.machine.environment.user) ?? false
        (draft.isAnew, draft.rewrites) = (edit.isAnew, edit.isAnew)
        try edit.change(&draft)
        try Self.checkKeys(draft, before, edit.file)
        audience = try Self.audience(of: draft.values, edit, before)
        convertedFrom = edit.file.keepFractions(in: &draft)
        hasDroppedFractions =
            !edit.file.isOfDomain && !draft.format.keepsFractions && draft.values.dropFractions()
        self.draft = draft
        (requiresKnown, requiresFormer) = (edit.requiresKnown, edit.requiresFormer)
        comparesFormer = requiresKnown || edit.file.lock == .itself
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
        let files = writer.machine.fileSystem
        try resolved.file.reporting { () throws(SystemFailure) in
            try files.open(resolved.target, .reading)?.synchronize()
            try files.synchronizeFolder(resolved.target.parent)
        }
    }

    /// Whether the file was replaced or removed.
    var isCarriedOut: Bool { transaction != nil }

    // MARK: Writing the file

    var removesFile: Bool { draft.removesFile }

    var isChanged: Bool {
        if draft.removesFile { return before.exists }
        if draft.values != before.values || before.recovery != nil { return true }
        // A version may have the same values in other bytes.
        if let broughtBack, let bytesBefore, broughtBack != bytesBefore { return true }
        return before.exists && (draft.rewrites || draft.format != before.format)
    }

    var outcome: CommittedDomain {
        CommittedDomain(
            file: resolved.file, before: before, after: after, isChanged: transaction != nil, transaction: transaction,
            unkept: unkept, bytes: transaction == nil ? nil : bytes, hasDroppedFractions: hasDroppedFractions,
            convertedFrom: transaction == nil ? nil : convertedFrom, unwritableHistory: unwritableHistory,
            losesFormer: losesFormer)
    }

    /// Writes the new file beside the present one, and starts to sync it.
    mutating func startTemporary(_ writer: DomainWriter) throws(StoreFailure) {
        guard isChanged, !draft.removesFile else { return }
        let bytes: [UInt8]
        if let broughtBack {
            bytes = broughtBack
        } else {
            bytes = try resolved.file.serialized(
                draft.values, as: draft.format, editing: former(writer.machine), isAnew: draft.isAnew)
        }
        self.bytes = bytes
        try startTemporary(bytes, writer)
    }

    /// The bytes of a version that is brought back as it is.
    private var broughtBack: [UInt8]? {
        guard let bytes = draft.broughtBack, let (values, format) = try? resolved.file.parse(bytes),
            values == draft.values, format == draft.format
        else { return nil }
        return bytes
    }

    /// The bytes from which the new ones are made by an edit, if the file is a text.
    private func former(_ machine: Machine) -> [UInt8]? {
        guard draft.format != .binary else { return nil }
        if let bytes = draft.broughtBack, (try? resolved.file.parse(bytes))?.1 == draft.format { return bytes }
        if let version = before.recovery?.version {
            return History(of: resolved.file, on: machine)?.bytes(of: version)
        }
        if bytesBefore != nil || before.recovery != nil || !before.exists { return bytesBefore }
        // The values are known, but not the text.
        guard let file = try? resolved.file.open(on: machine) else { return nil }
        return try? resolved.file.load(file).1
    }

    private mutating func startTemporary(_ bytes: [UInt8], _ writer: DomainWriter) throws(StoreFailure) {
        let (files, target) = (writer.machine.fileSystem, resolved.target)
        let (audience, status) = (audience, before.status)
        let (path, file) = try resolved.file.reporting { () throws(SystemFailure) in
            // The folder of a file that is addressed by path may be misspelled, so it is not made.
            guard resolved.file.isOfDomain else {
                return try files.startTemporary(bytes, beside: target, like: status, for: audience)
            }
            return try writer.machine.makingFolder(target.parent, for: audience) { () throws(SystemFailure) in
                try files.startTemporary(bytes, beside: target, like: status, for: audience)
            }
        }
        (temporary, unsynchronized) = (path, file)
        file.startSynchronizing()
    }

    /// Waits until the new file is on the disk.
    mutating func finishTemporary() throws(StoreFailure) {
        guard let file = unsynchronized else { return }
        unsynchronized = nil
        written = try resolved.file.reporting { () throws(SystemFailure) in
            try file.synchronize()
            return try file.status()
        }
    }

    func removeTemporary(on machine: Machine) {
        if let temporary { _ = try? machine.fileSystem.remove(temporary) }
    }

    mutating func forgetTemporary() { temporary = nil }

    /// Returns the step for the record of a transaction over several files.
    mutating func step(_ writer: DomainWriter) throws(StoreFailure) -> TransactionRecord.Step? {
        if draft.removesFile {
            try startTemporary(DomainState.tombstone, writer)
            try finishTemporary()
        }
        guard let temporary else { return nil }
        return TransactionRecord.Step(
            file: resolved.file, target: resolved.target, former: TransactionRecord.Former(before.status),
            change: draft.removesFile ? .remove(by: temporary) : .replace(by: temporary))
    }

    mutating func replace(
        _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String, isOnly: Bool
    ) throws(SystemFailure) {
        let files = writer.machine.fileSystem
        let mark = WriteMarker(hash: bytes.map { SHA256.hash($0) }, transaction: transaction, note: note(writer))
        if let lock = locks.markFile(of: resolved.file) { try mark.write(to: lock) }
        if let temporary {
            // With several files there is a record, which would restore a previous file that was exchanged.
            if comparesFormer, isOnly {
                try exchange(temporary, in: files)
            } else {
                try files.rename(temporary, to: resolved.target)
            }
            self.temporary = nil
        }
        if draft.removesFile {
            try files.remove(resolved.target)
            after = .absent
        } else {
            after = DomainContents(
                values: draft.values, format: draft.format,
                status: try statusOfWritten(in: files))
            after.isOwn = true
        }
        self.transaction = transaction
    }

    /// Writes the new file again.
    mutating func replaceAnew(_ writer: DomainWriter) throws(SystemFailure) {
        guard let bytes else { return }
        let files = writer.machine.fileSystem
        let copy = try files.writeTemporary(bytes, beside: resolved.target, like: before.status, for: audience)
        do throws(SystemFailure) {
            written = try files.status(of: copy)
            try files.rename(copy, to: resolved.target)
        } catch {
            _ = try? files.remove(copy)
            throw error
        }
        after.status = try statusOfWritten(in: files)
    }

    /// Returns the status of the file that was written, even if it was replaced since; the replacement is unread.
    private func statusOfWritten(in files: any FileSystem) throws(SystemFailure) -> FileStatus? {
        let found = try files.status(of: resolved.target)
        guard let written, found?.number != written.number else { return found }
        return written
    }

    /// Replaces the file that was read. A file that replaced it since is put back.
    private func exchange(_ temporary: FilePath, in files: any FileSystem) throws(SystemFailure) {
        let target = resolved.target
        do throws(SystemFailure) {
            guard let former = before.status else { return try files.rename(temporary, to: target, .keeping) }
            try files.rename(temporary, to: target, .exchanging)
            let out = try files.status(of: temporary)
            if out?.number == former.number, out?.size == former.size, out?.modified == former.modified {
                try files.remove(temporary)
                return
            }
            try files.rename(temporary, to: target, .exchanging)
        } catch  where error.code == .unsupported {
            // On file systems without this operation, a change since the last read is lost, as documented in the
            // manual.
            return try files.rename(temporary, to: target)
        } catch  where error.code == .exists || error.code == .noSuchFile {
            throw .otherContents(target)
        }
        throw .otherContents(target)
    }

    func note(_ writer: DomainWriter) -> WriteNote {
        var note = writer.note
        if let reason = draft.reason { note.reason = reason }
        if before.recovery != nil { note.reason = .recovered }
        return note
    }
}

extension SystemFailure {
    /// The error that another file is in the place of the one that was read.
    fileprivate static func otherContents(_ path: FilePath) -> SystemFailure {
        SystemFailure(.staleHandle, .exchange, path)
    }

    var meansOtherContents: Bool { code == .staleHandle && operation == .exchange }
}
