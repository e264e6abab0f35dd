import Foundation
import PropertyLists
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

/// A shell that receives values, and the statements with which a script reads and prints them.
struct ShellSubject: Sendable, CustomTestStringConvertible {
    let name: String
    let program: String
    var arguments: [String] = []
    let output: ScriptOutput
    var locale = "C.UTF-8"

    var testDescription: String { "\(name) in \(locale)" }

    static let all = [
        ShellSubject(name: "bash", program: "bash", output: .bash),
        ShellSubject(name: "bash", program: "bash", output: .bash, locale: "C"),
        ShellSubject(name: "bash as sh", program: "bash", arguments: ["--posix"], output: .sh),
        ShellSubject(name: "dash", program: "dash", output: .sh),
        ShellSubject(name: "dash", program: "dash", output: .sh, locale: "C"),
        ShellSubject(name: "busybox", program: "busybox", arguments: ["sh"], output: .sh),
        ShellSubject(name: "mksh", program: "mksh", output: .sh),
        ShellSubject(name: "yash", program: "yash", output: .sh),
        ShellSubject(name: "zsh", program: "zsh", arguments: ["-f"], output: .zsh),
        ShellSubject(
            name: "zsh with RC_QUOTES", program: "zsh", arguments: ["-f", "-o", "rcquotes", "-o", "extendedglob"],
            output: .zsh),
        ShellSubject(name: "zsh", program: "zsh", arguments: ["-f"], output: .zsh, locale: "C"),
        ShellSubject(name: "fish", program: "fish", arguments: ["--no-config"], output: .fish),
    ].filter { Tool.isExpected($0.program) }

    /// The statement that reads the values from the file `emitted`, as the manual recommends.
    var taking: String {
        output == .fish ? "eval (cat emitted | string collect)\n" : "eval \"$(cat emitted)\"\n"
    }

    /// The statements that print variables, each with a NUL after it.
    func showing(_ names: [String]) -> String {
        names.map { output == .fish ? "printf '%s\\0' $\($0)\n" : "printf '%s\\0' \"$\($0)\"\n" }.joined()
    }

    /// The statements that print the elements of an array, then the operands.
    func showingElements(of name: String) -> String {
        switch output {
        case .fish: "printf '%s\\0' $\(name)\nprintf '%s\\0' $argv\n"
        case .sh: "printf '%s\\0' \"$@\"\neval \"set -- $\(name)\"\nprintf '%s\\0' \"$@\"\n"
        default: "printf '%s\\0' \"${\(name)[@]}\"\nprintf '%s\\0' \"$@\"\n"
        }
    }

    /// Runs a script in a folder with the emitted text, and returns its result and the files in the folder afterwards.
    func run(_ script: String, emitted: String) throws -> (Subprocess, files: [String]) {
        let folder = try TemporaryFolder()
        try folder.write(emitted, to: "emitted")
        try folder.write(script, to: "script")
        let result = try Subprocess.run(
            program, arguments + ["script", "a", "former", "operand"],
            environment: ["LC_ALL": locale, "HOME": folder.url.path], in: folder.url)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { !$0.hasPrefix(".") }
        return (result, files.sorted())
    }
}

@Suite struct `A value in a shell` {
    /// Values that would execute something if they were not quoted properly.
    static func values(_ count: Int) -> [String] {
        var generator = SeededGenerator(stream: "injection")
        /// A noncharacter, which Swift accepts in no literal.
        func noncharacter(_ code: UInt32) -> String { Unicode.Scalar(code).map { String($0) } ?? "" }
        let pieces = [
            "'", "\"", "`touch canary`", "$(touch canary)", "${IFS}", "$HOME", "\\", "\\'", "'\\''", "''", "\n", "\r",
            "\t", " ",
            "-", "--", "-n", "*", "?", "[a-z]", "~", "!", "!!", "{a,b}", ";touch canary;", "&", "|", ">canary", "<",
            "(", ")",
            "#", "$", "$$", "%", "%s", "\\n", "\\0", "\\x41", "=", "^", "\u{1}", "\u{7}", "\u{8}", "\u{1B}[2J",
            "\u{7F}",
            "\u{80}", "\u{81}", "\u{88}", "\u{9F}", "\u{A0}", "é", "e\u{301}", "選択", "👍", "\u{F600}", "\u{F6FF}",
            "\u{E000}",
            noncharacter(0xFDD0), noncharacter(0xFDEF), noncharacter(0xFFFE), "\u{FEFF}", "\u{2028}", "\u{202E}",
            "\u{10FFFF}", "a", "word", "0", ")", "\ntouch canary\n",
            "'$(touch canary)'", "';touch canary;'", "\";touch canary;\"", "a'b\"c`d", "$'\\n'", "=(touch canary)",
            "[0]=x", "[$(touch canary)]=x", "a[$(touch canary)]", "<(touch canary)", "0 -o 1",
            "\n\n", "EOF\n",
        ]
        return pieces + [""]
            + (0..<max(0, count - pieces.count - 1)).map { _ in
                (0..<Int.random(in: 0...6, using: &generator)).compactMap { _ in pieces.randomElement(using: &generator)
                }.joined()
            }
    }

