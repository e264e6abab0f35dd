import FoundationEssentials
import Glibc

/// What a durable write costs without a store around it: the measure for those that are durable.
struct BareReplacement {
    /// Of 100 replacements the one in the middle, by the clock on the wall.
    func nanoseconds(bytes: Int) throws -> Double {
        let folder = FileManager.default.currentDirectoryPath + "/.build/benchmarks/bare"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let contents = [UInt8](repeating: 0x41, count: bytes)
        let times = try (0..<100).map { _ in
            let start = now()
            try replace(folder, contents)
            return now() - start
        }
        return Double(times.sorted()[times.count / 2])
    }

    private func replace(_ folder: String, _ contents: [UInt8]) throws {
        let (temporary, path) = (folder + "/temporary", folder + "/file")
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure.system(temporary) }
        defer { close(file) }
        guard write(file, contents, contents.count) == contents.count, fsync(file) == 0,
            rename(temporary, path) == 0
        else {
            throw Failure.system(temporary)
        }
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw Failure.system(folder) }
    }
}
