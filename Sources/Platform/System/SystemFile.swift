internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

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
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let got = try systemCall(.read, path) {
                pread(descriptor.number, rest.baseAddress, rest.count, off_t(offset + count))
            }
            if got == 0 { break }
            count += got
        }
        return count
    }

    func write(_ bytes: RawSpan, at offset: Int) throws(SystemFailure) {
        try bytes.withUnsafeBytes { bytes throws(SystemFailure) in
            var count = 0
            while count < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
                let written = try systemCall(.write, path) {
                    pwrite(descriptor.number, rest.baseAddress, rest.count, off_t(offset + count))
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

    func startSynchronizing() {
        startWritingBack(descriptor)
    }

    func synchronize() throws(SystemFailure) {
        #if canImport(Darwin)
            // On macOS, `fsync` leaves the data in the drive's cache.
            _ = try systemCall(.synchronize, path) { fcntl(descriptor.number, F_FULLFSYNC) }
        #else
            _ = try systemCall(.synchronize, path) { fsync(descriptor.number) }
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
