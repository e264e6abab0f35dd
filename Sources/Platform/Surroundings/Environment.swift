/// What a process is told when it starts. A value: what has it from elsewhere is as good as what the system says.
package struct Environment: Hashable, Sendable {
    package var variables: EnvironmentVariables
    /// The program's name and what follows it.
    package var arguments: [String]
    /// The bytes of each argument that is no UTF-8, by the text that it is among `arguments`. Those that two different
    /// ones have become are empty.
    package var changedArguments: [String: [UInt8]] = [:]
    /// The file of the running program, where that can be known.
    package var executable: FilePath?
    package var process: Int32
    /// In whose name the process acts.
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
    /// The folders that the XDG base directory specification knows.
    package enum BaseFolder: Hashable, Sendable, CaseIterable { case configuration, data, state }

    /// Nobody says where the user's files are.
    package struct Homeless: Error, Hashable, Sendable {
        package let user: UInt32

        package init(user: UInt32) { self.user = user }
    }

    /// The user's home: `HOME`, else what `/etc/passwd` says.
    package func home(in fileSystem: some FileSystem) throws -> FilePath {
        if let home = absolutePath("HOME") { return home }
        guard let home = try PasswordEntry.all(in: fileSystem).first(where: { $0.user == user })?.home,
            home.isAbsolute, home.lastComponent != nil
        else {
            throw Homeless(user: user)
        }
        return home
    }

    /// The user's own folder of a kind: what its variable says, else a place in the user's home.
    package func folder(_ kind: BaseFolder, in fileSystem: some FileSystem) throws -> FilePath {
        try absolutePath(kind.variable) ?? home(in: fileSystem).resolving(kind.placeInHome)
    }

    /// The folders of the whole system, the most important first. There are none of the kind `state`.
    package func systemFolders(_ kind: BaseFolder) -> [FilePath] {
        guard let search = kind.search else { return [] }
        let named = variables[search.variable] ?? ""
        guard !named.isEmpty else { return search.preset }
        return named.utf8.split(separator: UInt8(ascii: ":")).compactMap { FilePath($0) }.filter(\.isAbsolute)
    }

    /// What the variable holds, if it is an absolute path: the specification wants every other one ignored.
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

extension Environment.Homeless: CustomStringConvertible {
    package var description: String {
        "HOME is not set, and /etc/passwd has no home for the user with the number \(user)"
    }
}
