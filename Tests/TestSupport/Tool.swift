internal import Foundation

/// The programs that tests use for comparison or verification. `Tests/run` installs them.
///
/// A test declares `.enabled(if: Tool.isExpected("mandoc"), Tool.absence(of: "mandoc"))`. It is skipped on a machine
/// without the program. In CI it runs, and so fails, unless the privilege to install the program was missing.
public enum Tool: Sendable {
    /// Returns the path of a program, which is given as a path or as a name in PATH.
    public static func path(of program: String) -> String? {
        if program.contains("/") { return isExecutable(program) ? program : nil }
        return ProcessInfo.processInfo.environment["PATH", default: "/usr/bin:/bin"].split(separator: ":")
            .map { "\($0)/\(program)" }.first(where: isExecutable)
    }

    /// Whether a test can rely on the program.
    public static func isExpected(_ program: String) -> Bool {
        path(of: program) != nil || (isInCI && !lacksPrivilege(for: program))
    }

    /// Returns the reason for skipping a test that needs the program.
    public static func absence(of program: String) -> String {
        let reason = lacksPrivilege(for: program) ? " and cannot be without privilege" : ""
        return "\(program) is not installed" + reason
    }

    private static var isInCI: Bool { ProcessInfo.processInfo.environment["CI"] == "true" }

    private static func isExecutable(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Whether the program is one that `Tests/run` could not install without privilege.
    private static func lacksPrivilege(for program: String) -> Bool {
        ProcessInfo.processInfo.environment["PREFS_TOOLS_WITHOUT_PRIVILEGE", default: ""].split(separator: " ")
            .contains { $0 == program }
    }
}
