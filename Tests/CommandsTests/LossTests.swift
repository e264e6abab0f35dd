import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Values that a format cannot hold, and how they are written, reported or refused.
@Suite struct LossTests {
    private static let note = "dates are written without fractions of a second"
    private static let half: PropertyList = .date(Date(timeIntervalSinceReferenceDate: 1000.5))
    private static let whole: PropertyList = .date(Date(timeIntervalSinceReferenceDate: 1000))

    /// A domain like those of macOS: a menu shortcut with an escape character, and dates with fractions.
    private static let domain: PropertyList = [
        "NSUserKeyEquivalents": ["\u{1B}File\u{1B}Close": "@\u{8}w"], "last": half, "list": [half, 1.5, true, "a<b&c"],
        "before 2001": .date(Date(timeIntervalSinceReferenceDate: -0.25)), "data": .data(Data(repeating: 7, count: 90)),
    ]

    private static func run(_ words: String..., on machine: SimulatedMachine) throws -> Transcript.Outcome {
        try runPrefs(words, on: machine)
    }

    private static func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/f", with: Array(domain.serialized(as: .binary)).span.bytes)
        #expect(try run("prefs", "import", "d", "/tmp/f", on: machine) == Transcript.Outcome())
        return machine
    }

    @Test(arguments: [
        ("defaults", ["export", "d", "-"], ""), ("prefs", ["export", "d", "-"], "prefs: standard output: \(note)\n"),
        ("prefs", ["export", "--format", "xml", "d", "/tmp/out"], "prefs: /tmp/out: \(note)\n"),
        ("prefs", ["export", "--format", "gnustep", "d", "-"], "prefs: standard output: \(note)\n"),
        ("prefs", ["export", "--format", "binary", "d", "-"], ""), ("prefs", ["export", "d", "/tmp/out"], ""),
        ("prefs", ["convert", "-o", "-", "/tmp/f", "xml"], "prefs: /tmp/f: \(note)\n"),
        ("defaults", ["convert", "-o", "-", "/tmp/f", "xml"], ""),
        ("prefs", ["convert", "/tmp/f", "xml"], "prefs: /tmp/f: \(note)\n"),
        ("prefs", ["convert", "-o", "-", "d", "xml"], "prefs: standard output: \(note)\n"),
        ("prefs", ["convert", "d", "gnustep"], ""),
        ("prefs", ["read", "--format", "xml", "d"], "prefs: d: \(note)\n"),
    ])
    func `a fraction of a second is dropped with a note`(_ program: String, _ words: [String], _ note: String) throws {
        let outcome = try runPrefs([program] + words, on: Self.machine())
        #expect(outcome.status == 0)
        #expect(outcome.errors == note)
    }

    @Test(arguments: [["-o", "-", "/tmp/f", "xml"], ["/tmp/f", "xml"], ["d", "xml"], ["-o", "-", "d", "xml"]])
    func `a strict conversion refuses to drop a fraction`(_ words: [String]) throws {
        let machine = try Self.machine()
        let outcome = try runPrefs(["prefs", "convert", "--strict"] + words, on: machine)
        #expect(outcome.status == 3 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("xml cannot hold the fraction of a second; nothing was written"))
        #expect(try Self.run("prefs", "export", "d", "/tmp/out", on: machine) == Transcript.Outcome())
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/out"))
        #expect(try PropertyList(parsing: bytes) == Self.domain)
    }

    @Test func `a domain in XML becomes binary rather than lose a fraction`() throws {
        let machine = try SimulatedMachine()
        #expect(try Self.run("prefs", "write", "d", "a", "b", on: machine).status == 0)
        #expect(try Self.run("prefs", "convert", "d", "xml", on: machine).status == 0)
        let outcome = try Self.run("prefs", "write", "d", "when", "-date", "2026-01-02T03:04:05.5Z", on: machine)
        let path = "/home/ada/.config/prefs/d.plist"
        #expect(
            outcome.errors == "prefs: \(path): converted from xml to binary, which keeps fractions of a second\n")
        #expect(
            try Self.run("prefs", "read", "--format", "typed", "d", "when", on: machine).output
                == "when\tdate\t2026-01-02T03:04:05.5Z\n")
        #expect(try Self.run("prefs", "write", "d", "a", "c", on: machine) == Transcript.Outcome())
    }

    @Test(arguments: ["xml", "gnustep"])
    func `a file by its path keeps its format and loses the fraction`(_ format: String) throws {
        let machine = try SimulatedMachine()
        let value: PropertyList = ["a": 1]
        let bytes = try value.serialized(as: try #require(PropertyList.Format(rawValue: format)))
        try machine.fileSystem.replace("/tmp/g", with: Array(bytes).span.bytes)
        let outcome = try Self.run("prefs", "write", "/tmp/g", "when", "-date", "2026-01-02T03:04:05.5Z", on: machine)
        #expect(outcome.status == 0 && outcome.errors == "prefs: /tmp/g: \(Self.note)\n")
        #expect(try Self.run("prefs", "lint", "--from", format, "/tmp/g", on: machine).status == 0)
        let typed = try Self.run("prefs", "read", "--format", "typed", "/tmp/g", "when", on: machine).output
        #expect(typed == "when\tdate\t2026-01-02T03:04:05Z\n")
    }

    // MARK: Compared with Apple's tool

    private static let plutil: String? = {
        guard let swift = Tool.path(of: "swift") else { return nil }
        let folder = URL(filePath: swift).resolvingSymlinksInPath().deletingLastPathComponent()
        return Tool.path(of: folder.appending(path: "plutil").path(percentEncoded: false))
    }()

    @Test func `what is exported is imported again without fractions`() throws {
        let machine = try Self.machine()
        let exported = try Self.run("defaults", "export", "d", "-", on: machine)
        #expect(exported.status == 0 && exported.errors.isEmpty)
        #expect(exported.output.contains("<key>\u{1B}File\u{1B}Close</key>"))
        let imported = try runPrefs(["defaults", "import", "e", "-"], input: exported.output, on: machine)
        #expect(imported == Transcript.Outcome())
        #expect(try Self.run("prefs", "export", "e", "/tmp/e", on: machine) == Transcript.Outcome())
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/e"))
        var expected = Self.domain
        try expected.set(Self.whole, at: ["last"])
        try expected.set(Self.whole, at: ["list", "0"])
        try expected.set(.date(Date(timeIntervalSinceReferenceDate: -1)), at: ["before 2001"])
        #expect(try PropertyList(parsing: bytes) == expected)
    }

    @Test(.enabled(if: plutil != nil, "the toolchain has no plutil"))
    func `the exported text is that of Apple's tool`() throws {
        let plutil = try #require(Self.plutil)
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "f.plist")
        try Self.domain.serialized(as: .binary).write(to: file)
        let theirs = try Subprocess.run(plutil, ["-convert", "xml1", "-o", "-", file.path(percentEncoded: false)])
        #expect(theirs.status == 0)
        let ours = try Self.run("defaults", "export", "d", "-", on: Self.machine())
        #expect(ours.output == theirs.text)
    }

    // MARK: Sniffing

    @Test(arguments: ["12", "-1.5", "true", "\"a\\u0017b\"", "\"x\""])
    func `a JSON scalar is read from a file without --from`(_ text: String) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/f", with: Array(text.utf8).span.bytes)
        for format in ["xml", "json", "binary", "json"] {
            #expect(try Self.run("prefs", "convert", "/tmp/f", format, on: machine) == Transcript.Outcome())
        }
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/f"))
        #expect(String(decoding: bytes, as: UTF8.self) == text + "\n")
    }

    @Test(arguments: [
        ("/tmp/f.json", "{1: 1}", "/tmp/f.json:1:2: expected a key in quotes"),
        ("/tmp/f.json", "a = b;", "/tmp/f.json:1:1: expected a value"),
        ("/tmp/f.plist", "{\"a\": \"b}", "/tmp/f.plist:1:7: a string without a closing quote (at :a)"),
        ("/tmp/f.plist", " \n", "/tmp/f.plist:1:1: the input is empty"),
        (
            "/tmp/f.plist", "<string>Tom & Jerry</string>", "/tmp/f.plist:1:13: bare “&”: write “&amp;”"
        ), ("/tmp/f.plist", "<string>Tom &amp Jerry</string>", "/tmp/f.plist:1:13: missing “;” after “&amp”"),
    ])
    func `an error is that of the format that a file appears to have`(
        _ name: FilePath, _ text: String, _ message: String
    ) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace(name, with: Array(text.utf8).span.bytes)
        let outcome = try Self.run("prefs", "lint", name.description, on: machine)
        #expect(outcome.status == 5 && outcome.output == message + "\n")
    }

    @Test(arguments: ["/tmp/f.json5", "/tmp/f.jsonc"])
    func `a file of JSON5 is read by its extension and stays readable`(_ name: FilePath) throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace(name, with: Array("{a: 'x', /* c */ b: [1,],}".utf8).span.bytes)
        let path = name.description
        #expect(try Self.run("prefs", "read", path, "a", on: machine).output == "x\n")
        #expect(try Self.run("prefs", "write", path, "c", "y", on: machine) == Transcript.Outcome())
        #expect(
            try Self.run("prefs", "convert", "-o", "-", path, "json", on: machine).output
                == "{\n  \"a\": \"x\",\n  \"b\": [\n    1\n  ],\n  \"c\": \"y\"\n}\n")
    }

    @Test func `JSON5 is read on request, and never by sniffing`() throws {
        let text = "{'a': 1,}"
        let read = try runPrefs(["prefs", "convert", "--from", "json5", "-", "openstep", "--coerce"], input: text)
        #expect(read.output == "{\n    a = 1;\n}\n")
        #expect(try runPrefs(["prefs", "lint", "-"], input: text).status == 5)
    }

    // MARK: Numbers of JSON that a property list rounds

    private static let numbers =
        #"{"id": 123456789012345678901234567890, "list": [98765432109876543210987], "n": 1, "pi": 3.14159265358979323846264338}"#

    private static func machineWithNumbers() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/tmp/f.json", with: Array(numbers.utf8).span.bytes)
        return machine
    }

    @Test(arguments: [
        (["write", "/tmp/f.json", "n", "-int", "2"], 0), (["write", "/tmp/f.json", "list", "-array-add", "x"], 0),
        (["write", "/tmp/f.json", "a", "b"], 0), (["convert", "/tmp/f.json", "json"], 0),
        (["rename", "/tmp/f.json", "id", "number"], 0),
        (["write", "--rewrite", "/tmp/f.json", "list", "-array", "x", "y"], 3),
    ])
    func `a file of JSON keeps the text of its numbers through an edit`(_ words: [String], _ status: Int) throws {
        let machine = try Self.machineWithNumbers()
        let outcome = try runPrefs(["prefs"] + words, on: machine)
        #expect(outcome.status == Int32(status), "\(outcome.errors)")
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/f.json"))
        let text = String(decoding: bytes, as: UTF8.self)
        for number in ["123456789012345678901234567890", "98765432109876543210987", "3.14159265358979323846264338"] {
            #expect(text.contains(number), "\(text)")
        }
    }

    @Test(arguments: [
        (["read", "/tmp/f.json"], "1:8", "123456789012345678901234567890", ":id"),
        (["read", "--format", "json", "/tmp/f.json"], "1:8", "123456789012345678901234567890", ":id"),
        (["read", "--effective", "/tmp/f.json"], "1:8", "123456789012345678901234567890", ":id"),
        (["read", "--effective", "/tmp/f.json", "list"], "1:49", "98765432109876543210987", ":list:0"),
        (["read-type", "/tmp/f.json", "id"], "1:8", "123456789012345678901234567890", ":id"),
        (["explain", "/tmp/f.json"], "1:8", "123456789012345678901234567890", ":id"),
        (["explain", "/tmp/f.json", "list"], "1:49", "98765432109876543210987", ":list:0"),
        (["diff", "/tmp/f.json", "d"], "1:8", "123456789012345678901234567890", ":id"),
        (["diff", "--from", "json", "/tmp/f.json", "/tmp/f.json"], "1:8", "123456789012345678901234567890", ":id"),
        (["apply", "--domain", "d", "/tmp/f.json"], "1:8", "123456789012345678901234567890", ":id"),
        (["edit", "--format", "json", "/tmp/f.json"], "1:8", "123456789012345678901234567890", ":id"),
        (["query", "/tmp/f.json", ":", "SELF > 1"], "1:8", "123456789012345678901234567890", ":id"),
        (["read", "/tmp/f.json", "id"], "1:8", "123456789012345678901234567890", ":id"),
        (["read", "/tmp/f.json", "list"], "1:49", "98765432109876543210987", ":list:0"),
        (["read", "/tmp/f.json", ":list:-1"], "1:49", "98765432109876543210987", ":list:0"),
        (["read", "/tmp/f.json", ":list:00"], "1:49", "98765432109876543210987", ":list:0"),
        (["export", "/tmp/f.json", "-"], "1:8", "123456789012345678901234567890", ":id"),
        (["import", "d", "/tmp/f.json"], "1:8", "123456789012345678901234567890", ":id"),
        (["convert", "/tmp/f.json", "xml"], "1:8", "123456789012345678901234567890", ":id"),
        (["convert", "-o", "-", "/tmp/f.json", "binary"], "1:8", "123456789012345678901234567890", ":id"),
    ])
    func `an integer beyond 64 bits is refused with its place`(
        _ words: [String], _ place: String, _ number: String, _ path: String
    ) throws {
        let machine = try Self.machineWithNumbers()
        let outcome = try runPrefs(["prefs"] + words, on: machine)
        #expect(outcome.status == 5 && outcome.output.isEmpty)
        #expect(outcome.errors == "prefs: /tmp/f.json:\(place): integer out of range: “\(number)” (at \(path))\n")
        #expect(try machine.fileSystem.contents(of: "/tmp/f.json") == Array(Self.numbers.utf8))
        #expect(try Self.run("prefs", "read", "d", on: machine).status == 1)
    }

    @Test func `a domain in JSON keeps an integer beyond 64 bits that was written by hand`() throws {
        let machine = try SimulatedMachine()
        #expect(try Self.run("prefs", "write", "d", "n", "-int", "1", on: machine).status == 0)
        #expect(try Self.run("prefs", "convert", "d", "json", on: machine).status == 0)
        let file: FilePath = "/home/ada/.config/prefs/d.plist"
        try machine.fileSystem.replace(file, with: Array(Self.numbers.utf8).span.bytes)
        #expect(try Self.run("prefs", "write", "e", "id", "-int", "1", on: machine).status == 0)
        for words in [
            ["read", "d"], ["read", "d", "id"], ["explain", "d", "id"], ["export", "d", "-"], ["convert", "d", "xml"],
            ["convert", "d", "binary"], ["convert", "d", "folder"], ["convert", "-o", "-", "d", "json"],
        ] {
            let outcome = try runPrefs(["prefs"] + words, on: machine)
            #expect(outcome.status == 5 && outcome.output.isEmpty, "\(words)")
            #expect(outcome.errors.contains("integer out of range: “123456789012345678901234567890” (at :id)"))
        }
        for (words, others) in [
            (["read"], "\"e\""), (["find", "id"], "e\tid\t1\n"), (["query", "?", ":id", "TRUEPREDICATE"], "\"e\""),
        ] {
            let outcome = try runPrefs(["prefs"] + words, on: machine)
            #expect(outcome.status == 5 && outcome.output.contains(others) && !outcome.output.contains("e+29"))
            #expect(outcome.errors.contains("integer out of range: “123456789012345678901234567890” (at :id)"))
        }
        #expect(try Self.run("prefs", "read", "d", "n", on: machine).output == "1\n")
        #expect(try Self.run("prefs", "convert", "d", "json", on: machine).status == 0)
        #expect(try Self.run("prefs", "write", "d", "a", "b", on: machine).status == 0)
        let written = String(decoding: try #require(try machine.fileSystem.contents(of: file)), as: UTF8.self)
        #expect(written.contains("123456789012345678901234567890") && written.contains("98765432109876543210987"))
    }

    @Test(arguments: [
        ("2", "2", ""),
        (
            "123456789012345678901234567891", "\"123456789012345678901234567891\"",
            "prefs: id: 123456789012345678901234567891 is an integer of more than 64 bits, so it is now stored as a string\n"
        ),
    ])
    func `a word in place of an integer beyond 64 bits is an integer or a string`(
        _ word: String, _ written: String, _ note: String
    ) throws {
        let machine = try Self.machineWithNumbers()
        let outcome = try Self.run("prefs", "write", "/tmp/f.json", "id", word, on: machine)
        #expect(outcome == Transcript.Outcome(errors: note))
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/f.json"))
        let expected = Self.numbers.replacing("123456789012345678901234567890", with: written)
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func `a value with an integer beyond 64 bits is not written`() throws {
        let machine = try SimulatedMachine()
        for flag in ["-json", "-plist"] {
            let outcome = try Self.run("prefs", "write", "d", "k", flag, "{\"a\": 18446744073709551616}", on: machine)
            #expect(outcome.status == 3)
            #expect(outcome.errors.contains("1:7: integer out of range: “18446744073709551616” (at :a)"))
        }
    }

    @Test func `plutil keeps the text of numbers from JSON to JSON`() throws {
        let outcome = try Self.run(
            "plutil", "-convert", "json", "-o", "-", "/tmp/f.json", on: Self.machineWithNumbers())
        #expect(outcome.output == Self.numbers.replacing(": ", with: ":").replacing(", ", with: ","))
    }

    @Test func `other entries beside an integer beyond 64 bits are read`() throws {
        #expect(try Self.run("prefs", "read", "/tmp/f.json", "n", on: Self.machineWithNumbers()).output == "1\n")
    }

    @Test func `undo and restore bring back the numbers of a version`() throws {
        let machine = try Self.machineWithNumbers()
        func bytes() throws -> String {
            String(decoding: try #require(try machine.fileSystem.contents(of: "/tmp/f.json")), as: UTF8.self)
        }
        #expect(try Self.run("prefs", "write", "/tmp/f.json", "a", "b", on: machine).status == 0)
        let written = try bytes()
        for words in [["undo", "/tmp/f.json"], ["restore", "/tmp/f.json", "3"]] {
            #expect(try Self.run("prefs", "write", "/tmp/f.json", "id", "-int", "5", on: machine).status == 0)
            #expect(try Self.run("prefs", "delete", "/tmp/f.json", "list", on: machine).status == 0)
            #expect(try runPrefs(["prefs"] + words + (words[0] == "undo" ? ["2"] : []), on: machine).status == 0)
            #expect(try bytes() == written)
        }
        try machine.fileSystem.replace("/tmp/f.json", with: Array("{".utf8).span.bytes)
        // A damaged file that is named by its path is only replaced on request.
        let refused = try Self.run("prefs", "write", "/tmp/f.json", "a", "c", on: machine)
        #expect(refused.status == 5, "\(refused)")
        #expect(try bytes() == "{")
        let restored = try Self.run("prefs", "restore", "/tmp/f.json", "3", on: machine)
        #expect(restored.status == 0, "\(restored)")
        #expect(try bytes() == written)
    }

    @Test func `the history of a file shows integers beyond 64 bits as they are written`() throws {
        let machine = try Self.machineWithNumbers()
        #expect(try Self.run("prefs", "write", "/tmp/f.json", "id", "-int", "5", on: machine).status == 0)
        #expect(
            try Self.run("prefs", "history", "/tmp/f.json", on: machine).output.contains(
                "- id: \"123456789012345678901234567890\"\n    + id: 5\n"))
        #expect(
            try Self.run("prefs", "history", "--format", "json", "/tmp/f.json", on: machine).output.contains(
                "\"old\": \"123456789012345678901234567890\""))
    }

    @Test func `a file of JSON5 keeps numbers that are not finite, and JSON refuses them`() throws {
        let machine = try SimulatedMachine()
        let text = "{a: Infinity, b: [-Infinity, NaN], c: +123456789012345678901234567890, d: 0x1F}"
        for name: FilePath in ["/tmp/f.json5", "/tmp/f.jsonc"] {
            try machine.fileSystem.replace(name, with: Array(text.utf8).span.bytes)
        }
        #expect(try Self.run("prefs", "write", "/tmp/f.json5", "e", "x", on: machine).status == 0)
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/f.json5"))
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{a: Infinity, b: [-Infinity, NaN], c: +123456789012345678901234567890, d: 0x1F, e: "x"}"#)
        #expect(try Self.run("prefs", "read", "/tmp/f.json5", "a", on: machine).output == "inf\n")
        for words in [["write", "--rewrite", "/tmp/f.jsonc", "e", "x"], ["convert", "/tmp/f.json5", "json"]] {
            let outcome = try runPrefs(["prefs"] + words, on: machine)
            #expect(outcome.status == 3 && outcome.errors.contains(":a: json cannot hold a real that is not finite"))
        }
    }

    @Test func `JSON5 under another name is read, edited and undone with --from`() throws {
        let machine = try SimulatedMachine()
        let text = "{\n  // The size.\n  a: 1\n}\n"
        try machine.fileSystem.replace("/tmp/f.json", with: Array(text.utf8).span.bytes)
        let plain = try Self.run("prefs", "read", "/tmp/f.json", on: machine)
        #expect(plain.status == 5 && plain.errors.hasPrefix("prefs: /tmp/f.json:3:3: keys need double quotes; this is"))
        func run(_ words: String...) throws -> String {
            let outcome = try runPrefs(["prefs"] + words + ["--from", "json5"], on: machine)
            #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            return outcome.output
        }
        #expect(try run("read", "/tmp/f.json", "a") == "1\n")
        _ = try run("write", "/tmp/f.json", "a", "-int", "2")
        _ = try run("rename", "/tmp/f.json", "a", "b")
        _ = try run("delete", "/tmp/f.json", "b")
        #expect(try run("history", "/tmp/f.json").contains("+ b: 2"))
        _ = try run("undo", "/tmp/f.json", "3")
        let bytes = try #require(try machine.fileSystem.contents(of: "/tmp/f.json"))
        #expect(String(decoding: bytes, as: UTF8.self) == text)
        _ = try run("convert", "/tmp/f.json", "json")
        #expect(try Self.run("prefs", "read", "/tmp/f.json", "a", on: machine).output == "1\n")
    }

    @Test func `reals of many digits are rounded in a domain with a note`() throws {
        let outcome = try runPrefs(["prefs", "import", "d", "-"], input: #"{"pi": 3.14159265358979323846264338}"#)
        #expect(outcome.status == 0 && outcome.errors == "prefs: standard input: reals are rounded to 17 digits\n")
    }

    // MARK: Notes

    @Test(arguments: [
        ("[1,\n 18446744073709551616]", "2:2: note: other readers may round an integer beyond 64 bits"),
        ("<string>a\u{1B}b</string>", "1:10: note: the character U+001B is not XML 1.0"),
        ("<string>&#7;</string>", "1:9: note: the character U+0007 is not XML 1.0"),
        (
            "<string>&#\(String(repeating: "0", count: 24))65;&#31;</string>",
            "1:38: note: the character U+001F is not XML 1.0"
        ),
        ("<array>\n<string>]]></string></array>", "2:9: note: bare “]]>” is not XML 1.0: write “]]&gt;”"),
        ("<!-- a -- b --><true/>", "1:8: note: “--” in a comment is not XML 1.0"),
        ("<string a='&x;'>y</string>", "1:12: note: unknown entity “&x” in an attribute"),
        (
            "<date>2024-01-32T00:00:00Z</date>",
            "1:7: note: there is no date 2024-01-32T00:00:00Z: it is read as 2024-02-01T00:00:00Z"
        ),
    ])
    func `lint notes what other readers may refuse`(_ text: String, _ note: String) throws {
        let outcome = try runPrefs(["prefs", "lint", "-"], input: text)
        #expect(outcome.output == "standard input:\(note)\nstandard input: OK\n")
        #expect(outcome.status == 0)
        #expect(try runPrefs(["prefs", "lint", "--strict", "-"], input: text).status == 5)
    }

    @Test func `a set in a binary file is read as an array with a note`() throws {
        let machine = try SimulatedMachine()
        let file = try BinaryAssembler("0 set 1\n1 int 5").bytes
        try machine.fileSystem.replace("/tmp/s", with: Array(file).span.bytes)
        let note = "a set is read as an array"
        #expect(
            try Self.run("prefs", "lint", "/tmp/s", on: machine).output
                == "/tmp/s: byte 8: note: \(note)\n/tmp/s: OK\n")
        let converted = try Self.run("prefs", "convert", "-o", "-", "/tmp/s", "json", on: machine)
        #expect(converted.output == "[\n  5\n]\n" && converted.errors == "prefs: /tmp/s: \(note)\n")
        let strict = try Self.run("prefs", "convert", "--strict", "-o", "-", "/tmp/s", "json", on: machine)
        #expect(strict.status == 3 && strict.output.isEmpty)
        #expect(strict.errors == "prefs: /tmp/s: \(note); nothing was written\n")
    }
}
