internal import Synchronization

/// The watcher of this machine: kernel notifications where available, otherwise polling.
package final class SystemFolderWatcher: FolderWatcher {
    /// One instance per process, because the kernel limits the number of inotify queues per user (128 by default).
    package static let ofThisProcess = SystemFolderWatcher()

    private let fileSystem: any FileSystem
    private let clock: any Clock
    #if os(Linux)
        private let loop = Mutex<InotifyLoop?>(nil)
    #endif

    package init(_ fileSystem: any FileSystem = SystemFileSystem(), _ clock: any Clock = SystemClock()) {
        self.fileSystem = fileSystem
        self.clock = clock
    }

    package func watch(
        _ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) -> any FolderWatch {
        #if os(Linux)
            do throws(SystemFailure) {
                let watch = InotifyWatch(folder, try notifications(), clock, receive) { [fileSystem, clock] reason in
                    PollingWatcher(fileSystem, clock, reason: reason).watch(folder, receive)
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
        PollingWatcher(fileSystem, clock, reason: reason).watch
    }
}
