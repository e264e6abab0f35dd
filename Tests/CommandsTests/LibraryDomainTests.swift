import Commands
import Platform
import Preferences
import SimulatedPlatform
import TestSupport
import Testing

/// The names that scripts for macOS use for domains.
@Suite struct `A name of macOS` {
    private let machine: SimulatedMachine

    init() throws { machine = try SimulatedMachine() }

    private func write(_ text: String, to path: FilePath) throws {
        try machine.fileSystem.makeFolders(path.parent)
        try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
    }

    @Test(
        arguments: [
            ("/home/ada/Library/Preferences/d.plist", "d", []), ("~/Library/Preferences/d", "d", []),
            ("/home/ada//Library/Preferences/d.plist", "d", []),
            ("/home/ada/Library/Preferences/.GlobalPreferences.plist", "-g", []), ("d.plist", "d", []),
            (".GlobalPreferences.plist", "-g", []),
            ("/home/ada/Library/Preferences/ByHost/a.b.0123.plist", "a.b", ["-currentHost"]),
        ] as [(String, String, [String])])
    func `is a path of a domain`(_ path: String, _ domain: String, _ options: [String]) throws {
        #expect(try runPrefs(["defaults", "write", path, "k", "v"], on: machine) == Transcript.Outcome())
        let read = try runPrefs(["defaults"] + options + ["read", domain, "k"], on: machine)
        #expect(read == Transcript.Outcome(output: "v\n"))
        #expect(try runPrefs(["defaults", "read", path, "k"], on: machine) == read)
    }

    @Test(arguments: ["/home/ada/Library/d.plist", "/home/ada/Library/Preferences/sub/d.plist", "/tmp/d.plist"])
    func `is a path of a file elsewhere`(_ path: String) throws {
        try write("{ k = v; }", to: #require(FilePath(path)))
        #expect(try runPrefs(["defaults", "write", path, "k", "w"], on: machine) == Transcript.Outcome())
        #expect(try runPrefs(["prefs", "read", path, "k"], on: machine).output == "w\n")
    }

    @Test func `that ends in plist is a domain with this ending, if it exists`() throws {
        #expect(try runPrefs(["prefs", "write", "d.plist", "k", "v"], on: machine) == Transcript.Outcome())
        #expect(try runPrefs(["defaults", "read", "d.plist", "k"], on: machine) == Transcript.Outcome(output: "v\n"))
        #expect(try runPrefs(["prefs", "read", "d"], on: machine).status == 1)
    }

    @Test func `is that of a file that exists, which the doctor imports`() throws {
        let path = "/home/ada/Library/Preferences/d.plist"
        try write("{ k = v; }", to: #require(FilePath(path)))
        #expect(
            try runPrefs(["defaults", "read", path, "k"], on: machine)
                == Transcript.Outcome(output: "v\n", errors: "defaults: \(path): this file is used, not the domain d\n")
        )
        #expect(try runPrefs(["prefs", "read", path, "k"], on: machine) == Transcript.Outcome(output: "v\n"))
        let doctor = try runPrefs(["prefs", "doctor"], on: machine)
        #expect(
            doctor.output == """
                \(path): defaults uses this file instead of the domain d
                    sh -c 'prefs import d \(path) && rm \(path)'

                """)
        #expect(doctor.status == 8)
    }

    @Test(arguments: [
        ("Night Backup", "com.example.backup"), ("night backup", "com.example.backup"),
        ("com.example.backup", "com.example.backup"), ("Notes", "org.example.notes"), ("Notizen", nil), ("Quit", nil),
    ])
    func `is that of an application`(_ name: String, _ domain: String?) throws {
        try machine.administrate(
            "/usr/share/prefs/schemas/com.example.backup.plist",
            "{ Domain = \"com.example.backup\"; Title = \"Night Backup\"; Settings = (); }")
        try machine.administrate(
            "/usr/share/applications/org.example.notes.desktop",
            "# x\n[Desktop Entry]\nName[de]=Notizen\nName = Notes\n[Desktop Action quit]\nName=Quit\n")
        for program in ["prefs", "defaults"] {
            let outcome = try runPrefs([program, "write", "-app", name, "k", "v"], on: machine)
            #expect(outcome.status == (domain == nil ? 2 : 0), "\(outcome.errors)")
            guard let domain else { continue }
            #expect(try runPrefs([program, "read", domain, "k"], on: machine).output == "v\n")
        }
    }
}
