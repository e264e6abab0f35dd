import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// Each operation of a replacement fails in turn.
@Suite struct `A replacement` {
    static let file: FilePath = "/home/ada/folder/file"
    static let old = String(repeating: "old ", count: 300)
    static let new = String(repeating: "new ", count: 400)

    static let effects: [Fault.Effect] = [
        .fail(.inputOutput), .fail(.noSpace), .tear(keeping: 700, .noSpace), .dieBefore, .dieAfter,
        .dieWithin(keeping: 700),
    ]

    static func machine() throws -> SimulatedMachine {
        let machine = try SimulatedMachine(seed: Seed.ofThisRun.number)
        try machine.fileSystem.makeFolders("/home/ada/folder")
        try machine.fileSystem.replace(file, with: old)
        return machine
    }

    /// Replaces a file while the nth operation fails. Returns whether it was reached, and whether the file is correct.
    static func attempt(_ effect: Fault.Effect, at operation: Int) throws -> (SimulatedMachine, hit: Bool, done: Bool) {
        let machine = try machine()
        machine.fileSystem.setFaults(FaultPlan(effect, at: operation))
        let code = failure { try machine.fileSystem.replace(file, with: new) }
        return (machine, machine.fileSystem.hits > 0, code == nil)
    }

    @Test(arguments: effects)
    func `leaves the old or the new file whatever fails, even after a crash`(_ effect: Fault.Effect) throws {
        var operation = 0
        while true {
            operation += 1
            let (machine, hit, done) = try Self.attempt(effect, at: operation)
            let seen = try machine.disk.process().text(Self.file)
            #expect(seen == Self.new || (seen == Self.old && !done), "operation \(operation)")
            for text in try `A crash`.outcomes(machine, of: Self.file) {
                #expect(text == Self.new || (text == Self.old && !done), "operation \(operation), after a crash")
            }
            if !hit { break }
        }
        // open, write, read the owner, synchronize, rename, synchronize the folder.
        #expect(operation == 7)
    }

    @Test func `leaves nothing else when it fails`() throws {
        for operation in 1...5 {
            let (machine, _, done) = try Self.attempt(.fail(.inputOutput), at: operation)
            #expect(!done)
            #expect(try machine.fileSystem.names(in: "/home/ada/folder") == ["file"])
        }
    }

    /// The loop above must find the errors of a careless program.
    @Test func `without synchronization is detected`() throws {
        var isTorn = false
        for operation in 1...5 {
            let machine = try Self.machine()
            machine.fileSystem.setFaults(FaultPlan(.dieAfter, at: operation))
            _ = failure { try machine.fileSystem.write(Self.new, to: Self.file) }
            let texts = try `A crash`.outcomes(machine, of: Self.file)
            if !texts.isSubset(of: [Self.old, Self.new]) { isTorn = true }
        }
        #expect(isTorn)
    }

    @Test func `fails as long as the fault lasts`() throws {
        let machine = try Self.machine()
        machine.fileSystem.setFaults(FaultPlan([Fault(.fail(.readOnly), .from(2), of: .open)]))
        #expect(failure { try machine.fileSystem.replace(Self.file, with: "1") } == nil)
        for _ in 0..<3 { #expect(failure { try machine.fileSystem.replace(Self.file, with: "2") } == .readOnly) }
        #expect(machine.fileSystem.hits == 3)
        #expect(try machine.disk.process().text(Self.file) == "1")
    }

    @Test func `on a full disk fails and leaves the old file`() throws {
        let machine = try Self.machine()
        machine.disk.capacity = machine.disk.used + Self.new.utf8.count - 1
        #expect(failure { try machine.fileSystem.replace(Self.file, with: Self.new) } == .noSpace)
        #expect(try machine.fileSystem.text(Self.file) == Self.old)
        #expect(try machine.fileSystem.names(in: "/home/ada/folder") == ["file"])
        machine.disk.capacity += 1
        try machine.fileSystem.replace(Self.file, with: Self.new)
        #expect(try machine.fileSystem.text(Self.file) == Self.new)
    }

    @Test func `on a read-only disk, or without permission, fails and leaves the old file`() throws {
        let machine = try Self.machine()
        machine.disk.isReadOnly = true
        #expect(failure { try machine.fileSystem.replace(Self.file, with: Self.new) } == .readOnly)
        machine.disk.isReadOnly = false
        let other = machine.disk.process(user: 2000)
        #expect(failure { try other.replace(Self.file, with: Self.new) } == .accessDenied)
        #expect(failure { _ = try other.contents(of: Self.file) } == .accessDenied)
        #expect(try machine.fileSystem.text(Self.file) == Self.old)
    }

    @Test(arguments: [
        (Limitation.noFolderSynchronization, ErrorCode?.none), (.noPermissions, nil), (.noExchange, nil),
        (.noHardLinks, nil), (.noLocks, nil), (.renameKeeps, .exists), (.reusesInodes, nil),
        (.coarseTimes, nil), (.asciiNames, nil),
    ])
    func `works on a file system with a limitation`(_ limitation: Limitation, _ code: ErrorCode?) throws {
        let machine = try Self.machine()
        machine.disk.limitations = [limitation]
        let model = try machine.fileSystem.status(of: Self.file)
        let bytes = Array(Self.new.utf8)
        #expect(failure { try machine.fileSystem.replace(Self.file, with: bytes.span.bytes, like: model) } == code)
        #expect(try machine.fileSystem.text(Self.file) == (code == nil ? Self.new : Self.old))
    }
}

/// A process that is killed, while the machine continues.
@Suite struct `A killed process` {
    @Test func `loses its locks but nothing that it wrote`() throws {
        let machine = try `A replacement`.machine()
        let file = try present(machine.fileSystem.open("/home/ada/lock", .creating(.privateFile)))
        #expect(try file.lock(.exclusive, patience: .zero))
        try file.write(Array("mark".utf8).span.bytes, at: 0)
        let other = machine.disk.process(user: 1000)
        let waiting = try present(other.open("/home/ada/lock", .writing))
        #expect(try !waiting.lock(.exclusive, patience: .zero))
        other.whenBusy { machine.fileSystem.kill() }
        #expect(try waiting.lock(.exclusive, patience: .seconds(5)))
        #expect(try waiting.contents() == Array("mark".utf8))
        #expect(failure { try file.synchronize() } == .inputOutput)
        waiting.unlock()
    }
}
