import Foundation
import Platform
import Preferences
import SimulatedPlatform
import TestSupport
import Testing

/// A word without a slash, and a file of that name in the working folder.
@Suite struct `A word that is the name of a file` {
    private func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        for (name, text) in [
            ("Info.plist", "{ a = file; }"), ("list.json", #"[{"a": 1}, {"a": 2}]"#), ("nightly", "#!/bin/sh\n"),
            ("x.jsonc", "{}"), ("L.Strings", "a = b;"), ("in.json", #"{"k": "v"}"#), ("notes.txt", "a = b;"),
        ] {
            let path = FilePath("/home/ada").resolving(try #require(FilePath(name)))
            try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
        }
        try machine.fileSystem.makeFolders("/home/ada/folder.json")
        return machine
    }

    static let creating = [
        "write N k v", "write N --plist '{}'", "import N in.json", "copy d k k --to N", "rename d k k --to N",
        "rename N k j", "edit N",
    ]

    @Test(arguments: creating, ["Info.plist", "x.jsonc", "L.Strings"])
    func `does not create a domain if it ends in the extension of a format`(_ line: String, _ name: String) throws {
        let machine = try machine()
        _ = try machine.run("prefs write d k v")
        let words = "prefs " + line.replacing("N", with: name)
        let message = "no domain \(name); did you mean ./\(name)? (--new-domain creates the domain)"
        #expect(try machine.run(words) == Transcript.Outcome(errors: "prefs: \(message)\n", status: 2))
        #expect(try machine.run("prefs domains").output == "d\n")
        guard !line.hasPrefix("rename N"), !line.hasPrefix("edit") else { return }
        #expect(try machine.run(words + " --new-domain").status == 0)
        #expect(try machine.run("prefs domains").output.contains(name))
    }

    @Test(arguments: ["nightly", "notes.txt", "folder.json", "absent.json"])
    func `creates a domain otherwise`(_ name: String) throws {
        let machine = try machine()
        #expect(try machine.run("prefs write \(name) k v").status == 0)
        #expect(try machine.run("prefs read \(name) k").output == "v\n")
    }

    @Test func `creates a domain as on macOS for defaults`() throws {
        let machine = try machine()
        #expect(try machine.run("defaults write x.jsonc k v") == Transcript.Outcome())
        #expect(try machine.run("defaults read x.jsonc k") == Transcript.Outcome(output: "v\n"))
    }

    @Test(arguments: [
        "write N k w", "read N", "read N k", "delete N k", "import N in.json", "copy N k j", "rename N k j",
        "export N -", "history N", "explain N", "convert N json", "diff N N@site", "query N TRUEPREDICATE",
    ])
    func `is the domain that exists, which every use notes`(_ line: String) throws {
        let machine = try machine()
        #expect(try machine.run("prefs write --new-domain Info.plist k v").status == 0)
        for _ in 0..<2 {
            let outcome = try machine.run(
                "prefs " + line.replacing("N@", with: "Info.plist@").replacing("N", with: "Info.plist"))
            #expect(
                outcome.errors.hasPrefix("prefs: the domain Info.plist is used, not the file ./Info.plist\n"),
                "\(outcome)")
        }
        #expect(try machine.fileSystem.contents(of: "/home/ada/Info.plist") == Array("{ a = file; }".utf8))
    }

    /// The words of a command that uses the file, its output, and its output with the domain.
    static let either = [
        ("convert N json -o -", "{\n  \"a\": \"file\"\n}\n", "{\n  \"a\": \"domain\"\n}\n"),
        ("query N \"a == 'domain'\" --count", "0\n", "1\n"),
        ("diff N empty.json", "- a: \"file\"\n", "- a: \"domain\"\n"),
    ]

    @Test(arguments: either)
    func `is a domain if it exists, otherwise a file, for verbs that take both`(
        _ row: (line: String, ofFile: String, ofDomain: String)
    ) throws {
        let (line, ofFile, ofDomain) = row
        let machine = try machine()
        try machine.fileSystem.replace("/home/ada/empty.json", with: Array("{}".utf8).span.bytes)
        try machine.fileSystem.replace("/home/ada/plain", with: Array("{ a = file; }".utf8).span.bytes)
        for name in ["Info.plist", "plain"] {
            let words = "prefs " + line.replacing("N", with: name)
            let forced = "prefs " + line.replacing("N", with: "--domain \(name)")
            #expect(try machine.run(words).output == ofFile)
            #expect(try machine.run(forced).status == 1)
            #expect(try machine.run("prefs write \(name) a domain --new-domain").status == 0)
            let outcome = try machine.run(words)
            #expect(outcome.output == ofDomain)
            #expect(outcome.errors == "prefs: the domain \(name) is used, not the file ./\(name)\n")
            #expect(try machine.run(forced).output == ofDomain)
            #expect(try machine.run(forced).errors.isEmpty)
        }
    }

    // MARK: Files of apply

    @Test func `with any extension of a format is a declaration of apply`() throws {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        let texts = [
            "a.plist": "{ k = a; }", "b.xml": "<plist><dict><key>k</key><string>b</string></dict></plist>",
            "c.json": #"{"k": "c"}"#, "d.json5": "{k: 'd'}", "e.jsonc": "{ /* e */ \"k\": \"e\" }",
            "f.strings": "k = f;", "G.JSON": #"{"k": "G"}"#,
        ]
        try machine.fileSystem.makeFolders("/home/ada/st")
        for (name, text) in texts {
            let path = FilePath("/home/ada/st").resolving(try #require(FilePath(name)))
            try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
        }
        #expect(try machine.run("prefs apply --quiet st") == Transcript.Outcome())
        #expect(try machine.run("prefs domains").output == "G\na\nb\nc\nd\ne\nf\n")
        for name in ["a", "b", "c", "d", "e", "f", "G"] {
            #expect(try machine.run("prefs read \(name) k").output == name + "\n")
        }
        // One by one, they are the same domains.
        for name in texts.keys.sorted() {
            #expect(try machine.run("prefs apply --dry-run --take st/\(name)") == Transcript.Outcome(), "\(name)")
        }
    }

    @Test func `keeps its keys if the file of apply gets another extension`() throws {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        try machine.fileSystem.makeFolders("/home/ada/st")
        for name in ["one.json", "two.json"] {
            let path = FilePath("/home/ada/st").resolving(try #require(FilePath(name)))
            try machine.fileSystem.replace(path, with: Array(#"{"k": 1}"#.utf8).span.bytes)
        }
        #expect(try machine.run("prefs apply --quiet st") == Transcript.Outcome())
        try machine.fileSystem.rename("/home/ada/st/two.json", to: "/home/ada/st/two.jsonc")
        #expect(try machine.run("prefs apply --prune st") == Transcript.Outcome())
        #expect(try machine.run("prefs read two k").output == "1\n")
    }

    @Test func `that apply skips in a folder is named`() throws {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        try machine.fileSystem.makeFolders("/home/ada/st/sub.json")
        for name in ["one.json", "two.yaml", "README", ".gitignore", ".three.json"] {
            let path = FilePath("/home/ada/st").resolving(try #require(FilePath(name)))
            try machine.fileSystem.replace(path, with: Array(#"{"k": 1}"#.utf8).span.bytes)
        }
        for line in ["prefs apply --quiet st", "prefs apply --dry-run st"] {
            #expect(
                try machine.run(line)
                    == Transcript.Outcome(errors: "prefs: st: not read: .three.json, README, sub.json/, two.yaml\n"))
        }
        #expect(try machine.run("prefs apply --check st") == Transcript.Outcome())
        #expect(try machine.run("prefs domains").output == "one\n")
    }
}
