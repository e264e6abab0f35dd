extension FilePath {
    /// Returns the path with all symbolic links, `.` and `..` resolved. Components that do not exist yet are kept.
    package func resolvingLinks(in fileSystem: some FileSystem) throws(SystemFailure) -> FilePath {
        var (resolved, rest, links) = (FilePath.root, Array(components.reversed()), 0)
        while let component = rest.popLast() {
            guard let name = FileName(component) else {
                // The only components that are not file names are `.` and `..`.
                if component.count == 2 { resolved = resolved.parent }
                continue
            }
            guard let destination = try fileSystem.destination(ofLink: resolved.appending(name)) else {
                resolved = resolved.appending(name)
                continue
            }
            links += 1
            guard links <= 40 else { throw SystemFailure(.tooManySymbolicLinks, .readLink, self) }
            if destination.isAbsolute { resolved = .root }
            rest += destination.components.reversed()
        }
        return resolved
    }

    /// Returns the target of the path for `user`, who is about to replace the file there.
    ///
    /// Throws `notPermitted` for a link or file that another user has created in a folder where anyone can create
    /// files.
    package func leadingToTarget(
        for user: UInt32, in fileSystem: some FileSystem
    ) throws(SystemFailure) -> FilePath {
        var path = self
        for _ in 0..<40 {
            let found = try fileSystem.status(of: path, followingLink: false)
            let isOwn = found.map { $0.owner == user && [.file, .symbolicLink].contains($0.kind) } ?? true
            if !isOwn, try fileSystem.status(of: path.parent)?.isOpenToAll == true {
                throw SystemFailure(.notPermitted, .replacePlanted, path)
            }
            guard found?.kind == .symbolicLink, let destination = try fileSystem.destination(ofLink: path) else {
                return path
            }
            path = path.parent.resolving(destination)
        }
        throw SystemFailure(.tooManySymbolicLinks, .readLink, self)
    }

    /// Returns the path with symbolic links at its end followed. The target need not exist.
    package func followingLinks(in fileSystem: some FileSystem) throws(SystemFailure) -> FilePath {
        var path = self
        for _ in 0..<40 {
            guard let destination = try fileSystem.destination(ofLink: path) else { return path }
            path = path.parent.resolving(destination)
        }
        throw SystemFailure(.tooManySymbolicLinks, .readLink, self)
    }
}
