/// How long the engine has waited for files of other writers, and what it last checked. A program that ends leaves this
/// to the next one, in a file beside the journal. If the file is lost, waiting starts over, and nothing else is lost.
package struct PendingWaits: Hashable, Sendable {
    /// The files in view that could not be joined yet.
    package internal(set) var files: [PackAddress: Wait] = [:]
    /// The time of the last check of one of our own files, and the name of that file.
    package internal(set) var lastCheck: Int64?
    var lastChecked: PackName?

    package init() {}

    package struct Wait: Hashable, Sendable {
        let since: Int64
        /// Whether the file was reported.
        package let isReported: Bool
    }

    /// Whether one of our own files should be read again to check that it is intact.
    package func isCheckDue(at now: Int64, _ limits: EngineLimits) -> Bool {
        lastCheck.map { !now.isWithin(limits.checksEvery, of: $0) } ?? false
    }
}

extension Int64 {
    /// Whether the difference from `start` is less than `time`, in either direction. A start far in the future, which
    /// a wrong clock produces, is treated like one in the distant past.
    func isWithin(_ time: Int64, of start: Int64) -> Bool {
        let (passed, overflows) = subtractingReportingOverflow(start)
        return !overflows && passed.magnitude < time.magnitude
    }
}

extension PendingWaits: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(files, lastCheck, lastChecked) }

    init(from reader: inout ByteReader) throws(PackFault) {
        files = try reader.read()
        lastCheck = try reader.read()
        lastChecked = try reader.read()
    }
}

extension PendingWaits.Wait: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(since, isReported) }

    init(from reader: inout ByteReader) throws(PackFault) {
        since = try reader.read()
        isReported = try reader.read()
    }
}

extension PackAddress: JournalCodable {
    func write(to bytes: inout JournalBytes) { bytes.write(writer, name) }

    init(from reader: inout ByteReader) throws(PackFault) {
        try self.init(writer: reader.read(), name: reader.read())
    }
}
