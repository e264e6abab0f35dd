internal import Digests

/// The environment of a process: variables, arguments, user and host. A plain value, so that tests can construct one.
package struct Environment: Hashable, Sendable {
    package var variables: EnvironmentVariables
    /// The program's name, followed by its arguments.
    package var arguments: [String]
    /// The original bytes of each argument that is not valid UTF-8, by its position in `arguments`.
    package var bytesOfArguments: [Int: [UInt8]] = [:]
    /// The path of the running program, if known.
    package var executable: FilePath?
    /// The base of relative paths at the start of the process; nil if it was removed. Used where there is no `/proc`.
    package var workingFolder: FilePath?
    package var process: Int32
    /// The effective user ID.
    package var user: UInt32
    package var hostName: String

    package init(
        variables: EnvironmentVariables = [:], arguments: [String] = [], executable: FilePath? = nil,
        workingFolder: FilePath? = nil, process: Int32 = 1, user: UInt32 = 1000, hostName: String = "localhost"
    ) {
        self.variables = variables
        self.arguments = arguments
        self.executable = executable
        self.workingFolder = workingFolder
        self.process = process
        self.user = user
        self.hostName = hostName
    }
}

extension Environment {
    /// The width of help that the user requests with `COLUMNS`, or nil.
    package var columns: Int? { variables["COLUMNS"].flatMap(Int.init).flatMap { 20...1000 ~= $0 ? $0 : nil } }
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
        guard let named = variables.bytes(of: search.variable), !named.isEmpty else { return search.preset }
        return named.split(separator: UInt8(ascii: ":")).compactMap { FilePath($0) }.filter(\.isAbsolute)
    }

    /// Returns a path with `~/` at its beginning and variables such as `$NAME` expanded. The variables of the XDG
    /// specification have defaults. Returns nil if the path is relative, or if another variable has no value.
    package func path(expanding text: String, in fileSystem: some FileSystem) -> FilePath? {
        var (path, rest): ([UInt8], Substring) = ([], text.hasPrefix("~/") ? "$HOME" + text.dropFirst() : text[...])
        while let dollar = rest.firstIndex(of: "$") {
            path += rest[..<dollar].utf8
            rest = rest[dollar...].dropFirst()
            let name = String(rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
            rest = rest.dropFirst(name.count)
            guard let value = self.path(ofVariable: name, in: fileSystem) else { return nil }
            path += value.bytes
        }
        return FilePath(path + rest.utf8).flatMap { $0.isAbsolute ? $0.normalized : nil }
    }

    private func path(ofVariable name: String, in fileSystem: some FileSystem) -> FilePath? {
        if name == "HOME" { return try? home(in: fileSystem) }
        guard let kind = BaseFolder.allCases.first(where: { $0.variable == name }) else { return variables.path(name) }
        return try? folder(kind, in: fileSystem)
    }

    /// Returns the variable's value if it is an absolute path; the specification requires others to be ignored.
    private func absolutePath(_ variable: String) -> FilePath? {
        variables.path(variable).flatMap { $0.isAbsolute ? $0 : nil }
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

extension Environment {
    /// Returns the path of the program that a kernel link such as `/proc/self/exe` leads to, or nil if the link is
    /// unreadable, as in a process that changed its user.
    ///
    /// Once the file has been removed or replaced, the kernel appends " (deleted)" to its path.
    package static func program(at link: FilePath, in fileSystem: some FileSystem) -> FilePath? {
        guard let path = try? fileSystem.destination(ofLink: link) else { return nil }
        guard path.bytes.count > deleted.count, path.bytes.suffix(deleted.count).elementsEqual(deleted) else {
            return path
        }
        // The real name of a file can end like this too.
        if let links = try? fileSystem.status(of: link)?.links, links > 0, (try? fileSystem.status(of: path)) != nil {
            return path
        }
        return FilePath(path.bytes.dropLast(deleted.count))
    }

    private static var deleted: String.UTF8View { " (deleted)".utf8 }
}

/// The variables of a process, in order.
///
/// A list rather than a dictionary: a process reads only a few, once, and building a dictionary would slow down its
/// start.
package struct EnvironmentVariables: Hashable, Sendable {
    package private(set) var all: [Variable] = []

    package struct Variable: Hashable, Sendable {
        package let name: String
        /// The value, with invalid UTF-8 replaced.
        package let value: String
        /// The original bytes of a value that is not valid UTF-8; nil for other values.
        let bytes: [UInt8]?

        package init(name: String, value: String, bytes: [UInt8]? = nil) {
            (self.name, self.value, self.bytes) = (name, value, bytes)
        }
    }

    /// The names of variables whose values are not valid UTF-8.
    package var changed: [String] { all.filter { $0.bytes != nil }.map(\.name) }

    package init() {}

    package subscript(name: String) -> String? {
        get { index(of: name).map { all[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): all[index] = Variable(name: name, value: value)
            case (let index?, nil): all.remove(at: index)
            case (nil, let value?): append(name, value)
            case (nil, nil): break
            }
        }
    }

    /// Appends a variable without a search. If a name occurs twice, the first one is used.
    ///
    /// - Parameter bytes: The original bytes if invalid UTF-8 in the value has been replaced.
    mutating func append(_ name: String, _ value: String, bytes: [UInt8]? = nil) {
        all.append(Variable(name: name, value: value, bytes: bytes))
    }

    /// Returns the bytes of a value, which need not be valid UTF-8.
    package func bytes(of name: String) -> [UInt8]? {
        index(of: name).map { all[$0].bytes ?? Array(all[$0].value.utf8) }
    }

    /// Returns a value as a path, or nil if it is empty or there is none.
    package func path(_ name: String) -> FilePath? { bytes(of: name).flatMap { FilePath($0) } }

    /// Sets a value that need not be valid UTF-8.
    package mutating func set(_ name: String, to bytes: [UInt8]) {
        self[name] = nil
        append(name, String(decoding: bytes, as: UTF8.self), bytes: bytes)
    }

    private func index(of name: String) -> Int? { all.firstIndex { $0.name == name } }
}

extension EnvironmentVariables: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { self[name] = value }
    }
}

