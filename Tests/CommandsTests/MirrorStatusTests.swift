import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// Two hosts on one machine, desk and laptop, which mirror one domain.
struct MirrorPair: Sendable {
    let machine: SimulatedMachine
    let writers: (desk: FilePath, laptop: FilePath)

    static let files: FilePath = "/home/ada/shared/w"

    init() throws {
        let machine = try SimulatedMachine()
        let fileSystem = machine.fileSystem
        func run(_ words: [String]) throws {
            let outcome = try runPrefs(["prefs"] + words, on: machine)
            try #require(outcome.status == 0, "\(words): \(outcome)")
        }
        try run(["mirror", "init", "/home/ada/shared", "--label", "desk"])
        let desk = try #require(try fileSystem.names(in: Self.files)?.first)
        try run(["--store", "/home/ada/b", "mirror", "join", "/home/ada/shared", "--label", "laptop"])
        let laptop = try #require(try fileSystem.names(in: Self.files)?.first { $0 != desk })
        (self.machine, writers) = (machine, (Self.files.appending(desk), Self.files.appending(laptop)))
        try run(["mirror", "add", "com.example.*"])
        try run(["--store", "/home/ada/b", "mirror", "add", "com.example.*"])
        try run(["write", "com.example.editor", "theme", "dark"])
        try comeToRest()
    }

