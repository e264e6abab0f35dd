import Commands
import Foundation
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Requests that the command refuses, and its error messages.
@Suite struct `The command` {
    /// A name may come from another user's folder, and must not control the terminal.
    @Test(arguments: [
        ["write", "/etc/a\u{1B}[2J\nb.plist", "key", "value"], ["import", "domain", "no\u{1B}[2J\nfile"],
        ["write", "domain", ":\u{1B}::b", "value"], ["--store", "/etc/a\u{9B}b", "write", "domain", "key", "value"],
    ])
    func `prints nothing that moves the cursor`(_ words: [String]) throws {
        let outcome = try runPrefs(["prefs"] + words)
        #expect(outcome.status != 0)
        let text = outcome.errors.dropLast()
        #expect(outcome.errors.hasSuffix("\n"))
        #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(text)")
    }

    @Test(arguments: ["delete", "delete-all"])
    func `does not write a file anew without a key to delete`(_ verb: String) throws {
        let machine = try SimulatedMachine()
        let text = Array("{ // one\n \"a\": 1 }".utf8)
        try machine.fileSystem.replace("/home/ada/x.json", with: text.span.bytes)
        #expect(try runPrefs(["prefs", verb, "--rewrite", "~/x.json", "missing"], on: machine).status == 1)
        #expect(try machine.fileSystem.contents(of: "/home/ada/x.json", limit: 100) == text)
    }

    static let steering = "a\u{1B}[2J\u{9B}1m\u{202E}\u{200B}\u{AD}\u{7F}b"

    /// A value may come from another user too. Its bytes are written to a pipe unchanged.
    @Test(arguments: [
        "read d", "read d k", "explain d", "history d", "diff d e", "domains", "find a", "export d -",
        "export --format json d -", "export --format gnustep d -", "read --format raw d k", "read-type d k",
        "read d missing\u{9B}key", "apply --dry-run ~/d.json", "apply ~/d.json", "read",
    ])
    func `escapes control characters on a terminal`(_ line: String) throws {
        let machine = try SimulatedMachine()
        try machine.store(["k": .string(Self.steering), "other": 1], as: "d")
        try machine.store(["k": "else"], as: "e\u{202E}x")
        try machine.store(["k": "else"], as: "e")
        _ = try runPrefs(["prefs", "write", "d", "k2", Self.steering], on: machine)
        let declared = try PropertyList.dictionary(["k": .string(Self.steering + "c")]).serialized(as: .json)
        try machine.fileSystem.replace("/home/ada/d.json", with: Array(declared))
        let outcome = try runPrefs(
            ["prefs"] + line.split(separator: " ").map(String.init), on: machine, variables: ["TERM": "xterm-256color"],
            widths: [.output: 80, .errors: 80])
        // The command itself writes styles.
        let text = (outcome.output + outcome.errors).withoutStyles
        #expect(!text.isEmpty, "\(outcome)")
        let invisible = text.unicodeScalars.filter {
            $0 != "\n" && $0 != "\t" && [.control, .format].contains($0.properties.generalCategory)
        }
        #expect(invisible.isEmpty, "\(text.debugDescription)")
    }

