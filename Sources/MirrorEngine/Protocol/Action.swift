/// What the engine wants done, in this order; each must last through a crash before the next is begun.
package enum Action: Hashable, Sendable {
    /// Add a record to the local state's journal, synced.
    case append(LocalRecord)
    /// Read these files and send `fetched`, in one piece or several.
    case fetch([PackAddress])
    /// Create this file in our own folder, its blobs before it, and send `created`; that one exists already with the
    /// same bytes is as good.
    case create(PackAddress, EncodedPack)
    /// Remove these files of our own and send `removedBlobs`.
    case removeBlobs([BlobName])
    /// Remove these files of our own and send `removed`.
    case remove([PackName])
    case removeFolder(WriterID)
    /// Read these preference files and send `observed`, changed or not.
    case observe([String])
    /// Lock these preference files in the order of their names, read them and send `locked`.
    case lock([String])
    /// Write these changes, all at once, each file only if it still is the one that was captured; send `written`.
    case write(Application)
    case unlock
    /// Leave this mark beside the preference files, and send `marked`.
    case mark(UInt64)
    /// Keep a copy of a file that stays wrong, away from the mirror.
    case quarantine(PackAddress)
    /// Say it to whoever watches.
    case report(Report)
}

/// What people and programs are told.
package enum Report: Hashable, Sendable {
    case standing(Standing)
    case changed(domain: String, keys: [String], by: WriterID)
    /// A file gets what the mirror has, now that its domain takes part.
    case seeded(domain: String, keys: [String], by: WriterID)
    /// A file cannot hold what the mirror has, because of its format.
    case unheld(domain: String, keys: [String])
    /// A file could not be written. It is tried again whenever the directory is looked at.
    case unwritten(domain: String)
    case conflict(WriteID)
    case held(domain: String, Held)
    case waiting(Waiting)
    case reincarnated(former: WriterID, new: WriterID)
    case quarantined(PackAddress, PackFault)
    /// A file that only a newer version reads.
    case tooNew(PackAddress)
    /// A file whose writer's folder cannot go, because nobody could read what it says.
    case unread(PackAddress)
    /// A folder that cannot be looked into, and so cannot go.
    case closed(WriterID)
    /// A domain came up that no list names yet.
    case unknownDomain(String)
    case vanished(WriterID)
    case lostFiles
    /// A file waits for long values that do not arrive.
    case missingBlobs(PackAddress)
    /// A host's state differs although it was made of the same changes.
    case digestMismatch(WriterID)

    package enum Waiting: Hashable, Sendable {
        case quota
        /// Some hosts are ignored because there are too many.
        case writers
        case space
        case permission
        case later
    }
}

/// How the directory stands to this store.
package enum Standing: Hashable, Sendable {
    case unknown
    case present
    case unavailable
    /// Two markers.
    case split
    /// Another mirror's marker.
    case swapped
    case paused
    case left
    /// This store has forgotten the mirror; its state may be deleted.
    case detached

    /// Whether files may be read, created and applied.
    package var isOpen: Bool { self == .present }
}
