import Foundation
import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import TestSupport
import Testing

/// The schemas of the files of other programs, which are installed with the command.
enum Catalogue {
    static let folder = packageRoot.appending(path: "Sources/prefs/programs")

    static let names: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
        return (files ?? []).filter { $0.hasSuffix(".plist") }.map { String($0.dropLast(6)) }.sorted()
    }()

    static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name + ".plist"), encoding: .utf8)
    }

    static func schema(_ name: String) throws -> Schema {
        let (schema, mistakes) = Schema.read(Array(try text(name).utf8), checks: true) { base in
            try Schema.declared(in: Array(text(base).utf8))
        }
        #expect(mistakes.isEmpty, "\(name): \(mistakes)")
        return try #require(schema)
    }

    /// Installs the catalogue for all users of a machine.
    static func install(on machine: SimulatedMachine, _ names: [String] = names) throws {
        for name in names {
            let path = try #require(FilePath("/usr/share/prefs/programs/\(name).plist"))
            try machine.administrate(path, try text(name))
        }
    }
}

@Suite struct `The catalogue of programs` {
    @Test func `has many programs`() { #expect(Catalogue.names.count >= 50) }

    /// A program knows nothing of a default or a variable that a schema declares, so that one would be misleading.
    @Test(arguments: Catalogue.names) func `declares facts with their sources, and adds no value`(_ name: String) throws
    {
        let (schema, text) = (try Catalogue.schema(name), try Catalogue.text(name))
        #expect(schema.domain == name && schema.title?.isEmpty == false)
        #expect(text.prefix { $0 != "{" }.contains("https://"), "no source of the file")
        #expect(!schema.programFiles.isEmpty && !schema.isClosed && schema.commands.isEmpty && schema.version == 1)
        for file in schema.programFiles {
            #expect(file.hasPrefix("~/") || file.hasPrefix("$") || file.hasPrefix("/etc/"), "\(file)")
            #expect(!file.hasSuffix(".yaml"), "\(file)")
        }
        for setting in schema.settings {
            #expect(setting.summary?.isEmpty == false, "\(setting.key)")
            #expect(
                setting.defaultValue == nil && setting.environment.isEmpty && setting.flags.isEmpty, "\(setting.key)")
        }
        #expect(Set(schema.settings.map { Name($0.key) }).count == schema.settings.count, "a key is declared twice")
    }

    /// Another user with access to the folder of a mirror must not choose what a program runs.
    @Test(arguments: Catalogue.names) func `keeps what names commands on each host`(_ name: String) throws {
        let schema = try Catalogue.schema(name)
        let words = ["command", "exec", "hook", "hooks", "shell", "interpreter", "executable", "cmd"]
        for setting in schema.settings where !setting.staysLocal {
            let parts = setting.key.lowercased().split { !$0.isLetter }.map(String.init)
            #expect(Set(parts).isDisjoint(with: words), "\(setting.key)")
        }
    }

    /// Each row: a program, its file, the text of it, and the line that changes with a new value.
    static let programs: [(name: String, file: String, text: String, old: String, new: String)] = [
        (
            "code", ".config/Code/User/settings.json",
            "{\n    // The editor\n    \"editor.fontSize\": 13,\n    \"files.exclude\": {\"build\": true},\n}\n",
            "\"editor.fontSize\": 13", "\"editor.fontSize\": 15"
        ),
        (
            "vscodium", ".config/VSCodium/User/settings.json", "{\n\t\"editor.wordWrap\": \"off\"\n}\n",
            "\"editor.wordWrap\": \"off\"", "\"editor.wordWrap\": \"on\""
        ),
        (
            "zed", ".config/zed/settings.json", "// Zed settings\n{\n  \"buffer_font_size\": 14.5,\n}\n",
            "\"buffer_font_size\": 14.5", "\"buffer_font_size\": 16"
        ),
        (
            "docker", ".docker/config.json", "{\n\t\"auths\": {},\n\t\"detachKeys\": \"ctrl-x\"\n}",
            "\"detachKeys\": \"ctrl-x\"", "\"detachKeys\": \"ctrl-e,e\""
        ),
        (
            "micro", ".config/micro/settings.json", "{\n    \"tabsize\": 8\n}\n", "\"tabsize\": 8", "\"tabsize\": 4"
        ),
        (
            "waybar", ".config/waybar/config", "// bar\n{\n  \"layer\": \"top\",\n  \"height\": 30, // pixels\n}\n",
            "\"height\": 30", "\"height\": 24"
        ),
        (
            "fastfetch", ".config/fastfetch/config.jsonc", "{\n  // Look\n  \"display\": {\"size\": 1}\n}\n",
            "\"display\": {\"size\": 1}", "\"display\": {\"size\": 2}"
        ),
        (
            "transmission-gtk", ".config/transmission/settings.json", "{\n    \"ratio-limit\": 2\n}\n",
            "\"ratio-limit\": 2", "\"ratio-limit\": 3"
        ),
        (
            "gemini", ".gemini/settings.json", "{\"ui\": {\"theme\": \"GitHub\"}, \"useWriteTodos\": false}",
            "\"useWriteTodos\": false", "\"useWriteTodos\": true"
        ),
        (
            "sourcekit-lsp", ".config/sourcekit-lsp/config.json", "{\n  \"backgroundIndexing\": true\n}\n",
            "\"backgroundIndexing\": true", "\"backgroundIndexing\": false"
        ),
    ]

