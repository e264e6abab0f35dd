package import Platform

extension Machine {
    /// The base of relative paths, or nil if it is unknown or was removed.
    package var workingFolder: FilePath? {
        guard let folder = try? fileSystem.destination(ofLink: "/proc/self/cwd"), folder.isAbsolute,
            (try? fileSystem.status(of: folder))?.kind == .folder
        else { return nil }
        return folder
    }

    /// Returns the home of a user, by default of the present one, or nil if it is unknown.
    package func home(of user: String?) -> FilePath? {
        guard let user else { return try? environment.home(in: fileSystem) }
        return (try? PasswordEntry.all(in: fileSystem))?.first { $0.name == user }?.home
    }
}
