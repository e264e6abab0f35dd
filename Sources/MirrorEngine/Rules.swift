/// The rules that keep a mirror sound, each of which a test can break to see that the tests would notice.
package struct Rules: Hashable, Sendable {
    /// A local write is stamped above everything that it overwrites.
    package var bumpsStamps = true
    /// Between two values of one dot the greater hash wins.
    package var comparesValues = true
    /// A pack in our own folder that we did not create means another identity.
    package var reincarnates = true
    /// An outbox entry is cleared only when the pack that holds it was created.
    package var clearsOutboxAfterCreation = true
    /// The next pack is kept before it is created.
    package var recordsIntent = true
    /// A file is written only right after it was captured under the same lock.
    package var capturesBeforeApplying = true
    /// A write replaces what its file showed, not what the state held.
    package var followsFile = true
    /// A write names what it replaced step by step, not only directly.
    package var inheritsSeen = true
    /// A write keeps its identifier when its writer takes another number.
    package var keepsIdentifiers = true
    /// A write of ours that ends unseen is listed.
    package var listsLost = true
    /// Writes of our former numbers, and of copies of us, are ours to list.
    package var claimsFormerNumbers = true
    /// A write with the value of ours stands for ours.
    package var adoptsEqual = true
    /// Restored preference files, and files under a restored state, are not taken for edits.
    package var noticesRestores = true
    /// A pack follows on a base that reaches its first transaction's predecessor.
    package var chainsByFirst = true
    /// A value is changed by the newer atoms below it.
    package var patchesViews = true
    /// The state holds every domain, mirrored here or not.
    package var keepsEveryDomain = true

    package init() {}

    package static let sound = Rules()
}
