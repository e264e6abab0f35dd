internal import Platform
internal import PropertyLists

extension FileCommit {
    /// Reads the file. If another program replaces it meanwhile, it is read again.
    static func read(
        _ edit: DomainEdit, _ resolved: ResolvedFile, _ machine: Machine
    ) throws(StoreFailure) -> (DomainContents, [UInt8]?) {
        if let known = edit.known, known.recovery == nil {
            let isKnown = try generation(of: resolved, machine) == known.generation
            // Contents that another writer left are read again, because there may be no version of them.
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
                let recovery = Recovery(damage: error, version: nil)
                return (DomainContents(values: [:], status: status, recovery: recovery), nil)
            }
        }
    }

    private static func generation(
        of resolved: ResolvedFile, _ machine: Machine
    ) throws(StoreFailure) -> FileGeneration? {
        try resolved.file.reporting { () throws(SystemFailure) in
            try machine.fileSystem.status(of: resolved.target)?.generation
        }
    }

    /// Throws if a new key is invalid. Keys that exist in the file are kept.
    static func checkKeys(_ draft: DomainDraft, _ before: DomainContents, _ file: DomainFile)
        throws(StoreFailure)
    {
        for key in draft.values.keys where !key.isFitForWriting && before.values[key] == nil {
            throw StoreFailure(file, .badKey(key))
        }
    }
}
