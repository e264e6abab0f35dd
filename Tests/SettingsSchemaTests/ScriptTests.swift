import Foundation
import PropertyLists
import SchemaTools
import SettingsSchema
import TestSupport
import Testing

@Suite struct `Values for a script` {
    static let text = """
        { Key = keep; Type = integer; Default = 7; }, { Key = "dry-run"; Type = boolean; Default = NO; }, { Key = target; },
        { Key = exclude; Type = array; Elements = { Type = string; }; }, { Key = ports; Type = array; },
        { Key = server; Type = dictionary; }, { Key = since; Type = date; }, { Key = blob; Type = data; }, { Key = ratio; Type = real; }
        """
    static let values = """
        {keep: 3, "dry-run": true, target: "it's", exclude: ["a b", "c"], server: {host: "x", "a": [1]},
         since: @2026-01-31T12:00:00Z, blob: <01FF>, ratio: 0.5}
        """

    @Test(arguments: [
        (
            ScriptOutput.bash,
            """
            keep='3'
            dry_run='true'
            target='it'\\''s'
            exclude=('a b' 'c')
            ports=()
            server='{"a":[1],"host":"x"}'
            since='2026-01-31T12:00:00Z'
            blob='Af8='
            ratio='0.5'
            set -- '-x'

            """
        ),
        (
            .sh,
            """
            keep='3'
            dry_run='true'
            target='it'\\''s'
            exclude=''\\''a b'\\'' '\\''c'\\'''
            ports=''
            server='{"a":[1],"host":"x"}'
            since='2026-01-31T12:00:00Z'
            blob='Af8='
            ratio='0.5'
            set -- '-x'

            """
        ),
        (
            .fish,
            """
            set -g keep '3';
            set -g dry_run 'true';
            set -g target 'it\\'s';
            set -g exclude 'a b' 'c';
            set -g ports;
            set -g server '{"a":[1],"host":"x"}';
            set -g since '2026-01-31T12:00:00Z';
            set -g blob 'Af8=';
            set -g ratio '0.5';
            set argv '-x';

            """
        ),
        (
            .nul,
            "keep=3|dry_run=true|target=it's|exclude[]=a b|exclude[]=c|server={\"a\":[1],\"host\":\"x\"}|since=2026-01-31T12:00:00Z|blob=Af8=|ratio=0.5|=-x|"
        ),
        (
            .json,
            """
            {"operands":["-x"],"values":{"blob":{"$data":"Af8="},"dry-run":true,"exclude":["a b","c"],"keep":3,"ratio":0.5,\
            "server":{"a":[1],"host":"x"},"since":{"$date":"2026-01-31T12:00:00Z"},"target":"it's"}}

            """
        ),
    ])
    func `are written for each shell`(_ output: ScriptOutput, _ expected: String) throws {
        let schema = try Sample.settings(Self.text)
        let values = try #require(ValueNotation.value(Self.values).dictionaryValue)
        let text = try ScriptValues(schema: schema, values: values, operands: ["-x"]).text(for: output)
        #expect(text.replacing("\0", with: "|") == expected)
        if output == .bash {
            #expect(try ScriptValues(schema: schema, values: values, operands: ["-x"]).text(for: .zsh) == expected)
        }
    }

