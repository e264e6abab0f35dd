import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct LiveCompletionTests {
    private func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        for words in [
            ["write", "com.example.app", "theme", "dark"],
            ["write", "com.example.app", "windows", "-json", "[{\"x\": 1, \"y\": 2}, 5]"],
            ["write", "org.example", "a key", "1"], ["-currentHost", "write", "by.host", "k", "1"],
            ["--store", "/tmp/other", "write", "elsewhere", "there", "1"], ["write", "/tmp/file.plist", "inside", "1"],
            ["write", "-g", "shared", "1"],
        ] {
            #expect(try runPrefs(["prefs"] + words, on: machine).status == 0)
        }
        try machine.force("policy", ["decided": true])
        let schema = "{ Domain = declared; Settings = ({ Key = mode; Choices = (full, half); }); }"
        #expect(try runPrefs(["prefs", "schema", "install", "-"], input: schema, on: machine).status == 0)
        return machine
    }

    @Test(arguments: [
        (["read", "com"], ["com.example.app"]), (["read", ""], ["NSGlobalDomain", "com.example.app", "org.example"]),
        (["read", "com.example.app", ""], ["theme", "windows"]), (["read", "org.example", "a"], ["a key"]),
        (["read", "com.example.app", ":w"], [":windows"]),
        (["write", "com.example.app", ":windows:"], [":windows:0", ":windows:1"]),
        (["explain", "com.example.app", ":windows:0:"], [":windows:0:x", ":windows:0:y"]),
        (["-currentHost", "read", ""], ["by.host"]), (["-currentHost", "read", "by.host", ""], ["k"]),
        (["--store", "/tmp/other", "read", ""], ["elsewhere"]), (["--store=/tmp/other", "read", "el"], ["elsewhere"]),
        (["--store", "/tmp/other", "read", "elsewhere", ""], ["there"]), (["read", "/tmp/file.plist", ""], ["inside"]),
        (["read", "-g", ""], ["shared"]), (["read", "--layer", "forced", ""], ["policy"]),
        (["read", "policy", ""], ["decided"]), (["undo", "or"], ["org.example"]),
        (["--store", "gnustep", "read", ""], []), (["read", "../evil", ""], []), (["read", "no.such", ""], []),
        (["-host", "a/b", "read", ""], []), (["write", "declared", ""], ["mode"]),
        (["write", "declared", "mode", ""], ["full", "half"]),
        (["form", ""], ["declared", "prefs"]), (["schema", "show", "d"], ["declared"]),
        (["schema", "show", "com"], []),
        (["--store", "/tmp/other", "write", "declared", ""], []),
        (["restore", "com.example.app", ""], ["2", "1"]), (["history", "/tmp/file.plist", "--show", ""], ["1"]),
        (["diff", "com.example.app", "--versions", "1.."], ["1..2", "1..1"]),
        (["diff", "com.example.app@f"], ["com.example.app@forced"]),
        (["write", "prefs", "newDomainFormat", ""], ["xml1", "binary1", "json", "gnustep"]),
    ])
    func `names come from the store that the line selects`(_ words: [String], _ offered: [String]) throws {
        let outcome = try runPrefs(["prefs", "__complete", "zsh"] + words, on: machine())
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        let lines = outcome.output.split(separator: "\n").dropFirst()
        #expect(lines.map { String($0.prefix { $0 != "\t" }) } == offered)
    }

    @Test func `an unreadable store offers nothing and prints nothing`() throws {
        let machine = try machine()
        let files = machine.fileSystem
        try files.replace("/home/ada/.config/prefs/org.example.plist", with: [1, 2, 3].span.bytes)
        let root = machine.disk.process()
        let history: FilePath = "/home/ada/.local/state/prefs/history/org.example"
        for name in try root.names(in: history) ?? [] { try root.remove(history.appending(name)) }
        let damaged = try runPrefs(["prefs", "__complete", "bash", "read", "org.example", ""], on: machine)
        #expect(damaged == Transcript.Outcome(output: "words\n"))
        try root.open("/home/ada/.config/prefs", .reading)?.setPermissions(FilePermissions(rawValue: 0))
        let closed = try runPrefs(["prefs", "__complete", "bash", "read", ""], on: machine)
        #expect(closed == Transcript.Outcome(output: "words\n"))
        var homeless = machine.environment
        homeless.variables = [:]
        homeless.user = 7
        let nowhere = try runPrefs(["prefs", "__complete", "bash", "read", ""], on: machine, environment: homeless)
        #expect(nowhere == Transcript.Outcome(output: "words\n"))
    }
}

