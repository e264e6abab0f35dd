/// A failure of the operating system: the operation, the path and the error code.
package struct SystemFailure: Error, Hashable, Sendable {
    package enum Operation: String, Hashable, Sendable, CaseIterable {
        case open, read, write, truncate
        /// Reading a pipe, a device or a socket as if it were a file.
        case readSpecial
        case synchronize, synchronizeFolder
        case lock
        case setMode, setOwner
        case rename, exchange, link, remove
        /// Replacing a file that another user has put in a folder where anyone can create files.
        case replacePlanted
        /// Using a symbolic link in another user's store as a folder of the store.
        case followPlanted
        case list, makeFolder, status, readLink
        case watch, startThread, run
    }

    package let code: ErrorCode
    package let operation: Operation
    /// The file concerned; nil for a stream of the process, or if there is none.
    package let path: FilePath?

    package init(_ code: ErrorCode, _ operation: Operation, _ path: FilePath?) {
        self.code = code
        self.operation = operation
        self.path = path
    }
}

extension SystemFailure {
    /// Returns the failure with `path` in place of the name of a temporary file, which would mean nothing to the user.
    package func naming(_ path: FilePath) -> SystemFailure {
        self.path?.lastComponent?.isTemporary == true ? SystemFailure(code, operation, path) : self
    }
}

extension SystemFailure: CustomStringConvertible {
    package var description: String {
        let reason =
            switch operation {
            case .readSpecial: "it is a pipe, a device or a socket"
            case .replacePlanted: "it belongs to another user, in a folder where everyone can create files"
            case .followPlanted: "it is a symbolic link in another user's store"
            default: code.description
            }
        return "cannot \(operation.phrase)\(path.map { " \($0)" } ?? ""): \(reason)"
    }
}

extension SystemFailure.Operation {
    /// The operation as a phrase that the path follows.
    fileprivate var phrase: String {
        switch self {
        case .open, .read, .write, .truncate, .lock, .rename, .exchange, .remove, .list, .watch,
            .run:
            rawValue
        case .readSpecial: "read"
        case .replacePlanted: "replace"
        case .followPlanted: "use"
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