    /// The file with the desk's settings of the mirror.
    var settings: FilePath {
        get throws {
            var path: FilePath = "/home/ada/.local/state/prefs/mirror"
            for _ in 0..<2 { path = path.appending(try #require(try machine.fileSystem.names(in: path)?.first)) }
            return path.appending("mirror.plist")
        }
    }

    @discardableResult
    func desk(_ words: String...) throws -> Transcript.Outcome { try runPrefs(["prefs"] + words, on: machine) }

    @discardableResult
    func laptop(_ words: String...) throws -> Transcript.Outcome {
        try runPrefs(["prefs", "--store", "/home/ada/b"] + words, on: machine)
    }

    func comeToRest() throws {
        for _ in 0..<2 {
            try desk("mirror", "sync")
            try laptop("mirror", "sync")
        }
        try desk("mirror", "sync")
    }

    /// Lets both hosts write a key while apart. The value of the laptop will be in force, and is published.
    func write(_ key: String, _ lost: String, _ kept: String) throws {
        try desk("write", "com.example.editor", key, "-string", lost)
        machine.clock.advance(by: .seconds(1))
        try laptop("write", "com.example.editor", key, "-string", kept)
        machine.clock.advance(by: .seconds(1))
        try laptop("mirror", "sync")
    }

    /// Lets both hosts write a key while apart, and then exchange.
    func disagree(on key: String, _ lost: String, _ kept: String) throws {
        try write(key, lost, kept)
        try comeToRest()
    }

    /// Writes a domain's file as a program that does not use this library.
    func scribble(_ values: PropertyList.Dictionary, in folder: String) throws {
        try scribble(Array(try PropertyList.dictionary(values).serialized(as: .binary)), in: folder)
    }

    func scribble(_ bytes: [UInt8], in folder: String) throws {
        let path = try #require(FilePath("\(folder)/com.example.editor.plist"))
        try machine.fileSystem.replace(path, with: bytes)
        machine.clock.advance(by: .seconds(10))
    }

    /// Installs a schema for both hosts, without checks.
    func install(_ schema: String) throws {
        let folder: FilePath = "/home/ada/.local/share/prefs/schemas"
        try machine.fileSystem.makeFolders(folder)
        try machine.fileSystem.replace(folder.appending("com.example.editor.plist"), with: Array(schema.utf8))
        machine.clock.advance(by: .seconds(10))
    }

    /// The number of files in the shared directory that contain a text.
    func publishedFiles(containing text: String) throws -> Int {
        let fileSystem = machine.fileSystem
        func count(in folder: FilePath) throws -> Int {
            try (fileSystem.names(in: folder) ?? []).map { name in
                let path = folder.appending(name)
                if try fileSystem.status(of: path)?.kind == .folder { return try count(in: path) }
                let bytes = try fileSystem.contents(of: path, limit: 1 << 20) ?? []
                return String(decoding: bytes, as: UTF8.self).contains(text) ? 1 : 0
            }.reduce(0, +)
        }
        return try count(in: "/home/ada/shared")
    }

    /// Removes the first of two logs that the laptop publishes, and lets the desk look for it.
    func loseLog() throws {
        let logs = writers.laptop.appending("l")
        let former = Set(try machine.fileSystem.names(in: logs) ?? [])
        for key in ["size", "width"] {
            try laptop("write", "com.example.editor", key, "-int", "1")
            try laptop("mirror", "sync", "--push")
        }
        let new = Set(try machine.fileSystem.names(in: logs) ?? []).subtracting(former)
        try #require(new.count == 2)
        let first = try #require(new.min { $0.description < $1.description })
        _ = try machine.fileSystem.remove(logs.appending(first))
        try desk("mirror", "sync")
    }

    /// Cuts the last log of the laptop in half.
    func damageLog() throws {
        let logs = writers.laptop.appending("l")
        let last = try #require(try machine.fileSystem.names(in: logs)?.max { $0.description < $1.description })
        let path = logs.appending(last)
        let bytes = try #require(try machine.fileSystem.contents(of: path, limit: 1 << 20))
        try machine.fileSystem.replace(path, with: Array(bytes.prefix(bytes.count / 2)))
    }
}

@Suite struct `The status of a mirror that is not in sync` {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The output before and after an exchange.
        let lines: [String]
        fileprivate let arrange: @Sendable (MirrorPair) throws -> Void
        fileprivate let fix: @Sendable (MirrorPair) throws -> Void

        fileprivate init(
            _ description: String, _ lines: [String], arrange: @escaping @Sendable (MirrorPair) throws -> Void,
            fix: @escaping @Sendable (MirrorPair) throws -> Void
        ) {
            (testDescription, self.lines, self.arrange, self.fix) = (description, lines, arrange, fix)
        }
    }

    static let rows = [
        Row(
            "a host without its folder", ["its folder is missing; if it will not return, `prefs mirror retire laptop`"]
        ) {
            try $0.machine.fileSystem.removeAll($0.writers.laptop)
        } fix: {
            try $0.desk("mirror", "retire", "laptop")
        },
        Row(
            "files of this host that were lost twice in an hour",
            ["files of this host; `prefs mirror sync` writes them again, once an hour at most"]
        ) {
            try $0.machine.fileSystem.removeAll($0.writers.desk)
            try $0.desk("mirror", "sync")
            try $0.machine.fileSystem.removeAll($0.writers.desk)
        } fix: {
            $0.machine.clock.advance(by: .seconds(3601))
        },
        Row(
            "a damaged file of another host",
            ["to fetch   1 file", "1 damaged, incomplete or too new; `prefs mirror fsck` names each"]
        ) {
            try $0.laptop("write", "com.example.editor", "size", "-int", "1")
            try $0.laptop("mirror", "sync", "--push")
            try $0.damageLog()
            try $0.desk("mirror", "sync")
            $0.machine.clock.advance(by: .seconds(601))
            try $0.desk("mirror", "sync")
        } fix: {
            try $0.laptop("mirror", "sync")
        },
        Row(
            "a file of another host that follows a missing one",
            ["in sync\n", "to fetch   1 file", "1 incomplete, or after missing files; `prefs mirror fsck` names each"]
        ) {
            try $0.loseLog()
        } fix: {
            try $0.laptop("mirror", "sync")
        },
        Row(
            "a missing file of another host, after the time that later files wait for it",
            [
                "; some of its changes are missing: run `prefs mirror sync` there; ",
                "if it is gone, `prefs mirror purge laptop` goes on without them",
            ]
        ) {
            try $0.loseLog()
            $0.machine.clock.advance(by: .seconds(601))
            try $0.desk("mirror", "sync")
        } fix: {
            try $0.laptop("mirror", "sync")
        },
        Row(
            "a key that no file here can hold",
            [
                " from laptop cannot be written into the file here;",
                "change it on laptop, or remove it there: prefs edit com.example.editor",
            ]
        ) {
            try $0.scribble(["theme": "dark", "a\0b": 1], in: "/home/ada/b")
            try $0.laptop("mirror", "sync")
            try $0.desk("mirror", "sync")
        } fix: {
            try $0.scribble(["theme": "dark"], in: "/home/ada/b")
        },
        Row(
            "a fraction of a second for a file with comments",
            [" :when from laptop cannot be written into the file here;", "`prefs convert com.example.editor binary1` "]
        ) {
            let text = "<plist><!-- mine --><dict><key>theme</key><string>dark</string></dict></plist>"
            try $0.scribble([UInt8](text.utf8), in: "/home/ada/.config/prefs")
            try $0.comeToRest()
            let fraction = PropertyList.date(Date(timeIntervalSinceReferenceDate: 0.5))
            try $0.scribble(["theme": "dark", "when": fraction], in: "/home/ada/b")
            try $0.laptop("mirror", "sync")
            try $0.desk("mirror", "sync")
            let file = try $0.machine.fileSystem.contents(of: "/home/ada/.config/prefs/com.example.editor.plist")
            #expect(file.map { String(decoding: $0, as: UTF8.self) } == text)
        } fix: {
            try $0.desk("convert", "com.example.editor", "binary1")
        },
        Row(
            "a folder in which nothing can be written",
            [
                "to write   com.example.editor; `prefs mirror sync` tries again", "cause      cannot ",
                "Permission denied",
            ]
        ) {
            try $0.laptop("write", "com.example.editor", "size", "-int", "1")
            try $0.laptop("mirror", "sync")
            try $0.machine.fileSystem.open("/home/ada/.config/prefs", .reading)?.setPermissions(
                FilePermissions(rawValue: 0o500))
            try $0.desk("mirror", "sync")
        } fix: {
            try $0.machine.fileSystem.open("/home/ada/.config/prefs", .reading)?.setPermissions(
                FilePermissions(rawValue: 0o700))
        },
        Row(
            "a value that the mirror cannot hold",
            [" :long is too long, or an integer beyond 64 bits; change or remove it: `prefs delete "]
        ) {
            let long = PropertyList.string(String(repeating: "x", count: 16 << 20))
            try $0.scribble(["theme": "dark", "long": long], in: "/home/ada/.config/prefs")
            try $0.desk("mirror", "sync")
        } fix: {
            try $0.scribble(["theme": "dark"], in: "/home/ada/.config/prefs")
        },
        Row(
            "an integer that JSON has and the mirror cannot hold",
            [" :big is too long, or an integer beyond 64 bits; change or remove it: `prefs delete "]
        ) {
            let text = #"{"theme": "dark", "big": [123456789012345678901]}"#
            try $0.scribble([UInt8](text.utf8), in: "/home/ada/.config/prefs")
            try $0.desk("mirror", "sync")
        } fix: {
            try $0.scribble(["theme": "dark"], in: "/home/ada/.config/prefs")
        },
    ]

    @Test(arguments: rows)
    func `names the cause and the command as long as it lasts`(_ row: Row) throws {
        let pair = try MirrorPair()
        try #require(try pair.desk("mirror", "status").status == 0)
        try row.arrange(pair)
        for round in 0..<3 {
            let status = try pair.desk("mirror", "status")
            #expect(status.status == 10 && !status.output.contains(": in sync\n"), "\(round): \(status)")
            for line in row.lines { #expect(status.output.contains(line), "\(round): \(status.output)") }
            let sync = try pair.desk("mirror", "sync")
            #expect(sync.status == 10, "\(round): \(sync)")
        }
        try row.fix(pair)
        try pair.comeToRest()
        let status = try pair.desk("mirror", "status")
        #expect(status.status == 0 && status.output.hasPrefix("/home/ada/shared: in sync\n"), "\(status)")
    }

    @Test func `ends when a host is purged whose changes are missing`() throws {
        let pair = try MirrorPair()
        try pair.loseLog()
        pair.machine.clock.advance(by: .seconds(601))
        #expect(try pair.desk("mirror", "sync").status == 10)
        #expect(try pair.desk("mirror", "purge", "laptop").status == 0)
        #expect(try pair.desk("mirror", "status").status == 0)
        #expect(try pair.desk("read", "com.example.editor", "width").output == "1\n")
    }

    @Test func `is reported by a dry run as by an exchange`() throws {
        let pair = try MirrorPair()
        try pair.machine.fileSystem.rename("/home/ada/shared", to: "/home/ada/gone")
        let dry = try pair.desk("mirror", "sync", "--dry-run")
        let sync = try pair.desk("mirror", "sync")
        #expect(dry.status == 13 && dry.output.isEmpty && dry == sync, "\(dry)")
        #expect(dry.errors.contains("; if it was moved, `prefs mirror join` its new path; "), "\(dry)")
        try pair.machine.fileSystem.rename("/home/ada/gone", to: "/home/ada/shared")
        let file: FilePath = "/home/ada/.config/prefs/com.example.editor.plist"
        try pair.machine.fileSystem.replace(file, with: [])
        pair.machine.clock.advance(by: .seconds(10))
        try pair.desk("mirror", "sync")
        let held = try pair.desk("mirror", "sync", "--dry-run")
        #expect(held.status == 11 && held.output.contains("0 files to fetch"), "\(held)")
        #expect(held.errors.contains("a domain is held: `prefs mirror status` shows which"), "\(held)")
        let status = try pair.desk("mirror", "status").output
        #expect(
            status.contains("release com.example.editor --take-file` deletes all values, on all hosts"), "\(status)")
    }

    @Test func `is not that of a mirror whose directory has another one`() throws {
        let pair = try MirrorPair()
        try pair.machine.fileSystem.rename("/home/ada/shared", to: "/home/ada/gone")
        let other = try runPrefs(
            ["prefs", "--store", "/home/ada/c", "mirror", "init", "/home/ada/shared"], on: pair.machine)
        try #require(other.status == 0)
        let status = try pair.desk("mirror", "status")
        #expect(status.status == 11 && !status.output.contains("to fetch"), "\(status)")
        #expect(status.output.contains("directory  contains the mirror "), "\(status)")
    }

    @Test func `names the limit that is exceeded`() throws {
        let pair = try MirrorPair()
        for number in 0..<4096 {
            let writer = try #require(FileName("10000000\(1000 + number)0"))
            try pair.machine.fileSystem.makeFolders(MirrorPair.files.appending(writer))
        }
        #expect(try pair.desk("mirror", "sync").status == 12)
        let status = try pair.desk("mirror", "status")
        #expect(status.status == 12 && !status.output.contains(" bytes"), "\(status)")
        #expect(
            status.output.contains("limit      ") && status.output.contains(" ignored, because there are too many;"))
    }

