/// The metadata of a file, as `stat` returns it.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file, folder, symbolicLink, pipe
        /// A device or a socket.
        case other
    }

    package var kind: Kind
    package var device: UInt64
    package var inode: UInt64
    package var size: Int
    /// The modification time of the contents. Programs can set it to any value.
    package var modified: Timestamp
    /// The time of the last change to contents or metadata. Programs cannot set it.
    package var changed: Timestamp
    package var permissions: FilePermissions
    package var owner: UInt32
    package var group: UInt32
    /// The number of hard links.
    package var links: Int

    package init(
        kind: Kind, device: UInt64, inode: UInt64, size: Int, modified: Timestamp, changed: Timestamp,
        permissions: FilePermissions, owner: UInt32, group: UInt32, links: Int
    ) {
        self.kind = kind
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.links = links
    }
}

extension FileStatus {
    /// The identity of the file, independent of its contents.
    package var number: FileID { FileID(device: device, inode: inode) }

    /// The identity of the file and its current version. A different generation means that the contents may have
    /// changed.
    package var generation: FileGeneration { FileGeneration(file: number, size: size, changed: changed) }
}

/// The identity of a file: device and inode. A number can be reused once the last link and the last open handle are
/// gone.
package struct FileID: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// A version of a file: device, inode, size and change time.
package struct FileGeneration: Hashable, Sendable {
    package var file: FileID
    package var size: Int
    package var changed: Timestamp

    package init(file: FileID, size: Int, changed: Timestamp) {
        self.file = file
        self.size = size
        self.changed = changed
    }
}

/// The permissions of a file: the lower twelve bits of its mode.
package struct FilePermissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Read and write for the owner only. The default for settings files.
    package static let privateFile = FilePermissions(rawValue: 0o600)
    /// Full access for the owner only. The default for settings folders.
    package static let privateFolder = FilePermissions(rawValue: 0o700)
    /// Readable by everyone. The default for files in the administrator's layers.
    package static let publicFile = FilePermissions(rawValue: 0o644)
    /// Readable and searchable by everyone. The default for folders in the administrator's layers.
    package static let publicFolder = FilePermissions(rawValue: 0o755)
    /// The mode that programs usually pass to `open`; the umask removes bits from it.
    package static let anyFile = FilePermissions(rawValue: 0o666)
    /// Read and write for owner and group. For a lock file in a folder that a team shares.
    package static let groupFile = FilePermissions(rawValue: 0o660)
    /// Set-user-ID, set-group-ID and sticky. These bits are dropped when a file is replaced.
    static let special = FilePermissions(rawValue: 0o7000)
    /// Set-group-ID on a folder: new files get the folder's group.
    package static let inheritsGroup = FilePermissions(rawValue: 0o2000)
    /// Sticky bit on a folder: only a file's owner may rename or remove it.
    package static let sticky = FilePermissions(rawValue: 0o1000)
    fileprivate static let writableByGroup = FilePermissions(rawValue: 0o020)
    fileprivate static let writableByOthers = FilePermissions(rawValue: 0o002)
    /// All permissions of the group.
    package static let ofGroup = FilePermissions(rawValue: 0o070)
    fileprivate static let readableByAny = FilePermissions(rawValue: 0o044)
    package static let writableByAny = FilePermissions(rawValue: 0o022)
    fileprivate static let searchableByAny = FilePermissions(rawValue: 0o011)
}

extension FileStatus {
    /// Whether the group or others can read the file, or list or search the folder.
    package var isExposed: Bool {
        !permissions.isDisjoint(with: kind == .folder ? [.readableByAny, .searchableByAny] : .readableByAny)
    }

    /// Returns whether someone other than `user` and root can read what `user` writes to the file: others may read it,
    /// or another user owns it and could make it readable at any time.
    package func isExposed(to user: UInt32) -> Bool { isExposed || owner != user && owner != 0 }

    /// Whether anyone may create files in the folder, so that a file in it may have been planted.
    package var isOpenToAll: Bool { !permissions.isDisjoint(with: [.sticky, .writableByOthers]) }

    /// Whether members of the group share the folder.
    package var isOfTeam: Bool { permissions.contains(.writableByGroup) && !isOpenToAll }

    /// Whether the group or others can write to the file, or create and remove files in the folder.
    package var isWritableByAny: Bool { !permissions.isDisjoint(with: .writableByAny) }
}
