internal import Synchronization

/// The watcher of this machine: the kernel's notifications where there are any, else polling.
package final class SystemDirectoryWatcher: DirectoryWatcher {
    private let fileSystem: any FileSystem
    private let clock: any Clock
    #if os(Linux)
        /// The kernel's queue, which takes a thread: made when the first folder is watched.
        private let notifications = Mutex<Result<NotificationLoop, SystemFailure>?>(nil)
    #endif

    package init(_ fileSystem: any FileSystem = SystemFileSystem(), _ clock: any Clock = SystemClock()) {
        self.fileSystem = fileSystem
        self.clock = clock
    }

    package func watch(
        _ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) -> any FolderWatch {
        #if os(Linux)
            let loop: NotificationLoop
            switch queue() {
            case .success(let queue): loop = queue
            case .failure(let failure): return poll(.noWatches(failure.code))(folder, receive)
            }
            let watch = NotifiedWatch(folder, loop, receive) { [fileSystem, clock] reason in
                PollingWatcher(fileSystem, clock, reason: reason).watch(folder, receive)
            }
            watch.begin()
            return watch
        #else
            return poll(.noWatches(.unsupported))(folder, receive)
        #endif
    }

    #if os(Linux)
        private func queue() -> Result<NotificationLoop, SystemFailure> {
            notifications.withLock { notifications in
                if let notifications { return notifications }
                let made = Result { () throws(SystemFailure) in try NotificationLoop() }
                notifications = made
                return made
            }
        }
    #endif

    private func poll(
        _ reason: WatchMeans.Reason
    ) -> (FilePath, @escaping @Sendable (FolderEvent) -> Void) -> any FolderWatch {
        PollingWatcher(fileSystem, clock, reason: reason).watch
    }
}
