package import Platform
package import PropertyLists

/// A change of one domain.
package struct DomainEdit: Sendable {
    package private(set) var file: DomainFile
    /// The contents that the writer has read. They are not read again if the file is still the same.
    package var known: DomainContents?
    /// Whether to throw `notCurrent` if the file is not the known one.
    package var requiresKnown = false
    /// Whether to throw `notKept` if the present contents cannot be kept as a version.
    package var requiresFormer = false
    /// Whether to replace a damaged file that has no readable version. The file is kept next to the new one.
    package var acceptsLoss = false
    /// The version that this writer has written before and not kept yet.
    package var unkept: PendingVersion?
    /// Whether the writer, or the next one, keeps the new version later.
    package var isKeptLater = false
    /// Whether to write all of a text file and not only its changes, even if there are none.
    package var isAnew = false
    /// Whether a value is sensitive according to the domain's schema, or nil for a domain without one.
    package var isSensitive: (@Sendable (_ key: String, _ value: PropertyList) -> Bool)?
    /// Changes the present values under the lock. If it throws, nothing is written.
    package var change: @Sendable (inout DomainDraft) throws -> Void

    package init(
        _ file: DomainFile, known: DomainContents? = nil, acceptsLoss: Bool = false,
        change: @escaping @Sendable (inout DomainDraft) throws -> Void
    ) {
        self.file = file
        self.known = known
        self.acceptsLoss = acceptsLoss
        self.change = change
    }

    /// Returns the edit with a format for the file if it is new.
    package func made(in format: PropertyList.Format) -> DomainEdit {
        var edit = self
        edit.file = file.made(in: format)
        return edit
    }
}

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

/// A domain after a commit.
package struct CommittedDomain: Sendable {
    package let file: DomainFile
    package let before: DomainContents
    package let after: DomainContents
    /// Whether anything was written.
    package let isChanged: Bool
    /// The identifier of the change in histories, or nil if nothing was written.
    package let transaction: String?
    /// The new version, if it is kept later.
    package let unkept: PendingVersion?
    /// The contents of the new file, or nil if nothing was written or the file was removed.
    package let bytes: [UInt8]?
    /// Whether dates lost their fractions, because the file's format cannot hold them.
    package let hasDroppedFractions: Bool
    /// The format of the domain before it was converted to binary to keep fractions of a second.
    package let convertedFrom: PropertyList.Format?
    /// The folder of the history, if the new version could not be kept in it.
    package let unwritableHistory: FilePath?
    /// Whether the previous version could not be kept.
    package let losesFormer: Bool
}
