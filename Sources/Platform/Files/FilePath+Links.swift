extension FilePath {
    /// The path without any symbolic link in it, and without `.` and `..`. What is not there yet leads where it says.
    package func resolvingLinks(in fileSystem: some FileSystem) throws(SystemFailure) -> FilePath {
        var (resolved, rest, links) = (FilePath.root, Array(components.reversed()), 0)
        while let component = rest.popLast() {
            guard let name = FileName(component) else {
                // All but `.` and `..` are names.
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

    /// Where the path leads for `user`, who is about to replace the file there. A link or a file that somebody else has
    /// planted in a folder where anybody may make files is refused.
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
