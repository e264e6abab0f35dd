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
    /// Whether to replace a damaged file of which there is no readable version. The file is kept next to the new one.
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
