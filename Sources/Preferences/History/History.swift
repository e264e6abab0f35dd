package import Platform
package import PropertyLists

/// The kept versions of one domain.
package struct History: Sendable {
    let file: DomainFile
    package let folder: FilePath
    let machine: Machine

    /// Nil where no versions of the file are kept.
    package init?(of file: DomainFile, on machine: Machine) {
        guard let folder = file.history else { return nil }
        self.file = file
        self.folder = folder
        self.machine = machine
    }

    /// What the names in the folder say, oldest first. None where the folder cannot be read.
    package var versions: [KeptVersion] { (try? listed()) ?? [] }

    /// The same, where a folder that cannot be listed is not taken for an empty one.
    ///
    /// - Parameter removingLeftovers: Whether temporary files of killed writers are removed. Only the holder of the
    ///   lock may ask for it.
    package func listed(removingLeftovers: Bool = false) throws(SystemFailure) -> [KeptVersion] {
        let names = try machine.fileSystem.names(in: folder) ?? []
        if removingLeftovers {
            for name in names where name.isTemporary { _ = try? machine.fileSystem.remove(folder.appending(name)) }
        }
        return names.compactMap { KeptVersion($0) }.sorted { $0.sequence < $1.sequence }
    }

    /// The newest version that can be read, with its values. None where that is a removal: a file that came after it
    /// has nothing to do with what was before.
    package var newestGood: (version: KeptVersion, values: PropertyList.Dictionary)? {
        for version in versions.reversed() {
            if let state = state(of: version) { return state == .absent ? nil : (version, state.values) }
        }
        return nil
    }

    /// The values of a version; nil for one that is gone or does not parse whole.
    package func values(of version: KeptVersion) -> PropertyList.Dictionary? {
        guard let bytes = bytes(of: version) else { return nil }
        return try? file.parse(bytes).0
    }

    /// The bytes of a version; nil for one that is gone, or that a crash has taken some of.
    func bytes(of version: KeptVersion) -> [UInt8]? {
        path(of: version).flatMap { contents(of: $0) }.flatMap { version.isMade(of: $0) ? $0 : nil }
    }

    /// Whether there is nothing of a version but its name: a crash has taken the contents, or some of them.
    package func isLost(_ version: KeptVersion) -> Bool {
        guard let path = path(of: version), let bytes = contents(of: path) else { return false }
        return !version.isMade(of: bytes)
    }

    /// Returns once a version is on the disk; false where that cannot be said.
    func synchronize(_ version: KeptVersion) -> Bool {
        guard let path = path(of: version), let file = try? machine.fileSystem.open(path, .reading) else {
            return false
        }
        return (try? file.synchronize()) != nil && (try? machine.fileSystem.synchronizeFolder(folder)) != nil
    }

    private func contents(of path: FilePath) -> [UInt8]? {
        try? machine.fileSystem.contents(of: path, limit: PropertyList.Limits.default.inputBytes)
    }

    /// The file of a version.
    package func path(of version: KeptVersion) -> FilePath? { version.fileName.map(folder.appending) }
}

/// A version that no file of the history holds yet.
package struct UnkeptVersion: Sendable {
    let bytes: [UInt8]
    let note: WriteNote
    let transaction: String
    /// When it was written, which may be long before it is kept.
    let time: Timestamp
    /// Whether there was no file before it.
    var isFirst = false
}

/// How much is kept of each domain.
package struct HistoryPolicy: Hashable, Sendable {
    /// How many versions; 0 for no history at all.
    package var versions = 32
    /// How many bytes they may have together.
    package var bytes = 8 << 20
    /// Above this size a version is a second name of the replaced file, so that it takes no room of its own.
    package var mostCopiedBytes = 1 << 20
    /// Within this time a program's flushes replace their own last version.
    package var flushInterval: Duration = .seconds(60)

    package init() {}
}

extension History {
    /// Keeps a version. What goes wrong here is no failure of the write: false where it could not be kept.
    ///
    /// - Parameters:
    ///   - former: Those that are kept already; what was kept is one of them then.
    ///   - isDurable: Whether it must outlast a loss of power from the moment at which this returns.
    @discardableResult
    func record(
        _ unkept: UnkeptVersion, after former: inout [KeptVersion], policy: HistoryPolicy, isDurable: Bool = false
    ) -> Bool {
        guard policy.versions > 0 else { return true }
        let bytes = unkept.bytes
        var version = next(
            after: former, unkept.note, unkept.transaction, unkept.time, size: bytes.count, isFirst: unkept.isFirst)
        version.checksum = KeptVersion.checksum(of: bytes)
        // In place of a domain's beginning comes one.
        if let last = former.last, last.sequence == 1, last.isReplaced(by: version, within: policy.flushInterval) {
            version.sequence = last.sequence
        }
        guard let path = version.fileName.map(folder.appending), let (temporary, copy) = create(path) else {
            return false
        }
        let files = machine.fileSystem
        do throws(SystemFailure) {
            try copy.write(bytes, at: 0)
            if let model = try files.status(of: file.path),
                model.permissions != .privateFile || model.owner != machine.environment.user
            {
                try copy.adopt(model, of: file.path)
            }
            if isDurable { try copy.synchronize() }
            try files.rename(temporary, to: path)
        } catch {
            _ = try? files.remove(temporary)
            return false
        }
        // It is there, but may be gone after a loss of power: a name of it would be worse than none.
        if isDurable, (try? files.synchronizeFolder(folder)) == nil { return false }
        forget(former, with: version, policy)
        former.append(version)
        return true
    }

