import Foundation
import TestSupport
import Testing

/// Each module's folder has a file with the module's name, which documents its purpose and its folders.
@Suite struct `A module` {
    private let sources = packageRoot.appending(path: "Sources")

    private func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted()
    }

    @Test func `explains itself in the file that has its name`() throws {
        let modules = try names(sources).filter { $0 != "prefs" }
        #expect(modules.count > 5)
        for module in modules {
            let folder = sources.appending(path: module)
            let file = try String(contentsOf: folder.appending(path: "\(module).swift"), encoding: .utf8)
            let note = file.split(separator: "\n").prefix { $0.hasPrefix("//") }.joined(separator: " ")
            #expect(!note.isEmpty, "\(module)")
            for name in try names(folder) where !name.contains(".") {
                #expect(note.contains(name), "\(module) says nothing of its folder \(name)")
            }
        }
    }

    /// Without `LocalizedError`, a user reads "The operation could not be completed".
    @Test func `has a sentence for each of its public errors`() throws {
        var (errors, sentences): ([Substring], [Substring]) = ([], [])
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        for case let file as URL in try #require(files) where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            errors += text.matches(of: /public (?:struct|enum|final class) (\w+): Error\b/).map(\.1)
            sentences += text.matches(of: /extension (?:\w+\.)*(\w+): LocalizedError\b/).map(\.1)
        }
        #expect(errors.count > 10)
        #expect(errors.sorted() == sentences.sorted())
    }
}
