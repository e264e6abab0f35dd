package import Platform

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
