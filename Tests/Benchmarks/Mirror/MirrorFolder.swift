import FoundationEssentials
import Glibc
import Platform

/// An empty folder on the disk that the package lies on, gone when it is let go: some homes, and a directory they
/// share.
final class MirrorFolder {
    let path: String
    let directory: FilePath

    init() throws {
        let place = FileManager.default.currentDirectoryPath + "/.build/benchmarks"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        var template = Array((place + "/mirror-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure.system(place) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let directory = FilePath(path + "/shared") else { throw Failure("\(path) is no path") }
        self.directory = directory
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Two hosts that take part in a mirror, or more.
    func hosts(_ names: String...) throws -> [MirrorHost] {
        try names.enumerated().map { index, name in
            let host = try MirrorHost(name, in: self)
            try host.enter(directory, isFirst: index == 0)
            return host
        }
    }

    /// All files in the directory with what tells them from others.
    func traces() throws -> [String: String] {
        var traces: [String: String] = [:]
        for file in try FileManager.default.subpathsOfDirectory(atPath: directory.description) {
            var status = stat()
            guard lstat("\(directory)/\(file)", &status) == 0 else { continue }
            traces[file] = "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        }
        return traces
    }
}
