import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Laptops with a home folder each, which mirror the files of their programs in one directory.
private struct Laptops {
    private let machine: SimulatedMachine

    init(programs: [String] = ["code", "micro", "zed"]) throws {
        machine = try SimulatedMachine()
        try Catalogue.install(on: machine, programs)
        machine.clock.setPace(.milliseconds(2))
    }

    @discardableResult
    func run(_ laptop: String, _ line: String, status: Int32? = 0) throws -> Transcript.Outcome {
        var machine = machine
        let home: EnvironmentVariables = ["HOME": "/home/ada/\(laptop)"]
        machine.environment.variables = machine.environment.variables.merging(home)
        try machine.fileSystem.makeFolders(try #require(FilePath("/home/ada/\(laptop)/x")).parent)
        let outcome = try machine.run("prefs " + line)
        if let status { #expect(outcome.status == status, "\(laptop): \(line): \(outcome)") }
        return outcome
    }

    /// Writes a file as a program does.
    func write(_ laptop: String, _ file: String, _ text: String) throws {
        let path = try #require(FilePath("/home/ada/\(laptop)/\(file)"))
        try machine.fileSystem.makeFolders(path.parent)
        machine.clock.advance(by: .seconds(1))
        try machine.fileSystem.replace(path, with: Array(text.utf8))
        machine.clock.advance(by: .seconds(3))
    }

    func remove(_ laptop: String, _ file: String) throws {
        try machine.fileSystem.remove(try #require(FilePath("/home/ada/\(laptop)/\(file)")))
        machine.clock.advance(by: .seconds(3))
    }

    func hideCatalogue() throws {
        for name in ["code", "micro", "zed"] {
            try machine.disk.process().remove(try #require(FilePath("/usr/share/prefs/programs/\(name).plist")))
        }
    }

    func showCatalogue() throws { try Catalogue.install(on: machine, ["code", "micro", "zed"]) }

    func text(_ laptop: String, _ file: String) throws -> String? {
        let path = try #require(FilePath("/home/ada/\(laptop)/\(file)"))
        return try machine.fileSystem.contents(of: path, limit: 10000).map { String(decoding: $0, as: UTF8.self) }
    }

    func permissions(_ laptop: String, _ file: String) throws -> UInt32? {
        let path = try #require(FilePath("/home/ada/\(laptop)/\(file)"))
        return try machine.fileSystem.status(of: path).map { UInt32($0.permissions.rawValue & 0o777) }
    }

    func join(_ laptops: String...) throws {
        for laptop in laptops {
            let verb = laptop == laptops[0] ? "init" : "join"
            try run(laptop, "mirror \(verb) /home/ada/shared --label \(laptop)")
        }
    }

    /// Exchanges until nothing is left to do.
    func sync(_ laptops: String..., status: Int32? = 0) throws {
        for turn in 0..<3 {
            machine.clock.advance(by: .seconds(3))
            for laptop in laptops { try run(laptop, "mirror sync", status: turn == 2 ? status : nil) }
        }
    }
}

/// A program's file in a mirror.
@Suite struct `A mirrored file of a program` {
    private static let code = ".config/Code/User/settings.json"

    private static let desk = """
        {
            // The desk
            "editor.fontSize": 13,
            "workbench.colorTheme": "Solarized", // light
            "terminal.integrated.profiles.linux": {"zsh": {"path": "/bin/zsh"}},
            "http.proxy": "http://me:pw@proxy:3128",
            "http.proxyAuthorization": null,
            "some.count": 123456789012345678901234567890,
            "ext.apiToken": "abc",
            "ext.serverPath": "/bin/x",
            "ext.nested": {"inner": {"password": "hunter2"}},
            "ext.off": null,
            "ext.deep": [1, null],
            "files.exclude": {"build": true},
        }

        """
    private static let laptop = """
        {
        \t"files.eol": "\\n",
        \t// The laptop
        \t"terminal.integrated.profiles.linux": {"bash": {"path": "/bin/bash"}},
        \t"editor.fontSize": 18 /* large */
        }

        """

    private func pair() throws -> Laptops {
        let hosts = try Laptops()
        try hosts.write("desk", Self.code, Self.desk)
        try hosts.write("laptop", Self.code, Self.laptop)
        for host in ["desk", "laptop"] { try hosts.run(host, "adopt code") }
        try hosts.join("desk", "laptop")
        for host in ["desk", "laptop"] {
            let added = try hosts.run(host, "mirror add code", status: nil).errors
            #expect(added.contains("code: stay on this host: ") && added.contains("terminal."), "\(added)")
        }
        try hosts.sync("desk", "laptop")
        return hosts
    }

    @Test func `has the same values on all hosts, and its own look on each`() throws {
        let hosts = try pair()
        #expect(
            try hosts.text("desk", Self.code)
                == Self.desk.replacing(
                    "\"files.exclude\": {\"build\": true},",
                    with: "\"files.exclude\": {\"build\": true},\n    \"files.eol\": \"\\n\",")
        )
        #expect(
            try hosts.text("laptop", Self.code)
                == Self.laptop.replacing(
                    "18 /* large */",
                    with: """
                        13, /* large */
                        \t"files.exclude": {
                        \t\t"build": true
                        \t},
                        \t"workbench.colorTheme": "Solarized"
                        """)
        )
        for key in ["proxy", "apiToken", "serverPath", "hunter2", "zsh"] {
            #expect(try hosts.text("laptop", Self.code)?.contains(key) == false, "\(key)")
        }
        let status = try hosts.run("desk", "mirror status").output
        for row in [
            ":some.count: an integer beyond 64 bits\n", ":ext.off: null\n", ":ext.deep: null at :ext.deep:1\n",
            ":ext.nested: :ext.nested:inner:password has the name of a secret or a program\n",
        ] {
            #expect(status.contains("  stays here  code \(row)"), "\(status)")
        }
        try hosts.run("laptop", "write code editor.fontSize --int 20")
        try hosts.run("desk", "delete code workbench.colorTheme")
        try hosts.sync("laptop", "desk")
        #expect(try hosts.run("desk", "read code editor.fontSize").output == "20\n")
        #expect(try hosts.run("laptop", "read code workbench.colorTheme", status: 1).output.isEmpty)
        #expect(try hosts.text("desk", Self.code)?.contains("123456789012345678901234567890") == true)
    }

    @Test func `has no conflict where a user changes what the mirror brought`() throws {
        let hosts = try pair()
        let accepted = try hosts.run("desk", "mirror conflicts accept --all", status: nil)
        try hosts.sync("desk", "laptop")
        for (number, host) in ["laptop", "desk", "laptop", "laptop", "desk", "desk"].enumerated() {
            if number > 2 {
                let text = try #require(try hosts.text(host, Self.code))
                try hosts.write(host, Self.code, text.replacing("// The", with: "// \(number) The"))
            }
            try hosts.run(host, "write code editor.fontSize --int \(number + 20)")
            try hosts.sync(host, host == "desk" ? "laptop" : "desk")
            for host in ["desk", "laptop"] {
                let lost = try hosts.run(host, "mirror conflicts", status: nil).output
                #expect(lost.isEmpty, "\(number) on \(host): \(lost) \(accepted)")
                #expect(try hosts.run(host, "read code editor.fontSize").output == "\(number + 20)\n")
            }
        }
    }

    @Test func `has conflicts, which are listed and settled on any host`() throws {
        let hosts = try pair()
        try hosts.run("desk", "write code editor.fontSize --int 30")
        try hosts.write(
            "laptop", Self.code, try #require(try hosts.text("laptop", Self.code)).replacing("13", with: "40"))
        try hosts.sync("laptop", "desk", status: nil)
        for host in ["desk", "laptop"] {
            #expect(try hosts.run(host, "read code editor.fontSize").output == "40\n")
            let listed = try hosts.run(host, "mirror conflicts", status: nil).output
            #expect(listed.contains("code :editor.fontSize") && listed.contains("30"), "\(listed)")
            let explained = try hosts.run(host, "explain code editor.fontSize").output
            #expect(explained.contains("! conflict \(listed.prefix(6)): lost at :editor.fontSize: 30"), "\(explained)")
        }
        let name = String(try hosts.run("desk", "mirror conflicts", status: nil).output.prefix(6))
        try hosts.run("desk", "mirror conflicts restore \(name)", status: nil)
        try hosts.sync("desk", "laptop")
        #expect(try hosts.run("laptop", "read code editor.fontSize").output == "30\n")
        #expect(try hosts.text("laptop", Self.code)?.contains("// The laptop") == true)
        try hosts.run("desk", "write code editor.fontSize --int 31")
        try hosts.run("laptop", "write code editor.fontSize --int 41")
        try hosts.sync("laptop", "desk", status: nil)
        let accepted = try hosts.run("desk", "mirror conflicts accept code", status: nil).output
        #expect(accepted.contains("code :editor.fontSize") && accepted.contains("lost"), "\(accepted)")
        #expect(try hosts.run("desk", "mirror conflicts").output.isEmpty)
    }

    @Test func `is created on a host that does not have it yet`() throws {
        let hosts = try pair()
        try hosts.run("new", "mirror join /home/ada/shared --label new")
        let early = try hosts.run("new", "mirror add --dry-run code", status: 2).errors
        #expect(early.contains("first run: prefs adopt code"), "\(early)")
        let adopted = try hosts.run("new", "adopt code").output
        #expect(adopted.contains("does not exist yet"), "\(adopted)")
        try hosts.run("new", "mirror add code", status: nil)
        try hosts.sync("new", "desk", "laptop")
        let text = try #require(try hosts.text("new", Self.code))
        let values = try PropertyList(parsing: Array(text.utf8), as: .json)
        #expect(values["editor.fontSize"] == .integer(13) && values["http.proxy"] == nil, "\(text)")
        #expect(try hosts.permissions("new", Self.code) == 0o600)
        try hosts.run("new", "write code editor.fontSize --int 9")
        try hosts.sync("new", "desk")
        #expect(try hosts.run("desk", "read code editor.fontSize").output == "9\n")
    }

    @Test func `in TOML keeps its look on each host, and is created as TOML`() throws {
        let file = ".config/starship.toml"
        let desk = "# The desk\nadd_newline = false # compact\n\n[character]\nsuccess_symbol = '>' # plain\n"
        let laptop = "[directory]\ntruncation_length = 5\n\n# The laptop\n[battery] # small\nfull_symbol = \"x\"\n"
        let hosts = try Laptops(programs: ["starship"])
        try hosts.write("desk", file, desk)
        try hosts.write("laptop", file, laptop)
        try hosts.join("desk", "laptop", "tablet")
        for host in ["desk", "laptop", "tablet"] {
            try hosts.run(host, "adopt starship")
            try hosts.run(host, "mirror add starship", status: nil)
        }
        try hosts.sync("desk", "laptop", "tablet")
        let directory = "\n[directory]\ntruncation_length = 5\n"
        #expect(try hosts.text("desk", file) == desk + "\n[battery]\nfull_symbol = 'x'\n" + directory)
        let character = "[character]\nsuccess_symbol = \">\"\n"
        #expect(try hosts.text("laptop", file) == "add_newline = false\n" + laptop + "\n" + character)
        #expect(
            try hosts.text("tablet", file)
                == "add_newline = false\n\n[battery]\nfull_symbol = \"x\"\n\n" + character + directory)
        try hosts.run("tablet", "write starship :character:success_symbol +")
        try hosts.run("laptop", "write starship :directory:style bold")
        try hosts.run("desk", "delete starship battery")
        try hosts.sync("desk", "laptop", "tablet")
        #expect(
            try hosts.text("desk", file)
                == desk.replacing("'>'", with: "'+'") + directory + "style = 'bold'\n")
        #expect(
            try hosts.text("laptop", file)
                == "add_newline = false\n[directory]\ntruncation_length = 5\nstyle = \"bold\"\n\n"
                + character.replacing(">", with: "+"))
    }