    @Test func `distinguishes hosts with the same name`() throws {
        let pair = try MirrorPair()
        try pair.laptop("mirror", "join", "/home/ada/shared", "--label", "desk")
        try pair.comeToRest()
        let number = try #require(pair.writers.laptop.lastComponent)
        let status = try pair.desk("mirror", "status").output
        #expect(status.contains("desk       number \(number), changed"), "\(status)")
        try pair.machine.fileSystem.removeAll(pair.writers.laptop)
        let missing = try pair.desk("mirror", "status").output
        #expect(missing.contains("number \(number), its folder is missing; "), "\(missing)")
        #expect(missing.contains("`prefs mirror retire \(number)`"), "\(missing)")
    }

    /// The settings are damaged, or missing while the state of the mirror is there.
    @Test(arguments: ["", "garbage", "<plist><dict/></plist>", nil])
    func `is not that of a store without a mirror if its settings are lost`(_ text: String?) throws {
        let pair = try MirrorPair()
        let path = try pair.settings
        if let text {
            try pair.machine.fileSystem.replace(path, with: Array(text.utf8))
        } else {
            #expect(try pair.machine.fileSystem.remove(path))
        }
        let problem = text == nil ? "missing" : "damaged"
        for words in [["sync"], ["status"], ["list"], ["add", "d"], ["detach"]] {
            let outcome = try runPrefs(["prefs", "mirror"] + words, on: pair.machine)
            #expect(outcome.status == 5 && outcome.errors.contains("\(path): \(problem); `prefs mirror join DIR`"))
        }
        let doctor = try pair.desk("doctor")
        #expect(doctor.status == 8 && doctor.output.hasPrefix("\(path): \(problem), so the store is not mirrored\n"))
        #expect(try pair.desk("mirror", "join", "/home/ada/shared").status == 0)
        #expect(try pair.desk("mirror", "add", "com.example.*").status == 0)
        try pair.comeToRest()
        #expect(try pair.desk("mirror", "status").status == 0)
    }

