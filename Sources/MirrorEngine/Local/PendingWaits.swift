/// How long the engine has waited for files of other writers, and which of our own files it checked last.
///
/// A program stores the waits in a file beside the journal, so that the next program continues them. Without the file,
/// the waits start again.
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
    package func isWithin(_ time: Int64, of start: Int64) -> Bool {
        let (passed, overflows) = subtractingReportingOverflow(start)
        return !overflows && passed.magnitude < time.magnitude
    }
}

extension PendingWaits: FieldwiseCodable {
    static let fields = JournalFields { Self() }.then(\.files, \.lastCheck, \.lastChecked)
}

extension PendingWaits.Wait: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.since, \.isReported)
}

extension PackAddress: FieldwiseCodable {
    static let fields = JournalFields(Self.init, \.writer, \.name)
}
