internal import Digests
internal import Platform
internal import PropertyLists

/// What a commit does with one file.
struct FilePlan {
    let resolved: ResolvedFile
    let before: DomainContents
    private let draft: DomainDraft
    /// The bytes of the file, if it was read anew.
    private let bytesBefore: [UInt8]?
    /// What this writer left in the file and did not keep yet.
    private let unkeptBefore: UnkeptVersion?
    /// The versions that are kept, once somebody has looked.
    private var versions: [KeptVersion]?
    /// The same of what it holds after the change.
    private var unkept: UnkeptVersion?
    private let isKeptLater: Bool
    private let isFirst: Bool
    private var bytes: [UInt8]?
    private var temporary: FilePath?
    private var after: DomainContents
    private var transaction: String?
    /// Whether whatever else may stand there by now must stay.
    private let requiresKnown: Bool
    /// Whether dates have lost their fractions, which XML cannot hold.
    private let hasDroppedFractions: Bool

    /// Reads the file as it is under the lock, and changes the values.
    init(_ edit: DomainEdit, _ resolved: ResolvedFile, _ locks: DomainLocks, _ writer: DomainWriter) throws {
        self.resolved = resolved
        (before, bytesBefore) = try Self.read(edit, resolved, writer.machine)
        isKeptLater = edit.isKeptLater && locks.markFile(of: resolved.file) != nil
        unkeptBefore = edit.unkept
        isFirst = !before.exists || (before.isOwn && edit.unkept?.isFirst == true)
        var draft = DomainDraft(
            values: before.values, format: before.format ?? edit.file.newFormat, status: before.status)
        try edit.change(&draft)
        try Self.checkKeys(draft, before, edit.file)
        hasDroppedFractions = draft.format == .xml && draft.values.dropFractions()
        self.draft = draft
        requiresKnown = edit.requiresKnown
        after = before
    }

    /// A file that somebody replaces while it is read is simply read again: programs that take no lock do so.
    private static func read(
        _ edit: DomainEdit, _ resolved: ResolvedFile, _ machine: Machine
    ) throws(StoreFailure) -> (DomainContents, [UInt8]?) {
        if let known = edit.known, known.recovery == nil {
            let isKnown = try generation(of: resolved, machine) == known.generation
            // What somebody else has left there is read once more: no version of it may be kept.
            if isKnown, known.isOwn || !known.exists { return (known, nil) }
            if edit.requiresKnown, !isKnown { throw StoreFailure(edit.file, .notCurrent) }
        }
        guard let file = try edit.file.open(on: machine) else { return (.absent, nil) }
        do throws(StoreFailure) {
            let (contents, bytes) = try edit.file.load(file)
            return (contents, bytes)
        } catch  where error.isDamage {
            do throws(StoreFailure) {
                return (try edit.file.recovered(from: error, on: machine), nil)
            } catch  where edit.acceptsLoss && error.isDamage {
                let status = try? file.status()
                let nothing = KeptVersion(
                    sequence: 0, time: machine.clock.wall,
                    note: WriteNote(program: "", process: 0, reason: .recovered), transaction: "", size: 0)
                return (
                    DomainContents(values: [:], status: status, recovery: Recovery(damage: error, version: nothing)),
                    nil
                )
            }
        }
    }

    private static func generation(
        of resolved: ResolvedFile, _ machine: Machine
    ) throws(StoreFailure) -> FileGeneration? {
        do throws(SystemFailure) {
            return try machine.fileSystem.status(of: resolved.target)?.generation
        } catch {
            throw StoreFailure(error, resolved.file.name)
        }
    }

