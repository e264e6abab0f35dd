import Commands
import Foundation
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct DoctorTests {
    /// One thing that is wrong, what the doctor says of it, and whether what it prints mends it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// What a finding's first line begins with, behind which stands its place.
        let said: [String]
        /// The lines below, without the places in them.
        let mended: [String]
        let provoke: @Sendable (Clinic) throws -> Void

        var testDescription: String { name }
    }

    static let folder = Clinic.folder.description

    static let cases: [Case] = permissions + damage + layers + writers

    static let permissions = [
        Case(
            name: "a file that others read", said: ["\(folder)/d.plist: others can read it"],
            mended: ["chmod go-rwx \(folder)/d.plist"]
        ) { try $0.setPermissions(0o644, "d.plist") },
        Case(
            name: "a file that others write", said: ["\(folder)/d.plist: others can write it"],
            mended: ["chmod go-rwx \(folder)/d.plist"]
        ) { try $0.setPermissions(0o602, "d.plist") },
        Case(
            name: "a folder that its owner cannot use",
            said: ["\(folder): you cannot use it", "\(folder): cannot be written in: Permission denied"],
            mended: ["chmod u+rwx \(folder)", "chmod u+rwx \(folder)"]
        ) { try $0.setPermissions(0o000, "") },
        Case(
            name: "a folder that the group reads", said: ["\(folder): others can read it"],
            mended: ["chmod go-rwx \(folder)"]
        ) { try $0.setPermissions(0o750, "") },
        Case(
            name: "a version that others read",
            said: [
                "/home/ada/.local/state/prefs/history/d/0000000001-1767225600000-1-write-VERSION-58-program.plist: others can read it"
            ],
            mended: [
                "chmod go-rwx /home/ada/.local/state/prefs/history/d/0000000001-1767225600000-1-write-VERSION-58-program.plist"
            ]
        ) { clinic in
            let version = try #require(try clinic.files.names(in: Clinic.history)?.first)
            try clinic.root.open(Clinic.history.appending(version), .reading)?
                .setPermissions(FilePermissions(rawValue: 0o640))
        },
        Case(
            name: "somebody else's file", said: ["\(folder)/d.plist: belongs to another user (7)"],
            mended: ["sudo chown 1000 \(folder)/d.plist"]
        ) { try $0.root.open(Clinic.folder.resolving("d.plist"), .reading)?.setOwner(7, group: 7) },
        Case(
            name: "a file that cannot be read",
            said: ["\(folder)/d.plist: you cannot read and write it"], mended: ["chmod u+rw \(folder)/d.plist"]
        ) { try $0.setPermissions(0o000, "d.plist") },
        Case(
            name: "a folder that cannot be written in",
            said: [
                "\(folder)/ByHost: you cannot use it", "\(folder)/ByHost: cannot be written in: Permission denied",
            ],
            mended: ["chmod u+rwx \(folder)/ByHost", "chmod u+rwx \(folder)/ByHost"]
        ) { clinic in
            try clinic.run("prefs -currentHost write h k 1")
            try clinic.setPermissions(0o500, "ByHost")
        },
        Case(
            name: "a home that belongs to somebody else",
            said: ["/home/ada/.local/state: cannot be written in: Permission denied"],
            mended: ["sudo chown 1000 /home/ada/.local/state"]
        ) { clinic in
            for path: FilePath in ["/home/ada/.local/state/prefs/history", "/home/ada/.local/state/prefs"] {
                for name in try clinic.root.names(in: path.appending("d")) ?? [] {
                    try clinic.root.remove(path.appending("d").appending(name))
                }
                try clinic.root.remove(path.appending("d"))
                try clinic.root.remove(path)
            }
            try clinic.root.open("/home/ada/.local/state", .reading)?.setOwner(0, group: 0)
        },
    ]

    static let damage = [
        Case(
            name: "a damaged file with versions",
            said: [
                "\(folder)/d.plist:1:1: nothing there: damaged; the version of 2026-01-01T00:00:00Z stands in",
                "\(folder)/d.plist.damaged-1767225600000: damaged, and set aside; once nothing in it is missed, remove it",
            ],
            mended: ["prefs restore d 1", "rm -f \(folder)/d.plist.damaged-1767225600000"]
        ) { try $0.write(" ", to: "d.plist") },
        Case(
            name: "a damaged file without versions",
            said: [
                "\(folder)/new.plist:1:10: ends inside a dictionary: damaged, and no version of it is kept; removing keeps the file beside",
                "\(folder)/new.plist.damaged-1767225600000: damaged, and set aside; once nothing in it is missed, remove it",
            ],
            mended: ["prefs delete new", "rm -f \(folder)/new.plist.damaged-1767225600000"]
        ) { try $0.write("{ a = 1; ", to: "new.plist") },
        Case(
            name: "a damaged version",
            said: [
                "/home/ada/.local/state/prefs/history/d/0000000002-1767225600000-1-write-VERSION-9-program.plist: version 2 of d is damaged"
            ],
            mended: [
                "rm -f /home/ada/.local/state/prefs/history/d/0000000002-1767225600000-1-write-VERSION-9-program.plist"
            ]
        ) { clinic in
            let name = "0000000002-1767225600000-1-write-0000000000000000-9-program.plist"
            let path = Clinic.history.resolving(try #require(FilePath(name)))
            try clinic.files.replace(path, with: Array("{ a = 1; ".utf8).span.bytes)
        },
    ]

    static let layers = [
        Case(
            name: "a key that this host hides",
            said: ["d theme: does not count in layer user: user-host has it, in \(folder)/ByHost/d.HOST.plist"],
            mended: ["prefs delete d theme"]
        ) { try $0.run("prefs -currentHost write d theme x") },
        Case(
            name: "keys that the administrator hides",
            said: [
                "d theme: does not count in layer user-host: forced has it, in /etc/prefs/forced/d.plist",
                "d theme: does not count in layer user: forced has it, in /etc/prefs/forced/d.plist",
            ],
            mended: ["prefs -currentHost delete --force d theme", "prefs delete --force d theme"]
        ) { clinic in
            try clinic.run("prefs -currentHost write d theme x")
            try clinic.machine.force("d", ["theme": "forced"])
        },
        Case(
            name: "a hidden key that begins with a colon, in a domain that begins with a dash",
            said: [
                "-d \\:it's: does not count in layer user: user-host has it, in \(folder)/ByHost/-d.HOST.plist"
            ],
            mended: ["prefs delete -- -d '\\:it'\\''s'"]
        ) { clinic in
            try clinic.run("prefs write -- -d '\\:it'\\''s' 1")
            try clinic.run("prefs -currentHost write -- -d '\\:it'\\''s' 1")
        },
        Case(
            name: "a forced file that others write",
            said: ["/etc/prefs/forced/f.plist: does not count: others than its owner can write it"],
            mended: ["sudo chmod go-w /etc/prefs/forced/f.plist"]
        ) { clinic in
            try clinic.machine.force("f", ["k": "forced"])
            try clinic.root.open("/etc/prefs/forced/f.plist", .reading)?
                .setPermissions(FilePermissions(rawValue: 0o666))
        },
        Case(
            name: "a forced file that the user cannot read", said: ["/etc/prefs/forced/f.plist: you cannot read it"],
            mended: ["sudo chmod a+r /etc/prefs/forced/f.plist"]
        ) { clinic in
            try clinic.machine.force("f", ["k": "forced"])
            try clinic.root.open("/etc/prefs/forced/f.plist", .reading)?.setPermissions(.privateFile)
        },
        Case(
            name: "a forced folder that the user cannot look into",
            said: ["/etc/prefs/forced: you cannot look into it"], mended: ["sudo chmod a+rx /etc/prefs/forced"]
        ) { clinic in
            try clinic.machine.force("f", ["k": "forced"])
            try clinic.root.open("/etc/prefs/forced", .reading)?.setPermissions(.privateFolder)
        },
        Case(
            name: "a forced folder that is the user's",
            said: ["/etc/prefs/forced: nothing in it counts: it does not belong to root"],
            mended: ["sudo chown root /etc/prefs/forced"]
        ) { clinic in
            try clinic.machine.force("f", ["k": "forced"])
            try clinic.root.open("/etc/prefs/forced", .reading)?.setOwner(1000, group: 1000)
        },
    ]

    static let writers = [
        Case(
            name: "what a writer left behind",
            said: ["\(folder)/.prefs-0123456789abcdef: left behind by a writer that died"],
            mended: ["rm -f \(folder)/.prefs-0123456789abcdef"]
        ) { clinic in
            try clinic.write("x", to: ".prefs-0123456789abcdef")
            clinic.machine.clock.advance(by: .seconds(3601))
        },
        Case(
            name: "a note that nobody can read",
            said: ["\(folder)/.transactions/x: the note of a transaction, but nobody can read it"],
            mended: ["rm -f \(folder)/.transactions/x"]
        ) { clinic in
            _ = try clinic.files.makeFolder(Clinic.folder.resolving(".transactions"), .privateFolder)
            try clinic.write("x", to: ".transactions/x")
        },
        Case(
            name: "a relative path in a variable",
            said: ["XDG_STATE_HOME: a relative path, which does not count: state"], mended: ["unset XDG_STATE_HOME"]
        ) { $0.variables["XDG_STATE_HOME"] = "state" },
        Case(
            name: "relative paths in a list",
            said: ["XDG_CONFIG_DIRS: has relative paths, which do not count: a:./b"],
            mended: ["export 'XDG_CONFIG_DIRS=/etc/xdg:/c'"]
        ) { $0.variables["XDG_CONFIG_DIRS"] = "a:/etc/xdg:./b:/c" },
    ]

    @Test(arguments: cases)
    func `a finding says what is wrong and what mends it`(_ row: Case) throws {
        let clinic = try Clinic()
        try clinic.run("prefs write d theme light")
        #expect(try clinic.doctor() == Transcript.Outcome(output: "nothing to mend\n"))
        try row.provoke(clinic)
        var (said, mended): ([String], [String]) = ([], [])
        // What mends one thing may leave another behind: a damaged file is set aside.
        for _ in 0..<3 {
            let outcome = try clinic.doctor()
            guard outcome.status != 0 else { break }
            #expect(outcome.status == 8 && outcome.errors.isEmpty, "\(outcome)")
            let lines = outcome.output.split(separator: "\n").map(String.init)
            let commands = lines.filter { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
            said += lines.filter { !$0.hasPrefix("    ") }.map(clinic.withoutNumbers)
            mended += commands.map(clinic.withoutNumbers)
            for command in commands { try clinic.run(command) }
        }
        #expect(said == row.said)
        #expect(mended == row.mended)
        #expect(try clinic.doctor() == Transcript.Outcome(output: "nothing to mend\n"))
    }

    @Test func `what is not old, or needed, is not stale`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs write d k 1")
        try clinic.write("x", to: ".prefs-0123456789abcdef")
        clinic.machine.clock.advance(by: .seconds(3599))
        #expect(try clinic.doctor().status == 0)
    }

    @Test func `a change to several domains that cannot be carried out is told of until it can`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs write d k 1")
        try clinic.run("prefs -currentHost write d k 1")
        // The writer dies once the change is decided, and the folder of one file is closed meanwhile.
        let plan = FaultPlan([Fault(.dieBefore, .once(2), of: .rename)])
        _ = try runPrefs(
            ["prefs", "delete-all", "d", "k"], on: clinic.machine, as: clinic.machine.disk.process(user: 1000, plan))
        try clinic.setPermissions(0o500, "ByHost")
        let outcome = try clinic.doctor()
        #expect(outcome.output.contains("a change to d, d is decided and could not be carried out"), "\(outcome)")
        #expect(outcome.output.contains("\n    prefs read d\n"))
        // The age of its files alone does not make them stale.
        clinic.machine.clock.advance(by: .seconds(7200))
        #expect(try !clinic.doctor().output.contains("left behind"))
        for line in outcome.output.split(separator: "\n") where line.hasPrefix("    ") {
            try clinic.run(String(line.dropFirst(4)))
        }
        #expect(try clinic.doctor() == Transcript.Outcome(output: "nothing to mend\n"))
    }

    @Test(arguments: [
        (WatchMeans.Reason.noWatches(.noSpace), "    sudo sysctl 'fs.inotify.max_user_watches=524288'\n"),
        (.noWatches(.tooManyOpenFiles), "    sudo sysctl 'fs.inotify.max_user_instances=1024'\n"),
        (.remoteFileSystem, "    # keep the settings on a disk of this machine, by XDG_CONFIG_HOME\n"),
    ])
    func `a store that is looked at again and again is told of`(_ reason: WatchMeans.Reason, _ remedy: String) throws {
        let clinic = try Clinic()
        let watcher = PollingWatcher(clinic.files, clinic.machine.clock, reason: reason)
        let outcome = try clinic.doctor(watcher: watcher)
        #expect(outcome.status == 8)
        #expect(outcome.output.hasPrefix("\(Self.folder): ") && outcome.output.hasSuffix(remedy), "\(outcome)")
    }

    @Test(arguments: [["--store", "foundation"], ["--store", "gnustep"], ["--store", "/tmp/own"]])
    func `any store can be looked at`(_ store: [String]) throws {
        let clinic = try Clinic()
        let healthy = try runPrefs(["prefs"] + store + ["doctor"], on: clinic.machine)
        #expect(healthy == Transcript.Outcome(output: "nothing to mend\n"))
        guard store.last != "gnustep" else { return }
        #expect(try runPrefs(["prefs"] + store + ["write", "d", "k", "1"], on: clinic.machine).status == 0)
        let path = try #require(FilePath(store.last == "foundation" ? "/home/ada/.config/d.plist" : "/tmp/own/d.plist"))
        try clinic.files.replace(path, with: [1, 2].span.bytes)
        let outcome = try runPrefs(["prefs"] + store + ["doctor"], on: clinic.machine)
        #expect(outcome.status == 8)
        #expect(outcome.output.contains("\n    prefs \(store.joined(separator: " ")) restore d 1\n"), "\(outcome)")
        try clinic.run("prefs \(store.joined(separator: " ")) restore d 1")
    }

    @Test func `a file that others read may have versions that they could`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs write /home/ada/open.plist k 1")
        try clinic.root.open("/home/ada/open.plist", .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        try clinic.run("prefs write /home/ada/open.plist k 2")
        #expect(try clinic.doctor() == Transcript.Outcome(output: "nothing to mend\n"))
    }

    @Test func `a full disk is told of, and one that can only be read`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs write d k 1")
        let capacity = clinic.machine.disk.capacity
        clinic.machine.disk.capacity = clinic.machine.disk.used + 100
        let full = try clinic.doctor()
        #expect(full.status == 8)
        #expect(
            full.output.contains(
                "\(Self.folder): cannot be written in: No space left on device\n    # make room on its file system: df -h \(Self.folder)\n"
            ))
        clinic.machine.disk.capacity = capacity
        #expect(try clinic.doctor().status == 0)
        clinic.machine.disk.isReadOnly = true
        let outcome = try clinic.doctor()
        #expect(outcome.status == 8)
        #expect(
            outcome.output.contains(
                "\(Self.folder): cannot be written in: Read-only file system\n    # its file system is mounted for reading only: findmnt -T \(Self.folder)\n"
            ))
    }
}

