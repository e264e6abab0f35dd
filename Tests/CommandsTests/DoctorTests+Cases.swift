import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// The problems that the doctor can find, one per row.
extension DoctorTests {
    static let permissions = [
        Case(
            name: "a file that others read", findings: ["\(folder)/d.plist: others can read it"],
            fixes: ["chmod go-rwx \(folder)/d.plist"]
        ) { try $0.setPermissions(0o644, "d.plist") },
        Case(
            name: "a file that others write", findings: ["\(folder)/d.plist: others can write it"],
            fixes: ["chmod go-rwx \(folder)/d.plist"]
        ) { try $0.setPermissions(0o602, "d.plist") },
        Case(
            name: "a folder that its owner cannot use",
            findings: ["\(folder): you cannot use it", "\(folder): not writable: Permission denied"],
            fixes: ["chmod u+rwx \(folder)", "chmod u+rwx \(folder)"]
        ) { try $0.setPermissions(0o000, "") },
        Case(
            name: "a folder that the group reads", findings: ["\(folder): others can read it"],
            fixes: ["chmod go-rwx \(folder)"]
        ) { try $0.setPermissions(0o750, "") },
        Case(
            name: "a version that others read",
            findings: [
                "/home/ada/.local/state/prefs/history/d/0000000001-1767225600000-1-write-VERSION-58-prefs.plist: others can read it"
            ],
            fixes: [
                "chmod go-rwx /home/ada/.local/state/prefs/history/d/0000000001-1767225600000-1-write-VERSION-58-prefs.plist"
            ]
        ) { clinic in
            let version = try #require(try clinic.files.names(in: Clinic.history)?.first)
            try clinic.root.open(Clinic.history.appending(version), .reading)?
                .setPermissions(FilePermissions(rawValue: 0o640))
        },
        Case(
            name: "a file of another user", findings: ["\(folder)/d.plist: belongs to another user (7)"],
            fixes: ["sudo chown 1000 \(folder)/d.plist"]
        ) { try $0.root.open(Clinic.folder.resolving("d.plist"), .reading)?.setOwner(7, group: 7) },
        Case(
            name: "a lock that is a link",
            findings: ["\(folder)/.locks/x.lock: is a symbolic link, so it cannot be locked"],
            fixes: ["rm -f \(folder)/.locks/x.lock"]
        ) { clinic in
            let lock = Clinic.folder.resolving(".locks/x.lock")
            try clinic.files.makeSymbolicLink(lock, to: "/etc/passwd")
        },
        Case(
            name: "a file that others read through a link", findings: ["/home/ada/e.plist: others can read it"],
            fixes: ["chmod go-rwx /home/ada/e.plist"]
        ) { clinic in
            try clinic.run("prefs write e k 1")
            try clinic.setPermissions(0o644, "e.plist")
            try clinic.files.rename(Clinic.folder.resolving("e.plist"), to: "/home/ada/e.plist")
            try clinic.files.makeSymbolicLink(Clinic.folder.resolving("e.plist"), to: "../../e.plist")
        },
        Case(
            name: "a file that cannot be read",
            findings: ["\(folder)/d.plist: you cannot read and write it"], fixes: ["chmod u+rw \(folder)/d.plist"]
        ) { try $0.setPermissions(0o000, "d.plist") },
        Case(
            name: "a folder that cannot be written in",
            findings: [
                "\(folder)/ByHost: you cannot use it", "\(folder)/ByHost: not writable: Permission denied",
            ],
            fixes: ["chmod u+rwx \(folder)/ByHost", "chmod u+rwx \(folder)/ByHost"]
        ) { clinic in
            try clinic.run("prefs -currentHost write h k 1")
            try clinic.setPermissions(0o500, "ByHost")
        },
        Case(
            name: "a home of another user",
            findings: ["/home/ada/.local/state: not writable: Permission denied"],
            fixes: ["sudo chown 1000 /home/ada/.local/state"]
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
            findings: [
                "\(folder)/d.plist:1:1: the input is empty: damaged; the version of 2026-01-01T00:00:00Z is used instead",
                "\(folder)/d.plist.damaged-1767225600000: damaged, and set aside; remove it if nothing in it is needed",
            ],
            fixes: ["prefs restore d 1", "rm -f \(folder)/d.plist.damaged-1767225600000"]
        ) { try $0.write(" ", to: "d.plist") },
        Case(
            name: "a damaged file without versions",
            findings: [
                "\(folder)/new.plist:1:10: ends inside a dictionary: damaged, and no version of it is kept; deleting the domain sets the file aside",
                "\(folder)/new.plist.damaged-1767225600000: damaged, and set aside; remove it if nothing in it is needed",
            ],
            fixes: ["prefs delete new", "rm -f \(folder)/new.plist.damaged-1767225600000"]
        ) { try $0.write("{ a = 1; ", to: "new.plist") },
        Case(
            name: "a damaged file to which a link leads",
            findings: [
                "\(folder)/d.plist:1:1: the input is empty: damaged; the version of 2026-01-01T00:00:00Z can be restored"
            ],
            fixes: ["prefs restore d 1"]
        ) { clinic in
            try clinic.files.rename(Clinic.folder.resolving("d.plist"), to: "/home/ada/d.plist")
            try clinic.files.makeSymbolicLink(Clinic.folder.resolving("d.plist"), to: "/home/ada/d.plist")
            try clinic.files.replace("/home/ada/d.plist", with: Array(" ".utf8).span.bytes)
        },
        Case(
            name: "a damaged version",
            findings: [
                "/home/ada/.local/state/prefs/history/d/0000000002-1767225600000-1-write-VERSION-9-program.plist: version 2 of d is damaged"
            ],
            fixes: [
                "rm -f /home/ada/.local/state/prefs/history/d/0000000002-1767225600000-1-write-VERSION-9-program.plist"
            ]
        ) { clinic in
            let name = "0000000002-1767225600000-1-write-0000000000000000-9-program.plist"
            let path = Clinic.history.resolving(try #require(FilePath(name)))
            try clinic.files.replace(path, with: Array("{ a = 1; ".utf8).span.bytes)
        },
    ]

    /// A domain that is a folder, with a string and a dictionary.
    private static func makeFolder(_ clinic: Clinic) throws {
        try clinic.run("prefs write e title first")
        try clinic.run("prefs write e :window:x -int 1")
        try clinic.run("prefs convert e folder")
    }

    static let folders = [
        Case(
            name: "damaged files of a folder, of which versions are kept",
            findings: [
                "\(folder)/e.prefs/title.txt: byte 0: not valid UTF-8: damaged; the version of 2026-01-01T00:00:00Z is used instead",
                "\(folder)/e.prefs/window.plist:1:1: the input is empty: damaged; the version of 2026-01-01T00:00:00Z is used instead",
                "\(folder)/e.prefs/title.txt.damaged-1767225600000: damaged, and set aside; remove it if nothing in it is needed",
                "\(folder)/e.prefs/window.plist.damaged-1767225600000: damaged, and set aside; remove it if nothing in it is needed",
            ],
            fixes: [
                "prefs convert e folder", "prefs convert e folder",
                "rm -f \(folder)/e.prefs/title.txt.damaged-1767225600000",
                "rm -f \(folder)/e.prefs/window.plist.damaged-1767225600000",
            ]
        ) { clinic in
            try makeFolder(clinic)
            try clinic.files.replace(Clinic.folder.resolving("e.prefs/title.txt"), with: [0xFF].span.bytes)
            try clinic.write(" ", to: "e.prefs/window.plist")
        },
        Case(
            name: "a damaged file of a folder, of which no version is kept",
            findings: [
                "\(folder)/new.prefs/a.plist:1:1: the input is empty: damaged, and no version of it is kept; until it is fixed or set aside, the domain cannot be read",
                "\(folder)/new.prefs/a.plist.damaged-0: damaged, and set aside; remove it if nothing in it is needed",
            ],
            fixes: [
                "mv -n \(folder)/new.prefs/a.plist \(folder)/new.prefs/a.plist.damaged-0",
                "rm -f \(folder)/new.prefs/a.plist.damaged-0",
            ]
        ) { clinic in
            try clinic.files.makeFolders(Clinic.folder.resolving("new.prefs"))
            try clinic.write(" ", to: "new.prefs/a.plist")
            try clinic.write("fine\n", to: "new.prefs/b.txt")
        },
        Case(
            name: "a file whose name spells its key in another way",
            findings: ["\(folder)/e.prefs/a%2fb.txt: ignored: the file of this key is named a%2Fb.txt"],
            fixes: ["mv -n \(folder)/e.prefs/a%2fb.txt \(folder)/e.prefs/a%2Fb.txt"]
        ) { clinic in
            try makeFolder(clinic)
            try clinic.write("x", to: "e.prefs/a%2fb.txt")
        },
        Case(
            name: "a temporary file in a folder without values",
            findings: ["\(folder)/e.prefs/.prefs-0123456789abcdef: left by a killed writer"],
            fixes: ["rm -f \(folder)/e.prefs/.prefs-0123456789abcdef"]
        ) { clinic in
            try clinic.files.makeFolders(Clinic.folder.resolving("e.prefs"))
            try clinic.write("x", to: "e.prefs/.prefs-0123456789abcdef")
            clinic.machine.clock.advance(by: .seconds(3601))
        },
        Case(
            name: "a file of a folder that cannot be read",
            findings: ["\(folder)/e.prefs/title.txt: you cannot read and write it"],
            fixes: ["chmod u+rw \(folder)/e.prefs/title.txt"]
        ) { clinic in
            try makeFolder(clinic)
            try clinic.setPermissions(0o000, "e.prefs/title.txt")
        },
    ]

    /// What no command can fix without a decision, each with the place that is named and the advice.
    static let undecided: [(name: String, says: String, make: @Sendable (Clinic) throws -> Void)] = [
        (
            "a symbolic link",
            """
            \(folder)/e.prefs/link.txt: cannot read \(folder)/e.prefs/link.txt: it is a symbolic link
                # inspect it: ls -ld \(folder)/e.prefs/link.txt

            """,
            { clinic in
                try clinic.files.makeSymbolicLink(Clinic.folder.resolving("e.prefs/link.txt"), to: "/etc/passwd")
            }
        ),
        (
            "two files of one key",
            """
            \(folder)/e.prefs/title.txt: e: \(folder)/e.prefs/title.plist and \(folder)/e.prefs/title.txt have the same key; remove one of them
                # inspect it: ls -ld \(folder)/e.prefs/title.txt

            """,
            { try $0.write("<plist><true/></plist>", to: "e.prefs/title.plist") }
        ),
        (
            "a file next to the folder",
            """
            \(folder)/e.prefs: e: exists twice: \(folder)/e.plist and \(folder)/e.prefs; remove one of them
                # inspect it: ls -ld \(folder)/e.prefs

            """,
            { try $0.write("{}", to: "e.plist") }
        ),
        (
            "a folder of another program, whose permissions are its own",
            """
            \(folder)/e.prefs/attached: not a value of the domain; it is ignored
                # move it elsewhere, or keep it

            """,
            { clinic in
                for name in ["attached", ".git"] {
                    try clinic.files.makeFolders(Clinic.folder.resolving("e.prefs").resolving(FilePath(name) ?? "x"))
                    try clinic.write("x", to: "e.prefs/\(name)/object")
                    try clinic.setPermissions(0o444, "e.prefs/\(name)/object")
                }
            }
        ),
    ]

    @Test(arguments: undecided.indices) func `a finding in a domain's folder names the file`(_ index: Int) throws {
        let clinic = try Clinic()
        try Self.makeFolder(clinic)
        try Self.undecided[index].make(clinic)
        #expect(try clinic.doctor().output == Self.undecided[index].says, "\(Self.undecided[index].name)")
    }

    static let layers = [
        Case(
            name: "a forced file that others write",
            findings: ["/etc/prefs/forced/f.plist: it is ignored: users other than its owner can write to it"],
            fixes: ["sudo chmod go-w /etc/prefs/forced/f.plist"]
        ) { clinic in
            try clinic.machine.force("f", ["k": "forced"])
            try clinic.root.open("/etc/prefs/forced/f.plist", .reading)?
                .setPermissions(FilePermissions(rawValue: 0o666))
        },
        Case(
            name: "a forced file that the user cannot read",
            findings: ["/etc/prefs/forced/f.plist: not everyone can read it"],
            fixes: ["sudo chmod a+r /etc/prefs/forced/f.plist"]
        ) { clinic in
            try clinic.machine.force("f", ["k": "forced"])
            try clinic.root.open("/etc/prefs/forced/f.plist", .reading)?.setPermissions(.privateFile)
        },
        Case(
            name: "a forced folder that the user cannot look into",
            findings: ["/etc/prefs/forced: not everyone can read it"], fixes: ["sudo chmod a+rx /etc/prefs/forced"]
        ) { clinic in
            try clinic.machine.force("f", ["k": "forced"])
            try clinic.root.open("/etc/prefs/forced", .reading)?.setPermissions(.privateFolder)
        },
        Case(
            name: "a forced folder that is the user's",
            findings: ["/etc/prefs/forced: its contents are ignored: it does not belong to root"],
            fixes: ["sudo chown root /etc/prefs/forced"]
        ) { clinic in
            try clinic.machine.force("f", ["k": "forced"])
            try clinic.root.open("/etc/prefs/forced", .reading)?.setOwner(1000, group: 1000)
        },
    ]

    private static let schemas: FilePath = "/home/ada/.local/share/prefs/schemas"

    static let writers = [
        Case(
            name: "a temporary file of a killed writer",
            findings: ["\(folder)/.prefs-0123456789abcdef: left by a killed writer"],
            fixes: ["rm -f \(folder)/.prefs-0123456789abcdef"]
        ) { clinic in
            try clinic.write("x", to: ".prefs-0123456789abcdef")
            clinic.machine.clock.advance(by: .seconds(3601))
        },
        Case(
            name: "a damaged transaction record",
            findings: [
                "\(folder)/.transactions/0123456789abcdef: a change of several files cannot be read: it is damaged"
            ], fixes: ["rm -f \(folder)/.transactions/0123456789abcdef"]
        ) { clinic in
            _ = try clinic.files.makeFolder(Clinic.folder.resolving(".transactions"), .privateFolder)
            try clinic.write("x", to: ".transactions/0123456789abcdef")
        },
        Case(
            name: "damaged transaction records of the administrator",
            findings: [
                "/etc/prefs/forced/.transactions/0123456789abcdef: a change of several files cannot be read: it is damaged",
                "/etc/xdg/prefs/.transactions/0123456789abcdef: a change of several files cannot be read: the record, its new files and the store must belong to one user, and nobody else may write to its folder",
            ],
            fixes: [
                "sudo rm -f /etc/prefs/forced/.transactions/0123456789abcdef",
                "sudo mv -n /etc/xdg/prefs/.transactions/0123456789abcdef /etc/xdg/prefs/.transactions/0123456789abcdef.damaged-0",
            ]
        ) { clinic in
            try clinic.machine.force("d", ["k": "1"])
            try clinic.machine.administrate("/etc/xdg/prefs/d.plist", "{ k = 1; }")
            try clinic.machine.administrate("/etc/prefs/forced/.transactions/0123456789abcdef", "x")
            try clinic.machine.administrate("/etc/xdg/prefs/.transactions/0123456789abcdef/x", "x")
        },
        Case(
            name: "folders in place of schemas",
            findings: [
                "\(schemas)/d.plist: cannot be read, so all values of d are masked: cannot read \(schemas)/d.plist: Is a directory",
                "/usr/share/prefs/schemas/e.plist: cannot be read, so all values of e are masked: cannot read /usr/share/prefs/schemas/e.plist: Is a directory",
            ],
            fixes: [
                "mv -n \(schemas)/d.plist \(schemas)/d.plist.damaged-0",
                "sudo mv -n /usr/share/prefs/schemas/e.plist /usr/share/prefs/schemas/e.plist.damaged-0",
            ]
        ) { clinic in
            try clinic.machine.administrate(schemas.resolving("d.plist/x"), "x")
            try clinic.machine.administrate("/usr/share/prefs/schemas/e.plist/x", "x")
        },
        Case(
            name: "a relative path in a variable",
            findings: ["XDG_STATE_HOME: ignored, since it is a relative path: state"], fixes: ["unset XDG_STATE_HOME"]
        ) { $0.variables["XDG_STATE_HOME"] = "state" },
        Case(
            name: "relative paths in a list",
            findings: ["XDG_CONFIG_DIRS: has relative paths, which are ignored: a:./b"],
            fixes: ["export 'XDG_CONFIG_DIRS=/etc/xdg:/c'"]
        ) { $0.variables["XDG_CONFIG_DIRS"] = "a:/etc/xdg:./b:/c" },
    ]
}
