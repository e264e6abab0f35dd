import Platform
import Synchronization

/// A file system that runs an action once, right after a file was opened for reading or renamed, or that refuses to
/// replace a file.
final class HookedFileSystem: FileSystem {
    private let inner: any FileSystem
    private let renamed = Mutex<(path: FilePath, action: @Sendable () -> Void)?>(nil)
    private let hook = Mutex<(path: FilePath, action: @Sendable () -> Void)?>(nil)
    private let fixed = Mutex<FilePath?>(nil)

    init(_ inner: any FileSystem) { self.inner = inner }

    /// Calls `action` after the next time that the file is opened, before it is read.
    func onceOpened(_ path: FilePath, _ action: @escaping @Sendable () -> Void) {
        hook.withLock { $0 = (path, action) }
    }

    /// Calls `action` after the next rename to that name.
    func onceRenamed(_ path: FilePath, _ action: @escaping @Sendable () -> Void) {
        renamed.withLock { $0 = (path, action) }
    }

    /// Refuses from now on to replace the file at the path. If the path is nil, allows all replacements again.
    func fix(_ path: FilePath?) { fixed.withLock { $0 = path } }

    func open(_ path: FilePath, _ access: FileAccess) throws(SystemFailure) -> (any OpenFile)? {
        let file = try inner.open(path, access)
        let action = hook.withLock { hook in
            guard access == .reading, hook?.path == path else { return nil as (@Sendable () -> Void)? }
            return hook.take()?.action
        }
        action?()
        return file
    }

    func unpredictableNumber() -> UInt64 { inner.unpredictableNumber() }

    func rename(_ path: FilePath, to other: FilePath, _ manner: RenameMode) throws(SystemFailure) {
        guard fixed.withLock(\.self) != other else { throw SystemFailure(.notPermitted, .rename, path) }
        try inner.rename(path, to: other, manner)
        let action = renamed.withLock { hook in
            hook?.path == other ? hook.take()?.action : nil as (@Sendable () -> Void)?
        }
        action?()
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
