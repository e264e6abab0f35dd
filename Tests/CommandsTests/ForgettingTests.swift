import Commands
import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// `prefs history --forget`.
@Suite struct ForgettingTests {
    static let kinds = ["binary", "xml", "json", "gnustep", "folder"]

    @Test(arguments: kinds)
    func `history --forget removes a value from all versions`(_ kind: String) throws {
        let machine = try SimulatedMachine()
        let files = machine.fileSystem
        for line in [
            "write d theme light", "convert d \(kind)", "write d token hidden1", "write d token hidden2",
            "write d account -dict name ada password hidden3", "-currentHost write d token hidden4",
            "-currentHost delete d token", "delete d token",
        ] {
            #expect(try machine.run("prefs \(line)").status == 0)
        }
        let before = try machine.run("prefs history --format json d").output
        let forgotten = try machine.run("prefs history --forget d token")
        #expect(forgotten.status == 0 && forgotten.output.isEmpty)
        #expect(forgotten.errors.contains("d: removed token from") && forgotten.errors.contains("backups"))
        #expect(try machine.run("prefs history --forget d :account:password").errors.contains("still has a value"))
        #expect(try machine.run("prefs delete d :account:password").status == 0)
        _ = try machine.run("prefs history --forget d :account:password")
        #expect(try !bytesOfHome(files).contains("hidden"))
        let after = try machine.run("prefs history --format json d").output
        #expect(after.components(of: "\"id\"") >= before.components(of: "\"id\""))
        #expect(try machine.run("prefs read d :account:name").output == "ada\n")
        #expect(try machine.run("prefs history --forget d token").status == 1)
        #expect(try machine.run("prefs undo d").status == 0)
        #expect(try machine.run("prefs history --forget d").status == 0)
        #expect(try machine.run("prefs history d").status == 1)
        #expect(try machine.run("prefs read d theme").output == "light\n")
    }

    /// Returns the bytes of all files of the user, as text.
    private func bytesOfHome(_ files: SimulatedFileSystem) throws -> String {
        func text(_ path: FilePath) throws -> String {
            guard try files.status(of: path)?.kind == .folder else {
                return String(decoding: try files.contents(of: path) ?? [], as: UTF8.self)
            }
            return try (files.names(in: path) ?? []).map { try text(path.appending($0)) }.joined(separator: "\n")
        }
        return try text(SimulatedMachine.home)
    }

    @Test func `history --forget removes values under former keys, and names damaged copies`() throws {
        let machine = try SimulatedMachine()
        for line in ["write d pass hidden1", "convert d xml"] {
            #expect(try machine.run("prefs \(line)").status == 0)
        }
        try machine.fileSystem.replace(
            "/home/ada/.config/prefs/d.plist", with: Array("<plist><dict><key>pass</key>".utf8).span.bytes)
        try machine.fileSystem.replace(
            "/tmp/s.plist",
            with: Array("{ Domain = d; Settings = ({ Key = token; Sensitive = YES; RenamedFrom = (pass); }); }".utf8)
                .span.bytes)
        for line in ["write d n 1", "schema install /tmp/s.plist", "write d token new"] {
            #expect(try machine.run("prefs \(line)").status == 0)
        }
        let forgotten = try machine.run("prefs history --forget d token")
        #expect(forgotten.status == 0)
        #expect(try !bytesOfHome(machine.fileSystem).contains("hidden1"))
        let copies = try #require(try machine.fileSystem.names(in: "/home/ada/.config/prefs"))
            .map(\.description).filter { $0.hasPrefix("d.plist.damaged-") }
        #expect(copies.count == 1)
        for copy in copies {
            #expect(forgotten.errors.contains("rm -f /home/ada/.config/prefs/\(copy)\n"), "\(forgotten)")
        }
    }

    private static let forget = "history --forget d token"

    /// The changes, the command that returns to an earlier version, its status, and the values of `token` and `n`.
    @Test(
        arguments: [
            (["write d token a", "write d n 1", forget], "undo d", 0, "a", ""),
            (["write d n 0", "write d token a", "write d token b", "write d n 1", forget], "undo d", 0, "b", "0"),
            (["write d n 0", "write d token a", "write d token b", "write d n 1", forget], "undo d 2", 0, "b", ""),
            (["write d token a", "write d n 1", forget], "undo --transaction d", 0, "a", ""),
            (["write d token a", "write d n 1", forget], "restore d PREVIOUS", 0, "a", ""),
            (["write d token a", forget], "undo d", 1, "a", ""),
            (["write d token a", forget, "write d n 1"], "undo d", 0, "a", ""),
            (["write d token a", forget, "write d token b"], "undo d", 0, "a", ""),
            (["write d token a", "write d n 1", forget, forget, "delete d token"], "undo d", 0, "a", "1"),
            (["write d token a", "delete d token", "write d n 1", forget], "undo d", 0, "", ""),
            (["write d n 0", "write d n 1", "write d token a", "history --forget d"], "undo d", 1, "a", "1"),
        ] as [([String], String, Int32, String, String)], kinds)
    func `a value that was forgotten is left alone by undo and restore`(
        _ row: ([String], String, Int32, String, String), _ kind: String
    ) throws {
        let machine = try SimulatedMachine()
        for line in ["write d x 1", "convert d \(kind)", "delete d x", "history --forget d"] + row.0 {
            let outcome = try machine.run("prefs \(line)")
            #expect(outcome.status == 0 || line == Self.forget, "\(line): \(outcome)")
        }
        let shown = try machine.run("prefs history d")
        #expect(!shown.output.contains("not kept: it is too large"), "\(shown)")
        let versions = shown.output.split(separator: "\n").compactMap { line in
            line.first == " " ? nil : line.split(separator: " ").first.flatMap { Int($0) }
        }
        let previous = versions.dropFirst().first.map(\.description) ?? ""
        let outcome = try machine.run("prefs \(row.1.replacing("PREVIOUS", with: previous))")
        #expect(outcome.status == row.2, "\(outcome)")
        #expect(try machine.run("prefs read d token").output == (row.3.isEmpty ? "" : "\(row.3)\n"), "\(outcome)")
        #expect(try machine.run("prefs read d n").output == (row.4.isEmpty ? "" : "\(row.4)\n"), "\(outcome)")
    }