    /// Keys that a file has already are kept, whatever they are.
    private static func checkKeys(_ draft: DomainDraft, _ before: DomainContents, _ file: DomainFile)
        throws(StoreFailure)
    {
        for key in draft.values.keys where !key.isFitForWriting && before.values[key] == nil {
            throw StoreFailure(file, .badKey(key))
        }
    }

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
            unkept: unkept, bytes: transaction == nil ? nil : bytes, hasDroppedFractions: hasDroppedFractions)
    }

    mutating func writeTemporary(_ writer: DomainWriter) throws(StoreFailure) {
        guard isChanged, !draft.removesFile else { return }
        let bytes = try resolved.file.serialized(draft.values, as: draft.format)
        self.bytes = bytes
        try writeTemporary(bytes, writer)
    }

    private mutating func writeTemporary(_ bytes: [UInt8], _ writer: DomainWriter) throws(StoreFailure) {
        let files = writer.machine.fileSystem
        do throws(SystemFailure) {
            do throws(SystemFailure) {
                temporary = try files.writeTemporary(bytes, beside: resolved.target, like: before.status)
            } catch  where error.code == .noSuchFile {
                try files.makeFolders(resolved.target.parent)
                temporary = try files.writeTemporary(bytes, beside: resolved.target, like: before.status)
            }
        } catch {
            throw StoreFailure(error, resolved.file.name)
        }
    }

    func removeTemporary(on machine: Machine) {
        if let temporary { _ = try? machine.fileSystem.remove(temporary) }
    }

    mutating func forgetTemporary() { temporary = nil }

    /// What a transaction over several files notes of this one.
    mutating func step(_ writer: DomainWriter) throws(StoreFailure) -> TransactionRecord.Step? {
        if draft.removesFile { try writeTemporary(DomainState.tombstone, writer) }
        guard let temporary else { return nil }
        return TransactionRecord.Step(
            file: resolved.file, target: resolved.target,
            change: draft.removesFile ? .remove(by: temporary) : .replace(by: temporary))
    }

    mutating func replace(
        _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String, isOnly: Bool
    ) throws(SystemFailure) {
        let files = writer.machine.fileSystem
        var written: FileStatus?
        if requiresKnown, let temporary { written = try files.status(of: temporary) }
        let mark = DomainMark(hash: bytes.map { SHA256.hash($0) }, transaction: transaction, note: note(writer))
        if let lock = locks.markFile(of: resolved.file) { try mark.write(to: lock) }
        if let temporary {
            // With others a record is noted, by which a former file beside the new one would come back.
            if requiresKnown, isOnly {
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
                status: try status(of: resolved.target, as: written, in: files))
            after.isOwn = true
        }
        self.transaction = transaction
    }

    /// Writes the new file once more, over itself.
    mutating func replaceAnew(_ writer: DomainWriter) throws(SystemFailure) {
        guard let bytes else { return }
        let files = writer.machine.fileSystem
        let copy = try files.writeTemporary(bytes, beside: resolved.target, like: before.status)
        do throws(SystemFailure) {
            try files.rename(copy, to: resolved.target)
        } catch {
            _ = try? files.remove(copy)
            throw error
        }
        after.status = try files.status(of: resolved.target)
    }

    /// The status of the file that was written, also where another one stands in its place by now.
    private func status(
        of target: FilePath, as written: FileStatus?, in files: any FileSystem
    ) throws(SystemFailure) -> FileStatus? {
        let found = try files.status(of: target)
        guard let written, found?.identity != written.identity else { return found }
        return written
    }

    /// Puts the new file in the place of the one that was read, and of no other: one that came since goes back.
    private func exchange(_ temporary: FilePath, in files: any FileSystem) throws(SystemFailure) {
        let target = resolved.target
        do throws(SystemFailure) {
            guard let former = before.status else { return try files.rename(temporary, to: target, .keeping) }
            try files.rename(temporary, to: target, .exchanging)
            let out = try files.status(of: temporary)
            if out?.identity == former.identity, out?.size == former.size, out?.modified == former.modified {
                try files.remove(temporary)
                return
            }
            try files.rename(temporary, to: target, .exchanging)
        } catch  where error.code == .unsupported || error.code == .invalidArgument || error.code == .notImplemented {
            // Not every file system can: then whatever came since the last look is lost, as the manual says.
            return try files.rename(temporary, to: target)
        } catch  where error.code == .exists || error.code == .noSuchFile {
            throw .otherContents(target)
        }
        throw .otherContents(target)
    }

    private func note(_ writer: DomainWriter) -> WriteNote {
        var note = writer.note
        if let reason = draft.reason { note.reason = reason }
        if before.recovery != nil { note.reason = .recovered }
        return note
    }

    // MARK: Versions

    /// Sees to it that what stands in the file now is not lost with it.
    mutating func keepFormer(
        _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String
    ) throws(StoreFailure) {
        do throws(SystemFailure) {
            if before.recovery != nil { try resolved.file.keepDamaged(resolved.target, on: writer.machine) }
        } catch {
            throw StoreFailure(error, resolved.file.name)
        }
        guard let history = History(of: resolved.file, on: writer.machine) else { return }
        if let status = before.status, before.recovery == nil, status.size > writer.policy.mostCopiedBytes {
            history.recordLink(
                resolved.target, size: status.size, note(writer), transaction: transaction, policy: writer.policy)
        } else if bytesBefore != nil || unkeptBefore != nil {
            var versions = history.versions
            let mark = locks.markFile(of: resolved.file).flatMap { DomainMark(in: $0) }
            if let unkeptBefore, !isStoodFor(writer.policy),
                before.isOwn || mark?.transaction == unkeptBefore.transaction
            {
                history.record(unkeptBefore, after: &versions, policy: writer.policy)
            }
            if let bytesBefore, let found = unkeptVersion(bytesBefore, mark, versions, history, writer) {
                history.record(found, after: &versions, policy: writer.policy)
            }
            self.versions = versions
        }
    }

    /// Whether the new version comes in place of the one that this writer has not kept yet: a flush behind a flush.
    private func isStoodFor(_ policy: HistoryPolicy) -> Bool {
        isKeptLater && before.isOwn && bytes?.count ?? 0 <= policy.mostCopiedBytes
    }

    /// What the file held, if its version is not kept: a program that knows nothing of us wrote it, or one of ours that
    /// had no time to keep it.
    private func unkeptVersion(
        _ bytes: [UInt8], _ mark: DomainMark?, _ versions: [KeptVersion], _ history: History, _ writer: DomainWriter
    ) -> UnkeptVersion? {
        let time = before.status?.modified ?? writer.machine.clock.wall
        if let mark, mark.hash == SHA256.hash(bytes) {
            guard !versions.contains(where: { $0.transaction == mark.transaction }) else { return nil }
            return UnkeptVersion(bytes: bytes, note: mark.note, transaction: mark.transaction, time: time)
        }
        if mark == nil, let newest = versions.last, newest.size == bytes.count, history.bytes(of: newest) == bytes {
            return nil
        }
        var note = writer.note
        note.reason = .found
        return UnkeptVersion(bytes: bytes, note: note, transaction: writer.transactionName(), time: time)
    }

    /// Keeps the version that is in force now, or leaves that for later. Of a domain that was removed a tombstone is kept.
    mutating func keepNew(_ writer: DomainWriter, _ transaction: String) {
        guard let history = History(of: resolved.file, on: writer.machine) else { return }
        let bytes = bytes ?? DomainState.tombstone
        guard bytes.count <= writer.policy.mostCopiedBytes else { return }
        let version = UnkeptVersion(
            bytes: bytes, note: note(writer), transaction: transaction, time: writer.machine.clock.wall,
            isFirst: isFirst)
        guard !isKeptLater else {
            unkept = version
            return
        }
        var former = versions ?? history.versions
        history.record(version, after: &former, policy: writer.policy)
    }
}

