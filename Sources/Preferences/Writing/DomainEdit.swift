package import Platform
package import PropertyLists

/// What a writer wants changed in one domain.
package struct DomainEdit: Sendable {
    package let file: DomainFile
    /// What the writer has seen of the file: it is not read again if it still is the same.
    package var known: DomainContents?
    /// Whether a file that is not the one known must stay as it is: then nothing is written, and `notCurrent` thrown.
    package var requiresKnown = false
    /// Whether a damaged file of which no version is kept may be replaced all the same. It is kept beside the new one.
    package var acceptsLoss = false
    /// What the same writer left there and did not keep yet.
    package var unkept: UnkeptVersion?
    /// Whether the new version is kept by the writer later, or else by whoever writes next.
    package var isKeptLater = false
    /// Changes the values as they are now, under the lock. What it throws leaves all as it is.
    package let change: @Sendable (inout DomainDraft) throws -> Void

    package init(
        _ file: DomainFile, known: DomainContents? = nil, acceptsLoss: Bool = false,
        change: @escaping @Sendable (inout DomainDraft) throws -> Void
    ) {
        self.file = file
        self.known = known
        self.acceptsLoss = acceptsLoss
        self.change = change
    }

    /// The same for a domain that is new, in the format that new ones are to have.
    package func made(in format: PropertyList.Format) -> DomainEdit {
        var edit = DomainEdit(file.made(in: format), known: known, acceptsLoss: acceptsLoss, change: change)
        (edit.unkept, edit.isKeptLater) = (unkept, isKeptLater)
        edit.requiresKnown = requiresKnown
        return edit
    }
}

/// A domain while it is changed.
package struct DomainDraft: Sendable {
    package var values: PropertyList.Dictionary
    /// The format in which the file is to be written.
    package var format: PropertyList.Format
    /// Whether the file is to go, with all that is in it.
    package var removesFile = false
    /// Whether the file is to be written though nothing in it changes.
    package var rewrites = false
    /// Why it is changed, where only the change itself can tell; nil for what the writer says.
    package var reason: WriteReason?
    /// What the system says of the file; nil where there is none.
    package let status: FileStatus?

    /// Whether there is a file.
    package var exists: Bool { status != nil }
}

/// A domain after a commit.
package struct CommittedDomain: Sendable {
    package let file: DomainFile
    package let before: DomainContents
    package let after: DomainContents
    /// Whether anything was written.
    package let isChanged: Bool
    /// What the change is called in histories; nil where nothing was written.
    package let transaction: String?
    /// The new version, if it is to be kept later.
    package let unkept: UnkeptVersion?
    /// The file that was written; nil where none was, or one was removed.
    package let bytes: [UInt8]?
    /// Whether dates have lost their fractions, which the file's format cannot hold.
    package let hasDroppedFractions: Bool
}
