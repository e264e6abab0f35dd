package import Platform
package import PropertyLists

/// The kept versions of one domain.
package struct History: Sendable {
    let file: DomainFile
    package let folder: FilePath
    let system: SystemServices

    /// Returns nil if the file has no history.
    package init?(of file: DomainFile, on system: SystemServices) {
        guard let folder = file.history else { return nil }
        self.file = file
        self.folder = folder
        self.system = system
    }

    /// The versions according to the names in the folder, oldest first. Empty if the folder cannot be read.
    package var versions: [KeptVersion] { (try? listed()) ?? [] }

    /// Lists the versions. Throws if the folder cannot be read.
    ///
    /// - Parameter removingLeftovers: Whether to remove temporary files of killed writers. This requires the lock.
    package func listed(removingLeftovers: Bool = false) throws(SystemFailure) -> [KeptVersion] {
        var names = try system.fileSystem.names(in: folder) ?? []
        if removingLeftovers {
            for name in names where name.isTemporary { _ = try? system.fileSystem.remove(folder.appending(name)) }
        }
        let own = names
        if let former = file.former?.history {
            names += (try system.fileSystem.names(in: former) ?? []).filter { !names.contains($0) }
        }
        let versions = names.compactMap { KeptVersion($0) }.sorted { $0.sequence < $1.sequence }
        if removingLeftovers {
            for name in own where isLeftoverList(name, among: versions) {
                _ = try? system.fileSystem.remove(folder.appending(name))
            }
        }
        return versions
    }

    /// The newest readable version and its values, or nil if it is a removal. A file that was created after a removal
    /// is not related to the previous value.
    package var newestGood: (version: KeptVersion, values: PropertyList.Dictionary)? {
        for version in versions.reversed() {
            if let state = state(of: version) { return state == .absent ? nil : (version, state.values) }
        }
        return nil
    }

    /// Returns the values of a version, or nil if it is missing or damaged.
    package func values(of version: KeptVersion) -> PropertyList.Dictionary? {
        guard let bytes = bytes(of: version) else { return nil }
        return try? file.parse(bytes).0
    }

    /// Whether the last write with the library left these contents.
    package func wasWritten(_ bytes: [UInt8]) -> Bool {
        guard let last = versions.last, last.author.reason != .found else { return false }
        return self.bytes(of: last) == bytes
    }

    /// Returns the bytes of a version, or nil if it is missing or truncated.
    package func bytes(of version: KeptVersion) -> [UInt8]? {
        path(of: version).flatMap { contents(of: $0) }.flatMap { version.isMade(of: $0) ? $0 : nil }
    }

    /// Returns the failure of the system if a version cannot be read, which does not mean that it is damaged.
    package func failure(of version: KeptVersion) -> SystemFailure? {
        guard let path = path(of: version) else { return nil }
        do throws(SystemFailure) {
            _ = try system.fileSystem.open(path, .reading)
            return nil
        } catch {
            return error
        }
    }

    /// Whether a crash has truncated a version.
    package func isTruncated(_ version: KeptVersion) -> Bool {
        guard let path = path(of: version), let bytes = contents(of: path) else { return false }
        return !version.isMade(of: bytes)
    }

    /// Syncs a version. Returns whether that succeeded.
    func synchronize(_ version: KeptVersion) -> Bool {
        guard let path = path(of: version), let file = try? system.fileSystem.open(path, .reading) else {
            return false
        }
        return (try? file.synchronize()) != nil && (try? system.fileSystem.synchronizeFolder(folder)) != nil
    }

    private func contents(of path: FilePath) -> [UInt8]? {
        try? system.fileSystem.contents(of: path, limit: PropertyList.Limits.default.inputBytes)
    }

    /// Returns the path of a version.
    package func path(of version: KeptVersion) -> FilePath? {
        guard let name = version.fileName else { return nil }
        let path = folder.appending(name)
        guard let former = file.former?.history, (try? system.fileSystem.status(of: path)) == nil else {
            return path
        }
        return former.appending(name)
    }
}

/// A version that is not in the history yet.
package struct PendingVersion: Sendable {
    let bytes: [UInt8]
    let author: WriteAuthor
    let transaction: String
    /// The time at which it was written, which may be long before it is kept.
    let time: Timestamp
    /// Whether there was no file before it.
    var isFirst = false
}

/// The limits of the versions of a domain.
package struct HistoryPolicy: Hashable, Sendable {
    /// The number of versions. 0 turns the history off.
    package var versions = 32
    /// The total size in bytes.
    package var bytes = 8 << 20
    /// The size above which a version is a hard link to the replaced file, so that it takes no space of its own.
    package var mostCopiedBytes = 1 << 20
    /// The time within which a flush of a program replaces its previous version.
    package var flushInterval: Duration = .seconds(60)

    package init() {}
}

