/// Bounds of a mirror, and how long it waits.
package struct EngineLimits: Hashable, Sendable {
    package var keys = 1_000_000
    package var bytesOfWriter = 256 << 20
    package var writers = 4096
    package var bytesOfFile = Envelope.longestFile
    /// How many changes of preference files are made at once, unless one transaction has more.
    package var changesAtOnce = 250_000
    /// The most bytes of transactions in one log, unless one alone has more.
    package var bytesOfLog = 1 << 20
    /// The most bytes of files that are kept while they wait for those before them.
    package var bytesWaiting = 16 << 20
    package var leastLogBytes = 64 << 10
    package var leastLogs = 32
    /// How long what a base says is also left standing in logs, in milliseconds.
    package var supersededFor: Int64 = 86_400_000
    /// How long it is left standing even where there is more of it than may be.
    package var supersededAtLeastFor: Int64 = 600_000
    /// How many superseded files may stand. All of them may take a quarter of a writer's bytes, and so may blobs that
    /// are needed no more, unless with the others there are more than three quarters.
    package var mostSuperseded = 4096
    /// How long a folder is out of view before its atoms are carried.
    package var vanishedFor: Int64 = 86_400_000
    /// How long a blob is left standing that no pack needs any more.
    package var unneededFor: Int64 = 7 * 86_400_000
    /// How long a log waits for the one before it, and a faulty file for its bytes.
    package var waitsFor: Int64 = 600_000
    /// How long until another of our own files is read again to see whether it is whole.
    package var checksEvery: Int64 = 3_600_000
    /// How long until files of our own that are missing are written again, and if our whole folder is missing.
    package var healsEvery: Int64 = 3_600_000
    package var restoresEvery: Int64 = 60_000

    package init() {}
}
