import Foundation
import Platform

/// A small file system of its own, gone with the last who uses it.
package final class Mount {
    private let folder: TemporaryFolder
    package let path: String

    private init(_ folder: TemporaryFolder) {
        self.folder = folder
        path = folder.url.path(percentEncoded: false)
    }

    /// A file system whose files can have so many bytes together; nil where none can be had.
    ///
    /// - Parameter folder: Where it is mounted, if not in a folder of its own.
    package static func make(size: Int, over folder: TemporaryFolder? = nil) throws -> Mount? {
        let folder = try folder ?? TemporaryFolder()
        let path = folder.url.path(percentEncoded: false)
        // In a container, root may not mount either.
        guard try Subprocess.run("mount", ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path]).status == 0 else {
            return nil
        }
        return Mount(folder)
    }

    deinit { _ = try? Subprocess.run("umount", [path]) }

    package func makeReadOnly() throws {
        guard try Subprocess.run("mount", ["-o", "remount,ro", path]).status == 0 else { throw Refused() }
    }

    package struct Refused: Error {}

    private var filler: FilePath { (FilePath(path) ?? "/nowhere").appending("filler") }

    /// Fills the file system up, but for some pages.
    package func fill(leaving pages: Int) throws {
        let files = SystemFileSystem()
        guard let file = try files.open(filler, .creating(.privateFile)) else { throw Refused() }
        let page = [UInt8](repeating: 1, count: 4096)
        var count = 0
        do throws(SystemFailure) {
            while true {
                try file.write(page.span.bytes, at: count * 4096)
                count += 1
            }
        } catch {
            guard error.code == .noSpace else { throw error }
        }
        try file.truncate(to: max(0, count - pages) * 4096)
    }

    package func empty() throws { try SystemFileSystem().remove(filler) }
}
