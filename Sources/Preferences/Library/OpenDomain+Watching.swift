internal import Platform
internal import PropertyLists
internal import Synchronization

/// The observers and watches of an open domain.
struct WatchState: Sendable {
    var observers: [Int: @Sendable () -> Void] = [:]
    var last = 0
    var watches: [any FolderWatch] = []
    /// Whether the kernel reports changes, so that the file need not be checked.
    var isNotified = false
    /// The version of which observers were notified.
    var notifiedVersion: UInt64 = 0
    /// The number of times that a check was postponed because of a transaction in progress.
    var postponements = 0
}

extension OpenDomain {
    /// Calls `observer` after each change by any process. Returns an identifier for `removeObserver`.
    func addObserver(_ observer: @escaping @Sendable () -> Void) -> Int {
        let (number, isFirst) = state.withLock { state in
            state.watch.last += 1
            state.watch.observers[state.watch.last] = observer
            return (state.watch.last, state.watch.observers.count == 1)
        }
        if isFirst { startWatching() }
        return number
    }

    func removeObserver(_ number: Int) {
        let ended = state.withLock { state -> [any FolderWatch] in
            state.watch.observers[number] = nil
            guard state.watch.observers.isEmpty else { return [] }
            defer { state.watch.watches = [] }
            state.watch.isNotified = false
            return state.watch.watches
        }
        for watch in ended { watch.cancel() }
    }

    /// Notifies observers if there is a change since the last time.
    func notifyObservers() {
        let observers = state.withLock { state -> [@Sendable () -> Void] in
            guard state.watch.notifiedVersion != state.changes.version else { return [] }
            state.watch.notifiedVersion = state.changes.version
            return Array(state.watch.observers.values)
        }
        for observer in observers { observer() }
    }

    private func startWatching() {
        guard let file else { return }
        let target = (try? file.path.followingLinks(in: system.fileSystem)) ?? file.path
        var folders = [file.path.parent]
        // The target of a link is replaced in its own folder.
        if target.parent != file.path.parent { folders.append(target.parent) }
        var watches = folders.map { folder in
            system.watcher.watch(folder) { [weak self] event in self?.receive(event, target) }
        }
        if let folder = file.folder, let place = try? file.folderPlace(on: system), place.kind == .folder {
            folders.append(folder)
            watches.append(
                system.watcher.watch(folder) { [weak self] event in
                    if case .change(_, let name) = event, name.isTemporary { return }
                    guard let self, !isPostponed(file) else { return }
                    checkAndNotify()
                })
        }
        state.withLock { state in
            state.watch.watches = watches
            // A link can be changed to another target, so its path is checked too.
            state.watch.isNotified = folders.count == 1 && watches.allSatisfy { $0.method == .notification }
        }
        // Reads changes from before the watch began.
        checkFile(isExact: true)
    }

    private func receive(_ event: FolderEvent, _ target: FilePath) {
        guard let file else { return }
        switch event {
        case .change(_, let name):
            guard
                name == file.path.lastComponent || name == target.lastComponent
                    || name == file.transactions?.lastComponent || name == file.folder?.lastComponent
            else { return }
            // A new folder is not watched yet.
            if name == file.folder?.lastComponent, state.withLock({ !$0.watch.observers.isEmpty }) { startWatching() }
        case .anything: break
        }
        // A new or changed link has a target that is not watched yet.
        let currentTarget = (try? file.path.followingLinks(in: system.fileSystem)) ?? file.path
        if currentTarget != target, state.withLock({ !$0.watch.observers.isEmpty }) { startWatching() }
        if !isPostponed(file) { checkAndNotify() }
    }

    /// Checks the file, and notifies observers of a change.
    private func checkAndNotify() {
        checkFile(isExact: true)
        notifyObservers()
    }

    /// Whether a transaction is replacing several files, of which only some are complete. Then the check is postponed.
    private func isPostponed(_ file: DomainFile) -> Bool {
        guard let folder = file.transactions, (try? system.fileSystem.status(of: folder)) != nil else {
            state.withLock { $0.watch.postponements = 0 }
            return false
        }
        let isTooMany = state.withLock { state in
            state.watch.postponements += 1
            return state.watch.postponements > 50
        }
        if isTooMany { return false }
        _ = system.clock.wake(at: system.clock.now.advanced(by: .milliseconds(4))) { [weak self] in
            guard let self, !isPostponed(file) else { return }
            system.background { [weak self] in self?.checkAndNotify() }
        }
        return true
    }
}
