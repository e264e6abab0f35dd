#if os(Linux)
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif
    internal import Synchronization

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
            _ = try systemCall(.watch, nil) { makePipe(&ends, O_CLOEXEC) }
            let isStopped = Descriptor(ends[0])
            stop = Descriptor(ends[1])
            self.queue = queue
            listeners = Mutex(Listeners())
            let mounts = Self.listOfMounts()
            try startThread { [weak self] in
                while let cause = Self.waitForEvents(queue, isStopped, mounts) {
                    guard let loop = self else { return }
                    if cause.contains(.queue) { loop.read() }
                    if cause.contains(.mounts) { loop.tell(.mountsChanged) }
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
            let number = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
            return number == -1 ? nil : Descriptor(number)
        }

        /// Starts listening to a folder, following symbolic links. Throws if the path is not a folder.
        func listen(_ folder: FilePath, _ listener: @escaping Listener) throws(SystemFailure) -> Registration {
            // The lock ensures that no event of a new watch is read before its listener is registered.
            let result = listeners.withLock { listeners in
                Result { () throws(SystemFailure) in
                    let watch = try systemCall(.watch, folder) {
                        folder.withCString { inotify_add_watch(queue.number, $0, InotifyRecord.wanted) }
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
                try systemCall(.watch, nil) { poll(&polled, nfds_t(polled.count), -1) }
            }
            guard case .success = result, polled[1].revents == 0 else { return nil }
            var cause: Cause = []
            if polled[0].revents != 0 { cause.insert(.queue) }
            if polled[2].revents != 0 { cause.insert(.mounts) }
            return cause
        }

        private func read() {
            var buffer = [UInt64](repeating: 0, count: 8192)
            let notifications = buffer.withUnsafeMutableBytes { buffer in
                let count = readBytes(queue.number, buffer.baseAddress, buffer.count)
                return count > 0 ? InotifyRecord.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) : []
            }
            for notification in notifications { tell(notification) }
        }

        private func tell(_ notification: InotifyRecord) {
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
        read(descriptor, buffer, count)
    }
#endif
