/// One durable step of a store's part in a mirror.
package enum LocalRecord: Hashable, Sendable {
    /// Preference files were read: the change in them, and what they hold now.
    case captured(Capture)
    /// A file of another writer, or of a former self, was read.
    case joined(Pack, at: Int64)
    /// This file is going to be created.
    case intended(PackIntent)
    /// The file that was intended stands there.
    case created(PackName, at: Int64)
    /// Files of our own that others need no more were removed.
    case removed([PackName])
    /// Blobs of our own were removed, or are gone.
    case removedBlobs([BlobName])
    /// Another store writes under our name; from here on we have this one.
    case reincarnated(WriterID, intentIsInView: Bool)
    /// Preference files are going to be written.
    case intendedApplication(Application)
    /// They were written, or left as they are.
    case applied([AppliedDomain])
    case abandonedApplication
    /// The folder of a writer was not in view, or is again.
    case vanished(WriterID, at: Int64)
    case returned(WriterID)
    /// Files of a writer are gone, so that it need not be remembered that they were joined.
    case forgot(WriterID, Set<UInt64>)
    /// Writers whose folders are gone and whose atoms are carried are not named in our files any more.
    case forgotWriters(Set<WriterID>)
    /// Our bases carry the atoms of this writer from here on.
    case carries(WriterID)
    /// Files of our own are missing.
    case lostFiles(at: Int64)
    /// Domains take part from now on, or no longer.
    case configured(domain: String, isMirrored: Bool)
    case resolvedConflicts([WriteID], at: Int64)
    /// The same in a journal of the first version: all that one transaction lost.
    case resolvedTransaction(Dot, at: Int64)
    /// What a conflict's loser had written was written anew.
    case restored(Restoration)
    case retired(WriterID)
    case participation(Participation)
    /// The state as it is made of the files again.
    case rebuilt([Pack])
    /// A mark is going to be left beside the preference files, and is there.
    case marked(UInt64)
    case foundMark
    /// Preference files, or this state, came back from a backup.
    case suspected(Shadow.Suspicion)
}

/// A change that was made in no preference file: what a conflict's loser had written.
package struct Restoration: Hashable, Sendable {
    package var conflicts: [WriteID] = []
    /// All that this transaction lost, in a journal of the first version.
    package var loser: Dot?
    /// Nil where what was lost is in force again already.
    package let transaction: Transaction?
    /// The clock after it.
    package let clock: Stamp
    package let when: Int64
}

/// How a store takes part in its mirror.
package enum Participation: UInt8, Hashable, Sendable {
    case full
    /// Nothing is exchanged until a person says so.
    case paused
    /// What there is to say is said, and then that we leave.
    case leaving
    /// The mirror is forgotten.
    case detached
}
