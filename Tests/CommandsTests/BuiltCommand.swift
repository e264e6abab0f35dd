import Foundation
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The executable next to the tests, with its own home folder.
struct BuiltCommand {
    let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    /// Nil if the tests are not in the folder of the build's products. `Tests/run` may give the path of a release
    /// build.
    static let path: String? = {
        if let path = ProcessInfo.processInfo.environment["PREFS_COMMAND"] { return path }
        let folders = [
            URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent(),
            packageRoot.appending(path: ".build/debug"),
        ]
        let paths = folders.map { $0.appending(path: "prefs").path(percentEncoded: false) }
        return paths.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    struct NotBuilt: Error {}

    var folder: String { home.url.path(percentEncoded: false) }

    /// The environment of the command: an empty home, and no settings of an administrator.
    var environment: [String: String] {
        var variables = [
            "HOME": folder, "TMPDIR": folder, "PREFS": Self.path ?? "prefs", "VISUAL": "", "EDITOR": "",
        ]
        for (name, place) in [
            ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("XDG_DATA_HOME", "data"),
            ("XDG_CONFIG_DIRS", "etc"), ("XDG_DATA_DIRS", "share"),
        ] { variables[name] = folder + "/" + place }
        return variables
    }

    func run(_ words: [String], input: String = "", _ variables: [String: String] = [:]) throws -> Subprocess {
        guard let path = Self.path else { throw NotBuilt() }
        return try Subprocess.run(
            path, words, input: Data(input.utf8), environment: environment.merging(variables) { $1 }, in: home.url)
    }

    /// Runs a shell script with the command's path in `PREFS`.
    func script(_ text: String) throws -> Subprocess {
        let (output, errors) = (home.url.appending(path: "output"), home.url.appending(path: "errors"))
        for file in [output, errors] { try Data().write(to: file) }
        let process = try SpawnedProcess(
            "/bin/sh", ["-c", "cd \"$HOME\" || exit 1\n" + text], environment,
            output: try FileHandle(forWritingTo: output), errors: try FileHandle(forWritingTo: errors))
        return Subprocess(
            status: try process.end().status, output: try Data(contentsOf: output),
            errors: try Data(contentsOf: errors))
    }

    /// Starts the command without waiting for its end.
    func start(_ words: [String], output: FileHandle? = nil) throws -> SpawnedProcess {
        guard let path = Self.path else { throw NotBuilt() }
        let script = "cd \"$HOME\" && exec \"$0\" \"$@\""
        return try SpawnedProcess("/bin/sh", ["-c", script, path] + words, environment, output: output)
    }
}

/// The lines that a running command writes.
final class RunningOutput {
    private let pipe = Pipe()
    var end: FileHandle { pipe.fileHandleForWriting }
    private var bytes: [UInt8] = []

    /// Whether there is output to read.
    var hasCome: Bool { isReady(within: 0) }

    /// Closes the test's end for writing, so that the output ends when the command does.
    func close() throws { try pipe.fileHandleForWriting.close() }

    /// Returns the next complete line, or nil at the end of the command or after two minutes.
    func line() -> String? {
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                defer { bytes.removeFirst(end + 1) }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            guard isReady(within: 120_000) else { return nil }
            let data = pipe.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            bytes += data
        }
    }

    private func isReady(within milliseconds: Int32) -> Bool {
        var polled = pollfd(fd: pipe.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, milliseconds) > 0
    }
}