    @Test func `an interrupted removal leaves each version as it was or without the value`() throws {
        for number in 1... {
            let machine = try SimulatedMachine()
            for line in ["write d token hidden1", "write d token hidden2", "write d k 1", "delete d token"] {
                #expect(try machine.run("prefs \(line)").status == 0)
            }
            let victim = machine.disk.process(user: 1000, FaultPlan(.dieBefore, at: number))
            _ = try runPrefs(["prefs", "history", "--forget", "d", "token"], on: machine, as: victim)
            let listing = try machine.run("prefs history d")
            #expect(listing.status == 0 && !listing.output.contains("damaged"), "\(number): \(listing)")
            #expect(try machine.run("prefs read d k").output == "1\n")
            let again = try machine.run("prefs history --forget d token")
            #expect([0, 1].contains(again.status), "\(number): \(again)")
            #expect(try !bytesOfHome(machine.fileSystem).contains("hidden"), "\(number)")
            #expect(try machine.run("prefs undo d").status == 0)
            guard victim.hits > 0 else { break }
        }
    }

    @Test func `history --forget names what it cannot change`() throws {
        let machine = try SimulatedMachine()
        let root = machine.disk.process()
        for line in ["write d token hidden1", "write d token hidden2", "delete d token", "mirror init /home/ada/m"] {
            #expect(try machine.run("prefs \(line)").status == 0)
        }
        #expect(try machine.run("prefs mirror add '*'").status == 0)
        let folder: FilePath = "/home/ada/.local/state/prefs/history/d"
        let names = try #require(try root.names(in: folder))
        try root.open(folder.appending(names[0]), .reading)?.setOwner(0, group: 0)
        try root.open(folder.appending(names[0]), .reading)?.setPermissions(.privateFile)
        try root.open(folder.appending(names[1]), .writing)?.truncate(to: 9)
        let outcome = try machine.run("prefs history --forget d token")
        #expect(outcome.status == 6, "\(outcome)")
        for text in ["version 1 in layer user is unchanged", "version 2 in layer user was damaged", "/home/ada/m"] {
            #expect(outcome.errors.contains(text), "\(outcome)")
        }
        #expect(try machine.run("prefs history --forget --full d").status == 2)
    }
}

extension String {
    /// The number of times that a word occurs.
    fileprivate func components(of word: String) -> Int { ranges(of: word).count }
}

@Suite struct `A program that is uninstalled` {
    /// Returns the paths of all files in a folder that are not empty.
    private func files(_ folder: FilePath, _ machine: SimulatedMachine) throws -> [String] {
        try (machine.fileSystem.names(in: folder) ?? []).flatMap { name -> [String] in
            let path = folder.appending(name)
            let status = try machine.fileSystem.status(of: path, followingLink: false)
            if status?.kind == .folder { return try files(path, machine) }
            return status?.size == 0 ? [] : [path.description]
        }
    }

    @Test func `leaves nothing but locks if the user follows the help`() throws {
        let machine = try SimulatedMachine()
        let schema = "{ Domain = d; Settings = ({ Key = token; Sensitive = YES; }); }"
        for line in [
            "write other a 1", "write d token x", "write d token y", "write --current-host d a 2",
            "write --host laptop --new-host d a 3", "write --host laptop d a 4", "apply --domains -",
        ] {
            if line.hasPrefix("write d token x") { _ = try machine.run("prefs schema install -", input: schema) }
            let input = line.hasPrefix("apply") ? #"{"d": {"b": 1}, "other": {"a": 2}}"# : ""
            #expect(try machine.run("prefs \(line)", input: input).status == 0, "\(line)")
        }
        let planned = try machine.run("prefs delete-all --dry-run d")
        #expect(planned.status == 8 && planned.output.contains("d token: ••••"), "\(planned)")
        let deleted = try machine.run("prefs delete-all d")
        #expect(
            deleted
                == Transcript.Outcome(
                    errors: "prefs: d: for other hosts there are still values: laptop (--host NAME)\n"))
        #expect(try machine.run("prefs delete-all --host laptop d") == Transcript.Outcome())
        #expect(try machine.run("prefs schema uninstall d").status == 0)
        #expect(try machine.run("prefs history --forget d").status == 0)
        let left = try files("/home/ada", machine).filter {
            !$0.contains("/.locks/") && !$0.contains("/other") && !$0.contains("/.applied")
        }
        #expect(left == [])
    }

    @Test func `keeps what is sensitive as long as it has values`() throws {
        let machine = try SimulatedMachine()
        let schema = "{ Domain = d; Settings = ({ Key = token; Sensitive = YES; }); }"
        #expect(try machine.run("prefs schema install -", input: schema).status == 0)
        for line in ["write d token x", "write d token y", "schema uninstall d", "history --forget d"] {
            #expect(try machine.run("prefs \(line)").status == 0, "\(line)")
        }
        #expect(try machine.run("prefs read d token").status == 3)
    }
}
