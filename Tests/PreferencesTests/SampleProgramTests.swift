import Foundation
import TestSupport
import Testing

/// The program in Tests/Samples, which was written for Foundation.
@Suite struct SampleProgramTests {
    private static let folder = packageRoot.appending(path: "Tests/Samples/UserDefaultsProgram")

    /// The program runs twice, with and without arguments. The second run reads the values that the first one stored.
    @Test func `the sample prints the expected output with Foundation`() throws {
        let place = try TemporaryFolder()
        let program = place.url.appending(path: "Program").path(percentEncoded: false)
        let source = Self.folder.appending(path: "main.swift").path(percentEncoded: false)
        let build = try Subprocess.run("swiftc", [source, "-o", program], in: place.url)
        try #require(build.status == 0, "\(build.text)\(build.errorText)")
        let home = place.url.path(percentEncoded: false)
        let surroundings = ["HOME": home, "XDG_CONFIG_HOME": home + "/.config"]
        let runs = try [["-margin", "7", "-other", "x"], []].map {
            try Subprocess.run(program, $0, environment: surroundings, in: place.url)
        }
        #expect(runs.map(\.status) == [0, 0])
        let expected = try String(contentsOf: Self.folder.appending(path: "expected-output"), encoding: .utf8)
        #expect(runs.map(\.text).joined() == expected)
    }
}
