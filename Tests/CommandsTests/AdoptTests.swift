import Commands
import Foundation
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// A domain that is the file of another program.
@Suite struct `An adopted file` {
    static let path: FilePath = "/home/ada/app/settings.json"
    static let text = "{\n  // the size\n  \"size\": 12,\n  \"theme\": null\n}\n"

    private func machine(adopting: Bool = true) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders(Self.path.parent)
        try machine.fileSystem.replace(Self.path, with: Array(Self.text.utf8))
        if adopting { #expect(try machine.run("prefs adopt /home/ada/app/settings.json --as code").status == 0) }
        return machine
    }

    /// Forces a value in some domains, as the administrator.
    private static func force(_ domains: [String], on machine: SimulatedMachine) throws {
        let (root, folder) = (machine.disk.process(), "/etc/prefs/forced" as FilePath)
        for folder in [folder.parent, folder] { _ = try root.makeFolder(folder, FilePermissions(rawValue: 0o755)) }
        for domain in domains {
            let name = try #require(FileName(domain + ".plist"))
            let file = try root.open(folder.appending(name), .creatingNew(FilePermissions(rawValue: 0o644)))
            try file?.write(Array("{ size = 99; }".utf8).span.bytes, at: 0)
        }
    }

    private static func defaults(_ domain: DomainName, on machine: SimulatedMachine) -> Defaults {
        let services = SystemServices(
            fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
            environment: machine.environment, terminal: SimulatedTerminal())
        return Defaults(domain, in: Store(.native, on: services))
    }

    private func text(_ machine: SimulatedMachine) throws -> String {
        String(decoding: try #require(try machine.fileSystem.contents(of: Self.path, limit: 1000)), as: UTF8.self)
    }

    @Test func `is reported, listed and printed among the domains`() throws {
        let machine = try machine(adopting: false)
        let report = "code: /home/ada/app/settings.json (json with comments, 2 keys)\n"
        for _ in 1...2 {
            #expect(
                try machine.run("prefs adopt /home/ada/app/settings.json --as code")
                    == Transcript.Outcome(output: report))
        }
        #expect(try machine.run("prefs adopt --list").output == "code\tadopted\t/home/ada/app/settings.json\n")
        let json = try machine.run("prefs adopt --list --format json").output
        #expect(json.contains(#""domain":"code""#) && json.contains(#""file":"/home/ada/app/settings.json""#))
        #expect(try machine.run("prefs domains").output == "code\n")
        #expect(try machine.run("prefs find size").output.contains("code"))
        #expect(try machine.run("prefs doctor").output == "no problems found\n")
    }

    @Test func `gets its name from the file by default`() throws {
        let machine = try machine(adopting: false)
        #expect(try machine.run("prefs adopt /home/ada/app/settings.json").output.hasPrefix("settings: "))
    }

    /// Each row: a command line and its output. The file has the comment and the null after each.
    static let uses: [(line: String, output: String)] = [
        ("prefs read code size", "12\n"), ("prefs write code size --int 15", ""),
        ("prefs write code '$date' x", ""), ("prefs rename code size width", ""), ("prefs delete code size", ""),
        ("prefs export code - --format json-plain", "{\n  \"size\": 12,\n  \"theme\": null\n}\n"),
    ]

    @Test(arguments: uses) func `is read and changed by the name of the domain`(_ line: String, _ output: String) throws
    {
        let machine = try machine()
        let outcome = try machine.run(line)
        #expect(outcome.output == output && outcome.status == 0, "\(outcome)")
        let text = try text(machine)
        #expect(text.contains("\"theme\": null") && text.contains("// the size") != line.contains("delete"), "\(text)")
        #expect(try machine.fileSystem.status(of: "/home/ada/.config/prefs/code.plist") == nil)
    }