/// A line of `/etc/passwd`. Parsed here because the C library's `getpwuid` loads modules, which a static program cannot
/// do.
///
///     ada:x:1000:1000:Ada,,,:/home/ada:/bin/bash
package struct PasswordEntry: Hashable, Sendable {
    package var name: String
    package var user: UInt32
    package var home: FilePath?

    /// Parses a line, or returns nil if it is invalid; other programs skip such lines too.
    package init?(_ line: some Collection<UInt8>) {
        let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard fields.count >= 7, !fields[0].isEmpty, let user = UInt32(String(decoding: fields[2], as: UTF8.self))
        else {
            return nil
        }
        name = String(decoding: fields[0], as: UTF8.self)
        self.user = user
        home = FilePath(fields[5])
    }

    /// Returns the entries of `/etc/passwd`.
    package static func all(in fileSystem: some FileSystem) throws(SystemFailure) -> [PasswordEntry] {
        let bytes = try fileSystem.contents(of: "/etc/passwd", limit: 16 << 20) ?? []
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { PasswordEntry($0) }
    }
}

/// An identifier of the machine that does not disclose its machine ID.
///
/// machine-id(5) asks to keep the machine ID confidential. A keyed hash of it with an application ID distinguishes
/// machines equally well and cannot be reversed. The result is that of `sd_id128_get_machine_app_specific`.
package struct HostIdentity: Hashable, Sendable {
    /// 16 bytes in the format of a random UUID.
    package let bytes: [UInt8]

    /// Creates the identity, or returns nil if `text` is not a machine ID of 32 hexadecimal digits.
    package init?(machineID text: [UInt8]) {
        let digits = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
        guard digits.count == 32, let number = Hexadecimal.bytes(ofDigits: digits), number.contains(where: { $0 != 0 })
        else { return nil }
        self.init(key: number)
    }

    /// Creates the identity of a machine that has no machine ID, as in many containers.
    package init(hostName: String) { self.init(key: Array(hostName.utf8)) }

    private init(key: [UInt8]) {
        var bytes = Array(SHA256.code(of: Self.application, key: key).prefix(16))
        // Version 4 and the variant bits of a random UUID.
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        self.bytes = bytes
    }

    /// The application ID. Changing it would change the identity of every host.
    private static let application: [UInt8] = [
        0x70, 0x72, 0x65, 0x66, 0x73, 0x2E, 0x42, 0x79, 0x48, 0x6F, 0x73, 0x74, 0x2E, 0x76, 0x31, 0x00,
    ]
}

extension HostIdentity: CustomStringConvertible {
    /// 32 hexadecimal digits.
    package var description: String { Hexadecimal.text(of: bytes) }
}

extension Environment {
    /// Returns the identity of this machine from its machine ID, or else from its host name.
    package func hostIdentity(in fileSystem: some FileSystem) throws(SystemFailure) -> HostIdentity {
        for path: FilePath in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            if let text = try fileSystem.contents(of: path, limit: 4096), let identity = HostIdentity(machineID: text) {
                return identity
            }
        }
        return HostIdentity(hostName: hostName)
    }
}
