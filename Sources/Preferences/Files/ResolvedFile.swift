internal import Platform
internal import PropertyLists

/// A domain's file, and where its path leads: a symbolic link is kept, and what it leads to is replaced.
struct ResolvedFile: Sendable {
    let file: DomainFile
    let target: FilePath
    /// Whether the path is a symbolic link.
    let isLinked: Bool

    init(_ file: DomainFile, on machine: Machine) throws(StoreFailure) {
        self.file = file
        target = try file.reporting { () throws(SystemFailure) in
            try file.path.leadingToTarget(for: machine.environment.user, in: machine.fileSystem)
        }
        isLinked = target != file.path
    }

    /// A file whose way was found before.
    init(decided file: DomainFile, target: FilePath) {
        self.file = file
        self.target = target
        isLinked = target != file.path
    }
}