    @Test func `is created with all others that the mirror has, where all known programs are adopted`() throws {
        let hosts = try pair()
        let micro = ".config/micro/settings.json"
        for (host, size) in [("desk", 2), ("new", 8)] {
            try hosts.write(host, micro, "{\"tabsize\": \(size)}\n")
            if host == "desk" { try hosts.run(host, "adopt micro") }
        }
        try hosts.run("desk", "mirror add micro", status: nil)
        try hosts.sync("desk")
        try hosts.run("new", "mirror join /home/ada/shared --label new")
        let adopted = try hosts.run("new", "adopt --all", status: nil)
        #expect(adopted.output.contains("micro: /home/ada/new/\(micro) (json, 1 key)"), "\(adopted)")
        #expect(adopted.output.contains("code: created /home/ada/new/\(Self.code)"), "\(adopted)")
        #expect(adopted.output.contains("mirrored: code"), "\(adopted)")
        #expect(!adopted.output.contains("zed"), "\(adopted)")
        try hosts.sync("new", "desk")
        #expect(try hosts.run("new", "read code editor.fontSize").output == "13\n")
        #expect(try hosts.text("new", micro) == "{\"tabsize\": 8}\n")
        #expect(try hosts.run("new", "adopt --all").output == "")
        // What was removed here does not come back.
        try hosts.run("new", "mirror remove code", status: nil)
        try hosts.remove("new", Self.code)
        try hosts.run("new", "adopt --remove code")
        #expect(try hosts.run("new", "adopt --all").output == "")
        #expect(try hosts.text("new", Self.code) == nil)
    }

