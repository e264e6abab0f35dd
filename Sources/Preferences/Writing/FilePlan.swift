internal import Digests
internal import Platform
internal import PropertyLists

/// What a commit does with one file.
struct FilePlan {
    let resolved: ResolvedFile
    let before: DomainContents
    private let draft: DomainDraft
    /// What the file held, if a program that knows nothing of us wrote it.
    private let foreignBytes: [UInt8]?
    private var bytes: [UInt8]?
    private var temporary: FilePath?
    private var after: DomainContents
    private var transaction: String?
    /// Whether dates have lost their fractions, which XML cannot hold.
    private let hasDroppedFractions: Bool

    /// Reads the file as it is under the lock, and changes the values.
    init(_ edit: DomainEdit, _ resolved: ResolvedFile, _ locks: DomainLocks, _ writer: DomainWriter) throws {
        self.resolved = resolved
        let mark = locks.markFile(of: resolved.file)
        (before, foreignBytes) = try Self.read(edit, resolved, mark, writer.machine)
        var draft = DomainDraft(
            values: before.values, format: before.format ?? edit.file.newFormat, status: before.status)
        try edit.change(&draft)
        try Self.checkKeys(draft, before, edit.file)
        hasDroppedFractions = draft.format == .xml && draft.values.dropFractions()
        self.draft = draft
        after = before
    }

    /// A file that somebody replaces while it is read is simply read again: programs that take no lock do so.
    private static func read(
        _ edit: DomainEdit, _ resolved: ResolvedFile, _ mark: (any OpenFile)?, _ machine: Machine
    ) throws(StoreFailure) -> (DomainContents, foreign: [UInt8]?) {
        do throws(SystemFailure) {
            if let known = edit.known, known.recovery == nil,
                try machine.fileSystem.status(of: resolved.target)?.generation == known.generation
            {
                return (known, nil)
            }
        } catch {
            throw StoreFailure(error, edit.file.name)
        }
        guard let file = try edit.file.open(on: machine) else { return (.absent, nil) }
        do throws(StoreFailure) {
            let (contents, bytes) = try edit.file.load(file)
            return (contents, isOurs(bytes, mark, edit.file, machine) ? nil : bytes)
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

    /// Whether what the file holds is what the last writer of ours left there.
    private static func isOurs(
        _ bytes: [UInt8], _ mark: (any OpenFile)?, _ file: DomainFile, _ machine: Machine
    ) -> Bool {
        if let hash = mark.flatMap({ DomainMark(in: $0) })?.hash { return hash == SHA256.hash(bytes) }
        guard let history = History(of: file, on: machine), let newest = history.versions.last else { return false }
        return newest.size == bytes.count && history.bytes(of: newest) == bytes
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

    var isChanged: Bool {
        if draft.removesFile { return before.exists }
        if draft.values != before.values || before.recovery != nil { return true }
        return before.exists && (draft.rewrites || draft.format != before.format)
    }

    var outcome: CommittedDomain {
        CommittedDomain(
            file: resolved.file, before: before, after: after, isChanged: transaction != nil, transaction: transaction,
            hasDroppedFractions: hasDroppedFractions)
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
        _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String
    ) throws(SystemFailure) {
        let files = writer.machine.fileSystem
        let mark = DomainMark(hash: bytes.map { SHA256.hash($0) }, transaction: transaction, note: note(writer))
        if let lock = locks.markFile(of: resolved.file) { try mark.write(to: lock) }
        if let temporary {
            try files.rename(temporary, to: resolved.target)
            self.temporary = nil
        }
        if draft.removesFile {
            try files.remove(resolved.target)
            after = .absent
        } else {
            after = DomainContents(
                values: draft.values, format: draft.format, status: try files.status(of: resolved.target))
        }
        self.transaction = transaction
    }

    private func note(_ writer: DomainWriter) -> WriteNote {
        var note = writer.note
        if let reason = draft.reason { note.reason = reason }
        if before.recovery != nil { note.reason = .recovered }
        return note
    }

    // MARK: Versions

    /// Sees to it that what stands in the file now is not lost with it.
    func keepFormer(_ writer: DomainWriter, _ transaction: String) throws(StoreFailure) {
        do throws(SystemFailure) {
            if before.recovery != nil { try resolved.file.keepDamaged(resolved.target, on: writer.machine) }
        } catch {
            throw StoreFailure(error, resolved.file.name)
        }
        guard let history = History(of: resolved.file, on: writer.machine) else { return }
        if let status = before.status, before.recovery == nil, status.size > writer.policy.mostCopiedBytes {
            history.recordLink(
                resolved.target, size: status.size, note(writer), transaction: transaction, policy: writer.policy)
        } else if let foreignBytes {
            var note = writer.note
            note.reason = .found
            history.record(foreignBytes, note, transaction: transaction, policy: writer.policy, isFirst: false)
        }
    }

    /// Keeps the version that is in force now. Of a domain that was removed a tombstone is kept.
    func keepNew(_ writer: DomainWriter, _ transaction: String) {
        guard let history = History(of: resolved.file, on: writer.machine) else { return }
        let bytes = bytes ?? DomainState.tombstone
        guard bytes.count <= writer.policy.mostCopiedBytes else { return }
        history.record(
            bytes, note(writer), transaction: transaction, policy: writer.policy, isFirst: !before.exists)
    }
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
    fileprivate mutating func dropFractions() -> Bool {
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
