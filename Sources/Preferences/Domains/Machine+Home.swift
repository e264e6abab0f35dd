package import Platform

extension Machine {
    /// The home of a user; without a name, of this one. Nil where nobody says.
    package func home(of user: String?) -> FilePath? {
        guard let user else { return try? environment.home(in: fileSystem) }
        guard let list = (try? fileSystem.contents(of: "/etc/passwd", limit: 16 << 20)) ?? nil else { return nil }
        return PasswordEntry.all(in: list).first { $0.name == user }?.home
    }
}
