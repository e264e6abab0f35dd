internal import Platform
internal import Synchronization

/// A watcher that is made once somebody watches: a real one starts a thread, which most verbs end too soon to use.
final class WatcherOnDemand: DirectoryWatcher {
    private let make: @Sendable () -> any DirectoryWatcher
    private let made = Mutex<(any DirectoryWatcher)?>(nil)

    init(_ make: @escaping @Sendable () -> any DirectoryWatcher) { self.make = make }

    func watch(_ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void) -> any FolderWatch {
        let watcher = made.withLock { made in
            if let made { return made }
            let new = make()
            made = new
            return new
        }
        return watcher.watch(folder, receive)
    }
}
