/// A file system: that of the machine, or a simulated one.
///
/// A missing file is reported as nil or false; other failures are thrown. Each method is one atomic step, so that tests
/// can inject a failure into each and a crash between any two. Operations of several steps are in extensions, and are
/// the same for every file system.
package protocol FileSystem: Sendable {
    /// Opens a file, or returns nil if it does not exist and is not to be created. Opening a FIFO does not block.
    func open(_ path: FilePath, _ access: FileAccess) throws(SystemFailure) -> (any OpenFile)?

    /// Returns a cryptographically random number.
    func unpredictableNumber() -> UInt64

    /// Renames the file at `path` to `other`.
    func rename(_ path: FilePath, to other: FilePath, _ manner: RenameMode) throws(SystemFailure)

    /// Creates a hard link. Symbolic links are not followed.
    func link(_ path: FilePath, to other: FilePath) throws(SystemFailure)

    /// Removes a file or an empty folder, or returns false if it does not exist. A symbolic link is itself removed.
    @discardableResult
    func remove(_ path: FilePath) throws(SystemFailure) -> Bool

    /// Returns the names in a folder, sorted, or nil if there is no folder.
    func names(in folder: FilePath) throws(SystemFailure) -> [FileName]?

    /// Creates one folder, or returns false if the path already exists.
    func makeFolder(_ path: FilePath, _ permissions: FilePermissions) throws(SystemFailure) -> Bool

    /// Returns once the names in a folder are on disk. Returns immediately if the file system does not support this.
    func synchronizeFolder(_ path: FilePath) throws(SystemFailure)

    /// Returns the status of the file at `path`, or of the target of a symbolic link there; nil if it does not exist.
    func status(of path: FilePath, followingLink: Bool) throws(SystemFailure) -> FileStatus?

    /// Returns the target of a symbolic link, or nil if the path does not exist or is not a symbolic link.
    func destination(ofLink path: FilePath) throws(SystemFailure) -> FilePath?

    /// Returns whether this process may create files in a folder.
    func mayWrite(in folder: FilePath) -> Bool
}

/// The mode in which a file is opened.
package enum FileAccess: Hashable, Sendable {
    case reading
    /// Read an existing file. Throws `tooManySymbolicLinks` for a symbolic link: in a folder that others can write, it
    /// could lead to any of our files, and it may have replaced a regular file since the last check.
    case readingItself
    /// Read and write an existing file.
    case writing
    /// Read and write an existing or new file. Throws `tooManySymbolicLinks` for a symbolic link: in a folder that
    /// others can write, it could lead to any of our files.
    case creating(FilePermissions)
    /// Read and write a new file. Fails if anything exists at the path, even a dangling symbolic link.
    case creatingAnew(FilePermissions)
}

/// The treatment of an existing file at the new name.
package enum RenameMode: Hashable, Sendable {
    /// The existing file is replaced atomically.
    case replacing
    /// The two files exchange names. Throws `unsupported` if the file system cannot do this.
    case exchanging
    /// The existing file is kept, and `exists` is thrown. Throws `unsupported` if the file system cannot do this.
    case keeping
}
