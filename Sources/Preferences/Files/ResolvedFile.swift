internal import Platform
internal import PropertyLists

/// A domain's file with its path resolved. A symbolic link is kept, and its target is replaced.
struct ResolvedFile: Sendable {
    let file: DomainFile
    let target: FilePath
    let isLinked: Bool

    init(_ file: DomainFile, on machine: Machine) throws(StoreFailure) {
        self.file = file
        target = try file.reporting { () throws(SystemFailure) in
            try file.path.leadingToTarget(
                for: machine.environment.user, in: machine.fileSystem, checksFolders: !file.isOfDomain)
        }
        isLinked = target != file.path
    }

    /// Makes a file whose path was resolved before.
    init(decided file: DomainFile, target: FilePath) {
        self.file = file
        self.target = target
        isLinked = target != file.path
    }
}
