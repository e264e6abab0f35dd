/// The time of an event, and an unpredictable random number for new identifiers.
package struct Moment: Hashable, Sendable {
    /// Milliseconds since 1970 according to the wall clock, however wrong.
    package let now: Int64
    package let random: UInt64

    package init(now: Int64, random: UInt64) {
        self.now = now
        self.random = random
    }
}

/// An input of the engine. The actions that follow from one event are complete before the next is sent.
package enum Event: Sendable {
    /// The mirror's directory was checked.
    case directory(Directory)
    /// The folders of all writers were listed.
    case listed(Listing)
    /// Requested files were read or could not be read. With several parts, preference files are written after the last.
    case fetched([PackAddress: Fetch], isLast: Bool = true)
    /// The mark beside the preference files, sent before the other events of an exchange.
    case foundMark(UInt64?)
    /// The exchange is complete for now.
    case exchangeEnded
    /// The mark was written durably.
    case marked
    /// Preference files were found changed.
    case observed([Observation])
    /// The requested preference files are locked and have these contents; empty if they could not be locked.
    case locked([Observation])
    /// The result of an application.
    case written(WriteOutcome)
    /// Files that are due should be published.
    case publish
    /// A file of our own was created durably.
    case created(PackName)
    /// A file of our own could not be created.
    case notCreated(Report.Waiting)
    case removed([PackName])
    case removedBlobs([BlobName])
    /// A base should be created, whether due or not.
    case compact
    case command(Command)
}

/// A request of a user.
package enum Command: Hashable, Sendable {
    case add(domain: String)
    case remove(domain: String)
    /// Accepts the file of a held domain, or the mirror instead.
    case release(domain: String, takesFile: Bool)
    /// Accepts that these values lost, where they are open conflicts. It must follow `observed`.
    case accept([Conflict])
    /// Announces that we leave, after everything else is published.
    case leave
    /// Forgets the mirror without announcing it. From then on nothing is done, and the state may be deleted.
    case detach
    case retire(WriterID)
    case purge(WriterID)
    case rebuild([Pack])
    /// Replaces our published files with one base at once, so that deleted values leave the directory.
    case compact
    /// Removes our values of a domain that is no longer mirrored, or of its keys that became local, from the
    /// directory. Every host keeps its file.
    case withdraw(domain: String)
    /// Publishes missing files of our own at the next listing, regardless of when this was last done.
    case heal
    case pause
    /// Resumes after a pause, or after having left.
    case resume
}

/// The state of the mirror's directory.
package enum Directory: Hashable, Sendable {
    /// Missing, unreachable, or without a marker.
    case unavailable
    case marked([MirrorID])
}

/// The names and sizes of the files in each writer's folder, as paths inside that folder.
package struct Listing: Hashable, Sendable {
    package var folders: [WriterID: [String: Int]]
    /// Writers whose folders exist and cannot be listed. They have no names.
    package var closed: Set<WriterID>
    /// Names outside of the writers' folders that do not belong to a mirror, as far as these were searched for.
    package var strays: Set<String> = []
    /// Whether files of other writers exist that may become valid and are not listed.
    package var lacksFiles = false

    package init(folders: [WriterID: [String: Int]], closed: Set<WriterID> = []) {
        self.folders = folders
        self.closed = closed
    }

    /// The packs of all writers, in the order in which they are read.
    package var packs: [PackAddress] {
        folders.flatMap { writer, names in
            names.keys.compactMap { PackName($0) }.map { PackAddress(writer: writer, name: $0) }
        }.sorted()
    }

    /// Returns the size of a file, or 0 if it does not exist or is unknown.
    func size(of address: PackAddress) -> Int { folders[address.writer]?[address.name.description] ?? 0 }
}

/// The result of reading a file.
package enum Fetch: Hashable, Sendable {
    case pack(Pack)
    /// Incomplete or invalid. `missingBlobs` means that blobs are in no writer's folder.
    case faulty(PackFault)
    /// Unreadable for now.
    case unreadable
}

package enum WriteOutcome: Hashable, Sendable {
    /// All files were replaced. Each observation has the written values and the identity of the written file, even if
    /// that file was replaced since; the replacement was not read.
    case done([Observation])
    /// A file was not the one that was captured. Nothing was changed.
    case changedMeanwhile
    /// The files could not be written, because of this domain if there is one. Nothing was changed.
    case failed(domain: String?)
}
