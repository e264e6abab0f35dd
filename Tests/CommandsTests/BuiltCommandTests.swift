import Foundation
import Glibc
import PropertyLists
import TestSupport
import Testing

/// Tests that require real processes: they run the built executable with its own home folder.
@Suite(.enabled(if: BuiltCommand.path != nil, "the executable is not beside the tests"), .serialized)
struct BuiltCommandTests {
    private func values(_ command: BuiltCommand, _ domain: String) throws -> PropertyList.Dictionary {
        let result = try command.run(["export", "--format", "xml", domain, "-"])
        #expect(result.status == 0, "\(result.errorText)")
        return try #require(try PropertyList(parsing: result.output, as: .xml).dictionaryValue)
    }

    @Test func `the command writes, reads and exits as the table states`() throws {
        let command = try BuiltCommand()
        #expect(try command.run(["write", "d", "k", "-int", "42"]).status == 0)
        let read = try command.run(["read", "d", "k"])
        #expect(read.text == "42\n" && read.status == 0 && read.errorText.isEmpty)
        let missing = try command.run(["read", "d", "none"])
        #expect(missing.status == 1 && missing.text.isEmpty)
        #expect(missing.errorText == "prefs: d has no key none\n")
        #expect(FileManager.default.fileExists(atPath: command.folder + "/config/prefs/d.plist"))
    }

    @Test(arguments: ["write d k", "read d", "write d k -string", "write d k -array x"])
    func `an argument that is not UTF-8 is rejected, not changed`(_ words: String) throws {
        let command = try BuiltCommand()
        let result = try command.script("\"$PREFS\" \(words) \"$(printf 'a\\377b')\"")
        #expect(result.status == 2, "\(result.errorText)")
        #expect(result.errorText.contains("is not UTF-8"))
        #expect(!FileManager.default.fileExists(atPath: command.folder + "/config/prefs/d.plist"))
    }

    /// A variable, and the folder in which the settings of the domain are then stored.
    @Test(arguments: [
        ("HOME", "/.config/prefs"), ("XDG_CONFIG_HOME", "/prefs"), ("XDG_STATE_HOME", ""),
    ])
    func `folders keep their names, also if these are not UTF-8`(_ variable: String, _ folder: String) throws {
        let command = try BuiltCommand()
        let result = try command.script(
            """
            unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
            mkdir w && export \(variable)="$PWD/w/$(printf 'h\\377')" && mkdir "$\(variable)"
            "$PREFS" write d k 1 && "$PREFS" write d k 2 && "$PREFS" undo d && "$PREFS" read d k || exit 1
            [ "\(variable)" = XDG_STATE_HOME ] || ls "$\(variable)\(folder)"
            ls w | od -An -c
            printf x > "$(find . -name d.plist)"; rm -r "$(find . -path '*history/d')"; "$PREFS" read d
            """)
        let file = variable == "XDG_STATE_HOME" ? "" : "d.plist\n"
        #expect(result.text.contains("1\n\(file)   h 377  \\n\n"), "\(result.text) \(result.errorText)")
        #expect(result.status == 5)
        let place = variable == "XDG_STATE_HOME" ? "/.config/prefs" : "/w/h\\xFF\(folder)"
        #expect(result.errorText.contains("\(place)/d.plist"), "\(result.errorText)")
    }

    /// Words with `F`, a file whose name is not UTF-8, and what is printed.
    @Test(arguments: [
        ("read F k", "1\n"), ("lint F", "./f\\xFF.json: OK\n"), ("write F k 2 && \"$PREFS\" read F k", "2\n"),
        ("diff F F", ""), ("convert F xml -o F2 && \"$PREFS\" read F2 k", "1\n"),
        ("--store \"$PWD/s$N\" write d k 3 && \"$PREFS\" read \"$PWD/s$N/d.plist\" k", "3\n"),
        ("edit F && \"$PREFS\" read F k", "4\n"), ("export d \"./o$N\" && \"$PREFS\" read \"./o$N\" k", "7\n"),
        ("import e F && \"$PREFS\" read e k", "1\n"),
    ])
    func `files keep their names, also if these are not UTF-8`(_ words: String, _ output: String) throws {
        let command = try BuiltCommand()
        let line = words.replacing("F2", with: "\"./g$N\"").replacing("F", with: "\"./f$N.json\"")
            .replacing("$PRE\"./f$N.json\"S", with: "$PREFS")
        let result = try command.script(
            """
            N=$(printf '\\377'); printf '{"k": 1}' > "./f$N.json"; mkdir "s$N"; "$PREFS" write d k 7
            printf '#!/bin/sh\\nprintf "{\\\"k\\\": 4}" > "$1"\\n' > editor; chmod +x editor; export EDITOR="$PWD/editor" VISUAL=
            "$PREFS" \(line) || exit
            find . | grep -a "$(printf '\\357\\277\\275')"
            :
            """)
        #expect(result.text == output && result.errorText == "", "\(result.text) \(result.errorText)")
    }

