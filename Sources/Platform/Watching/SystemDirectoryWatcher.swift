/// The watcher of this machine: the kernel's notifications where there are any, else polling.
package final class SystemDirectoryWatcher: DirectoryWatcher {
    private let fileSystem: any FileSystem
    private let clock: any Clock
    #if os(Linux)
        private let notifications: NotificationLoop?
    #endif
    private let failure: ErrorCode

    package init(_ fileSystem: any FileSystem = SystemFileSystem(), _ clock: any Clock = SystemClock()) {
        self.fileSystem = fileSystem
        self.clock = clock
        #if os(Linux)
            do throws(SystemFailure) {
                notifications = try NotificationLoop()
                failure = .unsupported
            } catch {
                notifications = nil
                failure = error.code
            }
        #else
            failure = .unsupported
        #endif
    }

    package func watch(
        _ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) -> any FolderWatch {
        #if os(Linux)
            guard let notifications else { return poll(.noWatches(failure))(folder, receive) }
            let watch = NotifiedWatch(folder, notifications, receive) { [fileSystem, clock] reason in
                PollingWatcher(fileSystem, clock, reason: reason).watch(folder, receive)
            }
            watch.begin()
            return watch
        #else
            return poll(.noWatches(failure))(folder, receive)
        #endif
    }

    private func poll(
        _ reason: WatchMeans.Reason
    ) -> (FilePath, @escaping @Sendable (FolderEvent) -> Void) -> any FolderWatch {
        PollingWatcher(fileSystem, clock, reason: reason).watch
    }
}