    @Test(arguments: ShellSubject.all)
    func `is exactly the given one, and is not executed`(_ shell: ShellSubject) throws {
        let values = Self.values(5000)
        var schema = Schema(domain: "d")
        schema.settings = values.indices.map { SettingDeclaration("k\($0)") }
        let stored = PropertyList.Dictionary(values.enumerated().map { ("k\($0)", .string($1)) })
        let text = try ScriptValues(schema: schema, values: stored).text(for: shell.output)
        let script = shell.taking + shell.showing(values.indices.map { "k\($0)" })
        let (result, files) = try shell.run(script, emitted: text)
        expectSame(result.output, values)
        #expect(files == ["emitted", "script"], "\(Seed.ofThisRun)")
        #expect(result.errorText.isEmpty)
        #expect(result.status == 0)
    }

    @Test(arguments: ShellSubject.all)
    func `is the same in an array and among the operands`(_ shell: ShellSubject) throws {
        let values = Self.values(1000)
        var schema = Schema(domain: "d")
        schema.settings = [SettingDeclaration("list", ValueRule(.array))]
        let text = try ScriptValues(
            schema: schema, values: ["list": .array(values.map { .string($0) })], operands: values
        ).text(for: shell.output)
        let (result, files) = try shell.run(shell.taking + shell.showingElements(of: "list"), emitted: text)
        expectSame(result.output, values + values)
        #expect(files == ["emitted", "script"], "\(Seed.ofThisRun)")
        #expect(result.errorText.isEmpty)
    }

    @Test(arguments: ShellSubject.all)
    func `would be executed if it were quoted incorrectly`(_ shell: ShellSubject) throws {
        // Checks that the tests above can fail: this text does create the file.
        let text = shell.output == .fish ? "set -g a (touch canary);" : "a=\"$(touch canary)\""
        #expect(try shell.run(shell.taking, emitted: text).files == ["canary", "emitted", "script"])
    }

    private func expectSame(_ output: Data, _ values: [String]) {
        let found = output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
        let wanted = values.map { Array($0.utf8) }
        #expect(found.count == wanted.count)
        for (one, other) in zip(found, wanted) where one != other {
            Issue.record(
                "\(Seed.ofThisRun): \(String(decoding: other, as: UTF8.self).debugDescription) became \(String(decoding: one, as: UTF8.self).debugDescription)"
            )
            return
        }
    }

    @Test(arguments: ShellSubject.all)
    func `leaves the script running under the strictest options`(_ shell: ShellSubject) throws {
        var schema = Schema(domain: "d")
        schema.settings = [
            SettingDeclaration("verbose", ValueRule(.boolean)), SettingDeclaration("nothing"),
            SettingDeclaration("none", ValueRule(.array)), SettingDeclaration("count", ValueRule(.integer)),
            // An unset Boolean must not be a command that succeeds.
            SettingDeclaration("quiet", ValueRule(.boolean)),
        ]
        let text = try ScriptValues(schema: schema, values: ["verbose": true, "count": 3], operands: ["x"]).text(
            for: shell.output)
        let script: String
        switch shell.output {
        case .fish:
            script =
                "\(shell.taking)if $verbose; echo yes; end\nif $quiet; echo quiet; end\necho \"$nothing\" (count $none) $count (count $argv)\n"
        case .sh:
            script =
                "set -eu\n\(shell.taking)if $verbose; then echo yes; fi\nif $quiet; then echo quiet; fi\necho \"$nothing\" 0${none} $count $#\n"
        default:
            script =
                "set -euo pipefail\n\(shell.taking)if $verbose; then echo yes; fi\nif $quiet; then echo quiet; fi\necho \"$nothing\" ${#none[@]} $count $#\n"
        }
        let (result, _) = try shell.run(script, emitted: text)
        #expect(result.text == "yes\n 0 3 1\n")
        #expect(result.errorText.isEmpty)
    }

    @Test(arguments: ShellSubject.all)
    func `can be a text that the script prints before it ends`(_ shell: ShellSubject) throws {
        let help = "usage: it's %s \\n `touch canary`\n  -k, --keep N\n"
        let (result, files) = try shell.run(
            shell.taking + "echo went on\n", emitted: shell.output.printing(help, thenExit: 0))
        #expect(result.text == help)
        #expect(result.status == 0)
        #expect(files == ["emitted", "script"])
        let (end, _) = try shell.run(shell.taking + "echo went on\n", emitted: shell.output.exit(2))
        #expect(end.status == 2)
        #expect(end.text.isEmpty)
    }

    @Test(.enabled(if: Tool.isExpected("fish"), "\(Tool.absence(of: "fish"))"))
    func `survives fish breaking text at line ends`() throws {
        var schema = Schema(domain: "d")
        schema.settings = [SettingDeclaration("a"), SettingDeclaration("b")]
        let text = try ScriptValues(schema: schema, values: ["a": "1\n\n 2 '\n", "b": "x"], operands: ["o\np"]).text(
            for: .fish)
        let shell = ShellSubject(name: "fish", program: "fish", arguments: ["--no-config"], output: .fish)
        let (result, _) = try shell.run("eval (cat emitted)\nprintf '%s\\0' $a $b $argv\n", emitted: text)
        expectSame(result.output, ["1\n\n 2 '\n", "x", "o\np"])
    }
}
