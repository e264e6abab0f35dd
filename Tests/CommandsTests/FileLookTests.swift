import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// A verb that changes a text file changes only the entries that differ.
@Suite struct FileLookTests {
    static let xml = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- Raised by hand -->
        <plist version="1.0">
        <dict>
          <key>Version</key>  <string>1</string> <!-- not the build -->
          <key>Name</key>     <string>Notes</string>
          <key>Tags</key>
          <array><string>a</string><string>b</string></array>
        </dict>
        </plist>

        """
    static let json = "{\n    \"name\" : \"x\",\n    \"size\": 1.50,\n    \"list\": [1, 2]\n}\n"

    static let lenient = "// head\n{\n  // base\n  \"a\": 1, // one\n}\n"

    static let notes = """
        {
          // Never in production
          debug: true, // really
          list: [
            1, // one
            1, // another
          ],
        }

        """

    /// A file, the words of a command, and how its text changes.
    struct Row: Sendable, CustomTestStringConvertible {
        let path: FilePath
        let text: String
        let words: [String]
        let changes: [(of: String, to: String)]
        /// The comments that the note on standard error reports.
        let note: String

        init(
            _ path: FilePath, _ text: String, _ words: String..., changes: (of: String, to: String)...,
            note: String = ""
        ) {
            (self.path, self.text, self.words, self.changes, self.note) = (path, text, words, changes, note)
        }

        var testDescription: String { words.joined(separator: " ") }

        var result: String {
            changes.reduce(text) { text, change in
                guard let range = text.range(of: change.of) else { return "no \(change.of)" }
                return text.replacingCharacters(in: range, with: change.to)
            }
        }
    }

    static let rows = [
        Row("/tmp/a.plist", xml, "write", "/tmp/a.plist", "Version", "2", changes: ("<string>1<", "<string>2<")),
        Row(
            "/tmp/a.plist", xml, "write", "/tmp/a.plist", "Tags", "-array-add", "c",
            changes: ("b</string></array>", "b</string><string>c</string></array>")),
        Row(
            "/tmp/a.plist", xml, "write", "/tmp/a.plist", "New", "-bool", "true",
            changes: ("</array>\n", "</array>\n  <key>New</key>\n  <true/>\n")),
        Row(
            "/tmp/a.plist", xml, "delete", "/tmp/a.plist", "Name",
            changes: ("  <key>Name</key>     <string>Notes</string>\n", "")),
        Row("/tmp/a.plist", xml, "rename", "/tmp/a.plist", "Name", "Title", changes: ("Name", "Title")),
        Row("/tmp/a.plist", xml, "import", "/tmp/a.plist", "/tmp/new.json", changes: ("<string>1<", "<string>3<")),
        Row("/tmp/a.json", json, "write", "/tmp/a.json", "name", "y", changes: ("\"x\"", "\"y\"")),
        Row("/tmp/a.json", json, "write", "/tmp/a.json", ":list:0", "-int", "7", changes: ("[1,", "[7,")),
        Row(
            "/tmp/tsconfig.json", "{\n  // base\n  \"a\": 1, // one\n}\n", "write", "/tmp/tsconfig.json", "a", "-int",
            "2",
            changes: ("1,", "2,")),
        Row("/tmp/a.json", lenient, "write", "/tmp/a.json", "a", "-int", "2", changes: ("1,", "2,")),
        Row("/tmp/a.json", lenient, "write", "/tmp/a.json", "b", "x", changes: ("one\n", "one\n  \"b\": \"x\",\n")),
        Row("/tmp/a.json", lenient, "rename", "/tmp/a.json", "a", "b", changes: ("\"a\"", "\"b\"")),
        Row("/tmp/a.json", lenient, "copy", "/tmp/a.json", "a", "b", changes: ("one\n", "one\n  \"b\": 1,\n")),
        Row(
            "/tmp/a.json", lenient, "delete", "/tmp/a.json", "a",
            changes: ("\n  // base\n  \"a\": 1, // one\n", ""), note: "2 comments: // base, // one"),
        Row(
            "/home/ada/.config/prefs/d.plist", lenient, "write", "d", "a", "-int", "2", changes: ("1,", "2,")),
        Row(
            "/tmp/L.strings", "/* Title */\n\"t\" = \"T\";\n", "write", "/tmp/L.strings", "t", "Zoë",
            changes: ("\"T\"", "\"Zoë\"")),
        Row(
            "/tmp/g.plist", "{\n  a = <*I1>; // one\n  b = (x,y);\n}\n", "write", "/tmp/g.plist", "a", "-int", "2",
            changes: ("<*I1>", "<*I2>")),
        // A domain in a text format.
        Row(
            "/home/ada/.config/prefs/d.plist", xml, "write", "d", "Version", "2", changes: ("<string>1<", "<string>2<")
        ),
        Row(
            "/home/ada/.config/prefs/d.plist", xml, "apply", "--quiet", "--domain", "d", "/tmp/new.json",
            changes: ("<string>1<", "<string>3<")),
        // Comments are removed and moved with their entries.
        Row(
            "/tmp/a.json5", notes, "delete", "/tmp/a.json5", "debug",
            changes: ("  // Never in production\n  debug: true, // really\n", ""),
            note: "2 comments: // Never in production, // really"),
        Row(
            "/tmp/a.json5", notes, "write", "/tmp/a.json5", "--json", #"{"list": [1, 1], "beta": true}"#,
            changes: ("  // Never in production\n  debug: true, // really\n", "  beta: true,\n"),
            note: "2 comments: // Never in production, // really"),
        Row("/tmp/a.json5", notes, "rename", "/tmp/a.json5", "debug", "beta", changes: ("debug", "beta")),
        Row(
            "/tmp/a.json5", notes, "delete", "/tmp/a.json5", ":list:0", changes: ("    1, // one\n", ""),
            note: "the comment // one"),
        Row(
            "/tmp/a.json5", notes, "write", "--insert", "/tmp/a.json5", ":list:0", "-int", "1",
            changes: ("[\n", "[\n    1,\n")),
        Row(
            "/tmp/a.json5", notes, "rename", "/tmp/a.json5", ":list:1", "last",
            changes: ("    1, // another\n", ""), ("  list", "  last: 1, // another\n  list")),
        Row(
            "/tmp/L.strings", "\"t\" = \"T\"; // Title\n", "delete", "/tmp/L.strings", "t",
            changes: ("\"t\" = \"T\"; // Title\n", ""), note: "the comment // Title"),
        // On request, the whole file is rewritten.
        Row(
            "/tmp/a.json", json, "write", "--rewrite", "/tmp/a.json", "name", "y",
            changes: (json, "{\n  \"list\": [\n    1,\n    2\n  ],\n  \"name\": \"y\",\n  \"size\": 1.5\n}\n")),
        Row(
            "/tmp/a.json", json, "write", "--rewrite", "/tmp/a.json", "name", "x",
            changes: (json, "{\n  \"list\": [\n    1,\n    2\n  ],\n  \"name\": \"x\",\n  \"size\": 1.5\n}\n")),
    ]

    @Test(arguments: rows)
    func `a change keeps the rest of the file`(_ row: Row) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders("/home/ada/.config/prefs", for: .owner)
        try machine.fileSystem.replace("/tmp/new.json", with: Array(#"{"Version": "3"}"#.utf8).span.bytes)
        try machine.fileSystem.replace(row.path, with: Array(row.text.utf8).span.bytes)
        func text() throws -> String {
            String(decoding: try #require(try machine.fileSystem.contents(of: row.path)), as: UTF8.self)
        }
        let name = row.words.contains("d") ? "d" : row.path.description
        let errors = row.note.isEmpty ? "" : "prefs: \(name): removed \(row.note)\n"
        #expect(try runPrefs(["prefs"] + row.words, on: machine) == Transcript.Outcome(errors: errors))
        #expect(try text() == row.result)
        // Both texts come back byte for byte.
        let domain = row.words.first { $0 == "d" } ?? row.path.description
        guard !row.words.contains("x") else { return }
        #expect(try runPrefs(["prefs", "undo", domain], on: machine).status == 0)
        #expect(try text() == row.text)
        // The original text is version 2, because the previous value is unknown.
        #expect(try runPrefs(["prefs", "restore", domain, "3"], on: machine).status == 0)
        #expect(try text() == row.result)
        #expect(try runPrefs(["prefs", "restore", domain, "2"], on: machine).status == 0)
        #expect(try text() == row.text)
    }

    /// A strings file without braces may be empty. Nothing else may.
    @Test func `a strings file begins and ends without braces`() throws {
        let machine = try SimulatedMachine()
        func text() throws -> String? {
            try machine.fileSystem.contents(of: "/tmp/L.strings").map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(try runPrefs(["prefs", "write", "/tmp/L.strings", "k", "v"], on: machine) == Transcript.Outcome())
        #expect(try text() == "\"k\" = \"v\";\n")
        #expect(try runPrefs(["prefs", "delete", "/tmp/L.strings", "k"], on: machine) == Transcript.Outcome())
        #expect(try text() == "")
        #expect(try runPrefs(["prefs", "read", "/tmp/L.strings"], on: machine) == Transcript.Outcome(output: "{}\n"))
        for path in ["/tmp/blank.strings", "/tmp/blank.plist", "/tmp/blank.json"] as [FilePath] {
            try machine.fileSystem.replace(path, with: Array(" \n".utf8).span.bytes)
            let outcome = try runPrefs(["prefs", "lint", path.description], on: machine)
            #expect(outcome.status == (path == "/tmp/blank.strings" ? 0 : 5))
        }
    }
}
