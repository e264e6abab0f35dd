/// Who may do what with a file: the lower twelve bits of its mode.
package struct FilePermissions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Read and written by its owner, and nobody else: what a file of settings is created with.
    package static let privateFile = FilePermissions(rawValue: 0o600)
    /// Used by its owner, and nobody else: what a folder of settings is created with.
    package static let privateFolder = FilePermissions(rawValue: 0o700)
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

    /// Whether the group or others can write the file, or what is in the folder.
    package var isWritableByAny: Bool { !permissions.isDisjoint(with: .writableByAny) }
}
