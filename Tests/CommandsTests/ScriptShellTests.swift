import Foundation
import TestSupport
import Testing

/// A shell that runs complete scripts, which call the command as the manual recommends.
struct ScriptShell: Sendable, CustomTestStringConvertible {
    let name: String
    let program: String
    var options: [String] = []
    /// The start of its script, with the strictest options.
    let start: String
    var locale = "C.UTF-8"

    var testDescription: String { "\(name) in \(locale)" }
    var isFish: Bool { program == "fish" }

    private static let line = "eval \"$(prefs args \"$0\" -- \"$@\" || echo exit $?)\"\n"

    static let all = [
        ScriptShell(name: "bash", program: "bash", start: "#!/bin/bash\nSCHEMAset -euo pipefail\n" + line),
        ScriptShell(name: "bash", program: "bash", start: "#!/bin/bash\nSCHEMAset -euo pipefail\n" + line, locale: "C"),
        ScriptShell(name: "dash", program: "dash", start: "#!/bin/sh\nSCHEMAset -eu\n" + line),
        ScriptShell(
            name: "bash as sh", program: "bash", options: ["--posix"], start: "#!/bin/sh\nSCHEMAset -eu\n" + line),
        ScriptShell(name: "busybox", program: "busybox", options: ["sh"], start: "#!/bin/sh\nSCHEMAset -eu\n" + line),
        ScriptShell(name: "mksh", program: "mksh", start: "#!/bin/sh\nSCHEMAset -eu\n" + line),
        ScriptShell(name: "yash", program: "yash", start: "#!/bin/sh\nSCHEMAset -eu\n" + line),
        ScriptShell(
            name: "zsh", program: "zsh", options: ["-f"], start: "#!/bin/zsh\nSCHEMAset -euo pipefail\n" + line),
        ScriptShell(
            name: "fish", program: "fish", options: ["--no-config"],
            start:
                "#!/usr/bin/fish\nSCHEMAeval (prefs args (status filename) -- $argv | string collect; or echo exit 127)\n"
        ),
    ].filter { Tool.isExpected($0.program) }

    /// The statements that print variables, each followed by a NUL.
    func showing(_ names: [String]) -> String {
        names.map { isFish ? "printf '%s\\0' $\($0)\n" : "printf '%s\\0' \"$\($0)\"\n" }.joined()
    }

    /// The statements that print the elements of an array, then the operands.
    func showingElements(of name: String) -> String {
        switch program {
        case "fish": "printf '%s\\0' $\(name)\nprintf '%s\\0' $argv\n"
        case "bash" where options.isEmpty, "zsh": "printf '%s\\0' \"${\(name)[@]}\"\nprintf '%s\\0' \"$@\"\n"
        default: "printf '%s\\0' \"$@\"\neval \"set -- $\(name)\"\nprintf '%s\\0' \"$@\"\n"
        }
    }

    /// Runs a script with arguments, and returns the files in its folder afterwards.
    func run(
        _ body: String, schema: String, _ arguments: [String], _ variables: [String: String] = [:],
        in command: InstalledCommand
    ) throws -> (result: Subprocess, files: [String]) {
        let folder = try TemporaryFolder()
        try folder.write(start.replacing("SCHEMA", with: "# prefs-schema: script.plist\n") + body, to: "script")
        try folder.write(schema, to: "script.plist")
        let environment = command.variables.merging(["LC_ALL": locale]) { $1 }.merging(variables) { $1 }
        let result = try Subprocess.run(
            program, options + ["script"] + arguments, environment: environment, in: folder.url)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { !$0.hasPrefix(".") }
        return (result, files.sorted())
    }
}

