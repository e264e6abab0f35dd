import Platform
import Preferences
import TestSupport
import Testing

/// A small file system of its own, gone with the last who uses it.
final class Mount {
    private let folder: TemporaryFolder
    let path: String

    private init(_ folder: TemporaryFolder) {
        self.folder = folder
        path = folder.url.path(percentEncoded: false)
    }

    /// A file system whose files can have so many bytes together. The test is over where none can be had.
    static func make(size: Int) throws -> Mount {
        let folder = try TemporaryFolder()
        let path = folder.url.path(percentEncoded: false)
        // In a container, root may not mount either.
        guard try Subprocess.run("mount", ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path]).status == 0 else {
            try Test.cancel("no privilege to mount")
        }
        return Mount(folder)
    }

    deinit { _ = try? Subprocess.run("umount", [path]) }

    func makeReadOnly() throws {
        try #require(try Subprocess.run("mount", ["-o", "remount,ro", path]).status == 0)
    }

    private var filler: FilePath { get throws { try #require(FilePath(path)).appending("filler") } }

    /// Fills the file system up, but for some pages.
    func fill(leaving pages: Int) throws {
        let files = SystemFileSystem()
        let file = try #require(try files.open(try filler, .creating(.privateFile)))
        let page = [UInt8](repeating: 1, count: 4096)
        var count = 0
        do throws(SystemFailure) {
            while true {
                try file.write(page.span.bytes, at: count * 4096)
                count += 1
            }
        } catch {
            try #require(error.code == .noSpace)
        }
        try file.truncate(to: max(0, count - pages) * 4096)
    }

    func empty() throws { try SystemFileSystem().remove(try filler) }
}
