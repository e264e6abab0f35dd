internal import Synchronization

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
    let means: WatchMethod
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
        means = .polling(reason)
    }

    func begin() {
        let snapshot = look()
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

    private func look() -> FolderSnapshot? { try? FolderSnapshot(of: folder, in: fileSystem) }

    private func poll() {
        let later = look()
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
        // Weak, so that a pending wakeup does not keep the watch alive.
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
