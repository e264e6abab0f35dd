import Foundation
import TestSupport
import Testing

/// Scripts that declare their options in their own comments, and the verbs that take such a script.
@Suite(.enabled(if: InstalledCommand.isBuilt, "the executable is not beside the tests"), .serialized)
struct `A script with its own declaration` {
    private let command: InstalledCommand

    init() throws { command = try InstalledCommand() }

    private static let line = "eval \"$(prefs args \"$0\" -- \"$@\" || echo exit $?)\"\n"

    private func write(_ name: String, _ text: String) throws {
        let file = command.home.appending(path: name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: file.path(percentEncoded: false))
    }

    private func shell(_ line: String) throws -> Subprocess { try command.run("bash", ["-c", line]) }

    @Test func `is a schema for every verb`() throws {
        try write(
            "nightly",
            """
            #!/bin/sh
            #prefs domain=com.example.nightly title="Copies a folder"
            # @option -k --keep=INT <7>  How many copies [1..365]
            # @option -b --branch=TEXT  Which branch {from: echo main}

            """ + Self.line + "echo \"$keep\"\n")
        #expect(try shell("prefs schema check nightly").text == "nightly: OK\n")
        #expect(try shell("prefs schema show ./nightly").text.contains("from 1 to 365"))
        let shown = try shell("prefs schema show --format openstep ./nightly")
        #expect(shown.text.hasPrefix("{\n    Domain = com.example.nightly;\n"))
        #expect(shown.text.contains("ChoicesFrom = \"echo main\";"))
        let installed = try shell("prefs schema install nightly")
        #expect(installed.status == 0)
        #expect(installed.errorText == "prefs: branch: ChoicesFrom is left out, since only a script can have it\n")
        #expect(try shell("prefs write com.example.nightly keep 400").status == 3)
        #expect(try shell("prefs schema show com.example.nightly").text.contains("branch"))
        let form = try shell("printf '9\\n\\n:save\\n' | prefs form ./nightly; ./nightly")
        #expect(form.text.hasSuffix("9\n"), "\(form.text) \(form.errorText)")
        #expect(try shell("prefs schema uninstall ./nightly").status == 0)
        #expect(try shell("prefs schema uninstall com.example.nightly").status == 1)
        #expect(try shell("prefs write com.example.nightly keep 400").status == 0)
        #expect(try shell("prefs args --completions bash nightly").text.contains("mapfile -t words"))
    }

