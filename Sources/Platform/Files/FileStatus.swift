/// What a file system says of a file without opening it.
package struct FileStatus: Hashable, Sendable {
    /// What kind of thing stands under a name.
    package enum Kind: Hashable, Sendable { case file, folder, symbolicLink, other }

    package var kind: Kind
    package var device: UInt64
    package var inode: UInt64
    package var size: Int
    /// When the contents last changed, as far as nobody set it to something else.
    package var modified: Timestamp
    /// When anything about the file last changed. Nobody can set it.
    package var changed: Timestamp
    package var permissions: FilePermissions
    package var owner: UInt32
    package var group: UInt32
    /// How many names the file has.
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
    /// Which file it is, whatever it holds.
    package var number: FileNumber { FileNumber(device: device, inode: inode) }

    /// Which contents of which file it is: another generation means that something may have changed.
    package var generation: FileGeneration { FileGeneration(file: number, size: size, changed: changed) }
}

/// Which file it is, under whatever name. Once the last name and handle are gone, the number may be used again.
package struct FileNumber: Hashable, Sendable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// Which contents of which file: device, inode, size and the time of the last change.
package struct FileGeneration: Hashable, Sendable {
    package var file: FileNumber
    package var size: Int
    package var changed: Timestamp

    package init(file: FileNumber, size: Int, changed: Timestamp) {
        self.file = file
        self.size = size
        self.changed = changed
    }
}