extension History {
    /// Keeps a version. Returns false if that failed, which does not fail the write.
    ///
    /// - Parameters:
    ///   - former: The kept versions, to which the new one is added.
    ///   - isDurable: Whether the version must survive a power failure when this returns.
    ///   - model: The file whose owner and permissions it gets; nil to look for it.
    @discardableResult
    func record(
        _ unkept: PendingVersion, after former: inout [KeptVersion], policy: HistoryPolicy, isDurable: Bool = false,
        like model: (FilePath, FileStatus)? = nil
    ) -> Bool {
        guard policy.versions > 0 else { return true }
        let bytes = unkept.bytes
        var version = next(
            after: former, unkept.author, unkept.transaction, unkept.time, size: bytes.count, isFirst: unkept.isFirst)
        version.checksum = KeptVersion.checksum(of: bytes)
        // A version that replaces the first one has its number.
        if let last = former.last, last.sequence == 1, last.isReplaced(by: version, within: policy.flushInterval) {
            version.sequence = last.sequence
        }
        guard let path = version.fileName.map(folder.appending),
            write(bytes, to: path, like: model, isDurable: isDurable)
        else { return false }
        forget(former, with: version, policy)
        former.append(version)
        return true
    }

    /// Writes a file in the history. Returns false if that failed.
    ///
    /// - Parameter former: The file whose owner and permissions it gets; nil for those of a new version.
    func write(
        _ bytes: [UInt8], to path: FilePath, like former: (FilePath, FileStatus)? = nil, isDurable: Bool = false
    ) -> Bool {
        guard let (temporary, copy) = create(path) else { return false }
        let files = system.fileSystem
        do throws(SystemFailure) {
            try copy.write(bytes, at: 0)
            let source: (FilePath, FileStatus)? = if let former { former } else { try model() }
            if let (path, model) = source {
                if model.permissions != .privateFile || model.owner != system.environment.user {
                    try copy.adopt(model, of: path)
                }
            } else if audience == .everyone {
                try copy.setPermissions(.publicFile)
            }
            if isDurable { try copy.synchronize() }
            try files.rename(temporary, to: path)
        } catch {
            _ = try? files.remove(temporary)
            return false
        }
        // A version that may disappear after a power failure is not durable.
        return !isDurable || (try? files.synchronizeFolder(folder)) != nil
    }

    /// Keeps the file that is about to be replaced as a hard link, or as a copy if the versions are on another file
    /// system. Returns false if that failed.
    func recordReplaced(
        _ path: FilePath, _ status: FileStatus, _ author: WriteAuthor, transaction: String,
        after former: inout [KeptVersion], policy: HistoryPolicy, isDurable: Bool
    ) -> Bool {
        guard policy.versions > 0 else { return true }
        if let newest = former.last, isSameFile(newest, status) { return !isDurable || synchronize(newest) }
        let time = system.clock.wall
        let version = next(after: former, author, transaction, time, size: status.size, isFirst: false)
        guard let name = version.fileName else { return false }
        do throws(SystemFailure) {
            if former.isEmpty { try system.fileSystem.makeFolders(folder, for: audience) }
            try system.fileSystem.link(path, to: folder.appending(name))
        } catch {
            guard let bytes = contents(of: path) else { return false }
            if let newest = former.last, isCopy(newest, of: bytes) { return !isDurable || synchronize(newest) }
            let copy = PendingVersion(bytes: bytes, author: author, transaction: transaction, time: time)
            return record(copy, after: &former, policy: policy, isDurable: isDurable)
        }
        forget(former, with: version, policy)
        former.append(version)
        return !isDurable || synchronize(version)
    }

    /// Moves the versions from the place where earlier versions of this library kept them. Those that cannot be moved
    /// are still listed. Requires the locks.
    func takeFormer() {
        let files = system.fileSystem
        guard let former = file.former?.history, let names = try? files.names(in: former) else { return }
        var last = ((try? files.names(in: folder)) ?? [])?.compactMap { KeptVersion($0)?.sequence }.max() ?? 0
        for name in names.sorted() {
            let path = former.appending(name)
            if var version = KeptVersion(name), (try? files.status(of: folder.appending(name))) == nil {
                // A program with an earlier version of this library has numbered it after a move.
                if version.sequence <= last, last < .max { version.sequence = last + 1 }
                last = version.sequence
                guard let status = try? files.status(of: path), let bytes = contents(of: path),
                    let place = version.fileName.map(folder.appending),
                    write(bytes, to: place, like: (path, status), isDurable: true)
                else { return }
            }
            if KeptVersion(name) != nil || name.isTemporary { _ = try? files.remove(path) }
        }
        _ = try? files.remove(former)
        _ = try? files.remove(former.parent)
    }