    /// Another host has the values as a domain of its store, without the catalogue.
    @Test func `of ten programs is created in an empty home, and both homes edit it`() throws {
        let programs = `The catalogue of programs`.programs
        let hosts = try Laptops(programs: programs.map(\.name))
        for row in programs { try hosts.write("desk", row.file, row.text) }
        try hosts.run("desk", "adopt --all")
        try hosts.join("desk", "new")
        try hosts.run("desk", "mirror add \(programs.map(\.name).joined(separator: " "))", status: nil)
        try hosts.sync("desk")
        let adopted = try hosts.run("new", "adopt --all", status: nil)
        for row in programs {
            #expect(adopted.output.contains("\(row.name): created /home/ada/new/\(row.file)\n"), "\(adopted)")
            let parts = row.new.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let key = parts[0].trimmingCharacters(in: ["\""])
            #expect(try hosts.run("new", "read \(row.name) \(key)") == hosts.run("desk", "read \(row.name) \(key)"))
            try hosts.run("new", "write \(row.name) \(key) --json '\(parts[1])'")
        }
        try hosts.sync("new", "desk")
        for row in programs {
            #expect(try hosts.text("desk", row.file) == row.text.replacing(row.old, with: row.new))
        }
        #expect(try hosts.run("desk", "mirror conflicts").output.isEmpty)
    }

    @Test func `is not emptied by a deletion of the domain elsewhere`() throws {
        let hosts = try pair()
        let before = try hosts.text("laptop", Self.code)
        #expect(try hosts.run("new", "mirror join /home/ada/shared --label new").status == 0)
        let refused = try hosts.run("new", "mirror add code", status: 2).errors
        #expect(refused.contains("first run: prefs adopt code"), "\(refused)")
        try hosts.hideCatalogue()
        try hosts.run("new", "mirror add code", status: nil)
        try hosts.showCatalogue()
        try hosts.run("new", "mirror sync", status: nil)
        try hosts.run("new", "delete code")
        try hosts.sync("new", "laptop", "desk", status: nil)
        #expect(try hosts.text("laptop", Self.code) == before)
    }

