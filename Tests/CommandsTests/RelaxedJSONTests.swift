import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// JSON with comments and trailing commas, under any name, and files that are none.
@Suite struct RelaxedJSONTests {
    private static let noted = "// head\n{\n  // one\n  \"a\": 1, // x\n  \"l\": [1, 2,],\n}\n"

    private static func machine(_ files: [(name: String, text: String)]) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/tmp")
        try machine.fileSystem.makeFolders("/tmp/.vscode")
        for file in files {
            let path = FilePath("/tmp").resolving(try #require(FilePath(file.name)))
            try machine.fileSystem.replace(path, with: Array(file.text.utf8).span.bytes)
        }
        return machine
    }

    // MARK: The format of a text without a name

    static let formats: [(text: String, format: PropertyList.Format)] = [
        ("{}", .json), ("{ /* none */ }", .json), ("[]", .json), ("[ // one\n1]", .json), ("[[1]]", .json),
        ("{\"a\": 1}", .json), ("// c\n/* d */ {\"a\": 1,}", .json), ("\u{FEFF}// c\n{\"a\": 1}", .json),
        ("{\"a\" /* = */ : 1}", .json), ("{\"a\\\"b\": 1}", .json), ("{// \"a\" = 1\n\"a\": 1}", .json),
        ("{\"a\" = b;}", .openstep), ("{a = b;}", .openstep), ("/* c */ {\"a\" = b;}", .openstep),
        ("{a:b = c;}", .openstep), ("// c\n\"a\" = \"b\";", .openstep), ("(1, 2)", .openstep),
        ("// c\n12", .openstep), ("<0fbd 7771>", .openstep), ("// only a comment", .openstep),
        ("{a = <*I1>;}", .gnustep), ("12", .json), ("true", .json), ("\"x\"", .json),
        ("/*" + String(repeating: "x", count: 5000) + "*/ {\"a\": 1}", .json),
        ("/*" + String(repeating: "x", count: 5000) + "*/ {\"a\" = 1;}", .openstep),
    ]

    @Test(arguments: formats)
    func `a text without a name has the format that its first key shows`(
        _ row: (text: String, format: PropertyList.Format)
    ) throws {
        var options = PropertyList.ReadingOptions()
        options.json = .withComments
        #expect(try PropertyList.sniffed(Array(row.text.utf8), options: options).format == row.format)
    }

    // MARK: Every verb reads it

    static let names = [
        "a.json", "a", "a.plist", "x.code-workspace", ".babelrc", ".swcrc", "My.sublime-settings",
        ".vscode/settings.json", "tsconfig.build.json",
    ]

