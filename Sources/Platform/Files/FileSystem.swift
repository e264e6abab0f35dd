// Unsafe: arrays lend their bytes to the system for one call.

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

    /// Creates a symbolic link at `path`. Throws `exists` if anything is there.
    func makeSymbolicLink(_ path: FilePath, to target: FilePath) throws(SystemFailure)

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
    case readingNoFollow
    /// Read and write an existing file.
    case writing
    /// Read and write an existing or new file. Throws `tooManySymbolicLinks` for a symbolic link: in a folder that
    /// others can write, it could lead to any of our files.
    case creating(FilePermissions)
    /// Read and write a new file. Fails if anything exists at the path, even a dangling symbolic link.
    case creatingNew(FilePermissions)
}

/// The treatment of an existing file at the new name.
package enum RenameMode: Hashable, Sendable {
    /// The existing file is replaced atomically.
    case replacing
    /// The two files exchange names. Throws `unsupported` if the file system cannot do this.
    case exchanging
    /// The existing file remains, and `exists` is thrown. Throws `unsupported` if the file system cannot do this.
    case onlyIfAbsent
}

// Variants of the file operations that take an array, so that callers need no spans.

extension FileSystem {
    /// `replace(_:with:like:for:)` with an array.
    package func replace(
        _ path: FilePath, with bytes: [UInt8], like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) {
        try unsafe replace(path, with: bytes.span.bytes, like: model, for: audience)
    }

    /// `writeTemporary(_:beside:like:for:)` with an array.
    package func writeTemporary(
        _ bytes: [UInt8], beside path: FilePath, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) -> FilePath {
        try unsafe writeTemporary(bytes.span.bytes, beside: path, like: model, for: audience)
    }

    /// `startTemporary(_:beside:like:for:)` with an array.
    package func startTemporary(
        _ bytes: [UInt8], beside path: FilePath, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) -> (FilePath, any OpenFile) {
        try unsafe startTemporary(bytes.span.bytes, beside: path, like: model, for: audience)
    }
}

extension OpenFile {
    /// Writes all of `bytes`, starting at `offset`.
    package func write(_ bytes: [UInt8], at offset: Int) throws(SystemFailure) {
        try unsafe write(bytes.span.bytes, at: offset)
    }
}

