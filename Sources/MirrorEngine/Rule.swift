/// A rule that keeps a mirror sound.
///
/// The simulator is built with `MUTANTS` and breaks each rule in turn, to show that its checks detect that. In every
/// other build all rules are constants.
package enum Rule: String, CaseIterable, Sendable {
    /// A local write is stamped later than everything that it overwrites.
    case bumpsStamps
    /// Of two values with one transaction ID, the one with the greater hash is in force.
    case comparesValues
    /// A file in our own folder that we did not create makes us take another number.
    case takesNewNumber
    /// An outbox entry is removed only after the pack that contains it was created.
    case clearsOutboxAfterCreation
    /// The next pack is recorded in the journal before it is created.
    case recordsIntent
    /// A preference file is written only directly after it was captured under the same lock.
    case capturesBeforeApplying
    /// A write replaces what its preference file showed, not what the state held.
    case followsFile
    /// A write lists what it replaced through other writes, not only what it replaced directly.
    case inheritsSeen
    /// A write keeps its identifier when its writer takes another number.
    case keepsIdentifiers
    /// A write of ours that is displaced without having been seen is listed.
    case listsLost
    /// We list writes of our former numbers, and of copies of us, as our own.
    case claimsFormerNumbers
    /// A write of another writer with the value of ours takes the place of ours.
    case adoptsEqual
    /// Restored preference files, and files under a restored state, are not taken for edits.
    case noticesRestores
    /// A log follows a base that includes the transaction before its first.
    case chainsByFirst
    /// A value is changed by newer writes below it.
    case patchesViews
    /// The state holds every domain, whether it is mirrored here or not.
    case keepsEveryDomain
}

extension Rule {
    #if MUTANTS
        /// The rule that the current task breaks.
        @TaskLocal package static var broken: Rule?

        var isKept: Bool { Rule.broken != self }
    #else
        @inline(__always) var isKept: Bool { true }
    #endif
}
