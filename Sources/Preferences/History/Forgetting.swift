package import Platform
package import PropertyLists

/// The result of removing values from the kept versions of a domain.
package struct Forgetting: Sendable {
    /// The number of versions from which a value was removed, or that were removed.
    package fileprivate(set) var count = 0
    /// The versions that were damaged, so that they may have had the value, and were removed.
    package fileprivate(set) var damaged: [Int] = []
    /// The versions that could not be changed, each with the reason.
    package fileprivate(set) var failures: [(sequence: Int, failure: SystemFailure)] = []
}

extension DomainWriter {
    /// Removes an entry from all kept versions of a domain, or removes all versions.
    ///
    /// Each version is replaced as a whole: after a crash it has either its former contents or the new ones, and
    /// calling this again completes the removal. The domain's file is not changed. Its value of the entry remains if an
    /// undo returns to one of these versions.
    ///
    /// - Parameter paths: The paths of the entry, also under former keys, or nil for all values.
    package func forget(_ paths: [EntryPath]?, in file: DomainFile) throws(StoreFailure) -> Forgetting {
        guard let history = History(of: file, on: system) else { return Forgetting() }
        let resolved = try ResolvedFile(file, on: system)
        // Completes pending transactions, whose temporary files may have the value.
        let locks = try lock([resolved])
        defer { locks.release() }
        removeLeftovers(of: [resolved])
        history.takeFormer()
        return try file.reporting { () throws(SystemFailure) in
            var result = Forgetting()
            let versions = try history.listed(removingLeftovers: true)
            try history.markForgotten(paths, in: versions)
            for version in versions { history.forget(paths, in: version, &result) }
            // Also the lists of the domains that changed together.
            if paths == nil { _ = try history.listed(removingLeftovers: true) }
            let isChanged = result.count > 0
            if isChanged, try system.fileSystem.status(of: history.folder) != nil {
                try system.fileSystem.synchronizeFolder(history.folder)
            }
            return result
        }
    }
}

extension History {
    fileprivate func forget(_ paths: [EntryPath]?, in version: KeptVersion, _ result: inout Forgetting) {
        guard let place = self.path(of: version) else { return }
        do throws(SystemFailure) {
            guard let paths else {
                if try system.fileSystem.remove(place) { result.count += 1 }
                return
            }
            if let failure = failure(of: version) { throw failure }
            guard let state = state(of: version) else {
                if try system.fileSystem.remove(place) { result.damaged.append(version.sequence) }
                return
            }
            guard let bytes = bytes(of: state, without: paths) else { return }
            try replace(version, at: place, with: bytes)
            result.count += 1
        } catch {
            result.failures.append((version.sequence, error))
        }
    }

    /// Returns the bytes of a version without the entries at some paths, or nil if it has none of them.
    private func bytes(of state: DomainState, without paths: [EntryPath]) -> [UInt8]? {
        var root = PropertyList.dictionary(state.values)
        let present = paths.filter { root[$0] != nil }
        guard let form = state.form, !present.isEmpty,
            present.allSatisfy({ (try? root.remove(at: $0)) != nil }), let values = root.dictionaryValue
        else { return nil }
        let draft = DomainDraft(values: values, form: form, status: nil)
        return try? file.serialized(draft, editing: state.bytes, padsReals: false).bytes
    }

    /// Replaces the contents of a version. It keeps its number, time, author, owner and permissions.
    private func replace(_ version: KeptVersion, at place: FilePath, with bytes: [UInt8]) throws(SystemFailure) {
        var new = version
        (new.size, new.checksum) = (bytes.count, KeptVersion.checksum(of: bytes))
        guard let name = new.fileName, let model = try system.fileSystem.status(of: place) else { return }
        let target = place.parent.appending(name)
        let files = system.fileSystem
        let (temporary, copy) = try files.makeTemporary(beside: target)
        do throws(SystemFailure) {
            try copy.write(bytes, at: 0)
            try copy.adopt(model, of: place)
            try copy.synchronize()
            try files.rename(temporary, to: target)
        } catch {
            _ = try? files.remove(temporary)
            throw error
        }
        // The name contains the checksum, so that the new contents have another name.
        if target != place { try files.remove(place) }
    }
}

