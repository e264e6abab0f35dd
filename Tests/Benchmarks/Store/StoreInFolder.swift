import FoundationEssentials
import Glibc

/// A store that works in a folder of its own, which is gone with it.
final class StoreInFolder {
    let peer: StorePeer
    let folder: String
    private var environment: [String: String]
    private var bus: Subprocess?

    /// - Parameter folder: An empty folder; without one, a new one on the disk that the package lies on.
    init(_ peer: StorePeer, in folder: String? = nil) throws {
        self.peer = peer
        self.folder = try folder ?? Self.newFolder()
        environment = peer.environment(self.folder)
        try contents("GNUSTEP_USER_DEFAULTS_DIR=\(self.folder)/Defaults\n", of: "GNUstep.conf")
        _ = chmod(self.folder + "/GNUstep.conf", 0o600)
        if peer.file == nil { try startBus() }
    }

    deinit {
        bus = nil
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func newFolder() throws -> String {
        let place = FileManager.default.currentDirectoryPath + "/.build/benchmarks"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        var template = Array((place + "/store-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure.system(place) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The bus by which dconf's commands reach the one that writes; it ends with our end of its input.
    private func startBus() throws {
        let variables = environment.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
        let session = "dbus-run-session -- sh -c 'echo \"$DBUS_SESSION_BUS_ADDRESS\"; read -r end'"
        let bus = try Subprocess("exec env -i \(variables) \(session) 2> /dev/null")
        guard let address = bus.receive() else { throw Failure("there is no session bus") }
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
        self.bus = bus
    }
}

extension StoreInFolder {
    func command(_ words: [String]) -> Command { Command(words: words, environment: environment) }

    func write(_ key: String, _ value: String) -> Command { command(peer.write(folder, key, value)) }

    func read(_ key: String) -> Command { command(peer.read(folder, key)) }

    /// The words that the store prints when it is asked for all it holds, keys among them.
    func words() throws -> Set<Substring> {
        let output = try command(peer.list(folder)).run().output
        return Set(output.split { !$0.isLetter && !$0.isNumber })
    }

    /// Puts in values under `prefix0`, `prefix1` and so on.
    func fill(_ prefix: String, _ count: Int) throws {
        switch peer.fill {
        case .command(let words):
            try expect(command(words + [prefix, "\(count)"]))
        case .input(let words, let header, let line):
            try contents(text(prefix, count, header, line), of: "values")
            var command = command(words)
            command.input = folder + "/values"
            try expect(command)
        case .file(let header, let line):
            try contents(text(prefix, count, header, line), of: peer.file ?? "values")
        }
        guard try left(of: prefix, count) == count else {
            throw Failure("\(peer.name) does not hold what it was given")
        }
    }

    /// How many of such keys are there.
    func left(of prefix: String, _ count: Int) throws -> Int {
        let words = try words()
        return (0..<count).count { words.contains("\(prefix)\($0)") }
    }

    private func text(_ prefix: String, _ count: Int, _ header: String, _ line: (String, String) -> String) -> String {
        let lines = (0..<count).map { line("\(prefix)\($0)", "value\($0)") }
        return ((header.isEmpty ? [] : [header]) + lines).joined(separator: "\n") + "\n"
    }

    private func expect(_ command: Command) throws {
        guard try command.run().status == 0 else { throw Failure("\(command.words.joined(separator: " ")) fails") }
    }

    private func contents(_ text: String, of name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder + "/" + name))
    }
}
