internal import Platform

/// Locked domains, for a caller that must know their contents until it has changed them.
package struct LockedDomains: Sendable {
    private let writer: DomainWriter
    private let files: [ResolvedFile]
    private let locks: DomainLocks

    /// Waits for the locks of all files, as long as the writer's patience. The caller must call `release`.
    package init(_ files: [DomainFile], by writer: DomainWriter) throws(StoreFailure) {
        self.writer = writer
        var resolved: [ResolvedFile] = []
        for file in files { resolved.append(try ResolvedFile(file, on: writer.machine)) }
        self.files = resolved
        locks = try writer.lock(resolved)
    }

    package func release() { locks.release() }

    /// Returns the mark of the last writer that used the library, or nil if there is none.
    package func mark(of file: DomainFile) -> WriteMarker? { locks.markFile(of: file).flatMap { WriteMarker(in: $0) } }

    /// Makes all changes, or none if one of them fails. Every file must be locked here.
    package func commit(_ edits: [DomainEdit]) throws -> [CommittedDomain] {
        try writer.check(edits)
        let places = try edits.map { edit throws(StoreFailure) in
            guard let place = files.first(where: { $0.file.path == edit.file.path }) else {
                throw StoreFailure(edit.file, .duplicateFile)
            }
            return ResolvedFile(decided: edit.file, target: place.target)
        }
        try writer.checkDistinct(places)
        return try writer.commit(edits, places, under: locks)
    }
}
