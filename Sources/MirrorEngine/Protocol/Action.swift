/// A step that the caller of the engine must carry out. Actions are carried out in order, and each must be durable
/// before the next is started.
package enum Action: Hashable, Sendable {
    /// Append a record to the journal of the local state, and sync it.
    case append(LocalRecord)
    /// Read these files and send `fetched`, once or in several parts.
    case fetch([PackAddress])
    /// Create this file in our own folder after its blobs, and send `created`. An existing file with the same bytes is
    /// accepted.
    case create(PackAddress, EncodedPack)
    /// Remove these blobs from our folder and send `removedBlobs`.
    case removeBlobs([BlobName])
    /// Remove these files from our folder and send `removed`.
    case remove([PackName])
    /// Remove a writer's folder, unless it has a file that is not among those that were joined.
    case removeFolder(WriterID, joined: Set<UInt64>)
    /// Read these preference files and send `observed`, whether they changed or not.
    case observe([String])
    /// Lock these preference files in the order of their names, read them and send `locked`.
    case lock([String])
    /// Write these changes together, each file only if it is still the one that was captured, and send `written`.
    case write(Application)
    case unlock
    /// Write this mark beside the preference files, and send `marked`.
    case mark(UInt64)
    /// Keep a copy of a file that remains invalid, outside the mirror.
    case quarantine(PackAddress)
    /// Report this to the user and to programs.
    case report(Report)
}

/// A message for users and programs.
package enum Report: Hashable, Sendable {
    case directory(DirectoryStatus)
    case changed(domain: String, keys: [String], by: WriterID)
    /// A file receives the values of the mirror because its domain is mirrored from now on.
    case seeded(domain: String, keys: [String], by: WriterID)
    /// The format of a file cannot hold values of the mirror.
    case unheld(domain: String, keys: [String])
    /// A file could not be written. The next exchange tries again.
    case unwritten(domain: String)
    /// A conflict that was not open before.
    case conflict(Conflict)
    case held(domain: String, HoldReason)
    case waiting(Waiting)
    case tookNewNumber(former: WriterID, new: WriterID)
    case quarantined(PackAddress, PackFault)
    /// A file that requires a newer version.
    case tooNew(PackAddress)
    /// A file that prevents the removal of its writer's folder, because it could not be read.
    case unread(PackAddress)
    /// A folder that cannot be removed, because it cannot be listed.
    case closed(WriterID)
    case vanished(WriterID)
    case lostFiles
    /// A file waits for blobs that do not arrive.
    case missingBlobs(PackAddress)

    package enum Waiting: Hashable, Sendable {
        case quota
        /// Some writers are ignored because there are too many.
        case writers
        case space
        case permission
        case later
        /// A file could not be signed.
        case signature
    }
}

/// The status of the mirror's directory for this store.
package enum DirectoryStatus: Hashable, Sendable {
    case unknown
    /// Files may be read, created and applied.
    case present
    case unavailable
    /// The directory has two markers.
    case split
    /// The directory has the marker of another mirror.
    case swapped
    case paused
    case left
    /// This store has forgotten the mirror, and its state may be deleted.
    case detached
}