    @Test func `reads the file that its caller names before the stored settings`() throws {
        try write(
            "serve",
            """
            #!/bin/sh
            #prefs domain=com.example.serve closed
            # @config -c --config=FILE <~/serve.toml>  Read settings from FILE {env: SERVE_CONFIG}
            # @option -t --timeout=INT <30>  Seconds to wait [1..60]
            # @option --name=TEXT!
            # @command run
            # @option --level=INT <1>

            """ + Self.line + "echo \"$timeout $name ${level-}\"\n")
        #expect(try shell("prefs schema check serve").text == "serve: OK\n")
        let files = [
            ("serve.toml", "timeout = 20\nname = \"home\"\n"),
            ("a.json", "{ // mine\n \"timeout\": 7, \"name\": \"a\",\n}"),
            ("broken.json", "{ \"timeout\": 7"), ("list.json", "[1]"), ("level.toml", "level = 4\n"),
            ("wrong.toml", "# one\ntimeout = 99\nlevel = \"x\"\ntimout = 1\n"),
        ]
        for (name, text) in files { try Data(text.utf8).write(to: command.home.appending(path: name)) }
        let rows: [(line: String, output: String)] = [
            ("./serve run", "20 home 1"), ("./serve -c a.json run", "7 a 1"), ("./serve -c ~/a.json -t 5 run", "5 a 1"),
            ("SERVE_CONFIG=a.json ./serve run", "7 a 1"), ("SERVE_CONFIG=none ./serve -c a.json run", "7 a 1"),
            ("./serve -c level.toml --name b run", "30 b 4"),
            ("./serve -c none run", "serve: --config: cannot read $HOME/none: No such file or directory"),
            ("./serve -c broken.json run", "serve: --config: $HOME/broken.json:1:15: ends inside an object"),
            (
                "./serve -c list.json run",
                "serve: --config: $HOME/list.json: the root value is of type array, not a dictionary of settings"
            ),
            (
                "./serve -c wrong.toml run",
                """
                serve: $HOME/wrong.toml:2: :timeout must be from 1 to 60
                serve: $HOME/wrong.toml:3: :level must be an integer
                serve: $HOME/wrong.toml:4: :timout is not declared; did you mean timeout?
                """
            ),
            (
                "SERVE_CONFIG=none ./serve run",
                "serve: config in environment: cannot read $HOME/none: No such file or directory"
            ),
        ]
        let home = command.home.path(percentEncoded: false).trimmingCharacters(in: ["/"])
        for (line, output) in rows {
            let result = try shell(line)
            let isMistake = output.hasPrefix("serve: ")
            let expected = output.replacing("$HOME", with: "/\(home)") + (isMistake ? "\nTry serve --help.\n" : "\n")
            #expect((isMistake ? result.errorText : result.text) == expected, "\(line)")
            #expect(result.status == (isMistake ? 2 : 0), "\(line)")
        }
        // What is saved is the path and the flags, and not what the file has.
        let saving = try shell("./serve -c a.json -t 9 --save run && rm serve.toml && ./serve run")
        #expect(saving.text == "9 a 1\n7 a 1\n")
        #expect(
            saving.errorText == "serve: --timeout: saved, but /\(home)/a.json has a value, which is used before it\n")
        #expect(
            try shell("prefs read com.example.serve --layer user").text
                == "{\n  \"config\": \"/\(home)/a.json\",\n  \"timeout\": 9\n}\n")
        let help = try shell("./serve --help-values run").text.split(separator: /\s+/).joined(separator: " ")
        #expect(help.contains("now a from /\(home)/a.json"), "\(help)")
        let refused = try shell("prefs args --build serve")
        #expect(refused.status == 2 && refused.errorText.contains("3:11: Configuration"), "\(refused.errorText)")
    }

    @Test func `stores nothing without a domain`() throws {
        try write("tool", "#!/bin/sh\n#prefs\n# @flag -v --verbose  More\n" + Self.line + "echo \"$verbose $#\"\n")
        let before = try shell("find . | sort").text
        #expect(try shell("./tool -v").text == "true 0\n")
        #expect(try shell("./tool --save").errorText == "tool: unknown flag --save\nTry tool --help.\n")
        #expect(
            try shell("./tool --help").text
                == "usage: tool [options]\n\nOptions:\n  -v, --verbose  More.\n  -h, --help     Shows this text.\n")
        #expect(try shell("find . | sort").text == before)
        #expect(try shell("prefs schema install tool").status == 2)
    }

    @Test func `ends at once if it is ambiguous, and runs if it is only odd`() throws {
        let head = "#!/bin/sh\n#prefs{\n# Domain = com.example.odd; Settings = ("
        let tail = ");\n#}\n" + Self.line + "echo went on\n"
        try write("ambiguous", head + "{ Key = a; Flag = x; }, { Key = b; Flag = x; }" + tail)
        let ambiguous = try shell("./ambiguous")
        #expect(ambiguous.status == 5 && ambiguous.text.isEmpty)
        #expect(ambiguous.errorText.hasSuffix(":Settings:1:Flag: duplicate flag --x\n"), "\(ambiguous.errorText)")
        try write(
            "odd",
            head + "{ Key = a; Positional = 1; }, { Key = b; Positional = 3; Required = YES; Default = x; }" + tail)
        #expect(try shell("./odd").text == "went on\n")
        let check = try shell("prefs schema check odd")
        #expect(check.status == 0 && check.text.split(separator: "\n").count == 3, "\(check.text)")
    }

    @Test func `lists choices with a command in its own calls only`() throws {
        try write(
            "build",
            "#!/bin/sh\n#prefs\n# @option --branch=TEXT {from: touch ran; cat branches}\n" + Self.line
                + "echo \"<$branch>\"\n")
        try write("branches", "main\nnext\n")
        #expect(try shell("./build").text == "<>\n")
        for words in ["schema check build", "schema show ./build", "args --man build", "args --completions zsh build"] {
            #expect(try shell("prefs \(words)").status == 0)
        }
        #expect(try shell("ls ran").status != 0)
        #expect(try shell("./build --branch next; ls ran").text == "<next>\nran\n")
        let refused = try shell("./build --branch mani")
        #expect(refused.errorText.hasPrefix("build: --branch mani: must be main or next; did you mean main?\n"))
        #expect(refused.status == 2)
        let failed = try shell("rm branches; ./build --branch main")
        #expect(failed.status == 2 && failed.errorText.contains("the choices could not be listed"))
        try write("slow", "#!/bin/sh\n#prefs\n# @option --branch=TEXT {from: sleep 60}\n" + Self.line)
        #expect(try shell("./slow --branch x").errorText.contains("took more than 2 s"))
        try write("loud", "#!/bin/sh\n#prefs\n# @option --branch=TEXT {from: yes}\n" + Self.line)
        #expect(try shell("./loud --branch x").errorText.contains("64 KiB"))
        try write("killed", "#!/bin/sh\n#prefs\n# @option --branch=TEXT {from: kill -9 $$}\n" + Self.line)
        #expect(try shell("./killed --branch x").errorText.contains("was ended by signal 9"))
        let background = "sleep 5 >sink 2>&1 & echo main"
        try write("forks", "#!/bin/sh\n#prefs\n# @option --branch=TEXT {from: \(background)}\n" + Self.line)
        #expect(try shell("./forks --branch main").status == 0)
    }

    @Test func `requires paths to exist, or not to`() throws {
        try write(
            "copy", "#!/bin/sh\n#prefs\n# @arg from:folder! {exists}\n# @arg to:path {new}\n" + Self.line + "echo ok\n")
        #expect(try shell("mkdir here; ./copy here there").text == "ok\n")
        #expect(try shell("./copy copy").errorText.hasPrefix("copy: FROM copy: must be an existing folder\n"))
        #expect(try shell("./copy nowhere").errorText.hasPrefix("copy: FROM nowhere: must be an existing folder\n"))
        #expect(
            try shell("./copy . copy").errorText.hasPrefix("copy: TO copy: must be a path that does not exist yet\n"))
        try write(
            "saving",
            "#!/bin/sh\n#prefs domain=com.example.saving\n# @option --from=folder {exists}\n" + Self.line + "echo ok\n")
        let refused = try shell("./saving --save --from nowhere")
        #expect(refused.errorText.contains("must be an existing folder"), "\(refused.text)\(refused.errorText)")
        let saved = try shell("./saving; prefs read com.example.saving from")
        #expect(saved.text == "ok\n", "\(saved.text)\(saved.errorText)")
    }

    @Test func `reads a secret from standard input, unless it is a terminal`() throws {
        try write(
            "secret", "#!/bin/sh\n#prefs\n# @option --token=TEXT {secret}\n" + Self.line + "echo \"<$token>\"\n")
        try write("own", "s3cret\n")
        try write("shared", "s3cret\n")
        _ = try shell("chmod 600 own; chmod 644 shared")
        let rows = [
            ("printf s3cret | ./secret --token-file -", "<s3cret>\n", ""),
            ("printf s3cret | ./secret --token-file=-", "<s3cret>\n", ""),
            ("./secret --token-file /dev/stdin < own", "<s3cret>\n", ""),
            ("./secret --token-file - <<< s3cret", "<s3cret>\n", ""),
            ("./secret --token-file - < /dev/null", "<>\n", ""),
            (
                "./secret --token-file - < shared", "",
                "secret: --token-file: /dev/stdin: other users can read this file; fix it with chmod 600\n"
            ),
            (
                "./secret --token-file - <&-", "", "secret: --token-file: 0 is not an open descriptor\n"
            ),
        ]
        for (line, output, error) in rows {
            let result = try shell(line)
            #expect(result.text == output && result.errorText.hasPrefix(error), "\(line): \(result.errorText)")
            #expect(result.status == (error.isEmpty ? 0 : 2))
        }
        let typed = try shell("script -qec './secret --token-file -' /dev/null < /dev/null")
        #expect(typed.text.contains("secret: --token-file: the standard input is a terminal"), "\(typed.text)")
    }

    /// Scripts in other languages, with the words of a shell that run them.
    private static let foreign = [
        (
            "node",
            """
            #!/usr/bin/env node
            //#prefs title="Counts"
            // @flag -v --verbose  More
            //   {hidden}

            // @option -n --number=INT <1> [1..9]
            const words = ["args", "--shell", "json", __filename, "--", ...process.argv.slice(2)];
            const run = require("child_process").spawnSync("prefs", words, { stdio: ["inherit", "pipe", "inherit"] });
            if (run.status !== 0 || run.stdout.length === 0) process.exit(run.status);
            const { values, operands } = JSON.parse(run.stdout);
            console.log(values.number, values.verbose ?? false);
            //#prefs operands=3
            """
        ),
        (
            "lua5.4",
            """
            --#prefs title="Counts"
            -- @flag -v --verbose  More
            -- @option -n --number=INT <1> [1..9]
            local line = "prefs args --shell nul " .. arg[0] .. " -- " .. table.concat(arg, " ")
            local pipe = io.popen(line)
            local text = pipe:read("a")
            local _, _, status = pipe:close()
            if status ~= 0 or text == "" then os.exit(status) end
            local values = {}
            for name, value in text:gmatch("([^=\\0]+)=([^\\0]*)\\0") do values[name] = value end
            print(values.number .. " " .. values.verbose)
            """
        ),
        (
            "guile",
            """
            ;#prefs{
            ;  Title = "Counts"; Settings = (
            ;     { Key = verbose; Type = boolean; Flag = verbose; Short = v; },
            ;     { Key = number; Type = integer; Default = 1; Minimum = 1; Maximum = 9; Flag = number; Short = n; });
            ;#}
            (use-modules (ice-9 popen) (ice-9 textual-ports))
            (let* ((words (cdr (command-line)))
                   (port (apply open-pipe* OPEN_READ "prefs" "args" "--shell" "nul" (car (command-line)) "--" words))
                   (text (get-string-all port))
                   (status (status:exit-val (close-pipe port))))
              (if (or (not (= status 0)) (string-null? text)) (exit status))
              (define (value name)
                (let* ((start (+ (string-contains text (string-append name "=")) (string-length name) 1)))
                  (substring text start (string-index text #\\nul start))))
              (display (string-append (value "number") " " (value "verbose") "\\n")))
            """
        ),
        (
            "vim",
            """
            "#prefs title="Counts"
            " @flag -v --verbose  More
            " @option -n --number=INT <1> [1..9]
            let text = system('prefs args --shell json ' . expand('<sfile>') . ' -- ' . $WORDS . ' 2>&1')
            if v:shell_error
              call writefile(split(text, '\\n'), '/dev/stdout')
              execute v:shell_error . 'cquit'
            endif
            let values = json_decode(text).values
            call writefile([values.number . ' ' . (get(values, 'verbose') ? 'true' : 'false')], '/dev/stdout')
            quit
            """
        ),
    ]

    @Test(arguments: foreign.filter { Tool.path(of: $0.0) != nil })
    func `can be in another language`(_ language: String, _ text: String) throws {
        try write("script", text + "\n")
        let call = language == "vim" ? "vim -N -u NONE -es -S ./script" : "\(language) ./script"
        func run(_ words: String) throws -> Subprocess {
            try shell("WORDS='\(words)' \(call) \(language == "vim" ? "" : words)")
        }
        let given = try run("-vn3")
        #expect(given.text == "3 true\n" && given.status == 0, "\(given.text)\(given.errorText)")
        #expect(try run("").text == "1 false\n")
        let refused = try run("--num 10")
        #expect(refused.status == 2)
        let errors = (refused.text + refused.errorText).split(separator: "\n")
        #expect(errors.first?.hasPrefix("script: --num") ?? false && errors[0].hasSuffix(" 10: must be from 1 to 9"))
        #expect(try shell("prefs schema check ./script").text == "./script: OK\n")
    }

    @Test(arguments: ["bash", "dash", "zsh"])
    func `keeps bytes that are not text`(_ shell: String) throws {
        guard Tool.isExpected(shell) else { return }
        try write(
            "bytes-\(shell)",
            "#!/usr/bin/env \(shell)\n#prefs domain=com.example.bytes operands=0...\n# @option --name=TEXT {env: NAME_VALUE}\n"
                + Self.line + "printf '%s|' \"$name\" \"$@\" | od -An -v -tx1 | tr -d ' \\n'\n")
        let name = "bytes-\(shell)"
        let line =
            "\(shell) \(name) --name=\"$(printf 'a\\377\\303')\" -- \"$(printf '\\200 z')\" '' \"$(printf '\\364\\217\\272\\200')\""
        let result = try self.shell(line)
        #expect(result.text == "61ffc37c80207a7c7cf48fba807c", "\(result.errorText)")
        let saved = try self.shell("\(shell) \(name) --save --name=\"$(printf '\\377')\"")
        #expect(
            saved.status == 3 && saved.text.isEmpty && saved.errorText.contains("not valid UTF-8"), "\(saved.errorText)"
        )
        let json = try self.shell("prefs args --shell json \(name) -- --name=\"$(printf '\\377')\"")
        #expect(json.status == 3 && json.errorText.contains("the value of name is not valid UTF-8"))
        let variable = try self.shell("NAME_VALUE=\"$(printf '\\377')\" \(shell) \(name)")
        #expect(variable.status == 2 && variable.errorText.hasPrefix("\(name): NAME_VALUE: must be valid UTF-8\n"))
    }

    @Test func `must not use the variables of its shell`() throws {
        let lines = "#prefs\n# @option --path=TEXT\n" + Self.line
        try write("plain", "#!/bin/sh\n" + lines)
        #expect(try shell("prefs schema check plain").status == 0)
        try write("zsh-path", "#!/bin/zsh\n" + lines)
        try write("list", "#!/bin/zsh\n#prefs{\n# Settings = ({ Key = path; Flag = path; });\n#}\n" + Self.line)
        for (name, place) in [("zsh-path", "3:11: "), ("list", "3:17: :Settings:0:")] {
            let check = try shell("prefs schema check \(name)")
            let reason = "becomes the shell variable path, which is reserved"
            #expect(
                check.status == 5
                    && (check.text + check.errorText).contains("\(name):\(place)Key: \(reason)"),
                "\(check.text + check.errorText)")
            #expect(try shell("prefs args --build \(name)").status == 5)
        }
    }

    @Test func `tells ShellCheck about its variables`() throws {
        let head = "#!/bin/bash\n#prefs\n# @flag -v --verbose\n# @option --keep-them=INT\n"
        try write("tool", head)
        #expect(try shell("prefs args --shellcheck tool").text == "declare verbose keep_them\n")
        #expect(
            try shell("prefs args --shellcheck --shell sh tool").text
                == "# shellcheck disable=SC2154 # set by prefs args: verbose keep_them\n")
        guard Tool.isExpected("shellcheck") else { return }
        let body = Self.line + "if $verbose; then echo \"$keep_them\"; fi\n"
        try write("plain", head + body)
        try write("told", head + "declare verbose keep_them\n" + body)
        #expect(try shell("shellcheck -f gcc plain").text.contains("SC2154"))
        #expect(try shell("shellcheck -f gcc told").text.isEmpty)
    }
}
