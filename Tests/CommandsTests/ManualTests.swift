import Commands
import Foundation
import TestSupport
import Testing

/// The manual says what the table says, in both directions.
@Suite struct ManualTests {
    private func page() throws -> String {
        let file = packageRoot.appending(path: "man/prefs.1")
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    /// The lines of a section.
    private func section(_ name: String) throws -> [String] {
        let lines = try page().split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex(of: ".Sh \(name)"))
        return Array(lines[(start + 1)...].prefix { !$0.hasPrefix(".Sh ") })
    }

    @Test func `every verb has its place, and only verbs have`() throws {
        let verbs = Verb.all.filter { $0.kind != .hidden }
        let lines = try section("VERBS")
        #expect(lines.filter { $0.hasPrefix(".Ss ") }.map { String($0.dropFirst(4)) } == verbs.map(\.name))
        for verb in verbs {
            let start = try #require(lines.firstIndex(of: ".Ss \(verb.name)"))
            let own = lines[(start + 1)...].prefix { !$0.hasPrefix(".Ss ") }
            let items = own.filter { $0.hasPrefix(".It Fl ") || $0.hasPrefix(".It Cm ") }
            let named = Set(items.compactMap { $0.split(separator: " ").dropFirst(2).first.map(String.init) })
            let options =
                verb.options.map { $0.name.dropFirst() } + verb.parts.flatMap(\.options).map { $0.name.dropFirst() }
            let types = verb.table.map { $0.rows.compactMap { $0.word.split(separator: " ").first?.dropFirst() } } ?? []
            let expected = Set(options.map(String.init) + verb.parts.map(\.name) + types.map(String.init))
            #expect(named == expected, "\(verb.name)")
            for alias in verb.aliases { #expect(own.contains { $0.contains(alias) }, "\(alias)") }
        }
    }

    @Test func `every option before the verb, status and format has its item`() throws {
        let options = try section("OPTIONS").filter { $0.hasPrefix(".It Fl ") }
        #expect(
            options.compactMap { $0.split(separator: " ").dropFirst(2).first.map(String.init) }
                == Option.global.map { String($0.name.dropFirst()) })
        let statuses = try section("EXIT STATUS").filter { $0.hasPrefix(".It ") }.map { $0.dropFirst(4) }
        #expect(statuses.map { Int32($0) } == ExitStatus.allCases.map(\.rawValue))
        let formats = try section("FORMATS").filter { $0.hasPrefix(".It Cm ") }.joined(separator: " ")
        for format in FormatName.ofValues {
            for name in [format.rawValue] + format.synonyms {
                #expect(formats.split(separator: " ").contains { $0 == name })
            }
        }
    }

    @Test func `the meanings of the statuses are the table's`() throws {
        let text = try section("EXIT STATUS").joined(separator: " ").lowercased()
        for status in ExitStatus.allCases { #expect(text.contains(status.meaning.lowercased()), "\(status)") }
    }
}
