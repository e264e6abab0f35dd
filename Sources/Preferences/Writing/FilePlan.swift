internal import Digests
internal import Platform
internal import PropertyLists

/// What a commit does with one file.
struct FilePlan {
    let resolved: ResolvedFile
    let before: DomainContents
    private var draft: DomainDraft
    /// The bytes of the file, if it was read anew.
    let bytesBefore: [UInt8]?
    /// What this writer left in the file and did not keep yet.
    let unkeptBefore: UnkeptVersion?
    /// The same of what it holds after the change.
    var unkept: UnkeptVersion?
    /// The versions that are kept, once somebody has looked.
    var versions: [KeptVersion]?
    /// Where the version that is in force now could not be kept.
    var unwritableHistory: FilePath?
    /// Whether it is the former version that could not be kept.
    var losesFormer = false
    /// Who is to use the new file.
    private var audience: Audience
    let isKeptLater: Bool
    let isFirst: Bool
    /// Whether what stands there must be kept.
    let requiresFormer: Bool
    /// Whether what stands there, which nothing changes, may not be on the disk.
    private(set) var isInDoubt = false
    private(set) var bytes: [UInt8]?
    private var temporary: FilePath?
    /// The same file, as long as it may not be on the disk.
    private var unsynchronized: (any OpenFile)?
    /// Which file the new one is, whatever may stand in its place later.
    private var written: FileStatus?
    private var after: DomainContents
    private var transaction: String?
    /// Whether a file that came since the former one was read must stay, whatever the lock says: other programs take
    /// none.
    private let comparesFormer: Bool
    /// Whether only the file that the caller knows may be replaced.
    let requiresKnown: Bool
    /// Whether dates have lost their fractions, which the format of a file cannot hold.
    private let hasDroppedFractions: Bool
    /// The format that a domain had before it was converted to keep fractions; nil if it was not converted.
    private let convertedFrom: PropertyList.Format?

    /// Reads the file as it is under the lock, and changes the values.
    init(_ edit: DomainEdit, _ resolved: ResolvedFile, _ locks: DomainLocks, _ writer: DomainWriter) throws {
        self.resolved = resolved
        (before, bytesBefore) = try Self.read(edit, resolved, writer.machine)
        isKeptLater = edit.isKeptLater && locks.markFile(of: resolved.file) != nil
        unkeptBefore = edit.unkept
        isFirst = !before.exists || (before.isOwn && edit.unkept?.isFirst == true)
        var draft = DomainDraft(
            values: before.values, format: before.format ?? edit.file.newFormat, status: before.status)
        draft.isExposed = before.status?.isExposed(to: writer.machine.environment.user) ?? false
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
            // Where no version tells that all went well, it is not written anew each time.
            self.draft.rewrites = leavesVersion(writer.policy)
            isInDoubt = !self.draft.rewrites
        }
    }

    /// Who is to use a file with these values: nobody but its owner, where one of them is sensitive. What everyone can
    /// read gets no such value.
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

    /// Sees to it that the file as it stands is on the disk.
    func synchronizeFormer(_ writer: DomainWriter) throws(StoreFailure) {
        let files = writer.machine.fileSystem
        try resolved.file.reporting { () throws(SystemFailure) in
            try files.open(resolved.target, .reading)?.synchronize()
            try files.synchronizeFolder(resolved.target.parent)
        }
    }

    /// Whether the file has been replaced or removed.
    var isCarriedOut: Bool { transaction != nil }

    // MARK: What becomes of the file

    var removesFile: Bool { draft.removesFile }

    var isChanged: Bool {
        if draft.removesFile { return before.exists }
        if draft.values != before.values || before.recovery != nil { return true }
        return before.exists && (draft.rewrites || draft.format != before.format)
    }

    var outcome: CommittedDomain {
        CommittedDomain(
            file: resolved.file, before: before, after: after, isChanged: transaction != nil, transaction: transaction,
            unkept: unkept, bytes: transaction == nil ? nil : bytes, hasDroppedFractions: hasDroppedFractions,
            convertedFrom: transaction == nil ? nil : convertedFrom, unwritableHistory: unwritableHistory,
            losesFormer: losesFormer)
    }

    /// Writes the new file beside the former one, and lets the system bring it to the disk meanwhile.
    mutating func startTemporary(_ writer: DomainWriter) throws(StoreFailure) {
        guard isChanged, !draft.removesFile else { return }
        let recovered = before.recovery?.version.flatMap { version in
            History(of: resolved.file, on: writer.machine)?.bytes(of: version)
        }
        let bytes = try resolved.file.serialized(
            draft.values, as: draft.format, editing: draft.broughtBack ?? recovered ?? bytesBefore)
        self.bytes = bytes
        try startTemporary(bytes, writer)
    }

    private mutating func startTemporary(_ bytes: [UInt8], _ writer: DomainWriter) throws(StoreFailure) {
        let (files, target) = (writer.machine.fileSystem, resolved.target)
        let (audience, status) = (audience, before.status)
        let (path, file) = try resolved.file.reporting { () throws(SystemFailure) in
            // The folder of a file that is named by its path may be misspelled: it is not made.
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

    /// Sees to it that the new file is on the disk.
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

    /// What a transaction over several files notes of this one.
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
        let mark = DomainMark(hash: bytes.map { SHA256.hash($0) }, transaction: transaction, note: note(writer))
        if let lock = locks.markFile(of: resolved.file) { try mark.write(to: lock) }
        if let temporary {
            // With others a record is noted, by which a former file beside the new one would come back.
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

    /// Writes the new file once more, over itself.
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

    /// The status of the file that was written, also where another one stands in its place by now: what that one holds,
    /// nobody has read.
    private func statusOfWritten(in files: any FileSystem) throws(SystemFailure) -> FileStatus? {
        let found = try files.status(of: resolved.target)
        guard let written, found?.number != written.number else { return found }
        return written
    }

    /// Puts the new file in the place of the one that was read, and of no other: one that came since goes back.
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
            // Not every file system can: then whatever came since the last look is lost, as the manual says.
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
    /// That another file stands in a place than the one which was read there.
    fileprivate static func otherContents(_ path: FilePath) -> SystemFailure {
        SystemFailure(.staleHandle, .exchange, path)
    }

    var meansOtherContents: Bool { code == .staleHandle && operation == .exchange }
}
