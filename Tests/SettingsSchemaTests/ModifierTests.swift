import Foundation
import TestSupport
import Testing

@Suite(.enabled(if: Modifiers.modules != nil, "the compiler or the modules are missing"))
struct `A modifier of a setting` {
    /// Expressions, and whether they compile.
    static let rows: [(code: String, compiles: Bool)] = [
        ("Setting(\"a\", default: \"\").length(1...9).pattern(\"[a-z]*\")", true),
        ("Setting<String?>(\"a\").length(1...9).pattern(\"[a-z]*\")", true),
        ("Setting(\"a\", default: [\"\"]).length(...9).pattern(\"[a-z]*\")", true),
        ("Setting(\"a\", default: Data()).length(...9)", true), ("Setting<Data?>(\"a\").length(...9)", true),
        ("Setting<URL?>(\"a\").length(...9)", true), ("Setting(\"a\", default: Host()).pattern(\"[a-z]+\")", true),
        ("Setting(\"a\", default: 1).length(1...9)", false), ("Setting(\"a\", default: true).pattern(\"x\")", false),
        ("Setting(\"a\", default: Data()).pattern(\"x\")", false),
        ("Setting(\"a\", default: [1]).length(1...9)", false),
        ("Setting(\"a\", default: Window()).length(1...9)", false),

        ("Setting(\"a\", default: 1).range(1...9)", true), ("Setting<Double?>(\"a\").range(0...1)", true),
        ("Setting(\"a\", default: [1]).range(1...9)", true),
        ("Setting(\"a\", default: Date.distantPast).range(Date.distantPast...)", true),
        ("Setting(\"a\", default: Level(1)).range(Level(0)...Level(9))", true),
        ("Setting(\"a\", default: \"b\").range(\"a\"...\"c\")", false),
        ("Setting<Int>(\"a\", default: 1).range(1.5...2)", false),

        ("Setting(\"a\", default: true).negatable()", true), ("Setting<Bool?>(\"a\").negatable()", true),
        ("Setting(\"a\", default: 1).negatable()", false), ("Setting(\"a\", default: \"yes\").negatable()", false),

        ("Setting(\"a\", default: [1]).count(1...).unique().separator(\",\").repeats().rest()", true),
        ("Setting<Set<String>?>(\"a\").count(1...).unique().separator(\",\").repeats()", true),
        ("Setting(\"a\", default: 0).repeats()", true), ("Setting(\"a\", default: UInt8(0)).repeats()", true),
        ("Setting(\"a\", default: [\"k\": 1]).count(1...).merges()", true),
        ("Setting<[String: Int]?>(\"a\").merges()", true),
        ("Setting(\"a\", default: Window()).merges()", true),
        ("Setting(\"a\", default: [\"k\": 1]).repeats()", true), ("Setting(\"a\", default: Window()).repeats()", true),
        ("Setting(\"a\", default: \"\").repeats()", false), ("Setting(\"a\", default: 1).count(1...)", false),
        ("Setting(\"a\", default: 1).unique()", false), ("Setting(\"a\", default: \"\").separator(\",\")", false),
        ("Setting(\"a\", default: \"\").rest()", false), ("Setting(\"a\", default: [1]).merges()", false),
        ("Setting(\"a\", default: 1).merges()", false),

        ("{ (s: Settings<Serve>) -> Int in s.port }", true), ("{ (s: Settings<Serve>) in s.port = 1 }", true),
        ("{ (s: Settings<Serve>) -> Int in s.depth }", false), ("{ (s: Settings<Serve>) in s.port = true }", false),
        ("CommandCase(\"serve\", Serve.self, Command.serve)", true),
        ("CommandCase(\"serve\", List.self, Command.serve)", false),
        ("CommandCase(\"serve\", Command.serve) as CommandCase<Command>", false),
        ("{ (c: Command) -> Int in switch c { case .serve(let s): s.port; case .list(let s): s.depth } }", true),
        ("{ (c: Command) -> Int in switch c { case .serve(let s): s.port } }", false),
    ]

    @Test func `compiles only for values to which it applies`() throws {
        let declarations = """
            import Foundation; import Preferences
            struct Host: Codable, Sendable, SettingText { var name = "" }
            struct Serve: SettingKeys { let port = Setting("port", default: 80) }
            struct List: SettingKeys { let depth = Setting("depth", default: 1) }
            enum Command { case serve(Settings<Serve>), list(Settings<List>) }
            struct Window: Codable, Sendable, SettingDictionary { var width = 1 }
            struct Level: Codable, Sendable, Comparable, SettingNumber {
                let n: Int; init(_ n: Int) { self.n = n }; static func < (a: Level, b: Level) -> Bool { a.n < b.n } }

            """
        let first = declarations.split(separator: "\n", omittingEmptySubsequences: false).count
        let folder = try TemporaryFolder()
        let lines = Self.rows.enumerated().map { index, row in "func f\(index)() { _ = \(row.code) }" }
        try folder.write(declarations + lines.joined(separator: "\n") + "\n", to: "rows.swift")
        let result = try Subprocess.run(
            "swiftc", ["-typecheck", "-swift-version", "6", "-I", try #require(Modifiers.modules), "rows.swift"],
            in: folder.url)
        let messages = result.errorText.split(separator: "\n").compactMap { line -> (row: Int, text: String)? in
            guard let match = line.wholeMatch(of: /.*rows\.swift:(\d+):\d+: (error: .*)/), let line = Int(match.1)
            else {
                return nil
            }
            return (line - first, String(match.2))
        }
        for (index, row) in Self.rows.enumerated() {
            let own = messages.filter { $0.row == index }
            #expect(own.isEmpty == row.compiles, "\(row.code): \(own)")
        }
        #expect(messages.allSatisfy { Self.rows.indices.contains($0.row) }, "\(result.errorText.prefix(2000))")
    }
}

private enum Modifiers {
    /// The folder of the modules beside the tests, if there is a compiler.
    static let modules: String? = {
        let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "Modules").path(percentEncoded: false)
        let hasModule = FileManager.default.fileExists(atPath: folder + "/Preferences.swiftmodule")
        return hasModule && Tool.path(of: "swiftc") != nil ? folder : nil
    }()
}
