import Commands
import Foundation
import Preferences
import PropertyLists
import SettingsSchema
import TestSupport
import Testing

@Suite struct CompletionTests {
    static let domain: PropertyList.Dictionary = [
        "theme": "dark", "a key": 1, ":colon": 2, "": 3, "windows": [["x": 1, "y:z": 2], 5], "line\nbreak": 1,
    ]

    static let source = CompletionSource(
        domains: { ["org.example", "com.example.app", "com.example.other"] },
        domain: { $0 == "com.example.app" ? domain : nil },
        schema: { $0 == "com.example.declared" ? schema : nil },
        versions: { $0 == "com.example.app" ? [(12, "an undo"), (11, "a write")] : [] })

    static let schema = try? Schema(
        parsing: Array(
            """
            { Domain = "com.example.declared"; Settings = (
                { Key = mode; Choices = (full, "in parts"); Title = "How to copy"; }, { Key = keep; Type = integer; },
                { Key = color; Type = boolean; }, { Key = target; Kind = folder; }, { Key = scratch; Transient = YES; },
                { Key = every; Type = integer; Kind = duration; Choices = (60, 3600); },
                { Key = server; Type = dictionary; Entries = ({ Key = scheme; Choices = (http, https); }); }); }
            """.utf8))

    static let declared: [(words: [String], offered: [String])] = [
        (["write", "com.example.declared", ""], ["color", "every", "keep", "mode", "server", "target"]),
        (["explain", "com.example.declared", "k"], ["keep"]), (["read", "com.example.declared", ""], []),
        (["write", "com.example.declared", "mode", ""], ["full", "in parts"]),
        (["write", "com.example.declared", "mode", "i"], ["in parts"]),
        (["write", "com.example.declared", ":mode", ""], ["full", "in parts"]),
        (["write", "com.example.declared", "mode", "-string", ""], ["full", "in parts"]),
        (["write", "com.example.declared", "mode", "-b"], ["-bool", "-boolean"]),
        (["write", "com.example.declared", "color", ""], ["true", "false"]),
        (["write", "com.example.declared", "every", ""], ["1m", "1h"]),
        (["write", "com.example.declared", ":server:scheme", "http"], ["http", "https"]),
        (["write", "com.example.declared", "keep", "-b"], ["-bool", "-boolean"]),
        (["write", "com.example.declared", "unknown", "-b"], ["-bool", "-boolean"]),
    ]

    @Test(arguments: declared)
    func `keys and values are completed from the schema`(_ row: (words: [String], offered: [String])) {
        #expect(Self.schema != nil)
        let answer = Completion.answer(to: row.words, source: Self.source)
        #expect(answer.candidates.map(\.word) == row.offered)
    }

