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
    /// The changes of files. A domain that is a folder has a file for each key.
    private(set) var pieces: [Piece] = []
    var after: DomainContents
    private var transaction: String?
    /// Whether to check that the file is still the one that was read. The lock does not ensure that, because other
    /// programs take none.
    private let comparesFormer: Bool
    /// Whether only the file that the caller knows may be replaced.
    let requiresKnown: Bool
    /// Whether dates lost their fractions, because the file's format cannot hold them.
    private let hasDroppedFractions: Bool
    /// Whether the domain's folder is removed with its files.
    private var removesFolder = false
    /// The format of the domain before it was converted to preserve fractions, or nil if it was not converted.
    private let convertedFrom: PropertyList.Format?

    /// The change of one file.
    struct Piece {
        let target: FilePath
        /// The key of a file in a folder.
        var key: String?
        /// The new contents, or nil to remove the file.
        let bytes: [UInt8]?
        /// The file to be replaced or removed.
        let former: FileStatus?
        fileprivate var temporary: FilePath?
        /// The open temporary file until it is synced.
        fileprivate var unsynchronized: (any OpenFile)?
        /// The status of the new file, which another program may have replaced since.
        fileprivate var written: FileStatus?

        init(_ target: FilePath, _ bytes: [UInt8]?, over former: FileStatus?, key: String? = nil) {
            (self.target, self.bytes, self.former, self.key) = (target, bytes, former, key)
        }
    }

    /// Reads the file under the lock, and applies the change.
    init(_ edit: DomainEdit, _ resolved: ResolvedFile, _ locks: DomainLocks, _ writer: DomainWriter) throws {
        self.resolved = resolved
        (before, bytesBefore) = try edit.presentContents(of: resolved, on: writer.system)
        isKeptLater = edit.isKeptLater && locks.markFile(of: resolved.file) != nil
        unkeptBefore = edit.unkept
        isFirst = !before.exists || (before.isOwn && edit.unkept?.isFirst == true)
        var draft = DomainDraft(
            values: before.values, format: before.format ?? edit.file.newFormat, status: before.status)
        draft.rootKind = before.rootKind
        draft.isFolder = before.isFolder || !before.exists && before.members != nil
        draft.isExposed = before.status?.isExposed(to: writer.system.environment.user) ?? false
        draft.isDamaged = before.recovery != nil
        (draft.writesWholeText, draft.rewrites) = (edit.writesWholeText, edit.writesWholeText)
        try edit.change(&draft)
        // Values removed by key leave gaps between the indices of an array, and may leave nothing that is one.
        if draft.rootKind != .dictionary { draft.root = draft.root }
        if draft.isFolder {
            if let reason = Self.obstacle(to: resolved) { throw StoreFailure(.notAllowed(reason), edit.file.name) }
            removesFolder = draft.removesFile
            draft.format = .binary
            // A folder without values exists as a folder, but not as a domain.
            draft.removesFile = draft.removesFile || draft.values.isEmpty
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
        let files = writer.system.fileSystem
        try resolved.file.reporting { () throws(SystemFailure) in
            guard !before.isFolder else { return try resolved.file.synchronize(on: writer.system) }
            try files.open(resolved.target, .reading)?.synchronize()
            try files.synchronizeFolder(resolved.target.parent)
        }
    }

    /// Whether the file was replaced or removed.
    var isCarriedOut: Bool { transaction != nil }

    /// The change of the file for messages.
    var change: SystemFailure.Change {
        let path = writesFolder ? resolved.file.folder ?? resolved.file.path : resolved.file.path
        return removesFile ? .removed(path) : .wrote(path)
    }

    // MARK: Writing the file

    var removesFile: Bool { draft.removesFile }

    var isChanged: Bool {
        if draft.isRecorded { return true }
        if draft.removesFile { return before.exists }
        if draft.createsFile, !before.exists { return true }
        if draft.root != before.root || before.recovery != nil { return true }
        if before.exists, draft.isFolder != before.isFolder { return true }
        // The bytes of a version can differ although its values are the same.
        if let restoredBytes, let bytesBefore, restoredBytes != bytesBefore { return true }
        return before.exists && (draft.rewrites || draft.format != before.format)
    }

    var outcome: CommittedDomain {
        CommittedDomain(
            file: resolved.file, before: before, after: after, isChanged: transaction != nil, transaction: transaction,
            unkept: unkept, bytes: transaction == nil ? nil : bytes, hasDroppedFractions: hasDroppedFractions,
            convertedFrom: transaction == nil ? nil : convertedFrom,
            removedComments: transaction == nil ? [] : removedComments, unwritableHistory: unwritableHistory,
            losesFormer: losesFormer)
    }

    /// Returns the text of the new file.
    private func newText(_ writer: DomainWriter) throws(StoreFailure) -> EditResult {
        if let restoredBytes { return EditResult(restoredBytes) }
        return try resolved.file.serialized(draft, editing: former(writer.system), padsReals: padsReals)
    }

    /// Returns the outcome of writing the files, without writing them.
    func preview(_ writer: DomainWriter) throws(StoreFailure) -> CommittedDomain {
        var after = before
        var isChanged = isChanged
        if isChanged, draft.removesFile {
            after = .absent
        } else if isChanged {
            after.values = draft.values
            (after.rootKind, after.format) = (draft.rootKind, draft.format)
            if !draft.isFolder { isChanged = try newText(writer).bytes != bytesBefore }
        }
        return CommittedDomain(
            file: resolved.file, before: before, after: after, isChanged: isChanged, transaction: nil, unkept: nil,
            bytes: nil, hasDroppedFractions: false, convertedFrom: nil, removedComments: [], unwritableHistory: nil,
            losesFormer: false)
    }

    /// Writes the new files beside the present ones.
    mutating func startTemporary(_ writer: DomainWriter) throws(StoreFailure) {
        guard isChanged else { return }
        if let folder = resolved.file.folder, writesFolder {
            bytes = try resolved.file.image(of: draft.values)
            pieces = try piecesOfFolder(folder, writer.system)
        } else if !draft.removesFile {
            let edited = try newText(writer)
            let bytes = edited.bytes
            (self.bytes, removedComments) = (bytes, edited.removedComments)
            pieces = [Piece(resolved.target, bytes, over: before.isFolder ? nil : before.status)]
        }
        // The removed files: the domain, or its other form.
        if before.isFolder, !writesFolder, let folder = resolved.file.folder {
            for member in before.members ?? [] {
                pieces.append(Piece(folder.appending(member.name), nil, over: member.status))
            }
        } else if before.exists, !before.isFolder, draft.removesFile || draft.isFolder {
            pieces.append(Piece(resolved.target, nil, over: before.status))
        }
        if draft.isFolder, draft.removesFile, !removesFolder, let folder = resolved.file.folder {
            try resolved.file.reporting { () throws(SystemFailure) in
                try writer.system.fileSystem.makeFolders(folder, for: audience)
            }
        }
        for index in pieces.indices {
            guard let bytes = pieces[index].bytes else { continue }
            try startTemporary(bytes, index, writer)
            // Limits the number of open files.
            if pieces.count > Self.mostOpen { try finishTemporary(index) }
            writer.report(.wroteFile(of: pieces.count))
        }
    }

    /// The number of temporary files that may remain open.
    static let mostOpen = 16

    /// Whether the new contents are files in a folder.
    var writesFolder: Bool { draft.isFolder && !draft.removesFile }

    /// Returns the changes of the files in the folder. Files with the right values remain as they are.
    private func piecesOfFolder(_ folder: FilePath, _ system: SystemServices) throws(StoreFailure) -> [Piece] {
        let members = before.isFolder ? before.members ?? [] : []
        var (present, ofKey) = ([FileName: FolderMember](), [Name: FolderMember]())
        for member in members {
            present[member.name] = member
            if let key = member.key, !member.isDamaged { ofKey[Name(key)] = member }
        }
        var alike: [String: Int] = [:]
        for key in draft.values.keys { alike[MemberName.folded(key), default: 0] += 1 }
        var (pieces, names) = ([Piece](), Set<FileName>())
        for entry in draft.values {
            if let member = ofKey[Name(entry.key)], !draft.rewrites, before.values[entry.key] == entry.value {
                names.insert(member.name)
                continue
            }
            let isAlike = alike[MemberName.folded(entry.key), default: 1] > 1
            var member = MemberName(entry.key, entry.value, isHashed: isAlike)
            if present[member.name] == nil, try !allows(member.name, in: folder, system) {
                member = MemberName(entry.key, entry.value, isHashed: true)
            }
            names.insert(member.name)
            pieces.append(
                Piece(
                    folder.appending(member.name),
                    try resolved.file.bytes(of: entry.value, for: entry.key, in: member),
                    over: present[member.name]?.status, key: entry.key))
        }
        for member in members where !names.contains(member.name) {
            pieces.append(Piece(folder.appending(member.name), nil, over: member.status))
        }
        return pieces
    }

    /// Whether the file system allows the name of a new file in the folder. The rename after the commit must not fail,
    /// so names that some file systems refuse are tried with a hidden file. ASCII names of usual length are safe.
    private func allows(
        _ name: FileName, in folder: FilePath, _ system: SystemServices
    ) throws(StoreFailure) -> Bool {
        let isSafe = name.bytes.count <= 100 && name.bytes.allSatisfy { $0 < 0x80 }
        guard !isSafe, let hidden = FileName([UInt8(ascii: ".")] + name.bytes) else { return true }
        let path = folder.appending(hidden)
        return try resolved.file.reporting { () throws(SystemFailure) in
            do throws(SystemFailure) {
                _ = try system.makingFolder(folder, for: audience) { () throws(SystemFailure) in
                    try system.fileSystem.open(path, .creatingNew(.privateFile))
                }
                try system.fileSystem.remove(path)
                return true
            } catch  where error.code == .exists {
                // Left by a writer that was killed here.
                let left = try system.fileSystem.status(of: path, followingLink: false)
                if let left, left.kind == .file, left.size == 0 { try system.fileSystem.remove(path) }
                return true
            } catch  where [.notPermitted, .invalidArgument, .illegalBytes, .nameTooLong].contains(error.code) {
                return false
            }
        }
    }

    /// Returns the reason the domain cannot be a folder, or nil if it can.
    private static func obstacle(to resolved: ResolvedFile) -> String? {
        if resolved.file.folder == nil { return "only a domain of the store can be a folder" }
        if resolved.isLinked { return "a domain whose file is a symbolic link cannot become a folder" }
        return nil
    }

    /// The bytes of a version that is restored unchanged.
    private var restoredBytes: [UInt8]? {
        guard !draft.isFolder, let bytes = draft.restoredBytes, !DomainFile.isImage(bytes),
            let (values, format) = try? resolved.file.parse(bytes),
            values == draft.values, format == draft.format
        else { return nil }
        return bytes
    }

    /// The bytes from which the new ones are made by an edit, if the file is a text.
    private func former(_ system: SystemServices) -> [UInt8]? {
        if before.isFolder || before.format == .binary && draft.format == .binary { return nil }
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
        let (files, target) = (writer.system.fileSystem, pieces[index].target)
        let (audience, status) = (audience, pieces[index].former)
        let (path, file) = try reporting(target) { () throws(SystemFailure) in
            // The path of a file that is not a domain's may be misspelled, so its folder is not created.
            guard resolved.file.isOfDomain else {
                return try files.startTemporary(bytes, beside: target, like: status, for: audience)
            }
            return try writer.system.makingFolder(target.parent, for: audience) { () throws(SystemFailure) in
                try files.startTemporary(bytes, beside: target, like: status, for: audience)
            }
        }
        (pieces[index].temporary, pieces[index].unsynchronized) = (path, file)
    }

    /// Waits until the new files are on the disk.
    mutating func finishTemporary() throws(StoreFailure) {
        for index in pieces.indices { try finishTemporary(index) }
    }

    private mutating func finishTemporary(_ index: Int) throws(StoreFailure) {
        guard let file = pieces[index].unsynchronized else { return }
        pieces[index].unsynchronized = nil
        pieces[index].written = try reporting(pieces[index].target) { () throws(SystemFailure) in
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
        for case let temporary? in pieces.map(\.temporary) { _ = try? system.fileSystem.remove(temporary) }
    }

    mutating func forgetTemporary() { for index in pieces.indices { pieces[index].temporary = nil } }

    /// Removes temporary files of killed writers from the domain's folder. Requires the domain's lock.
    func removeLeftoversInFolder(on system: SystemServices) {
        guard before.members != nil || draft.isFolder, let folder = resolved.file.folder,
            let names = try? system.fileSystem.names(in: folder)
        else { return }
        for name in names where name.isTemporary { _ = try? system.fileSystem.remove(folder.appending(name)) }
    }

    /// Removes the folder of a domain that is no longer a folder, unless it has other files.
    func removeEmptyFolder(on system: SystemServices) {
        guard before.members != nil, removesFolder || !draft.isFolder, let folder = resolved.file.folder,
            // A symbolic link is not removed, like one to a file.
            let status = try? system.fileSystem.status(of: folder, followingLink: false), status.kind == .folder
        else { return }
        _ = try? system.fileSystem.remove(folder)
    }

    /// Whether a file is removed.
    var removesAny: Bool { pieces.contains { $0.bytes == nil } }

    /// Returns the steps for the record of a transaction over several files.
    mutating func steps(
        _ writer: DomainWriter, _ transaction: String
    ) throws(StoreFailure) -> [TransactionRecord.Step] {
        for index in pieces.indices where pieces[index].bytes == nil {
            try startTemporary(DomainState.tombstone, index, writer)
            try finishTemporary(index)
            writer.report(.wroteFile(of: pieces.count))
        }
        let isKept = writesFolder || bytes?.count ?? 0 <= writer.policy.mostCopiedBytes
        let outcome = TransactionRecord.Outcome(
            path: resolved.file.path, folder: resolved.file.folder, mark: mark(writer, transaction),
            isPublic: resolved.file.audience == .everyone, versions: isKept ? writer.policy.versions : 0,
            bytes: writer.policy.bytes, isFirst: isFirst)
        return pieces.compactMap { piece in
            guard let temporary = piece.temporary else { return nil }
            var file = resolved.file
            file.folder = nil
            if piece.target != resolved.target { file.path = piece.target }
            return TransactionRecord.Step(
                file: file, target: piece.target, former: TransactionRecord.Former(piece.former),
                change: piece.bytes == nil ? .remove(by: temporary) : .replace(by: temporary),
                written: TransactionRecord.Former(piece.written), outcome: outcome)
        }
    }

    /// The statuses of the new files.
    var statusesOfWritten: [FileStatus] { pieces.compactMap(\.written) }

    mutating func replace(
        _ writer: DomainWriter, _ locks: DomainLocks, _ transaction: String, isOnly: Bool
    ) throws(SystemFailure) {
        let files = writer.system.fileSystem
        if let lock = locks.markFile(of: resolved.file) { try mark(writer, transaction).write(to: lock) }
        for index in pieces.indices {
            if let temporary = pieces[index].temporary {
                // With several files there is a record, which would restore a previous file that was exchanged.
                if comparesFormer, isOnly {
                    try exchange(temporary, index, in: files)
                } else {
                    do throws(SystemFailure) {
                        try files.rename(temporary, to: pieces[index].target)
                    } catch {
                        throw error.naming(resolved.file.shown(pieces[index].target))
                    }
                }
                pieces[index].temporary = nil
            }
            if pieces[index].bytes == nil { try files.remove(pieces[index].target) }
        }
        self.transaction = transaction
        takeWritten(in: files)
    }

    private func mark(_ writer: DomainWriter, _ transaction: String) -> WriteMarker {
        WriteMarker(hash: bytes.map { SHA256.hash($0) }, transaction: transaction, author: author(writer))
    }

    /// Sets the new contents in `after`. The write is done, even if the status of a file cannot be read now.
    private mutating func takeWritten(in files: any FileSystem) {
        guard !draft.removesFile else {
            after = .absent
            if draft.isFolder, !removesFolder { after.members = [] }
            return
        }
        after = DomainContents(values: draft.values, format: draft.format)
        after.rootKind = draft.rootKind
        after.isOwn = true
        if let folder = resolved.file.folder, writesFolder {
            var members: [FileName: FolderMember] = [:]
            for member in before.isFolder ? before.members ?? [] : [] { members[member.name] = member }
            for piece in pieces where piece.target.parent == folder {
                guard let name = piece.target.lastComponent else { continue }
                members[name] = nil
                guard piece.bytes != nil, let status = statusOfWritten(piece, in: files) else { continue }
                members[name] = FolderMember(name: name, key: piece.key, status: status)
            }
            let sorted = members.values.sorted { $0.name < $1.name }
            after.members = sorted
            let place = (try? files.status(of: folder)) ?? sorted.first?.status
            after.status = place.flatMap { FileStatus(of: sorted, in: $0) }
        } else if let piece = pieces.first {
            after.status = statusOfWritten(piece, in: files)
        }
    }

    /// Writes the new file again.
    mutating func replaceAgain(_ writer: DomainWriter) throws(SystemFailure) {
        let files = writer.system.fileSystem
        for index in pieces.indices {
            let piece = pieces[index]
            guard let bytes = piece.bytes else { continue }
            let copy = try files.writeTemporary(bytes, beside: piece.target, like: piece.former, for: audience)
            do throws(SystemFailure) {
                pieces[index].written = try files.status(of: copy)
                try files.rename(copy, to: piece.target)
            } catch {
                _ = try? files.remove(copy)
                throw error
            }
        }
        takeWritten(in: files)
    }

    /// Returns the status of the file that was written, even if it was replaced since; the replacement is unread.
    private func statusOfWritten(_ piece: Piece, in files: any FileSystem) -> FileStatus? {
        let found = try? files.status(of: piece.target)
        guard let written = piece.written, found?.number != written.number else { return found }
        return written
    }

    /// Replaces the file that was read. A file that replaced it since is put back.
    private mutating func exchange(
        _ temporary: FilePath, _ index: Int, in files: any FileSystem
    ) throws(SystemFailure) {
        let (piece, target) = (pieces[index], pieces[index].target)
        do throws(SystemFailure) {
            guard let former = piece.former else { return try files.rename(temporary, to: target, .onlyIfAbsent) }
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
                pieces[index].temporary = nil
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
