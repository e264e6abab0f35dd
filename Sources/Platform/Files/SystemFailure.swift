// Unsafe: the C library returns a pointer to a message, which is copied at once.

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A failure of the operating system: the operation, the path and the error code.
package struct SystemFailure: Error, Hashable, Sendable {
    package enum Operation: String, Hashable, Sendable, CaseIterable {
        case open, read, write, truncate
        /// Reading a pipe, a device or a socket as if it were a file.
        case readSpecial
        /// Reading a named pipe of another user, who may never write to it.
        case readForeignPipe
        case synchronize, synchronizeFolder
        case lock
        case setMode, setOwner
        case rename, exchange, link, remove
        /// Replacing a file that another user has put in a folder where anyone can create files.
        case replacePlanted
        /// Using a symbolic link that another user may have created, in place of a folder.
        case followPlanted
        /// Using the record of a committed change of several files that is not complete.
        case useRecord
        case list, makeFolder, status, readLink
        case watch, startThread, run
    }

    package let code: ErrorCode
    package let operation: Operation
    /// The file concerned; nil for a stream of the process, or if there is none.
    package let path: FilePath?
    /// The change that was made before the failure, or nil if nothing was changed.
    package private(set) var change: Change?

    /// A change that is visible to other programs, and that a later failure does not revert.
    package enum Change: Hashable, Sendable {
        case wrote(FilePath)
        case removed(FilePath)
    }

    package init(_ code: ErrorCode, _ operation: Operation, _ path: FilePath?) {
        self.code = code
        self.operation = operation
        self.path = path
    }
}

extension SystemFailure {
    /// Returns the failure with `path` in place of the name of a temporary file, which would mean nothing to the user.
    package func naming(_ path: FilePath) -> SystemFailure {
        guard self.path?.lastComponent?.isTemporary == true else { return self }
        let failure = SystemFailure(code, operation, path)
        return change.map { failure.after($0) } ?? failure
    }

    /// Returns the failure as one that occurred after a change was made.
    package func after(_ change: Change) -> SystemFailure {
        var failure = self
        failure.change = change
        return failure
    }
}

extension SystemFailure: CustomStringConvertible {
    package var description: String {
        let failure = "\(operation.phrase)\(path.map { " \($0)" } ?? ""): \(reason)"
        return switch change {
        case nil: "cannot \(failure)"
        case .wrote(let file): "wrote \(file), but could not \(failure)"
        case .removed(let file): "removed \(file), but could not \(failure)"
        }
    }

    /// The reason for the failure, without the operation and the path.
    package var reason: String {
        switch operation {
        case .readSpecial: "it is a pipe, a device or a socket"
        case .readForeignPipe: "it is a pipe of another user; pass its contents on the standard input"
        case .replacePlanted: "it belongs to another user, in a folder where everyone can create files"
        case .followPlanted: "it is a symbolic link that another user may have created"
        case .open where code == .noSuchAddress: "it is a socket or a pipe, not a file"
        case .useRecord where code == .notPermitted:
            "the record, its new files and the store must belong to one user, and nobody else may write to its folder"
        case .useRecord where code == .noSuchFile: "a new file that it names is missing"
        case .useRecord where code == .invalidArgument: "it is damaged"
        default: code.description
        }
    }
}

extension SystemFailure.Operation {
    /// The operation as a phrase that the path follows.
    fileprivate var phrase: String {
        switch self {
        case .open, .read, .write, .truncate, .lock, .rename, .exchange, .remove, .list, .watch,
            .run:
            rawValue
        case .readSpecial, .readForeignPipe: "read"
        case .replacePlanted: "replace"
        case .followPlanted: "use"
        case .useRecord: "use the record of an incomplete change of several files"
        case .synchronize: "write to disk"
        case .synchronizeFolder: "write to disk the folder"
        case .setMode: "set the permissions of"
        case .setOwner: "set the owner of"
        case .link: "create a link to"
        case .makeFolder: "create the folder"
        case .status: "get the status of"
        case .readLink: "read the symbolic link"
        case .startThread: "start a thread"
        }
    }
}

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
        unsafe strerror(rawValue).map { unsafe String(cString: $0) } ?? "error \(rawValue)"
    }
}