    @Test func `is mirrored again after it was removed`() throws {
        let hosts = try pair()
        try hosts.run("desk", "mirror remove code", status: nil)
        try hosts.run("desk", "write code editor.fontSize --int 21")
        try hosts.run("desk", "mirror add code", status: nil)
        try hosts.sync("desk", "laptop")
        #expect(try hosts.run("laptop", "read code editor.fontSize").output == "21\n")
    }

    @Test func `keeps keys that are selected later`() throws {
        let hosts = try Laptops()
        let text = "{\"a\": 1, \"b\": 2, \"c\": 3, \"d\": 4}"
        for host in ["a", "b"] {
            try hosts.write(host, "x.json", text)
            try hosts.run(host, "adopt /home/ada/\(host)/x.json")
        }
        try hosts.join("a", "b")
        try hosts.run("a", "mirror add x --key a", status: nil)
        try hosts.sync("a")
        for (number, word) in ["--key b", "--all-keys"].enumerated() {
            try hosts.run("a", "mirror add x \(word)", status: nil)
            try hosts.run("a", "write x a --int \(10 + number)")
            try hosts.sync("a", "b")
            #expect(try hosts.text("a", "x.json") == text.replacing("1,", with: "\(10 + number),"))
        }
        try hosts.run("b", "mirror add x --all-keys", status: nil)
        try hosts.sync("b", "a")
        #expect(try hosts.text("b", "x.json") == text.replacing("1,", with: "11,"))
    }

    @Test func `takes the mirror's values of keys that are selected later, and lists its own`() throws {
        let hosts = try Laptops()
        let keys = (1...9).map { "k\($0)" }
        for host in ["a", "b"] {
            let entries = keys.map { "\"\($0)\": \"\(host)\"" }
            try hosts.write(host, "x.json", "{\(entries.joined(separator: ", "))}")
            try hosts.run(host, "adopt /home/ada/\(host)/x.json")
        }
        try hosts.join("a", "b")
        try hosts.run("a", "mirror add x --all-keys", status: nil)
        try hosts.run("b", "mirror add x --key k1", status: nil)
        try hosts.run("b", "mirror add x --all-keys", status: nil)
        try hosts.run("b", "mirror add x \(keys.map { "--key \($0)" }.joined(separator: " "))", status: nil)
        try hosts.sync("b", "a", status: nil)
        for host in ["a", "b"] {
            let listed = try hosts.run(host, "mirror conflicts", status: nil).output
            for key in keys.dropFirst() {
                #expect(listed.contains("x :\(key) "), "\(listed)")
                #expect(try hosts.run(host, "read x \(key)").output == "a\n")
            }
        }
    }

    @Test func `waits without the schema by which it was selected, and as another file`() throws {
        let hosts = try pair()
        let before = try hosts.text("laptop", Self.code)
        try hosts.hideCatalogue()
        try hosts.run("desk", "write code terminal.integrated.cwd /secret")
        try hosts.sync("desk", "laptop", status: nil)
        let status = try hosts.run("desk", "mirror status", status: 10).output
        #expect(status.contains("its schema, which keeps keys on each host, is missing"), "\(status)")
        #expect(try hosts.text("laptop", Self.code) == before)
        #expect(try hosts.text("desk", Self.code)?.contains("/bin/zsh") == true)
        try hosts.showCatalogue()
        try hosts.sync("desk", "laptop", status: nil)
        try hosts.write("desk", "other.json", "{\"mine\": 1}")
        try hosts.run("desk", "adopt --remove code")
        try hosts.run("desk", "adopt /home/ada/desk/other.json --as code")
        try hosts.sync("desk", "laptop", status: nil)
        #expect(try hosts.run("desk", "mirror status", status: 10).output.contains("was not selected"))
        let refused = try hosts.run("desk", "mirror add code --all-keys", status: 2).errors
        #expect(refused.contains("was another file in this mirror"), "\(refused)")
        try hosts.sync("desk", "laptop", status: nil)
        #expect(try hosts.text("desk", "other.json") == "{\"mine\": 1}")
        #expect(try hosts.text("laptop", Self.code) == before)
    }

    @Test func `publishes no key that a missing schema has kept, even if it is selected`() throws {
        let hosts = try Laptops()
        for host in ["desk", "laptop"] {
            try hosts.write(host, Self.code, "{\"editor.fontSize\": 1}")
            try hosts.run(host, "adopt code")
        }
        try hosts.join("desk", "laptop")
        for host in ["desk", "laptop"] {
            try hosts.run(host, "mirror add code --key terminal.integrated.cwd --key editor.fontSize", status: nil)
            try hosts.run(host, "write code terminal.integrated.cwd /of-\(host)")
        }
        try hosts.sync("desk", "laptop", "desk")
        try hosts.hideCatalogue()
        try hosts.run("desk", "write code editor.fontSize --int 31")
        try hosts.sync("desk", "laptop", "desk", "laptop")
        #expect(try hosts.run("laptop", "read code editor.fontSize").output == "31\n")
        for host in ["desk", "laptop"] {
            #expect(try hosts.run(host, "read code terminal.integrated.cwd").output == "/of-\(host)\n")
        }
    }

