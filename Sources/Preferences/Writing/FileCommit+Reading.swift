internal import Platform
internal import PropertyLists

extension FileCommit {
    /// Reads the file. If another program replaces it meanwhile, it is read again.
    static func read(
        _ edit: DomainEdit, _ resolved: ResolvedFile, _ system: SystemServices
    ) throws(StoreFailure) -> (DomainContents, [UInt8]?) {
        if let known = edit.known, known.recovery == nil {
            let isKnown = try generation(of: resolved, system) == known.generation
            // Contents that another writer left are read again, because there may be no version of them.
            if isKnown, known.isOwn || !known.exists {
                var known = known
                if !known.exists, try folderPlace(of: resolved, system) != nil { known.members = [] }
                return (known, nil)
            }
            if edit.requiresKnown, !isKnown { throw StoreFailure(edit.file, .notCurrent) }
        }
        let file = try edit.file.open(on: system)
        if try folderPlace(of: resolved, system) != nil {
            let (contents, _) = try edit.file.presentContents(acceptsLoss: edit.acceptsLoss, on: system)
            guard file == nil else { return try load(edit, file, system) }
            // Also of a folder with a damaged file, the other files can be newer than any version.
            return (contents, contents.exists ? try edit.file.image(of: contents.values) : nil)
        }
        return try load(edit, file, system)
    }

    private static func folderPlace(
        of resolved: ResolvedFile, _ system: SystemServices
    ) throws(StoreFailure) -> FileStatus? {
        try resolved.file.reporting { () throws(SystemFailure) in try resolved.file.folderPlace(on: system) }
    }

    private static func load(
        _ edit: DomainEdit, _ file: (any OpenFile)?, _ system: SystemServices
    ) throws(StoreFailure) -> (DomainContents, [UInt8]?) {
        guard let file else { return (.absent, nil) }
        do throws(StoreFailure) {
            let (contents, bytes) = try edit.file.load(file)
            return (contents, bytes)
        } catch  where error.isDamage {
            do throws(StoreFailure) {
                return (try edit.file.recovered(from: error, on: system), nil)
            } catch  where edit.acceptsLoss && error.isDamage {
                let status = try? file.status()
                let recovery = Recovery(damage: error, version: nil)
                return (DomainContents(values: [:], status: status, recovery: recovery), nil)
            }
        }
    }

    private static func generation(
        of resolved: ResolvedFile, _ system: SystemServices
    ) throws(StoreFailure) -> FileGeneration? {
        try resolved.file.reporting { () throws(SystemFailure) in
            if let status = try system.fileSystem.status(of: resolved.target) { return status.generation }
            return try resolved.file.status(on: system)?.generation
        }
    }

    /// Throws if a new key is invalid. Keys that exist in the file are kept.
    static func checkKeys(_ draft: DomainDraft, _ before: DomainContents, _ file: DomainFile)
        throws(StoreFailure)
    {
        for key in draft.values.keys where !key.isFitForWriting && before.values[key] == nil {
            throw StoreFailure(file, .invalidKey(key))
        }
    }
}
