import Foundation
import TestSupport
import Testing

/// Tests each checker with violations that it must report, and with code that it must accept.
@Suite struct `A planted violation` {
    private let imports = Imports(
        PackageGraph(
            manifest: """
                .library(name: "PropertyLists", targets: ["PropertyLists"]),
                .target(name: "PropertyLists", dependencies: ["Digests"]),
                .target(name: "MirrorEngine", dependencies: ["Digests", "PropertyLists"]),
                .target(name: "Platform", swiftSettings: [.unsafeFlags([], .when(configuration: .release))]),
                .executableTarget(name: "Preferences", dependencies: ["Platform"], path: "Sources/Preferences"),
                .testTarget(name: "Tidy", dependencies: ["Platform"]),
                .target(
                    name: "Support",
                    dependencies: [
                        "Platform",
                        "Tidy",
                    ], path: "Tests/Support"),
                """))

    @Test(arguments: [
        ("Sources/PropertyLists/A.swift", "import Glibc"),
        ("Sources/PropertyLists/A.swift", "internal import Preferences"),
        ("Sources/PropertyLists/A.swift", "import Foundation"),
        ("Sources/PropertyLists/A.swift", "@preconcurrency public import struct Foundation.Date"),
        ("Sources/PropertyLists/A.swift", "#if canImport(FoundationEssentials)\nimport Foundation\n#endif"),
        ("Sources/PropertyLists/A.swift", "#if os(Linux)\n#else\nimport Foundation\n#endif"),
        ("Sources/MirrorEngine/A.swift", "import Observation"),
        ("Sources/PropertyLists/A.swift", "import Musl"),
        ("Sources/Unknown/A.swift", ""),
        ("Tests/Tidy/A.swift", "import Support"),
        ("Tests/Support/A.swift", "@testable import MirrorEngine"),
    ])
    func `in imports is caught`(path: String, text: String) {
        #expect(imports.violations(in: SourceFile(path, text)).count == 1)
    }

    @Test(arguments: [
        ("Sources/PropertyLists/A.swift", "public import FoundationEssentials"),
        ("Sources/PropertyLists/A.swift", "#if canImport(FoundationEssentials)\n#else\nimport Foundation\n#endif"),
        ("Sources/PropertyLists/A.swift", "// import Glibc\nlet text = \"\"\"\n    import Glibc\n    \"\"\""),
        (
            "Sources/Platform/A.swift",
            "#if canImport(Glibc)\nimport Glibc\n#elseif canImport(Musl)\nimport Musl\n#endif"
        ),
        ("Tests/Tidy/A.swift", "import Foundation"),
        ("Tests/Support/A.swift", "import Platform\n@testable import Tidy"),
        ("Sources/MirrorEngine/A.swift", "import PropertyLists"),
    ])
    func `in imports is not seen where there is none`(path: String, text: String) {
        #expect(imports.violations(in: SourceFile(path, text)) == [])
    }

    @Test(arguments: [
        ("Sources/Preferences/A.swift", "let a = try! b()"),
        ("Tests/Corpus/A.swift", "let a = b as! C"),
        ("Sources/Preferences/A.swift", "default: fatalError(\"never\")"),
        ("Sources/Preferences/A.swift", "print(1)"),
        ("Sources/Preferences/A.swift", "let a = \"\\(b(\"(\") + Date())\""),
        ("Sources/Preferences/A.swift", "let a = Date.now"),
        ("Tests/Corpus/A.swift", "try await Task.sleep(for: .seconds(1))"),
        ("Sources/Preferences/A.swift", "// TO" + "DO: later"),
        ("Sources/Preferences/A.swift", "/* /* */ FIX" + "ME */"),
        ("Sources/Preferences/A.swift", "let a = #\"\"\"\n    \\(\n    \"\"\"#\nlet b = try! c()"),
        ("Sources/Preferences/A.swift", "final class A: @unchecked Sendable {}"),
        ("Sources/Preferences/A.swift", "/// A class.\nnonisolated(unsafe) var a = 1"),
        ("Sources/Preferences/A.swift", "var values: [String: Int] = [:]"),
    ])
    func `in words is caught`(path: String, text: String) {
        #expect(BannedWord.violations(in: SourceFile(path, text)).count == 1)
    }