    /// Another process holds the lock of a file that a group shares, and of a domain.
    @Test(
        .enabled(if: Tool.isExpected("python3"), "\(Tool.absence(of: "python3"))"),
        arguments: [("config/prefs/.locks/d.lock", "d"), ("team/.prefs-lock-*", "e")])
    func `doctor names the process that holds a lock`(_ lock: String, _ domain: String) throws {
        let command = try BuiltCommand()
        let result = try command.script(
            """
            mkdir -m 770 team && "$PREFS" write d k 1 && "$PREFS" write e k 1
            mv config/prefs/e.plist team/e.plist && ln -s "$PWD/team/e.plist" config/prefs/e.plist
            chmod 660 team/e.plist
            cat > hold.py <<'END'
            import fcntl, glob, hashlib, os, sys
            path = sys.argv[1]
            if "*" in path:
                file = os.path.realpath("team/e.plist").encode()
                path = path.replace("*", hashlib.sha256(file).hexdigest()[:32])
            lock = open(path, "a+")
            fcntl.flock(lock, fcntl.LOCK_EX)
            print(os.getpid(), flush=True)
            sys.stdin.read()
            END
            mkfifo end pid; python3 hold.py '\(lock)' < end > pid & exec 9> end
            read holder < pid
            echo "holder $holder"
            "$PREFS" doctor
            """)
        let holder = result.text.split(separator: "\n").first?.split(separator: " ").last ?? ""
        #expect(
            result.text.contains("locked by process \(holder) (python3), so that \(domain) cannot be written\n"),
            "\(result.text) \(result.errorText)")
        #expect(result.text.contains("    # end that process if it does not end by itself: kill \(holder)\n"))
        #expect(result.status == 8)
    }

    @Test func `messages start with the name by which the command was called`() throws {
        let command = try BuiltCommand()
        let link = command.folder + "/defaults"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: try #require(BuiltCommand.path))
        let result = try Subprocess.run(link, ["read", "d"], environment: command.environment)
        #expect(result.errorText == "defaults: Domain d does not exist\n")
    }

    @Test func `two series of processes that write different keys lose none`() throws {
        let (command, count) = (try BuiltCommand(), Extent.isFull ? 300 : 50)
        let result = try command.script(
            """
            all() { i=0; while [ $i -lt \(count) ]; do "$PREFS" write d "$1$i" -int $i || exit 1; i=$((i + 1)); done; }
            all a & first=$!
            all b & second=$!
            wait $first && wait $second
            """)
        #expect(result.status == 0, "\(result.errorText)")
        let values = try values(command, "d")
        #expect(values.count == 2 * count)
        for index in 0..<count {
            #expect(values["a\(index)"] == .integer(.init(index)) && values["b\(index)"] == .integer(.init(index)))
        }
    }

    @Test func `processes that add to one number at the same time lose no increment`() throws {
        let (command, count) = (try BuiltCommand(), Extent.isFull ? 100 : 20)
        let result = try command.script(
            """
            add() { i=0; while [ $i -lt \(count) ]; do "$PREFS" write d n --add 1 || exit 1; i=$((i + 1)); done; }
            add & first=$!
            add & second=$!
            add & third=$!
            wait $first && wait $second && wait $third
            """)
        #expect(result.status == 0, "\(result.errorText)")
        #expect(try values(command, "d")["n"] == .integer(.init(3 * count)))
    }

    /// `Tests/run` compares 500 pairs with a release build.
    private static let pairs = Int(ProcessInfo.processInfo.environment["PREFS_PAIRS"] ?? "") ?? 40

    @Test func `the commands that diff prints make one domain equal to the other in a shell`() throws {
        let command = try BuiltCommand()
        var mutations = Mutations(SeededGenerator(stream: "built diff"))
        for index in 0..<Self.pairs {
            let (old, new) = mutations.pair()
            let folder = command.home.url.appending(path: "pair\(index)/prefs")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (name, values) in [("old", old), ("new", new.withoutUnwritable(of: old))] {
                try PropertyList.dictionary(values).serialized(as: .binary)
                    .write(to: folder.appending(path: "\(name).plist"))
            }
        }
        let result = try command.script(
            """
            mkdir bin && ln -s "$PREFS" bin/prefs && export PATH="$HOME/bin:$PATH"
            index=0
            while [ $index -lt \(Self.pairs) ]; do
                export XDG_CONFIG_HOME="$HOME/pair$index"
                prefs diff --format commands old new > commands || [ $? -eq 8 ] || echo "pair $index: diff fails"
                sh -e ./commands || echo "pair $index: a command fails"
                prefs diff old new || { echo "pair $index:"; cat commands; }
                index=$((index + 1))
            done
            """)
        #expect(result.text.isEmpty && result.errorText.isEmpty && result.status == 0, "\(Seed.ofThisRun)")
        if !result.text.isEmpty || !result.errorText.isEmpty {
            print(result.text.prefix(3000), result.errorText.prefix(1000))
        }
    }

    @Test func `a closed output pipe is not an error`() throws {
        let command = try BuiltCommand()
        let large = String(repeating: "x", count: 1 << 20)
        #expect(try command.run(["import", "d", "-"], input: "{\"a\": \"\(large)\", \"b\": 1}").status == 0)
        let result = try command.script("{ \"$PREFS\" read d; echo \"status $?\" >&2; } | head -n 1")
        #expect(result.text == "{\n")
        #expect(result.errorText == "status 0\n")
    }

    /// Each line is a status, except for the value that is read last.
    @Test func `a closed standard stream is an error, and no file gets its descriptor`() throws {
        let result = try BuiltCommand().script(
            """
            ln -s "$PREFS" PlistBuddy && echo '{ a = b; }' > g.plist
            timeout 60 ./PlistBuddy g.plist <&- > /dev/null 2> message; echo $?
            timeout 60 ./PlistBuddy -c 'Set :a c' g.plist <&- >&- 2>&-; echo $?
            "$PREFS" import d - <&- 2>> message; echo $?
            "$PREFS" write d k 1 >&- 2>&-; echo $?
            "$PREFS" read d k >&- 2>> message; echo $?
            "$PREFS" read d k
            cat message >&2
            """)
        #expect(result.text == "1\n0\n6\n0\n6\n1\n")
        #expect(
            result.errorText.split(separator: "\n") == [
                "PlistBuddy: cannot read: Bad file descriptor", "prefs: cannot read: Bad file descriptor",
                "prefs: cannot write: Bad file descriptor",
            ])
    }

    @Test func `a note that cannot be printed changes nothing`() throws {
        let result = try BuiltCommand().script(
            """
            echo '{ k = v; }' > g.plist && "$PREFS" write d n -int 1 || exit 9
            "$PREFS" write ./g k w 2> /dev/full; echo $?
            "$PREFS" write d n text 2>&-; echo $?
            "$PREFS" lint none g.plist 2> /dev/full; echo $?
            "$PREFS" read ./g.plist k
            """)
        #expect(result.text == "0\n0\ng.plist: OK\n1\nw\n")
        #expect(result.errorText.isEmpty)
    }

    // MARK: Streams with names

    @Test func `the output can be a standard stream or /dev/null`() throws {
        let result = try BuiltCommand().script(
            """
            ln -s "$PREFS" plutil && ln -s "$PREFS" defaults && "$PREFS" write d k v || exit 9
            "$PREFS" export d /dev/stdout --format gnustep
            "$PREFS" export d /dev/null --format gnustep; echo $?
            "$PREFS" convert -o /dev/fd/2 d json
            ./defaults export d /dev/stdout | head -n 1
            "$PREFS" export d d.plist && ./plutil -convert json -o /dev/stdout d.plist; echo
            ./plutil -extract k raw -o /dev/null d.plist; echo $?
            [ -c /dev/null ]; echo $?
            """)
        #expect(
            result.text == """
                {
                    k = v;
                }
                0
                <?xml version="1.0" encoding="UTF-8"?>
                {"k":"v"}
                0
                0

                """)
        #expect(result.errorText == "{\n  \"k\": \"v\"\n}\n")
    }

    @Test func `an input can be a pipe, a device or a descriptor`() throws {
        let command = try BuiltCommand()
        let result = try command.script(
            """
            cat > script <<'END'
            prefs() { "$PREFS" "$@" || echo "$1: $?"; }
            prefs import d <(echo '{"a": 1}')
            echo '{"b": 2}' | prefs import d /dev/stdin
            prefs apply --quiet --domains <(echo '{"e": {"c": 3}}')
            prefs apply <(echo '{"c": 3}')
            prefs lint <(echo '{"a": 1}') /dev/null > lint
            prefs diff d <(echo '{"a": 1, "b": 3}')
            prefs convert <(echo '{"a": "1"}') openstep -o -
            prefs write d data -data @<(printf ab)
            prefs write d none -data @/dev/null
            mkfifo pipe && { echo '{"f": 4}' > pipe & prefs import d ./pipe; wait; }
            prefs export --format gnustep d -
            END
            bash script 2> errors.text
            sed 's|/dev/fd/[0-9]*|FD|' lint errors.text
            """)
        #expect(
            result.text == """
                apply: 2
                - b: 2
                + b: 3
                diff: 8
                {
                    a = 1;
                }
                {
                    a = <*I1>;
                    b = <*I2>;
                    data = <[YWI=]>;
                    f = <*I4>;
                    none = <[]>;
                }
                FD: OK
                /dev/null:1:1: the input is empty
                lint: 5
                prefs: FD: has no name, so the domain is unknown; add --domain DOMAIN

                """, "\(result.text)")
    }

    @Test func `the file that standard output is redirected to is appended to, not replaced`() throws {
        let command = try BuiltCommand()
        let result = try command.script(
            """
            echo before > log
            "$PREFS" write d k v
            "$PREFS" export d /dev/stdout --format json >> log; echo "status $?"
            "$PREFS" export d /dev/stdout --format json | cat
            cat log
            """)
        let json = "{\n  \"k\": \"v\"\n}\n"
        #expect(result.text == "status 0\n\(json)before\n\(json)" && result.errorText.isEmpty)
    }

    // MARK: apply

    private static let domains = ["a.one", "b.two", "c.three"]

    private func declare(_ value: Int, in command: BuiltCommand, _ file: String) throws {
        let domains = Self.domains.map { "\"\($0)\": {\"value\": \(value), \"own\": {\"of\": \(value)}}" }
        try command.home.write("{\(domains.joined(separator: ", "))}", to: file)
    }

    /// Returns the value of all domains, which is the same because each apply is a transaction.
    private func commonValue(_ command: BuiltCommand) throws -> PropertyList? {
        let result = try command.run(["read", "--format", "json"])
        #expect(result.status == 0, "\(result.errorText)")
        let all = try #require(try PropertyList(parsing: result.output, as: .json).dictionaryValue)
        let values = Self.domains.map { all[$0]?["value"] }
        #expect(values.allSatisfy { $0 == values.first }, "\(result.text)")
        #expect(Self.domains.map { all[$0]?["own"]?["of"] } == values)
        return values.first ?? nil
    }

    @Test func `four processes that apply to the same domains each make all their changes`() throws {
        let command = try BuiltCommand()
        for process in 0..<4 {
            for turn in 0..<2 { try declare(process * 2 + turn, in: command, "\(process)-\(turn).json") }
        }
        let result = try command.script(
            """
            all() { i=0; while [ $i -lt 10 ]; do "$PREFS" apply --quiet --domains --set all --prune "./$1-$((i % 2)).json" || exit 1; i=$((i + 1)); done; }
            for process in 0 1 2 3; do all $process & pids="$pids $!"; done
            for pid in $pids; do wait $pid || exit 1; done
            """)
        #expect(result.status == 0, "\(result.errorText)")
        #expect(try commonValue(command) != nil)
        try checkTransactions(command)
    }

    /// Checks that each transaction in the history set the same value in all domains.
    private func checkTransactions(_ command: BuiltCommand) throws {
        var transactions: [Substring: [PropertyList?]] = [:]
        for domain in Self.domains {
            let folder = command.folder + "/state/prefs/history/" + domain
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) where !name.hasSuffix(".files") {
                let bytes = try Data(contentsOf: URL(filePath: folder + "/" + name))
                let value = try PropertyList(parsing: bytes)["value"]
                transactions[name.split(separator: "-")[4], default: []].append(value)
            }
        }
        #expect(transactions.count > 8)
        for (transaction, values) in transactions {
            #expect(values.count == Self.domains.count && Set(values).count == 1, "\(transaction)")
        }
    }

    @Test func `an interrupt leaves all changes of an apply or none`() throws {
        let command = try BuiltCommand()
        try declare(0, in: command, "0.json")
        #expect(try command.run(["apply", "--domains", "./0.json"]).status == 0)
        var (former, interrupted, finished) = (0, 0, 0)
        for round in 1...40 {
            try declare(round, in: command, "next.json")
            let process = try command.start(["apply", "--domains", "./next.json"])
            // The moments range from before the start of the command to after its end.
            let moment = ContinuousClock.now + .microseconds(600 * round)
            while ContinuousClock.now < moment {}
            process.send(SIGINT)
            let end = try process.end()
            let value = try commonValue(command)
            #expect(value == .integer(.init(former)) || value == .integer(.init(round)))
            if end.isKilled { interrupted += 1 } else { finished += 1 }
            if !end.isKilled { #expect(end.status == 0 && value == .integer(.init(round))) }
            if value == .integer(.init(round)) { former = round }
        }
        #expect(interrupted > 0, "\(finished) finished")
        let names = try FileManager.default.contentsOfDirectory(atPath: command.folder + "/config/prefs")
        #expect(names.allSatisfy { !$0.hasPrefix(".prefs-") }, "\(names)")
    }

    // MARK: watch

    @Test(arguments: [SIGINT, SIGTERM])
    func `watch reports changes by other processes immediately, until a signal ends it`(_ signal: Int32) throws {
        let command = try BuiltCommand()
        let output = RunningOutput()
        let process = try command.start(["watch", "--format", "json"], output: output.end)
        try output.close()
        // It is watching once it reports a change.
        var probes = 0
        while !output.hasCome, probes < 500 {
            #expect(try command.run(["write", "probe", "k", "-int", "\(probes)"]).status == 0)
            probes += 1
        }
        #expect(try command.run(["write", "d", "k", "-int", "7"]).status == 0)
        let expected = "{\"change\":\"added\",\"domain\":\"d\",\"layer\":\"user\",\"new\":7,\"path\":\":k\"}"
        var line = output.line()
        while let other = line, other != expected { line = output.line() }
        #expect(line == expected)
        // A write before the signal is reported before the end.
        #expect(try command.run(["-currentHost", "write", "d", "k", "last"]).status == 0)
        process.send(signal)
        let last = output.line()
        #expect(
            last
                == "{\"change\":\"changed\",\"domain\":\"d\",\"layer\":\"user-host\",\"new\":\"last\",\"old\":7,\"path\":\":k\"}"
        )
        #expect(try process.end() == SpawnedProcess.End(status: 0, isKilled: false))
    }

    @Test func `a watch with a closed output pipe ends silently at the next change`() throws {
        let command = try BuiltCommand()
        let result = try command.script(
            """
            { "$PREFS" watch; echo "status $?" > status; } | head -n 1 &
            i=0
            while [ $i -lt 500 ] && [ ! -s status ]; do "$PREFS" write probe k -int $i; i=$((i + 1)); done
            cat status
            """)
        #expect(result.text.hasPrefix("user probe k: ") && result.text.hasSuffix("\nstatus 0\n"), "\(result.text)")
        #expect(result.errorText.isEmpty, "\(result.errorText)")
    }

    // MARK: edit

    @Test func `an editor and another process change different keys at the same time`() throws {
        let command = try BuiltCommand()
        #expect(try command.run(["write", "d", "theme", "light"]).status == 0)
        let editor = "\"$PREFS\" write d other -int 2; sed -i s/light/dark/"
        let result = try command.run(["edit", "d"], ["EDITOR": editor])
        #expect(result.status == 0 && result.errorText.isEmpty, "\(result.errorText)")
        #expect(try values(command, "d") == ["theme": "dark", "other": 2])
        let conflict = try command.run(
            ["edit", "d"], ["VISUAL": "\"$PREFS\" write d theme blue; sed -i s/dark/green/"])
        #expect(conflict.status == 8, "\(conflict.errorText)")
        #expect(try values(command, "d") == ["theme": "blue", "other": 2])
        let failing = try command.run(["edit", "d"], ["VISUAL": "exit 3; true"])
        #expect(failing.status == 6)
        #expect(failing.errorText == "prefs: the editor 'exit 3; true' ended with status 3; nothing was changed\n")
    }

    @Test func `states that a change was made if its report cannot be printed`() throws {
        let result = try BuiltCommand().script(
            """
            "$PREFS" write com.m old 1
            echo '{ Domain = com.m; Version = 2; Settings = ({ Key = new; RenamedFrom = old; Title = x; }); }' > s.plist
            "$PREFS" schema install s.plist 2> /dev/null
            "$PREFS" schema migrate com.m > /dev/full; echo "status $?"
            "$PREFS" read com.m new
            """)
        #expect(String(decoding: result.output, as: UTF8.self) == "status 6\n1\n")
        #expect(
            String(decoding: result.errors, as: UTF8.self)
                == "prefs: migrated the settings, but cannot write: No space left on device\n")
    }
}

extension PropertyList.Dictionary {
    /// Removes the keys that no command can write, except for those that the old file already has.
    func withoutUnwritable(of old: PropertyList.Dictionary) -> PropertyList.Dictionary {
        var result = self
        result.removeAll { ($0.key.isEmpty || $0.key.utf8.contains(0)) && old[$0.key] == nil }
        return result
    }
}