    /// Another user with access to the directory writes as a host for which nothing stays local.
    @Test func `takes nothing from others that a program may run`() throws {
        let hosts = try pair()
        try hosts.run("stranger", "mirror join /home/ada/shared --label stranger")
        let values = """
            {"my.run": "/evil", "on-click": "/evil", "LD_PRELOAD": "/evil", "terminal.integrated.profiles.linux": {"evil": {"path": "/evil"}}, "ext.serverPath": "/evil", \
            "ext.tool": {"run": [{"command": "/evil"}]}, "http.proxy": "evil", "editor.fontSize": 66}
            """
        try hosts.write("stranger", "code.json", values)
        try hosts.run("stranger", "import code /home/ada/stranger/code.json")
        try hosts.run("stranger", "mirror add code", status: nil)
        for (key, value) in [("ext.tool", "{\"run\": [{\"command\": \"/evil\"}]}"), ("ext.serverPath", "\"/evil\"")] {
            try hosts.run("stranger", "write code \(key) --json '\(value)'")
        }
        try hosts.run("stranger", "write code editor.fontSize --int 67")
        try hosts.sync("stranger", "desk", "laptop", status: nil)
        for host in ["desk", "laptop"] {
            let text = try #require(try hosts.text(host, Self.code))
            #expect(!text.contains("evil") && text.contains("67"), "\(text)")
        }
        #expect(try hosts.text("desk", Self.code)?.contains("\"ext.serverPath\": \"/bin/x\"") == true)
        let status = try hosts.run("laptop", "mirror status", status: nil)
        #expect(status.status == 0 && status.output.contains("stays here  code :ext.tool: "), "\(status)")
    }

    /// Each row: what a program does with its file, and the status of the mirror.
    @Test(arguments: [
        ("", "file is empty"), ("{", "cannot be read"), ("{}", "than half"),
        ("{\"editor.fontSize\": 1}", "than half"), ("(missing)", "missing"),
    ]) func `that is empty or damaged waits, and deletes nothing`(_ text: String, _ reason: String) throws {
        let hosts = try pair()
        let (desk, laptop) = (try hosts.text("desk", Self.code), try hosts.text("laptop", Self.code))
        if text == "(missing)" { try hosts.remove("desk", Self.code) } else { try hosts.write("desk", Self.code, text) }
        try hosts.run("desk", "mirror sync", status: nil)
        let status = try hosts.run("desk", "mirror status", status: nil)
        #expect(status.status != 0 && status.output.contains("held"), "\(status)")
        try hosts.run("laptop", "write code editor.fontSize --int 50")
        try hosts.sync("laptop", "desk", status: nil)
        #expect(try hosts.text("desk", Self.code) == (text == "(missing)" ? nil : text))
        #expect(try hosts.text("laptop", Self.code) == laptop?.replacing("13", with: "50"))
        try hosts.write("desk", Self.code, try #require(desk))
        try hosts.sync("desk", "laptop")
        #expect(try hosts.text("desk", Self.code) == desk?.replacing("13", with: "50"))
    }

    @Test func `is never emptied by others`() throws {
        let hosts = try Laptops()
        for host in ["desk", "laptop"] {
            try hosts.write(host, ".config/micro/settings.json", "{\"tabsize\": 4}")
            try hosts.run(host, "adopt micro")
        }
        try hosts.join("desk", "laptop")
        for host in ["desk", "laptop"] { try hosts.run(host, "mirror add micro", status: nil) }
        try hosts.sync("desk", "laptop")
        try hosts.run("desk", "delete micro tabsize")
        try hosts.sync("desk", "laptop", status: nil)
        #expect(try hosts.text("laptop", ".config/micro/settings.json") == "{\"tabsize\": 4}")
    }

    @Test func `without a schema has the selected keys, which concern no other host`() throws {
        let hosts = try Laptops()
        for host in ["a", "b", "c"] {
            try hosts.write(host, "x.json", "{\"one\": \"\(host)\", \"two\": \"\(host)\"}")
            try hosts.run(host, "adopt /home/ada/\(host)/x.json")
        }
        try hosts.join("a", "b", "c")
        let refused = try hosts.run("a", "mirror add x", status: 2).errors
        #expect(refused.contains("no schema knows this file") && refused.contains("one, two"), "\(refused)")
        try hosts.run("a", "mirror add x --all-keys", status: nil)
        try hosts.run("b", "mirror add x --key one", status: nil)
        try hosts.run("c", "mirror add x --all-keys", status: nil)
        try hosts.sync("a", "b", "c")
        try hosts.run("a", "write x new v")
        try hosts.run("b", "write x two mine")
        try hosts.sync("a", "b", "c", "a")
        #expect(try hosts.text("b", "x.json")?.contains("new") == false)
        for host in ["a", "c"] {
            #expect(try hosts.run(host, "read x one").output == "a\n")
            #expect(try hosts.run(host, "read x two").output == "a\n")
            #expect(try hosts.run(host, "read x new").output == "v\n")
        }
        #expect(try hosts.run("b", "read x two").output == "mine\n")
        let preview = try hosts.run("b", "mirror add --dry-run x --key two").output
        #expect(
            preview == """
                would be mirrored: x :two
                x :two  would be a conflict
                    here    "mine"
                    mirror  "a"

                """, "\(preview)")
        try hosts.run("b", "mirror add x --key two", status: nil)
        try hosts.sync("b", "a")
        #expect(try hosts.run("b", "read x two").output == "a\n")
        for host in ["a", "b"] {
            let lost = try hosts.run(host, "mirror conflicts", status: nil).output
            #expect(lost.contains("two") && lost.contains("mine"), "\(lost)")
        }
        for (from, to) in [("a", "b"), ("b", "a")] {
            try hosts.run(from, "write x two of-\(from)")
            try hosts.sync(from, to)
            #expect(try hosts.run(to, "read x two").output == "of-\(from)\n")
        }
    }

