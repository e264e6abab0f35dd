import Foundation
import Platform
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct TranscriptTests {
    static let names: [String] = {
        let folder = packageRoot.appending(path: "Tests/Transcripts").path(percentEncoded: false)
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return files.filter { $0.hasSuffix(".transcript") }.sorted()
    }()

    @Test func `there are transcripts`() { #expect(!Self.names.isEmpty) }

    @Test(arguments: names)
    func `the command behaves as its transcript shows`(_ name: String) throws {
        let file = packageRoot.appending(path: "Tests/Transcripts").appending(path: name)
        let transcript = try Transcript(parsing: String(decoding: Data(contentsOf: file), as: UTF8.self))
        #expect(!transcript.steps.isEmpty)
        // All commands of one transcript run on one machine, so that what one writes the next one reads.
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        let failures = try transcript.failures(masking: withoutConflictNames) { words, input in
            try Self.run(words, input, on: machine)
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    /// Runs a command. `sudo` or the values of variables can precede it.
    private static func run(
        _ words: [String], _ input: String, on machine: SimulatedMachine
    ) throws -> Transcript.Outcome {
        var (words, variables) = (words[...], EnvironmentVariables())
        while let word = words.first, let equals = word.firstIndex(of: "="), word.first?.isUppercase == true {
            variables[String(word[..<equals])] = String(word[word.index(after: equals)...])
            words.removeFirst()
        }
        let isRoot = words.first == "sudo"
        if isRoot { words.removeFirst() }
        var environment = machine.environment
        if isRoot { environment.user = 0 }
        return try runPrefs(
            Array(words), input: input, on: machine, as: isRoot ? machine.disk.process(user: 0) : nil,
            environment: environment, variables: variables)
    }

    /// The transcripts whose domains can be folders without any other difference than the ending of their paths.
    static let ofFolders = ["explain", "find", "form", "schema"]

    @Test(arguments: ofFolders)
    func `the command behaves the same if each domain is a folder`(_ name: String) throws {
        let file = packageRoot.appending(path: "Tests/Transcripts").appending(path: "\(name).transcript")
        let text = try String(decoding: Data(contentsOf: file), as: UTF8.self)
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        let store = "/home/ada/.config/prefs/"
        for domain in Set(text.matches(of: /\b(com|org)\.example(\.[a-zA-Z0-9-]+)+/).map { String($0.output.0) }) {
            try machine.fileSystem.makeFolders(try #require(FilePath("\(store)\(domain).prefs")))
        }
        var count = 0
        func masked(_ text: String) -> String { text.replacing(".prefs", with: ".plist") }
        let failures = try Transcript(parsing: text).failures(masking: masked) { words, input in
            count += 1
            return try runPrefs(words, input: input, on: machine)
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
        let folders = try machine.fileSystem.names(in: FilePath(store) ?? "/") ?? []
        #expect(count > 0 && folders.contains { $0.description.hasSuffix(".prefs") })
    }

    static let sample = """
        # A comment.
        $ prefs write 'a b' "c\\"d" \\$x
        < in
        <~ more
        | one
        |
        | two
        ! three
        ? 3

        $ prefs
        |~ unfinished
        """

    @Test func `a transcript is read as it is written`() throws {
        let transcript = try Transcript(parsing: Self.sample)
        #expect(transcript.steps.count == 2)
        #expect(try ShellScript.words(transcript.steps[0].command) == ["prefs", "write", "a b", "c\"d", "$x"])
        #expect(transcript.steps[0].input == "in\nmore")
        #expect(transcript.steps[0].line == 2)
        #expect(transcript.steps[0].outcome == Transcript.Outcome(output: "one\n\ntwo\n", errors: "three\n", status: 3))
        #expect(transcript.steps[1].outcome == Transcript.Outcome(output: "unfinished"))
    }

    @Test func `a command that behaves differently fails its transcript`() throws {
        let transcript = try Transcript(parsing: Self.sample)
        let expected = transcript.steps.map(\.outcome)
        var calls = 0
        let none = try transcript.failures { _, _ in
            calls += 1
            return expected[calls - 1]
        }
        #expect(none == [])
        for (index, outcome) in [
            Transcript.Outcome(), .init(output: "unfinished\n"), .init(output: "unfinished", status: 1),
        ].enumerated() {
            var calls = 0
            let failures = try transcript.failures { _, _ in
                calls += 1
                return calls == 1 ? expected[0] : outcome
            }
            #expect(failures.count == 1, "\(index)")
            #expect(failures.first?.hasPrefix("line 11: $ prefs\nexpected:\n|~ unfinished\ncame:\n") == true)
        }
    }

    @Test(arguments: ["| a", "$ a\n? x", "$ a\nb", "$ a\n$ 'b"])
    func `an invalid transcript is rejected`(_ text: String) {
        #expect(throws: (any Error).self) {
            try Transcript(parsing: text).failures { _, _ in Transcript.Outcome() }
        }
    }
}

/// Replaces the names of conflicts, which depend on the random number of the mirror.
func withoutConflictNames(_ text: String) -> String {
    text.replacing(/\b[0-9a-hjkmnp-tv-z]{6}(?=(  (open  |resolved  )?com\.|: com\.|: lost|`))/, with: "NAME")
}
