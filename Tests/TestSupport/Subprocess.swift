public import Foundation

/// The result of another program: its exit status and its output.
public struct Subprocess: Sendable {
    /// The exit status, or 128 plus the number of the signal that terminated it, as in a shell.
    public let status: Int32
    public let output: Data
    public let errors: Data

    package init(status: Int32, output: Data, errors: Data) {
        (self.status, self.output, self.errors) = (status, output, errors)
    }

    public var text: String { String(decoding: output, as: UTF8.self) }
    public var errorText: String { String(decoding: errors, as: UTF8.self) }

    /// Runs a program to completion.
    ///
    /// Input and output are files, so that neither side can block on the other.
    ///
    /// - Parameters:
    ///   - program: A path, or a name to look up in PATH.
    ///   - arguments: The arguments without the program.
    ///   - input: The standard input.
    ///   - environment: Variables in addition to those of the test.
    ///   - folder: The working folder.
    public static func run(
        _ program: String, _ arguments: [String] = [], input: Data = Data(), environment: [String: String] = [:],
        in folder: URL? = nil
    ) throws -> Subprocess {
        guard let executable = Tool.path(of: program) else { throw Missing(program: program) }
        let files = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(filePath: executable)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = folder
        let (inputFile, outputFile, errorFile) =
            (files.url.appending(path: "in"), files.url.appending(path: "out"), files.url.appending(path: "err"))
        for (file, contents) in [(inputFile, input), (outputFile, Data()), (errorFile, Data())] {
            try contents.write(to: file)
        }
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        process.standardError = try FileHandle(forWritingTo: errorFile)
        try process.run()
        process.waitUntilExit()
        return Subprocess(
            status: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
            output: try Data(contentsOf: outputFile), errors: try Data(contentsOf: errorFile))
    }

    public struct Missing: Error, CustomStringConvertible {
        public let program: String
        public var description: String { "\(program) is not installed" }
    }
}
