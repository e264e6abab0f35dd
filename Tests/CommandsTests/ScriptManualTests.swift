import Commands
import Foundation
import TestSupport
import Testing

/// Checks the manual of `prefs args` against the code, and runs its examples.
@Suite struct `The manual of prefs args` {
    private let lines: [String]

    init() throws {
        let file = packageRoot.appending(path: "man/prefs-args.1")
        lines = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private func section(_ name: String) throws -> [String] {
        let start = try #require(lines.firstIndex(of: ".Sh \(name)"))
        return Array(lines[(start + 1)...].prefix { !$0.hasPrefix(".Sh ") })
    }

    /// The words after a macro in the heads of a section's items.
    private func heads(_ macro: String, _ name: String) throws -> [String] {
        try section(name).filter { $0.hasPrefix(".It \(macro) ") }
            .flatMap { $0.dropFirst(5 + macro.count).split(separator: " ").map(String.init) }.filter { $0 != "," }
    }

    @Test func `has every option, output and status of the verb`() throws {
        let options = try section("OPTIONS").filter { $0.hasPrefix(".It Fl ") }
            .compactMap { $0.split(separator: " ").dropFirst(2).first.map { "-\($0)" } }
        #expect(options == Verb.args.options.map(\.name))
        let outputs = try #require(Verb.args.options.first { $0.name == "--shell" }?.argument?.choices)
        #expect(try Set(heads("Cm", "OUTPUT")) == Set(outputs))
        let statuses = try section("EXIT STATUS").filter { $0.hasPrefix(".It ") }.map { Int32($0.dropFirst(4)) }
        #expect(statuses == Verb.args.allStatuses.map(\.rawValue))
    }

    @Test(.enabled(if: InstalledCommand.isBuilt, "the executable is not beside the tests"))
    func `names only words that a declaration can have`() throws {
        let lines = try section("DECLARATION LINES")
        let start = try #require(lines.firstIndex { $0.hasPrefix(".It Ic #prefs ") })
        let head = lines[(start + 1)...].prefix { !$0.hasPrefix(".It ") }.filter { $0.hasPrefix(".Cm ") }
            .flatMap { $0.split(separator: " ") }.filter { $0.first?.isLowercase ?? false }
        let items = lines.compactMap { $0.wholeMatch(of: /\.It Li \{([a-z-]+)(?:: .*)?\}/)?.1 }
        #expect(head.count > 10 && items.count > 20)
        let script =
            ["#!/bin/sh", "#prefs " + head.map { "\($0)=1" }.joined(separator: " ")]
            + items.map { "# @option --\($0)=TEXT {\($0): 1}" }
        let command = try InstalledCommand()
        try Data(script.joined(separator: "\n").utf8).write(to: command.home.appending(path: "declared"))
        let result = try command.run("bash", ["-c", "prefs schema check declared 2>&1"])
        #expect(!result.text.contains("unknown {"), "\(result.text)")
        for name in head { #expect(!result.text.contains("unknown name \(name)"), "\(result.text)") }
    }

    /// The commands of the examples, with their output.
    private func steps() throws -> [(command: String, shown: String)] {
        var steps: [(command: String, shown: String)] = []
        var isExample = false
        for line in try section("EXAMPLES") {
            if line.hasPrefix(".Bd ") || line == ".Ed" {
                isExample = line != ".Ed"
            } else if isExample, line.hasPrefix("$ ") {
                steps.append((Self.plain(String(line.dropFirst(2))), ""))
            } else if isExample, !steps.isEmpty {
                steps[steps.count - 1].shown += Self.plain(line) + "\n"
            }
        }
        return steps
    }

    private static func plain(_ line: String) -> String {
        line.replacing("\\(aq", with: "'").replacing("\\-", with: "-").replacing("\\&", with: "")
            .replacing("\\e", with: "\\")
    }

    @Test(.enabled(if: InstalledCommand.isBuilt, "the executable is not beside the tests"))
    func `has examples that print what they show`() throws {
        let steps = try steps()
        #expect(steps.count > 8)
        let command = try InstalledCommand()
        for (line, shown) in steps {
            if line.hasPrefix("cat ") {
                let file = command.home.appending(path: String(line.dropFirst(4)))
                try Data(shown.utf8).write(to: file)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o755], ofItemAtPath: file.path(percentEncoded: false))
                continue
            }
            let result = try command.run("bash", ["-c", line + " 2>&1"])
            #expect(result.text == shown, "\(line)")
        }
        let page = try Data(contentsOf: command.home.appending(path: "nightly.1"))
        #expect(String(decoding: page, as: UTF8.self).hasPrefix(".Dd "))
    }
}
