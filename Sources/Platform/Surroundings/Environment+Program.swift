extension Environment {
    /// The file of the program that a link of the kernel's leads to; nil for an unreadable one, as in a process that
    /// changed its user.
    ///
    /// Once the file is removed, or replaced by a newer one, the kernel says so behind its path.
    package static func program(behind link: FilePath, in fileSystem: some FileSystem) -> FilePath? {
        guard let path = try? fileSystem.destination(ofLink: link) else { return nil }
        guard path.bytes.count > deleted.count, path.bytes.suffix(deleted.count).elementsEqual(deleted) else {
            return path
        }
        // A file can be called so all the same.
        if let links = try? fileSystem.status(of: link)?.links, links > 0, (try? fileSystem.status(of: path)) != nil {
            return path
        }
        return FilePath(path.bytes.dropLast(deleted.count))
    }

    private static var deleted: String.UTF8View { " (deleted)".utf8 }
}
