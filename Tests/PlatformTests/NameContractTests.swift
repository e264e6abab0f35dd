import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// Operations on names, with the same results in both file systems.
@Suite struct `A name` {
    static let subjects = FileSystemSubject.allCases

    @Test(arguments: subjects) func `is listed in the order of bytes`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let latin = try present(FileName([0xE9]))
        let names: [FileName] = ["b", "a", "B", ".hidden", "é", latin]
        for name in names { try bench.write("", to: name) }
        #expect(try bench.fileSystem.names(in: bench.folder) == [".hidden", "B", "a", "b", "é", latin])
    }

    @Test(arguments: subjects) func `is taken by a rename`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.write("new", to: "a")
        try bench.write("old", to: "b")
        try bench.fileSystem.rename(bench.path("a"), to: bench.path("b"))
        #expect(try bench.fileSystem.names(in: bench.folder) == ["b"])
        #expect(try bench.text("b") == "new")
        #expect(failure { try bench.fileSystem.rename(bench.path("a"), to: bench.path("b")) } == .noSuchFile)
    }

    @Test(arguments: subjects) func `is exchanged with another`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.write("1", to: "a")
        try bench.write("2", to: "b")
        let code = failure { try bench.fileSystem.rename(bench.path("a"), to: bench.path("b"), .exchanging) }
        guard code != .unsupported else { return }
        #expect(code == nil)
        #expect(try [bench.text("a"), bench.text("b")] == ["2", "1"])
        #expect(
            failure { try bench.fileSystem.rename(bench.path("a"), to: bench.path("none"), .exchanging) } == .noSuchFile
        )
    }

    @Test(arguments: subjects) func `is kept on request`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.write("1", to: "a")
        try bench.write("2", to: "b")
        let code = failure { try bench.fileSystem.rename(bench.path("a"), to: bench.path("b"), .onlyIfAbsent) }
        guard code != .unsupported else { return }
        #expect(code == .exists)
        try bench.fileSystem.rename(bench.path("a"), to: bench.path("c"), .onlyIfAbsent)
        #expect(try bench.fileSystem.names(in: bench.folder) == ["b", "c"])
    }

    @Test(arguments: subjects) func `can be one of several links to a file`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.write("old", to: "a")
        try bench.fileSystem.link(bench.path("a"), to: bench.path("b"))
        #expect(try bench.fileSystem.status(of: bench.path("b"))?.links == 2)
        try bench.write("in place", to: "a")
        #expect(try bench.text("b") == "in place")
        try bench.fileSystem.replace(bench.path("a"), with: "replaced")
        #expect(try bench.text("b") == "in place")
        #expect(try bench.fileSystem.status(of: bench.path("b"))?.links == 1)
        #expect(failure { try bench.fileSystem.link(bench.path("a"), to: bench.path("b")) } == .exists)
        #expect(failure { try bench.fileSystem.link(bench.path("none"), to: bench.path("c")) } == .noSuchFile)
    }

    @Test(arguments: subjects) func `of a symbolic link leads to its target`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let files = bench.fileSystem
        _ = try files.makeFolder(bench.path("folder"), .privateFolder)
        try bench.makeSymbolicLink("link", to: "folder/file")
        #expect(try files.destination(ofLink: bench.path("link")) == "folder/file")
        #expect(try files.contents(of: bench.path("link")) == nil)
        #expect(try files.status(of: bench.path("link")) == nil)
        #expect(try files.status(of: bench.path("link"), followingLink: false)?.kind == .symbolicLink)
        try files.write("through", to: bench.path("folder").appending("file"))
        #expect(try bench.text("link") == "through")
        try files.replace(bench.path("link"), with: "itself")
        #expect(try files.destination(ofLink: bench.path("link")) == nil)
        #expect(try files.text(bench.path("folder").appending("file")) == "through")
    }

    @Test(arguments: subjects) func `of links in a cycle is an error`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        try bench.makeSymbolicLink("a", to: "b")
        try bench.makeSymbolicLink("b", to: "a")
        #expect(failure { _ = try bench.fileSystem.contents(of: bench.path("a")) } == .tooManySymbolicLinks)
        #expect(try bench.fileSystem.remove(bench.path("a")))
        #expect(try bench.fileSystem.names(in: bench.folder) == ["b"])
    }

    @Test(arguments: subjects) func `of a folder is removed only when it is empty`(_ subject: FileSystemSubject) throws
    {
        let bench = try subject.make()
        let files = bench.fileSystem
        let folder = bench.path("a").appending("b")
        try files.makeFolders(folder)
        try files.makeFolders(folder)
        #expect(try files.status(of: folder)?.permissions == .privateFolder)
        #expect(try files.makeFolder(folder, .privateFolder) == false)
        #expect(failure { try files.remove(bench.path("a")) } == .folderNotEmpty)
        #expect(failure { try files.rename(bench.path("a"), to: folder.appending("c")) } == .invalidArgument)
        #expect(try files.remove(folder))
        #expect(try files.remove(bench.path("a")))
        try bench.write("", to: "file")
        #expect(failure { try files.makeFolders(bench.path("file")) } == .notAFolder)
    }

    @Test(arguments: subjects) func `is at most 255 bytes long`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let longest = try present(FileName(String(repeating: "x", count: 255)))
        try bench.write("", to: longest)
        #expect(failure { try bench.write("", to: longest.appending("x")) } == .nameTooLong)
    }

    @Test(arguments: subjects) func `of a temporary file is unique`(_ subject: FileSystemSubject) throws {
        let bench = try subject.make()
        let names = (0..<100).map { _ in bench.fileSystem.unpredictableName() }
        #expect(Set(names).count == 100)
        #expect(names.allSatisfy { $0.isTemporary })
    }

    @Test(arguments: subjects)
    func `of a replacement has the permissions of the file, and no temporary file remains`(_ subject: FileSystemSubject)
        throws
    {
        let bench = try subject.make()
        try bench.write("old", to: "file")
        try present(bench.fileSystem.open(bench.path("file"), .writing)).setPermissions(
            FilePermissions(rawValue: 0o640))
        let model = try bench.fileSystem.status(of: bench.path("file"))
        try bench.fileSystem.replace(bench.path("file"), with: ([7] as [UInt8]).span.bytes, like: model)
        #expect(try bench.fileSystem.status(of: bench.path("file"))?.permissions == FilePermissions(rawValue: 0o640))
        #expect(try bench.fileSystem.names(in: bench.folder) == ["file"])
        _ = try bench.fileSystem.makeFolder(bench.path("taken"), .privateFolder)
        #expect(failure { try bench.fileSystem.replace(bench.path("taken"), with: "x") } == .isAFolder)
        #expect(try bench.fileSystem.names(in: bench.folder) == ["file", "taken"])
    }
}
