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
    var method: WatchMethod { get }

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

/// A watcher that polls: frequently after a change, and less and less often while nothing changes.
package struct PollingWatcher: FolderWatcher {
    private let fileSystem: any FileSystem
    private let clock: any Clock
    private let reason: WatchMethod.Reason
    private let background: Background

    /// - Parameter background: Runs each poll, which waits for files and calls the receiver.
    package init(
        _ fileSystem: any FileSystem, _ clock: any Clock, reason: WatchMethod.Reason,
        background: @escaping Background = { $0() }
    ) {
        self.fileSystem = fileSystem
        self.clock = clock
        self.reason = reason
        self.background = background
    }

    /// The shortest and the longest time between two polls.
    package static let intervals: ClosedRange<Duration> = .milliseconds(50) ... .seconds(2)

    package func watch(
        _ folder: FilePath, _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) -> any FolderWatch {
        let watch = PollingWatch(folder, fileSystem, clock, reason, background, receive)
        watch.begin()
        return watch
    }
}

private final class PollingWatch: FolderWatch {
    let method: WatchMethod
    private let folder: FilePath
    private let fileSystem: any FileSystem
    private let clock: any Clock
    private let background: Background
    private let receive: @Sendable (FolderEvent) -> Void
    private let state = Mutex(State())

    private struct State: Sendable {
        var isCancelled = false
        /// Nil after a failed read; the next successful one is reported as `anything`.
        var snapshot: FolderSnapshot?
        var interval = PollingWatcher.intervals.lowerBound
        var wakeup: (any Wakeup)?
    }

    init(
        _ folder: FilePath, _ fileSystem: any FileSystem, _ clock: any Clock, _ reason: WatchMethod.Reason,
        _ background: @escaping Background, _ receive: @escaping @Sendable (FolderEvent) -> Void
    ) {
        self.folder = folder
        self.fileSystem = fileSystem
        self.clock = clock
        self.background = background
        self.receive = receive
        method = .polling(reason)
    }

    func begin() {
        let snapshot = readFolder()
        state.withLock { $0.snapshot = snapshot }
        wait()
    }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            return state.wakeup.take()
        }?.cancel()
    }

    deinit { cancel() }

    private func readFolder() -> FolderSnapshot? { try? FolderSnapshot(of: folder, in: fileSystem) }

    private func poll() {
        let later = readFolder()
        for event in events(until: later) {
            guard !state.withLock(\.isCancelled) else { return }
            receive(event)
        }
        wait()
    }

    /// Returns the events since the last snapshot, and sets the interval to the next one.
    private func events(until later: FolderSnapshot?) -> [FolderEvent] {
        state.withLock { state in
            let events = later.map { later in state.snapshot.map { $0.events(until: later) } ?? [.anything] } ?? []
            state.snapshot = later
            let (least, most) = (PollingWatcher.intervals.lowerBound, PollingWatcher.intervals.upperBound)
            state.interval = events.isEmpty ? min(state.interval * 8 / 5, most) : least
            return events
        }
    }

    private func wait() {
        guard let interval = state.withLock({ $0.isCancelled ? nil : $0.interval }) else { return }
        // Weak, so that a pending wakeup does not retain the watch.
        let wakeup = clock.wake(at: clock.now.advanced(by: interval)) { [weak self, background] in
            background { [weak self] in self?.poll() }
        }
        let isCancelled = state.withLock { state in
            state.wakeup = wakeup
            return state.isCancelled
        }
        if isCancelled { wakeup.cancel() }
    }
}

/// The contents of a folder at one time.
struct FolderSnapshot: Equatable, Sendable {
    /// The identity of the folder; nil if it did not exist.
    var folder: Folder?
    var files: [FileName: FileStatus] = [:]

    /// The properties of a folder. If they change, everything in it may have changed.
    struct Folder: Hashable, Sendable {
        var number: FileID
        var permissions: FilePermissions
        var owner: UInt32
    }

    init(folder: Folder? = nil, files: [FileName: FileStatus] = [:]) {
        self.folder = folder
        self.files = files
    }

    /// Reads the folder at `path`. A file that disappears in the meantime is omitted.
    init(of path: FilePath, in fileSystem: some FileSystem) throws(SystemFailure) {
        guard let folder = try fileSystem.status(of: path), folder.kind == .folder,
            let names = try fileSystem.names(in: path)
        else {
            return
        }
        self.folder = Folder(number: folder.number, permissions: folder.permissions, owner: folder.owner)
        for name in names {
            files[name] = try fileSystem.status(of: path.appending(name), followingLink: false)
        }
    }

    /// Returns the events between this snapshot and a later one, sorted by name.
    func events(until later: FolderSnapshot) -> [FolderEvent] {
        guard folder == later.folder else { return [.anything] }
        return Set(files.keys).union(later.files.keys).sorted().compactMap { name in
            Self.change(from: files[name], to: later.files[name]).map { .change($0, name) }
        }
    }

    private static func change(from former: FileStatus?, to later: FileStatus?) -> FolderChange? {
        switch (former, later) {
        case (nil, nil): nil
        case (_?, nil): .removed
        case (nil, _?): .created
        case (let former?, let later?):
            if former.number != later.number {
                // The name leads to a different file, so a file was renamed to it.
                .movedHere
            } else if former.size != later.size || former.modified != later.modified {
                .written
            } else {
                former == later ? nil : .attributes
            }
        }
    }
}