    static let rows: [(words: [String], offered: [String])] = [
        (["re"], Verb.all.map(\.name).filter { $0.hasPrefix("re") }), (["MIR"], []), (["xyz"], []), (["__"], []),
        (["-"], ["-currentHost", "-host", "--store", "--version", "--help"]), (["--s"], ["--store"]),
        (["--store", ""], ["native", "foundation", "gnustep"]), (["--store", "g"], ["gnustep"]),
        (["-currentHost", "wr"], ["write"]), (["-host", "h", "expo"], ["export"]), (["-host", ""], []),
        (["read", "com"], ["com.example.app", "com.example.other"]), (["READ", "org"], ["org.example"]),
        (
            ["read", "-"],
            [
                "--effective", "--layer", "--format", "--default", "--reveal", "--from", "--unarchive", "--deep",
                "-currentHost", "-host", "--store", "--help", "-g",
            ]
        ),
        (["read", "--format", "j"], ["json", "json-plain"]),
        (["read", "--layer", ""], Layer.writable.map(\.name)),
        (["read", "--format", "json", "--eff"], ["--effective"]), (["read", "--default", "x", "org"], ["org.example"]),
        (["read", "com.example.app", "t"], ["theme"]),
        (["read", "com.example.app", ""], ["\\:colon", "a key", "line\nbreak", "theme", "windows"]),
        (["read", "com.example.app", ":"], [":\\:colon", ":a key", ":line\nbreak", ":theme", ":windows"]),
        (["read", "com.example.app", ":windows:"], [":windows:0", ":windows:1"]),
        (["read", "com.example.app", ":windows:0:"], [":windows:0:x", ":windows:0:y\\:z"]),
        (["read", "com.example.app", ":theme:"], []), (["read", "no.such", ""], []),
        (["read", "com.example.app", "theme", ""], []),
        (
            ["read", "com.example.app", "--"],
            [
                "--effective", "--layer", "--format", "--default", "--reveal", "--from", "--unarchive", "--deep",
                "--current-host", "--host", "--store", "--help",
            ]
        ),
        (["write", "com.example.app", "theme", "-b"], ["-bool", "-boolean"]),
        (["write", "com.example.app", "theme", "--b"], ["--bind", "--bool", "--boolean"]),
        (["write", "com.example.app", "theme", "-string", "-b"], []),
        (["rename", "com.example.app", "theme", "win"], ["windows"]),
        (["explain", "com.example.app", "--f"], ["--format"]),
        (["explain", "--format", "json", "com.example.app", "th"], ["theme"]),
        (["explain", "--", "--f"], []), (["mirror", "s"], ["sync", "service", "status"]),
        (["mirror", "sync", "--p"], ["--push", "--pull"]),
        (
            ["mirror", "conflicts", ""],
            ["show", "accept", "restore", "com.example.app", "com.example.other", "org.example"]
        ),
        (["schema", "show", "--format", ""], ["table", "markdown", "man", "cli-json", "json-schema", "openstep"]),
        (["read", "--layer=u"], ["--layer=user", "--layer=user-host"]), (["read", "--effective="], []),
        (["--store=g"], ["--store=gnustep"]),
        (["diff", "com.example.app", "--versions=11..1"], ["--versions=11..12", "--versions=11..11"]),
        (["copy", "--to=org"], ["--to=org.example"]), (["export", "--", "--layer=u"], []),
        (["help", "schema", "un"], ["uninstall"]), (["help", "schema", "list", ""], []), (["help", "read", ""], []),
        (["help", "ali"], []), (["help", "wa"], ["watch"]), (["convert", "f", "x"], ["xml"]),
        (["completions", ""], ["bash", "zsh", "fish"]),
        (["restore", "com.example.app", ""], ["12", "11"]), (["restore", "org.example", ""], []),
        (["history", "com.example.app", "--show", "12"], ["12"]), (["history", "--show", ""], []),
        (["diff", "com.example.app", "--versions", ""], ["12", "11"]),
        (["diff", "com.example.app", "--versions", "11..1"], ["11..12", "11..11"]),
        (["diff", "com.example.app@u"], ["com.example.app@user", "com.example.app@user-host"]),
        (["diff", "org.example", "org.example@e"], ["org.example@effective"]), (["diff", "no.such@"], []),
        (["diff", "com.example.app@1"], ["com.example.app@12", "com.example.app@11"]),
        (["read", "com.example.app@"], []),
    ]

    @Test(arguments: rows)
    func `a word is completed from the table and the store`(_ row: (words: [String], offered: [String])) {
        let answer = Completion.answer(to: row.words, source: Self.source)
        #expect(answer.candidates.map(\.word) == row.offered)
    }

    @Test(
        arguments: [
            (["read", "com.example.app", "--"], []), (["write", "com.example.app", "theme", "--b"], []),
            (["write", "com.example.app", "theme", "-b"], ["-bool", "-boolean"]),
            (["read", "--eff"], ["--effective"]),
        ] as [([String], [String])])
    func `under the name defaults, the verbs of macOS take no options after the domain`(
        _ words: [String], _ offered: [String]
    ) {
        let answer = Completion.answer(to: words, source: Self.source, in: .classic)
        #expect(answer.candidates.map(\.word) == offered)
    }

    @Test(
        arguments: [
            (["import", "d", ""], .files), (["lint", ""], .files), (["diff", ""], .files),
            (["mirror", "init", ""], .folders),
            (["--store", ""], .folders), (["read", "./"], .files), (["read", ""], .words),
            (["convert", "-o", ""], .files),
            (["read", "d", ""], .words), (["write", "com.example.declared", "target", ""], .folders),
        ] as [([String], Completion.Answer.Files)])
    func `files are offered where a file is expected`(_ words: [String], _ files: Completion.Answer.Files) {
        #expect(Completion.answer(to: words, source: Self.source).files == files)
    }

    @Test func `an answer has one line for each word that fits on a line`() {
        let answer = Completion.answer(to: ["read", "com.example.app", ""], source: Self.source)
        #expect(answer.text == "words\n\\:colon\tinteger\na key\tinteger\ntheme\tstring\nwindows\tarray\n")
        #expect(Completion.answer(to: ["lint", "x"]).text == "files\n")
    }

    @Test func `the hidden verb answers, and removes the quotes of bash`() throws {
        #expect(try runPrefs(["prefs", "__complete", "zsh", "ren"]).output.hasPrefix("words\nrename\t"))
        #expect(try runPrefs(["prefs", "__complete", "bash", "'ren"]).output.hasPrefix("words\nrename\t"))
        #expect(try runPrefs(["prefs", "__complete", "fish", "read", "--format", "x"]).output == "words\nxml\n")
        #expect(try runPrefs(["prefs", "__complete", "fish"]).status == 0)
    }

