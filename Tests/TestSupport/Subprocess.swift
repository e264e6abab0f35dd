public import Foundation

/// What another program did: its status and all that it wrote.
public struct Subprocess: Sendable {
    /// The exit status, or 128 and the number of the signal that ended it, as a shell says it.
    public let status: Int32
    public let output: Data
    public let errors: Data

    package init(status: Int32, output: Data, errors: Data) {
        (self.status, self.output, self.errors) = (status, output, errors)
    }

    public var text: String { String(decoding: output, as: UTF8.self) }
    public var errorText: String { String(decoding: errors, as: UTF8.self) }

    /// Runs a program to its end.
    ///
    /// Input and output go through files, so that neither side can wait for the other to read.
    ///
    /// - Parameters:
    ///   - program: A path, or a name that is looked up in PATH.
    ///   - arguments: What the program is told.
    ///   - input: What it reads from its standard input.
    ///   - environment: Variables set on top of the test's own.
    ///   - folder: Where it runs.
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