/// A simulated machine on which something is wrong, and a small shell that mends it.
final class Clinic {
    let machine: SimulatedMachine
    let root: SimulatedFileSystem
    var variables: [String: String] = [:]

    static let folder: FilePath = "/home/ada/.config/prefs"
    static let history: FilePath = "/home/ada/.local/state/prefs/history/d"

    var files: SimulatedFileSystem { machine.fileSystem }

    init() throws {
        machine = try SimulatedMachine()
        root = machine.disk.process()
    }

    func doctor(watcher: (any DirectoryWatcher)? = nil) throws -> Transcript.Outcome {
        try prefs(["prefs", "doctor"], watcher: watcher)
    }

    private func prefs(
        _ words: [String], isAdministrator: Bool = false, watcher: (any DirectoryWatcher)? = nil
    ) throws -> Transcript.Outcome {
        var environment = machine.environment
        for (name, value) in variables { environment.variables[name] = value }
        return try runPrefs(
            words, on: machine, as: isAdministrator ? root : files, environment: environment, watcher: watcher)
    }

    func write(_ text: String, to path: String) throws {
        try files.replace(Clinic.folder.resolving(#require(FilePath(path))), with: Array(text.utf8).span.bytes)
    }

    func setPermissions(_ mode: UInt16, _ path: String) throws {
        let place = FilePath(path).map(Clinic.folder.resolving) ?? Clinic.folder
        try root.open(place, .reading)?.setPermissions(FilePermissions(rawValue: mode))
    }

    /// Runs a line as a shell does, of the few programs that the doctor names.
    func run(_ line: String) throws {
        var words = try ShellScript.words(line)
        let isAdministrator = words.first == "sudo"
        if isAdministrator { words.removeFirst() }
        switch words.first {
        case "prefs":
            let outcome = try prefs(words, isAdministrator: isAdministrator)
            #expect(outcome.status == 0, "\(line): \(outcome)")
        case "chmod": try changeMode(words[1], path(words[2]), as: isAdministrator ? 0 : 1000)
        case "chown":
            #expect(isAdministrator)
            let owner = words[1] == "root" ? 0 : try #require(UInt32(words[1]))
            try root.open(path(words[2]), .reading)?.setOwner(owner, group: owner)
        case "rm": #expect(try words.count == 3 && words[1] == "-f" && files.remove(path(words[2])))
        case "unset": variables[words[1]] = nil
        case "export":
            let parts = words[1].split(separator: "=", maxSplits: 1).map(String.init)
            variables[parts[0]] = parts[1]
        default: Issue.record("no such program: \(line)")
        }
    }

    private func path(_ word: String) throws -> FilePath { try #require(FilePath(word)) }

    private func changeMode(_ change: String, _ path: FilePath, as user: UInt32) throws {
        let status = try #require(try root.status(of: path))
        #expect(user == 0 || status.owner == user)
        let bits: [String: (UInt16, Bool)] = [
            "go-rwx": (0o077, false), "go-w": (0o022, false), "u+rw": (0o600, true), "u+rwx": (0o700, true),
            "a+r": (0o444, true), "a+rx": (0o555, true),
        ]
        let (mask, sets) = try #require(bits[change])
        let mode = sets ? status.permissions.rawValue | mask : status.permissions.rawValue & ~mask
        try root.open(path, .reading)?.setPermissions(FilePermissions(rawValue: mode))
    }

    /// A line without what differs from one machine to the next.
    func withoutNumbers(_ line: String) -> String {
        line.replacing(/[0-9a-f]{32}\.plist/, with: "HOST.plist").replacing(
            /-write-[0-9a-f]{16}-/, with: "-write-VERSION-")
    }
}
