/// What some file systems cannot, and a simulated one can be made not to.
package enum Limitation: Hashable, Sendable, CaseIterable {
    /// Folders cannot be synchronized; asked to, they say nothing (SMB).
    case noFolderSynchronization
    /// Owner and permissions cannot be changed (GVfs, NFS).
    case noPermissions
    /// Two names cannot be exchanged, and a taken one not be kept (NFS, SMB).
    case noExchange
    case noHardLinks
    case noLocks
    /// Renaming does not replace what has the name already (sshfs).
    case renameKeeps
    /// The number of a removed file is given to the next one (ext4).
    case reusesInodes
    /// All changes within a tick of the clock carry the same time (Linux before 6.13).
    case coarseTimes
}
