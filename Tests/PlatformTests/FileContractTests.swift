import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// Operations on files, with the same results in both file systems.
@Suite struct `A file` {
    static let subjects = FileSystemSubject.allCases

    @Test(arguments: subjects) func `that does not exist is nil`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let path = bench.path("none")
        #expect(try bench.fileSystem.contents(of: path) == nil)
        #expect(try bench.fileSystem.open(path, .reading) == nil)
        #expect(try bench.fileSystem.open(path, .writing) == nil)
        #expect(try bench.fileSystem.status(of: path) == nil)
        #expect(try bench.fileSystem.names(in: path) == nil)
        #expect(try bench.fileSystem.destination(ofLink: path) == nil)
        #expect(try bench.fileSystem.remove(path) == false)
        #expect(try bench.fileSystem.contents(of: path.appending("below")) == nil)
    }

    @Test(arguments: subjects) func `returns what was written`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        for text in ["", "a", String(repeating: "0123456789", count: 30_000)] {
            try bench.write(text, to: "file")
            #expect(try bench.text("file") == text)
        }
    }

    @Test(arguments: subjects) func `over the limit is not read`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.write("12345", to: "file")
        #expect(try bench.fileSystem.contents(of: bench.path("file"), limit: 5)?.count == 5)
        #expect(failure { _ = try bench.fileSystem.contents(of: bench.path("file"), limit: 4) } == .fileTooLarge)
    }

    @Test func `that the kernel generates is read completely`() throws {
        #expect(try present(SystemFileSystem().text("/proc/sys/fs/inotify/max_queued_events")).hasSuffix("\n"))
    }

    @Test(arguments: subjects) func `is read in ranges, short at its end`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.write("0123456789", to: "file")
        let file = try present(bench.fileSystem.open(bench.path("file"), .reading))
        let rows: [(offset: Int, count: Int, text: String)] = [
            (0, 4, "0123"), (3, 4, "3456"), (8, 4, "89"), (10, 4, ""), (99, 1, ""), (5, 0, ""),
        ]
        for row in rows {
            var bytes = [UInt8](repeating: 0, count: row.count)
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: row.offset) }
            #expect(String(decoding: bytes.prefix(count), as: UTF8.self) == row.text)
        }
    }

    @Test(arguments: subjects) func `grows by zeros and shrinks`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let file = try present(bench.fileSystem.open(bench.path("file"), .creating(.privateFile)))
        try file.write(([1, 2] as [UInt8]).span.bytes, at: 3)
        #expect(try file.contents() == [0, 0, 0, 1, 2])
        try file.truncate(to: 4)
        #expect(try file.contents() == [0, 0, 0, 1])
        try file.truncate(to: 6)
        #expect(try file.contents() == [0, 0, 0, 1, 0, 0])
    }

    /// In a folder that others can write, the link could lead to any file of the user.
    @Test(arguments: subjects) func `is opened through a link only on request`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.write("old", to: "file")
        try bench.makeSymbolicLink("link", to: bench.path("file"))
        try bench.makeSymbolicLink("dangling", to: bench.path("nothing"))
        for name in ["link", "dangling"] as [FileName] {
            for access in [.creating(.privateFile), .readingNoFollow] as [FileAccess] {
                #expect(
                    failure { _ = try bench.fileSystem.open(bench.path(name), access) } == .tooManySymbolicLinks)
            }
        }
        #expect(try bench.fileSystem.open(bench.path("file"), .readingNoFollow)?.contents() == Array("old".utf8))
        #expect(try bench.fileSystem.open(bench.path("nothing"), .readingNoFollow) == nil)
        #expect(try bench.fileSystem.status(of: bench.path("nothing")) == nil)
    }

    @Test(arguments: subjects) func `opened for reading cannot be written`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.write("old", to: "file")
        let file = try present(bench.fileSystem.open(bench.path("file"), .reading))
        #expect(failure { try file.write(([1] as [UInt8]).span.bytes, at: 0) } == .badDescriptor)
        #expect(try bench.text("file") == "old")
    }

    @Test(arguments: subjects) func `is created only if the name is free`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.makeSymbolicLink("dangling", to: "nowhere")
        try bench.write("old", to: "file")
        for name: FileName in ["file", "dangling"] {
            #expect(failure { _ = try bench.fileSystem.open(bench.path(name), .creatingNew(.privateFile)) } == .exists)
        }
        #expect(try bench.fileSystem.open(bench.path("new"), .creatingNew(.privateFile)) != nil)
        #expect(try bench.text("new") == "")
    }

    @Test(arguments: subjects) func `below a file is an error, not missing`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.write("", to: "file")
        #expect(failure { _ = try bench.fileSystem.contents(of: bench.path("file").appending("x")) } == .notAFolder)
        #expect(failure { _ = try bench.fileSystem.names(in: bench.path("file")) } == .notAFolder)
        #expect(failure { _ = try bench.fileSystem.contents(of: bench.folder) } == .isAFolder)
        #expect(failure { _ = try bench.fileSystem.open(bench.folder, .writing) } == .isAFolder)
    }

    @Test(arguments: subjects) func `does not change for a process that has it open`(_ subject: FileSystemSubject)
        throws
    {
        let bench = try subject.make()
        try bench.write("old", to: "file")
        let file = try present(bench.fileSystem.open(bench.path("file"), .reading))
        try bench.fileSystem.replace(bench.path("file"), with: "new")
        #expect(try file.contents() == Array("old".utf8))
        #expect(try bench.text("file") == "new")
        try bench.fileSystem.remove(bench.path("file"))
        #expect(try file.contents() == Array("old".utf8))
    }

    @Test(arguments: subjects) func `is another generation after each change`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let path = bench.path("file")
        try bench.write("0", to: "file")
        var seen = [try present(bench.fileSystem.status(of: path)).generation]
        let changes: [() throws -> Void] = [
            { try bench.write("longer", to: "file") },
            { try bench.fileSystem.replace(path, with: "same++") },
            { try bench.fileSystem.replace(path, with: "") },
        ]
        for change in changes {
            try change()
            let generation = try present(bench.fileSystem.status(of: path)).generation
            #expect(!seen.contains(generation))
            #expect(try bench.fileSystem.status(of: path)?.generation == generation)
            seen.append(generation)
        }
    }

    @Test(arguments: subjects) func `has the same status as its handle`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let path = bench.path("file")
        let file = try present(bench.fileSystem.open(path, .creating(FilePermissions(rawValue: 0o640))))
        try file.setPermissions(FilePermissions(rawValue: 0o604))
        try file.write(([1, 2, 3] as [UInt8]).span.bytes, at: 0)
        let status = try present(bench.fileSystem.status(of: path))
        #expect(try file.status() == status)
        #expect(status.kind == .file && status.size == 3 && status.links == 1)
        #expect(status.permissions == FilePermissions(rawValue: 0o604))
    }
}
