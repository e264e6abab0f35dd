/// Tells what happens in folders: a real watcher, or one that tests direct.
///
/// What it tells are hints. Some file systems tell nothing of what other machines do, and a queue that overflows loses
/// all that was in it, so whoever needs the truth looks at the files.
package protocol FolderWatcher: Sendable {
    /// Calls `receive` after each change in `folder`, which need not exist yet, until the result is cancelled or let
    /// go.
    ///
    /// Calls for one watch come one after the other, on a thread of the watcher's. What changes after this has returned
    /// is told; so look at the folder after, not before.
    func watch(_ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void) -> any FolderWatch
}

/// Something that happened in a watched folder.
package enum FolderEvent: Hashable, Sendable {
    case change(FolderChange, FileName)
    /// Anything may have happened: the folder came, went or was replaced, or events were lost. Look at all of it.
    case anything
}

/// What happened to a name.
package enum FolderChange: Hashable, Sendable {
    /// A file was renamed to it: it is whole.
    case movedHere
    /// Something new stands there, perhaps still being written.
    case created
    /// The file was written to and closed.
    case written
    /// Permissions, owner, times or the number of names are others.
    case attributes
    /// The name is gone.
    case removed
}

/// A watch that goes on as long as it is held.
package protocol FolderWatch: AnyObject, Sendable {
    /// How the watch learns of changes now.
    var means: WatchMeans { get }

    /// Ends the watch. One call that has begun may still be going on when this returns.
    func cancel()
}

/// How a watch learns of changes.
package enum WatchMeans: Hashable, Sendable {
    /// The kernel tells; nothing runs as long as nothing happens.
    case notification
    /// The folder is looked at again and again, for the reason given.
    case polling(Reason)

    package enum Reason: Hashable, Sendable {
        /// The file system lies on another machine, whose changes the kernel does not tell.
        case remoteFileSystem
        /// The system has no more watches to give, or none at all.
        case noWatches(ErrorCode)
        /// It was asked for.
        case chosen
    }
}
