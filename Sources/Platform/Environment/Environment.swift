/// The environment of a process: variables, arguments, user and host. A plain value, so that tests can construct one.
package struct Environment: Hashable, Sendable {
    package var variables: EnvironmentVariables
    /// The program's name, followed by its arguments.
    package var arguments: [String]
    /// The original bytes of each argument that is not valid UTF-8, keyed by its text in `arguments`. Empty if two
    /// different arguments have the same text.
    package var changedArguments: [String: [UInt8]] = [:]
    /// The same bytes by the argument's position.
    package var bytesOfArguments: [Int: [UInt8]] = [:]
    /// The path of the running program, if known.
    package var executable: FilePath?
    package var process: Int32
    /// The effective user ID.
    package var user: UInt32
    package var hostName: String

    package init(
        variables: EnvironmentVariables = [:], arguments: [String] = [], executable: FilePath? = nil,
        process: Int32 = 1,
        user: UInt32 = 1000, hostName: String = "localhost"
    ) {
        self.variables = variables
        self.arguments = arguments
        self.executable = executable
        self.process = process
        self.user = user
        self.hostName = hostName
    }
}

// MARK: Folders

extension Environment {
    /// The user folders of the XDG Base Directory Specification.
    package enum BaseFolder: Hashable, Sendable, CaseIterable { case configuration, data, state }

    /// The user's home folder is unknown.
    package struct MissingHomeFolder: Error, Hashable, Sendable {
        package let user: UInt32

        package init(user: UInt32) { self.user = user }
    }

    /// Returns the user's home folder from `HOME`, or else from `/etc/passwd`.
    package func home(in fileSystem: some FileSystem) throws -> FilePath {
        if let home = absolutePath("HOME") { return home }
        guard let home = try PasswordEntry.all(in: fileSystem).first(where: { $0.user == user })?.home,
            home.isAbsolute, home.lastComponent != nil
        else {
            throw MissingHomeFolder(user: user)
        }
        return home
    }

    /// Returns the user's folder of a kind, from its variable or else from its default place in the home folder.
    package func folder(_ kind: BaseFolder, in fileSystem: some FileSystem) throws -> FilePath {
        try absolutePath(kind.variable) ?? home(in: fileSystem).resolving(kind.placeInHome)
    }

    /// Returns the system-wide folders, most important first. There are none for `state`.
    package func systemFolders(_ kind: BaseFolder) -> [FilePath] {
        guard let search = kind.search else { return [] }
        let named = variables[search.variable] ?? ""
        guard !named.isEmpty else { return search.preset }
        return named.utf8.split(separator: UInt8(ascii: ":")).compactMap { FilePath($0) }.filter(\.isAbsolute)
    }

    /// Returns the variable's value if it is an absolute path; the specification requires others to be ignored.
    private func absolutePath(_ variable: String) -> FilePath? {
        variables[variable].flatMap { FilePath($0) }.flatMap { $0.isAbsolute ? $0 : nil }
    }
}

extension Environment.BaseFolder {
    fileprivate var variable: String {
        switch self {
        case .configuration: "XDG_CONFIG_HOME"
        case .data: "XDG_DATA_HOME"
        case .state: "XDG_STATE_HOME"
        }
    }

    fileprivate var placeInHome: FilePath {
        switch self {
        case .configuration: ".config"
        case .data: ".local/share"
        case .state: ".local/state"
        }
    }

    fileprivate var search: (variable: String, preset: [FilePath])? {
        switch self {
        case .configuration: ("XDG_CONFIG_DIRS", ["/etc/xdg"])
        case .data: ("XDG_DATA_DIRS", ["/usr/local/share", "/usr/share"])
        case .state: nil
        }
    }
}

extension Environment.MissingHomeFolder: CustomStringConvertible {
    package var description: String {
        "HOME is not set, and /etc/passwd has no home folder for user ID \(user)"
    }
}