    @Test func `finds, edits and undoes the files of ten programs`() throws {
        let machine = try SimulatedMachine()
        try Catalogue.install(on: machine)
        for row in Self.programs {
            let path = try #require(FilePath("/home/ada/" + row.file))
            try machine.fileSystem.makeFolders(path.parent)
            try machine.fileSystem.replace(path, with: Array(row.text.utf8))
        }
        let found = try machine.run("prefs adopt --list").output
        let expected = Self.programs.map { "\($0.name)\tfound\t/home/ada/\($0.file)\n" }.sorted().joined()
        #expect(found == expected)
        let adopted = try machine.run("prefs adopt --all")
        #expect(adopted.status == 0 && adopted.output.split(separator: "\n").count == Self.programs.count, "\(adopted)")
        #expect(try machine.run("prefs adopt --list").output == expected.replacing("\tfound\t", with: "\tadopted\t"))
        #expect(try machine.run("prefs doctor").output == "no problems found\n")
        for row in Self.programs {
            let words = row.new.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let key = words[0].trimmingCharacters(in: ["\""])
            let outcome = try runPrefs(["prefs", "write", row.name, key, "--json", words[1]], on: machine)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(row.name): \(outcome)")
            #expect(try text(row.file, machine) == row.text.replacing(row.old, with: row.new))
            #expect(try machine.run("prefs undo \(row.name)").status == 0)
            #expect(try text(row.file, machine) == row.text)
        }
        #expect(try machine.run("prefs adopt --all") == Transcript.Outcome())
    }

    private func text(_ file: String, _ machine: SimulatedMachine) throws -> String {
        let path = try #require(FilePath("/home/ada/" + file))
        return String(decoding: try #require(try machine.fileSystem.contents(of: path, limit: 10000)), as: UTF8.self)
    }
}

/// The schema of a program's file.
@Suite struct `A schema with a file` {
    private let machine: SimulatedMachine
    private static let file: FilePath = "/home/ada/.config/editor/settings.json"
    private static let text = "{\n  \"size\": 12,\n  \"apiToken\": \"abc\",\n  \"lsp\": {\"password\": \"x\"}\n}\n"
    private static let schema = """
        {
            Domain = editor; Title = Editor; Version = 3; Closed = YES;
            File = ("$EDITOR_HOME/settings.json", "$XDG_CONFIG_HOME/editor/settings.json", "~/.editorrc");
            Settings = (
                { Key = size; Type = integer; Maximum = 40; Default = 10; Environment = SIZE; },
                { Key = proxy; Type = string; Sensitive = YES; Default = none; },
                { Key = tabs; Default = 4; ByHost = YES; RenamedFrom = tab; }
            );
        }
        """

    init() throws {
        machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders(Self.file.parent)
        try machine.fileSystem.replace(Self.file, with: Array(Self.text.utf8))
        try machine.administrate("/usr/share/prefs/programs/editor.plist", Self.schema)
    }

    private var text: String {
        get throws {
            String(decoding: try machine.fileSystem.contents(of: Self.file, limit: 1000) ?? [], as: UTF8.self)
        }
    }