    @Test(arguments: names)
    func `JSON with comments of any name is read and edited, and keeps its comments`(_ name: String) throws {
        let machine = try Self.machine([(name, Self.noted)])
        #expect(try machine.run("prefs read ./\(name) :l:1") == Transcript.Outcome(output: "2\n"))
        #expect(try machine.run("prefs write ./\(name) a --int 3") == Transcript.Outcome())
        #expect(try machine.run("prefs write ./\(name) :l: --int 4") == Transcript.Outcome())
        #expect(
            try machine.text(of: "/tmp/" + name)
                == Self.noted.replacing("\"a\": 1", with: "\"a\": 3").replacing("2,]", with: "2, 4,]"))
    }

    static let reading: [(words: String, output: String)] = [
        ("read ./a.json a", "1\n"), ("read-type ./a.json a", "integer\n"),
        ("explain ./a.json a", "1"), ("query --format lines ./a.json :l 'SELF == 2'", "2\n"),
        ("convert -o - ./a.json xml", "<integer>1</integer>"), ("diff ./a.json ./b.json", "+ a: 2"),
        ("export ./a.json - --format json-plain", "\"a\": 1"), ("import d ./a.json", ""), ("apply ./a.json", ""),
        ("find one ./a.json", ""), ("history ./a.json", ""), ("read --from json ./a.json a", "1\n"),
    ]

    @Test(arguments: reading)
    func `every verb reads JSON with comments`(_ row: (words: String, output: String)) throws {
        let machine = try Self.machine([
            ("a.json", Self.noted), ("b.json", Self.noted.replacing("\"a\": 1", with: "\"a\": 2")),
        ])
        let outcome = try machine.run("prefs " + row.words)
        #expect(outcome.output.contains(row.output), "\(outcome)")
        #expect(!outcome.errors.contains("JSON"), "\(outcome.errors)")
    }

    @Test func `a domain in JSON may have comments`() throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders("/home/ada/.config/prefs", for: .owner)
        let path: FilePath = "/home/ada/.config/prefs/d.plist"
        try machine.fileSystem.replace(path, with: Array(Self.noted.utf8).span.bytes)
        #expect(try machine.run("prefs read d a") == Transcript.Outcome(output: "1\n"))
        #expect(try machine.run("prefs write d a --int 2") == Transcript.Outcome())
        #expect(try machine.run("prefs rename d a b") == Transcript.Outcome())
        let text = Self.noted.replacing("\"a\": 1", with: "\"b\": 2")
        #expect(try machine.text(of: path.description) == text)
        let editor = EditTests.Editor(machine, [{ shown in shown == text ? shown.replacing("one", with: "two") : nil }])
        let outcome = try runPrefs(["prefs", "edit", "d"], on: machine) { try editor.run($0) }
        #expect(outcome == Transcript.Outcome())
        #expect(try machine.text(of: path.description) == text.replacing("one", with: "two"))
    }

    // MARK: What is wrong with a file

    static let messages: [(name: String, text: String, message: String)] = [
        ("a.json", "{\"a\": 1 // one\n}", "1:9: comments are not JSON; this is JSON with comments"),
        ("a.json", "{\n// c\n\"a\": 1\n\"b\": 2}", "4:1: expected “,” or “}”"),
        ("a.json", "{\"a\":1,}", "1:7: a comma before }; this is JSON with comments"),
        ("a.json", "[1,\n2,\n]", "2:2: a comma before ]; this is JSON with comments (at :2)"),
        ("a", "{\"a\":1,}", "1:7: a comma before }; this is JSON with comments"),
        ("a.json", "{'a':1}", "1:2: strings need double quotes; \(json5)"),
        ("a.json", "{\"a\":'1'}", "1:6: strings need double quotes; \(json5) (at :a)"),
        (".babelrc", "{a: 1}", "1:2: keys need double quotes; \(json5)"),
        (".vscode/settings.json", "{\"a\": 0x1F}", "1:8: expected “,” or “}”; \(json5)"),
        ("a", "{\"a\": .5}", "1:7: expected a value; \(json5) (at :a)"),
        ("a.json", "{\"a\" 1, // one\n}", "1:6: expected “:” (at :a)"),
        (
            "a.plist", "<?xml version=\"1.0\"?>\n<config/>",
            "2:1: an XML file, but not a property list: the root is <config>"
        ),
        ("a", "<Project Sdk=\"x\"/>", "1:1: an XML file, but not a property list: the root is <Project>"),
        ("a.html", "<!DOCTYPE html>\n<html>", "2:1: an XML file, but not a property list: the root is <html>"),
        ("a", "<plits/>", "1:1: unknown element <plits>; did you mean <plist>?"),
        ("a.conf", "; c\n[core]\n\tx = 1\n", "1:1: looks like an INI file; \(toImport) ini DOMAIN ./a.conf"),
        ("a.desktop", "[Desktop Entry]\nName=x\n", "1:1: looks like an INI file; \(toImport) ini DOMAIN ./a.desktop"),
        (
            ".gitconfig", "[remote \"origin\"]\nurl=x\n",
            "1:1: looks like an INI file; \(toImport) ini DOMAIN ./.gitconfig"
        ),
        (".env", "# c\nexport A=\"b\"\nC=d\n", "1:1: looks like a .env file; \(toImport) env DOMAIN ./.env"),
        ("a.json", "[a]\nb = 1\n", "1:1: looks like an INI file; \(toImport) ini DOMAIN ./a.json"),
        (".env", "A=1\nb-c=x y\n", "1:1: looks like an INI file; \(toImport) ini DOMAIN ./.env"),
        ("a.conf", "A = b c\n", "1:1: looks like an INI file; \(toImport) ini DOMAIN ./a.conf"),
        ("Cargo.lock", "[[package]]\nname = \"x\n", "2:8: a string without a closing quote (at :package:0:name)"),
        ("a", "# c\na: b\nc:\n  - d\n", "1:1: looks like YAML"),
        ("a", "---\n- a\n- b\n", "1:1: looks like YAML"),
        ("a.json", "a: 1\n", "1:1: looks like YAML"),
        ("a.strings", "a = b\nc = d;", "1:6: expected ; after the value (at :a)"),
        ("a", "{\"a\": 1\n", "2:1: ends inside an object"), ("a", "{", "1:2: ends inside a dictionary"),
    ]
    private static let toImport = "to import it: prefs import --from"
    private static let json5 = "this is JSON5, which needs the extension .json5 or .jsonc, or --from json5"

    @Test(arguments: messages)
    func `lint names what a file is`(_ row: (name: String, text: String, message: String)) throws {
        let outcome = try Self.machine([(row.name, row.text)]).run("prefs lint ./\(row.name)")
        #expect(outcome == Transcript.Outcome(output: "./\(row.name):\(row.message)\n", status: 5))
    }

    @Test(arguments: [
        ("a.json", false), ("a", false), ("package.json", false), ("a.jsonc", true), ("a.json5", true),
        (".vscode/settings.json", true), ("x.code-workspace", true), (".swcrc", true), ("tsconfig.app.json", true),
        ("jsconfig.json", true), ("a.sublime-project", true), ("devcontainer.json", true),
    ])
    func `lint allows comments by the name of the file`(_ name: String, _ isAllowed: Bool) throws {
        let outcome = try Self.machine([(name, Self.noted)]).run("prefs lint ./\(name)")
        #expect(outcome.status == (isAllowed ? 0 : 5), "\(outcome)")
    }

    @Test(arguments: ["x.code-workspace", ".babelrc", ".vscode/launch.json", "a.jsonc"])
    func `a new file of such a name is JSON`(_ name: String) throws {
        let machine = try Self.machine([])
        #expect(try machine.run("prefs write ./\(name) a b") == Transcript.Outcome())
        #expect(try machine.text(of: "/tmp/" + name) == "{\n  \"a\": \"b\"\n}\n")
    }
}

extension SimulatedMachine {
    /// Returns the text of a file.
    func text(of path: String) throws -> String {
        let bytes = try fileSystem.contents(of: try #require(FilePath(path)))
        return String(decoding: try #require(bytes), as: UTF8.self)
    }
}
