// Unsafe: system calls take pointers, which are valid during the call, and lengths, which are those of the buffers.
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

package struct SystemFileSystem: FileSystem {
    package init() {}

    package func open(_ path: FilePath, _ access: FileAccess) throws(SystemFailure) -> (any OpenFile)? {
        // With O_NONBLOCK, a FIFO without a writer does not block. It has no effect on regular files.
        let (flags, permissions) = access.flags
        let all = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        do {
            let number = try systemCall(.open, path) {
                path.withCString { unsafe Self.open($0, all, mode_t(permissions.rawValue)) }
            }
            return SystemFile(Descriptor(number), path)
        } catch  where error.code == .noSuchFile && !access.creates {
            return nil
        }
    }

    private static func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
        #if canImport(Glibc)
            unsafe Glibc.open(path, flags, mode)
        #elseif canImport(Musl)
            unsafe Musl.open(path, flags, mode)
        #else
            unsafe Darwin.open(path, flags, mode)
        #endif
    }

    package func unpredictableNumber() -> UInt64 { .random(in: .min ... .max) }

    package func rename(_ path: FilePath, to other: FilePath, _ manner: RenameMode) throws(SystemFailure) {
        do {
            _ = try systemCall(manner == .exchanging ? .exchange : .rename, path) {
                path.withCString { path in other.withCString { unsafe renameFile(path, $0, manner) } }
            }
        } catch  where manner != .replacing && [.invalidArgument, .notImplemented].contains(error.code) {
            // File systems that do not support the flag fail with these codes.
            throw SystemFailure(.unsupported, error.operation, path)
        }
    }

    package func link(_ path: FilePath, to other: FilePath) throws(SystemFailure) {
        _ = try systemCall(.link, path) {
            path.withCString { path in other.withCString { unsafe linkat(AT_FDCWD, path, AT_FDCWD, $0, 0) } }
        }
    }

    package func makeSymbolicLink(_ path: FilePath, to target: FilePath) throws(SystemFailure) {
        _ = try systemCall(.link, path) {
            target.withCString { target in path.withCString { unsafe symlink(target, $0) } }
        }
    }

    @discardableResult
    package func remove(_ path: FilePath) throws(SystemFailure) -> Bool {
        // C's `remove` calls `unlink` or `rmdir` as needed.
        try absentIsFalse { () throws(SystemFailure) in
            _ = try systemCall(.remove, path) { unsafe path.withCString(removeAnything) }
        }
    }

    package func makeFolder(_ path: FilePath, _ permissions: FilePermissions) throws(SystemFailure) -> Bool {
        do {
            _ = try systemCall(.makeFolder, path) {
                path.withCString { unsafe mkdir($0, mode_t(permissions.rawValue)) }
            }
            return true
        } catch  where error.code == .exists {
            return false
        }
    }

    package func synchronizeFolder(_ path: FilePath) throws(SystemFailure) {
        let folder = Descriptor(
            try systemCall(.synchronizeFolder, path) {
                path.withCString { unsafe Self.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
            })
        do {
            _ = try systemCall(.synchronizeFolder, path) { fsync(folder.number) }
        } catch  where [.invalidArgument, .unsupported, .notImplemented].contains(error.code) {
            // SMB and some others do not support this.
        }
    }

    package func status(of path: FilePath, followingLink: Bool) throws(SystemFailure) -> FileStatus? {
        var status = stat()
        let isThere = try absentIsFalse { () throws(SystemFailure) in
            _ = try systemCall(.status, path) {
                path.withCString { unsafe fstatat(AT_FDCWD, $0, &status, followingLink ? 0 : AT_SYMLINK_NOFOLLOW) }
            }
        }
        return isThere ? FileStatus(status) : nil
    }

    package func destination(ofLink path: FilePath) throws(SystemFailure) -> FilePath? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        do {
            let count = try systemCall(.readLink, path) {
                path.withCString { unsafe readlink($0, &buffer, buffer.count) }
            }
            return FilePath(buffer.prefix(count).map(UInt8.init(bitPattern:)))
        } catch  where error.code == .noSuchFile || error.code == .invalidArgument {
            return nil
        }
    }

    package func mayWrite(in folder: FilePath) -> Bool {
        folder.withCString { unsafe faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) } == 0
    }

    package func names(in folder: FilePath) throws(SystemFailure) -> [FileName]? {
        guard let stream = unsafe folder.withCString(opendir) else {
            let code = ErrorCode.ofLastCall
            if code == .noSuchFile { return nil }
            throw SystemFailure(code, .list, folder)
        }
        defer { unsafe closedir(stream) }
        var names: [FileName] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                guard errno == 0 else { throw SystemFailure(.ofLastCall, .list, folder) }
                return names.sorted()
            }
            if let name = unsafe entry.fileName { names.append(name) }
        }
    }

    private func absentIsFalse(_ body: () throws(SystemFailure) -> Void) throws(SystemFailure) -> Bool {
        do {
            try body()
            return true
        } catch  where error.code == .noSuchFile {
            return false
        }
    }
}

