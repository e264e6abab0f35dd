/// One durable change of the local state.
package enum LocalRecord: Hashable, Sendable {
    /// Preference files were read: their changes and their new contents.
    case captured(Capture)
    /// A file of another writer, or of a former number of ours, was joined.
    case joined(Pack, at: Int64)
    /// This file is about to be created.
    case intended(PackIntent)
    /// The intended file was created.
    case created(PackName, at: Int64)
    /// Superseded files of ours were removed.
    case removed([PackName])
    /// Blobs of ours were removed or are missing.
    case removedBlobs([BlobName])
    /// Another store writes under our number, so we take this one.
    case tookNewNumber(WriterID, intentIsInView: Bool)
    /// Preference files are about to be written.
    case intendedApplication(Application)
    /// The application is complete, or was abandoned.
    case applied([AppliedDomain])
    case abandonedApplication
    /// The folder of a writer went out of view, or came back.
    case vanished(WriterID, at: Int64)
    case returned(WriterID)
    /// Files of a writer are gone, so their hashes are no longer needed.
    case forgot(WriterID, Set<UInt64>)
    /// Writers whose folders are gone and whose writes are carried are no longer named in our files.
    case forgotWriters(Set<WriterID>)
    /// From now on our bases carry the writes of this writer.
    case carries(WriterID)
    /// Files of ours are missing.
    case lostFiles(at: Int64)
    /// A domain begins or ceases to be mirrored.
    case configured(domain: String, isMirrored: Bool)
    case resolvedConflicts([WriteID], at: Int64)
    /// All conflicts of one transaction are resolved, in a journal of the first version.
    case resolvedTransaction(TransactionID, at: Int64)
    /// The value of a conflict was written again.
    case restored(Restoration)
    case retired(WriterID)
    case participation(Participation)
    /// The state was rebuilt from these files.
    case rebuilt([Pack])
    /// A mark is about to be written beside the preference files, and was found there.
    case marked(UInt64)
    case foundMark
    /// Preference files, or this state, came back from a backup.
    case suspected(TrackedFile.Suspicion)
}

/// A change that was made without a preference file, such as a value restored from a conflict.
package struct Restoration: Hashable, Sendable {
    package var conflicts: [WriteID] = []
    /// The transaction of all restored values, in a journal of the first version.
    package var loser: TransactionID?
    /// The new writes, or nil if all values are in force already.
    package let transaction: Transaction?
    /// The last stamp of the clock after the change.
    package let clock: Stamp
    package let when: Int64
}

/// Whether and how a store exchanges with its mirror.
package enum Participation: UInt8, Hashable, Sendable {
    case full
    /// Nothing is exchanged until a user resumes.
    case paused
    /// The outbox is published, and then a note that we have left.
    case leaving
    /// The mirror is forgotten.
    case detached
}