// MARK: Undo

/// The entries that were removed from versions while the domain had a value of them.
///
/// Such a version lacks the entry, although the domain may have had a value then. An undo that returns to it leaves the
/// present value unchanged.
struct ForgottenEntries: Sendable {
    /// The entries, each with the newest version from which it was removed.
    fileprivate var entries: [(path: EntryPath, sequence: Int)] = []

    /// Returns the state of a version with the entries that were removed from it as they are in another state.
    func state(_ version: DomainState, _ sequence: Int, over present: DomainState) -> DomainState {
        let (present, form) = (PropertyList.dictionary(present.values), present.form)
        var root = PropertyList.dictionary(version.values)
        var isCompleted = false
        for entry in entries where entry.sequence >= sequence && root[entry.path] == nil {
            guard let value = present[entry.path], (try? root.set(value, at: entry.path)) != nil else { continue }
            isCompleted = true
        }
        guard isCompleted, let values = root.dictionaryValue else { return version }
        var state = DomainState(values: values, form: version.form ?? form)
        state.rootKind = version.rootKind
        return state
    }
}

extension History {
    private var listOfForgotten: FilePath { folder.appending("forgotten") }

    /// The entries that were removed from versions. Empty if the list of them cannot be read.
    var forgotten: ForgottenEntries {
        let limit = PropertyList.Limits.default.inputBytes
        guard let bytes = try? system.fileSystem.contents(of: listOfForgotten, limit: limit),
            let rows = (try? PropertyList(parsing: bytes, as: .binary))?.arrayValue
        else { return ForgottenEntries() }
        return ForgottenEntries(
            entries: rows.compactMap { row in
                guard let path = row["path"]?.stringValue.flatMap({ try? EntryPath(parsing: $0) }),
                    let sequence = row["version"]?.integerValue.flatMap({ Int(exactly: $0) })
                else { return nil }
                return (path, sequence)
            })
    }

    /// Returns the state of a domain in a version, with the present values of the entries that were removed from it.
    /// Returns nil if the version is missing or damaged.
    package func state(of version: KeptVersion, over present: DomainState) -> DomainState? {
        state(of: version).map { forgotten.state($0, version.sequence, over: present) }
    }

    /// Records that the versions no longer have some entries, although the domain has values for them, or, for nil,
    /// that there are no versions left.
    fileprivate func markForgotten(_ paths: [EntryPath]?, in versions: [KeptVersion]) throws(SystemFailure) {
        guard let paths else {
            try system.fileSystem.remove(listOfForgotten)
            return
        }
        guard let newest = versions.last, let present = (try? file.contents(on: system))?.values else { return }
        let root = PropertyList.dictionary(present)
        var forgotten = forgotten
        let kept = forgotten.entries.count
        let states = versions.map { state(of: $0).map { PropertyList.dictionary($0.values) } }
        for path in paths where root[path] != nil && states.contains(where: { $0.map { $0[path] != nil } ?? true }) {
            forgotten.entries.append((path, newest.sequence))
        }
        guard forgotten.entries.count > kept else { return }
        let oldest = versions[0].sequence
        let rows = forgotten.entries.filter { $0.sequence >= oldest }.map { entry -> PropertyList in
            ["path": .string(entry.path.description), "version": .integer(PropertyList.Integer(entry.sequence))]
        }
        guard let bytes = try? PropertyList.array(rows).serialized(as: .binary),
            write(Array(bytes), to: listOfForgotten, isDurable: true)
        else { throw SystemFailure(.inputOutput, .write, listOfForgotten) }
    }
}
