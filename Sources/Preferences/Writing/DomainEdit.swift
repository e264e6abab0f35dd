package import PropertyLists

/// What a writer wants changed in one domain.
package struct DomainEdit: Sendable {
    package private(set) var file: DomainFile
    /// What the writer has seen of the file: it is not read again if it still is the same.
    package var known: DomainContents?
    /// Whether a file that is not the one known must stay as it is: then nothing is written, and `notCurrent` thrown.
    package var requiresKnown = false
    /// Whether what stands there must be kept with the versions: where it cannot be, nothing is written, and `notKept`
    /// thrown.
    package var requiresFormer = false
    /// Whether a damaged file of which no version is kept may be replaced all the same. It is kept beside the new one.
    package var acceptsLoss = false
    /// What the same writer left there and did not keep yet.
    package var unkept: UnkeptVersion?
    /// Whether the new version is kept by the writer later, or else by whoever writes next.
    package var isKeptLater = false
    /// Whether a value is sensitive, as the domain's schema says it; nil for a domain without one.
    package var isSensitive: (@Sendable (_ key: String, _ value: PropertyList) -> Bool)?
    /// Changes the values as they are now, under the lock. What it throws leaves all as it is.
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

    /// Both changes, for two domains that have one file.
    package func followed(by other: DomainEdit) -> DomainEdit {
        let first = change
        var edit = self
        edit.change = { draft in
            try first(&draft)
            try other.change(&draft)
        }
        edit.requiresKnown = requiresKnown || other.requiresKnown
        edit.requiresFormer = requiresFormer || other.requiresFormer
        edit.acceptsLoss = acceptsLoss || other.acceptsLoss
        edit.isSensitive = isSensitive ?? other.isSensitive
        return edit
    }

    /// The same for a domain that is new, in the format that new ones are to have.
    package func made(in format: PropertyList.Format) -> DomainEdit {
        var edit = self
        edit.file = file.made(in: format)
        return edit
    }
}
