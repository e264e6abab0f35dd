internal import Foundation

/// The programs that tests compare with or check by. `Tests/run` installs them.
///
/// A test says `.enabled(if: Tool.isExpected("mandoc"), Tool.absence(of: "mandoc"))`: it is skipped on a machine that
/// lacks the program, but in CI it runs, and so fails, unless there was no privilege to install the program.
public enum Tool: Sendable {
    /// The program under a path, or found by its name in PATH.
    public static func path(of program: String) -> String? {
        if program.contains("/") { return isExecutable(program) ? program : nil }
        return ProcessInfo.processInfo.environment["PATH", default: "/usr/bin:/bin"].split(separator: ":")
            .map { "\($0)/\(program)" }.first(where: isExecutable)
    }

    /// Whether a test may count on the program.
    public static func isExpected(_ program: String) -> Bool {
        path(of: program) != nil || (isInCI && !lacksPrivilege(for: program))
    }

    /// Why a test that needs the program is skipped.
    public static func absence(of program: String) -> String {
        let reason = lacksPrivilege(for: program) ? " and cannot be without privilege" : ""
        return "\(program) is not installed" + reason
    }

    private static var isInCI: Bool { ProcessInfo.processInfo.environment["CI"] == "true" }

    private static func isExecutable(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// `Tests/run` names in this variable what it would have installed if it were allowed to.
    private static func lacksPrivilege(for program: String) -> Bool {
        ProcessInfo.processInfo.environment["PREFS_TOOLS_WITHOUT_PRIVILEGE", default: ""].split(separator: " ")
            .contains { $0 == program }
    }
}
