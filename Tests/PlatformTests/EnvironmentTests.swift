import Platform
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `The environment` {
    static let passwd = """
        root:x:0:0:root:/root:/bin/bash
        broken line
        :x:7:7:::
        ada:x:1000:1000:Ada,,,:/home/ada:/bin/sh
        nobody:x:1001:1001::/:/bin/false
        relative:x:1002:1002::home:/bin/false
        """

    static func files(_ contents: [FilePath: String] = [:]) throws -> SimulatedFileSystem {
        let files = SimulatedDisk().process()
        try files.makeFolders("/etc")
        for (path, text) in contents { try files.replace(path, with: text) }
        return files
    }

    @Test(
        arguments: [
            ("/home/x", 1000, "/home/x"), (nil, 1000, "/home/ada"), ("", 1000, "/home/ada"), ("relative", 0, "/root"),
            (nil, 1001, nil), (nil, 1002, nil), (nil, 7, nil), (nil, 4711, nil),
        ] as [(String?, UInt32, String?)])
    func `knows the home, and never uses the root folder instead`(_ home: String?, _ user: UInt32, _ expected: String?)
        throws
    {
        let environment = Environment(variables: home.map { ["HOME": $0] } ?? [:], user: user)
        let files = try Self.files(["/etc/passwd": Self.passwd])
        if let expected {
            #expect(try environment.home(in: files).description == expected)
        } else {
            #expect(throws: Environment.MissingHomeFolder(user: user)) { try environment.home(in: files) }
        }
    }

    @Test func `has no home without a list of users`() throws {
        #expect(throws: Environment.MissingHomeFolder(user: 5)) { try Environment(user: 5).home(in: try Self.files()) }
    }

    @Test func `takes folders from absolute variables, else from the home`() throws {
        let files = try Self.files()
        let rows: [(Environment.BaseFolder, String, String?, String)] = [
            (.configuration, "XDG_CONFIG_HOME", "/c", "/c"), (.configuration, "XDG_CONFIG_HOME", "c", "/h/.config"),
            (.configuration, "XDG_CONFIG_HOME", "", "/h/.config"), (.data, "XDG_DATA_HOME", nil, "/h/.local/share"),
            (.state, "XDG_STATE_HOME", "./s", "/h/.local/state"), (.state, "XDG_STATE_HOME", "/s/", "/s/"),
        ]
        for (kind, variable, value, expected) in rows {
            var environment = Environment(variables: ["HOME": "/h"])
            environment.variables[variable] = value
            #expect(try environment.folder(kind, in: files).description == expected)
        }
        // If all variables are set, no home is required.
        let homeless = Environment(variables: ["XDG_CONFIG_HOME": "/c"], user: 9)
        #expect(try homeless.folder(.configuration, in: files) == "/c")
    }

    /// Names of files are bytes, and so are the variables that hold them.
    @Test func `finds folders whose names are not valid UTF-8`() throws {
        let home: [UInt8] = Array("/h".utf8) + [0xFF]
        var environment = Environment()
        environment.variables.set("HOME", to: home)
        environment.variables.set("XDG_CONFIG_HOME", to: Array("/c".utf8) + [0xFE])
        environment.variables.set("XDG_CONFIG_DIRS", to: Array("/a:/b".utf8) + [0xFD])
        let files = try Self.files()
        #expect(try environment.home(in: files).bytes == home)
        #expect(try environment.folder(.configuration, in: files).bytes == Array("/c".utf8) + [0xFE])
        #expect(try environment.folder(.state, in: files).bytes == home + Array("/.local/state".utf8))
        #expect(
            environment.systemFolders(.configuration).map(\.bytes) == [Array("/a".utf8), Array("/b".utf8) + [0xFD]])
        #expect(try environment.home(in: files).description == "/h\\xFF")
        #expect(environment.variables.changed == ["HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS"])
        environment.variables["HOME"] = "/h"
        #expect(try environment.home(in: files) == "/h")
    }

    @Test func `lists the system's folders without relative ones`() {
        let environment = Environment(variables: ["XDG_CONFIG_DIRS": "/a:b::/c", "XDG_DATA_DIRS": ""])
        #expect(environment.systemFolders(.configuration) == ["/a", "/c"])
        #expect(environment.systemFolders(.data) == ["/usr/local/share", "/usr/share"])
        #expect(environment.systemFolders(.state) == [])
    }

    /// The kernel adds a note to the path of a program whose file was deleted.
    @Test(
        arguments: [
            ("/opt/editor", ["/opt/editor"], "/opt/editor"), ("/opt/editor (deleted)", [], "/opt/editor"),
            ("/opt/editor (deleted)", ["/opt/editor"], "/opt/editor"),
            ("/opt/editor (deleted)", ["/opt/editor (deleted)"], "/opt/editor (deleted)"),
            ("/opt/editor (deleted) (deleted)", [], "/opt/editor (deleted)"),
        ] as [(FilePath, [FilePath], FilePath)])
    func `knows the path of the program`(_ path: FilePath, _ files: [FilePath], _ expected: FilePath) throws {
        let fileSystem = try Self.files()
        try fileSystem.makeFolders("/opt")
        for file in files { try fileSystem.replace(file, with: "") }
        try fileSystem.makeSymbolicLink("/exe", to: path)
        #expect(Environment.program(at: "/exe", in: fileSystem) == expected)
    }

    @Test func `of this process is that of its start`() throws {
        let environment = Environment.ofThisProcess()
        #expect(environment.variables["PATH"] != nil)
        #expect(environment.arguments == CommandLine.arguments && environment.bytesOfArguments.isEmpty)
        #expect(environment.process > 1 && !environment.hostName.isEmpty)
        #expect(try SystemFileSystem().status(of: present(environment.executable))?.kind == .file)
        #expect(try environment.hostIdentity(in: SystemFileSystem()).bytes.count == 16)
    }
}

@Suite struct `The host's identity` {
    static let number = "0123456789abcdef0123456789abcdef"

    @Test func `is derived from the machine ID, which it hides`() throws {
        let identity = try present(HostIdentity(machineID: Array("\(Self.number)\n".utf8)))
        #expect(identity.description.count == 32 && identity.description != Self.number)
        #expect(identity == HostIdentity(machineID: Array(Self.number.uppercased().utf8)))
        // The result of Python's hmac for both identifiers, with the version and variant of a random UUID.
        #expect(identity.description == "fb1f078524f04bfd96b3ae8dd3be1a0b")
    }

    @Test(arguments: ["", "\n", "uninitialized\n", String(repeating: "0", count: 32), "\(number)0", "\(number) "])
    func `is not derived from an invalid machine ID`(_ text: String) {
        #expect(HostIdentity(machineID: Array(text.utf8)) == nil)
    }

    @Test func `is derived from the host name if there is no machine ID`() throws {
        let environment = Environment(hostName: "somewhere")
        let files = try `The environment`.files(["/etc/machine-id": "\n"])
        #expect(try environment.hostIdentity(in: files) == HostIdentity(hostName: "somewhere"))
        try files.makeFolders("/var/lib/dbus")
        try files.replace("/var/lib/dbus/machine-id", with: Self.number)
        #expect(try environment.hostIdentity(in: files) == HostIdentity(machineID: Array(Self.number.utf8)))
    }
}
