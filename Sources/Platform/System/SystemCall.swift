// Unsafe: system calls take pointers, which are valid during the call.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Calls a system function, repeats it if a signal interrupts it, and throws the error if it returns −1.
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
    /// Calls `body` with the path as a C string, which is valid during the call.
    @safe func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
            for (index, byte) in bytes.enumerated() {
                unsafe buffer.initializeElement(at: index, to: CChar(bitPattern: byte))
            }
            unsafe buffer.initializeElement(at: bytes.count, to: 0)
            // Never nil: there is at least one byte, the final NUL.
            return unsafe body(UnsafePointer(buffer.baseAddress!))
        }
    }
}

/// A file descriptor. It is closed with the last reference.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    /// Returns the status of the open file.
    func status(of path: FilePath) throws(SystemFailure) -> FileStatus {
        var status = stat()
        _ = try systemCall(.status, path) { unsafe fstat(number, &status) }
        return FileStatus(status)
    }

    /// Opens the same file again in the same mode, for a lock of its own. Throws `staleHandle` if the path no longer
    /// leads to the file.
    func opening(again path: FilePath) throws(SystemFailure) -> Descriptor {
        let access = try systemCall(.lock, path) { fcntl(number, F_GETFL) } & O_ACCMODE
        let other: Descriptor
        do {
            other = Descriptor(
                try systemCall(.lock, path) {
                    path.withCString { unsafe open($0, access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) }
                })
        } catch  where error.code == .noSuchFile {
            throw SystemFailure(.staleHandle, .lock, path)
        }
        guard try other.status(of: path).number == status(of: path).number else {
            throw SystemFailure(.staleHandle, .lock, path)
        }
        return other
    }

    // Not retried: an interrupted `close` has closed the descriptor, and another thread may already have reused its
    // number.
    deinit { close(number) }
}

#if os(Linux)
    #if canImport(Glibc)
        /// `renameat2`, which Swift's module of the C library omits.
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

/// Renames a file as `manner` requires.
func renameFile(_ path: UnsafePointer<CChar>, _ other: UnsafePointer<CChar>, _ manner: RenameMode) -> Int32 {
    #if os(Linux)
        switch manner {
        case .replacing: unsafe rename(path, other)
        case .onlyIfAbsent: unsafe renameAt2(AT_FDCWD, path, AT_FDCWD, other, 1)
        case .exchanging: unsafe renameAt2(AT_FDCWD, path, AT_FDCWD, other, 2)
        }
    #else
        switch manner {
        case .replacing: unsafe rename(path, other)
        case .onlyIfAbsent: unsafe renamex_np(path, other, UInt32(RENAME_EXCL))
        case .exchanging: unsafe renamex_np(path, other, UInt32(RENAME_SWAP))
        }
    #endif
}
