import Foundation
import Platform

/// A small file system, which is unmounted when it is released.
package final class Mount {
    private let folder: TemporaryFolder
    package let path: String

    private init(_ folder: TemporaryFolder) {
        self.folder = folder
        path = folder.url.path(percentEncoded: false)
    }

    /// Mounts a file system with a size limit. Returns nil if that is not permitted.
    ///
    /// - Parameter folder: The mount point, by default a new temporary folder.
    package static func make(size: Int, over folder: TemporaryFolder? = nil) throws -> Mount? {
        let folder = try folder ?? TemporaryFolder()
        let path = folder.url.path(percentEncoded: false)
        // In a container, root may lack the permission to mount.
        guard try Subprocess.run("mount", ["-t", "tmpfs", "-o", "size=\(size)", "tmpfs", path]).status == 0 else {
            return nil
        }
        return Mount(folder)
    }

    deinit { _ = try? Subprocess.run("umount", [path]) }

    package func makeReadOnly(_ isReadOnly: Bool = true) throws {
        let option = isReadOnly ? "remount,ro" : "remount,rw"
        // The system refuses as long as a process has a file open for writing.
        for _ in 0..<1000 {
            if try Subprocess.run("mount", ["-o", option, path]).status == 0 { return }
        }
        throw Refused()
    }

    package struct Refused: Error {}

    private var filler: FilePath { (FilePath(path) ?? "/nowhere").appending("filler") }

    /// Fills the file system except for some pages.
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
