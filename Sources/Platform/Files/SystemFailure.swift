/// What the operating system refused: the operation, the place and its reason.
package struct SystemFailure: Error, Hashable, Sendable {
    /// What was asked of the system.
    package enum Operation: String, Hashable, Sendable, CaseIterable {
        case open, read, write, truncate
        /// Reading as a file what is a pipe, a device or a socket.
        case readSpecial
        case synchronize, synchronizeFolder
        case lock
        case setMode, setOwner
        case rename, exchange, link, remove
        /// Replacing what another user has put into a folder where anybody may make files.
        case replacePlanted
        case list, makeFolder, status, readLink
        case watch, startThread, run
    }

    package let code: ErrorCode
    package let operation: Operation
    /// The file that it was about; nil for a stream of the process or for none.
    package let path: FilePath?

    package init(_ code: ErrorCode, _ operation: Operation, _ path: FilePath?) {
        self.code = code
        self.operation = operation
        self.path = path
    }
}

extension SystemFailure {
    /// The failure, naming `path` where it is about a file that was to take its place: that name tells nobody anything.
    package func naming(_ path: FilePath) -> SystemFailure {
        self.path?.lastComponent?.isTemporary == true ? SystemFailure(code, operation, path) : self
    }
}

extension SystemFailure: CustomStringConvertible {
    package var description: String {
        let reason =
            switch operation {
            case .readSpecial: "it is a pipe, a device or a socket"
            case .replacePlanted: "it belongs to another user, in a folder where everyone can make files"
            default: code.description
            }
        return "cannot \(operation.phrase)\(path.map { " \($0)" } ?? ""): \(reason)"
    }
}

extension SystemFailure.Operation {
    /// The operation in words that a path can follow.
    fileprivate var phrase: String {
        switch self {
        case .open, .read, .write, .truncate, .lock, .rename, .exchange, .remove, .list, .watch,
            .run:
            rawValue
        case .readSpecial: "read"
        case .replacePlanted: "replace"
        case .synchronize: "write to the disk"
        case .synchronizeFolder: "write to the disk the folder"
        case .setMode: "set the permissions of"
        case .setOwner: "set the owner of"
        case .link: "make another name for"
        case .makeFolder: "make the folder"
        case .status: "look at"
        case .readLink: "read the symbolic link"
        case .startThread: "start a thread"
        }
    }
}
