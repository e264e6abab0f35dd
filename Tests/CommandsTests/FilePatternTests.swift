import Foundation
import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// A path with a wildcard names all files that match it.
@Suite struct FilePatternTests {
    /// The files of the test in the home folder.
    static let files = [
        "apps/a/package.json", "apps/b/package.json", "apps/b/c/package.json", "apps/.hidden/package.json",
        "apps/node_modules/z/package.json", "apps/x[1]/package.json", "apps/.dot.json",
    ]

    private func text(_ name: String) -> String {
        "{\n  \"name\": \"\(name)\", // \(name)\n  \"version\": \"1.0.0\"\n}\n"
    }

    private func path(_ name: String) throws -> FilePath {
        FilePath("/home/ada").resolving(try #require(FilePath(name)))
    }

    private func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        for file in Self.files {
            try machine.fileSystem.makeFolders(try path(file).parent)
            try machine.fileSystem.replace(try path(file), with: Array(text(file).utf8))
        }
        // Links are not followed.
        try machine.fileSystem.makeFolders("/home/ada/apps/l")
        try machine.fileSystem.makeSymbolicLink("/home/ada/apps/l/package.json", to: "../a/package.json")
        try machine.fileSystem.makeSymbolicLink("/home/ada/apps/m", to: "a")
        try machine.fileSystem.makeFolders("/home/ada/apps/d.json")
        return machine
    }

    static let matches: [(pattern: String, names: [String])] = [
        ("./apps/*/package.json", ["a", "b", "x[1]"]), ("./apps/**/package.json", ["a", "b/c", "b", "x[1]"]),
        ("./apps/**", ["a", "b/c", "b", "x[1]"]), ("./**/c/**/*.json", ["b/c"]), ("apps/?/p*.json", ["a", "b"]),
        ("./apps/[!b]/package.json", ["a"]), ("./apps/[a-z]/package.json", ["a", "b"]),
        ("./apps/x\\[1\\]/packag?.json", ["x[1]"]), ("/home/ada/apps/*/*/package.json", ["b/c", "node_modules/z"]),
        ("~/apps/b/*/package.json", ["b/c"]), ("./apps/**/**/package.json", ["a", "b/c", "b", "x[1]"]),
        ("./apps/*/./package.json", ["a", "b", "x[1]"]), ("./apps/x[1]/package.jso?", []),
        ("./apps/.h*/package.json", [".hidden"]), ("./apps/n*/*/package.json", ["node_modules/z"]),
        ("./apps/*.json", []), ("./none/*.json", []), ("./apps/m/*.jsn", []),
    ]

    @Test(arguments: matches)
    func `matches regular files`(_ row: (pattern: String, names: [String])) throws {
        let machine = try machine()
        let outcome = try runPrefs(["prefs", "write", row.pattern, "version", "2.0.0"], on: machine)
        let base = row.pattern.range(of: "apps/").map { row.pattern[..<$0.upperBound] } ?? "./apps/"
        let names = row.names.map { "\(base)\($0)/package.json" }
        if names.isEmpty {
            #expect(outcome.errors == "prefs: \(row.pattern): no file matches this pattern\n")
            #expect(outcome.status == 1)
        } else {
            #expect(outcome == Transcript.Outcome(output: names.map { $0 + "\n" }.joined()))
        }
        for file in Self.files {
            let isChanged = row.names.contains { file == "apps/\($0)/package.json" }
            let expected = isChanged ? text(file).replacing("1.0.0", with: "2.0.0") : text(file)
            #expect(try machine.fileSystem.contents(of: path(file)) == Array(expected.utf8), "\(file)")
        }
    }

    static let pattern = "./apps/[ab]/package.json"

