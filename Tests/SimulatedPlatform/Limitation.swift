/// The limitations of some file systems, which a simulated one can have.
package enum Limitation: Hashable, Sendable, CaseIterable {
    /// Synchronizing a folder has no effect and does not fail (SMB).
    case noFolderSynchronization
    /// Owner and permissions cannot be changed (GVfs, NFS).
    case noPermissions
    /// A rename can neither exchange two names nor keep an existing file (NFS, SMB).
    case noExchange
    case noHardLinks
    case noLocks
    /// A rename does not replace an existing file (sshfs).
    case renameKeeps
    /// The inode number of a removed file is reused for the next one (ext4).
    case reusesInodes
    /// A name has only ASCII characters (FAT through FUSE).
    case asciiNames
    /// Two spellings of a name that are canonically equivalent are one name (APFS, ZFS).
    case normalizesNames
    /// All changes within a tick of the clock have the same time (Linux before 6.13).
    case coarseTimes
}
