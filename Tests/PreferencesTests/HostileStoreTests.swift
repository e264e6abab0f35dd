import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Files that another user may have put into a folder that both can write.
@Suite struct `In a store that another user can write` {
    static let file = StoreBench.file("com.example.editor")
    static let precious: FilePath = "/home/ada/precious"

    @Test func `a lock that is a link to a file of ours is not written to`() throws {
        let bench = try StoreBench()
        let text = Array("of great value".utf8)
        try bench.process().scribble(text, to: Self.precious)
        try bench.process().fileSystem.makeFolders(StoreBench.folder.appending(".locks"))
        guard case .file(let lock) = Self.file.lock else { return }
        try bench.simulated.fileSystem.makeSymbolicLink(lock, to: Self.precious)
        #expect(throws: StoreFailure.self) { try bench.process().set("a", 1, in: Self.file) }
        #expect(try bench.process().fileSystem.contents(of: Self.precious) == text)
    }

    @Test func `a lock that is a dangling link creates nothing`() throws {
        let bench = try StoreBench()
        try bench.process().fileSystem.makeFolders(StoreBench.folder.appending(".locks"))
        guard case .file(let lock) = Self.file.lock else { return }
        try bench.simulated.fileSystem.makeSymbolicLink(lock, to: Self.precious)
        #expect(throws: StoreFailure.self) { try bench.process().set("a", 1, in: Self.file) }
        #expect(try bench.process().fileSystem.status(of: Self.precious) == nil)
    }

    /// A recorded transaction is carried out with the rights of the process that finds it, so it could create files
    /// anywhere.
    @Test func `a transaction that another user has recorded is not completed`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        let record = PropertyList.array([
            .dictionary([
                "name": "any", "path": Self.path(Self.file.path), "target": Self.path(Self.file.path),
                "lock": Self.path(Self.precious), "temporary": Self.path("/home/ada/.prefs-0123456789abcdef"),
            ])
        ])
        let note = StoreBench.folder.appending(".transactions").appending("0123456789abcdef")
        let stranger = bench.simulated.disk.process()
        try stranger.makeFolders(note.parent)
        try stranger.open(note.parent, .reading)?.setPermissions(FilePermissions(rawValue: 0o777))
        try stranger.replace(note, with: Array(try record.serialized(as: .binary)))
        try stranger.open(note, .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        let failure = #expect(throws: StoreFailure.self) { try Self.file.contents(on: bench.process()) }
        #expect(failure?.description.contains("\(note)") == true, "\(String(describing: failure))")
        #expect(throws: StoreFailure.self) { try bench.process().set("a", 2, in: Self.file) }
        #expect(try bench.process().fileSystem.status(of: Self.precious) == nil)
        // The record names no other file.
        #expect(try StoreBench.file("com.example.other").contents(on: bench.process()).values == [:])
    }

    private static func path(_ path: FilePath) -> PropertyList { .data(Data(path.bytes)) }
}
