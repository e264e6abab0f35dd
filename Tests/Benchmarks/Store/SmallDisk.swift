import FoundationEssentials
import Glibc

/// A disk of 512 KiB in memory, for which the system asks for privilege.
final class SmallDisk {
    /// An empty folder on the disk.
    let folder: String
    private let place: String

    init() throws {
        place = FileManager.default.currentDirectoryPath + "/.build/benchmarks/disk"
        folder = place + "/store"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        guard mount("tmpfs", place, "tmpfs", 0, "size=512k") == 0 else {
            throw Failure.system("mounting a small disk")
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { umount2(place, Int32(MNT_DETACH)) }

    /// Takes all the room that is left.
    func fill() throws {
        let descriptor = open(place + "/filling", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure.system("filling a small disk") }
        defer { close(descriptor) }
        let page = [UInt8](repeating: 0, count: 4096)
        while write(descriptor, page, page.count) > 0 {}
        guard errno == ENOSPC else { throw Failure.system("filling a small disk") }
    }
}
