extension Environment {
    /// Returns the path of the program that a kernel link such as `/proc/self/exe` leads to, or nil if the link is
    /// unreadable, as in a process that changed its user.
    ///
    /// Once the file has been removed or replaced, the kernel appends " (deleted)" to its path.
    package static func program(behind link: FilePath, in fileSystem: some FileSystem) -> FilePath? {
        guard let path = try? fileSystem.destination(ofLink: link) else { return nil }
        guard path.bytes.count > deleted.count, path.bytes.suffix(deleted.count).elementsEqual(deleted) else {
            return path
        }
        // The real name of a file can end like this too.
        if let links = try? fileSystem.status(of: link)?.links, links > 0, (try? fileSystem.status(of: path)) != nil {
            return path
        }
        return FilePath(path.bytes.dropLast(deleted.count))
    }

    private static var deleted: String.UTF8View { " (deleted)".utf8 }
}
