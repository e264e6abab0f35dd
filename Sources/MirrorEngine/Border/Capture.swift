/// What reading preference files came to: mostly one transaction or none, and what each file holds.
package struct Capture: Hashable, Sendable {
    /// The change that was made in the files, all at once; several where one would be too large for a record.
    package var transactions: [Transaction]
    /// The clock after it.
    package var clock: Stamp
    /// When the files were read, in milliseconds since 1970.
    package var when: Int64
    package var domains: [CapturedDomain]
    /// Whether what was being written into files is settled by this.
    package var settlesApplication: Bool
}

/// A preference file after it was captured.
package struct CapturedDomain: Hashable, Sendable {
    package var domain: Path
    package var file: FileIdentity?
    package var hash: Fingerprint?
    /// The keys whose value in the file is not that of the view.
    package var exceptions: [Path: Shadow.Exception]
    package var held: Held?
    /// Whether the last write into the file was taken back by somebody, and where.
    package var reverted: [Path]
    /// Writes of others that have the values which were written here.
    package var adopted: [WriteID] = []
    /// Values of the file that the mirror replaces, although nobody who wrote them has seen what replaces them.
    package var replaced: [Path: CanonicalValue] = [:]
}

/// Changes that are to be made in preference files, all at once.
package struct Application: Hashable, Sendable {
    package var domains: [DomainChange]
    /// Whether a file that is not the one that was captured must stay.
    package var isChecked = true
}

/// What is to be changed in one preference file.
package struct DomainChange: Hashable, Sendable {
    package var domain: Path
    /// The file as it was captured; another one must not be replaced.
    package var file: FileIdentity?
    package var changes: [Path: Shadow.Replacement]
}

/// A preference file after it was written, as it was read back.
package struct AppliedDomain: Hashable, Sendable {
    package var domain: Path
    package var file: FileIdentity?
    package var hash: Fingerprint?
    package var exceptions: [Path: Shadow.Exception]
    package var replaced: [Path: Shadow.Replacement]
}