private func removeAnything(_ path: UnsafePointer<CChar>) -> Int32 { unsafe remove(path) }

extension FileAccess {
    fileprivate var flags: (Int32, FilePermissions) {
        switch self {
        case .reading: (O_RDONLY, [])
        case .readingNoFollow: (O_RDONLY | O_NOFOLLOW, [])
        case .writing: (O_RDWR, [])
        case .creating(let permissions): (O_RDWR | O_CREAT | O_NOFOLLOW, permissions)
        case .creatingNew(let permissions): (O_RDWR | O_CREAT | O_EXCL, permissions)
        }
    }

    fileprivate var creates: Bool {
        switch self {
        case .reading, .readingNoFollow, .writing: false
        case .creating, .creatingNew: true
        }
    }
}

extension UnsafeMutablePointer<dirent> {
    /// The entry's name; nil for `.` and `..`.
    fileprivate var fileName: FileName? {
        // The declared size of `d_name` may exceed the actual record, so only the name's own bytes are read.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
        let name = unsafe UnsafeRawPointer(self) + offset
        let count = unsafe strlen(name.assumingMemoryBound(to: CChar.self))
        return unsafe FileName(UnsafeRawBufferPointer(start: name, count: count))
    }
}

final class SystemFile: OpenFile {
    let path: FilePath
    private let descriptor: Descriptor
    /// The descriptor that holds the lock: this file's own, or another one for the same file, from a wait that was
    /// taken over.
    private let locked = Mutex<Descriptor?>(nil)

    init(_ descriptor: Descriptor, _ path: FilePath) {
        self.descriptor = descriptor
        self.path = path
    }

    func status() throws(SystemFailure) -> FileStatus { try descriptor.status(of: path) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemFailure) -> Int {
        try systemCall(.read, path) {
            unsafe pread(descriptor.number, buffer.baseAddress, buffer.count, off_t(offset))
        }
    }

    func write(_ bytes: RawSpan, at offset: Int) throws(SystemFailure) {
        try unsafe bytes.withUnsafeBytes { bytes throws(SystemFailure) in
            var count = 0
            while count < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[count...])
                let written = try systemCall(.write, path) {
                    unsafe pwrite(descriptor.number, rest.baseAddress, rest.count, off_t(offset + count))
                }
                // Prevents an endless loop on a device that accepts no bytes and reports no error.
                guard written > 0 else { throw SystemFailure(.inputOutput, .write, path) }
                count += written
            }
        }
    }

    func truncate(to size: Int) throws(SystemFailure) {
        _ = try systemCall(.truncate, path) { ftruncate(descriptor.number, off_t(size)) }
    }

    func synchronize() throws(SystemFailure) {
        #if canImport(Darwin)
            // On macOS, `fsync` leaves the data in the drive's cache.
            _ = try systemCall(.synchronize, path) { fcntl(descriptor.number, F_FULLFSYNC) }
        #else
            _ = try systemCall(.synchronize, path) { fsync(descriptor.number) }
        #endif
    }

    func startSynchronizing() {
        #if os(Linux)
            _ = synchronizeRange(descriptor.number, 0, 0, 2)
        #endif
    }

    func setPermissions(_ permissions: FilePermissions) throws(SystemFailure) {
        _ = try systemCall(.setMode, path) { fchmod(descriptor.number, mode_t(permissions.rawValue)) }
    }

    func setOwner(_ owner: UInt32, group: UInt32) throws(SystemFailure) {
        _ = try systemCall(.setOwner, path) { fchown(descriptor.number, owner, group) }
    }

    func adoptAttributes(of path: FilePath) -> Bool {
        copyUserAttributes(of: path, to: descriptor)
        return copyAccessList(of: path, to: descriptor)
    }

    func lock(_ mode: LockMode, patience: Duration) throws(SystemFailure) -> Bool {
        guard let holder = try TimedFileLocks.ofThisProcess.lock(descriptor, mode, path, patience: patience) else {
            return false
        }
        locked.withLock { $0 = holder }
        return true
    }

    func unlock() {
        guard let holder = locked.withLock({ $0.take() }) else { return }
        // This fails only for an invalid descriptor.
        _ = flock(holder.number, LOCK_UN)
    }

    deinit { unlock() }
}

extension FileStatus {
    init(_ status: stat) {
        #if canImport(Darwin)
            let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
            let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        self.init(
            kind: Kind(mode: status.st_mode), device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(status.st_ino), size: Int(status.st_size), modified: Timestamp(modified),
            changed: Timestamp(changed),
            permissions: FilePermissions(rawValue: UInt16(truncatingIfNeeded: status.st_mode & 0o7777)),
            owner: status.st_uid, group: status.st_gid, links: Int(status.st_nlink))
    }
}

