/// The files of a machine: a real one, or one that tests make up.
///
/// What is absent is nil or false; what is broken is thrown. Each method is one step: a fault plan can make it fail and
/// a crash can come between any two. Whatever is longer than one step stands in an extension, and so is the same for
/// every file system.
package protocol FileSystem: Sendable {
    /// Opens a file, or returns nil where there is none to be read or written. A FIFO is not waited for.
    func open(_ path: FilePath, _ access: FileAccess) throws(SystemFailure) -> (any OpenFile)?

    /// A number that nobody can guess.
    func unpredictableNumber() -> UInt64

    /// Gives what stands at `path` the name `other`.
    func rename(_ path: FilePath, to other: FilePath, _ manner: RenameManner) throws(SystemFailure)

    /// Gives the file a second name. A symbolic link is not followed.
    func link(_ path: FilePath, to other: FilePath) throws(SystemFailure)

    /// Removes a file or an empty folder; false where there is none. A symbolic link is removed itself.
    @discardableResult
    func remove(_ path: FilePath) throws(SystemFailure) -> Bool

    /// The names in a folder, sorted; nil where there is no folder.
    func names(in folder: FilePath) throws(SystemFailure) -> [FileName]?

    /// Makes one folder; false where something stands there already.
    func makeFolder(_ path: FilePath, _ permissions: FilePermissions) throws(SystemFailure) -> Bool

    /// Returns once the names in a folder are on the disk; at once where a file system cannot say.
    func synchronizeFolder(_ path: FilePath) throws(SystemFailure)

    /// What stands at `path`, or where a symbolic link there leads; nil where there is nothing.
    func status(of path: FilePath, followingLink: Bool) throws(SystemFailure) -> FileStatus?

    /// The path that a symbolic link holds; nil where there is nothing, or something else.
    func destination(ofLink path: FilePath) throws(SystemFailure) -> FilePath?
}

/// How a file is opened.
package enum FileAccess: Hashable, Sendable {
    case reading
    /// Reading what is there itself. It fails with `tooManySymbolicLinks` where there is a link: in a folder that
    /// others can write, it could lead to any file of ours, also one that was none when it was last looked at.
    case readingItself
    /// Reading and writing what is there.
    case writing
    /// Reading and writing what is there, or a new file. It fails with `tooManySymbolicLinks` where there is a link:
    /// in a folder that others can write, it could lead to any file of ours.
    case creating(FilePermissions)
    /// Reading and writing a new file, which fails where there is anything, be it a symbolic link to nothing.
    case creatingAnew(FilePermissions)
}

/// What becomes of a file that has the new name already.
package enum RenameManner: Hashable, Sendable {
    /// It is gone: at every moment the name stands for the one or the other.
    case replacing
    /// It gets the old name. `unsupported` is thrown where the file system cannot.
    case exchanging
    /// It stays, and `exists` is thrown. `unsupported` is thrown where the file system cannot.
    case keeping
}