@Suite(.enabled(if: InstalledCommand.isBuilt, "the executable is not beside the tests"), .serialized)
struct `A script in its shell` {
    /// Five thousand texts that would execute something if they were not quoted properly.
    static let hostile: [String] = {
        var generator = SeededGenerator(stream: "hostile arguments")
        let pieces = [
            "'", "\"", "`touch canary`", "$(touch canary)", "${IFS}", "$HOME", "\\", "\\'", "'\\''", "\n", "\r", "\t",
            " ", "-", "--", "-k", "=", "*", "?", "[a-z]", "~", "!", "!!", "{a,b}", ";touch canary;", "&", "|",
            ">canary", "<", "(", ")", "#", "$", "%s", "\\n", "\\0", "^", "\u{1}", "\u{7}", "\u{1B}[2J", "\u{7F}",
            "\u{80}", "\u{9F}", "é", "e\u{301}", "選択", "👍", "\u{F600}", "\u{FEFF}", "\u{2028}", "\u{202E}", "a",
            "0", "\ntouch canary\n", "';touch canary;'", "$'\\n'", "=(touch canary)", "[$(touch canary)]=x",
            "<(touch canary)",
            "exit 3\n", "EOF\n",
        ]
        return pieces + [""]
            + (0..<4999 - pieces.count).map { _ in
                (0..<Int.random(in: 1...6, using: &generator)).compactMap { _ in
                    pieces.randomElement(using: &generator)
                }.joined()
            }
    }()

    @Test(arguments: ScriptShell.all)
    func `has exactly the given values, and executes none of them`(_ shell: ScriptShell) throws {
        let values = Array(Self.hostile.prefix(1000))
        let settings = values.indices.map { "{ Key = k\($0); Flag = f\($0); }" }.joined(separator: ",\n")
        let schema = "{ Domain = \"com.example.hostile\"; Settings = (\(settings)); }"
        let (result, files) = try shell.run(
            shell.showing(values.indices.map { "k\($0)" }), schema: schema,
            values.enumerated().map { "--f\($0)=\($1)" }, in: try InstalledCommand())
        expectSame(result.output, values)
        #expect(files == ["script", "script.plist"], "\(Seed.ofThisRun)")
        #expect(result.errorText.isEmpty && result.status == 0)
    }

    @Test(arguments: ScriptShell.all)
    func `has all of them in an array, and among the operands`(_ shell: ScriptShell) throws {
        let values = Self.hostile
        let schema =
            "{ Domain = \"com.example.hostile\"; Settings = ({ Key = list; Type = array; Elements = { Type = string; }; Repeats = YES; Flag = item; }); }"
        let (result, files) = try shell.run(
            shell.showingElements(of: "list"), schema: schema,
            values.map { "--item=\($0)" } + ["--"] + values, in: try InstalledCommand())
        expectSame(result.output, values + values)
        #expect(files == ["script", "script.plist"], "\(Seed.ofThisRun)")
        #expect(result.errorText.isEmpty)
    }

