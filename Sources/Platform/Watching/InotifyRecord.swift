#if os(Linux)
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #endif

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
                    bytes.loadUnaligned(fromByteOffset: start + offset, as: UInt32.self)
                }
                let end = start + headLength + Int(field(12))
                guard end <= bytes.count else { break }
                let name = FileName(bytes[(start + headLength)..<end].prefix { $0 != 0 })
                notifications.append(
                    InotifyRecord(watch: Int32(bitPattern: field(0)), mask: field(4), name: name))
                start = end
            }
            return notifications
        }

        private static let headLength = 16

        /// A change in the list of mounts. Not a record of the queue, so it has no flags.
        static let mountsChanged = InotifyRecord(watch: -1, mask: 0, name: nil)

        /// Whether it concerns all watches.
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