    @Test func `is preceded by a line for each of the first domains that are added`() throws {
        let pair = try MirrorPair()
        for number in 10..<35 { try pair.desk("write", "org.example.d\(number)", "key", "-int", "1") }
        let added = try pair.desk("mirror", "add", "org.*").output.split(separator: "\n")
        #expect(added.count == 21 && added.first == "mirrored: org.example.d10", "\(added)")
        #expect(added.last == "mirrored: 5 more domains, 25 in all", "\(added)")
        let removed = try pair.desk("mirror", "remove", "org.*").output
        #expect(removed.contains("\nno longer mirrored: 5 more domains, 25 in all\n"), "\(removed)")
    }

    @Test(arguments: [(20, 20, ""), (21, 21, "and 1 more key, 21 in all; "), (30, 21, "and 10 more keys, 30 in all; ")])
    func `is preceded by a line for each of the first keys that changed`(
        _ keys: Int, _ count: Int, _ last: String
    ) throws {
        let pair = try MirrorPair()
        let values = (1...keys).map { "\"k\($0)\": 1" }.joined(separator: ", ")
        try pair.machine.fileSystem.replace("/home/ada/keys.json", with: Array("{\(values)}".utf8))
        try pair.desk("import", "com.example.editor", "/home/ada/keys.json")
        try pair.desk("mirror", "sync")
        let lines = try pair.laptop("mirror", "sync").output.split(separator: "\n")
        #expect(lines.count == count && lines[19].hasSuffix("  set by desk"), "\(lines)")
        let advice = "`prefs --store /home/ada/b mirror log` lists them"
        #expect(last.isEmpty || lines.last.map(String.init) == last + advice, "\(lines)")
    }