    @Test func `keeps keys at home that its user removes, until they are added again`() throws {
        let hosts = try pair()
        let (size, theme) = ("editor.fontSize", "workbench.colorTheme")
        #expect(try hosts.run("laptop", "mirror remove --key x other", status: 2).errors.contains("--key is for one"))
        #expect(try hosts.run("laptop", "mirror remove --key x '*'", status: 2).errors.contains("--key is for one"))
        #expect(
            try hosts.run("laptop", "mirror remove --withdraw --key x code", status: 2).errors.contains("exclusive"))
        let said = try hosts.run("laptop", "mirror remove --key \(size) code", status: nil).output
        #expect(said == "stays on this host: code \(size)\n")
        let list = try hosts.run("laptop", "mirror list").output
        #expect(list.hasSuffix("  domain   code\n    stays here  \(size)\n"), "\(list)")
        try hosts.run("laptop", "write code \(size) --int 20")
        try hosts.run("desk", "write code \(size) --int 9")
        try hosts.run("desk", "write code \(theme) Light")
        try hosts.sync("laptop", "desk", "laptop")
        // Adding the file again does not change which of its keys stay.
        try hosts.run("laptop", "mirror add code", status: nil)
        #expect(try hosts.run("laptop", "read code \(size)").output == "20\n")
        #expect(try hosts.run("laptop", "read code \(theme)").output == "Light\n")
        #expect(try hosts.run("desk", "read code \(size)").output == "9\n")
        #expect(try hosts.run("desk", "mirror conflicts").output == "")
        try hosts.run("laptop", "mirror add --key \(size) code", status: nil)
        try hosts.sync("laptop", "desk", status: nil)
        for host in ["laptop", "desk"] {
            #expect(try hosts.run(host, "read code \(size)").output == "9\n")
            let lost = try hosts.run(host, "mirror conflicts", status: nil).output
            #expect(lost.contains(size) && lost.contains("20"), "\(lost)")
        }
        try hosts.run("laptop", "mirror remove code", status: nil)
        #expect(try hosts.run("laptop", "mirror remove --key \(size) code", status: 1).errors.contains("not mirrored"))
    }

    /// The host that leaves a key out is the one that published it.
    @Test func `stays mirrored elsewhere when its publisher keeps a key`() throws {
        let hosts = try pair()
        let size = "editor.fontSize"
        try hosts.run("laptop", "write code \(size) --int 20")
        try hosts.run("desk", "mirror remove --key :\(size) code", status: nil)
        try hosts.sync("laptop", "desk", "laptop")
        #expect(try hosts.run("desk", "read code \(size)").output == "13\n")
        #expect(try hosts.run("laptop", "read code \(size)").output == "20\n")
        #expect(try hosts.run("laptop", "mirror conflicts").output == "")
        try hosts.run("new", "mirror join /home/ada/shared --label new")
        try hosts.run("new", "adopt --all", status: nil)
        try hosts.sync("new")
        #expect(try hosts.run("new", "read code \(size)").output == "20\n")
        try hosts.run("desk", "mirror add --key \(size) code", status: nil)
        try hosts.sync("desk", "laptop", "new", status: nil)
        for host in ["desk", "laptop", "new"] {
            #expect(try hosts.run(host, "read code \(size)").output == "20\n")
            let lost = try hosts.run(host, "mirror conflicts", status: nil).output
            #expect(lost.contains(size) && lost.contains("13"), "\(lost)")
        }
    }

    @Test(arguments: ["mirror remove code", "mirror add --key editor.fontSize code", "mirror add --all-keys code", ""])
    func `keeps keys at home however it is added again`(_ before: String) throws {
        let hosts = try pair()
        if before.contains("add") { try hosts.run("laptop", before, status: nil) }
        try hosts.run("laptop", "mirror remove --key editor.fontSize code", status: nil)
        try hosts.run("laptop", "write code editor.fontSize --int 77")
        if before.contains("remove") { try hosts.run("laptop", before, status: nil) }
        let words = before.contains("--all-keys") ? "--all-keys code" : "code"
        let added = try hosts.run("laptop", "mirror add \(words)", status: nil)
        #expect(added.errors.contains("stay on this host: editor.fontSize"), "\(added)")
        try hosts.sync("laptop", "desk")
        #expect(try hosts.run("desk", "read code editor.fontSize").output == "13\n")
        #expect(try hosts.run("laptop", "read code editor.fontSize").output == "77\n")
    }

    @Test(arguments: ["x", "--all-keys x"]) func `keeps a key at home that was selected by name`(_ words: String) throws
    {
        let hosts = try Laptops()
        for host in ["a", "b"] {
            try hosts.write(host, "x.json", "{\"one\": 1, \"two\": 2}")
            try hosts.run(host, "adopt /home/ada/\(host)/x.json")
        }
        try hosts.join("a", "b")
        try hosts.run("a", "mirror add --key one --key two x", status: nil)
        try hosts.run("b", "mirror add --all-keys x", status: nil)
        try hosts.sync("a", "b")
        try hosts.run("a", "mirror remove --key two x", status: nil)
        #expect(try hosts.run("a", "mirror list").output.hasSuffix("    mirrored  one\n    stays here  two\n"))
        try hosts.run("a", "write x two --int 77")
        try hosts.run("a", "mirror add \(words)", status: nil)
        try hosts.run("a", "mirror add --all-keys x", status: nil)
        try hosts.sync("a", "b")
        #expect(try hosts.run("b", "read x two").output == "2\n")
        #expect(try hosts.run("a", "read x two").output == "77\n")
    }

    /// A schema that keeps a key also withdraws what was published before its user removed the key.
    @Test func `is withdrawn at keys that a schema declares later, selected or not`() throws {
        let hosts = try Laptops()
        try hosts.write("a", "x.json", "{\"one\": \"value-one\", \"two\": \"value-two\", \"three\": 3}")
        try hosts.run("a", "adopt /home/ada/a/x.json")
        try hosts.join("a", "b")
        try hosts.run("a", "mirror add --all-keys x", status: nil)
        try hosts.sync("a", "b")
        try hosts.run("a", "mirror remove --key two x", status: nil)
        try hosts.write(
            "a", "s.plist",
            "{ Domain = x; File = \"/home/ada/a/x.json\"; Settings = ({ Key = one; Mirrored = NO; }, { Key = two; Mirrored = NO; }); }"
        )
        try hosts.run("a", "schema install /home/ada/a/s.plist")
        try hosts.sync("a", "b", "a")
        try hosts.write("b", "x.json", "{}")
        try hosts.run("b", "adopt /home/ada/b/x.json")
        try hosts.run("b", "mirror add --all-keys x", status: nil)
        try hosts.sync("b", "a", "b")
        #expect(try hosts.run("b", "read x three").output == "3\n")
        for key in ["one", "two"] { #expect(try hosts.run("b", "read x \(key)", status: 1).output == "") }
        #expect(try hosts.run("a", "read x two").output == "value-two\n")
    }

    @Test func `is held if a user writes where the file is gone`() throws {
        let hosts = try pair()
        let before = try hosts.text("desk", Self.code)
        for isHeld in [false, true] {
            try hosts.remove("laptop", Self.code)
            if isHeld { try hosts.run("laptop", "mirror sync", status: nil) }
            try hosts.run("laptop", "write code editor.fontSize --int 20")
            try hosts.sync("laptop", "desk", status: nil)
            #expect(try hosts.text("desk", Self.code) == before)
            let status = try hosts.run("laptop", "mirror status", status: nil).output
            #expect(status.contains("held"), "\(status)")
            try hosts.run("laptop", "mirror release --take-mirror code", status: nil)
            try hosts.sync("laptop", "desk", status: nil)
            #expect(try hosts.run("laptop", "read code workbench.colorTheme").output == "Solarized\n")
        }
    }

    @Test func `says what cannot be kept at home`() throws {
        let hosts = try pair()
        let inner = try hosts.run("laptop", "mirror remove --key :files.exclude:build code", status: 2)
        #expect(inner.errors.contains("name the key"), "\(inner)")
        let none = try hosts.run("laptop", "mirror remove --key none code", status: nil)
        #expect(none.errors.contains("code has no key none"), "\(none)")
        try hosts.run("laptop", "mirror remove 'co*'", status: nil)
        #expect(try hosts.run("laptop", "mirror remove --key a code", status: 1).errors.contains("not mirrored"))
    }

    /// Each row: what was done on the new host, and what adopting all known programs does with `code`.
    @Test(
        arguments: [
            ("mirror add '*'", "mirror remove code", 0), ("write code foo 1", "", 2), ("mirror pause", "", 11),
        ] as [(String, String, Int32)])
    func `is not created where its user does not want it`(_ first: String, _ second: String, _ status: Int32) throws {
        let hosts = try pair()
        try hosts.write("desk", ".config/micro/settings.json", "{\"tabsize\": 2}\n")
        try hosts.run("desk", "adopt micro")
        try hosts.run("desk", "mirror add micro", status: nil)
        try hosts.sync("desk")
        try hosts.run("new", "mirror join /home/ada/shared --label new")
        for line in [first, second] where !line.isEmpty { try hosts.run("new", line, status: nil) }
        let adopted = try hosts.run("new", "adopt --all", status: nil)
        #expect(status == 0 ? [0, 10].contains(adopted.status) : adopted.status == status, "\(adopted)")
        #expect(try hosts.text("new", Self.code) == nil)
        #expect(!adopted.output.contains("mirrored: code"), "\(adopted)")
        // The others are created.
        #expect(adopted.output.contains("mirrored: micro") == (status != 11), "\(adopted)")
    }

    @Test func `is created from one of two mirrors, and not where only its secrets are mirrored`() throws {
        let hosts = try pair()
        try hosts.run("other", "mirror init /home/ada/second --label other")
        try hosts.write("other", Self.code, "{\"editor.fontSize\": 31}\n")
        try hosts.run("other", "adopt code")
        try hosts.run("other", "mirror add code", status: nil)
        try hosts.sync("other")
        for mirror in ["shared", "second"] { try hosts.run("new", "mirror join /home/ada/\(mirror) --label new") }
        let adopted = try hosts.run("new", "adopt --all", status: nil)
        #expect(adopted.output.components(separatedBy: "mirrored: code").count == 2, "\(adopted)")
        try hosts.sync("new", "desk", "other", status: nil)
        #expect(try hosts.run("desk", "read code editor.fontSize").output == "13\n")
        #expect(try hosts.run("other", "read code editor.fontSize").output == "31\n")
        let both = try hosts.run("new", "mirror add code --mirror /home/ada/second", status: nil)
        #expect(both.errors.contains("code is also mirrored in"), "\(both)")
    }

    @Test func `is matched by no pattern, and by its name only where it is adopted`() throws {
        let hosts = try pair()
        try hosts.run("new", "mirror join /home/ada/shared --label new")
        try hosts.run("new", "mirror add '*'", status: nil)
        let status = try hosts.run("new", "mirror status", status: nil).output
        #expect(status.contains("left out") && status.contains("not a domain here"), "\(status)")
        try hosts.write("new", Self.code, "{}")
        #expect(try hosts.text("new", ".config/prefs/code.plist") == nil)
        try hosts.run("new", "adopt code")
        try hosts.run("new", "mirror sync")
        #expect(try hosts.run("new", "mirror status").output.contains("prefs mirror add mirrors it by its name"))
        #expect(try hosts.text("new", Self.code) == "{}")
        try hosts.run("desk", "mirror remove code")
        try hosts.run("desk", "write code editor.fontSize --int 99")
        try hosts.sync("desk", "laptop")
        #expect(try hosts.run("laptop", "read code editor.fontSize").output == "13\n")
    }
}

