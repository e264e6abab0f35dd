/// A file that is open. It is closed, and its lock released, when the last reference is gone or the process dies.
package protocol OpenFile: AnyObject, Sendable {
    /// The path that it was opened by. It may stand for another file by now.
    var path: FilePath { get }

    func status() throws(SystemFailure) -> FileStatus

    /// Reads from `offset` on until `buffer` is full or the file ends, and returns how many bytes that were.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemFailure) -> Int

    /// Writes all of `bytes` from `offset` on. After a failure any beginning of them may stand there.
    func write(_ bytes: RawSpan, at offset: Int) throws(SystemFailure)

    func truncate(to size: Int) throws(SystemFailure)

    /// Asks that what was written be brought to the disk meanwhile; only `synchronize` says whether it is there.
    func startSynchronizing()

    /// Returns once the file's contents are on the disk. Its name need not be: `synchronizeFolder` sees to that.
    ///
    /// After a failure the contents may be lost though a second attempt says nothing: write them anew.
    func synchronize() throws(SystemFailure)

    func setPermissions(_ permissions: FilePermissions) throws(SystemFailure)
    func setOwner(_ owner: UInt32, group: UInt32) throws(SystemFailure)

    /// Takes over the access list of the file at `path`, and the attributes that its user has given it; false where
    /// the list cannot be taken over.
    func adoptAttributes(of path: FilePath) -> Bool

    /// Takes the file's lock, which only others that ask for it respect. False when it is not free within `patience`.
    ///
    /// A file that has to be waited for, but that its path does not lead to any more, fails with `staleHandle`.
    /// The lock belongs to this opening of the file, not to the process: two openings exclude one another.
    func lock(_ mode: LockMode, patience: Duration) throws(SystemFailure) -> Bool

    /// Releases the lock. To be called rather than left to the last reference, which the compiler may let go early.
    func unlock()
}

/// Whom a lock excludes: everybody, or those who want to exclude everybody.
package enum LockMode: Hashable, Sendable { case exclusive, shared }
