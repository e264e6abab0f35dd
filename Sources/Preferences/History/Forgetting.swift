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
    /// calling this again completes the removal. The domain's file is not changed.
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
            for version in try history.listed(removingLeftovers: true) {
                history.forget(paths, in: version, &result)
            }
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
        guard let format = state.format, !present.isEmpty,
            present.allSatisfy({ (try? root.remove(at: $0)) != nil }), let values = root.dictionaryValue
        else { return nil }
        if state.isFolder { return try? file.image(of: values) }
        let draft = DomainDraft(values: values, format: format, status: nil)
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
