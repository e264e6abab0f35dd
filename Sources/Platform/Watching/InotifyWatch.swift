#if os(Linux)
    internal import Synchronization

    /// A watch of a path, which follows the path when the folder there is created or replaced.
    ///
    /// While the folder does not exist, this listens to its nearest existing ancestor. If the path leads to a different
    /// folder because an ancestor was renamed or a link was changed, the kernel reports no event; so the path is also
    /// checked every few seconds.
    final class InotifyWatch: FolderWatch {
        private let folder: FilePath
        private let loop: InotifyLoop
        private let clock: any Clock
        private let receive: @Sendable (FolderEvent) -> Void
        private let poll: @Sendable (WatchMethod.Reason) -> any FolderWatch
        private let state = Mutex(State())

        private struct State: Sendable {
            var isCancelled = false
            var place: Place?
            /// The number of the current place, used to ignore events of earlier ones.
            var turn = 0
            /// The polling watch that replaces notifications where they are not available.
            var substitute: (watch: any FolderWatch, reason: WatchMethod.Reason)?
        }

        /// The folder that the watch currently listens to.
        private struct Place: Sendable {
            var path: FilePath
            var registration: InotifyLoop.Registration
            /// The identity of the folder.
            var number: FileID?
        }

        private static let interval: Duration = .seconds(3)

        init(
            _ folder: FilePath, _ loop: InotifyLoop, _ clock: any Clock,
            _ receive: @escaping @Sendable (FolderEvent) -> Void,
            poll: @escaping @Sendable (WatchMethod.Reason) -> any FolderWatch
        ) {
            self.folder = folder
            self.loop = loop
            self.clock = clock
            self.receive = receive
            self.poll = poll
        }

        var means: WatchMethod { state.withLock { $0.substitute.map { .polling($0.reason) } ?? .notification } }

        func begin() {
            _ = settle()
            lookLater()
        }

        private func lookLater() {
            _ = clock.wake(at: clock.now.advanced(by: Self.interval)) { [weak self] in
                // A polling substitute does its own checks.
                guard let self, let place = state.withLock(\.place) else { return }
                if Self.number(of: place.path) != place.number, settle() { receive(.anything) }
                lookLater()
            }
        }

        private static func number(of path: FilePath) -> FileID? {
            (try? SystemFileSystem().status(of: path))?.number
        }

        func cancel() {
            let (place, substitute) = state.withLock { state in
                state.isCancelled = true
                return (state.place.take(), state.substitute.take())
            }
            if let place { loop.end(place.registration) }
            substitute?.watch.cancel()
        }

        deinit { cancel() }

        /// Listens to the folder or its nearest existing ancestor. Returns true if that is a different place than
        /// before.
        private func settle() -> Bool {
            guard !isRemote(folder) else { return substitute(.remoteFileSystem) }
            while true {
                do throws(SystemFailure) {
                    guard let (path, registration, turn) = try listen() else { return false }
                    let former = take(
                        Place(path: path, registration: registration, number: Self.number(of: path)), turn)
                    // A folder created in between was not reported by its parent.
                    if path != folder, try exists(below: path) { continue }
                    return former?.path != path || former?.registration.isSameFolder(as: registration) != true
                } catch {
                    return substitute(.noWatches(error.code))
                }
            }
        }

        private func listen() throws(SystemFailure) -> (FilePath, InotifyLoop.Registration, Int)? {
            guard let turn = nextTurn() else { return nil }
            var path = folder
            while true {
                do {
                    let registration = try loop.listen(path) { [weak self] in self?.handle($0, turn) }
                    return (path, registration, turn)
                } catch  where error.code.meansNoFolder && path.parent != path {
                    path = path.parent
                }
            }
        }

        private func nextTurn() -> Int? {
            state.withLock { state in
                state.turn += 1
                return state.isCancelled ? nil : state.turn
            }
        }

        /// Sets a new place, stops listening to the previous one and returns it.
        private func take(_ place: Place, _ turn: Int) -> Place? {
            let (former, isWanted) = state.withLock { state in
                guard !state.isCancelled, state.turn == turn else { return (state.place, false) }
                defer { state.place = place }
                return (state.place, true)
            }
            if !isWanted { loop.end(place.registration) } else if let former { loop.end(former.registration) }
            return former
        }

        /// Returns whether the next folder between `path` and the watched folder exists.
        private func exists(below path: FilePath) throws(SystemFailure) -> Bool {
            var next = folder
            while next.parent != path, next.parent != next { next = next.parent }
            return try SystemFileSystem().status(of: next)?.kind == .folder
        }

        private func substitute(_ reason: WatchMethod.Reason) -> Bool {
            let watch = poll(reason)
            let (place, isCancelled) = state.withLock { state in
                state.substitute = (watch, reason)
                return (state.place.take(), state.isCancelled)
            }
            if let place { loop.end(place.registration) }
            if isCancelled { watch.cancel() }
            return true
        }

        private func handle(_ notification: InotifyRecord, _ turn: Int) {
            let place = state.withLock { state in
                !state.isCancelled && state.turn == turn ? state.place?.path : nil
            }
            guard let place else { return }
            if notification == .mountsChanged {
                if settle() { receive(.anything) }
            } else if place == folder, !notification.concernsFolderItself {
                if let event = notification.event { receive(event) }
            } else if settle() || notification.isOverflow || place == folder {
                receive(.anything)
            }
        }
    }

    extension ErrorCode {
        fileprivate var meansNoFolder: Bool { self == .noSuchFile || self == .notAFolder }
    }
#endif
