#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

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
