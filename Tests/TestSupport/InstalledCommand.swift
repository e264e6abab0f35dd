public import Foundation

/// The command as it was built for this test run, with a home folder of its own.
public final class InstalledCommand: Sendable {
    private let folder: TemporaryFolder

    /// A folder with a link to the command, so that it can be found by name.
    public let programs: URL
    public let home: URL

    public init() throws {
        folder = try TemporaryFolder()
        programs = folder.url.appending(path: "bin")
        home = folder.url.appending(path: "home")
        for url in [programs, home] {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(at: programs.appending(path: "prefs"), withDestinationURL: Self.file)
    }

    /// The command is beside the tests, in any build folder.
    private static let file = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "prefs")

    public static var isBuilt: Bool { Tool.path(of: file.path(percentEncoded: false)) != nil }

    /// The environment in which a shell finds the command, and the command finds its home.
    public var variables: [String: String] {
        let path = ProcessInfo.processInfo.environment["PATH", default: "/usr/bin:/bin"]
        return [
            "HOME": home.path(percentEncoded: false), "PATH": programs.path(percentEncoded: false) + ":" + path,
            "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "XDG_DATA_HOME": "", "XDG_CONFIG_DIRS": "", "ZDOTDIR": "",
        ]
    }

    /// Runs a program, such as the command itself or a shell.
    public func run(_ program: String, _ arguments: [String], input: String = "") throws -> Subprocess {
        try Subprocess.run(
            program == "prefs" ? Self.file.path(percentEncoded: false) : program, arguments, input: Data(input.utf8),
            environment: variables, in: home)
    }
}