    @Test(arguments: [
        (["a.b"], "", ScriptOutput.bash, "a_b"), (["1a"], "", .bash, "_1a"), (["éa"], "", .bash, "_a"),
        (["é"], "", .bash, "the shell reserves the variable _; use --prefix for the setting é"),
        (["a:b c"], "x_", .bash, "x_a_b_c"),
        (["1a"], "p", .bash, "p1a"),
        (["a-b", "a_b"], "", .bash, "the settings a-b and a_b would all become the variable a_b"),
        (
            ["PATH"], "", .sh,
            "the shell reserves the variable PATH; use --prefix for the setting PATH"
        ),
        (["PATH"], "my_", .sh, "my_PATH"), (["path"], "", .bash, "path"),
        (
            ["path"], "", .zsh,
            "the shell reserves the variable path; use --prefix for the setting path"
        ),
        (
            ["status"], "", .fish,
            "the shell reserves the variable status; use --prefix for the setting status"
        ),
        (
            ["BASH_ENV"], "", .bash,
            "the shell reserves the variable BASH_ENV; use --prefix for the setting BASH_ENV"
        ),
        (
            ["LD_PRELOAD"], "", .fish,
            "the shell reserves the variable LD_PRELOAD; use --prefix for the setting LD_PRELOAD"
        ),
        (["PATH", "a.b"], "", .nul, "PATH a_b"), (["a"], "1", .bash, "1 is not a valid start of a variable name"),
        (["a"], "$(x)", .bash, "$(x) is not a valid start of a variable name"),
        (["a"], "a b", .nul, "a b is not a valid start of a variable name"),
    ])
    func `have names that a shell accepts`(
        _ keys: [String], _ prefix: String, _ output: ScriptOutput, _ expected: String
    ) {
        var schema = Schema(domain: "d")
        schema.settings = keys.map { SettingDeclaration($0) }
        let result = Result { () throws(ScriptFailure) in
            try ScriptValues(schema: schema, values: [:]).text(for: output, prefix: prefix)
        }
        switch result {
        case .success(let text):
            let lines = text.split { $0 == "\n" || $0 == "\0" }.filter {
                !$0.hasPrefix("set --") && !$0.hasPrefix("set argv")
            }
            #expect(lines.map { $0.prefix { $0 != "=" } }.joined(separator: " ") == expected)
        case .failure(let failure): #expect(failure.description == expected)
        }
    }

    @Test func `have the chosen command among them`() throws {
        let schema = try Sample.settings(ArgumentRow.Schemas.commands.text, rest: ArgumentRow.Schemas.commands.rest)
        let values = ScriptValues(schema: schema, values: ["from": "x"], command: "restore")
        #expect(
            try values.text(for: .sh)
                == "unset -v long depth\nverbose='false'\nfrom='x'\nforce='false'\ncommand='restore'\nset --\n")
        var clashing = schema
        clashing.settings = [SettingDeclaration("command")]
        #expect(throws: ScriptFailure.clash(["command", "command"], variable: "command")) {
            try ScriptValues(schema: clashing, values: [:]).text(for: .sh)
        }
    }

    @Test func `cannot have a NUL where a variable cannot`() throws {
        let schema = try Sample.settings("{ Key = a; }, { Key = b; Type = array; }")
        for values in [["a": "x\0y"], ["b": ["x", "\0"]]] as [PropertyList.Dictionary] {
            for output in [ScriptOutput.bash, .zsh, .fish, .sh, .nul] {
                #expect(throws: ScriptFailure.self) {
                    try ScriptValues(schema: schema, values: values).text(for: output)
                }
            }
            #expect(throws: Never.self) { try ScriptValues(schema: schema, values: values).text(for: .json) }
        }
    }

    @Test(arguments: [
        ("#!/bin/bash", ScriptOutput.bash), ("#!/usr/bin/env bash", .bash), ("#! /usr/bin/env -S bash -eu", .bash),
        ("#!/bin/sh -e", .sh),
        ("#!/bin/dash", .sh), ("#!/bin/busybox sh", .sh), ("#!/usr/bin/zsh -f", .zsh), ("#!/usr/bin/env fish\r", .fish),
        ("#!/usr/bin/env A=b zsh", .zsh),
        ("#!/usr/bin/python3", nil), ("# bash", nil), ("", nil), ("#!", nil),
    ])
    func `are for the shell that the first line names`(_ line: String, _ output: ScriptOutput?) {
        #expect(ScriptOutput(firstLine: line) == output)
    }
}

