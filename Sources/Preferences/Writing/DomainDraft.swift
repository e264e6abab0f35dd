package import Platform
package import PropertyLists

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
    /// The bytes of the version that the values come from; nil if they come from the file.
    package var broughtBack: [UInt8]?
    /// What the system says of the file; nil where there is none.
    package let status: FileStatus?
    /// Whether others can read the file.
    package var isExposed = false

    /// Whether there is a file.
    package var exists: Bool { status != nil }
}
