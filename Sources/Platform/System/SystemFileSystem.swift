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
        // O_NONBLOCK keeps a FIFO without a writer from blocking. It has no effect on regular files.
        let (flags, permissions) = access.flags
        let all = flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        do {
            let number = try systemCall(.open, path) {
                path.withCString { Self.open($0, all, mode_t(permissions.rawValue)) }
            }
            return SystemFile(Descriptor(number), path)
        } catch  where error.code == .noSuchFile && !access.creates {
            return nil
        }
    }

    private static func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 {
        #if canImport(Glibc)
            Glibc.open(path, flags, mode)
        #elseif canImport(Musl)
            Musl.open(path, flags, mode)
        #else
            Darwin.open(path, flags, mode)
        #endif
    }

    package func unpredictableNumber() -> UInt64 { .random(in: .min ... .max) }

    package func rename(_ path: FilePath, to other: FilePath, _ manner: RenameMode) throws(SystemFailure) {
        do {
            _ = try systemCall(manner == .exchanging ? .exchange : .rename, path) {
                path.withCString { path in other.withCString { renameFile(path, $0, manner) } }
            }
        } catch  where manner != .replacing && [.invalidArgument, .notImplemented].contains(error.code) {
            // File systems that do not support the flag fail with these codes.
            throw SystemFailure(.unsupported, error.operation, path)
        }
    }

    package func link(_ path: FilePath, to other: FilePath) throws(SystemFailure) {
        _ = try systemCall(.link, path) {
            path.withCString { path in other.withCString { linkat(AT_FDCWD, path, AT_FDCWD, $0, 0) } }
        }
    }

    @discardableResult
    package func remove(_ path: FilePath) throws(SystemFailure) -> Bool {
        // C's `remove` calls `unlink` or `rmdir` as needed.
        try absentIsFalse { () throws(SystemFailure) in
            _ = try systemCall(.remove, path) { path.withCString(removeAnything) }
        }
    }

    package func makeFolder(_ path: FilePath, _ permissions: FilePermissions) throws(SystemFailure) -> Bool {
        do {
            _ = try systemCall(.makeFolder, path) { path.withCString { mkdir($0, mode_t(permissions.rawValue)) } }
            return true
        } catch  where error.code == .exists {
            return false
        }
    }

    package func synchronizeFolder(_ path: FilePath) throws(SystemFailure) {
        let folder = Descriptor(
            try systemCall(.synchronizeFolder, path) {
                path.withCString { Self.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
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
                path.withCString { fstatat(AT_FDCWD, $0, &status, followingLink ? 0 : AT_SYMLINK_NOFOLLOW) }
            }
        }
        return isThere ? FileStatus(status) : nil
    }

    package func destination(ofLink path: FilePath) throws(SystemFailure) -> FilePath? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        do {
            let count = try systemCall(.readLink, path) {
                buffer.withUnsafeMutableBytes { buffer in
                    path.withCString {
                        readlink($0, buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
                    }
                }
            }
            return FilePath(buffer.prefix(count))
        } catch  where error.code == .noSuchFile || error.code == .invalidArgument {
            return nil
        }
    }

    package func mayWrite(in folder: FilePath) -> Bool {
        folder.withCString { faccessat(AT_FDCWD, $0, W_OK | X_OK, AT_EACCESS) } == 0
    }

    package func names(in folder: FilePath) throws(SystemFailure) -> [FileName]? {
        guard let stream = folder.withCString(opendir) else {
            let code = ErrorCode.ofLastCall
            if code == .noSuchFile { return nil }
            throw SystemFailure(code, .list, folder)
        }
        defer { closedir(stream) }
        var names: [FileName] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw SystemFailure(.ofLastCall, .list, folder) }
                return names.sorted()
            }
            if let name = entry.fileName { names.append(name) }
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

private func removeAnything(_ path: UnsafePointer<CChar>) -> Int32 { remove(path) }

extension FileAccess {
    fileprivate var flags: (Int32, FilePermissions) {
        switch self {
        case .reading: (O_RDONLY, [])
        case .readingItself: (O_RDONLY | O_NOFOLLOW, [])
        case .writing: (O_RDWR, [])
        case .creating(let permissions): (O_RDWR | O_CREAT | O_NOFOLLOW, permissions)
        case .creatingAnew(let permissions): (O_RDWR | O_CREAT | O_EXCL, permissions)
        }
    }

    fileprivate var creates: Bool {
        switch self {
        case .reading, .readingItself, .writing: false
        case .creating, .creatingAnew: true
        }
    }
}

extension UnsafeMutablePointer<dirent> {
    /// The entry's name; nil for `.` and `..`.
    fileprivate var fileName: FileName? {
        // The declared size of `d_name` may exceed the actual record, so only the name's own bytes are read.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
        let name = UnsafeRawPointer(self) + offset
        return FileName(UnsafeRawBufferPointer(start: name, count: strlen(name.assumingMemoryBound(to: CChar.self))))
    }
}
