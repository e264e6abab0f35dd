/// The state of a domain's preference file in the mirror: the file has the values of the view, except for some keys.
package struct TrackedFile: Hashable, Sendable {
    /// The file as it was last read or written, or nil if there was none.
    package internal(set) var file: FileIdentity?
    package internal(set) var hash: ContentHash?
    /// The hashes of the file's former generations, latest first.
    package internal(set) var generations: [ContentHash] = []
    /// The keys whose value in the file differs from the view.
    package internal(set) var exceptions: [Path: Exception] = [:]
    /// The reason the file is left alone until a user decides.
    package internal(set) var held: HoldReason?
    package internal(set) var isMirrored = true
    /// Whether the file was read since the domain began to be mirrored.
    package internal(set) var isCaptured = false
    /// The reason that changes in the file may not be edits by its user.
    package internal(set) var suspicion: Suspicion?
    /// The changes made by the last write into the file.
    package internal(set) var replaced: [Path: Replacement] = [:]
    /// The changes of a write that a crash may have prevented. The file has not been captured since.
    package internal(set) var interrupted: [Path: Replacement] = [:]

    static let mostGenerations = 64

    package init() {}

    /// A key whose value in the file differs from the view.
    package struct Exception: Hashable, Sendable {
        /// The value in the file, or nil if there is none.
        package let value: CanonicalValue?
        package let reason: Reason
        /// The writes that the file shows, or none if that is unknown.
        package var shown: [VisibleWrite] = []

        package enum Reason: UInt8, Hashable, Sendable {
            /// The file must still be changed.
            case pending
            /// The format of the file cannot hold the mirror's value.
            case format
            /// The value exceeds a limit of the mirror.
            case limit
            /// The value stays on its host.
            case local
        }
    }

    package struct Replacement: Hashable, Sendable {
        package let old: CanonicalValue?
        package let new: CanonicalValue?
    }

    package enum Suspicion: UInt8, Hashable, Sendable {
        /// The file came back from a backup.
        case fileIsOlder
        /// The mark beside the file is gone, so the file may have come back from a backup.
        case markIsGone
        /// The state of the mirror was lost, or came back from a backup.
        case stateIsOlder
    }

    /// Makes the next write try again the values that the format of the file could not hold.
    mutating func retryFormats() {
        for (key, exception) in exceptions where exception.reason == .format {
            exceptions[key] = Exception(value: exception.value, reason: .pending, shown: exception.shown)
        }
    }

    /// The keys that differ between this host and the others until their values change.
    package var unmirrored: [Path: Exception] {
        exceptions.filter { $0.value.reason == .format || $0.value.reason == .limit }
    }

    /// Whether the file must still be changed.
    package var isPending: Bool { exceptions.values.contains { $0.reason == .pending } }
}

/// The attributes that distinguish one generation of a file from all others.
package struct FileIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64
    package let size: Int64
    package let modified: Int64
    package let changed: Int64

    package init(device: UInt64, inode: UInt64, size: Int64, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}

/// The reason a domain is left alone until a user decides.
package enum HoldReason: UInt8, Hashable, Sendable {
    case missing
    case empty
    case unreadable
    /// More than half of the keys are gone at once.
    case emptied
    /// The file has the contents of a former generation.
    case rolledBack
    /// The mirror has settings of a later version than this host supports.
    case newerVersion
}
