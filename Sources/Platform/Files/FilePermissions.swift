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
    package static let writableByGroup = FilePermissions(rawValue: 0o020)
    package static let writableByOthers = FilePermissions(rawValue: 0o002)
}
