/// The metadata of a file, as `stat` returns it.
package struct FileStatus: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case file, folder, symbolicLink, other }

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
