import Platform
import Synchronization

/// A file system that forwards to another one, and counts the bytes read from and written to each file.
final class CountingFileSystem: FileSystem {
    private let inner: any FileSystem
    private let counts = Mutex<[FilePath: (read: Int, written: Int)]>([:])

    init(_ inner: any FileSystem) { self.inner = inner }

    /// Returns the bytes read from and written to all files in a folder.
    func counts(in folder: FilePath) -> (read: Int, written: Int) {
        counts.withLock { counts in
            counts.reduce(into: (read: 0, written: 0)) { sum, entry in
                guard entry.key.bytes.starts(with: folder.bytes) else { return }
                sum.read += entry.value.read
                sum.written += entry.value.written
            }
        }
    }

    fileprivate func count(_ path: FilePath, read: Int = 0, written: Int = 0) {
        counts.withLock { counts in
            counts[path, default: (0, 0)].read += read
            counts[path, default: (0, 0)].written += written
        }
    }

    func open(_ path: FilePath, _ access: FileAccess) throws(SystemFailure) -> (any OpenFile)? {
        try inner.open(path, access).map { CountedFile($0, self) }
    }

    func unpredictableNumber() -> UInt64 { inner.unpredictableNumber() }

    func rename(_ path: FilePath, to other: FilePath, _ manner: RenameMode) throws(SystemFailure) {
        try inner.rename(path, to: other, manner)
    }

    func link(_ path: FilePath, to other: FilePath) throws(SystemFailure) { try inner.link(path, to: other) }

    func makeSymbolicLink(_ path: FilePath, to target: FilePath) throws(SystemFailure) {
        try inner.makeSymbolicLink(path, to: target)
    }

    @discardableResult
    func remove(_ path: FilePath) throws(SystemFailure) -> Bool { try inner.remove(path) }

    func names(in folder: FilePath) throws(SystemFailure) -> [FileName]? { try inner.names(in: folder) }

    func makeFolder(_ path: FilePath, _ permissions: FilePermissions) throws(SystemFailure) -> Bool {
        try inner.makeFolder(path, permissions)
    }

    func synchronizeFolder(_ path: FilePath) throws(SystemFailure) { try inner.synchronizeFolder(path) }

    func status(of path: FilePath, followingLink: Bool) throws(SystemFailure) -> FileStatus? {
        try inner.status(of: path, followingLink: followingLink)
    }

    func destination(ofLink path: FilePath) throws(SystemFailure) -> FilePath? { try inner.destination(ofLink: path) }

    func mayWrite(in folder: FilePath) -> Bool { inner.mayWrite(in: folder) }
}

/// An open file whose bytes are counted.
private final class CountedFile: OpenFile {
    private let inner: any OpenFile
    private let counter: CountingFileSystem

    init(_ inner: any OpenFile, _ counter: CountingFileSystem) { (self.inner, self.counter) = (inner, counter) }

    var path: FilePath { inner.path }

    func status() throws(SystemFailure) -> FileStatus { try inner.status() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemFailure) -> Int {
        let count = try inner.read(into: buffer, at: offset)
        counter.count(path, read: count)
        return count
    }

    func write(_ bytes: RawSpan, at offset: Int) throws(SystemFailure) {
        let count = bytes.byteCount
        counter.count(path, written: count)
        try inner.write(bytes, at: offset)
    }

    func truncate(to size: Int) throws(SystemFailure) { try inner.truncate(to: size) }

    func synchronize() throws(SystemFailure) { try inner.synchronize() }
    func startSynchronizing() { inner.startSynchronizing() }

    func setPermissions(_ permissions: FilePermissions) throws(SystemFailure) { try inner.setPermissions(permissions) }

    func setOwner(_ owner: UInt32, group: UInt32) throws(SystemFailure) { try inner.setOwner(owner, group: group) }

    func adoptAttributes(of path: FilePath) -> Bool { inner.adoptAttributes(of: path) }

    func lock(_ mode: LockMode, patience: Duration) throws(SystemFailure) -> Bool {
        try inner.lock(mode, patience: patience)
    }

    func unlock() { inner.unlock() }
}
