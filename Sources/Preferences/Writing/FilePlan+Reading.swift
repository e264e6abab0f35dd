internal import Platform
internal import PropertyLists

extension FilePlan {
    /// A file that somebody replaces while it is read is simply read again: programs that take no lock do so.
    static func read(
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

    /// Keys that a file has already are kept, whatever they are.
    static func checkKeys(_ draft: DomainDraft, _ before: DomainContents, _ file: DomainFile)
        throws(StoreFailure)
    {
        for key in draft.values.keys where !key.isFitForWriting && before.values[key] == nil {
            throw StoreFailure(file, .badKey(key))
        }
    }
}
