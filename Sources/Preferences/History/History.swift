package import Platform
package import PropertyLists

/// The kept versions of one domain.
package struct History: Sendable {
    let file: DomainFile
    let folder: FilePath
    let machine: Machine

    /// Nil where no versions of the file are kept.
    package init?(of file: DomainFile, on machine: Machine) {
        guard let folder = file.history else { return nil }
        self.file = file
        self.folder = folder
        self.machine = machine
    }

    /// What the names in the folder say, oldest first. None where the folder cannot be read.
    package var versions: [KeptVersion] {
        let names = (try? machine.fileSystem.names(in: folder)) ?? nil
        return (names ?? []).compactMap { KeptVersion($0) }.sorted { $0.sequence < $1.sequence }
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

    func bytes(of version: KeptVersion) -> [UInt8]? {
        path(of: version).flatMap { contents(of: $0) }
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
    /// - Parameter former: Those that are kept already; what was kept is one of them then.
    @discardableResult
    func record(_ unkept: UnkeptVersion, after former: inout [KeptVersion], policy: HistoryPolicy) -> Bool {
        guard policy.versions > 0 else { return true }
        let bytes = unkept.bytes
        var version = next(
            after: former, unkept.note, unkept.transaction, unkept.time, size: bytes.count, isFirst: unkept.isFirst)
        // In place of a domain's beginning comes one.
        if let last = former.last, last.sequence == 1, last.isReplaced(by: version, within: policy.flushInterval) {
            version.sequence = last.sequence
        }
        guard let path = version.fileName.map(folder.appending), let copy = create(path) else { return false }
        do throws(SystemFailure) {
            try copy.write(bytes, at: 0)
            if let model = try machine.fileSystem.status(of: file.path),
                model.permissions != .privateFile || model.owner != machine.environment.user
            {
                try copy.adopt(model, of: file.path)
            }
        } catch {
            _ = try? machine.fileSystem.remove(path)
            return false
        }
        forget(former, with: version, policy)
        former.append(version)
        return true
    }

    /// Keeps the file that is about to be replaced under a second name, or else a copy of it: the versions may lie on
    /// another disk than the domain. False where it could not be kept.
    func recordReplaced(
        _ path: FilePath, _ status: FileStatus, _ note: WriteNote, transaction: String, policy: HistoryPolicy
    ) -> Bool {
        guard policy.versions > 0 else { return true }
        var former = versions
        if let newest = former.last, isSameFile(newest, status) { return true }
        let time = machine.clock.wall
        let version = next(after: former, note, transaction, time, size: status.size, isFirst: false)
        guard let name = version.fileName else { return false }
        do throws(SystemFailure) {
            if former.isEmpty { try machine.fileSystem.makeFolders(folder) }
            try machine.fileSystem.link(path, to: folder.appending(name))
        } catch {
            guard let bytes = contents(of: path) else { return false }
            if let newest = former.last, isCopy(newest, of: bytes) { return true }
            let copy = UnkeptVersion(bytes: bytes, note: note, transaction: transaction, time: time)
            return record(copy, after: &former, policy: policy)
        }
        forget(former, with: version, policy)
        return true
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

    private func create(_ path: FilePath) -> (any OpenFile)? {
        do throws(SystemFailure) {
            return try machine.makingFolder(folder) { () throws(SystemFailure) in
                try machine.fileSystem.open(path, .creatingAnew(.privateFile))
            }
        } catch {
            return nil
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