/// An open file. It is closed, and its lock released, with the last reference or when the process ends.
package protocol OpenFile: AnyObject, Sendable {
    /// The path that was opened. It may lead to a different file now.
    var path: FilePath { get }

    func status() throws(SystemFailure) -> FileStatus

    /// Reads bytes at `offset` with one call, and returns their number: 0 at the end of the file, and otherwise at most
    /// the size of the buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemFailure) -> Int

    /// Writes all of `bytes`, starting at `offset`. After a failure, any prefix of them may have been written.
    func write(_ bytes: RawSpan, at offset: Int) throws(SystemFailure)

    func truncate(to size: Int) throws(SystemFailure)

    /// Returns once the file's contents are on disk. Its name may not be: that takes `synchronizeFolder`.
    ///
    /// After a failure the contents may be lost even if a second call succeeds; write them again.
    func synchronize() throws(SystemFailure)

    /// Lets the disk begin to write the contents, so that `synchronize` takes less time. It promises nothing.
    func startSynchronizing()

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

extension FileSystem {
    package func status(of path: FilePath) throws(SystemFailure) -> FileStatus? {
        try status(of: path, followingLink: true)
    }

    package func rename(_ path: FilePath, to other: FilePath) throws(SystemFailure) {
        try rename(path, to: other, .replacing)
    }

    /// Returns an unpredictable name for a new file, so that nobody can plant a link there in advance.
    package func unpredictableName() -> FileName { .temporary(unpredictableNumber()) }

    /// Returns the contents of a file, or nil if it does not exist. Throws `fileTooLarge` if it has more than `limit`
    /// bytes.
    package func contents(of path: FilePath, limit: Int = .max) throws(SystemFailure) -> [UInt8]? {
        try open(path, .reading)?.contents(limit: limit)
    }

    /// Creates the folder and its missing parents for the audience, and synchronizes them to disk.
    package func makeFolders(_ path: FilePath, for audience: Audience = .owner) throws(SystemFailure) {
        guard try makeFolderWithParents(path, audience) else {
            guard try status(of: path)?.kind == .folder else { throw SystemFailure(.notAFolder, .makeFolder, path) }
            return
        }
        try settle(path, audience)
        try synchronizeFolder(path.parent)
    }

    private func makeFolderWithParents(_ path: FilePath, _ audience: Audience) throws(SystemFailure) -> Bool {
        let permissions: FilePermissions = audience == .everyone ? .publicFolder : .privateFolder
        do {
            return try makeFolder(path, permissions)
        } catch  where error.code == .noSuchFile && path.parent != path {
            try makeFolders(path.parent, for: audience)
            return try makeFolder(path, permissions)
        }
    }

    /// Sets permissions that a strict umask removed, and gives a new folder in another user's home to that user.
    private func settle(_ path: FilePath, _ audience: Audience) throws(SystemFailure) {
        guard let folder = try open(path, .readingNoFollow), let status = try? folder.status() else { return }
        if audience == .everyone, !status.permissions.isSuperset(of: .publicFolder) {
            try folder.setPermissions(FilePermissions.publicFolder.union(status.permissions))
        }
        try giveToOwnerOfFolder(folder, at: path)
    }

    /// Changes the owner of a file that root has just created in another user's folder to that user, who could not use
    /// it otherwise. In a folder where anyone can create files, root remains the owner.
    package func giveToOwnerOfFolder(_ file: any OpenFile, at path: FilePath) throws(SystemFailure) {
        let own = try file.status()
        guard own.owner == 0, let folder = try status(of: path.parent), folder.owner != 0, !folder.isOpenToAll else {
            return
        }
        do throws(SystemFailure) {
            try file.setOwner(folder.owner, group: folder.group)
        } catch  where error.code.meansNoRight {
            // In a container, root may lack the right to change owners.
        }
    }

    /// Writes a new file next to `path`, to be renamed to it, and returns its path once its contents are on disk.
    ///
    /// The file gets the owner and permissions of `model`, the file at `path`, as far as this process may set them, so
    /// that the replacement is as private as the original. After a failure the temporary file is removed, unless
    /// removing it fails too.
    package func writeTemporary(
        _ bytes: RawSpan, beside path: FilePath, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) -> FilePath {
        let (temporary, file) = try startTemporary(bytes, beside: path, like: model, for: audience)
        do {
            try file.synchronize()
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        return temporary
    }

    /// Writes a new file like `writeTemporary`, but returns before its contents are synchronized. The caller can do
    /// other work before it calls `synchronize`.
    package func startTemporary(
        _ bytes: RawSpan, beside path: FilePath, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) -> (FilePath, any OpenFile) {
        let isNew = model == nil
        let (temporary, file) = try makeTemporary(beside: path, audience == .umask && isNew ? .anyFile : .privateFile)
        do {
            try file.write(bytes, at: 0)
            if let model {
                try file.adopt(model, of: path) { () throws(SystemFailure) in try keepsOwner(model, of: path) }
            } else {
                try giveToOwnerOfFolder(file, at: path)
            }
            if audience == .everyone {
                let permissions = model?.permissions.subtracting(.special) ?? []
                try file.setPermissions(permissions.union(.publicFile))
            }
        } catch {
            // Frees the space of a full disk at once, even while a process that was just forked holds the file open.
            _ = try? file.truncate(to: 0)
            _ = try? remove(temporary)
            throw error
        }
        return (temporary, file)
    }

    /// Returns whether a replacement may be given to the owner of the file it replaces. In the folder of a third user,
    /// root must not give a file to the user who planted the previous one.
    private func keepsOwner(_ model: FileStatus, of path: FilePath) throws(SystemFailure) -> Bool {
        guard let folder = try status(of: path.parent) else { return false }
        return folder.owner == model.owner || folder.owner == 0
    }

    /// Creates an empty file with an unpredictable name next to `path`, to be renamed to it.
    package func makeTemporary(
        beside path: FilePath, _ permissions: FilePermissions = .privateFile
    ) throws(SystemFailure) -> (FilePath, any OpenFile) {
        for _ in 0..<16 {
            let name = path.lastComponent ?? "file"
            let temporary = path.parent.appending(name.temporaryName(unpredictableNumber()))
            do {
                if let file = try open(temporary, .creatingNew(permissions)) { return (temporary, file) }
            } catch  where error.code == .exists {
                continue
            }
        }
        throw SystemFailure(.exists, .open, path)
    }

    /// Replaces the contents of `path` atomically: at any time, and after a crash, the file has either the old or the
    /// new contents. When this returns, the new contents are on disk. A symbolic link at `path` is itself replaced.
    package func replace(
        _ path: FilePath, with bytes: RawSpan, like model: FileStatus? = nil, for audience: Audience = .owner
    ) throws(SystemFailure) {
        let temporary = try writeTemporary(bytes, beside: path, like: model, for: audience)
        do {
            try rename(temporary, to: path)
        } catch {
            _ = try? remove(temporary)
            throw error
        }
        do {
            try synchronizeFolder(path.parent)
        } catch {
            throw error.after(.wrote(path))
        }
    }

    /// Opens and locks a file, and checks that it is still the file at `path`: while this waited, the previous holder
    /// may have replaced it.
    package func openLocked(
        _ path: FilePath, _ access: FileAccess, _ mode: LockMode, until deadline: Instant, by clock: any Clock
    ) throws(SystemFailure) -> LockAttempt {
        try openLocked(path, access, mode) { max(clock.now.duration(to: deadline), .zero) }
    }

    /// Opens and locks a file without waiting.
    package func openLocked(
        _ path: FilePath, _ access: FileAccess, _ mode: LockMode
    ) throws(SystemFailure) -> LockAttempt {
        try openLocked(path, access, mode) { .zero }
    }

    private func openLocked(
        _ path: FilePath, _ access: FileAccess, _ mode: LockMode, _ patience: () -> Duration
    ) throws(SystemFailure) -> LockAttempt {
        // Each failed attempt means that another holder has replaced the file, so there can be many in a row.
        for _ in 0..<4096 {
            guard let file = try open(path, access) else { return .absent }
            do {
                guard try file.lock(mode, patience: patience()) else { return .busy(file) }
            } catch  where error.code == .staleHandle {
                continue
            }
            if try status(of: path)?.number == file.status().number { return .locked(file) }
            file.unlock()
        }
        throw SystemFailure(.wouldBlock, .lock, path)
    }
}

/// The users that get access to a newly created file or folder.
package enum Audience: Hashable, Sendable {
    case owner
    /// Everyone can read it, regardless of the umask.
    case everyone
    /// The users whose access the umask does not remove.
    case umask
}

/// The result of opening and locking a file.
package enum LockAttempt: Sendable {
    case locked(any OpenFile)
    /// Someone else holds the lock; the contents of the file may identify the holder.
    case busy(any OpenFile)
    case absent
}

extension FileStatus {
    /// Throws if this is not a regular file, whose contents can be read.
    fileprivate func checkIsFile(at path: FilePath?) throws(SystemFailure) {
        switch kind {
        case .file: return
        case .folder: throw SystemFailure(.isAFolder, .read, path)
        default: throw SystemFailure(.invalidArgument, .readSpecial, path)
        }
    }
}

extension OpenFile {
    /// Returns the contents of the file. Throws `fileTooLarge` if there are more than `limit` bytes.
    package func contents(limit: Int = .max) throws(SystemFailure) -> [UInt8] {
        try contents(status(), limit: limit)
    }

    /// Returns the contents of a file whose status is already known.
    package func contents(_ status: FileStatus, limit: Int) throws(SystemFailure) -> [UInt8] {
        try status.checkIsFile(at: path)
        guard status.size <= limit else { throw SystemFailure(.fileTooLarge, .read, path) }
        // The buffer has room for one more byte than the file's size, to detect whether the file has grown. Files that
        // the kernel generates report size 0, and some can only be read in a single call.
        var bytes = [UInt8](repeating: 0, count: max(status.size + 1, 4096))
        var count = 0
        while true {
            let read = try read(&bytes, from: count, at: count)
            count += read
            // A file that has grown has more bytes, so its end needs no further call.
            if read == 0 || count == status.size { break }
            guard count == bytes.count else { continue }
            guard count <= limit else { throw SystemFailure(.fileTooLarge, .read, path) }
            bytes.append(contentsOf: repeatElement(0, count: count))
        }
        guard count <= limit else { throw SystemFailure(.fileTooLarge, .read, path) }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Returns at most `limit` bytes from the end of the file.
    package func end(limit: Int) throws(SystemFailure) -> [UInt8] {
        let status = try status()
        try status.checkIsFile(at: path)
        var bytes = [UInt8](repeating: 0, count: max(0, min(status.size, limit)))
        let count = try fill(&bytes, at: status.size - bytes.count)
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Returns at most `limit` bytes from the start of the file.
    package func beginning(limit: Int) throws(SystemFailure) -> [UInt8] {
        let status = try status()
        try status.checkIsFile(at: path)
        var bytes = [UInt8](repeating: 0, count: max(0, min(status.size, limit)))
        let count = try fill(&bytes, at: 0)
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Reads from `offset` until `bytes` is full or the file ends, and returns the number of bytes read.
    package func fill(_ bytes: inout [UInt8], at offset: Int) throws(SystemFailure) -> Int {
        var count = 0
        while count < bytes.count {
            let read = try read(&bytes, from: count, at: offset + count)
            if read == 0 { break }
            count += read
        }
        return count
    }

    /// Reads bytes at `offset` into `bytes` from the index `start` with one call.
    private func read(_ bytes: inout [UInt8], from start: Int, at offset: Int) throws(SystemFailure) -> Int {
        var span = bytes.mutableSpan
        return try unsafe span.withUnsafeMutableBytes { buffer throws(SystemFailure) in
            try unsafe read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]), at: offset)
        }
    }

    /// Copies owner, permissions and attributes from the file at `path`, as far as this process may set them.
    ///
    /// If the group cannot be changed, the model's group permissions are removed, because they are not for our group.
    /// With an access list, the group bits limit all its entries; so if the list cannot be copied, they are removed
    /// too.
    ///
    /// - Parameter keepsOwner: Returns whether the file may be given to the owner of the model, if that is another one.
    package func adopt(
        _ model: FileStatus, of path: FilePath, keepsOwner: () throws(SystemFailure) -> Bool = { true }
    ) throws(SystemFailure) {
        let own = try status()
        // Set-user-ID is a decision about the old contents, not about the new ones.
        var permissions = model.permissions.subtracting(.special)
        if try !adoptOwner(model, own, keepsOwner) { permissions.subtract(.ofGroup) }
        if !adoptAttributes(of: path) { permissions.subtract(.ofGroup) }
        if permissions != own.permissions { try setPermissionsIfSupported(permissions) }
    }

    /// Sets the permissions. Some network file systems do not support that, and neither does vfat; the file then stays
    /// as it was created.
    package func setPermissionsIfSupported(_ permissions: FilePermissions) throws(SystemFailure) {
        do {
            try setPermissions(permissions)
        } catch  where error.code.meansNoRight {}
    }

    /// Copies owner and group, or else only the group: a member of the group may give a file to it, so that the
    /// previous owner still has access. Returns whether the group is that of the model.
    private func adoptOwner(
        _ model: FileStatus, _ own: FileStatus, _ keepsOwner: () throws(SystemFailure) -> Bool
    ) throws(SystemFailure) -> Bool {
        if (own.owner, own.group) == (model.owner, model.group) { return true }
        guard try keepsOwner() || own.owner != 0 else { return own.group == model.group }
        for owner in own.owner == model.owner ? [own.owner] : [model.owner, own.owner] {
            do {
                try setOwner(owner, group: model.group)
                return true
            } catch  where error.code.meansNoRight {
                continue
            }
        }
        return own.group == model.group
    }
}

extension ErrorCode {
    /// Whether the operation is not permitted or not supported, as opposed to a real failure.
    fileprivate var meansNoRight: Bool { [.notPermitted, .accessDenied, .unsupported, .notImplemented].contains(self) }
}
