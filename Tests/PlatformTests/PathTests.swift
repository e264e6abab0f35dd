import Platform
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `A path` {
    @Test(
        arguments: [
            ("/a/b", "/a", "b"), ("/a", "/", "a"), ("/", "/", nil), ("a", ".", "a"), ("a/b/", "a", "b"),
            ("//a//b", "//a", "b"), ("/a/..", "/a", nil), (".", ".", nil), ("///", "/", nil),
        ] as [(String, String, String?)])
    func `has a parent and a last component`(_ text: String, _ parent: String, _ last: String?) throws {
        let path = try present(FilePath(text))
        #expect(path.parent.description == parent)
        #expect(path.lastComponent?.description == last)
    }

    @Test func `is neither empty nor has a NUL`() {
        for text in ["", "a\0b", "\0"] { #expect(FilePath(text) == nil) }
        #expect(FilePath([0x2F, 0xFF])?.bytes == [0x2F, 0xFF])
    }

    @Test func `is joined with one separator`() {
        #expect(FilePath.root.appending("a").description == "/a")
        #expect(("/a" as FilePath).appending("b").description == "/a/b")
        #expect(("/a" as FilePath).resolving("b/c").description == "/a/b/c")
        #expect(("/a" as FilePath).resolving("/b").description == "/b")
    }

    @Test(arguments: ["", ".", "..", "a/b", "/", "../../evil", "a\0"])
    func `takes no name that leads elsewhere`(_ text: String) { #expect(FileName(text) == nil) }

    @Test func `tells temporary names from others`() {
        #expect(FileName.temporary(0).description == ".prefs-0000000000000000")
        #expect(FileName.temporary(.max).isTemporary)
        for name: FileName in [".prefs-", ".prefs-00000000000000000", ".prefs-000000000000000G", "a"] {
            #expect(!name.isTemporary)
        }
    }
}

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
    func `knows the home, and never takes the root for it`(_ home: String?, _ user: UInt32, _ expected: String?) throws
    {
        let environment = Environment(variables: home.map { ["HOME": $0] } ?? [:], user: user)
        let files = try Self.files(["/etc/passwd": Self.passwd])
        if let expected {
            #expect(try environment.home(in: files).description == expected)
        } else {
            #expect(throws: Environment.Homeless(user: user)) { try environment.home(in: files) }
        }
    }

    @Test func `has no home without a list of users`() throws {
        #expect(throws: Environment.Homeless(user: 5)) { try Environment(user: 5).home(in: try Self.files()) }
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
        // Who says all has no need of a home.
        let homeless = Environment(variables: ["XDG_CONFIG_HOME": "/c"], user: 9)
        #expect(try homeless.folder(.configuration, in: files) == "/c")
    }

    @Test func `lists the system's folders without relative ones`() {
        let environment = Environment(variables: ["XDG_CONFIG_DIRS": "/a:b::/c", "XDG_DATA_DIRS": ""])
        #expect(environment.systemFolders(.configuration) == ["/a", "/c"])
        #expect(environment.systemFolders(.data) == ["/usr/local/share", "/usr/share"])
        #expect(environment.systemFolders(.state) == [])
    }

    @Test func `of this process is what the process was told`() throws {
        let environment = Environment.ofThisProcess()
        #expect(environment.variables["PATH"] != nil)
        #expect(environment.arguments == CommandLine.arguments)
        #expect(environment.process > 1 && !environment.hostName.isEmpty)
        #expect(try SystemFileSystem().status(of: present(environment.executable))?.kind == .file)
        #expect(try environment.hostIdentity(in: SystemFileSystem()).bytes.count == 16)
    }
}

@Suite struct `The host's identity` {
    static let number = "0123456789abcdef0123456789abcdef"

    @Test func `comes from the machine's number, which it hides`() throws {
        let identity = try present(HostIdentity(machineID: Array("\(Self.number)\n".utf8)))
        #expect(identity.description.count == 32 && identity.description != Self.number)
        #expect(identity == HostIdentity(machineID: Array(Self.number.uppercased().utf8)))
        // What Python's hmac makes of the number and the application's, with version and variant of a random UUID.
        #expect(identity.description == "fb1f078524f04bfd96b3ae8dd3be1a0b")
    }

    @Test(arguments: ["", "\n", "uninitialized\n", String(repeating: "0", count: 32), "\(number)0", "\(number) "])
    func `is not made of what is no number`(_ text: String) {
        #expect(HostIdentity(machineID: Array(text.utf8)) == nil)
    }

    @Test func `comes from the name where there is no number`() throws {
        let environment = Environment(hostName: "somewhere")
        let files = try `The environment`.files(["/etc/machine-id": "\n"])
        #expect(try environment.hostIdentity(in: files) == HostIdentity(hostName: "somewhere"))
        try files.makeFolders("/var/lib/dbus")
        try files.replace("/var/lib/dbus/machine-id", with: Self.number)
        #expect(try environment.hostIdentity(in: files) == HostIdentity(machineID: Array(Self.number.utf8)))
    }
}

@Suite struct `The hash` {
    @Test(arguments: [
        ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 10_000, "27dd1f61b867b6a0f6e9d8a41c43231de52107e53ae424de8f847b821db4b711"),
    ])
    func `is that of the standard's examples`(_ text: String, _ count: Int, _ hash: String) {
        #expect(hex(SHA256.hash(Array(String(repeating: text, count: count).utf8))) == hash)
    }

    @Test func `pads messages of every length around a block`() {
        let hashes = (0..<130).map { SHA256.hash([UInt8](repeating: 0x61, count: $0)) }
        #expect(Set(hashes).count == 130)
        // Of 55, 56, 63, 64 and 65 letters a, as other programs have it.
        #expect(hex(hashes[55]) == "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318")
        #expect(hex(hashes[56]) == "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a")
        #expect(hex(hashes[64]) == "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb")
    }

    /// Test cases 1, 2 and 6 of RFC 4231.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `with a key is that of the standard's examples`(_ key: [UInt8], _ text: String, _ code: String) {
        #expect(hex(SHA256.code(of: Array(text.utf8), key: key)) == code)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

@Suite struct `A simulated terminal` {
    @Test func `remembers what was written and how the program ended`() throws {
        let terminal = SimulatedTerminal(widths: [.output: 80], input: "typed")
        try terminal.write("result\n")
        try terminal.write("warning\n", to: .errors)
        #expect(terminal.text(of: .output) == "result\n" && terminal.text(of: .errors) == "warning\n")
        #expect(terminal.width(of: .output) == 80 && terminal.isTerminal(.output))
        #expect(terminal.width(of: .errors) == nil && !terminal.isTerminal(.errors))
        #expect(failure { _ = try terminal.input(limit: 4) } == .fileTooLarge)
        #expect(throws: ProgramExit(status: 2)) { try terminal.exit(2) }
        #expect(terminal.exitStatus == 2)
        terminal.failWrites(.noSpace)
        #expect(failure { try terminal.write("more") } == .noSpace)
    }

    @Test func `of this process is no wider than it says`() {
        for stream in StandardStream.allCases {
            #expect(SystemTerminal().isTerminal(stream) || SystemTerminal().width(of: stream) == nil)
        }
    }
}

@Suite struct `A simulated machine` {
    @Test func `follows from its seed`() throws {
        let machines = try [1, 1, 2].map { try SimulatedMachine(seed: $0) }
        let identities = try machines.map { try $0.environment.hostIdentity(in: $0.fileSystem) }
        #expect(identities[0] == identities[1] && identities[0] != identities[2])
        #expect(machines[0].fileSystem.unpredictableName() == machines[1].fileSystem.unpredictableName())
        #expect(try machines[0].environment.home(in: machines[0].fileSystem) == SimulatedMachine.home)
    }
}
