#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// An error number of the system (`errno`).
package struct ErrorCode: RawRepresentable, Error, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }
}

extension ErrorCode {
    package static let notPermitted = ErrorCode(rawValue: EPERM)
    package static let noSuchFile = ErrorCode(rawValue: ENOENT)
    package static let interrupted = ErrorCode(rawValue: EINTR)
    package static let inputOutput = ErrorCode(rawValue: EIO)
    package static let badDescriptor = ErrorCode(rawValue: EBADF)
    package static let accessDenied = ErrorCode(rawValue: EACCES)
    package static let exists = ErrorCode(rawValue: EEXIST)
    package static let notAFolder = ErrorCode(rawValue: ENOTDIR)
    package static let isAFolder = ErrorCode(rawValue: EISDIR)
    package static let invalidArgument = ErrorCode(rawValue: EINVAL)
    package static let tooManyOpenFiles = ErrorCode(rawValue: EMFILE)
    package static let fileTooLarge = ErrorCode(rawValue: EFBIG)
    package static let noSpace = ErrorCode(rawValue: ENOSPC)
    package static let readOnly = ErrorCode(rawValue: EROFS)
    package static let nameTooLong = ErrorCode(rawValue: ENAMETOOLONG)
    package static let folderNotEmpty = ErrorCode(rawValue: ENOTEMPTY)
    package static let tooManySymbolicLinks = ErrorCode(rawValue: ELOOP)
    package static let unsupported = ErrorCode(rawValue: ENOTSUP)
    package static let notImplemented = ErrorCode(rawValue: ENOSYS)
    /// Opening a socket as a file.
    package static let noSuchAddress = ErrorCode(rawValue: ENXIO)
    /// A name with bytes that the file system cannot convert.
    package static let illegalBytes = ErrorCode(rawValue: EILSEQ)
    package static let noSuchDevice = ErrorCode(rawValue: ENODEV)
    package static let staleHandle = ErrorCode(rawValue: ESTALE)
    package static let overQuota = ErrorCode(rawValue: EDQUOT)
    package static let wouldBlock = ErrorCode(rawValue: EWOULDBLOCK)

    /// The error number of the call that just failed on this thread.
    static var ofLastCall: ErrorCode { ErrorCode(rawValue: errno) }
}

extension ErrorCode: CustomStringConvertible {
    /// The C library's message for the code. It is in English unless the program has set a locale.
    package var description: String {
        // The text of a known code is static in every C library in use. The pointer is null only for unknown codes.
        strerror(rawValue).map { String(cString: $0) } ?? "error \(rawValue)"
    }
}