    /// A joiner shapes the characters next to it.
    @Test func `prints joiners on a terminal as they are`() throws {
        let text = "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645} \u{1F469}\u{200D}\u{1F467}"
        let machine = try SimulatedMachine()
        try machine.store(["k": .string(text)], as: "d")
        let terminal = SimulatedTerminal(widths: [.output: 80])
        var environment = machine.environment
        environment.arguments = ["prefs", "read", "d", "k"]
        _ = Prefs.run(
            in: CommandContext(
                SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: environment, terminal: terminal)))
        #expect(terminal.text(of: .output) == text + "\n")
    }

    @Test(arguments: [
        (["rename", "d", "host", "x"], "d has no key host; did you mean hosts?"),
        (["delete", "d", "host"], "d has no key host; did you mean hosts?"),
        (["copy", "d", "host", "x"], "d has no key host; did you mean hosts?"),
        (["delete", "d", ""], "d has no key ''"),
        (["rename", "/tmp/none", "a", "b"], "/tmp/none: no such file"),
        (["copy", "--from", "xml", "/tmp/f.json", "k", "l"], "/tmp/f.json:1:1: text is not allowed here"),
    ])
    func `names the key that is missing, and a similar one`(_ words: [String], _ line: String) throws {
        let machine = try SimulatedMachine()
        try machine.store(["hosts": 1], as: "d")
        _ = try runPrefs(["prefs", "write", "/tmp/f.json", "k", "v"], on: machine)
        let outcome = try runPrefs(["prefs"] + words, on: machine)
        #expect(outcome.errors == "prefs: \(line)\n" && outcome.status != 0)
    }

    @Test func `resolves no relative path without a working folder`() throws {
        let machine = try SimulatedMachine()
        var environment = machine.environment
        environment.workingFolder = nil
        let outcome = try runPrefs(["prefs", "write", "./x.json", "k", "v"], on: machine, environment: environment)
        #expect(
            outcome
                == Transcript.Outcome(errors: "prefs: cannot open ./x.json: No such file or directory\n", status: 6))
    }

    @Test func `opens the file whose whole argument has other bytes`() throws {
        let machine = try SimulatedMachine()
        // One file has in valid UTF-8 what the repaired names of others have.
        let words = ["prefs", "lint", "a\u{FFFD}", "a\u{FFFD}", "a\u{FFFD}"]
        let names: [[UInt8]] = [[0x61, 0xFE], [0x61, 0xFF], Array("a\u{FFFD}".utf8)]
        var environment = machine.environment
        environment.bytesOfArguments = [2: names[0], 3: names[1]]
        for name in names {
            let path = try #require(FilePath(Array("/tmp/".utf8) + name))
            try machine.fileSystem.replace(path, with: Array("{}".utf8).span.bytes)
        }
        try machine.setWorkingFolder("/tmp")
        let outcome = try runPrefs(words, on: machine, environment: environment)
        #expect(outcome == Transcript.Outcome(output: "a\\xFE: OK\na\\xFF: OK\na\u{FFFD}: OK\n"))
    }

    @Test func `writes the stored bytes to a pipe`() throws {
        let machine = try SimulatedMachine()
        try machine.store(["k": .string(Self.steering)], as: "d")
        #expect(try machine.run("prefs read --format raw d k").output.contains(Self.steering))
    }

    @Test func `names no version for a damaged file that has none`() throws {
        let machine = try SimulatedMachine()
        let file = "/home/ada/.config/prefs/d.plist"
        try machine.fileSystem.makeFolders("/home/ada/.config/prefs")
        try machine.fileSystem.replace("/home/ada/.config/prefs/d.plist", with: Array("{ a".utf8).span.bytes)
        let outcome = try runPrefs(["prefs", "delete", "d"], on: machine)
        let reason = "ends inside a dictionary (at :a); it is set aside, with .damaged and the time after its name"
        #expect(outcome == Transcript.Outcome(errors: "prefs: \(file):1:4: \(reason)\n"))
    }

    @Test func `rejects a condition on an array that is not JSON as a malformed value`() throws {
        let machine = try SimulatedMachine()
        try machine.store(["key": ["a"]], as: "domain")
        let outcome = try runPrefs(
            ["prefs", "write", "--if-current", "{", "domain", "key", "--string", "value"], on: machine)
        #expect(outcome.status == ExitStatus.invalidValue.rawValue)
    }

    @Test func `checks a condition when it replaces a whole domain`() throws {
        let machine = try SimulatedMachine()
        func run(_ words: String...) throws -> Int32 { try runPrefs(["prefs"] + words, on: machine).status }
        #expect(try run("write", "--if-absent", "d", "--plist", "{ a = 1; }") == 0)
        #expect(try run("write", "--if-absent", "d", "--plist", "{ a = 2; }") == ExitStatus.different.rawValue)
        #expect(
            try run("write", "--if-current", "{\"a\":\"3\"}", "d", "--plist", "{ a = 2; }")
                == ExitStatus.different.rawValue)
        #expect(try runPrefs(["prefs", "read", "d", "a"], on: machine).output == "1\n")
        #expect(try run("write", "--if-current", "{\"a\":\"1\"}", "d", "--plist", "{ a = 2; }") == 0)
        #expect(try runPrefs(["prefs", "read", "d", "a"], on: machine).output == "2\n")
    }

    /// If a file had two locks, one of two writers could lose its write.
    @Test(arguments: ["/home/ada/.config/prefs/d.plist", "~/.config/prefs/d", "/tmp/link.plist", "/tmp/folder/d.plist"])
    func `waits for the lock of the domain whose file a path leads to`(_ path: String) throws {
        let machine = try SimulatedMachine()
        let files = machine.fileSystem
        for words in [["prefs", "lockTimeout", "-int", "0"], ["d", "key", "first"]] {
            #expect(try runPrefs(["prefs", "write"] + words, on: machine).status == 0)
        }
        try files.makeSymbolicLink("/tmp/link.plist", to: "/home/ada/.config/prefs/d.plist")
        try files.makeSymbolicLink("/tmp/folder", to: "/home/ada/.config/prefs")
        let other = machine.disk.process(user: 1000)
        let lock = try #require(try other.open("/home/ada/.config/prefs/.locks/d.lock", .writing))
        #expect(try lock.lock(.exclusive, patience: .zero))
        let outcome = try runPrefs(["prefs", "write", path, "key", "second"], on: machine)
        #expect(outcome.status == ExitStatus.lockTimeout.rawValue, "\(outcome)")
        lock.unlock()
        #expect(try runPrefs(["prefs", "write", path, "key", "second"], on: machine).status == 0)
        #expect(try runPrefs(["prefs", "read", "d", "key"], on: machine).output == "second\n")
    }

    /// The kernel's links lead from a descriptor to its file, which other programs may write too.
    @Test(arguments: ["/proc/self/fd/1", "/tmp/out"])
    func `does not replace the file of an open descriptor`(_ path: String) throws {
        let machine = try SimulatedMachine()
        let root = machine.disk.process()
        for folder: FilePath in ["/dev", "/proc", "/proc/7", "/proc/7/fd"] {
            _ = try root.makeFolder(folder, FilePermissions(rawValue: 0o755))
        }
        for (link, target) in [
            ("/dev/stdout", "/proc/self/fd/1"), ("/dev/fd", "/proc/self/fd"), ("/proc/self", "7"),
            ("/proc/7/fd/1", "/home/ada/log"), ("/tmp/out", "/dev/stdout"),
        ] as [(FilePath, FilePath)] { try root.makeSymbolicLink(link, to: target) }
        try machine.fileSystem.replace("/home/ada/log", with: Array("log".utf8).span.bytes)
        #expect(try runPrefs(["prefs", "write", "d", "key", "value"], on: machine).status == 0)
        for words in [["export", "d", path], ["convert", "-o", path, "d", "xml"]] {
            let outcome = try runPrefs(["prefs"] + words, on: machine)
            #expect(outcome.errors == "prefs: \(path): refers to an open descriptor; use - for the standard output\n")
            #expect(outcome.status == ExitStatus.systemFailed.rawValue)
        }
        #expect(try machine.fileSystem.contents(of: "/home/ada/log") == Array("log".utf8))
    }

    /// Replacing a device with a file would break the machine for all programs.
    @Test func `does not replace anything but a file`() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.url.appending(path: "pipe").path(percentEncoded: false)
        try #require(mkfifo(pipe, 0o600) == 0)
        let machine = try SimulatedMachine()
        var environment = machine.environment
        environment.variables["HOME"] = folder.url.path(percentEncoded: false)
        let files = SystemFileSystem()
        for words in [["write", "d", "key", "value"], ["export", "d", pipe]] {
            environment.arguments = ["prefs"] + words
            let status = Prefs.run(
                in: CommandContext(
                    SystemServices(
                        fileSystem: files, clock: machine.clock, watcher: machine.watcher, environment: environment,
                        terminal: SimulatedTerminal())))
            #expect(status == (words[0] == "write" ? .done : .systemFailed))
        }
        #expect(try files.status(of: #require(FilePath(pipe)))?.kind == .pipe)
    }
}
