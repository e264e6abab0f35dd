import Commands
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import Synchronization
import TestSupport
import Testing

@Suite struct `prefs browse` {
    private let machine: SimulatedMachine

    private static let schema = """
        { Domain = "com.example.app"; Settings = (
            { Key = size; Type = integer; Minimum = 6; Maximum = 96; Default = 12; Summary = "The size of text"; },
            { Key = token; Sensitive = YES; }, { Key = locked; }, { Key = icon; Kind = file; }
        ); }
        """

    init() throws {
        machine = try SimulatedMachine()
        try machine.administrate("/etc/prefs/forced/com.example.app.plist", "{ locked = yes; }")
        try machine.administrate("/etc/xdg/prefs/com.example.app.plist", "{ frame = { width = 1; height = 2; }; }")
        try machine.administrate("/srv/app.plist", Self.schema)
        #expect(try machine.run("prefs schema install /srv/app.plist").status == 0)
        try machine.store(["name": "Ada", "size": 13, "token": "hush", "words": ["a", "b"]], as: "com.example.app")
    }

    /// Presses keys in the browser of the domain, and returns the last whole screen, with its rows.
    private func browse(
        _ keys: [String], in domain: String = "com.example.app", editing: [@Sendable (String) throws -> String?] = [],
        meanwhile: (@Sendable () throws -> Void)? = nil
    ) throws -> String {
        let screen = ScriptedScreen(keys, meanwhile: meanwhile.map { [$0] } ?? [])
        let result = machine.run(["browse", domain], on: screen, editing: editing)
        #expect(result.status == .done, "\(result.errors)")
        #expect(editing.isEmpty == result.errors.isEmpty, "\(result.errors)")
        return screen.text
    }

