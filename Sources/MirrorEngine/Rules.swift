/// The rules that keep a mirror correct. Tests turn off one at a time to prove that they detect its absence.
package struct Rules: Hashable, Sendable {
    /// A local write is stamped later than everything that it overwrites.
    package var bumpsStamps = true
    /// Of two values with one dot, the one with the greater hash is in force.
    package var comparesValues = true
    /// A file in our own folder that we did not create makes us take another number.
    package var reincarnates = true
    /// An outbox entry is removed only after the pack that contains it was created.
    package var clearsOutboxAfterCreation = true
    /// The next pack is recorded in the journal before it is created.
    package var recordsIntent = true
    /// A preference file is written only directly after it was captured under the same lock.
    package var capturesBeforeApplying = true
    /// A write replaces what its preference file showed, not what the state held.
    package var followsFile = true
    /// A write lists what it replaced through other writes, not only what it replaced directly.
    package var inheritsSeen = true
    /// A write keeps its identifier when its writer takes another number.
    package var keepsIdentifiers = true
    /// A write of ours that is displaced without having been seen is listed.
    package var listsLost = true
    /// We list writes of our former numbers, and of copies of us, as our own.
    package var claimsFormerNumbers = true
    /// A write of another writer with the value of ours takes the place of ours.
    package var adoptsEqual = true
    /// Restored preference files, and files under a restored state, are not taken for edits.
    package var noticesRestores = true
    /// A log follows a base that includes the transaction before its first.
    package var chainsByFirst = true
    /// A value is changed by newer atoms below it.
    package var patchesViews = true
    /// The state holds every domain, whether it is mirrored here or not.
    package var keepsEveryDomain = true

    package init() {}

    package static let sound = Rules()
}
