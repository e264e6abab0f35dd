// Unsafe: the kernel fills a buffer, and every record is checked to end inside it.

#if os(Linux)
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif
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
        private let background: Background
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
            _ folder: FilePath, _ loop: InotifyLoop, _ clock: any Clock, _ background: @escaping Background,
            _ receive: @escaping @Sendable (FolderEvent) -> Void,
            poll: @escaping @Sendable (WatchMethod.Reason) -> any FolderWatch
        ) {
            self.folder = folder
            self.loop = loop
            self.clock = clock
            self.background = background
            self.receive = receive
            self.poll = poll
        }

        var method: WatchMethod { state.withLock { $0.substitute.map { .polling($0.reason) } ?? .notification } }

        func begin() {
            _ = settle()
            checkLater()
        }

        private func checkLater() {
            _ = clock.wake(at: clock.now.advanced(by: Self.interval)) { [weak self, background] in
                background { [weak self] in self?.checkPath() }
            }
        }

        private func checkPath() {
            // A polling substitute does its own checks.
            guard let place = state.withLock(\.place) else { return }
            if Self.number(of: place.path) != place.number, settle() { receive(.anything) }
            checkLater()
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

        /// Listens to the folder or its nearest existing ancestor. Returns true if this place differs from the previous
        /// one.
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

    /// The inotify queue, and the thread that reads it.
    ///
    /// The thread sleeps while nothing happens, and ends when the loop is released. The queue does not report a file
    /// system mounted over a folder, so the thread also waits for changes in the list of mounts.
    final class InotifyLoop: Sendable {
        /// A callback for the changes in one folder.
        typealias Listener = @Sendable (InotifyRecord) -> Void

        private let queue: Descriptor
        /// The write end of a pipe; closing it ends the thread.
        private let stop: Descriptor
        private let listeners: Mutex<Listeners>

        private struct Listeners: Sendable {
            var of: [Int32: [UInt64: Listener]] = [:]
            var last: UInt64 = 0
        }

        /// One listener for one folder.
        struct Registration: Hashable, Sendable {
            fileprivate let watch: Int32
            fileprivate let number: UInt64

            /// Returns whether both are for the same folder, even by different paths.
            func isSameFolder(as other: Registration) -> Bool { watch == other.watch }
        }

        init() throws(SystemFailure) {
            let queue = Descriptor(try systemCall(.watch, nil) { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
            var ends: [Int32] = [0, 0]
            _ = try systemCall(.watch, nil) { unsafe makePipe(&ends, O_CLOEXEC) }
            let isStopped = Descriptor(ends[0])
            stop = Descriptor(ends[1])
            self.queue = queue
            listeners = Mutex(Listeners())
            let mounts = Self.listOfMounts()
            try startThread { [weak self] in
                while let cause = Self.waitForEvents(queue, isStopped, mounts) {
                    guard let loop = self else { return }
                    if cause.contains(.queue) { loop.read() }
                    if cause.contains(.mounts) { loop.notifyListeners(.mountsChanged) }
                }
            }
        }

        /// The reason the thread woke up.
        private struct Cause: OptionSet {
            let rawValue: Int
            static let queue = Cause(rawValue: 1)
            static let mounts = Cause(rawValue: 2)
        }

        /// Opens the kernel's list of mounts, which can be polled for changes; nil if it is not accessible.
        private static func listOfMounts() -> Descriptor? {
            let number = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
            return number == -1 ? nil : Descriptor(number)
        }

        /// Starts listening to a folder, following symbolic links. Throws if the path is not a folder.
        func listen(_ folder: FilePath, _ listener: @escaping Listener) throws(SystemFailure) -> Registration {
            // The lock ensures that no event of a new watch is read before its listener is registered.
            let result = listeners.withLock { listeners in
                Result { () throws(SystemFailure) in
                    let watch = try systemCall(.watch, folder) {
                        folder.withCString { unsafe inotify_add_watch(queue.number, $0, InotifyRecord.wanted) }
                    }
                    listeners.last += 1
                    listeners.of[watch, default: [:]][listeners.last] = listener
                    return Registration(watch: watch, number: listeners.last)
                }
            }
            return try result.get()
        }

        func end(_ registration: Registration) {
            listeners.withLock { listeners in
                listeners.of[registration.watch]?[registration.number] = nil
                guard listeners.of[registration.watch]?.isEmpty == true else { return }
                listeners.of[registration.watch] = nil
                // This fails if the folder is gone, which has already removed the watch.
                inotify_rm_watch(queue.number, registration.watch)
            }
        }

        /// Waits for an event; returns nil once the loop is released.
        private static func waitForEvents(_ queue: Descriptor, _ isStopped: Descriptor, _ mounts: Descriptor?) -> Cause?
        {
            // `poll` ignores negative descriptors. The list of mounts is always readable; POLLPRI signals a change.
            var polled = [
                pollfd(fd: queue.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isStopped.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: mounts?.number ?? -1, events: Int16(POLLPRI), revents: 0),
            ]
            let result: Result<Int32, SystemFailure> = Result { () throws(SystemFailure) in
                try systemCall(.watch, nil) { unsafe poll(&polled, nfds_t(polled.count), -1) }
            }
            guard case .success = result, polled[1].revents == 0 else { return nil }
            var cause: Cause = []
            if polled[0].revents != 0 { cause.insert(.queue) }
            if polled[2].revents != 0 { cause.insert(.mounts) }
            return cause
        }

        private func read() {
            var buffer = [UInt64](repeating: 0, count: 8192)
            let notifications = unsafe buffer.withUnsafeMutableBytes { buffer in
                let count = unsafe readBytes(queue.number, buffer.baseAddress, buffer.count)
                return unsafe count > 0 ? InotifyRecord.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) : []
            }
            for notification in notifications { notifyListeners(notification) }
        }

        private func notifyListeners(_ notification: InotifyRecord) {
            for listener in listening(to: notification) { listener(notification) }
        }

        /// Returns the listeners for a notification, in order of registration.
        private func listening(to notification: InotifyRecord) -> [Listener] {
            listeners.withLock { listeners in
                let concerned: [[UInt64: Listener]] =
                    notification.isForAll
                    ? Array(listeners.of.values) : listeners.of[notification.watch].map { [$0] } ?? []
                if notification.endsWatch { listeners.of[notification.watch] = nil }
                return concerned.flatMap { $0 }.sorted { $0.key < $1.key }.map(\.value)
            }
        }
    }

    /// `pipe2`, which Swift's module of the C library omits.
    @_silgen_name("pipe2")
    private func makePipe(_ ends: UnsafeMutablePointer<Int32>, _ flags: Int32) -> Int32

    /// `read(2)`, which the method `read` shadows inside the class.
    private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
        unsafe read(descriptor, buffer, count)
    }

    /// A record of the inotify queue.
    ///
    ///     01 00 00 00  80 00 00 00  07 00 00 00  10 00 00 00  61 2e 70 6c 69 73 74 00 …
    ///     watch 1      moved here   cookie       16 bytes     the name, padded with NULs
    struct InotifyRecord: Equatable, Sendable {
        var watch: Int32
        var mask: UInt32
        var name: FileName?

        static let wanted = UInt32(
            IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF
                | IN_MOVE_SELF | IN_ONLYDIR)

        /// Parses the records that were read from the queue.
        static func all(in bytes: UnsafeRawBufferPointer) -> [InotifyRecord] {
            var notifications: [InotifyRecord] = []
            var start = 0
            while start + headLength <= bytes.count {
                func field(_ offset: Int) -> UInt32 {
                    unsafe bytes.loadUnaligned(fromByteOffset: start + offset, as: UInt32.self)
                }
                let end = start + headLength + Int(field(12))
                guard end <= bytes.count else { break }
                let name = unsafe FileName(bytes[(start + headLength)..<end].prefix { $0 != 0 })
                notifications.append(
                    InotifyRecord(watch: Int32(bitPattern: field(0)), mask: field(4), name: name))
                start = end
            }
            return notifications
        }

        private static let headLength = 16

        /// A change in the list of mounts. Not a record of the queue, so it has no flags.
        static let mountsChanged = InotifyRecord(watch: -1, mask: 0, name: nil)

        /// Whether the record concerns all watches.
        var isForAll: Bool { isOverflow || self == .mountsChanged }

        /// Whether the queue overflowed, so that events of any watch may be lost.
        var isOverflow: Bool { has(IN_Q_OVERFLOW) }

        /// Whether this is the last record for the watch.
        var endsWatch: Bool { has(IN_IGNORED) }

        /// Whether the folder's path may no longer lead to it.
        var concernsFolderItself: Bool {
            has(IN_IGNORED) || has(IN_UNMOUNT) || has(IN_DELETE_SELF) || has(IN_MOVE_SELF)
        }

        /// The event to report to the watchers of the folder; nil for none.
        var event: FolderEvent? {
            if isOverflow || concernsFolderItself { return .anything }
            guard let name else { return has(IN_ATTRIB) ? .anything : nil }
            return change.map { .change($0, name) }
        }

        private var change: FolderChange? {
            if has(IN_MOVED_TO) { return .movedHere }
            if has(IN_CREATE) { return .created }
            if has(IN_CLOSE_WRITE) { return .written }
            if has(IN_MOVED_FROM) || has(IN_DELETE) { return .removed }
            return has(IN_ATTRIB) ? .attributes : nil
        }

        private func has(_ flag: some BinaryInteger) -> Bool { mask & UInt32(truncatingIfNeeded: flag) != 0 }
    }
#endif
