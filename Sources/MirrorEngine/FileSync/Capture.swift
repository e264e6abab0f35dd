/// The result of reading preference files: the transactions made of their changes, and the new contents of each file.
package struct Capture: Hashable, Sendable {
    /// The changes in the files: one transaction, or several if one would exceed the size of a record.
    package var transactions: [Transaction]
    /// The last stamp of the clock after the capture.
    package var clock: Stamp
    /// The time at which the files were read, in milliseconds since 1970.
    package var when: Int64
    package var domains: [CapturedDomain]
    /// Whether this completes the application that was in progress.
    package var settlesApplication: Bool
}

/// A preference file after it was captured.
package struct CapturedDomain: Hashable, Sendable {
    package var domain: Path
    package var file: FileIdentity?
    package var hash: Fingerprint?
    /// The keys whose value in the file differs from the view.
    package var exceptions: [Path: TrackedFile.Exception]
    package var held: HoldReason?
    /// The keys at which a user reverted the last write into the file.
    package var reverted: [Path]
    /// Writes of other writers with the values that were written here.
    package var adopted: [WriteID] = []
    /// Values of the file that the mirror replaces, although the writer of the replacement had not seen them.
    package var replaced: [Path: CanonicalValue] = [:]
}

/// Changes to preference files that are made together.
package struct Application: Hashable, Sendable {
    package var domains: [DomainChange]
    /// Whether a file is left alone if it is not the one that was captured.
    package var isChecked = true
}

/// The changes to one preference file.
package struct DomainChange: Hashable, Sendable {
    package var domain: Path
    /// The file as it was captured. A different file must not be replaced.
    package var file: FileIdentity?
    package var changes: [Path: TrackedFile.Replacement]
}

/// A preference file after it was written, as it was read back.
package struct AppliedDomain: Hashable, Sendable {
    package var domain: Path
    package var file: FileIdentity?
    package var hash: Fingerprint?
    package var exceptions: [Path: TrackedFile.Exception]
    package var replaced: [Path: TrackedFile.Replacement]
}
