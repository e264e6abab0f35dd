import Platform
import Synchronization

/// A file system that counts what is asked of another, path by path.
final class CountingFileSystem: FileSystem {
    private let inner: any FileSystem
    private let counts = Mutex<[FilePath: FileCounts]>([:])

    init(_ inner: any FileSystem) { self.inner = inner }

    /// What was asked since the last reset of all that lies in a folder, and of the folder.
    func counts(in folder: FilePath = .root) -> FileCounts {
        counts.withLock { counts in
            counts.reduce(into: FileCounts()) { sum, entry in
                if entry.key.bytes.starts(with: folder.bytes) { sum.add(entry.value) }
            }
        }
    }

    func reset() { counts.withLock { $0 = [:] } }

    fileprivate func note(_ path: FilePath, _ change: (inout FileCounts) -> Void = { _ in }) {
        counts.withLock { counts in
            counts[path, default: FileCounts()].calls += 1
            change(&counts[path, default: FileCounts()])
        }
    }
}

/// How often something was asked, and of how many bytes.
struct FileCounts {
    var calls = 0
    var bytesRead = 0
    var bytesWritten = 0
    /// Files that were made.
    var created = 0
    /// Files and folders that were waited for until they were on the disk.
    var synchronized = 0
    /// Files that got this name.
    var named = 0

    fileprivate mutating func add(_ other: FileCounts) {
        calls += other.calls
        bytesRead += other.bytesRead
        bytesWritten += other.bytesWritten
        created += other.created
        synchronized += other.synchronized
        named += other.named
    }
}

extension CountingFileSystem {
    func open(_ path: FilePath, _ access: FileAccess) throws(SystemFailure) -> (any OpenFile)? {
        var isNew = false
        if case .creatingAnew = access { isNew = true }
        note(path) { $0.created += isNew ? 1 : 0 }
        return try inner.open(path, access).map { CountedFile($0, self) }
    }

    func unpredictableNumber() -> UInt64 { inner.unpredictableNumber() }

    func rename(_ path: FilePath, to other: FilePath, _ manner: RenameManner) throws(SystemFailure) {
        note(other) { $0.named += 1 }
        try inner.rename(path, to: other, manner)
    }

    func link(_ path: FilePath, to other: FilePath) throws(SystemFailure) {
        note(other)
        try inner.link(path, to: other)
    }

    @discardableResult
    func remove(_ path: FilePath) throws(SystemFailure) -> Bool {
        note(path)
        return try inner.remove(path)
    }

    func names(in folder: FilePath) throws(SystemFailure) -> [FileName]? {
        note(folder)
        return try inner.names(in: folder)
    }

    func makeFolder(_ path: FilePath, _ permissions: FilePermissions) throws(SystemFailure) -> Bool {
        note(path)
        return try inner.makeFolder(path, permissions)
    }

    func synchronizeFolder(_ path: FilePath) throws(SystemFailure) {
        note(path) { $0.synchronized += 1 }
        try inner.synchronizeFolder(path)
    }

    func status(of path: FilePath, followingLink: Bool) throws(SystemFailure) -> FileStatus? {
        note(path)
        return try inner.status(of: path, followingLink: followingLink)
    }

    func destination(ofLink path: FilePath) throws(SystemFailure) -> FilePath? {
        note(path)
        return try inner.destination(ofLink: path)
    }
}

/// An open file of which everything is counted.
private final class CountedFile: OpenFile {
    private let inner: any OpenFile
    private let counter: CountingFileSystem

    init(_ inner: any OpenFile, _ counter: CountingFileSystem) { (self.inner, self.counter) = (inner, counter) }

    var path: FilePath { inner.path }

    func status() throws(SystemFailure) -> FileStatus {
        counter.note(path)
        return try inner.status()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemFailure) -> Int {
        let count = try inner.read(into: buffer, at: offset)
        counter.note(path) { $0.bytesRead += count }
        return count
    }

    func write(_ bytes: RawSpan, at offset: Int) throws(SystemFailure) {
        let count = bytes.byteCount
        counter.note(path) { $0.bytesWritten += count }
        try inner.write(bytes, at: offset)
    }

    func truncate(to size: Int) throws(SystemFailure) {
        counter.note(path)
        try inner.truncate(to: size)
    }

    func startSynchronizing() { inner.startSynchronizing() }

    func synchronize() throws(SystemFailure) {
        counter.note(path) { $0.synchronized += 1 }
        try inner.synchronize()
    }

    func setPermissions(_ permissions: FilePermissions) throws(SystemFailure) {
        counter.note(path)
        try inner.setPermissions(permissions)
    }

    func setOwner(_ owner: UInt32, group: UInt32) throws(SystemFailure) {
        counter.note(path)
        try inner.setOwner(owner, group: group)
    }

    func adoptAttributes(of path: FilePath) -> Bool {
        counter.note(path)
        return inner.adoptAttributes(of: path)
    }

    func lock(_ mode: LockMode, patience: Duration) throws(SystemFailure) -> Bool {
        counter.note(path)
        return try inner.lock(mode, patience: patience)
    }

    func unlock() { inner.unlock() }
}