    @Test(arguments: [
        ("Sources/Preferences/A.swift", "// Not try! and not fatalError(, for a reason."),
        ("Sources/Preferences/A.swift", "let a = \"try! \\\" print(\" + #\"\\\"#"),
        ("Sources/Preferences/A.swift", "debugPrint(1); let a = PlainDate(); let b = Date.nowhere"),
        ("Sources/Commands/A.swift", "print(1)"),
        ("Sources/Platform/A.swift", "let a = Date()"),
        ("Sources/Preferences/A.swift", "// Not [String: Int].\nvar values: [Name: Int] = [:]"),
        ("Sources/PropertyLists/PropertyList+Any.swift", "var values: [String: Any] = [:]"),
        ("Tests/Corpus/A.swift", "var values: [String: Int] = [:]"),
        ("Tests/Corpus/A.swift", "@Test func `it's \"try!\" in a name`() {}"),
        ("Sources/Preferences/A.swift", "// Sound because `a` never changes.\nfinal class A: @unchecked Sendable {}"),
    ])
    func `in words is not seen where there is none`(path: String, text: String) {
        #expect(BannedWord.violations(in: SourceFile(path, text)) == [])
    }

    @Test(arguments: [
        ("/// The key for whoever reads it.", 1), ("Whoever writes:", 1), ("the file is told of it, by now", 3),
        ("/// The writer, whoeverish.", 0), ("the unbanned words", 0),
    ])
    func `in phrases is caught in any file`(text: String, count: Int) {
        let file = SourceFile(plainText: [UInt8](text.utf8), at: "man/a.1")
        #expect(BannedWord.phraseViolations(inPlainText: file).count == count)
    }

    @Test func `outside the top level is caught`() throws {
        let planted = try PlantedRepository(["notes.txt": "", "Sources/A.swift": "", "docs/a.md": "", ".ci/run": ""])
        #expect(try TrackedFiles.strays(in: planted.repository).map(\.place) == ["docs/a.md", "notes.txt"])
    }

    @Test(arguments: [
        ("let a  = 1\n", true), ("func a() {\n  b()\n}\n", true), ("func `a b`() {}\n", false),
        ("let someName = 1\n", false), ("let some_name = 1\n", true),
        ("let a = \"\(String(repeating: "b", count: 120))\"\n", true),
        ("/// \(String(repeating: "b", count: 117))\nlet a = 1\n", true),
        ("/// \(String(repeating: "ä", count: 116))\nlet a = 1\n", false),
    ])
    func `in layout is caught`(text: String, isCaught: Bool) throws {
        let planted = try PlantedRepository(["A.swift": text])
        #expect(try ForeignCheckers.layout(in: planted.repository).isEmpty != isCaught)
    }

    /// A rule that is missing from the table would be disabled silently.
    @Test func `can be caught by every rule of the formatter`() throws {
        let everything = try Subprocess.run("swift", ["format", "dump-configuration"]).output
        let ours = try Data(contentsOf: ForeignCheckers.formatRules)
        #expect(try rules(in: ours) == rules(in: everything))
    }

    private func rules(in configuration: Data) throws -> Set<String> {
        struct Configuration: Decodable { let rules: [String: Bool] }
        return try Set(JSONDecoder().decode(Configuration.self, from: configuration).rules.keys)
    }

    @Test(.enabled(if: Tool.isExpected("shellcheck"), "\(Tool.absence(of: "shellcheck"))"))
    func `in shell scripts is caught`() throws {
        let planted = try PlantedRepository([
            "run": "#!/usr/bin/env bash\necho $1\n", "a.sh": "#!/bin/sh\necho $1\n", "b.txt": "echo $1\n",
        ])
        #expect(try ForeignCheckers.shellScripts(in: planted.repository).count == 2)
    }

    private static let page = """
        .Dd January 1, 2026
        .Dt PREFS 1
        .Os
        .Sh NAME
        .Nm prefs
        .Nd settings
        .Sh DESCRIPTION
        Text.

        """

    @Test(
        .enabled(if: Tool.isExpected("mandoc"), "\(Tool.absence(of: "mandoc"))"),
        arguments: [
            ("", false), (".Bl -tag\n", true), ("Text \n", true), (".Xr other 5\n", false),
            (".Xr nosuchpage 7\n", true),
        ])
    func `in a page is caught by mandoc`(addition: String, isCaught: Bool) throws {
        let other = Self.page.replacing("PREFS 1", with: "OTHER 5").replacing("Nm prefs", with: "Nm other")
        let planted = try PlantedRepository([
            "man/prefs.1": Self.page + addition, "man/other.5": other, "man/notes": ".Bl",
        ])
        #expect(try ForeignCheckers.pagesByMandoc(in: planted.repository).isEmpty != isCaught)
    }

    @Test(
        .enabled(if: Tool.isExpected("groff"), "\(Tool.absence(of: "groff"))"),
        arguments: [("", false), (".nosuchmacro\n", true), ("\\*[nosuchstring]\n", true)])
    func `in a page is caught by groff`(addition: String, isCaught: Bool) throws {
        let planted = try PlantedRepository(["man/prefs.1": Self.page + addition])
        #expect(try ForeignCheckers.pagesByGroff(in: planted.repository).isEmpty != isCaught)
    }
}
