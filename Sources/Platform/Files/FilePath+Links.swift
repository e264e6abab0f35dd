extension FilePath {
    /// Where the path leads once no symbolic link stands at its end. There need be nothing.
    package func followingLinks(in fileSystem: some FileSystem) throws(SystemFailure) -> FilePath {
        var path = self
        for _ in 0..<40 {
            guard let destination = try fileSystem.destination(ofLink: path) else { return path }
            path = path.parent.resolving(destination)
        }
        throw SystemFailure(.tooManySymbolicLinks, .readLink, self)
    }
}