    /// The words of a command, and its outcome.
    static let outcomes: [(words: [String], outcome: Transcript.Outcome)] = [
        (
            ["write", pattern, "version", "2", "--dry-run"],
            .init(
                output: """
                    ~ ./apps/a/package.json version: "1.0.0" → "2"
                    ~ ./apps/b/package.json version: "1.0.0" → "2"

                    """, status: 8)
        ),
        (["write", pattern, "version", "1.0.0"], .init()),
        (["write", pattern, "version", "1.0.0", "--dry-run"], .init()),
        (["delete", pattern, "version"], .init(output: "./apps/a/package.json\n./apps/b/package.json\n")),
        (
            ["delete", pattern],
            .init(errors: "prefs: \(pattern): a pattern, which requires KEY; no file is removed\n", status: 2)
        ),
        (
            ["delete", pattern, "none"],
            .init(errors: "prefs: \(pattern): no file has the key none\n", status: 1)
        ),
        (["rename", pattern, "name", "title"], .init(output: "./apps/a/package.json\n./apps/b/package.json\n")),
        (
            ["rename", pattern, "none", "title"],
            .init(errors: "prefs: \(pattern): no file has the key none\n", status: 1)
        ),
        (
            ["rename", pattern, "name", "title", "--to", "d"],
            .init(errors: "prefs: \(pattern): a pattern; --to is for one file\n", status: 2)
        ),
        (
            ["read", pattern, "version"],
            .init(
                output: """
                    {
                      "./apps/a/package.json": "1.0.0",
                      "./apps/b/package.json": "1.0.0"
                    }

                    """)
        ),
        (
            ["read", pattern, "version", "--format", "lines"],
            .init(output: "./apps/a/package.json\t1.0.0\n./apps/b/package.json\t1.0.0\n")
        ),
        (["read", pattern, "none"], .init(errors: "prefs: \(pattern): no file has the key none\n", status: 1)),
        (
            ["read", pattern, "none", "--default", "x", "--format", "lines"],
            .init(output: "./apps/a/package.json\tx\n./apps/b/package.json\tx\n")
        ),
        (["query", pattern, "@key == 'version'", "--count"], .init(output: "2\n")),
        (
            ["query", pattern, ":", "@key == 'version'", "--format", "lines"],
            .init(output: "./apps/a/package.json\tversion\t1.0.0\n./apps/b/package.json\tversion\t1.0.0\n")
        ),
        (
            ["convert", pattern, "xml", "--dry-run"],
            .init(output: "~ ./apps/a/package.json: json → xml\n~ ./apps/b/package.json: json → xml\n", status: 8)
        ),
        (
            ["convert", pattern, "xml", "-o", "x"],
            .init(errors: "prefs: \(pattern): a pattern; -o is for one file\n", status: 2)
        ),
        (
            ["lint", "./apps/[ab]/*.json", "--from", "json5"],
            .init(output: "./apps/a/package.json: OK\n./apps/b/package.json: OK\n")
        ),
        (
            ["lint", "./apps/*.lint"],
            .init(errors: "prefs: ./apps/*.lint: no file matches this pattern\n", status: 1)
        ),
        (
            ["write", pattern, "version", "2", "--where", "TRUEPREDICATE"],
            .init(errors: "prefs: --where requires an entry path with *, such as :list:*:name\n", status: 2)
        ),
        (
            ["write", pattern, ":*", "2", "--where", "@key == 'version'"],
            .init(output: "./apps/a/package.json\n./apps/b/package.json\n2 entries\n")
        ),
        (
            ["write", pattern, "k", "v", "--print"],
            .init(errors: "prefs: \(pattern): a pattern; --print is for one file\n", status: 2)
        ),
        (
            ["write", pattern, "version", "2", "--if-current", "1"],
            .init(
                errors: "prefs: ./apps/a/package.json: version: the value differs; nothing was changed\n", status: 8)
        ),
        (
            ["write", pattern, "k", "8"],
            .init(
                output: "./apps/a/package.json\n./apps/b/package.json\n",
                errors: "prefs: wrote the text \"8\"; for a number: --int 8\n")
        ),
        (
            ["write", "./apps/*/a[.json", "k", "v"],
            .init(
                errors: "prefs: ./apps/*/a[.json: a[.json has a [ without ]; write \\[ for the character\n", status: 2)
        ),
        (
            ["write", "./*/../a.json", "k", "v"],
            .init(
                errors: "prefs: ./*/../a.json: .. cannot follow a component with a wildcard\n", status: 2)
        ),
        (["write", "./*/", "k", "v"], .init(errors: "prefs: ./*/: names folders, not files\n", status: 2)),
        (
            ["write", "./apps/a/package.json", "./apps/b/package.json", "k", "v"],
            .init(
                errors: "prefs: write: unexpected argument v; quote a pattern for several files, such as './*.json'\n",
                status: 2)
        ),
        (
            ["read", "./apps/a/package.json", "./apps/b/package.json"],
            .init(
                errors:
                    "prefs: ./apps/a/package.json has no key ./apps/b/package.json; quote a pattern for several files, such as './*.json'\n",
                status: 1)
        ),
    ]