    @Test(arguments: [
        ("a\\ b", "a b"), ("'a b", "a b"), ("\"a \\\"b", "a \"b"), ("\"a\\b\"", "a\\b"), ("a\\", "a"),
        ("'it'\\''s'", "it's"),
    ])
    func `a word is parsed before its quotes are closed`(_ word: String, _ text: String) {
        #expect(ShellWord.unquoted(word) == text)
    }
}

/// Runs the scripts in their shells. A function replaces the command, and records its arguments.
@Suite struct CompletionScriptTests {
    private func run(_ shell: String, _ script: CompletionScript, _ lines: String) throws -> Subprocess {
        let folder = try TemporaryFolder()
        try folder.write(script.text, to: "completions")
        try folder.write(lines, to: "test")
        let run = try Subprocess.run(shell, (shell == "zsh" ? ["-f"] : []) + ["test"], in: folder.url)
        #expect(run.errorText.isEmpty)
        return run
    }

    @Test(arguments: CompletionScript.allCases)
    func `the command prints its script`(_ script: CompletionScript) throws {
        #expect(try runPrefs(["prefs", "completions", script.rawValue]) == Transcript.Outcome(output: script.text))
        let classic = try runPrefs(["defaults", "completions", script.rawValue]).output
        #expect(classic.contains("defaults __complete") && !classic.contains("prefs"))
    }

    @Test(arguments: CompletionScript.allCases.filter { Tool.isExpected($0.rawValue) })
    func `a shell can read its script`(_ script: CompletionScript) throws {
        let folder = try TemporaryFolder()
        try folder.write(script.text, to: "completions")
        let run = try Subprocess.run(script.rawValue, ["-n", "completions"], in: folder.url)
        #expect(run.status == 0 && run.errorText.isEmpty, "\(run.errorText)")
    }

    @Test(arguments: [
        ("prefs re", ["prefs", "re"], "words\\nread\\tx\\nrename\\ty\\n", "<re>", ["read", "rename"]),
        (
            "prefs read d :a:", ["prefs", "read", "d", ":", "a", ":"], "words\\n:a:b\\n:a:c d\\n", "<read><d><:a:>",
            ["b", "c\\ d"]
        ),
        ("prefs read --format=x", ["prefs", "read", "--format", "=", "x"], "words\\n", "<read><--format=x>", []),
        ("prefs read 'a b", ["prefs", "read", "'a b"], "words\\n", "<read><'a b>", []),
        ("prefs read ", ["prefs", "read", ""], "words\\nd\\n", "<read><>", ["d"]),
        ("prefs lint ./comp", ["prefs", "lint", "./comp"], "files\\n", "<lint><./comp>", ["./completions"]),
    ])
    func `bash completes`(
        _ line: String, _ words: [String], _ answer: String, _ asked: String, _ replies: [String]
    ) throws {
        let run = try run(
            "bash", .bash,
            """
            prefs() { shift 2; printf '<%s>' "$@" > asked; printf '\(answer)'; }
            . ./completions
            COMP_LINE=\(ShellWord.quoted(line)) COMP_POINT=\(line.utf8.count)
            COMP_WORDS=(\(ShellWord.line(words))) COMP_CWORD=\(words.count - 1)
            _prefs
            cat asked; echo
            for reply in "${COMPREPLY[@]}"; do printf '%s\\n' "$reply"; done
            complete -p prefs

            """)
        #expect(run.text.split(separator: "\n").map(String.init) == [asked] + replies + ["complete -F _prefs prefs"])
    }

    @Test(.enabled(if: Tool.isExpected("zsh"), "\(Tool.absence(of: "zsh"))"))
    func `zsh completes`() throws {
        let run = try run(
            "zsh", .zsh,
            """
            prefs() { shift 2; printf '<%s>' "$@" > asked; printf 'files\\nread\\tprint\\na key\\n'; }
            compdef() { print -r -- "compdef $*" }
            compadd() { print -rl -- $names; print -rl -- $shown }
            _files() { print -r -- "files $*" }
            . ./completions
            words=(prefs "'a b'" "" more) CURRENT=3
            _prefs
            cat asked

            """)
        #expect(run.text == "compdef _prefs prefs\nread\na key\nread  -- print\na key\nfiles \n<a b><>")
    }

    @Test(.enabled(if: Tool.isExpected("fish"), "\(Tool.absence(of: "fish"))"))
    func `fish completes`() throws {
        let run = try run(
            "fish", .fish,
            """
            function prefs; printf '<%s>' $argv[3..-1] > asked; printf 'words\\nread\\tprint\\nrename\\n'; end
            source ./completions
            complete -C "prefs -currentHost re"
            cat asked
            echo
            complete -C "prefs 'a b' "
            cat asked

            """)
        #expect(run.text == "read\tprint\nrename\n<-currentHost><re>\nread\tprint\nrename\n<a b><>")
    }
}
