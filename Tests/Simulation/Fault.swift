/// The faults of a run. They are counted, so that a suite reports faults that never occurred.
package enum Fault: CaseIterable, Hashable, Sendable {
    // Delivery of files.
    case late, partial, slow, duplicate, returned, deletedFirst, stray, damaged, staleListing
    // Media that refuse or lose files.
    case noSpace, noPermission, inputOutput, refusedRemoval, unsynced, forgotten
    // A writer's folder without room for the next log.
    case fullFolder
    // The whole directory.
    case unavailable, emptyMountPoint, swapped, split, directoryRolledBack, halfRestored, wiped
    // Hosts and their states.
    case crash, tornRecord, clone, rollback, newNumber, joiner, yearAway
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
    // Actors.
    case oldCache, restored, vanished, rebuilt, kept
}

/// The medium of the shared directory, which determines how files arrive and get lost.
package enum Medium: CaseIterable, Hashable, Sendable {
    /// A folder on one machine, or on a file server that never fails.
    case posix
    /// The same with losses of power, after which files that were not synchronized are gone even if others have seen
    /// them.
    case posixCrash
    /// Names are cached: new files are not visible yet, and removed ones are visible until they are opened.
    case nfs
    /// Removing or replacing a file fails while it is open.
    case smb
    /// Files cannot be synchronized, so acknowledged files can be lost.
    case sftp
    /// Each host has its own copy, which a service syncs after a while.
    case cloud
    /// A memory stick, which is at one host at a time and is removed without warning.
    case usb

    /// The possible delays in seconds until another host sees a change.
    var delays: [Int64] {
        switch self {
        case .posix, .posixCrash, .usb: [0]
        case .nfs: [0, 0, 3, 30, 60]
        case .smb: [0, 0, 1, 10]
        case .sftp: [0, 1, 20]
        case .cloud: [0, 1, 3, 10, 40, 120]
        }
    }

    /// The state of a file that another host may see before it is complete.
    var firstSight: SimulatedHost.FileState? {
        switch self {
        case .nfs: .stale
        case .cloud: .partial
        default: nil
        }
    }

    /// Whether a file can be lost between its creation and its synchronization.
    var losesUnsynced: Bool { self == .posixCrash || self == .usb }
}
