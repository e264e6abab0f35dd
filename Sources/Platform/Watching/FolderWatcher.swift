internal import Synchronization

/// Reports changes in folders: a real watcher, or a simulated one.
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
    /// A file was renamed to this name, so its contents are complete.
    case movedHere
    /// A new file was created. Its contents may be incomplete.
    case created
    /// The file was written and closed.
    case written
    /// The permissions, owner, times or number of links were changed.
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
    }
}

/// The watcher of this machine: kernel notifications where available, otherwise polling.
package final class SystemFolderWatcher: FolderWatcher {
    /// One instance per process, because the kernel limits the number of inotify queues per user (128 by default).
    package static let ofThisProcess = SystemFolderWatcher()

    private let fileSystem: any FileSystem
    private let clock: any Clock
    private let background: Background
    #if os(Linux)
        private let loop = Mutex<InotifyLoop?>(nil)
    #endif

    package init(
        _ fileSystem: any FileSystem = SystemFileSystem(), _ clock: any Clock = SystemClock(),
        background: @escaping Background = { runOnNewThread($0) }
    ) {
        self.fileSystem = fileSystem
        self.clock = clock
        self.background = background
    }

    package func watch(
        _ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) -> any FolderWatch {
        #if os(Linux)
            do throws(SystemFailure) {
                let watch = InotifyWatch(folder, try notifications(), clock, background, receive) { [self] reason in
                    poll(reason)(folder, receive)
                }
                watch.begin()
                return watch
            } catch {
                return poll(.noWatches(error.code))(folder, receive)
            }
        #else
            return poll(.noWatches(.unsupported))(folder, receive)
        #endif
    }

    #if os(Linux)
        /// Returns the queue and its thread, which are created with the first watch.
        private func notifications() throws(SystemFailure) -> InotifyLoop {
            let result = loop.withLock { held in
                Result { () throws(SystemFailure) in
                    if let loop = held { return loop }
                    let loop = try InotifyLoop()
                    held = loop
                    return loop
                }
            }
            return try result.get()
        }
    #endif

    private func poll(
        _ reason: WatchMethod.Reason
    ) -> (FilePath, @escaping @Sendable (FolderEvent) -> Void) -> any FolderWatch {
        PollingWatcher(fileSystem, clock, reason: reason, background: background).watch
    }
}
