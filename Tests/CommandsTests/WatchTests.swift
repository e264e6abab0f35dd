import Platform
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct WatchTests {
    @Test func `notes that the domain is not a pattern, unless it exists`() throws {
        let machine = try SimulatedMachine()
        let outcome = try runPrefs(["prefs", "watch", "com.*"], on: machine)
        let note = "prefs: com.*: waiting for a domain of this name; DOMAIN is not a pattern\n"
        #expect(outcome == Transcript.Outcome(errors: note))
        _ = try runPrefs(["prefs", "write", "com.*", "k", "v"], on: machine)
        #expect(try runPrefs(["prefs", "watch", "com.*"], on: machine) == Transcript.Outcome())
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let words: [String]
        /// The concurrent changes of others, as arguments of `prefs`.
        let meanwhile: [String]
        let output: String

        init(_ words: [String], _ meanwhile: [String], _ output: String) {
            (self.words, self.meanwhile, self.output) = (words, meanwhile, output)
        }

        var testDescription: String { words.joined(separator: " ") }
    }

    /// The initial values: `d` has theme, window and secret, and the global domain has lang.
    static let before = [
        "write d theme light", "write d window -dict width -int 80", "write d secret x", "write -g lang de",
    ]

    static let rows = [
        Row([], [], ""), Row([], ["read d"], ""), Row([], ["write d theme light"], ""),
        Row(
            [], ["write d theme dark", "write d new -int 1", "delete d secret"],
            """
            user d theme: "light" -> "dark"
            user d new: (none) -> 1
            user d secret: "x" -> (none)

            """),
        Row(
            [], ["write e k -bool true", "-currentHost write d theme blue", "delete e"],
            """
            user e k: (none) -> true
            user-host d theme: "light" -> "blue"
            user e k: true -> (none)

            """),
        Row(
            ["d"], ["write e k 1", "write -g lang en", "write d :window:width -int 90"],
            "user d :window:width: 80 -> 90\n"),
        Row(["d", "theme"], ["write d secret y", "write d theme dark"], "user d theme: \"light\" -> \"dark\"\n"),
        Row(
            ["d", ":window:width"],
            ["write d :window:height -int 1", "write d :window:width -int 81", "delete d window"],
            """
            user d :window:width: 80 -> 81
            user d :window:width: 81 -> (none)

            """),
        Row(["-g"], ["write d theme dark", "write -g lang en"], "global NSGlobalDomain lang: \"de\" -> \"en\"\n"),
        Row(
            ["--ignore", "sec*", "--ignore", "e"], ["write d secret y", "write e k 1", "write d theme dark"],
            "user d theme: \"light\" -> \"dark\"\n"),
        Row(["d", "secret", "--ignore", "s?????"], ["write d secret y"], ""),
        Row(
            ["--format", "json"], ["write d theme dark", "write d :window:x -date 2001-01-01T00:00:00Z"],
            """
            {"change":"changed","domain":"d","layer":"user","new":"dark","old":"light","path":":theme"}
            {"change":"added","domain":"d","layer":"user","new":{"$date":"2001-01-01T00:00:00Z"},"path":":window:x"}

            """),
        Row(
            ["--format", "commands"], ["write d theme 'it'\\''s'", "-currentHost write d a -int 1", "delete d window"],
            """
            prefs write d theme -string 'it'\\''s'
            prefs -currentHost write d a -int 1
            prefs delete d window

            """),
        Row(
            ["d", ":window:width", "--format", "commands"],
            ["write d window -dict width -int 7 height -int 9"], "prefs write d :window:width -int 7\n"),
        Row(
            ["--effective", "d"],
            ["write d theme dark", "-currentHost write d theme blue", "write d theme red", "write -g lang en"],
            """
            user d theme: "light" -> "dark"
            user-host d theme: "dark" -> "blue"
            global d lang: "de" -> "en"

            """),
        Row(
            ["--effective"], ["write e lang fr", "write -g lang en", "delete e lang"],
            """
            user e lang: (none) -> "fr"
            global NSGlobalDomain lang: "de" -> "en"
            user e lang: "fr" -> (none)

            """),
        Row(["~/x.plist"], ["write '~/x.plist' a -int 1", "write d theme dark"], "user ~/x.plist a: (none) -> 1\n"),
    ]

    @Test(arguments: rows)
    func `a change is reported as it was made, and others are not`(_ row: Row) throws {
        let machine = try SimulatedMachine()
        for line in Self.before { #expect(try Self.prefs(line, on: machine) == 0) }
        let meanwhile = row.meanwhile.map { line in { @Sendable () throws in try Self.change(line, on: machine) } }
        let outcome = try runPrefs(["prefs", "watch"] + row.words, on: machine, meanwhile: meanwhile)
        #expect(outcome == Transcript.Outcome(output: row.output))
    }

    @Test func `a domain that is a folder is watched in each of its files`() throws {
        let machine = try SimulatedMachine()
        for line in Self.before + ["convert d folder"] { #expect(try Self.prefs(line, on: machine) == 0) }
        let folder: FilePath = "/home/ada/.config/prefs/d.prefs"
        let outcome = try runPrefs(
            ["prefs", "watch", "d"], on: machine,
            meanwhile: [
                { try Self.change("write d theme dark", on: machine) },
                { try machine.fileSystem.replace(folder.appending("theme.txt"), with: Array("blue\n".utf8)) },
                { try machine.fileSystem.replace(folder.appending("new.txt"), with: Array("1\n".utf8)) },
                { try machine.fileSystem.remove(folder.appending("secret.txt")) },
                { try Self.change("convert d json", on: machine) },
                { try Self.change("write d theme red", on: machine) },
            ])
        #expect(
            outcome.output == """
                user d theme: "light" -> "dark"
                user d theme: "dark" -> "blue"
                user d new: (none) -> "1"
                user d secret: "x" -> (none)
                user d theme: "blue" -> "red"

                """)
        #expect(outcome.status == 0)
    }

    @Test func `several changes between two checks are one, and an overflow loses none`() throws {
        let machine = try SimulatedMachine()
        var manner = SimulatedFolderWatcher.Manner()
        (manner.delivery, manner.queueLength) = (.onRequest, 1)
        machine.watcher.manner = manner
        let outcome = try runPrefs(
            ["prefs", "watch"], on: machine,
            meanwhile: [
                {
                    for line in ["write d k 1", "write d k 2", "write e k 3"] { _ = try Self.prefs(line, on: machine) }
                    machine.watcher.deliver()
                }
            ])
        #expect(outcome.output == "user d k: (none) -> \"2\"\nuser e k: (none) -> \"3\"\n")
    }

    @Test func `a file that is damaged meanwhile is reported once, and its previous values remain`() throws {
        let machine = try SimulatedMachine()
        let path: FilePath = "/home/ada/x.plist"
        _ = try Self.prefs("write '~/x.plist' k 1", on: machine)
        // Without a kept version, there is no replacement for a damaged file.
        let histories: FilePath = "/home/ada/.local/state/prefs/history/.paths"
        for folder in try #require(try machine.fileSystem.names(in: histories)).map(histories.appending) {
            for name in try machine.fileSystem.names(in: folder) ?? [] {
                try machine.fileSystem.remove(folder.appending(name))
            }
        }
        let outcome = try runPrefs(
            ["prefs", "watch", "~/x.plist"], on: machine,
            meanwhile: [
                { try machine.fileSystem.replace(path, with: Array("<plist><dict>".utf8).span.bytes) },
                { try machine.fileSystem.replace(path, with: Array("<plist><dict>".utf8).span.bytes) },
                { try machine.fileSystem.replace(path, with: Array("{\"k\": \"2\"}".utf8).span.bytes) },
            ])
        #expect(outcome.output == "user ~/x.plist k: \"1\" -> \"2\"\n")
        #expect(outcome.errors == "prefs: /home/ada/x.plist:1:14: ends inside <dict>\n")
        #expect(outcome.status == 0)
    }

    /// Runs a command line that must succeed.
    static func change(_ line: String, on machine: SimulatedMachine) throws {
        #expect(try prefs(line, on: machine) == 0)
    }

    /// Runs a command line while another one runs, and returns its exit status.
    static func prefs(_ line: String, on machine: SimulatedMachine) throws -> Int32 {
        try runPrefs(["prefs"] + ShellScript.words(line), on: machine).status
    }
}
