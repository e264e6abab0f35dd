/// An open file. It is closed, and its lock released, with the last reference or when the process ends.
package protocol OpenFile: AnyObject, Sendable {
    /// The path that was opened. It may lead to a different file by now.
    var path: FilePath { get }

    func status() throws(SystemFailure) -> FileStatus

    /// Reads from `offset` until `buffer` is full or the file ends, and returns the number of bytes read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemFailure) -> Int

    /// Writes all of `bytes`, starting at `offset`. After a failure, any prefix of them may have been written.
    func write(_ bytes: RawSpan, at offset: Int) throws(SystemFailure)

    func truncate(to size: Int) throws(SystemFailure)

    /// Starts writing back to disk without waiting. Only `synchronize` reports whether the data has been written.
    func startSynchronizing()

    /// Returns once the file's contents are on disk. Its name may not be: that takes `synchronizeFolder`.
    ///
    /// After a failure the contents may be lost even if a second call succeeds; write them again.
    func synchronize() throws(SystemFailure)

    func setPermissions(_ permissions: FilePermissions) throws(SystemFailure)
    func setOwner(_ owner: UInt32, group: UInt32) throws(SystemFailure)

    /// Copies the access list and the user attributes of the file at `path`. Returns false if the access list cannot be
    /// copied.
    func adoptAttributes(of path: FilePath) -> Bool

    /// Takes the file's advisory lock. Returns false if it does not become free within `patience`.
    ///
    /// Throws `staleHandle` if the lock is busy and the path no longer leads to this file. The lock belongs to this
    /// opening of the file, not to the process: two openings exclude each other.
    func lock(_ mode: LockMode, patience: Duration) throws(SystemFailure) -> Bool

    /// Releases the lock. Call this rather than rely on the last reference, which the compiler may release early.
    func unlock()
}

/// The mode of a lock: exclusive against all others, or shared with other shared locks.
package enum LockMode: Hashable, Sendable { case exclusive, shared }
