import Foundation
import TestSupport
import Testing

/// The references between the pages of the manual.
@Suite struct `The manual's pages` {
    private let pages: [String: String]

    init() throws {
        let folder = packageRoot.appending(path: "man")
        var pages: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)) {
            pages[name] = String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
        }
        self.pages = pages
    }

    /// The files that a text refers to: `.Xr prefs 5` means `prefs.5`.
    private func references(in text: some StringProtocol) -> [String] {
        String(text).matches(of: /\bXr ([A-Za-z-]+) ([1-9])/).map { "\($0.1).\($0.2)" }
    }

    /// The references in the SEE ALSO section of a page.
    private func seeAlso(_ text: String) throws -> [String] {
        let start = try #require(text.range(of: ".Sh SEE ALSO\n")).upperBound
        let end = text.range(of: "\n.Sh ", range: start..<text.endIndex)?.lowerBound ?? text.endIndex
        return references(in: text[start..<end])
    }

    @Test func `are those that the architecture names`() {
        #expect(
            pages.keys.sorted() == [
                "PlistBuddy.8", "defaults.1", "plutil.1", "prefs-args.1", "prefs-mirror.1", "prefs-mirror.7",
                "prefs-query.1", "prefs-schema.5", "prefs.1", "prefs.5",
            ])
    }

    @Test func `refer only to pages of ours that exist`() {
        for (name, text) in pages {
            let missing = references(in: text).filter { $0.hasPrefix("prefs") && pages[$0] == nil }
            #expect(missing == [], "\(name)")
        }
    }

    @Test func `list all of their references at the end, and not themselves`() throws {
        for (name, text) in pages {
            let listed = try seeAlso(text)
            #expect(!listed.contains(name), "\(name)")
            let elsewhere = Set(references(in: text)).filter { $0.hasPrefix("prefs") && $0 != name }
            #expect(elsewhere.subtracting(listed) == [], "\(name)")
        }
    }

    @Test func `are referred to by those that they refer to`() throws {
        for (name, text) in pages {
            for other in try seeAlso(text) where pages[other] != nil {
                #expect(try seeAlso(pages[other] ?? "").contains(name), "\(name) refers to \(other)")
            }
        }
    }

    @Test func `are all named by the first one`() throws {
        #expect(try Set(seeAlso(pages["prefs.1"] ?? "") + ["prefs.1"]) == Set(pages.keys))
    }
}
