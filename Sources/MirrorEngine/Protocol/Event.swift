/// When something happens, and a number that nobody can guess, should a new identity be needed.
package struct Moment: Hashable, Sendable {
    /// Milliseconds since 1970, as the wall clock has them, however wrong.
    package let now: Int64
    package let random: UInt64

    package init(now: Int64, random: UInt64) {
        self.now = now
        self.random = random
    }
}

/// What the rim tells the engine, one at a time: all that follows from one is done before the next is told.
package enum Event: Sendable {
    /// The mirror's directory was looked at.
    case directory(Directory)
    /// All writers' folders were listed.
    case listed(Listing)
    /// Files that were asked for were read, or not; in several pieces where they are many, so that preference files are
    /// written only after the last.
    case fetched([PackAddress: Fetch], isLast: Bool = true)
    /// The mark that was found beside the preference files, before anything else of an exchange.
    case foundMark(UInt64?)
    /// An exchange is over, for now.
    case settled
    /// The mark is there and stays through a crash.
    case marked
    /// Preference files were found changed.
    case observed([Observation])
    /// The preference files that were to be locked are, and look so; none where they could not be locked.
    case locked([Observation])
    /// What became of an application.
    case written(WriteOutcome)
    /// It is time to publish what there is.
    case publish
    /// A file of our own stands in the directory and will stay there through a crash.
    case created(PackName)
    /// A file of our own could not be created.
    case notCreated(PackName, CreationFailure)
    case removed([PackName])
    case removedBlobs([BlobName])
    /// A base is wanted, due or not.
    case compact
    case command(Command)
}

/// What a person asks for.
package enum Command: Hashable, Sendable {
    case add(domain: String)
    case remove(domain: String)
    /// A held domain: the file as it stands is right, or the mirror is.
    case release(domain: String, takesFile: Bool)
    case resolve([WriteID])
    /// Writes what conflicts lost anew; to be told right after `observed`.
    case restore([WriteID])
    /// Says that we leave, when all else is said.
    case leave
    /// Forgets the mirror without a word to it: from here on nothing is done any more, and the state may be deleted.
    case detach
    case retire(WriterID)
    case purge(WriterID)
    case rebuild([Pack])
    /// Replaces our published files at once by one base, so that what was deleted leaves the directory.
    case compact
    /// Takes our values of a domain that is not mirrored any more out of the directory. Every host keeps its file.
    case withdraw(domain: String)
    /// Publishes at the next listing what is missing in our own folder, however recently that was done.
    case heal
    case pause
    /// Takes part again, after a pause or after having left.
    case resume
}

/// What the directory looks like from here.
package enum Directory: Hashable, Sendable {
    /// Missing, out of reach, or without a marker.
    case unavailable
    case marked([MirrorID])
}

/// The names and sizes in each writer's folder, as paths inside that folder.
package struct Listing: Hashable, Sendable {
    package var folders: [WriterID: [String: Int]]
    /// Writers whose folders are there and cannot be looked into; they have no names.
    package var closed: Set<WriterID>
    /// Names outside of the writers' folders that no file of a mirror has, as far as they were looked for.
    package var strays: Set<String> = []

    package init(folders: [WriterID: [String: Int]], closed: Set<WriterID> = []) {
        self.folders = folders
        self.closed = closed
    }

    /// How long a file is; 0 where it is not there, or nobody has looked.
    func size(of address: PackAddress) -> Int { folders[address.writer]?[address.name.description] ?? 0 }
}

/// What reading a file came to.
package enum Fetch: Hashable, Sendable {
    case pack(Pack)
    /// Not whole yet, or wrong; `missingBlobs` where long values are neither in its writer's folder nor in another's.
    case faulty(PackFault)
    /// Not to be read for now.
    case unreadable
}

package enum WriteOutcome: Hashable, Sendable {
    /// All files were replaced; each as it was written, with the identity that the written file has. Whatever stands
    /// there by now was not looked at.
    case done([Observation])
    /// A file was not the one that was captured. Nothing of the application stands.
    case changedMeanwhile
    /// The files could not be written, because of that domain's where one is named. Nothing of the application stands.
    case failed(domain: String?)
}

package enum CreationFailure: Hashable, Sendable {
    case space
    case permission
    case later
}