    /// Keeps the file that is about to be replaced under a second name, or else a copy of it: the versions may lie on
    /// another disk than the domain. False where it could not be kept.
    func recordReplaced(
        _ path: FilePath, _ status: FileStatus, _ note: WriteNote, transaction: String,
        after former: inout [KeptVersion], policy: HistoryPolicy, isDurable: Bool
    ) -> Bool {
        guard policy.versions > 0 else { return true }
        if let newest = former.last, isSameFile(newest, status) { return !isDurable || synchronize(newest) }
        let time = machine.clock.wall
        let version = next(after: former, note, transaction, time, size: status.size, isFirst: false)
        guard let name = version.fileName else { return false }
        do throws(SystemFailure) {
            if former.isEmpty { try machine.fileSystem.makeFolders(folder, for: audience) }
            try machine.fileSystem.link(path, to: folder.appending(name))
        } catch {
            guard let bytes = contents(of: path) else { return false }
            if let newest = former.last, isCopy(newest, of: bytes) { return !isDurable || synchronize(newest) }
            let copy = UnkeptVersion(bytes: bytes, note: note, transaction: transaction, time: time)
            return record(copy, after: &former, policy: policy, isDurable: isDurable)
        }
        forget(former, with: version, policy)
        former.append(version)
        return !isDurable || synchronize(version)
    }

    /// Removes all versions, where none are to be kept any more: an old one would stand in for what came long after it.
    func removeAll() {
        for version in versions { remove(version) }
    }

    /// Whether a version is the very file, because an attempt to replace it has failed.
    private func isSameFile(_ version: KeptVersion, _ status: FileStatus) -> Bool {
        guard status.links > 1, version.size == status.size, let path = path(of: version) else { return false }
        return (try? machine.fileSystem.status(of: path))?.number == status.number
    }

    /// Whether a version has exactly these bytes.
    func isCopy(_ version: KeptVersion, of bytes: [UInt8]) -> Bool {
        version.size == bytes.count && self.bytes(of: version) == bytes
    }

    /// The number 1 is only for a domain's beginning: before any other first version there was something, and nobody
    /// knows what.
    private func next(
        after former: [KeptVersion], _ note: WriteNote, _ transaction: String, _ time: Timestamp, size: Int,
        isFirst: Bool
    ) -> KeptVersion {
        let last = former.last?.sequence ?? (isFirst ? 0 : 1)
        let (sequence, overflows) = last.addingReportingOverflow(1)
        return KeptVersion(
            sequence: overflows ? .max : sequence, time: time, note: note, transaction: transaction, size: size)
    }

    /// Whoever may read the domain's file may use the versions where it is damaged.
    private var audience: Audience { file.audience == .everyone ? .everyone : .owner }

    private func create(_ path: FilePath) -> (temporary: FilePath, file: any OpenFile)? {
        try? machine.makingFolder(folder, for: audience) { () throws(SystemFailure) in
            let (temporary, copy) = try machine.fileSystem.makeTemporary(beside: path)
            do throws(SystemFailure) {
                try machine.fileSystem.giveToOwnerOfFolder(copy, at: path)
            } catch {
                _ = try? machine.fileSystem.remove(temporary)
                throw error
            }
            return (temporary, copy)
        }
    }

    /// Removes what a new version makes too many, and the flush that it replaces.
    private func forget(_ former: [KeptVersion], with new: KeptVersion, _ policy: HistoryPolicy) {
        var kept = former
        if let last = kept.last, last.isReplaced(by: new, within: policy.flushInterval) {
            remove(last)
            kept.removeLast()
        }
        var (count, bytes) = (1, new.size)
        for version in kept.reversed() {
            let (sum, overflows) = bytes.addingReportingOverflow(version.size)
            (count, bytes) = (count + 1, overflows ? .max : sum)
            // A version larger than all that may be kept is still the one to fall back to.
            if count > policy.versions || (bytes > policy.bytes && count > 2) { remove(version) }
        }
    }

    private func remove(_ version: KeptVersion) {
        if let name = version.fileName { _ = try? machine.fileSystem.remove(folder.appending(name)) }
    }
}

extension KeptVersion {
    fileprivate func isReplaced(by new: KeptVersion, within interval: Duration) -> Bool {
        note.reason == .flush && note == new.note && time <= new.time && new.time < time.advanced(by: interval)
    }
}
