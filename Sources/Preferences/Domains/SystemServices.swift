package import Platform

/// The services of the system that the store uses.
package struct SystemServices: Sendable {
    package var fileSystem: any FileSystem
    package var clock: any Clock
    package var watcher: any FolderWatcher
    package var environment: Environment
    package var terminal: any Terminal
    /// The folder of the administrator's forced values.
    package var forcedFolder: FilePath
    /// The owner that a file with forced values must have.
    package var administrator: UInt32
    /// Runs work that may wait for files on another thread.
    package var background: Background
    /// Runs a program without a terminal, and returns its output.
    package var output: ProgramRunner

    /// Registers work for the normal end of the program.
    package var atEnd: @Sendable (@escaping @Sendable () -> Void) -> Void

    package init(
        fileSystem: any FileSystem, clock: any Clock, watcher: any FolderWatcher, environment: Environment,
        terminal: any Terminal, forcedFolder: FilePath = "/etc/prefs/forced", administrator: UInt32 = 0,
        background: @escaping Background = { $0() },
        output: @escaping ProgramRunner = { _, _ throws(LimitedProgram.Failure) in
            throw LimitedProgram.Failure(description: "cannot be run")
        },
        atEnd: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { _ in }
    ) {
        self.fileSystem = fileSystem
        self.clock = clock
        self.watcher = watcher
        self.environment = environment
        self.terminal = terminal
        self.forcedFolder = forcedFolder
        self.administrator = administrator
        self.background = background
        self.output = output
        self.atEnd = atEnd
    }

    /// The system services of this process.
    package static func ofThisProcess() -> SystemServices {
        SystemServices(
            fileSystem: SystemFileSystem(), clock: SystemClock(), watcher: SystemFolderWatcher.ofThisProcess,
            environment: .ofThisProcess(), terminal: SystemTerminal(), background: { work in runOnNewThread(work) },
            output: { program, input throws(LimitedProgram.Failure) in try program.output(for: input) },
            atEnd: { action in atExit(action) })
    }

    /// The name of this program in histories: its executable's file name, or else the first argument's.
    package var program: String {
        let path = environment.executable ?? environment.arguments.first.flatMap { FilePath($0) }
        return path?.lastComponent?.description ?? "unknown"
    }
}

/// Runs a program with an input, and returns its output.
package typealias ProgramRunner =
    @Sendable (LimitedProgram, _ input: [UInt8]) throws(LimitedProgram.Failure) -> [UInt8]

extension SystemServices {
    /// Returns the path of a program in the folders of `PATH`, or nil if there is none.
    package func program(named name: FileName) -> FilePath? {
        let folders = environment.variables.bytes(of: "PATH") ?? Array("/usr/bin:/bin".utf8)
        return folders.split(separator: UInt8(ascii: ":")).lazy.compactMap { FilePath($0) }.filter(\.isAbsolute)
            .map { $0.appending(name) }
            .first { path in
                guard let status = try? fileSystem.status(of: path) else { return false }
                return status.kind == .file && status.permissions.rawValue & 0o111 != 0
            }
    }
}

extension SystemServices {
    /// Calls `body`. If it fails because the folder is missing, makes the folder and calls it again.
    func makingFolder<Result>(
        _ folder: FilePath, for audience: Audience = .owner, _ body: () throws(SystemFailure) -> Result
    ) throws(SystemFailure) -> Result {
        do throws(SystemFailure) {
            return try body()
        } catch  where error.code == .noSuchFile {
            try fileSystem.makeFolders(folder, for: audience)
            return try body()
        }
    }
}

extension SystemServices {
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
