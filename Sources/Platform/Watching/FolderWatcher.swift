/// Notifies of changes in folders: a real watcher, or a simulated one.
///
/// Events are only hints. Some file systems report nothing about changes by other machines, and a queue that overflows
/// loses all its events. A caller that needs the actual state must read the files.
package protocol FolderWatcher: Sendable {
    /// Calls `receive` after each change in `folder`, which need not exist yet, until the returned watch is cancelled
    /// or released.
    ///
    /// Calls for one watch are serial, on a thread of the watcher. Changes after this returns are reported, so read the
    /// folder after this call, not before.
    func watch(_ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void) -> any FolderWatch
}

package enum FolderEvent: Hashable, Sendable {
    case change(FolderChange, FileName)
    /// Anything may have changed: the folder was created, removed or replaced, or events were lost. Read the whole
    /// folder.
    case anything
}

/// A change to a name in a folder.
package enum FolderChange: Hashable, Sendable {
    /// A file was renamed to it, so it is complete.
    case movedHere
    /// A new file exists, which may still be being written.
    case created
    /// The file was written and closed.
    case written
    /// Permissions, owner, times or the number of links have changed.
    case attributes
    /// The name was removed.
    case removed
}

/// A watch that continues as long as it is referenced.
package protocol FolderWatch: AnyObject, Sendable {
    /// The current source of events.
    var means: WatchMethod { get }

    /// Ends the watch. A callback that has started may still be running when this returns.
    func cancel()
}

/// The source of a watch's events.
package enum WatchMethod: Hashable, Sendable {
    /// Notifications of the kernel, which cost nothing while nothing changes.
    case notification
    /// Reading the folder repeatedly, for the given reason.
    case polling(Reason)

    package enum Reason: Hashable, Sendable {
        /// The file system is on another machine, and the kernel does not report changes by others.
        case remoteFileSystem
        /// The system has no more watches, or does not support them.
        case noWatches(ErrorCode)
        /// The caller requested polling.
        case chosen
    }
}
