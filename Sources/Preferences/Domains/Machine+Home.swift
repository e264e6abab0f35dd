package import Platform

extension Machine {
    /// The folder that relative paths start at; nil where nobody says, or it is gone.
    package var workingFolder: FilePath? {
        guard let folder = try? fileSystem.destination(ofLink: "/proc/self/cwd"), folder.isAbsolute,
            (try? fileSystem.status(of: folder))?.kind == .folder
        else { return nil }
        return folder
    }

    /// The home of a user; without a name, of this one. Nil where nobody says.
    package func home(of user: String?) -> FilePath? {
        guard let user else { return try? environment.home(in: fileSystem) }
        return (try? PasswordEntry.all(in: fileSystem))?.first { $0.name == user }?.home
    }
}
