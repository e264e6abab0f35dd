#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Makes a call of the system, again as long as a signal interrupts it, and turns −1 into what was wrong.
func systemCall<Result: SignedInteger>(
    _ operation: SystemFailure.Operation, _ path: FilePath?, _ call: () -> Result
) throws(SystemFailure) -> Result {
    while true {
        let result = call()
        if result != -1 { return result }
        let code = ErrorCode.ofLastCall
        if code != .interrupted { throw SystemFailure(code, operation, path) }
    }
}

extension FilePath {
    /// Calls `body` with the bytes as C takes them.
    func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            for (index, byte) in bytes.enumerated() { buffer.initializeElement(at: index, to: CChar(bitPattern: byte)) }
            buffer.initializeElement(at: bytes.count, to: 0)
            // There is a byte at least: the final NUL.
            return body(UnsafePointer(buffer.baseAddress!))
        }
    }
}

/// The number of an open file. It is closed with the last reference.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    /// What the system says of the open file.
    func status(of path: FilePath) throws(SystemFailure) -> FileStatus {
        var status = stat()
        _ = try systemCall(.status, path) { fstat(number, &status) }
        return FileStatus(status)
    }

    /// Another opening of the same file in the same way, with a lock of its own. Where the path does not lead to the
    /// file any more, `staleHandle` is thrown.
    func opening(again path: FilePath) throws(SystemFailure) -> Descriptor {
        let access = try systemCall(.lock, path) { fcntl(number, F_GETFL) } & O_ACCMODE
        let other: Descriptor
        do {
            other = Descriptor(
                try systemCall(.lock, path) {
                    path.withCString { open($0, access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
                })
        } catch  where error.code == .noSuchFile {
            throw SystemFailure(.staleHandle, .lock, path)
        }
        guard try other.status(of: path).number == status(of: path).number else {
            throw SystemFailure(.staleHandle, .lock, path)
        }
        return other
    }

    // An interrupted close has closed all the same: a second one would hit a file that another thread just opened.
    deinit { close(number) }
}

#if os(Linux)
    #if canImport(Glibc)
        /// `renameat2`, which Swift's module of the C library leaves out.
        @_silgen_name("renameat2")
        private func renameAt2(
            _ folder: Int32, _ path: UnsafePointer<CChar>, _ otherFolder: Int32, _ other: UnsafePointer<CChar>,
            _ flags: UInt32
        ) -> Int32
    #else
        private func renameAt2(
            _ folder: Int32, _ path: UnsafePointer<CChar>, _ otherFolder: Int32, _ other: UnsafePointer<CChar>,
            _ flags: UInt32
        ) -> Int32 {
            errno = ENOSYS
            return -1
        }
    #endif
#endif

#if canImport(Glibc)
    /// Which Swift's module of the C library leaves out, too. 0 as `count` is the rest of the file, 2 as the only flag
    /// begins and waits for nothing.
    @_silgen_name("sync_file_range")
    private func syncFileRange(_ file: Int32, _ offset: off_t, _ count: off_t, _ flags: UInt32) -> Int32
#endif

/// Begins to bring what was written in a file to the disk, where the system can; a failure shows in `fsync`.
func startWritingBack(_ file: Descriptor) {
    #if canImport(Glibc)
        _ = syncFileRange(file.number, 0, 0, 2)
    #endif
}

/// Renames as the manner asks.
func renameFile(_ path: UnsafePointer<CChar>, _ other: UnsafePointer<CChar>, _ manner: RenameManner) -> Int32 {
    #if os(Linux)
        switch manner {
        case .replacing: rename(path, other)
        case .keeping: renameAt2(AT_FDCWD, path, AT_FDCWD, other, 1)
        case .exchanging: renameAt2(AT_FDCWD, path, AT_FDCWD, other, 2)
        }
    #else
        switch manner {
        case .replacing: rename(path, other)
        case .keeping: renamex_np(path, other, UInt32(RENAME_EXCL))
        case .exchanging: renamex_np(path, other, UInt32(RENAME_SWAP))
        }
    #endif
}