    @Test func `does not turn off what the administrator forces`() throws {
        let machine = try machine()
        try Self.force(["code", "other"], on: machine)
        #expect(try machine.run("prefs read code size").output == "99\n")
        #expect(Self.defaults("code", on: machine).integer(forKey: "size") == 99)
        #expect(
            try machine.run("prefs doctor").output.contains("has no effect: the administrator forces values of code"))
        let refused = try machine.run("prefs adopt /home/ada/app/settings.json --as other")
        #expect(refused.status == 2 && refused.errors.contains("the domain other exists"), "\(refused)")
    }

    /// The search for a link must not make a look-up fail.
    @Test func `is not looked for where the user has no folder, and forced values hold`() throws {
        let machine = try SimulatedMachine()
        try machine.fileSystem.replace("/home/ada/.config", with: [])
        try Self.force(["code"], on: machine)
        #expect(Self.defaults("code", on: machine).integer(forKey: "size") == 99)
    }

    @Test func `that is damaged is not removed by a restore`() throws {
        let machine = try machine(adopting: false)
        let path = "/home/ada/app/settings.json"
        try machine.fileSystem.remove(Self.path)
        for line in ["write \(path) a 1", "undo \(path)", "write \(path) a 2", "adopt \(path) --as code"] {
            #expect(try machine.run("prefs " + line).status == 0, "\(line)")
        }
        try machine.fileSystem.replace(Self.path, with: Array("{".utf8))
        for version in 1...3 {
            let outcome = try machine.run("prefs restore code \(version)")
            #expect(try machine.fileSystem.status(of: Self.path) != nil, "\(outcome)")
        }
    }

    @Test func `that a transaction of another domain created is not removed by its undo`() throws {
        let machine = try machine()
        try machine.fileSystem.remove(Self.path)
        let input = #"{"code": {"a": 1}, "d": {"x": 1}}"#
        #expect(try machine.run("prefs apply --domains -", input: input).status == 0)
        #expect(try machine.run("prefs undo d --transaction").status == 2)
        #expect(try text(machine).contains(#""a""#))
    }

    @Test(arguments: [
        ("a link without a target", "leads to /home/ada/app/settings.json, which does not exist"),
        ("a domain of the store beside it", "is not used, because /home/ada/.config/prefs/code.file exists"),
    ]) func `is examined by doctor`(_ what: String, _ finding: String) throws {
        let machine = try machine()
        if what.hasSuffix("target") {
            try machine.fileSystem.remove(Self.path)
        } else {
            try machine.fileSystem.replace("/home/ada/.config/prefs/code.plist", with: Array("{ a = 1; }".utf8))
        }
        #expect(try machine.run("prefs doctor").output.contains(finding))
        #expect(try machine.run("prefs adopt --remove code").status == 0)
        #expect(try machine.run("prefs adopt --list").output == "")
    }

    @Test func `has the same link however its path is spelled`() throws {
        let machine = try machine(adopting: false)
        try machine.fileSystem.makeFolders("/home/ada/x")
        for path in ["/home/ada/x/../app/settings.json", "/home/ada/app/./settings.json"] {
            #expect(try machine.run("prefs adopt \(path) --as code").status == 0)
            #expect(try machine.run("prefs adopt --list").output == "code\tadopted\t/home/ada/app/settings.json\n")
        }
    }

    @Test func `is changed by apply, which leaves it when nothing remains`() throws {
        let machine = try machine()
        let apply = "prefs apply --domains --set s --prune -"
        let outcome = try machine.run(apply, input: #"{"code": {"size": 15}}"#)
        #expect(outcome == Transcript.Outcome(output: "~ code size: 12 → 15\n"))
        #expect(try text(machine) == Self.text.replacing("12", with: "15"))
        #expect(try machine.run("prefs apply --list").output == "s:\ncode size\n")
        #expect(try machine.run("prefs delete code theme").status == 0)
        #expect(try machine.run(apply, input: #"{"code": {}}"#).output == "- code size: 15\n")
        #expect(try text(machine).contains("{"))
        #expect(try machine.fileSystem.status(of: "/home/ada/.config/prefs/code.plist") == nil)
        let folder: FilePath = "/home/ada/clone/site"
        try machine.fileSystem.makeFolders(folder)
        try machine.fileSystem.replace(folder.appending("code.json"), with: Array("{\"a\": 1}".utf8))
        let refused = try machine.run("prefs apply --layers /home/ada/clone")
        #expect(refused.status == 2 && refused.errors.contains("code: a program's file"), "\(refused)")
    }

    @Test(arguments: ["code", "/home/ada/app/settings.json"], ["code", "/home/ada/app/settings.json"])
    func `has one history by its name and by its path`(_ written: String, _ undone: String) throws {
        let machine = try machine()
        #expect(try machine.run("prefs write \(written) size --int 15").status == 0)
        #expect(try text(machine) == Self.text.replacing("12", with: "15"))
        #expect(try machine.run("prefs history").output.contains("code"))
        #expect(try machine.run("prefs undo \(undone)").status == 0)
        #expect(try text(machine) == Self.text)
    }

    /// Each row: a refused command line and a part of the message.
    static let refused: [(line: String, message: String)] = [
        ("delete code", "adopt --remove code"), ("delete-all code", "adopt --remove code"),
        ("convert code xml", "adopt --remove code"), ("convert code json", "adopt --remove code"),
        ("convert code folder", "adopt --remove code"), ("--current-host read code", "a file has no layers"),
        ("read --layer user code", "a file has no layers"), ("--host here read code", "unknown host"),
        ("diff code code@site", "a file has no layers"), ("mirror add code", "no schema knows this file"),
        ("mirror add --dry-run code", "no schema knows this file"),
        ("mirror add --key size --all-keys code", "mutually exclusive"),
        ("mirror add --all-keys code other", "for one domain"), ("adopt", "exactly one of"),
        ("adopt --list --remove code", "exactly one of"), ("adopt --list --as x", "--as is for FILE"),
        ("adopt --remove code --format json", "--format is for --list"),
        ("adopt /home/ada/app/settings.json --as other", "is the domain code"),
        ("adopt /home/ada/other.json --as code", "is another file, /home/ada/app/settings.json"),
        ("adopt /home/ada/other.json --as taken", "the domain taken exists"),
        ("adopt /home/ada/other.json --as a/b", "a/b"),
        ("adopt /home/ada/other.json --as NSGlobalDomain", "cannot be a file"),
        ("adopt /home/ada/other.json --as prefs", "cannot be a file"),
        ("adopt /home/ada/app --as x", "not a regular file"),
        ("adopt /home/ada/.npmrc", "--as DOMAIN is required"), ("adopt /etc/app.json", "belongs to another user"),
        ("adopt /home/ada/.config/prefs/taken.plist --as x", "is in the store"),
    ]

    @Test(arguments: refused) func `is neither removed nor converted, nor mirrored as a whole`(
        _ line: String, _ message: String
    )
        throws
    {
        let machine = try machine()
        try machine.store(["k": "v"], as: "taken")
        try machine.fileSystem.replace("/home/ada/other.json", with: Array("{}".utf8))
        try machine.fileSystem.replace("/home/ada/.npmrc", with: Array("{}".utf8))
        try machine.administrate("/etc/app.json", "{}")
        if line.hasPrefix("mirror") { #expect(try machine.run("prefs mirror init /home/ada/shared").status == 0) }
        let outcome = try machine.run("prefs " + line)
        #expect(outcome.status == 2 && outcome.errors.contains(message), "\(outcome)")
        #expect(try text(machine) == Self.text)
        #expect(try machine.run("prefs adopt --list").output == "code\tadopted\t/home/ada/app/settings.json\n")
    }

    /// Each row: a file that cannot be adopted and the status.
    @Test(arguments: [(nil, 1), ("{", 5), ("[1]", 3)] as [(String?, Int32)])
    func `is a dictionary`(_ text: String?, _ status: Int32) throws {
        let machine = try machine(adopting: false)
        try machine.fileSystem.remove(Self.path)
        if let text { try machine.fileSystem.replace(Self.path, with: Array(text.utf8)) }
        #expect(try machine.run("prefs adopt /home/ada/app/settings.json --as code").status == status)
        #expect(try machine.run("prefs adopt --list").output == "")
    }

    @Test func `is not undone to no file`() throws {
        let machine = try machine(adopting: false)
        try machine.fileSystem.remove(Self.path)
        #expect(try machine.run("prefs write /home/ada/app/settings.json size --int 1").status == 0)
        #expect(try machine.run("prefs adopt /home/ada/app/settings.json --as code").status == 0)
        let outcome = try machine.run("prefs undo code")
        #expect(outcome.status == 2 && outcome.errors.contains("adopt --remove code"), "\(outcome)")
    }

    @Test func `is an error if it is damaged, whatever its history has`() throws {
        let machine = try machine()
        #expect(try machine.run("prefs write code size --int 15").status == 0)
        try machine.fileSystem.replace(Self.path, with: Array("{ \"size\": ".utf8))
        for line in ["read code size", "write code size --int 1"] {
            #expect(try machine.run("prefs " + line).status == 5)
        }
        #expect(try text(machine) == "{ \"size\": ")
        #expect(try machine.run("prefs doctor").output.contains("prefs history code"))
    }

    @Test func `is not followed if another user has made the link`() throws {
        let machine = try machine()
        let root = machine.disk.process()
        try root.remove("/home/ada/.config/prefs/code.file")
        try root.makeSymbolicLink("/home/ada/.config/prefs/code.file", to: Self.path)
        #expect(try machine.run("prefs write code size --int 15").status == 6)
        #expect(try text(machine) == Self.text)
    }

    @Test func `stays when its domain is removed`() throws {
        let machine = try machine()
        #expect(try machine.run("prefs adopt --remove code") == Transcript.Outcome())
        #expect(try text(machine) == Self.text)
        #expect(try machine.run("prefs adopt --list").output == "")
        for line in ["read code", "adopt --remove code"] { #expect(try machine.run("prefs " + line).status == 1) }
    }

    @Test func `is read, changed and observed by a program`() throws {
        let machine = try machine()
        let defaults = Self.defaults("code", on: machine)
        #expect(defaults.integer(forKey: "size") == 12)
        defaults.set(20, forKey: "size")
        #expect(defaults.synchronize())
        #expect(try text(machine) == Self.text.replacing("12", with: "20"))
        #expect(try machine.run("prefs write code size --int 30").status == 0)
        machine.clock.advance(by: .seconds(1))
        #expect(defaults.integer(forKey: "size") == 30)
    }
}
