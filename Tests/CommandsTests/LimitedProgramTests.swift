import Commands
import Foundation
import Platform
import TestSupport
import Testing

@Suite struct `A program with limits` {
    private func run(_ command: String, input: String = "", milliseconds: Int = 60_000) throws -> String {
        let program = LimitedProgram(
            path: "/bin/sh", words: ["sh", "-c", command], mostMilliseconds: milliseconds, mostBytes: 1 << 16)
        return String(decoding: try program.output(for: Array(input.utf8)), as: UTF8.self)
    }

    private static let beyond = "took more than 60 s or printed more than 64 KiB"

    @Test(
        arguments: [
            ("echo a", "a\n", nil), ("cat", "", nil), ("exit 3", "", "failed with status 3"),
            ("kill -9 $$", "", "was ended by signal 9"), ("yes", "", beyond),
            ("head -c 65536 /dev/zero | wc -c", "65536\n", nil),
            ("head -c 65537 /dev/zero", "", beyond),
        ] as [(String, String, String?)])
    func `returns its output, or fails`(_ command: String, _ output: String, _ failure: String?) throws {
        guard let failure else { return #expect(try run(command) == output) }
        let error = #expect(throws: LimitedProgram.Failure.self) { try run(command) }
        #expect(error?.description == failure)
    }

    @Test func `reads an input that is longer than a pipe holds while it writes as much`() throws {
        let text = String(repeating: "x", count: 1 << 16)
        #expect(try run("cat", input: text) == text)
    }

    /// Commands that do not end. The last one closes its output.
    @Test(arguments: ["sleep 1000", "sleep 1000 & wait", "exec >&-; sleep 1000"])
    func `is killed at its limit, with its child processes`(_ command: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.url.path(percentEncoded: false) + "/group"
        let failure = #expect(throws: LimitedProgram.Failure.self) {
            try run("echo $$ > '\(file)'; \(command)", milliseconds: 300)
        }
        #expect(failure?.description.hasPrefix("took more than ") == true)
        // The shell may not have started within the limit.
        guard let text = try? String(contentsOfFile: file, encoding: .utf8), let group = Int32(text.dropLast()) else {
            return
        }
        let members = { try Subprocess.run("ps", ["-o", "stat=", "-g", "\(group)"]).text }
        while try !members().split(separator: "\n").allSatisfy({ $0.hasPrefix("Z") }) {}
    }
}