    /// Removes all versions after the history was turned off. An old version must not replace a file damaged much
    /// later.
    func removeAll() {
        let versions = versions
        for version in versions { remove(version) }
        if !versions.isEmpty { _ = try? listed(removingLeftovers: true) }
    }

    /// Whether a version is a link to the file itself, left by a failed attempt to replace it.
    private func isSameFile(_ version: KeptVersion, _ status: FileStatus) -> Bool {
        guard status.links > 1, version.size == status.size, let path = path(of: version) else { return false }
        return (try? system.fileSystem.status(of: path))?.number == status.number
    }

    /// Whether a version has exactly these bytes.
    func isCopy(_ version: KeptVersion, of bytes: [UInt8]) -> Bool {
        version.size == bytes.count && self.bytes(of: version) == bytes
    }

    /// Returns the next version. The number 1 is reserved for the creation of a domain. A history that starts later
    /// begins with 2, because the state before its first version is unknown.
    private func next(
        after former: [KeptVersion], _ author: WriteAuthor, _ transaction: String, _ time: Timestamp, size: Int,
        isFirst: Bool
    ) -> KeptVersion {
        let last = former.last?.sequence ?? (isFirst ? 0 : 1)
        let (sequence, overflows) = last.addingReportingOverflow(1)
        return KeptVersion(
            sequence: overflows ? .max : sequence, time: time, author: author, transaction: transaction, size: size)
    }

    /// The users who may access the versions. Everyone who may read the domain's file may read the versions in its
    /// place.
    var audience: Audience { file.audience == .everyone ? .everyone : .owner }

    /// Returns the file whose owner and permissions a version gets: the domain's, or the most private one of a folder
    /// that everyone may read. Versions of other folders are private.
    private func model() throws(SystemFailure) -> (FilePath, FileStatus)? {
        let files = system.fileSystem
        if let status = try files.status(of: file.path) { return (file.path, status) }
        guard audience == .everyone, let folder = file.folder else { return nil }
        var found: (FilePath, FileStatus)?
        for name in try files.names(in: folder) ?? [] where MemberName(name) != nil {
            let path = folder.appending(name)
            guard let status = try files.status(of: path) else { continue }
            if found == nil || !status.isExposed { found = (path, status) }
        }
        return found
    }

    private func create(_ path: FilePath) -> (temporary: FilePath, file: any OpenFile)? {
        try? system.makingFolder(folder, for: audience) { () throws(SystemFailure) in
            let (temporary, copy) = try system.fileSystem.makeTemporary(beside: path)
            do throws(SystemFailure) {
                if system.environment.user == 0 { try system.fileSystem.giveToOwnerOfFolder(copy, at: path) }
            } catch {
                _ = try? system.fileSystem.remove(temporary)
                throw error
            }
            return (temporary, copy)
        }
    }

    /// Removes the versions beyond the limits, and the flush that the new version replaces.
    private func forget(_ former: [KeptVersion], with new: KeptVersion, _ policy: HistoryPolicy) {
        var remaining = former
        if let last = remaining.last, last.isReplaced(by: new, within: policy.flushInterval) {
            remove(last)
            remaining.removeLast()
        }
        // A sum of sizes from names of files, which may exceed an integer.
        var bytes = remaining.reduce(Double(new.size)) { $0 + Double($1.size) }
        // The newest former version is kept even if it exceeds the size limit.
        while remaining.count + 1 > policy.versions || bytes > Double(policy.bytes) && remaining.count > 1 {
            let version = remaining.remove(at: Self.leastImportant(of: remaining, policy))
            bytes -= Double(version.size)
            remove(version)
        }
    }

    /// Returns the index of the version to remove: the oldest, unless it is among the last eight changes of users.
    /// Programs and mirrors can write so often that these would soon be gone, so one of theirs is removed instead.
    private static func leastImportant(of versions: [KeptVersion], _ policy: HistoryPolicy) -> Int {
        let users = versions.filter { $0.author.reason != .found && $0.author.reason != .mirrored }
        // A large version is the replaced file, and names the author of the next one.
        guard users.count <= 8, versions.first == users.first,
            !versions.contains(where: { $0.size > policy.mostCopiedBytes })
        else { return 0 }
        return versions.indices.dropLast().first { versions[$0].isReplaceable(by: versions[$0 + 1]) } ?? 0
    }

    private func remove(_ version: KeptVersion) {
        if let path = path(of: version) { _ = try? system.fileSystem.remove(path) }
    }
}

