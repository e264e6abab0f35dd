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
    /// Our bases carry the atoms of this writer from here on.
    case carries(WriterID)
    /// Files of our own are missing.
    case lostFiles(at: Int64)
    /// Domains take part from now on, or no longer.
    case configured(domain: String, isMirrored: Bool)
    case resolvedConflict(Dot, at: Int64)
    case retired(WriterID)
    /// The state as it is made of the files again.
    case rebuilt([Pack])
}