@Suite struct `A script's schema` {
    @Test(arguments: [
        ("#!/bin/sh\n# prefs-schema: a.plist\n", "file a.plist"),
        ("#prefs-schema:   a b.plist  \r\n", "file a b.plist"),
        ("  ## prefs-schema: /x\n# prefs-schema: y", "file /x"),
        (
            "echo prefs-schema: x\n",
            "the script has no declaration; add a line #prefs, without a space, or # prefs-schema: FILE"
        ),
        ("", "the script has no declaration; add a line #prefs, without a space, or # prefs-schema: FILE"),
        ("\n# prefs-schema:\n", "2: missing file name after prefs-schema:"),
        ("#prefs{\n# Domain = d;\n#}\n", "inline       \n  Domain = d;\n"),
        (
            "#!/bin/sh\n#prefs{ Domain = d;\n  #\tA = (b);\n\n  #}\nrest",
            "inline\n        Domain = d;\n   \tA = (b);\n\n"
        ),
        ("#!/bin/sh\n#prefs title=a\n# @flag -v\n", "lines\n#!/bin/sh\n#prefs title=a\n# @flag -v\n"),
        ("#prefs{\n# a\necho\n#}\n", "3: a line of the schema must begin with #"),
        ("\n#prefs{\n# a\n", "2: missing #} at the end of the schema"),
    ])
    func `is found in its text`(_ script: String, _ expected: String) {
        let result = Result { () throws(ScriptReference.Failure) in try ScriptReference(script: script) }
        switch result {
        case .success(.file(let name)): #expect("file \(name)" == expected)
        case .success(.inline(let text)): #expect("inline\(text)" == expected)
        case .success(.lines(let text)): #expect("lines\n\(text)" == expected)
        case .failure(let failure): #expect(failure.description == expected)
        }
    }

    @Test func `has errors with their positions in the script`() throws {
        let script = """
            #!/bin/bash
            # A script.
            #prefs{
            #   Domain = com.example.tool;
            #   Settings = (
            #       { Key = keep; Type = intger; Default = 7; }
            #   );
            #}
            eval "$(prefs args "$0" -- "$@" || echo exit $?)"
            """
        guard case .inline(let text) = try ScriptReference(script: script) else {
            Issue.record("not inline")
            return
        }
        let (schema, mistakes) = Schema.read(Array(text.utf8))
        #expect(schema?.domain == "com.example.tool")
        #expect(mistakes.map(\.description) == ["6:23: :Settings:0:Type: unknown name intger; did you mean integer?"])
    }
}

@Suite struct `Completions` {
    static let text = """
        { Key = mode; Choices = (full, "it's $(touch canary)", "a b"); Flag = mode; Short = m; Title = "How; `touch canary`"; },
        { Key = target; Kind = folder; Flag = target; }, { Key = color; Type = boolean; Flag = color; Negatable = YES; },
        { Key = keep; Type = integer; Flag = keep; }
        """
    static let rest = """
        Commands = ({ Name = restore; Settings = ({ Key = from; Choices = (yesterday, today); Positional = 1; }, { Key = force; Type = boolean; Flag = force; }); },
                    { Name = list; });
        """

    static func schema() throws -> Schema { try Sample.settings(text, rest: rest) }