extension KeptVersion {
    /// Whether the next version can stand for the changes of both: an undo of it must say, or refuse, the same.
    fileprivate func isReplaceable(by next: KeptVersion) -> Bool {
        switch author.reason {
        case .found: next.author.reason == .found || next.author.reason == .mirrored
        case .mirrored: next.author.reason == .mirrored
        default: false
        }
    }

    fileprivate func isReplaced(by new: KeptVersion, within interval: Duration) -> Bool {
        author.reason == .flush && author == new.author && time <= new.time && new.time < time.advanced(by: interval)
    }
}

/// A version cannot be read.
package struct DamagedVersion: Error, Hashable, Sendable {
    package let sequence: Int
}

extension History {
    /// The versions that led to the present one, oldest first, without those that were undone.
    ///
    /// An undo returns to an earlier version, and a second undo continues from there. Of the versions
    ///
    ///     1 write · 2 write · 3 write · 4 undo to 2 · 5 write
    ///
    /// this returns 1, 2 and 5. Restoring a version is a step forward.
    package var undoChain: [KeptVersion] {
        versions.reduce(into: []) { chain, version in
            guard let target = version.author.reason.undoTarget else { return chain.append(version) }
            chain.removeAll { $0.sequence > target }
            // If the target is no longer kept, the version that the undo wrote takes its place.
            if chain.last?.sequence != target { chain.append(version) }
        }
    }

    /// Returns the state some steps back from the present one, and the number of its version, or 0 for the state before
    /// the first. Returns nil if not enough versions are kept.
    ///
    /// A step is a change; versions that changed nothing are skipped. A change by another program that is not kept yet
    /// is a step too. Entries that were removed from the versions stay as they are. Unreadable versions are never
    /// crossed, except the newest, whose contents are the present ones.
    package func back(
        _ steps: Int, from present: DomainState
    ) throws(DamagedVersion) -> (state: DomainState, sequence: Int)? {
        // A version that a crash has truncated is treated as missing.
        let chain = undoChain.filter { !isTruncated($0) }
        let forgotten = forgotten
        var (state, sequence, left) = (present, 0, steps)
        for version in chain.reversed() where left > 0 {
            let kept = self.state(of: version).map { forgotten.state($0, version.sequence, over: state) }
            guard let former = kept else {
                guard version == chain.last else { throw DamagedVersion(sequence: version.sequence) }
                continue
            }
            guard former != state else { continue }
            (state, sequence, left) = (former, version.sequence, left - 1)
        }
        if left == 0 { return (state, sequence) }
        let beginning = forgotten.state(.absent, 0, over: state)
        guard left == 1, chain.first?.sequence == 1, state != beginning else { return nil }
        return (beginning, 0)
    }
}

/// The state of a domain at some time, as far as it can be restored.
package struct DomainState: Hashable, Sendable {
    package var values: PropertyList.Dictionary
    /// The form of the domain, or nil if there was none.
    package var form: StorageForm?
    package var rootKind = FileRoot.dictionary
    /// The bytes of a version, which is restored as it was.
    package private(set) var bytes: [UInt8]?

    package init(values: PropertyList.Dictionary, form: StorageForm?, bytes: [UInt8]? = nil) {
        (self.values, self.form, self.bytes) = (values, form, bytes)
    }

    package var format: PropertyList.Format? { form?.format }

    package init(_ contents: DomainContents) {
        self.init(values: contents.values, form: contents.exists ? contents.form : nil)
        rootKind = contents.rootKind
    }

    package init(_ draft: DomainDraft) {
        self.init(values: draft.values, form: draft.exists ? draft.form : nil)
        rootKind = draft.rootKind
    }

    package static func == (left: DomainState, right: DomainState) -> Bool {
        left.root == right.root && left.form == right.form
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(values)
        hasher.combine(form)
    }

    /// The state without a file.
    package static let absent = DomainState(values: [:], form: nil)

    /// The contents of a version that records a removal. No other file has these bytes.
    static let tombstone = Array("<plist version=\"1.0\"><!-- removed --><dict/></plist>\n".utf8)
}

extension History {
    /// Returns the state of a domain in a version, or nil if it is missing or damaged.
    package func state(of version: KeptVersion) -> DomainState? {
        guard let bytes = bytes(of: version) else { return nil }
        if bytes == DomainState.tombstone { return .absent }
        guard let (root, format) = try? file.root(bytes) else { return nil }
        let form: StorageForm = DomainFile.isImage(bytes) ? .folder : .file(format)
        var state = DomainState(values: root.valuesOfRoot, form: form, bytes: bytes)
        state.rootKind = FileRoot(of: root)
        return state
    }
}