    @Test func `names the failure if the directory cannot be read`() throws {
        let pair = try MirrorPair()
        try pair.machine.fileSystem.open("/home/ada/shared", .reading)?.setPermissions([])
        let status = try pair.desk("mirror", "status")
        #expect(status.output.contains("directory  cannot be read: Permission denied; "), "\(status)")
    }

    @Test func `checks the files of each mirror where a directory has two`() throws {
        let pair = try MirrorPair()
        let (files, shared) = (pair.machine.fileSystem, "/home/ada/shared" as FilePath)
        let other = try runPrefs(
            ["prefs", "--store", "/home/ada/c", "mirror", "init", "/home/ada/other"], on: pair.machine)
        try #require(other.status == 0)
        let names = try #require(try files.names(in: "/home/ada/other"))
        let marker = try #require(names.first { $0.description.hasPrefix("mirror-") })
        let bytes = try #require(try files.contents(of: ("/home/ada/other" as FilePath).appending(marker)))
        try files.replace(shared.appending(marker), with: bytes)
        let fsck = try pair.desk("mirror", "fsck")
        #expect(fsck.status == 11 && fsck.output.hasSuffix(": no problems found\n"), "\(fsck)")
        #expect(fsck.errors.contains("contains the mirrors "), "\(fsck)")
    }

    @Test(arguments: ["sync", "status"])
    func `is an error while a record of the store cannot be used`(_ verb: String) throws {
        let pair = try MirrorPair()
        let record: FilePath = "/home/ada/.config/prefs/.transactions/0123456789abcdef"
        try pair.machine.fileSystem.makeFolders(record.parent)
        try pair.machine.fileSystem.replace(record, with: Array("junk".utf8).span.bytes)
        let outcome = try pair.desk("mirror", verb)
        #expect(outcome.status == 6 && outcome.errors.contains(record.description), "\(outcome)")
        #expect(try pair.machine.fileSystem.remove(record))
        #expect(try pair.desk("mirror", verb).status == 0)
    }

    @Test func `is not that of a store without a mirror if its settings cannot be read`() throws {
        let pair = try MirrorPair()
        let path = try pair.settings
        for closed in [path, path.parent.parent] {
            let file = try #require(try pair.machine.fileSystem.open(closed, .reading))
            let permissions = try file.status().permissions
            try file.setPermissions([])
            let outcome = try pair.desk("mirror", "sync")
            #expect(outcome.status == 6 && outcome.errors.contains("\(closed): Permission denied"), "\(outcome)")
            let doctor = try pair.desk("doctor")
            #expect(doctor.status == 8 && doctor.output.contains("\n    chmod u+rw"), "\(doctor)")
            try file.setPermissions(permissions)
        }
    }

