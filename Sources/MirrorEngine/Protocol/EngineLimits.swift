/// The limits of a mirror, and its delays in milliseconds.
package struct EngineLimits: Hashable, Sendable {
    package var keys = 1_000_000
    package var bytesOfWriter = 256 << 20
    package var writers = 4096
    package var bytesOfFile = Envelope.longestFile
    /// The number of preference changes made together, unless a single transaction has more.
    package var changesAtOnce = 250_000
    /// The bytes of transactions in one log, unless a single one has more.
    package var bytesOfLog = 1 << 20
    /// The bytes of waiting files that are kept in memory.
    package var bytesWaiting = 16 << 20
    package var leastLogBytes = 64 << 10
    package var leastLogs = 32
    /// The time that a superseded log or base remains.
    package var supersededFor: Int64 = 86_400_000
    /// The least time that it remains, even if too many are superseded.
    package var supersededAtLeastFor: Int64 = 600_000
    /// The limit of superseded files. Superseded files may take a quarter of a writer's bytes, and so may unneeded
    /// blobs, unless the whole folder takes more than three quarters.
    package var mostSuperseded = 4096
    /// The time that a folder is out of view before its writes are carried.
    package var vanishedFor: Int64 = 86_400_000
    /// The time that an unneeded blob remains.
    package var unneededFor: Int64 = 7 * 86_400_000
    /// The time that a log waits for the one before it, and a faulty file for its bytes.
    package var waitsFor: Int64 = 600_000
    /// The time between two checks of our own files.
    package var checksEvery: Int64 = 3_600_000
    /// The least time before missing files of our own are written again, even if the whole folder is missing.
    package var healsEvery: Int64 = 3_600_000
    package var restoresEvery: Int64 = 60_000

    package init() {}
}
