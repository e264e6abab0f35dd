import Foundation
import TestSupport
import Testing

/// Tests `Sources/prefs/release` in a repository of its own.
@Suite struct ReleaseTests {
    private struct Repository {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            for name in ["Sources/prefs/release", "Sources/Commands/Commands.swift", "README.md"] {
                let copy = folder.url.appending(path: name)
                try FileManager.default.createDirectory(
                    at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
                try FileManager.default.copyItem(at: packageRoot.appending(path: name), to: copy)
            }
            try git("init", "--quiet")
            try commit()
        }

        func git(_ words: String...) throws {
            let outcome = try Subprocess.run("git", words, in: folder.url)
            try #require(outcome.status == 0, "\(outcome.errorText)")
        }

        func commit() throws {
            try git("add", "--all")
            try git(
                "-c", "user.name=tests", "-c", "user.email=tests@localhost", "commit", "--quiet", "--message", "Change")
        }

        func change(_ name: String, _ old: String, _ new: String) throws {
            let file = folder.url.appending(path: name)
            let text = try String(contentsOf: file, encoding: .utf8)
            try #require(text.contains(old))
            try text.replacing(old, with: new).write(to: file, atomically: true, encoding: .utf8)
        }

        func release(_ words: String...) throws -> Subprocess {
            try Subprocess.run(folder.url.appending(path: "Sources/prefs/release").path(percentEncoded: false), words)
        }
    }

    @Test func `a commit that can be released has a tag of three numbers`() throws {
        let repository = try Repository()
        let outcome = try repository.release()
        #expect(outcome.status == 0 && outcome.errorText.isEmpty, "\(outcome.errorText)")
        #expect(outcome.text.contains("git tag --annotate 0.1.0 --message 'prefs 0.1'\n"))
        try repository.change("Sources/Commands/Commands.swift", #"version = "0.1""#, #"version = "0.1.1""#)
        try repository.change("README.md", "This is version 0.1", "This is version 0.1.1")
        try repository.commit()
        #expect(try repository.release().text.contains("git tag --annotate 0.1.1 --message 'prefs 0.1.1'\n"))
    }

    @Test func `what is missing is printed, and nothing else`() throws {
        let repository = try Repository()
        try repository.git("tag", "0.1.0")
        try repository.change("README.md", "This is version 0.1", "This is version 0.2")
        let outcome = try repository.release()
        #expect(outcome.status == 1 && outcome.text.isEmpty)
        #expect(
            outcome.errorText == """
                release: there are files that are not in the commit
                release: the tag 0.1.0 exists; a new version belongs into Sources/Commands/Commands.swift
                release: README.md does not have the line "This is version 0.1"

                """)
        #expect(try repository.release("x").status == 2)
    }
}