    @Test(arguments: ScriptShell.all)
    func `has the same from its environment, from stored settings and from a default`(_ shell: ScriptShell) throws {
        let command = try InstalledCommand()
        let values = Self.hostile.filter { !$0.isEmpty }.prefix(Extent.isFull ? 70 : 20)
        // Several texts in each script, because starting it takes most of the time.
        for start in stride(from: 0, to: values.count, by: 10) {
            let some = zip(0..., values.dropFirst(start).prefix(10))
            let settings = some.map { number, value in
                let quoted = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                return """
                    { Key = e\(number); Environment = E_VALUE\(number); }, { Key = s\(number); },
                    { Key = d\(number); Default = "\(quoted)"; }
                    """
            }
            let schema = "{ Domain = \"com.example.hostile\"; Settings = (\(settings.joined(separator: ", "))); }"
            for (number, value) in some {
                let words = ["write", "com.example.hostile", "s\(number)", "-string", value]
                #expect(try command.run("prefs", words).status == 0)
            }
            let (result, files) = try shell.run(
                shell.showing(some.flatMap { ["e\($0.0)", "s\($0.0)", "d\($0.0)"] }), schema: schema, [],
                Dictionary(uniqueKeysWithValues: some.map { ("E_VALUE\($0.0)", $0.1) }), in: command)
            expectSame(result.output, some.flatMap { [$0.1, $0.1, $0.1] })
            #expect(files == ["script", "script.plist"])
        }
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

    // MARK: Ends

    static let schema = """
        { Domain = "com.example.end"; Title = "Ends it's way";
          Settings = ({ Key = keep; Type = integer; Default = 7; Flag = keep; },
                      { Key = verbose; Type = boolean; Default = YES; Flag = verbose; }); }
        """

    @Test(arguments: ScriptShell.all)
    func `continues with its values, or ends before it does anything`(_ shell: ScriptShell) throws {
        let command = try InstalledCommand()
        let body =
            shell.isFish
            ? "if $verbose; echo went on $keep (count $argv); end\n"
            : "if $verbose; then echo went on $keep $#; fi\n"
        func run(_ arguments: String...) throws -> Subprocess {
            try shell.run(body, schema: Self.schema, arguments, in: command).result
        }
        #expect(try run("--keep", "3", "a", "b").text == "went on 3 2\n")
        let mistake = try run("--kep", "3")
        #expect(mistake.text.isEmpty && mistake.status == 2)
        #expect(mistake.errorText == "script: unknown flag --kep; did you mean --keep?\nTry script --help.\n")
        let help = try run("--help")
        #expect(help.text.hasPrefix("usage: script [options]") && help.text.contains("Ends it's way."))
        #expect(!help.text.contains("went on") && help.status == 0 && help.errorText.isEmpty)
        #expect(try run("--version").text == "script: settings of com.example.end, version 1\n")
    }

    @Test(arguments: ScriptShell.all)
    func `ends if its schema is invalid or prefs is missing`(_ shell: ScriptShell) throws {
        let command = try InstalledCommand()
        let bad = try shell.run("echo went on\n", schema: "{ Domain = d;", [], in: command).result
        #expect(bad.text.isEmpty && bad.status == 5 && bad.errorText.hasPrefix("prefs: script.plist:1:"))
        let none = try shell.run(
            "echo went on\n", schema: Self.schema, [], ["PATH": "/usr/bin:/bin"], in: command
        ).result
        #expect(none.text.isEmpty && none.status == 127)
    }

    @Test(arguments: ScriptShell.all.filter { !$0.isFish })
    func `takes secrets from a file or a descriptor`(_ shell: ScriptShell) throws {
        let schema = "{ Domain = \"com.example.end\"; Settings = ({ Key = token; Flag = token; Sensitive = YES; }); }"
        let command = try InstalledCommand()
        let file = command.home.appending(path: "token").path
        try Data("s3 cret\n".utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let body = "echo \"<$token>\"\n"
        let fromFile = try shell.run(body, schema: schema, ["--token-file", file], in: command).result
        #expect(fromFile.text == "<s3 cret>\n")
        // The test's own standard input is empty.
        let fromInput = try shell.run(body, schema: schema, ["--token-fd", "0"], in: command).result
        #expect(fromInput.text == "<>\n")
        let closed = try shell.run(body, schema: schema, ["--token-fd", "77"], in: command).result
        #expect(
            closed.status == 2
                && closed.errorText == "script: --token-fd: 77 is not an open descriptor\nTry script --help.\n")
    }

    @Test func `is not waited for if it is not a file`() throws {
        let command = try InstalledCommand()
        #expect(try command.run("bash", ["-c", "mkfifo fifo; echo '# prefs-schema: fifo' > script"]).status == 0)
        for script in ["fifo", "script", "/dev/zero", "/dev/stdin", "."] {
            let result = try command.run("prefs", ["args", script, "--"])
            #expect(result.text == "exit 6\n" || script == "/dev/stdin", "\(script)")
            #expect(result.text.hasPrefix("exit "), "\(script)")
            #expect(result.errorText.split(separator: "\n").count == 1, "\(script)")
        }
        let line = "echo 'echo went on' | prefs args /dev/stdin --; prefs args <(echo) --"
        let piped = try command.run("bash", ["-c", line])
        #expect(piped.text == "exit 6\nexit 6\n")
    }
}