    @Test func `can be asked for after another user has taken a file of its state, as the doctor reports`() throws {
        let pair = try MirrorPair()
        let lock = try pair.settings.parent.appending("lock")
        try pair.machine.disk.process().open(lock, .reading)?.setOwner(7, group: 7)
        let doctor = try pair.desk("doctor")
        #expect(
            doctor
                == Transcript.Outcome(
                    output: "\(lock): belongs to another user (7)\n    sudo chown 1000 \(lock)\n", status: 8))
    }

    @Test func `has one conflict for each lost value, and restores the one that is named`() throws {
        let pair = try MirrorPair()
        for (lost, kept) in [("1", "2"), ("3", "4")] {
            try pair.desk("write", "com.example.editor", "theme", lost)
            pair.machine.clock.advance(by: .seconds(1))
            try pair.laptop("write", "com.example.editor", "theme", kept)
            pair.machine.clock.advance(by: .seconds(1))
            try pair.laptop("mirror", "sync")
            let sync = try pair.desk("mirror", "sync")
            #expect(sync.status == 0 && sync.output.split(separator: "\n").count == 2, "\(sync)")
        }
        let lines = try pair.desk("mirror", "conflicts", "--format", "json").output.split(separator: "\n")
        let conflicts = try lines.map { line in
            try #require(try PropertyList(parsing: Array(line.utf8), as: .json).dictionaryValue)
        }
        #expect(Set(conflicts.compactMap { $0["lost"]?["value"]?.stringValue }) == ["1", "3"])
        for conflict in conflicts {
            #expect(conflict["state"] == "open" && conflict["reason"] == "overwritten" && conflict["entry"] == ":theme")
            #expect(conflict["lost"]?["hosts"] == ["desk"] && conflict["inForce"]?["host"] == "laptop")
            #expect(conflict["inForce"]?["value"] == "4" && conflict["id"]?.stringValue?.count == 52)
        }
        let first = try #require(conflicts.first { $0["lost"]?["value"] == "1" }?["id"]?.stringValue)
        #expect(try pair.desk("mirror", "conflicts", "restore", String(first.prefix(8))).status == 0)
        #expect(try pair.desk("read", "com.example.editor", "theme").output == "1\n")
        #expect(try pair.desk("mirror", "conflicts").output.contains("lost      desk"), "the other one is open")
        try pair.desk("mirror", "conflicts", "accept", "--all")
        try pair.comeToRest()
        #expect(try pair.desk("mirror", "conflicts").status == 0 && pair.laptop("mirror", "conflicts").status == 0)
    }

    @Test func `does not restore over a value that the file does not show yet`() throws {
        let pair = try MirrorPair()
        try pair.desk("write", "com.example.editor", "theme", "lost")
        pair.machine.clock.advance(by: .seconds(1))
        try pair.laptop("write", "com.example.editor", "theme", "kept")
        try pair.comeToRest()
        let name = String(try pair.desk("mirror", "conflicts").output.prefix(6))
        try pair.laptop("write", "com.example.editor", "theme", "unseen")
        try pair.laptop("mirror", "sync")
        // The store joins the value and cannot write it.
        let folder = try #require(try pair.machine.fileSystem.open("/home/ada/.config/prefs", .reading))
        let permissions = try folder.status().permissions
        try folder.setPermissions(FilePermissions(rawValue: 0o500))
        try pair.desk("mirror", "sync")
        try folder.setPermissions(permissions)
        pair.machine.clock.advance(by: .seconds(1))
        let refusal = try pair.desk("mirror", "conflicts", "restore", name)
        #expect(refusal.status == 9 && refusal.errors.contains(#"does not show yet: "unseen"; nothing was changed"#))
        #expect(try pair.desk("read", "com.example.editor", "theme").output == "kept\n")
        try pair.desk("mirror", "conflicts", "restore", name, "--force")
        try pair.comeToRest()
        #expect(try pair.laptop("read", "com.example.editor", "theme").output == "lost\n")
    }

    @Test func `keeps a secret that was mirrored before its schema was installed`() throws {
        let pair = try MirrorPair()
        try pair.desk("write", "com.example.editor", "theme", "first-secret")
        pair.machine.clock.advance(by: .seconds(1))
        try pair.laptop("write", "com.example.editor", "theme", "second-secret")
        pair.machine.clock.advance(by: .seconds(1))
        try pair.comeToRest()
        #expect(try pair.publishedFiles(containing: "second-secret") == 1)
        try pair.install("{ Domain = com.example.editor; Settings = ({ Key = theme; Sensitive = YES; }); }")
        let status = try pair.laptop("mirror", "status")
        #expect(status.status == 10 && status.output.contains("to send    1 change"), "\(status)")
        let sync = try pair.laptop("mirror", "sync")
        #expect(sync == Transcript.Outcome(), "only its own file was replaced: \(sync)")
        try pair.comeToRest()
        #expect(try pair.desk("mirror", "compact").output.contains("only current values"))
        #expect(try pair.publishedFiles(containing: "secret") == 0)
        for words in [["--all"], ["--all", "--format", "json"]] {
            let shown = try runPrefs(["prefs", "mirror", "conflicts"] + words, on: pair.machine)
            #expect(shown.output.contains("••••") && !shown.output.contains("secret"), "\(shown)")
        }
        let name = String(try pair.desk("mirror", "conflicts", "--all").output.prefix(6))
        try #require(try pair.desk("mirror", "conflicts", "restore", name).status == 0)
        try pair.comeToRest()
        let file: FilePath = "/home/ada/.config/prefs/com.example.editor.plist"
        let bytes = try #require(try pair.machine.fileSystem.contents(of: file, limit: 4096))
        #expect(try PropertyList(parsing: bytes)["theme"] == "first-secret")
        #expect(try pair.publishedFiles(containing: "secret") == 0)
        #expect(try pair.desk("mirror", "status").status == 0)
    }

    @Test func `mirrors a key when its schema no longer keeps it, but not because the schema is missing`() throws {
        let pair = try MirrorPair()
        try pair.install("{ Domain = com.example.editor; Settings = ({ Key = theme; Mirrored = NO; }); }")
        try pair.desk("write", "com.example.editor", "theme", "of-desk")
        try pair.laptop("write", "com.example.editor", "theme", "of-laptop")
        try pair.comeToRest()
        _ = try pair.machine.fileSystem.remove("/home/ada/.local/share/prefs/schemas/com.example.editor.plist")
        pair.machine.clock.advance(by: .seconds(10))
        try pair.comeToRest()
        try pair.desk("write", "com.example.editor", "size", "-int", "5")
        try pair.comeToRest()
        #expect(try pair.laptop("read", "com.example.editor", "size").output == "5\n")
        #expect(try pair.desk("read", "com.example.editor", "theme").output == "of-desk\n")
        #expect(try pair.laptop("read", "com.example.editor", "theme").output == "of-laptop\n")
        #expect(try pair.publishedFiles(containing: "of-") == 0)
        try pair.install("{ Domain = com.example.editor; Settings = ({ Key = theme; }); }")
        #expect(try pair.desk("mirror", "status").output.contains("to send    1 change"))
        try pair.comeToRest()
        let theme = try pair.desk("read", "com.example.editor", "theme").output
        #expect(try pair.laptop("read", "com.example.editor", "theme").output == theme)
        for host in [pair.desk, pair.laptop] {
            let listed = try host("mirror", "conflicts").output
            #expect(listed.contains(theme == "of-desk\n" ? "of-laptop" : "of-desk"), "\(listed)")
        }
    }

    /// A forged version, or that of a newer program, concerns only the exchange of its domain.
    @Test(arguments: [["release", "--take-file"], ["a newer schema"]])
    func `holds a domain whose settings are of a later version`(_ remedy: [String]) throws {
        let pair = try MirrorPair()
        let settings = "Settings = ({ Key = theme; Type = string; }, { Key = size; Type = integer; });"
        try pair.install("{ Domain = com.example.editor; Version = 2; \(settings) }")
        try pair.desk("schema", "migrate", "com.example.editor")
        try pair.comeToRest()
        try pair.scribble(["theme": "forged", "size": 3, "$schemaVersion": 99], in: "/home/ada/b")
        try pair.laptop("mirror", "sync")
        #expect(try pair.desk("mirror", "sync").status == 11)
        // The desk's own file is as before, and can be changed.
        #expect(try pair.desk("read", "com.example.editor", "theme").output == "dark\n")
        #expect(try pair.desk("write", "com.example.editor", "theme", "light") == Transcript.Outcome())
        #expect(try pair.desk("mirror", "sync").status == 11)
        let status = try pair.desk("mirror", "status").output
        #expect(
            status.contains("held       com.example.editor: the mirror has settings of a later version"), "\(status)")
        #expect(status.contains("prefs mirror release com.example.editor --take-file"), "\(status)")
        #expect(try pair.desk("doctor").output.contains("com.example.editor: held by the mirror"))
        #expect(try pair.desk("mirror", "release", "com.example.editor", "--take-mirror").status == 3)
        // Other domains are still exchanged.
        try pair.desk("write", "com.example.other", "key", "value")
        try pair.comeToRest()
        #expect(try pair.laptop("read", "com.example.other", "key").output == "value\n")
        #expect(try pair.desk("read", "com.example.editor", "theme").output == "light\n")
        if remedy[0] == "release" {
            try pair.desk("mirror", "release", "com.example.editor", "--take-file")
        } else {
            try pair.install("{ Domain = com.example.editor; Version = 99; \(settings) }")
        }
        try pair.comeToRest()
        #expect(try !pair.desk("mirror", "status").output.contains("held"))
        let files = try ["/home/ada/.config/prefs", "/home/ada/b"].map { folder in
            let path = try #require(FilePath("\(folder)/com.example.editor.plist"))
            return try PropertyList(parsing: #require(try pair.machine.fileSystem.contents(of: path)))
        }
        #expect(files[0] == files[1])
        #expect(files[0]["theme"] == "light", "the desk wrote last")
        #expect(files[0]["$schemaVersion"] == (remedy[0] == "release" ? 2 : 99))
    }

    /// The version of the settings does not apply to values that another host has not migrated.
    @Test func `migrates the settings of an earlier version when a later one arrives`() throws {
        let pair = try MirrorPair()
        let migrations = "Migrations = ({ From = 1; Rename = { theme = look; old = new; }; });"
        let settings = "Settings = ({ Key = look; Type = string; }, { Key = new; Type = string; });"
        try pair.comeToRest()
        try pair.install("{ Domain = com.example.editor; Version = 2; \(settings) \(migrations) }")
        try pair.scribble(["theme": "dark", "old": "kept"], in: "/home/ada/.config/prefs")
        try pair.scribble(["look": "dark", "$schemaVersion": 2], in: "/home/ada/b")
        try pair.comeToRest()
        let files = try ["/home/ada/.config/prefs", "/home/ada/b"].map { folder in
            let path = try #require(FilePath("\(folder)/com.example.editor.plist"))
            return try PropertyList(parsing: #require(try pair.machine.fileSystem.contents(of: path)))
        }
        #expect(files[0] == ["look": "dark", "new": "kept", "$schemaVersion": 2])
        #expect(files[1] == files[0])
    }

    @Test func `leaves out a domain whose schema cannot be read`() throws {
        let pair = try MirrorPair()
        try pair.install("{ Domain = com.example.editor; Settings = (")
        try pair.desk("write", "com.example.editor", "theme", "secret")
        for words in [["mirror", "sync"], ["mirror", "status"]] {
            let outcome = try runPrefs(["prefs"] + words, on: pair.machine)
            #expect(outcome.status == 10, "\(outcome)")
        }
        let status = try pair.desk("mirror", "status").output
        #expect(status.contains("left out   com.example.editor: its schema cannot be read"), "\(status)")
        #expect(try pair.publishedFiles(containing: "secret") == 0)
        try pair.install("{ Domain = com.example.editor; Settings = ({ Key = theme; Type = string; }); }")
        try pair.comeToRest()
        #expect(try pair.desk("mirror", "status").status == 0)
        #expect(try pair.laptop("read", "com.example.editor", "theme").output == "secret\n")
    }
}
