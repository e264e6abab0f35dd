import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// The state of a simulated disk after a power loss.
@Suite struct `A crash` {
    static let folder: FilePath = "/home/ada"
    static let file: FilePath = "/home/ada/file"

    static func machine(_ text: String? = "old") throws -> SimulatedMachine {
        let machine = try SimulatedMachine(seed: Seed.ofThisRun.number)
        if let text { try machine.fileSystem.replace(file, with: text) }
        return machine
    }

    /// The possible contents of the file after a crash: the text or nil for each of many crashes.
    static func outcomes(_ machine: SimulatedMachine, of path: FilePath = file) throws -> Set<String?> {
        let ways = [.none, .all] + (0..<64).map { SimulatedDisk.Survivors.some(Seed.ofThisRun.number &+ $0) }
        return Set(
            try ways.map { way in
                let disk = machine.disk.copy()
                disk.crash(way)
                return try disk.process().text(path)
            })
    }

    @Test func `keeps a file that was replaced and synchronized`() throws {
        #expect(try Self.outcomes(Self.machine()) == ["old"])
    }

    @Test func `may lose a name whose folder was not synchronized`() throws {
        let machine = try Self.machine(nil)
        let file = try present(machine.fileSystem.open(Self.file, .creating(.privateFile)))
        try file.write(Array("new".utf8).span.bytes, at: 0)
        try file.synchronize()
        #expect(try Self.outcomes(machine) == ["new", nil])
        try machine.fileSystem.synchronizeFolder(Self.folder)
        #expect(try Self.outcomes(machine) == ["new"])
    }

    @Test func `may lose the contents of a file that was renamed too early`() throws {
        let machine = try Self.machine()
        let temporary = Self.folder.appending("temporary")
        let file = try present(machine.fileSystem.open(temporary, .creatingNew(.privateFile)))
        try file.write(Array("new".utf8).span.bytes, at: 0)
        try machine.fileSystem.rename(temporary, to: Self.file)
        #expect(try Self.outcomes(machine) == ["old", "new", ""])
        try machine.fileSystem.synchronizeFolder(Self.folder)
        #expect(try Self.outcomes(machine) == ["new", ""])
    }

    @Test func `never leaves half of a rename`() throws {
        let machine = try Self.machine()
        try machine.fileSystem.rename(Self.file, to: Self.folder.appending("other"))
        for number in 0..<64 {
            let disk = machine.disk.copy()
            disk.crash(.some(UInt64(number)))
            #expect(try disk.process().names(in: Self.folder)?.count == 1)
        }
    }

    @Test func `tears a write at 512 bytes`() throws {
        let machine = try Self.machine(String(repeating: "o", count: 1536))
        try machine.fileSystem.write(String(repeating: "n", count: 1536), to: Self.file)
        let outcomes = try Self.outcomes(machine)
        let pieces = Set(
            outcomes.compactMap { $0 }.flatMap { text in
                stride(from: 0, to: text.utf8.count, by: 512).map { start in
                    String(decoding: Array(text.utf8)[start..<min(start + 512, text.utf8.count)], as: UTF8.self)
                }
            })
        #expect(pieces == Set(["o", "n", "\0"].map { String(repeating: $0, count: 512) }))
        // Each of three sectors may be written, and the file may be truncated.
        #expect(outcomes.count > 8)
    }

    @Test func `may lose what a failed synchronization promised, even after a second one`() throws {
        let machine = try Self.machine()
        let file = try present(machine.fileSystem.open(Self.file, .writing))
        try file.write(Array("new".utf8).span.bytes, at: 0)
        machine.fileSystem.setFaults(FaultPlan([Fault(.fail(.inputOutput), .once(1), of: .synchronize)]))
        #expect(failure { try file.synchronize() } == .inputOutput)
        try file.synchronize()
        #expect(try Self.outcomes(machine) == ["old", "new"])
        try file.write(Array("new".utf8).span.bytes, at: 0)
        try file.synchronize()
        #expect(try Self.outcomes(machine) == ["new"])
    }

    @Test func `may bring back a name that was removed`() throws {
        let machine = try Self.machine()
        try machine.fileSystem.remove(Self.file)
        #expect(try machine.fileSystem.text(Self.file) == nil)
        #expect(try Self.outcomes(machine) == ["old", nil])
        try machine.fileSystem.synchronizeFolder(Self.folder)
        #expect(try Self.outcomes(machine) == [nil])
    }

    @Test func `keeps folders that were made and synchronized`() throws {
        let machine = try Self.machine()
        let deep: FilePath = "/home/ada/a/b/c"
        try machine.fileSystem.makeFolders(deep)
        try machine.fileSystem.replace(deep.appending("file"), with: "new")
        #expect(try Self.outcomes(machine, of: deep.appending("file")) == ["new"])
    }

    @Test func `ends processes and locks`() throws {
        let machine = try Self.machine()
        let file = try present(machine.fileSystem.open(Self.file, .writing))
        #expect(try file.lock(.exclusive, patience: .zero))
        machine.disk.crash(.all)
        #expect(failure { _ = try file.contents() } == .inputOutput)
        #expect(failure { _ = try machine.fileSystem.contents(of: Self.file) } == .inputOutput)
        let next = try present(machine.disk.process(user: 1000).open(Self.file, .writing))
        #expect(try next.lock(.exclusive, patience: .zero))
        next.unlock()
    }

    @Test func `is the same for the same seed`() throws {
        let texts = try (0..<2).map { _ in
            let machine = try SimulatedMachine(seed: 7)
            for name: FileName in ["a", "b", "c", "d"] {
                try machine.fileSystem.write(String(repeating: "x", count: 2000), to: Self.folder.appending(name))
            }
            machine.disk.crash(.some(9))
            let disk = machine.disk.process()
            return try present(disk.names(in: Self.folder)).map { try disk.text(Self.folder.appending($0)) }
        }
        #expect(texts[0] == texts[1])
    }
}
