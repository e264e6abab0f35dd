import Foundation
import TestSupport
import Testing

/// Runs the transcripts with the built executable on the real machine.
@Suite(.enabled(if: BuiltCommand.path != nil, "the executable is not beside the tests"))
struct BuiltTranscriptTests {
    /// Without those that need an administrator.
    @Test(arguments: TranscriptTests.names.filter { $0 != "administration.transcript" })
    func `the executable behaves as the transcript shows`(_ name: String) throws {
        let file = packageRoot.appending(path: "Tests/Transcripts").appending(path: name)
        let transcript = try Transcript(parsing: String(decoding: Data(contentsOf: file), as: UTF8.self))
        let home = try ShortHome()
        let failures = try transcript.failures(masking: home.masked) { words, input in
            try home.run(words, input: input)
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }
}

/// A home whose path has the length of the simulated user's home, so that columns stay aligned.
private final class ShortHome {
    private let path: String
    private static let simulated = "/home/ada"

    init() throws {
        for _ in 0..<100 {
            let name = String((0..<4).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement() ?? "a" })
            guard mkdir("/tmp/" + name, 0o700) == 0 else { continue }
            path = "/tmp/" + name
            return
        }
        throw CocoaError(.fileWriteUnknown)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func run(_ words: [String], input: String) throws -> Transcript.Outcome {
        let program = try #require(BuiltCommand.path)
        // The variables of the user who runs the tests lead to that user's settings.
        var environment = [
            "HOME": path, "TMPDIR": path, "VISUAL": "", "EDITOR": "", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "",
            "XDG_DATA_HOME": "",
        ]
        for (name, place) in [("XDG_CONFIG_DIRS", "/etc/xdg"), ("XDG_DATA_DIRS", "/usr/share")] {
            environment[name] = path + place
        }
        // A link gives the command the name in the transcript.
        let link = path + "/" + (words.first?.split(separator: "/").last.map(String.init) ?? "prefs")
        if !FileManager.default.fileExists(atPath: link) {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: program)
        }
        let arguments = words.dropFirst().map { $0.replacingOccurrences(of: Self.simulated, with: path) }
        let process = try Subprocess.run(
            link, arguments, input: Data(input.utf8), environment: environment, in: URL(filePath: path))
        return Transcript.Outcome(output: process.text, errors: process.errorText, status: process.status)
    }

    /// Returns the text with the path of the simulated home, and without details that differ between runs: the host,
    /// times, and programs with their process numbers.
    func masked(_ text: String) -> String {
        withoutConflictNames(text).replacingOccurrences(of: path, with: Self.simulated)
            .replacingOccurrences(of: BuiltCommand.path ?? "", with: "/usr/bin/program")
            .replacing(/changed \d+ seconds? ago/, with: "changed just now")
            .replacing(/[0-9a-f]{32}/, with: "HOST")
            .replacing(/\b[0-9a-f]{15}\b/, with: "STAMP")
            .replacing(/(program|prefs|defaults)\[[0-9]+\]/, with: "PROGRAM")
            .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+(Z| [+-][0-9]{4})?/, with: "TIME")
    }
}
