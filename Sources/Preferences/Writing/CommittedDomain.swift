package import Platform

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
    /// The format that the domain had before it was made binary to keep fractions of a second.
    package let convertedFrom: PropertyList.Format?
    /// The folder of the history, where the new version could not be kept in it.
    package let unwritableHistory: FilePath?
    /// Whether it is the former version that could not be kept.
    package let losesFormer: Bool
}
