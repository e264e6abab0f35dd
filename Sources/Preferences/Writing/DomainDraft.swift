package import Platform
package import PropertyLists

/// The contents of a domain during a change.
package struct DomainDraft: Sendable {
    package var values: PropertyList.Dictionary
    /// The format of the new file.
    package var format: PropertyList.Format
    /// Whether the domain is a folder with a file for each key.
    package var isFolder = false
    /// Whether to remove the file.
    package var removesFile = false
    /// Whether to write the file even if nothing changes.
    package var rewrites = false
    /// Whether to create a file that does not exist even if there are no values.
    package var createsFile = false
    /// Whether to write all of a text file and not only its changes.
    package var isAnew = false
    /// The reason for the change, if only the change itself can determine it; nil for the writer's reason.
    package var reason: WriteReason?
    /// The bytes of the version from which the values come, or nil if they come from the file.
    package var restoredBytes: [UInt8]?
    /// The status of the file, or nil if there is none.
    package let status: FileStatus?
    /// Whether others can read the file.
    package var isExposed = false

    package var exists: Bool { status != nil }
}