    @Test(
        .enabled(if: Tool.isExpected("bash"), "\(Tool.absence(of: "bash"))"),
        arguments: [
            ("tool --mo", "--mode"), ("tool --mode f", "full"),
            ("tool -m ''", "full|it\\'s\\ \\$\\(touch\\ canary\\)|a\\ b"), ("tool --mode=f", "full"),
            ("tool --mode=", "full|it\\'s\\ \\$\\(touch\\ canary\\)|a\\ b"), ("tool re", "restore"),
            ("tool ''", "restore|list"), ("tool -m list ''", "restore|list"), ("tool --mode=x list --fo", ""),
            (
                "tool -",
                "--mode|-m|--target|--color|--no-color|--keep|--help|-h|--help-values|--version|--save|--reset|--set"
            ),
            ("tool restore --fo", "--force"), ("tool restore y", "yesterday"), ("tool restore --mode f", "full"),
            ("tool list --fo", ""),
            ("tool --set :m", "mode="), ("tool --set :", "mode=|target=|color=|keep="),
            ("tool --set=:m", "mode="), ("tool --set :mode=", ""), ("tool a:b=c --mode f", "full"),
            ("tool restore --target=a:b y", "yesterday"), ("tool --keep ''", ""),
        ])
    func `complete in bash`(_ line: String, _ expected: String) throws {
        let typed = line.replacing("''", with: "")
        // Splits words as bash does, in which each separator is a separate word.
        let words = line.replacing(/[:=]/) { " \($0.output) " }
        let script =
            try Self.schema().completions(for: .bash, program: "tool") + """

                COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                COMP_LINE=\(ShellQuoting.word(typed)); COMP_POINT=${#COMP_LINE}; _tool_completions
                (IFS='|'; printf '%s' "${COMPREPLY[*]}")
                """
        let (result, files) = try ShellSubject(name: "bash", program: "bash", output: .bash).run(script, emitted: "")
        #expect(result.text == expected)
        #expect(result.errorText.isEmpty)
        #expect(files == ["emitted", "script"])
    }

    @Test(
        .enabled(if: Tool.isExpected("zsh"), "\(Tool.absence(of: "zsh"))"),
        arguments: [
            ("tool --mode ''", "full|it's $(touch canary)|a b"),
            ("tool restore ''", "yesterday|today"), ("tool -m list ''", "restore|list"),
            (
                "tool restore -",
                "--mode|-m|--target|--color|--no-color|--keep|--force|--help|-h|--help-values|--version|--save|--reset|--set"
            ),
            ("tool --target ''", "files -/"), ("tool --keep ''", ""),
        ])
    func `complete in zsh`(_ line: String, _ expected: String) throws {
        // The functions that offer words exist only inside the line editor.
        let script = """
            compdef() { : }
            compadd() { print -rn -- ${(j:|:)offered} }
            _files() { print -rn -- files $@ }

            """ + (try Self.schema().completions(for: .zsh, program: "tool")) + """

                test_it() { local -a words=(\(line)); local CURRENT=$#words; _tool }
                test_it
                """
        let (result, files) = try ShellSubject(name: "zsh", program: "zsh", arguments: ["-f"], output: .zsh).run(
            script, emitted: "")
        #expect(result.text == expected)
        #expect(result.errorText.isEmpty)
        #expect(files == ["emitted", "script"])
    }