    @Test func `has no effect until the file is adopted`() throws {
        let missing = try machine.run("prefs read editor size")
        #expect(missing.errors.contains("no domain editor; `prefs adopt editor` makes the file"), "\(missing)")
        let written = try machine.run("prefs write editor size --int 99")
        #expect(written.status == 0 && written.errors.contains("not the file of this program"), "\(written)")
        #expect(try machine.run("prefs write editor size --int 98") == Transcript.Outcome())
        #expect(try machine.run("prefs adopt editor").errors.contains("the domain editor exists"))
    }

    /// Each row: how the file is adopted, and its domain.
    @Test(arguments: [
        ("editor", "editor"), ("/home/ada/.config/editor/settings.json", "editor"), ("editor --as e", "e"),
        ("/home/ada/.config/editor/settings.json --as e", "e"),
    ]) func `checks and masks, and adds nothing`(_ words: String, _ domain: String) throws {
        let adopted = try machine.run("prefs adopt \(words)")
        #expect(adopted.output == "\(domain): \(Self.file) (json, 3 keys)\n", "\(adopted)")
        let refused = try machine.run("prefs write \(domain) size --int 41")
        #expect(refused.status == 3, "\(refused)")
        #expect(try machine.run("prefs write \(domain) size --int 20") == Transcript.Outcome())
        #expect(try text == Self.text.replacing("12", with: "20"))
        #expect(try machine.run("prefs write \(domain) undeclared x").errors.contains("declare") == false)
        #expect(try machine.run("prefs delete \(domain) undeclared").status == 0)
        for key in ["tabs", "proxy", "tab"] { #expect(try machine.run("prefs read \(domain) \(key)").status == 1) }
        let output = try machine.run("prefs read \(domain)").output
        #expect(output.contains("\"apiToken\": \"••••\"") && output.contains("\"password\": \"••••\""), "\(output)")
        #expect(try text == Self.text.replacing("12", with: "20"))
        #expect(try machine.run("prefs doctor").output == "no problems found\n")
        #expect(try machine.run("prefs adopt --remove \(domain)").status == 0)
        #expect(try machine.run("prefs adopt --list").output == "editor\tfound\t\(Self.file)\n")
    }

    @Test func `of another file does not apply`() throws {
        try machine.fileSystem.replace("/home/ada/other.json", with: Array("{\"size\": 99}".utf8))
        #expect(try machine.run("prefs adopt /home/ada/other.json --as editor").status == 0)
        #expect(try machine.run("prefs write editor size --int 98").status == 0)
        #expect(try machine.run("prefs adopt editor").errors.contains("is another file"))
    }

    @Test func `that the user has installed precedes that of the system`() throws {
        let own = Self.schema.replacing("Maximum = 40", with: "Maximum = 90")
        try machine.fileSystem.replace("/home/ada/s.plist", with: Array(own.utf8))
        #expect(try machine.run("prefs schema install /home/ada/s.plist").status == 0)
        #expect(try machine.run("prefs adopt editor").status == 0)
        #expect(try machine.run("prefs write editor size --int 80").status == 0)
    }

    @Test func `makes its domain known to those who mistype it`() throws {
        #expect(try machine.run("prefs adopt editor").status == 0)
        #expect(try machine.run("prefs read edito").errors.contains("did you mean editor?"))
        let written = try machine.run("prefs write edito size --int 1")
        #expect(written.status == 0 && written.errors.contains("a new domain of the store; did you mean editor?"))
        #expect(try machine.run("prefs write com.example.edito size --int 1") == Transcript.Outcome())
        try machine.fileSystem.makeFolders("/home/ada/shared")
        #expect(try machine.run("prefs mirror init /home/ada/shared").status == 0)
        let added = try machine.run("prefs mirror add editorr")
        #expect(added.output.contains("did you mean editor?"), "\(added)")
    }

    @Test func `names a file whose folder does not exist yet`() throws {
        try machine.fileSystem.remove(Self.file)
        try machine.fileSystem.remove(Self.file.parent)
        #expect(try machine.run("prefs adopt editor").output.contains("does not exist yet"))
        try machine.fileSystem.makeFolders("/home/ada/shared")
        #expect(try machine.run("prefs mirror init /home/ada/shared").status == 0)
        let added = try machine.run("prefs mirror add editor")
        #expect(added.status == 0 && added.errors == "", "\(added)")
        #expect(try machine.run("prefs mirror sync") == Transcript.Outcome())
        #expect(try machine.fileSystem.status(of: Self.file.parent) == nil)
        #expect(try machine.run("prefs write editor size --int 20") == Transcript.Outcome())
        #expect(try text.contains("\"size\": 20"))
        #expect(try machine.fileSystem.status(of: Self.file)?.permissions == .privateFile)
        #expect(try machine.fileSystem.status(of: Self.file.parent)?.permissions == .privateFolder)
        // The path of another file may be misspelled, so its folder is not created.
        #expect(try machine.run("prefs write /home/ada/none/x.json a 1").status == 6)
    }

    @Test func `names a file that does not exist yet`() throws {
        try machine.fileSystem.remove(Self.file)
        let adopted = try machine.run("prefs adopt editor")
        #expect(adopted.status == 0 && adopted.output.contains("does not exist yet"), "\(adopted)")
        #expect(try machine.run("prefs doctor").output == "no problems found\n")
        #expect(try machine.run("prefs adopt edit").errors.contains("no known program"))
        #expect(try machine.run("prefs adopt --list").output == "editor\tadopted\t\(Self.file)\n")
        #expect(try machine.run("prefs write editor size --int 20").status == 0)
        #expect(try text.contains("\"size\": 20"))
    }

    @Test func `keeps its file and its secrets if a JSON Schema takes its place`() throws {
        let json = """
            {"properties": {"size": {"type": "integer", "maximum": 60}, "proxy": {"type": "string"}, "wrap": \
            {"type": "boolean"}}, "additionalProperties": false}
            """
        try machine.fileSystem.replace("/home/ada/s.json", with: Array(json.utf8))
        let refused = try machine.run("prefs schema import /home/ada/s.json")
        #expect(refused.status == 2 && refused.errors.contains("a JSON Schema does not name its domain"), "\(refused)")
        let imported = try machine.run("prefs schema import /home/ada/s.json --domain editor -o /home/ada/s.plist")
        #expect(imported == Transcript.Outcome())
        #expect(try machine.run("prefs schema install /home/ada/s.plist").status == 0)
        #expect(try machine.run("prefs adopt editor").status == 0)
        for (words, status) in [("size --int 61", 3), ("size --int 60", 0), ("wrap 3", 3), ("proxy p", 0)]
            as [(String, Int32)]
        {
            #expect(try machine.run("prefs write editor \(words)").status == status, "\(words)")
        }
        #expect(try machine.run("prefs read editor").output.contains("\"proxy\": \"••••\""))
        #expect(try text.contains("\"size\": 60") && text.contains("\"proxy\": \"p\""))
    }

    /// Each row: the text of an alternative, the variables, and whether the file is found there.
    @Test(
        arguments: [
            ("$EDITOR_HOME/settings.json", ["EDITOR_HOME": "/home/ada/.config/editor"], true),
            ("$EDITOR_HOME/settings.json", ["EDITOR_HOME": "editor"], false),
            ("$EDITOR_HOME/settings.json", [:], false),
            ("$EDITOR_HOME/settings.json", ["EDITOR_HOME": ""], false),
            ("$XDG_CONFIG_HOME/editor/settings.json", [:], true), ("~/.config/editor/settings.json", [:], true),
            ("$HOME/.config/editor/settings.json", [:], true), (".config/editor/settings.json", [:], false),
            ("~x/.config/editor/settings.json", [:], false), ("$/editor/settings.json", [:], false),
            ("/home/ada/.config/editor/settings.json", [:], true),
        ] as [(String, EnvironmentVariables, Bool)])
    func `finds the file by paths with variables`(_ text: String, _ variables: EnvironmentVariables, _ isFound: Bool)
        throws
    {
        let schema = "{ Domain = editor; File = \"\(text)\"; }"
        try machine.disk.process().remove("/usr/share/prefs/programs/editor.plist")
        try machine.administrate("/usr/share/prefs/programs/editor.plist", schema)
        var machine = machine
        machine.environment.variables = machine.environment.variables.merging(variables)
        #expect(try machine.run("prefs adopt --list").output == (isFound ? "editor\tfound\t\(Self.file)\n" : ""))
    }
}
