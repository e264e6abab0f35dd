/// Who may do what with a file: the lower twelve bits of its mode.
package struct FilePermissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Read and written by its owner, and nobody else: what a file of settings is created with.
    package static let privateFile = FilePermissions(rawValue: 0o600)
    /// Used by its owner, and nobody else: what a folder of settings is created with.
    package static let privateFolder = FilePermissions(rawValue: 0o700)
    /// Read by everyone: what a file of the administrator's layers is created with.
    package static let publicFile = FilePermissions(rawValue: 0o644)
    /// Used by everyone: what a folder of the administrator's layers is created with.
    package static let publicFolder = FilePermissions(rawValue: 0o755)
    /// What programs usually ask for; the umask takes the rest away.
    package static let anyFile = FilePermissions(rawValue: 0o666)
    /// Used by its owner and its group: a lock in a folder that a team shares.
    package static let groupFile = FilePermissions(rawValue: 0o660)
    /// Run as the owner or the group, and the sticky bit: never kept when a file is replaced.
    static let special = FilePermissions(rawValue: 0o7000)
    /// In a folder: new files get its group.
    static let inheritsGroup = FilePermissions(rawValue: 0o2000)
    /// In a folder: only its owner may rename or remove a file.
    fileprivate static let sticky = FilePermissions(rawValue: 0o1000)
    fileprivate static let writableByGroup = FilePermissions(rawValue: 0o020)
    fileprivate static let writableByOthers = FilePermissions(rawValue: 0o002)
    /// All that the group may do.
    package static let ofGroup = FilePermissions(rawValue: 0o070)
    fileprivate static let readableByAny = FilePermissions(rawValue: 0o044)
    fileprivate static let writableByAny = FilePermissions(rawValue: 0o022)
    fileprivate static let searchableByAny = FilePermissions(rawValue: 0o011)
}

extension FileStatus {
    /// Whether the group or others can read the file, or look into the folder.
    package var isExposed: Bool {
        !permissions.isDisjoint(with: kind == .folder ? [.readableByAny, .searchableByAny] : .readableByAny)
    }

    /// Whether somebody else can know what `user` writes to the file: others can read it, or it belongs to another
    /// user, who can make it readable at any time. Root can read everything anyway.
    package func isExposed(to user: UInt32) -> Bool { isExposed || owner != user && owner != 0 }

    /// Whether anybody may make files in the folder, so that a file there may have been planted.
    package var isOpenToAll: Bool { !permissions.isDisjoint(with: [.sticky, .writableByOthers]) }

    /// Whether the folder is shared by the members of its group.
    package var isOfTeam: Bool { permissions.contains(.writableByGroup) && !isOpenToAll }

    /// Whether the group or others can write the file, or what is in the folder.
    package var isWritableByAny: Bool { !permissions.isDisjoint(with: .writableByAny) }
}