/// Tests completion with real shells, the built command and a temporary home.
@Suite(.enabled(if: InstalledCommand.isBuilt, "the command is not built"))
struct ShellCompletionTests {
    private func command() throws -> InstalledCommand {
        let command = try InstalledCommand()
        for words in [
            ["write", "com.example.app", "theme", "dark"], ["write", "com.example.app", "a key", "1"],
            ["write", "com.example.app", "windows", "-json", "[{\"x\": 1, \"y\": 2}, 5]"],
            ["write", "org.example", "k", "1"],
        ] {
            let run = try command.run("prefs", words)
            #expect(run.status == 0 && run.errorText.isEmpty, "\(run.errorText)")
        }
        return command
    }

    @Test(arguments: [
        ("prefs read com", ["prefs", "read", "com"], ["com.example.app"]),
        ("prefs read com.example.app ", ["prefs", "read", "com.example.app", ""], ["a\\ key", "theme", "windows"]),
        ("prefs read com.example.app a\\ k", ["prefs", "read", "com.example.app", "a\\ k"], ["a\\ key"]),
        (
            "prefs write com.example.app :windows:0:",
            ["prefs", "write", "com.example.app", ":", "windows", ":", "0", ":"],
            ["x", "y"]
        ),
        ("prefs --store /nowhere read ", ["prefs", "--store", "/nowhere", "read", ""], []),
        ("prefs convert com.example.app gnu", ["prefs", "convert", "com.example.app", "gnu"], ["gnustep"]),
        ("prefs undo org", ["prefs", "undo", "org"], ["org.example"]),
        // Readline replaces the at sign, too.
        ("prefs diff org.example@f", ["prefs", "diff", "org.example", "@", "f"], ["@forced"]),
    ])
    func `bash completes from the live store`(_ line: String, _ words: [String], _ replies: [String]) throws {
        let quoted = words.map { $0.hasSuffix("\\ k") ? "'a\\ k'" : "'\($0)'" }.joined(separator: " ")
        let run = try command().run(
            "bash",
            [
                "-c",
                """
                eval "$(prefs completions bash)"
                COMP_LINE='\(line)' COMP_POINT=\(line.utf8.count) COMP_WORDS=(\(quoted)) COMP_CWORD=\(words.count - 1)
                _prefs
                for reply in "${COMPREPLY[@]}"; do printf '%s\\n' "$reply"; done
                """,
            ])
        #expect(run.errorText.isEmpty && run.status == 0, "\(run.errorText)")
        #expect(run.text.split(separator: "\n").map(String.init) == replies)
    }

    @Test(
        .enabled(if: Tool.isExpected("zsh"), "\(Tool.absence(of: "zsh"))"),
        arguments: [
            ("(prefs read com)", ["com.example.app"]),
            ("(prefs read com.example.app '')", ["a key", "theme", "windows"]),
            ("(prefs read com.example.app :windows:0:)", [":windows:0:x", ":windows:0:y"]),
        ])
    func `zsh completes from the live store`(_ words: String, _ offered: [String]) throws {
        let run = try command().run(
            "zsh",
            [
                "-f", "-c",
                """
                compdef() { : }
                compadd() { print -rl -- $names }
                eval "$(prefs completions zsh)"
                words=\(words)
                CURRENT=$#words
                _prefs
                """,
            ])
        #expect(run.errorText.isEmpty, "\(run.errorText)")
        #expect(run.text.split(separator: "\n").map(String.init) == offered)
    }

    @Test(
        .enabled(if: Tool.isExpected("fish"), "\(Tool.absence(of: "fish"))"),
        arguments: [
            ("prefs read com", ["com.example.app"]),
            ("prefs read com.example.app ", ["a key\tstring", "theme\tstring", "windows\tarray"]),
            ("prefs read com.example.app :windows:0:", [":windows:0:x\tinteger", ":windows:0:y\tinteger"]),
        ])
    func `fish completes from the live store`(_ line: String, _ offered: [String]) throws {
        let run = try command().run("fish", ["-c", "prefs completions fish | source; complete -C \"\(line)\""])
        #expect(run.errorText.isEmpty, "\(run.errorText)")
        #expect(run.text.split(separator: "\n").map(String.init) == offered)
    }

    @Test func `the doctor's commands fix a real home`() throws {
        let command = try command()
        let folder = command.home.appending(path: ".config/prefs")
        try "damaged".write(to: folder.appending(path: "org.example.plist"), atomically: false, encoding: .utf8)
        #expect(try command.run("chmod", ["644", folder.appending(path: "com.example.app.plist").path]).status == 0)
        _ = try command.run("prefs", ["-currentHost", "write", "com.example.app", "a key", "2"])
        for _ in 0..<2 {
            let finding = try command.run("prefs", ["doctor"])
            #expect(finding.status == 8, "\(finding.text)\(finding.errorText)")
            let fixing = try command.run("sh", ["-c", "prefs doctor | grep '^    ' | sh -e"])
            #expect(fixing.status == 0, "\(finding.text)\(fixing.errorText)")
        }
        let healthy = try command.run("prefs", ["doctor"])
        #expect(healthy.status == 0 && healthy.text == "no problems found\n", "\(healthy.text)\(healthy.errorText)")
    }
}
