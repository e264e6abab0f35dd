import Foundation
import PropertyLists
import TestSupport
import Testing

/// A real terminal with a shell, for tests that a simulated one cannot replace.
final class Tmux {
    static let path = ["/usr/bin/tmux", "/usr/local/bin/tmux", "/opt/homebrew/bin/tmux"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private let command: BuiltCommand
    private let socket: String

    init(_ command: BuiltCommand, columns: Int = 80, rows: Int = 24) throws {
        self.command = command
        socket = command.folder + "/tmux"
        try run("new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "exec env PS1='@ ' ENV= /bin/sh -i")
        #expect(shows("@"))
    }

    deinit { _ = try? run("kill-server") }

    @discardableResult
    func run(_ words: String...) throws -> String {
        let variables = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm"]
        return try Subprocess.run(
            "bash", ["-c", Self.closing, "-", #require(Self.path), "-u", "-f", "/dev/null", "-S", socket] + words,
            environment: command.environment.merging(variables) { $1 }, in: command.home.url
        ).text
    }

    /// Closes inherited descriptors first, because the server would keep them open. One of them signals the end of a
    /// process.
    private static let closing = #"""
        for file in /proc/$$/fd/*; do
            number=${file##*/}
            if ((number > 2 && number < 255)); then eval "exec $number>&-"; fi
        done
        exec "$@"
        """#

    func press(_ keys: String...) throws { for key in keys { try run("send-keys", key) } }

    /// Types a line into the shell.
    func type(_ line: String) throws {
        try run("send-keys", "-l", line)
        try run("send-keys", "Enter")
    }

    var screen: String { (try? run("capture-pane", "-p")) ?? "" }

    /// Waits until the screen shows a text, for 30 seconds at most.
    func shows(_ text: String) -> Bool { until { $0.contains(text) } }

    func until(_ condition: (String) -> Bool) -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        repeat { if condition(screen) { return true } } while ContinuousClock.now < end
        return false
    }

    /// Sends a signal to the program that the shell runs.
    func kill(with signal: String) throws {
        let parent = try run("display-message", "-p", "#{pane_pid}").trimmingCharacters(in: .whitespacesAndNewlines)
        let children = try String(contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
        let child = try #require(children.split(separator: " ").first.map(String.init))
        _ = try command.script("kill -\(signal) \(child)")
    }

    /// The settings of the terminal according to the shell, and whether its cursor is visible.
    func settings(_ name: String) throws -> String {
        try type("clear; stty -g > \(name); echo done-\(name)")
        #expect(until { $0.split(separator: "\n").contains("done-\(name)") }, "\(screen)")
        let text = try String(contentsOf: command.home.url.appending(path: name), encoding: .utf8)
        return text + (try run("display-message", "-p", "#{cursor_flag} #{alternate_on} #{mouse_any_flag}"))
    }
}

@Suite(
    .enabled(if: BuiltCommand.path != nil && Tmux.path != nil, "the executable or tmux is missing"), .serialized,
    .timeLimit(.minutes(5)))
struct `A form in tmux` {
    private let command: BuiltCommand
    private let tmux: Tmux
    private let before: String

    private static let schema = """
        {
            Domain = "com.example.editor"; Title = Editor;
            Settings = (
                { Key = theme; Choices = (dark, light); Default = dark; Title = Theme; Group = Appearance; },
                { Key = size; Type = integer; Default = 12; Title = "Font size"; Group = Appearance; },
                { Key = name; Title = Name; Group = Files; }
            );
        }
        """

    init() throws {
        command = try BuiltCommand()
        try command.home.write(Self.schema, to: "editor.plist")
        #expect(try command.run(["schema", "install", command.folder + "/editor.plist"]).status == 0)
        tmux = try Tmux(command)
        before = try tmux.settings("before")
        try tmux.type("$PREFS form com.example.editor; echo status-$?")
        #expect(tmux.shows("q quit"), "\(tmux.screen)")
    }

    private func read(_ key: String) throws -> String { try command.run(["read", "com.example.editor", key]).text }

    /// Checks that the form has ended and restored the terminal.
    private func ends(_ text: String) throws {
        #expect(tmux.shows(text), "\(tmux.screen)")
        #expect(!tmux.screen.contains("Appearance"))
        #expect(try tmux.settings("after") == before)
    }

    @Test func `changes and saves settings`() throws {
        try tmux.press("Right", "Down", "Enter", "C-u", "2", "0", "Enter", "C-s")
        #expect(tmux.shows("+ 20"), "\(tmux.screen)")
        try tmux.press("Enter")
        #expect(tmux.shows("Saved 2 settings. To undo: prefs undo com.example.editor"), "\(tmux.screen)")
        try tmux.press("q")
        try ends("status-0")
        #expect(try read("theme") == "light\n" && read("size") == "20\n")
    }

    @Test func `has a line editor when it asks line by line`() throws {
        try tmux.press("q")
        try ends("status-0")
        try tmux.type("$PREFS form --plain com.example.editor; echo plain-$?")
        #expect(tmux.shows("Theme"), "\(tmux.screen)")
        try tmux.press(
            "l", "i", "h", "t", "Left", "Left", "g", "Enter", "4", "5", "C-a", "C-d", "Enter", "C-w", "A", "Enter")
        #expect(tmux.until { $0.contains("Saved 3 settings.") && $0.contains("plain-0") }, "\(tmux.screen)")
        #expect(try tmux.settings("after") == before)
        #expect(try read("theme") == "light\n" && read("size") == "5\n" && read("name") == "A\n")
    }

    @Test func `fits the terminal when its size changes`() throws {
        try tmux.run("resize-window", "-x", "40", "-y", "10")
        #expect(tmux.until { !$0.contains("Groups") && $0.contains("Theme") }, "\(tmux.screen)")
        try tmux.run("resize-window", "-x", "200", "-y", "60")
        #expect(tmux.shows("Groups"), "\(tmux.screen)")
        try tmux.press("q")
        try ends("status-0")
    }

    @Test func `is suspended and comes back`() throws {
        try tmux.press("Right", "C-z")
        #expect(tmux.until { $0.contains("Stopped") && !$0.contains("Groups") }, "\(tmux.screen)")
        #expect(try tmux.settings("stopped") == before)
        // The shell has dropped the rest of the line that started the form.
        try tmux.type("fg; echo back-$?")
        #expect(tmux.shows("1 changed"), "\(tmux.screen)")
        try tmux.press("q", "x")
        try ends("back-8")
        #expect(try command.run(["read", "--layer", "user", "com.example.editor", "theme"]).status == 1)
    }

    /// The editor reads a line before it changes the text.
    @Test func `is stopped with an editor, and survives an interrupt of it`() throws {
        try tmux.press("q")
        try ends("status-0")
        let editor = """
            trap 'echo interrupted' INT
            trap 'echo continued' CONT
            echo editing
            until read -r line; do :; done
            sed s/dark/light/ "$1" >"$1.new" && mv "$1.new" "$1"
            """
        try command.home.write(editor, to: "editor")
        try tmux.type("EDITOR=\"sh $HOME/editor\" $PREFS form com.example.editor; echo edited-$?")
        #expect(tmux.shows("q quit"), "\(tmux.screen)")
        try tmux.press("e")
        #expect(tmux.shows("editing"), "\(tmux.screen)")
        try tmux.press("C-z")
        #expect(tmux.shows("Stopped"), "\(tmux.screen)")
        try tmux.type("fg; echo back-$?")
        #expect(tmux.shows("continued"), "\(tmux.screen)")
        try tmux.press("C-c")
        #expect(tmux.shows("interrupted"), "\(tmux.screen)")
        try tmux.press("Enter")
        #expect(tmux.shows("1 changed"), "\(tmux.screen)")
        try tmux.press("q", "s")
        try ends("back-0")
        #expect(try read("theme") == "light\n")
    }

    @Test(arguments: ["TERM", "HUP", "SEGV", "ABRT"])
    func `restores the terminal when a signal ends it`(_ signal: String) throws {
        try tmux.press("Right", "Down", "Enter", "7")
        #expect(tmux.shows("[127"), "\(tmux.screen)")
        try tmux.kill(with: signal)
        try ends("status-1")
    }

    @Test func `takes a paste of 10 KB into a field`() throws {
        let text = String(repeating: "0123456789abcdef", count: 640)
        try command.home.write(text, to: "paste")
        try tmux.press("Tab", "Enter")
        #expect(tmux.shows("Enter accept"))
        try tmux.run("load-buffer", command.folder + "/paste")
        try tmux.run("paste-buffer", "-p")
        #expect(tmux.shows("89abcdef"), "\(tmux.screen)")
        try tmux.press("Enter", "C-s", "Enter")
        #expect(tmux.shows("Saved 1 setting."), "\(tmux.screen)")
        try tmux.press("q")
        try ends("status-0")
        #expect(try read("name") == text + "\n")
    }

    @Test func `shows what another process changes while a field is edited`() throws {
        try tmux.press("Down", "Enter", "C-u", "5")
        #expect(tmux.shows("[5"), "\(tmux.screen)")
        #expect(try command.run(["write", "com.example.editor", "name", "Ada"]).status == 0)
        #expect(tmux.shows("Changed by another process: Name"), "\(tmux.screen)")
        #expect(tmux.screen.contains("[5"))
        try tmux.press("Enter")
        #expect(try command.run(["write", "com.example.editor", "size", "-int", "30"]).status == 0)
        #expect(tmux.shows("Another process set 30."), "\(tmux.screen)")
        try tmux.press("q", "s")
        try ends("status-0")
        #expect(try read("size") == "5\n" && read("name") == "Ada\n")
    }
}

@Suite(
    .enabled(if: BuiltCommand.path != nil && Tmux.path != nil, "the executable or tmux is missing"), .serialized,
    .timeLimit(.minutes(5)))
struct `A browser in tmux` {
    private let command: BuiltCommand
    private let tmux: Tmux
    private let before: String

    private static let file = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict>
            <!-- The name. -->
            <key>Name</key>   <string>Notes</string>
            <key>Build</key>
            <integer>0x10</integer>
        </dict>
        </plist>

        """

    init() throws {
        command = try BuiltCommand()
        for words in [["theme", "-string", "dark"], ["size", "-int", "12"], ["list", "-array", "a", "b"]] {
            #expect(try command.run(["write", "com.example.editor"] + words).status == 0)
        }
        #expect(try command.run(["write", "com.example.other", "x", "-bool", "true"]).status == 0)
        try command.home.write(Self.file, to: "Info.plist")
        tmux = try Tmux(command)
        before = try tmux.settings("before")
    }

    private func read(_ key: String) throws -> String { try command.run(["read", "com.example.editor", key]).text }

    /// Quits the browser, and checks that it ends and restores the terminal.
    private func ends(_ text: String = "status-0") throws {
        try tmux.press("q")
        #expect(tmux.shows(text), "\(tmux.screen)")
        #expect(try tmux.settings("after") == before)
    }

    @Test func `lists domains, and changes values in place`() throws {
        try tmux.type("$PREFS browse; echo status-$?")
        #expect(tmux.until { $0.contains("com.example.other") && $0.contains("theme") }, "\(tmux.screen)")
        try tmux.press("Right", "Down", "Enter", "C-u", "2", "0", "Enter")
        #expect(tmux.shows("Saved size."), "\(tmux.screen)")
        #expect(try read("size") == "20\n")
        try tmux.press("u")
        #expect(tmux.shows("Undone: size"), "\(tmux.screen)")
        #expect(try read("size") == "12\n")
        try tmux.press("h")
        #expect(tmux.shows("3 of 3"), "\(tmux.screen)")
        try tmux.press("Left")
        #expect(tmux.shows("2 of 3"), "\(tmux.screen)")
        try tmux.press("Enter")
        #expect(tmux.shows("Restored size"), "\(tmux.screen)")
        #expect(try read("size") == "20\n")
        try tmux.press("a", "n", "e", "w", "Enter", "t", "r", "u", "e", "Enter")
        #expect(tmux.shows("Saved new."), "\(tmux.screen)")
        try tmux.press("r", "2", "Enter")
        #expect(tmux.shows("Renamed new to new2."), "\(tmux.screen)")
        try tmux.press("c", "C-u", "c", "Enter")
        #expect(tmux.shows("Copied new2 to c."), "\(tmux.screen)")
        try tmux.press("x")
        #expect(tmux.shows("Deleted c."), "\(tmux.screen)")
        #expect(try read("new2") == "true\n")
        #expect(try command.run(["read", "com.example.editor", "c"]).status == 1)
        try tmux.press("/", "s", "i", "z", "e", "Enter", "t", "Home", "Enter")
        #expect(tmux.until { $0.contains("Saved size.") && $0.contains("string") }, "\(tmux.screen)")
        #expect(try command.run(["read-type", "com.example.editor", "size"]).text.contains("string"))
        try ends()
    }

    @Test func `is suspended and comes back`() throws {
        try tmux.type("$PREFS browse com.example.editor; echo status-$?")
        #expect(tmux.shows("theme"), "\(tmux.screen)")
        try tmux.press("C-z")
        #expect(tmux.until { $0.contains("Stopped") && !$0.contains("Domains") }, "\(tmux.screen)")
        #expect(try tmux.settings("stopped") == before)
        #expect(try command.run(["write", "com.example.editor", "theme", "light"]).status == 0)
        // The shell has dropped the rest of the line that started the browser.
        try tmux.type("fg; echo back-$?")
        #expect(tmux.until { $0.contains("Domains") && $0.contains("light") }, "\(tmux.screen)")
        try ends("back-0")
    }

    @Test(arguments: ["TERM", "HUP"])
    func `restores the terminal when a signal ends it`(_ signal: String) throws {
        try tmux.type("$PREFS browse com.example.editor; echo status-$?")
        #expect(tmux.shows("theme"), "\(tmux.screen)")
        // Not stored before Enter.
        try tmux.press("Down", "Enter", "7")
        #expect(tmux.shows("[127"), "\(tmux.screen)")
        try tmux.kill(with: signal)
        #expect(tmux.shows("status-1"), "\(tmux.screen)")
        #expect(!tmux.screen.contains("Domains"))
        #expect(try tmux.settings("after") == before)
        #expect(try read("size") == "12\n")
    }

    @Test func `fits the terminal when its size changes, and shows changes by another process`() throws {
        try tmux.type("$PREFS browse com.example.editor; echo status-$?")
        #expect(tmux.shows("theme"), "\(tmux.screen)")
        try tmux.run("resize-window", "-x", "40", "-y", "10")
        #expect(tmux.until { !$0.contains("Domains") && $0.contains("theme") }, "\(tmux.screen)")
        try tmux.run("resize-window", "-x", "200", "-y", "60")
        #expect(tmux.shows("Domains"), "\(tmux.screen)")
        try tmux.press("w")
        #expect(tmux.shows("watching"), "\(tmux.screen)")
        #expect(try command.run(["write", "com.example.editor", "theme", "light"]).status == 0)
        #expect(tmux.until { $0.contains("Changed: theme") && $0.contains("light") }, "\(tmux.screen)")
        #expect(try command.run(["write", "com.example.new", "a", "b"]).status == 0)
        #expect(tmux.shows("com.example.new"), "\(tmux.screen)")
        try ends()
    }

    @Test func `shows and copies the command that reads a value`() throws {
        #expect(try command.run(["write", "com.example.editor", "a\u{1B}b", "-string", "it's"]).status == 0)
        try tmux.run("set-option", "-g", "set-clipboard", "on")
        try tmux.type("$PREFS browse com.example.editor; echo status-$?")
        #expect(tmux.shows("it's"), "\(tmux.screen)")
        try tmux.press("y")
        #expect(tmux.shows("prefs read com.example.editor $'a\\033b'"), "\(tmux.screen)")
        #expect(try tmux.run("show-buffer") == "prefs read com.example.editor $'a\\033b'")
        try tmux.press("Y")
        #expect(tmux.shows("-string 'it'\\''s'"), "\(tmux.screen)")
        try ends()
    }

    @Test func `edits a file, and keeps its layout`() throws {
        try tmux.type("$PREFS browse Info.plist; echo status-$?")
        #expect(tmux.until { $0.contains("Build") && !$0.contains("Domains") }, "\(tmux.screen)")
        try tmux.press("Enter", "2", "Enter")
        #expect(tmux.shows("Saved Name."), "\(tmux.screen)")
        try ends()
        let text = try String(contentsOf: command.home.url.appending(path: "Info.plist"), encoding: .utf8)
        #expect(text == Self.file.replacing("Notes", with: "Notes2"))
    }
}
