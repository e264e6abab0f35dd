#if MUTANTS
    internal import Glibc
#endif

/// A rule that keeps a mirror sound.
///
/// `Tests/run simulate --mutants` builds the tests with `MUTANTS` and breaks each rule in turn, to show that they
/// detect that. In every other build all rules are constants.
enum Rule: String {
    /// A local write is stamped later than everything that it replaces.
    case bumpsStamps
    /// A write replaces what its preference file showed, not what the state held.
    case followsFile
    /// A write replaces the values that equal the one that it replaces or writes.
    case coversEqual
    /// The removal of an element leaves nothing, so that an element that others add meanwhile stays.
    case leavesNoRemovals
    /// A value that competes to be the greatest or least replaces those that its user saw.
    case replacesCandidates
    /// A program that writes former contents back has not seen what the mirror brought since.
    case remembersPast
    /// A value that was replaced before it arrived is not added when it arrives.
    case keepsGone
    /// Such values are removed before the known transactions of another host prove them to be known.
    case removesGoneFirst
    /// Two files of a writer that differ at one transaction are noticed.
    case recordsForks
    /// Two hosts that know different files of a writer at one transaction notice that.
    case comparesTags
    /// After a fork, known transactions prove nothing.
    case doubtsForks
    /// A base has the values of all writers.
    case publishesAll
    /// A log is joined after the ones before it.
    case followsLogs
    /// The values of a base are skipped only if all its transactions are known, from the same files.
    case readsNewBases
    /// A file of a writer's folder lists all files of that writer.
    case listsFiles
    /// A file in our own folder that we did not create makes us take another number.
    case takesNewNumber
    /// A host takes another number after many logs.
    case limitsNumbers
    /// A write that a copy of this store has published is not published again.
    case adoptsPublished
    /// A write in a file of our own that another host has read no longer waits.
    case publishesKnown
    /// A write that was replaced before it was published is published without its value.
    case withholdsReplaced
    /// A store that lost its state, and finds values in a file, keeps them as open conflicts.
    case keepsFound
    /// An outbox entry is removed only after the pack that contains it was created.
    case clearsOutboxAfterCreation
    /// The next pack is recorded in the journal before it is created.
    case recordsIntent
    /// A preference file is written only directly after it was captured under the same lock.
    case capturesBeforeApplying
    /// Restored preference files, and files under a restored state, are not taken for edits.
    case noticesRestores
    /// A deletion is forgotten only after the preference files of all hosts show it.
    case forgetsOnlyApplied
    /// A folder is removed only after a base of ours has its values.
    case purgesAfterBase
}

extension Rule {
    #if MUTANTS
        /// The rule that the environment breaks.
        private static let broken = unsafe getenv("PREFS_BROKEN_RULE").map { unsafe String(cString: $0) }

        var isKept: Bool { Rule.broken != rawValue }
    #else
        @inline(__always) var isKept: Bool { true }
    #endif
}
