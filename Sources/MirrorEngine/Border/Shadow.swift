/// What the mirror knows of a domain's preference file: the view, but for some keys.
package struct Shadow: Hashable, Sendable {
    /// The file as it was last read or written; nil is none.
    package internal(set) var file: FileIdentity?
    package internal(set) var hash: Fingerprint?
    /// The hashes of the file's former generations, the latest first.
    package internal(set) var generations: [Fingerprint] = []
    /// The keys whose value in the file is not that of the view.
    package internal(set) var exceptions: [Path: Exception] = [:]
    /// Why the file is left alone until a person decides.
    package internal(set) var held: Held?
    package internal(set) var isMirrored = true
    /// Whether the file was read since the domain takes part.
    package internal(set) var isCaptured = false
    /// Why what the file holds may not be what its user made of what the mirror knows.
    package internal(set) var suspicion: Suspicion?
    /// What the last write into the file replaced.
    package internal(set) var replaced: [Path: Replacement] = [:]

    static let mostGenerations = 64

    package init() {}

    /// A key whose value in the file is not that of the view.
    package struct Exception: Hashable, Sendable {
        /// The file's own value; nil is none.
        package let value: CanonicalValue?
        package let reason: Reason
        /// The writes that the file shows; none where that is unknown.
        package var shown: [ShownWrite] = []

        package enum Reason: UInt8, Hashable, Sendable {
            /// The file is still to be changed.
            case pending
            /// The file's format cannot hold the mirror's value.
            case format
            /// The value is beyond a limit of the mirror.
            case limit
            /// The value stays on its host.
            case home
        }
    }

    package struct Replacement: Hashable, Sendable {
        package let old: CanonicalValue?
        package let new: CanonicalValue?
    }

    package enum Suspicion: UInt8, Hashable, Sendable {
        /// The file came back from a backup.
        case fileIsOlder
        /// The mark beside the file is gone, so that the file may have come back.
        case markIsGone
        /// The mirror's own state was lost, or came back from a backup.
        case stateIsOlder
    }

    /// Has what the file's format could not hold written once more.
    mutating func retryFormats() {
        for (key, exception) in exceptions where exception.reason == .format {
            exceptions[key] = Exception(value: exception.value, reason: .pending, shown: exception.shown)
        }
    }

    /// The keys that are not the same here and on the other hosts for as long as nobody changes their values.
    package var unmirrored: [Path: Exception] {
        exceptions.filter { $0.value.reason == .format || $0.value.reason == .limit }
    }

    /// Whether the file is still to be changed.
    package var isPending: Bool { exceptions.values.contains { $0.reason == .pending } }
}

/// What tells one generation of a file from every other.
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

/// Why a domain is left alone until a person decides.
package enum Held: UInt8, Hashable, Sendable {
    case missing
    case empty
    case unreadable
    /// Over half of the keys are gone at once.
    case emptied
    /// The file is one that it was before.
    case rolledBack
}
