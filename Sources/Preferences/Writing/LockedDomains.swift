internal import Platform

/// Domains under their locks, for whoever must know what stands in their files until it has changed them.
package struct LockedDomains: Sendable {
    private let writer: DomainWriter
    private let files: [ResolvedFile]
    private let locks: DomainLocks

    /// Waits for the locks of all of the files, as long as the writer has patience. To be released.
    package init(_ files: [DomainFile], by writer: DomainWriter) throws(StoreFailure) {
        self.writer = writer
        var resolved: [ResolvedFile] = []
        for file in files { resolved.append(try ResolvedFile(file, on: writer.machine)) }
        self.files = resolved
        locks = try writer.lock(resolved)
    }

    package func release() { locks.release() }

    /// What the last writer through this library has left for the file; nil for nothing.
    package func mark(of file: DomainFile) -> DomainMark? { locks.markFile(of: file).flatMap { DomainMark(in: $0) } }

    /// Makes all of the changes, or, where one of them fails, none, as the writer does. Each must be of a file that is
    /// locked here.
    package func commit(_ edits: [DomainEdit]) throws -> [CommittedDomain] {
        try writer.check(edits)
        let places = try edits.map { edit throws(StoreFailure) in
            guard let place = files.first(where: { $0.file.path == edit.file.path }) else {
                throw StoreFailure(edit.file, .changedTwice)
            }
            return ResolvedFile(decided: edit.file, target: place.target)
        }
        try writer.checkDistinct(places)
        return try writer.commit(edits, places, under: locks)
    }
}