    /// The keys, a text on the screen after them, and what is stored then.
    @Test(
        arguments: [
            // frame, locked, name, size, token, words
            (["j", "j", "\r", "!", "\r"], "Saved name. u undoes this.", "name", "\"Ada!\""),
            (["j", "j", "\r", "!", "\r", "u"], "Undone: name", "name", "Ada"),
            (["j", "\r", "x", "\r"], "forced by the administrator", "name", "Ada"),
            (["j", "x"], "forced by the administrator", "name", "Ada"),
            (
                ["j", "j", "j", "\r", "\u{15}", "5", "\r"], "Must be from 6 to 96.", "size",
                "<plist><integer>13</integer></plist>"
            ),
            (["j", "j", "j", "x"], "Deleted size.", "size", nil),
            (["j", "j", "j", "t", "k", "\r"], "must be an integer", "size", "<plist><integer>13</integer></plist>"),
            (["j", "j", "j"], "The size of text", "size", "<plist><integer>13</integer></plist>"),
            // A value of the administrator is changed by a copy of it for the user.
            (["\u{1B}[C", "j", "\r", "5", "\r"], "Saved :frame:width.", "frame", "{ height = 2; width = 15; }"),
            (["x"], "has no value in layer user", "frame", nil),
            (["j", "j", "j", "j"], "\u{2022}\u{2022}\u{2022}\u{2022}", "token", "hush"),
            (["j", "j", "j", "j", "\r", "n", "e", "w", "\r"], "Saved token.", "token", "new"),
            // The field of a secret is empty at first.
            (["j", "j", "j", "j", "\r"], "an empty field keeps the secret", "token", "hush"),
            (["j", "j", "j", "j", "\r", "\r"], "\u{2022}\u{2022}\u{2022}\u{2022}", "token", "hush"),
            (["j", "j", "j", "j", "r", "2", "\r"], "token is sensitive, and token2 is not", "token", "hush"),
            (["j", "j", "j", "j", "y"], "A secret cannot be copied.", "token", "hush"),
            (["G", "\u{1B}[F", "\u{1B}[C", "j", "x"], "Deleted :words:0.", "words", "(b)"),
            (["\u{1B}[F", "\u{1B}[C", "j", "J"], "Moved :words:0 to :words:1.", "words", "(b, a)"),
            (["\u{1B}[F", "\u{1B}[C", "j", "j", "\u{1B}[1;3A"], "Moved :words:1 to :words:0.", "words", "(b, a)"),
            (["\u{1B}[F", "\u{1B}[C", "j", "J", "u"], "Undone: words", "words", "(a, b)"),
            // The element is selected again, not the whole array.
            (["\u{1B}[F", "\u{1B}[C", "j", "J", "u", "x"], "Deleted :words:0.", "words", "(b)"),
            (["\u{1B}[F", "\u{1B}[C", "j", "x", "u", "y"], "app :words:0", "words", "(a, b)"),
            (["\u{1B}[F", "\u{1B}[C", "a", "c", "\r"], "Saved a new element of words.", "words", "(a, b, c)"),
            (["a", "icon", "\r", "~", "\t"], "value: ~/", "icon", nil),
            (["a", "$schemaVersion", "\r", "y", "\r"], "reserved for prefs", "x", nil),
            // The text stays in the field.
            (["a", "$schemaVersion", "\r", "y", "\r"], "value: y", "x", nil),
            (["j", "j", "y"], "prefs read com.example.app name", "name", "Ada"),
            (["y"], "prefs read com.example.app frame", "name", "Ada"),
            (["j", "j", "Y"], "prefs write com.example.app name -string Ada", "name", "Ada"),
        ] as [([String], String, String, String?)])
    func `changes values by the rules of the store`(
        _ keys: [String], _ shown: String, _ key: String, _ stored: String?
    ) throws {
        let screen = try browse(keys)
        #expect(screen.contains(shown), "\(screen)")
        #expect(!screen.contains("hush") && !screen.contains("--force"))
        let bytes = try machine.fileSystem.contents(
            of: "/home/ada/.config/prefs/com.example.app.plist", limit: 1 << 20)
        let value = try PropertyList(parsing: #require(bytes))[key]
        #expect(try value == stored.map { try PropertyList(parsing: $0) }, "\(screen)")
    }

    /// A value in a layer that overrides the one in which changes are made.
    @Test(arguments: [
        (["j", "j", "\r", "!", "\r"], "the value of name comes from layer user-host; --layer user-host changes it"),
        (["j", "j", "x"], "comes from layer user-host"),
        (["\u{1B}[F", "\u{1B}[C", "j", "x"], "comes from layer user-host"),
        (["\u{1B}[F", "\u{1B}[C", "j", "J"], "comes from layer user-host"),
        (["j", "j"], "Host\(String(repeating: " ", count: 60))user-host"),
        (["j", "j", "c", "2", "\r"], "Copied name to name2."),
    ])
    func `changes no value that another layer overrides`(_ keys: [String], _ shown: String) throws {
        for words in ["name Host", "words -array x y"] {
            #expect(try machine.run("prefs -currentHost write com.example.app \(words)").status == 0)
        }
        let screen = try browse(keys)
        #expect(screen.contains(shown), "\(screen)")
        #expect(try machine.run("prefs read --layer user com.example.app name").output == "Ada\n")
        #expect(try machine.run("prefs read --layer user com.example.app :words:1").output == "b\n")
        if keys.contains("c") { #expect(try machine.run("prefs read com.example.app name2").output == "Host\n") }
    }

    @Test func `changes no value of the global domain that another layer overrides`() throws {
        #expect(try machine.run("prefs write -g lang en").status == 0)
        #expect(try machine.run("prefs -currentHost write -g lang de").status == 0)
        let screen = try browse(["\r", "!", "\r"], in: "-g")
        #expect(screen.contains("comes from layer global-host; --layer user-host changes it"), "\(screen)")
        #expect(try machine.run("prefs read --layer user -g lang").output == "en\n")
    }

    @Test func `undoes only what was changed, and what no other process has changed since`() throws {
        let machine = machine
        #expect(try machine.run("prefs write com.example.app words -array a a").status == 0)
        let move = ["\u{1B}[F", "\u{1B}[C", "j", "J"]
        #expect(try browse(["j", "j", "\r", "!", "\r"] + move).contains("Nothing was changed."))
        let screen = ScriptedScreen([
            "j", "j", "\r", "!", "\r", "j", "\r", "\u{15}", "40", "\r", "\u{1B}[F", "e", "u", "u",
        ])
        let write: @Sendable (String) throws -> String? = { text in
            _ = try machine.run("prefs write com.example.app size -int 50")
            return text
        }
        #expect(machine.run(["browse", "com.example.app"], on: screen, editing: [write]).status == .done)
        #expect(screen.text.contains("Undone: name"), "\(screen.text)")
        #expect(try machine.run("prefs read com.example.app size").output == "50\n")
    }

    @Test(arguments: [
        "{\"b\": 1,\n     \"a\": [2]}\n", "{ only = 1; }\n", "// a list\n{ /* one */ one = 1; two = (x); }\n",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\n<!-- b --><key>b</key><true/><key>a</key><true/></dict></plist>\n",
    ])
    func `undoes a deletion with order, comments and format`(_ text: String) throws {
        try machine.fileSystem.replace("/home/ada/a.plist", with: Array(text.utf8).span.bytes)
        #expect(try browse(["x"], in: "/home/ada/a.plist").contains("Deleted"))
        let bytes = { String(decoding: try machine.fileSystem.contents(of: "/home/ada/a.plist") ?? [], as: UTF8.self) }
        #expect(try bytes() != text)
        try machine.fileSystem.replace("/home/ada/a.plist", with: Array(text.utf8).span.bytes)
        #expect(try browse(["x", "u"], in: "/home/ada/a.plist").contains("Undone"))
        #expect(try bytes() == text)
    }

    @Test func `reports a file that another process has damaged`() throws {
        let (files, watcher) = (machine.fileSystem, machine.watcher)
        let screen = try browse(["j"]) {
            try files.replace("/home/ada/.config/prefs/com.example.app.plist", with: Array("{ a = ".utf8).span.bytes)
            watcher.deliver()
        }
        #expect(screen.contains("ends inside a dictionary"), "\(screen)")
    }

    @Test func `names the writer of a change as soon as its version is kept`() throws {
        let (machine, watcher) = (machine, machine.watcher)
        let (folder, aside): (FilePath, FilePath) = (
            "/home/ada/.local/state/prefs/history/com.example.app", "/home/ada/version"
        )
        let version = Mutex<FileName?>(nil)
        let screen = ScriptedScreen(
            ["j", "j"],
            meanwhile: [
                {
                    // A writer replaces the file before it keeps the version.
                    #expect(try machine.run("prefs write com.example.app name Eve").status == 0)
                    let newest = try #require(try machine.fileSystem.names(in: folder)?.max())
                    version.withLock { $0 = newest }
                    try machine.fileSystem.rename(folder.appending(newest), to: aside)
                    watcher.deliver()
                },
                {
                    let newest = try #require(version.withLock { $0 })
                    try machine.fileSystem.rename(aside, to: folder.appending(newest))
                    watcher.deliver()
                },
            ])
        #expect(machine.run(["browse", "com.example.app"], on: screen).status == .done)
        #expect(screen.text.contains("Eve") && screen.text.contains("prefs (write)"), "\(screen.text)")
        #expect(!screen.text.contains("not kept"), "\(screen.text)")
    }

    @Test func `changes the global domain and a file`() throws {
        #expect(try machine.run("prefs write -g lang en").status == 0)
        #expect(try browse(["\r", "!", "\r"], in: "-g").contains("Saved lang."))
        #expect(try machine.run("prefs read -g lang").output == "en!\n")
        try machine.fileSystem.replace("/home/ada/a.json", with: Array("{\"b\": 1,  \"a\": [2]}".utf8).span.bytes)
        #expect(try browse(["\r", "0", "\r", "j", " ", "a", "3", "\r"], in: "/home/ada/a.json").contains("Saved"))
        let bytes = try machine.fileSystem.contents(of: "/home/ada/a.json", limit: 100) ?? []
        #expect(String(decoding: bytes, as: UTF8.self) == "{\"b\": 10,  \"a\": [2,  3]}")
        let screen = try browse(["jh", "\u{1B}[D"], in: "/home/ada/a.json")
        #expect(screen.contains("1 of 2") && screen.contains("prefs (found)"), "\(screen)")
    }

    @Test func `restores a version of a domain, and undoes that`() throws {
        for line in ["write org.example.app size 13", "write org.example.app name Ada", "delete org.example.app size"] {
            #expect(try machine.run("prefs " + line).status == 0)
        }
        let first = "prefs read org.example.app size"
        // Two steps back, and the domain as it was after the first change.
        #expect(try browse(["\th", "\u{1B}[D", "\u{1B}[D", "\r"], in: "org.example.app").contains("Restored 2 keys"))
        #expect(try machine.run(first).output == "13\n")
        #expect(try machine.run("prefs read org.example.app name").status == 1)
        let screen = try browse(["\th", "\u{1B}[D", "\r", "u"], in: "org.example.app")
        #expect(screen.contains("Undone:"), "\(screen)")
        #expect(try machine.run(first).output == "13\n")
        #expect(try machine.run("prefs read org.example.app name").status == 1)
        #expect(try browse(["\th", "\r"], in: "org.example.app").contains("This is the present version"))
        #expect(try machine.run("prefs write org.example.other a 1").status == 0)
        let all = try browse(["H"], in: "org.example.app")
        #expect(all.contains("history of all domains") && all.contains("+ a: \"1\""), "\(all)")
    }

    /// What an editor makes of the text of a list, one text after the other, and what is stored then.
    @Test(
        arguments: [
            ([{ $0.replacing("\"b\"", with: "") }, { $0.replacing("\"a\",", with: "\"z\"") }], "(z)"),
            (
                [
                    { $0.replacing("words", with: "other") },
                    { $0.replacing("other", with: "words").replacing("a", with: "y") },
                ], "(y, b)"
            ),
            ([{ _ in "{}" }, { $0 }], "(a, b)"),
        ] as [([@Sendable (String) throws -> String?], String)])
    func `opens the editor again after an error`(_ edits: [@Sendable (String) throws -> String?], _ stored: String)
        throws
    {
        let screen = try browse(["\u{1B}[F", "e"], editing: edits)
        let bytes = try #require(try machine.fileSystem.contents(of: "/home/ada/.config/prefs/com.example.app.plist"))
        #expect(try PropertyList(parsing: bytes)["words"] == PropertyList(parsing: stored), "\(screen)")
    }

    @Test func `changes entries beside an integer of more than 64 bits`() throws {
        let path: FilePath = "/home/ada/big.json"
        try machine.fileSystem.replace(
            path, with: Array("{\"d\": {\"m\": 1, \"n\": 123456789012345678901}}".utf8).span.bytes)
        let screen = try browse(["\u{1B}[C", "j", "\r", "5", "\r", "j", "c", "2", "\r"], in: path.description)
        #expect(screen.contains("Copied :d:n to :d:n2."), "\(screen)")
        let bytes = try #require(try machine.fileSystem.contents(of: path))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("\"123456789012345678901\""))
    }

    @Test func `redraws the screen, and is suspended in every mode`() throws {
        let screen = ScriptedScreen(["\u{1A}", "?", "\u{1A}", "\u{C}", "\u{1B}"])
        #expect(machine.run(["browse", "com.example.app"], on: screen).status == .done)
        #expect(screen.suspensions == 2 && screen.clears == 4)
    }

    @Test func `shows changes in the target of a link`() throws {
        let (files, watcher) = (machine.fileSystem, machine.watcher)
        try files.replace("/home/ada/real.plist", with: Array("{ size = 7; }".utf8).span.bytes)
        try files.makeSymbolicLink("/home/ada/.config/prefs/com.example.link.plist", to: "/home/ada/real.plist")
        let screen = try browse([], in: "com.example.link") {
            try files.replace("/home/ada/real.plist", with: Array("{ size = 8888; }".utf8).span.bytes)
            watcher.deliver()
        }
        #expect(screen.contains("8888"), "\(screen)")
    }

    @Test func `creates a domain with its first entry`() throws {
        let screen = try browse(["\t", "a", "com.example.new", "\r", "key", "\r", "5", "\r"])
        #expect(screen.contains("▸com.example.new") && screen.contains("Saved key."), "\(screen)")
        #expect(try machine.run("prefs read com.example.new key").output == "5\n")
        #expect(try browse(["\t", "a", "../x", "\r"]).contains("../x"))
        #expect(try browse(["\t", "a", "-g", "\r", "key", "\r", "5", "\r"]).contains("Saved key."))
        #expect(try machine.run("prefs delete -g").status == 0)
        #expect(try browse(["\t", "a", "com.example.none", "\r", "\u{3}"]).contains("No entries. a adds one."))
        #expect(try machine.run("prefs domains").output == "com.example.app\ncom.example.new\n")
    }

    @Test func `requires a readable domain or file`() throws {
        try machine.administrate("/srv/bad.plist", "{ a = ")
        for (word, status) in [("com.example.none", ExitStatus.notFound), ("/srv/bad.plist", .damaged)] {
            let (result, errors) = machine.run(["browse", word], on: ScriptedScreen([]))
            #expect(result == status && errors.contains(word))
        }
    }

    /// The words, and the line that any of bash, zsh and ksh reads as them.
    @Test(arguments: [
        (["a", "it's"], "a 'it'\\''s'"), (["a\u{1B}7"], "$'a\\0337'"), (["a\nb\tc'\\"], "$'a\\nb\\tc\\'\\\\'"),
        (["\u{202E}x"], "$'\\342\\200\\256x'"),
    ])
    func `quotes control characters`(_ words: [String], _ line: String) {
        #expect(ShellWord.visibleLine(words) == line)
    }
}
