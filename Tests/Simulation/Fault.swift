/// What goes wrong in a run. It is counted, so that a suite in which something never happened can say so.
package enum Fault: CaseIterable, Hashable, Sendable {
    // Delivery of files.
    case late, partial, slow, duplicate, returned, deletedFirst, stray, spoilt, staleListing
    // Media that refuse or lose files.
    case noSpace, noPermission, inputOutput, refusedRemoval, unsynced, forgotten
    // A writer's folder without room for the next log.
    case fullFolder
    // The whole directory.
    case unavailable, emptyMountPoint, swapped, split, directoryRolledBack, halfRestored, wiped
    // Hosts and their states.
    case crash, tornRecord, clone, rollback, reincarnation, joiner, yearAway
    // Clocks.
    case skew, leap, standingClock, backwardClock, year1970, year2106
    // Preference files and domains.
    case foreignSave, fileRolledBack, domainRemoved, withoutSchema
    // Restored backups and lost states.
    case configurationRestored, machineRestored, stateLost
    // A format that cannot hold a value.
    case unheldValue
    // Mixed versions.
    case newVersion
}

/// What the shared directory of a run is on, and so what it does to files.
package enum Medium: CaseIterable, Hashable, Sendable {
    /// A folder of one machine, or of a file server that never fails.
    case posix
    /// The same, but power goes: what was not synchronized yet is gone, though others may have seen it.
    case posixCrash
    /// Names are cached: what is there is not seen yet, and what is gone still is, until it is opened.
    case nfs
    /// Removing and replacing fails while somebody has the file open.
    case smb
    /// Nothing is ever known to be on the server's disk: what was acknowledged can be gone.
    case sftp
    /// Each host has a copy of its own, which a service brings up to date sooner or later.
    case cloud
    /// A stick, which is with one host at a time, and is pulled out without a warning.
    case usb

    /// How many seconds it takes until another host sees a change.
    var delays: [Int64] {
        switch self {
        case .posix, .posixCrash, .usb: [0]
        case .nfs: [0, 0, 3, 30, 60]
        case .smb: [0, 0, 1, 10]
        case .sftp: [0, 1, 20]
        case .cloud: [0, 1, 3, 10, 40, 120]
        }
    }

    /// What another host may find of a file before all of it.
    var firstSight: SimulatedHost.FileState? {
        switch self {
        case .nfs: .stale
        case .cloud: .partial
        default: nil
        }
    }

    /// Whether a file can be lost between its creation and the moment at which that is known to last.
    var losesUnsynced: Bool { self == .posixCrash || self == .usb }
}