    @Test(
        .enabled(if: Tool.isExpected("fish"), "\(Tool.absence(of: "fish"))"),
        arguments: [
            ("tool --mode ", ["a b", "full", "it's $(touch canary)"]), ("tool --mo", ["--mode"]),
            ("tool re", ["restore"]),
            ("tool restore --fo", ["--force"]), ("tool restore y", ["yesterday"]), ("tool --fo", []),
            ("tool --keep ", []),
        ])
    func `complete in fish`(_ line: String, _ expected: [String]) throws {
        let script =
            try Self.schema().completions(for: .fish, program: "tool") + """

                complete -C \(line.hasSuffix(" ") ? "'\(line)'" : "\"\(line)\"")
                """
        let shell = ShellSubject(name: "fish", program: "fish", arguments: ["--no-config"], output: .fish)
        let (result, files) = try shell.run(script, emitted: "")
        let offered = result.text.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }.sorted()
        #expect(offered == expected)
        #expect(result.errorText.isEmpty)
        #expect(files == ["emitted", "script"])
    }

    @Test func `have descriptions, nested commands and the choices of a command`() throws {
        let schema = try `A script's declaration`.schema(
            """
            @option -b --branch=TEXT  What to build {from: printf "main\\nit's\\n"}
            @command remote  Other places
            @command remote/add|new  Add one
            @option --name=one|two
            """)
        func run(_ shell: ShellSubject, _ script: String) throws -> String {
            let result = try shell.run(schema.completions(for: shell.output, program: "tool") + script, emitted: "").0
            #expect(result.errorText.isEmpty)
            return result.text
        }
        for (words, expected) in [
            ("remote ''", "add"), ("remote new --name ''", "one|two"), ("--branch ''", "main|it\\'s"),
        ] {
            let count = words.split(separator: " ").count
            let script = """

                COMP_WORDS=(tool \(words)); COMP_CWORD=\(count)
                COMP_LINE='tool \(words.filter { $0 != "'" })'; COMP_POINT=${#COMP_LINE}; _tool_completions
                (IFS='|'; printf '%s' "${COMPREPLY[*]:0:2}")
                """
            let found = try run(ShellSubject(name: "bash", program: "bash", output: .bash), script)
            #expect(found.hasPrefix(expected), "\(words): \(found)")
        }
        if Tool.isExpected("zsh") {
            let head = "compdef() { : }\ncompadd() { print -rn -- ${(j:|:)shown} }\n_files() { : }\n"
            let subject = ShellSubject(name: "zsh", program: "zsh", arguments: ["-f"], output: .zsh)
            let script =
                head + schema.completions(for: .zsh, program: "tool")
                + "\ntest_it() { local -a words=(tool $1); local CURRENT=2; _tool }\ntest_it ''; echo; test_it -\n"
            let found = try subject.run(script, emitted: "").0
            let lines = found.text.split(separator: "\n")
            #expect(lines.first == "remote  -- Other places", "\(found.text)")
            #expect(lines.last?.hasPrefix("--branch  -- What to build|") ?? false, "\(found.text)")
        }
        if Tool.isExpected("fish") {
            let subject = ShellSubject(name: "fish", program: "fish", arguments: ["--no-config"], output: .fish)
            #expect(try run(subject, "\ncomplete -C 'tool re'\n") == "remote\tOther places\n")
            #expect(try run(subject, "\ncomplete -C 'tool remote a'\n") == "add\tAdd one\n")
            #expect(try run(subject, "\ncomplete -C 'tool --branch '\n").contains("it's"))
        }
    }

    @Test(
        arguments: [
            ("--when ''", "full|fast"), ("--when=", "always|never"), ("-- ''", "full|fast"), ("-- --wh", ""),
            ("-vnk ''", "one|two"), ("-k ''", "one|two"), ("-kv ''", "full|fast"), ("-v ''", "full|fast"),
        ])
    func `offer an optional value only after an equals sign, and no flag after two dashes`(
        _ line: String, _ expected: String
    ) throws {
        let schema = try `A script's declaration`.schema(
            "@option --when[=always|never] {implied: always}\n@flag -v\n@flag -n\n@option -k=one|two\n@arg mode:full|fast"
        )
        func run(_ shell: ShellSubject, _ head: String, _ end: String) throws -> String {
            let script = head + schema.completions(for: shell.output, program: "tool") + end
            let (result, _) = try shell.run(script, emitted: "")
            #expect(result.errorText.isEmpty)
            return result.text
        }
        let end = """

            COMP_WORDS=(tool \(line.replacing("=", with: " ="))); COMP_CWORD=2
            COMP_LINE='tool \(line.replacing("''", with: ""))'; COMP_POINT=${#COMP_LINE}; _tool_completions
            (IFS='|'; printf '%s' "${COMPREPLY[*]}")
            """
        #expect(try run(ShellSubject(name: "bash", program: "bash", output: .bash), "", end) == expected)
        guard Tool.isExpected("zsh") else { return }
        // The line editor leaves out the words that do not begin like the one before the cursor.
        let head = "compdef() { : }\ncompset() { : }\ncompadd() { print -rn -- ${(j:|:)offered} }\n_files() { : }\n"
        let zsh = ShellSubject(name: "zsh", program: "zsh", arguments: ["-f"], output: .zsh)
        let found = try run(
            zsh, head, "\ntest_it() { local -a words=(tool \(line)); local CURRENT=$#words; _tool }\ntest_it\n")
        #expect(found == (expected.isEmpty ? "full|fast" : expected))
    }

    @Test(arguments: [
        ("add ''", "red|green"), ("add red ''", "folders"), ("add red x ''", "toml"), ("add red x y ''", "toml"),
        ("-v add -t a red ''", "folders"), ("add -- red ''", "folders"), ("add -t ''", "one|two"),
        ("add --tag=one ''", "red|green"), ("move ''", "here|there"), ("move there ''", ""), ("add -D ''", "a="),
    ])
    func `know the position of an operand`(_ line: String, _ expected: String) throws {
        let schema = try `A script's declaration`.schema(
            """
            @flag -v
            @command add  Add
            @arg color:red|green!
            @arg place:folder
            @arg files:file... {pattern: .*\\.(toml|tml)}
            @option -t --tag=one|two
            @option -D=TEXT {map} <a=1>
            @command move
            @arg where:here|there
            """)
        func run(_ shell: ShellSubject, _ head: String, _ end: String) throws -> String {
            let script = head + schema.completions(for: shell.output, program: "tool") + end
            let (result, _) = try shell.run(script, emitted: "")
            #expect(result.errorText.isEmpty, "\(shell)")
            return result.text
        }
        let count = line.split(separator: " ").count
        let words = line.replacing("=", with: " = ").split(separator: " ")
        let bash = try run(
            ShellSubject(name: "bash", program: "bash", output: .bash),
            "compopt() { [[ $* != *dirnames* ]] || printf folders; }\ncompgen() { [[ $* != *toml* ]] || printf 'toml\\n'; }\n",
            """

            COMP_WORDS=(tool \(words.joined(separator: " "))); COMP_CWORD=\(words.count)
            COMP_LINE='tool \(line.replacing("''", with: ""))'; COMP_POINT=${#COMP_LINE}; _tool_completions
            (IFS='|'; printf '%s' "${COMPREPLY[*]}")
            """)
        #expect(bash == expected)
        if Tool.isExpected("zsh") {
            let head = """
                compdef() { : }
                compset() { : }
                compadd() { print -rn -- ${(j:|:)offered} }
                _files() { case "$*" in *toml*) print -n toml ;; *-/*) print -n folders ;; esac }

                """
            let zsh = try run(
                ShellSubject(name: "zsh", program: "zsh", arguments: ["-f"], output: .zsh), head,
                "\ntest_it() { local -a words=(tool \(line)); local CURRENT=\(count + 1); _tool }\ntest_it\n")
            #expect(zsh == expected)
        }
        if Tool.isExpected("fish") {
            let head =
                "function __fish_complete_directories; echo folders; end\n"
                + "function __fish_complete_suffix; test $argv[1] = .toml; and echo toml; end\n"
            let end = "\ncomplete -C 'tool \(line.replacing("''", with: ""))'\n"
            let fish = try run(
                ShellSubject(name: "fish", program: "fish", arguments: ["--no-config"], output: .fish), head, end)
            let offered = fish.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
            #expect(Set(offered) == Set(expected.split(separator: "|").map(String.init)), "\(fish)")
        }
    }

    @Test(arguments: [("@flag -v", false), ("operands=0...\n@flag -v", true), ("@arg file", true)])
    func `offer files only if the script takes operands`(_ lines: String, _ isOffered: Bool) throws {
        let text = try `A script's declaration`.schema(lines).completions(for: .zsh, program: "tool")
        #expect(text.contains("_files") == isOffered)
    }

    @Test func `have no code from the name of the program`() throws {
        let schema = try Self.schema()
        for shell in ShellSubject.all where ScriptOutput.completing.contains(shell.output) {
            let text = schema.completions(for: shell.output, program: "x\ntouch canary\n'")
            let head = shell.output == .zsh ? "compdef() { : }\n" : ""
            #expect(try shell.run(head + text, emitted: "").files == ["emitted", "script"], "\(shell)")
        }
    }

    @Test func `are empty for an output without completions`() throws {
        #expect(try Self.schema().completions(for: .sh, program: "tool").isEmpty)
    }
}