extension FileStatus.Kind {
    fileprivate init(mode: mode_t) {
        self =
            switch mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .pipe
            default: .other
            }
    }
}

extension Timestamp {
    init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)) }
}

extension Instant {
    init(_ time: timespec) {
        self.init(nanoseconds: Timestamp(time).nanoseconds)
    }
}

#if os(Linux)
    /// `statfs`, which Swift's module of the C library omits. The first word of the record is the file system type.
    @_silgen_name("statfs")
    private func fileSystemStatus(_ path: UnsafePointer<CChar>, _ status: UnsafeMutablePointer<Int>) -> Int32

    /// Returns whether the folder, or its nearest existing ancestor, is on a file system that other machines can change
    /// without notifications.
    func isRemote(_ folder: FilePath) -> Bool {
        var folder = folder
        // The record has 120 bytes; this reserves 512.
        var status = [Int](repeating: 0, count: 64)
        while folder.withCString({ unsafe fileSystemStatus($0, &status) }) != 0 {
            guard folder.parent != folder else { return false }
            folder = folder.parent
        }
        return remoteTypes.contains(UInt32(truncatingIfNeeded: status[0]))
    }

    /// The types of network file systems, and of FUSE, which sshfs uses.
    private let remoteTypes: Set<UInt32> = [
        0x6969,  // NFS
        0x517B, 0xFF53_4D42, 0xFE53_4D42,  // SMB, CIFS, SMB 2
        0x6573_5546,  // FUSE
        0x0102_1997,  // 9P
        0x00C3_6400,  // Ceph
        0x5346_414F, 0x6B41_4653,  // AFS
        0x7375_7245,  // Coda
        0x7461_636F,  // OCFS2
        0x0116_1970,  // GFS2
    ]
#endif

#if os(Linux)
    /// `sync_file_range`, which Swift's modules of the C library omit. The flag 2 begins to write and does not wait; no
    /// bytes means all.
    @_silgen_name("sync_file_range")
    private func synchronizeRange(_ file: Int32, _ offset: Int64, _ count: Int64, _ flags: UInt32) -> Int32

    // POSIX access lists are stored in an extended attribute. Swift's modules of the C library omit these calls.
    @_silgen_name("getxattr")
    private func getAttribute(
        _ path: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>, _ value: UnsafeMutableRawPointer?, _ size: Int
    ) -> Int

    @_silgen_name("fsetxattr")
    private func setAttribute(
        _ file: Int32, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer?, _ size: Int, _ flags: Int32
    ) -> Int32

    @_silgen_name("fremovexattr")
    private func removeAttribute(_ file: Int32, _ name: UnsafePointer<CChar>) -> Int32

    @_silgen_name("listxattr")
    private func listAttributes(
        _ path: UnsafePointer<CChar>, _ names: UnsafeMutableRawPointer?, _ size: Int
    ) -> Int

    private let accessList = "system.posix_acl_access"
    /// The kernel's limit for the size of an attribute.
    private let mostBytes = 1 << 16
#endif

/// Copies the access list of the file at `path` to `file`, or removes it if the source has none. Returns false on
/// failure.
func copyAccessList(of path: FilePath, to file: Descriptor) -> Bool {
    #if os(Linux)
        var list = [UInt8](repeating: 0, count: mostBytes)
        let count = path.withCString { unsafe getAttribute($0, accessList, &list, list.count) }
        if count > 0 { return unsafe setAttribute(file.number, accessList, list, count, 0) == 0 }
        guard count == 0 || isAbsence(errno) else { return false }
        // A new file may have inherited a list from its folder.
        return unsafe removeAttribute(file.number, accessList) == 0 || isAbsence(errno)
    #else
        return true
    #endif
}

/// Copies the `user.` attributes of the file at `path` to `file`, as far as its file system supports them.
func copyUserAttributes(of path: FilePath, to file: Descriptor) {
    #if os(Linux)
        let size = path.withCString { unsafe listAttributes($0, nil, 0) }
        guard size > 0 else { return }
        var names = [UInt8](repeating: 0, count: size)
        let count = path.withCString { unsafe listAttributes($0, &names, names.count) }
        guard count > 0 else { return }
        var value = [UInt8](repeating: 0, count: mostBytes)
        for name in names.prefix(count).split(separator: 0) where name.starts(with: "user.".utf8) {
            let name = name.map { CChar(bitPattern: $0) } + [0]
            let length = path.withCString { unsafe getAttribute($0, name, &value, value.count) }
            if length >= 0 { _ = unsafe setAttribute(file.number, name, value, length, 0) }
        }
    #endif
}

#if os(Linux)
    /// Returns whether an error code means that there is no access list or that lists are not supported.
    private func isAbsence(_ code: Int32) -> Bool { [ENODATA, ENOTSUP, ENOSYS].contains(code) }
#endif