extension SystemFailure {
    /// That another file stands in a place than the one which was read there.
    fileprivate static func otherContents(_ path: FilePath) -> SystemFailure {
        SystemFailure(.staleHandle, .exchange, path)
    }

    var meansOtherContents: Bool { code == .staleHandle && operation == .exchange }
}

extension DomainFile {
    /// The bytes of a file that holds the values.
    package func serialized(
        _ values: PropertyList.Dictionary, as format: PropertyList.Format
    ) throws(StoreFailure) -> [UInt8] {
        do throws(EncodingFailure) {
            return Array(try PropertyList.dictionary(values).serialized(as: format, options: .ofDomains))
        } catch {
            throw StoreFailure(self, .unwritable(error))
        }
    }
}

extension PropertyList.WritingOptions {
    /// How domains are written: to be read by key, and without loss.
    package static let ofDomains: PropertyList.WritingOptions = {
        var options = PropertyList.WritingOptions()
        options.marksSortedRoot = true
        options.wrapsInJSON = true
        options.isPretty = true
        return options
    }()
}

extension PropertyList.ReadingOptions {
    /// The counterpart of how domains are written.
    package static let ofDomains = PropertyList.ReadingOptions(unwrapsJSON: true)
}

extension PropertyList.Dictionary {
    /// Makes all dates those of whole seconds; whether that has changed any.
    package mutating func dropFractions() -> Bool {
        var isChanged = false
        for entry in self {
            let value = entry.value.droppingFractions
            guard value != entry.value else { continue }
            self[entry.key] = value
            isChanged = true
        }
        return isChanged
    }
}

extension PropertyList {
    fileprivate var droppingFractions: PropertyList {
        switch self {
        case .date(let date):
            .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)))
        case .array(let elements): .array(elements.map(\.droppingFractions))
        case .dictionary(let entries): .dictionary(Dictionary(entries.map { ($0.key, $0.value.droppingFractions) }))
        default: self
        }
    }
}

extension String {
    /// Whether a domain may get a key of this name.
    package var isFitForWriting: Bool { !isEmpty && !utf8.contains(0) }
}
