import Foundation
import Glibc
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

extension `The store of this machine` {
    /// Domains that are folders, on a USB stick: without case, permissions, links and names beyond ASCII.
    @Suite struct `Keeps folders on FAT through FUSE` {
        static let strange: PropertyList.Dictionary = [
            "title": "lower", "Title": "mixed", "TITLE": "upper", "con": "device", "aux.x": "device",
            "\u{E9}": "small", "\u{C9}": "large", "\u{65E5}\u{672C}": 1, "\u{1F600}": .data(Data([1])),
            "a/b": 2, "a:b?*\"<>|": 3, "trailing.": 4, "trailing ": 5, ".hidden": 6, "\u{17F}": 7, "s": 8,
        ]

        @Test func `with all keys and values`() throws {
            let stick = try FATMount.orCancel()
            let bench = try ProofBench(at: stick.path + "/prefs")
            try bench.makeFolder("domain", Self.strange)
            #expect(try bench.contents("domain").values == Self.strange)
            var values = Self.strange
            for key in values.keys {
                try bench.write(key, "other", "domain")
                values[key] = "other"
                #expect(try bench.contents("domain").values == values, "\(key)")
            }
            for key in Self.strange.keys {
                try DomainWriter(bench.system, WriteAuthor(.delete, by: bench.system)).commit([
                    DomainEdit(try bench.file("domain")) { $0.values[key] = nil }
                ])
                values[key] = nil
                #expect(try bench.contents("domain").values == values, "\(key)")
            }
        }

        @Test func `with the updates of two processes`() throws {
            let stick = try FATMount.orCancel()
            let bench = try ProofBench(at: stick.path + "/prefs")
            try bench.makeFolder("domain", ["counter": 0, "Counter": 0])
            let count = Extent.share(of: 250)
            let workers = try ["counter", "Counter"].flatMap { key in
                try (0..<2).map { _ in try bench.worker("add", "domain", key, "\(count)") }
            }
            for worker in workers { try #require(try worker.finish().status == 0) }
            let values = try bench.contents("domain").values
            #expect(values == ["counter": .integer(2 * .init(count)), "Counter": .integer(2 * .init(count))])
            #expect(try bench.contents("domain").form == .folder)
        }
    }
}

/// A FAT file system in a file, which FUSE mounts without the kernel's vfat. It is unmounted when it is released.
final class FATMount {
    private let folder: TemporaryFolder
    private let program: Process
    let path: String

    private init(_ folder: TemporaryFolder, _ path: String, _ program: Process) {
        (self.folder, self.path, self.program) = (folder, path, program)
    }

    /// Mounts a new file system, or cancels the test where that is not possible.
    static func orCancel() throws -> FATMount {
        guard let mount = try make() else {
            try Test.cancel("fusefat, mkfs.vfat and the privilege to mount are required")
        }
        return mount
    }

    private static func make() throws -> FATMount? {
        guard let fusefat = Tool.path(of: "fusefat"), Tool.path(of: "mkfs.vfat") != nil else { return nil }
        let folder = try TemporaryFolder()
        let image = folder.url.appending(path: "image").path(percentEncoded: false)
        let path = folder.url.appending(path: "stick").path(percentEncoded: false)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let file = creat(image, 0o600)
        try #require(file >= 0 && ftruncate(file, 32 << 20) == 0 && close(file) == 0)
        try #require(try Subprocess.run("mkfs.vfat", [image]).status == 0)
        let program = Process()
        program.executableURL = URL(filePath: fusefat)
        program.arguments = ["-f", "-o", "rw+", image, path]
        (program.standardOutput, program.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try program.run()
        // The program ends if it cannot mount.
        while try Subprocess.run("mountpoint", ["-q", path]).status != 0 {
            guard program.isRunning else { return nil }
        }
        return FATMount(folder, path, program)
    }

    deinit {
        _ = try? Subprocess.run("umount", [path])
        program.waitUntilExit()
    }
}
