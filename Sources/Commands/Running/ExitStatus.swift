/// The exit statuses of all verbs.
package enum ExitStatus: Int32, Hashable, Sendable, CaseIterable {
    case done = 0
    case notFound = 1
    case usage = 2
    case invalidValue = 3
    case forced = 4
    case damaged = 5
    case systemFailed = 6
    case lockTimeout = 7
    case different = 8
    case conflicts = 9
    case waiting = 10
    case halted = 11
    case overQuota = 12
    case unavailable = 13
}

extension ExitStatus {
    /// The description in help and the manual.
    package var meaning: String {
        switch self {
        case .done: "done, or equal"
        case .notFound: "not found"
        case .usage: "usage: verb, option, number of arguments, or domain name"
        case .invalidValue: "a value that is malformed or not allowed"
        case .forced: "forced by the administrator"
        case .damaged: "damaged or unreadable data"
        case .systemFailed: "system error: disk full, permissions, input or output"
        case .lockTimeout: "timeout while waiting for a lock"
        case .different: "different, or a condition is not met"
        case .conflicts: "a mirror has open conflicts"
        case .waiting: "a mirror waits for a value, a file or a host"
        case .halted: "a mirror is halted and needs a decision"
        case .overQuota: "a mirror is over its quota"
        case .unavailable: "the directory of a mirror is unavailable"
        }
    }
}

extension ExitStatus: Comparable {
    /// Of the statuses of several mirrors, the highest number is returned to the shell.
    package static func < (left: ExitStatus, right: ExitStatus) -> Bool { left.rawValue < right.rawValue }
}