/// A program that changes its file while users on two hosts do, and both exchange.
@Suite struct `A program that rewrites its mirrored file` {
    @Test(arguments: 0..<4) func `deletes nothing, and all hosts agree at rest`(_ round: Int) throws {
        var random = SeededGenerator(stream: "mirrored program", round: round)
        let seed = Seed.ofThisRun
        let hosts = try Laptops(programs: ["code"])
        let file = ".config/Code/User/settings.json"
        var keys = (0..<8).map { "app.k\($0)" }
        let values = Dictionary(uniqueKeysWithValues: keys.map { ($0, 0) })
        try hosts.write("a", file, "// a\n" + Self.text(values))
        try hosts.write("b", file, "// b\n{}\n")
        for host in ["a", "b"] { try hosts.run(host, "adopt code") }
        try hosts.join("a", "b")
        for host in ["a", "b"] { try hosts.run(host, "mirror add code", status: nil) }
        try hosts.sync("a", "b")
        for number in 1...40 {
            let host = ["a", "b"][Int.random(in: 0..<2, using: &random)]
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                var values = try Self.values(hosts.text("a", file))
                values["app.k\(Int.random(in: 0..<8, using: &random))"] = number
                let whole = "// a\n" + Self.text(values)
                if Int.random(in: 0..<2, using: &random) == 0 {
                    let half = ["", "{}", "// a\n{", String(whole.prefix(whole.count / 2))][
                        Int.random(in: 0..<4, using: &random)]
                    try hosts.write("a", file, half)
                    for _ in 0..<Int.random(in: 0..<3, using: &random) {
                        try hosts.run(["a", "b"][Int.random(in: 0..<2, using: &random)], "mirror sync", status: nil)
                    }
                }
                try hosts.write("a", file, whole)
            case 2:
                let key = "user.u\(Int.random(in: 0..<4, using: &random))"
                if !keys.contains(key) { keys.append(key) }
                try hosts.run(host, "write code \(key) --int \(number)")
            default: try hosts.run(host, "mirror sync", status: nil)
            }
            let missing = try Set(keys.filter { $0.hasPrefix("app") }).subtracting(
                Self.values(hosts.text("b", file)).keys)
            #expect(missing.isEmpty, "after step \(number), seed \(seed)")
        }
        try hosts.sync("a", "b", status: nil)
        let (a, b) = (try hosts.text("a", file), try hosts.text("b", file))
        #expect(try Self.values(a) == Self.values(b), "seed \(seed)")
        #expect(try Set(Self.values(a).keys) == Set(keys), "seed \(seed)")
        #expect(a?.hasPrefix("// a\n") == true && b?.hasPrefix("// b\n") == true)
        for host in ["a", "b"] {
            let status = try hosts.run(host, "mirror status", status: nil)
            #expect([0, 9].contains(status.status), "seed \(seed): \(status)")
        }
    }

    private static func text(_ values: [String: Int]) -> String {
        "{\n" + values.sorted { $0.key < $1.key }.map { "  \"\($0.key)\": \($0.value)" }.joined(separator: ",\n")
            + "\n}\n"
    }

    private static func values(_ text: String?) throws -> [String: Int] {
        let lines = try #require(text).split(separator: "\n").filter { !$0.hasPrefix("//") }
        let object = try JSONSerialization.jsonObject(with: Data(lines.joined(separator: "\n").utf8))
        return try #require(object as? [String: Int])
    }
}