    @Test(arguments: outcomes)
    func `is a pattern for each verb`(_ row: (words: [String], outcome: Transcript.Outcome)) throws {
        let machine = try machine()
        #expect(try runPrefs(["prefs"] + row.words, on: machine) == row.outcome)
        guard row.outcome.status != 0 || row.words.contains("--dry-run") else { return }
        for file in Self.files {
            #expect(try machine.fileSystem.contents(of: path(file)) == Array(text(file).utf8), "\(file)")
        }
    }

    @Test func `files are converted`() throws {
        let machine = try machine()
        let convert = ["prefs", "convert", Self.pattern, "xml"]
        #expect(
            try runPrefs(convert, on: machine).output == "./apps/a/package.json\n./apps/b/package.json\n")
        let bytes = try #require(try machine.fileSystem.contents(of: path(Self.files[0])))
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("<?xml"))
    }

    @Test func `a file of this very name is meant`() throws {
        let machine = try machine()
        for name in ["a*.json", "[ab].json"] {
            try machine.fileSystem.replace(try path(name), with: Array("{}".utf8))
            let outcome = try runPrefs(["prefs", "write", "./\(name)", "k", "v"], on: machine)
            #expect(outcome == Transcript.Outcome())
            #expect(try runPrefs(["prefs", "read", "./\(name)", "k"], on: machine).output == "v\n")
        }
    }

    @Test func `one damaged file prevents all changes`() throws {
        let machine = try machine()
        try machine.fileSystem.replace(try path(Self.files[1]), with: Array("{".utf8))
        let outcome = try runPrefs(["prefs", "write", Self.pattern, "version", "2"], on: machine)
        #expect(outcome.status == 5 && outcome.output.isEmpty)
        #expect(try machine.fileSystem.contents(of: path(Self.files[0])) == Array(text(Self.files[0]).utf8))
        let read = try runPrefs(["prefs", "read", Self.pattern, "version", "--format", "lines"], on: machine)
        #expect(read.status == 5 && read.output == "./apps/a/package.json\t1.0.0\n" && !read.errors.isEmpty)
    }

    @Test func `the changes are one transaction`() throws {
        let machine = try machine()
        #expect(try runPrefs(["prefs", "write", Self.pattern, "version", "2"], on: machine).status == 0)
        let undo = ["prefs", "undo", "./\(Self.files[0])", "--transaction"]
        #expect(try runPrefs(undo, on: machine).status == 0)
        for file in Self.files.prefix(2) {
            #expect(try machine.fileSystem.contents(of: path(file)) == Array(text(file).utf8))
        }
    }

    /// What another user owns, and who.
    static let foreign: [(name: String, owner: UInt32, status: Int32)] = [
        ("apps/b/package.json", 1001, 6), ("apps/b", 1001, 6), ("apps", 1001, 6), ("apps/b", 0, 0),
        ("apps/b/package.json", 0, 6),
    ]

    @Test(arguments: foreign)
    func `nothing is written if something belongs to another user`(
        _ row: (name: String, owner: UInt32, status: Int32)
    ) throws {
        let machine = try machine()
        let root = machine.disk.process()
        let file = try root.open(try path(row.name), .reading)
        try file?.setPermissions(FilePermissions(rawValue: 0o777))
        try file?.setOwner(row.owner, group: row.owner)
        let outcome = try runPrefs(["prefs", "write", "./apps/*/package.json", "version", "2"], on: machine)
        #expect(outcome.status == row.status, "\(outcome)")
        guard row.status != 0 else { return }
        #expect(outcome.errors.hasSuffix("belongs to another user; nothing was changed\n"), "\(outcome)")
        #expect(try machine.fileSystem.contents(of: path(Self.files[0])) == Array(text(Self.files[0]).utf8))
        #expect(try runPrefs(["prefs", "read", "./apps/*/package.json", "version"], on: machine).status == 0)
    }

    @Test func `a folder that cannot be read prevents all changes, and is reported when reading`() throws {
        let machine = try machine()
        let folder = try machine.fileSystem.open(try path("apps/b"), .reading)
        try folder?.setPermissions(FilePermissions(rawValue: 0))
        let write = try runPrefs(["prefs", "write", "./apps/**/package.json", "version", "2"], on: machine)
        #expect(write.status == 6 && write.output.isEmpty && !write.errors.isEmpty, "\(write)")
        let lines = ["prefs", "read", "./apps/**/package.json", "version", "--format", "lines"]
        let read = try runPrefs(lines, on: machine)
        #expect(read.status == 6 && !read.errors.isEmpty, "\(read)")
        #expect(read.output == "./apps/a/package.json\t1.0.0\n./apps/x[1]/package.json\t1.0.0\n")
    }

    @Test func `names that are not valid UTF-8 match`() throws {
        let machine = try machine()
        let name = try #require(FileName([0x61, 0xFF, 0x2E, 0x78]))
        try machine.fileSystem.replace(FilePath("/home/ada").appending(name), with: Array("{}".utf8))
        #expect(try runPrefs(["prefs", "write", "./a?.x", "k", "v"], on: machine).status == 0)
        let text = try machine.fileSystem.contents(of: FilePath("/home/ada").appending(name))
        #expect(text.map { String(decoding: $0, as: UTF8.self).contains("k") } ?? false)
    }

    @Test func `defaults has no patterns`() throws {
        let machine = try machine()
        #expect(try runPrefs(["defaults", "read", "./apps/*/package.json", "version"], on: machine).status == 1)
    }

    // MARK: Files of Xcode

    static let strings = """
        {
          "sourceLanguage" : "en",
          "strings" : {
            "Hello" : {
              "localizations" : {
                "de" : {
                  "stringUnit" : {
                    "state" : "translated",
                    "value" : "Tach"
                  }
                }
              }
            }
          },
          "version" : "1.0"
        }

        """
    static let resolved = """
        {
          "originHash" : "0a",
          "pins" : [
            {
              "identity" : "swift-log",
              "kind" : "remoteSourceControl",
              "state" : {
                "version" : "1.5.4"
              }
            }
          ],
          "version" : 3
        }

        """
    static let contents = "{\n  \"info\" : {\n    \"author\" : \"me\",\n    \"version\" : 1\n  }\n}\n"

    @Test func `the examples of the manual for files of Xcode work`() throws {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        let target = "0E01 /* App */ = {isa = PBXNativeTarget; name = App; };\n"
        let project = SelectedEntriesTests.project.replacing("0A01 /*", with: target + "\t\t0A01 /*")
        for (name, text) in [
            ("App.xcodeproj/project.pbxproj", project), ("Localizable.xcstrings", Self.strings),
            ("Package.resolved", Self.resolved), ("Assets.xcassets/Icon.imageset/Contents.json", Self.contents),
        ] {
            try machine.fileSystem.makeFolders(try path(name).parent)
            try machine.fileSystem.replace(try path(name), with: Array(text.utf8))
        }
        let page = packageRoot.appending(path: "man/prefs.1")
        let lines = String(decoding: try Data(contentsOf: page), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex(of: ".Ss Files of Xcode"))
        let block = lines[start...].drop { !$0.hasPrefix(".Bd") }.dropFirst().prefix { $0 != ".Ed" }
        let commands = block.joined(separator: "\n").replacing("\\e\n", with: "").split(separator: "\n")
        let outcomes = try commands.map { try runPrefs(ShellScript.words(String($0)), on: machine) }
        #expect(
            outcomes == [
                .init(output: "2 entries\n"), .init(output: "[\n  {\n    \"name\": \"App\"\n  }\n]\n"), .init(),
                .init(
                    output:
                        "[\n  {\n    \"identity\": \"swift-log\",\n    \"state.version\": \"1.5.4\"\n  }\n]\n"),
                .init(output: "./Assets.xcassets/Icon.imageset/Contents.json\n"),
            ])
        for (name, text) in [
            ("App.xcodeproj/project.pbxproj", project.replacing("VERSION = 1.0", with: "VERSION = 2.0")),
            ("Localizable.xcstrings", Self.strings.replacing("Tach", with: "Hallo")),
            ("Package.resolved", Self.resolved),
            ("Assets.xcassets/Icon.imageset/Contents.json", Self.contents.replacing("\"me\"", with: "\"xcode\"")),
        ] {
            let bytes = try #require(try machine.fileSystem.contents(of: path(name)))
            #expect(String(decoding: bytes, as: UTF8.self) == text, "\(name)")
        }
    }
}
