package import Platform

/// All that the store needs of the machine it runs on.
package struct Machine: Sendable {
    package var fileSystem: any FileSystem
    package var clock: any Clock
    package var watcher: any FolderWatcher
    package var environment: Environment
    package var terminal: any Terminal
    /// The folder whose values are in force whatever anybody else says.
    package var forcedFolder: FilePath
    /// Who owns files that may force a value.
    package var administrator: UInt32
    /// Does work that may wait for files, apart from the caller.
    package var background: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Has something done at the normal end of the program.
    package var atEnd: @Sendable (@escaping @Sendable () -> Void) -> Void

    package init(
        fileSystem: any FileSystem, clock: any Clock, watcher: any FolderWatcher, environment: Environment,
        terminal: any Terminal, forcedFolder: FilePath = "/etc/prefs/forced", administrator: UInt32 = 0,
        background: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() },
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
        self.atEnd = atEnd
    }

    /// The machine that this process runs on.
    package static func ofThisProcess() -> Machine {
        Machine(
            fileSystem: SystemFileSystem(), clock: SystemClock(), watcher: SystemFolderWatcher.ofThisProcess,
            environment: .ofThisProcess(), terminal: SystemTerminal(), background: { work in runApart(work) },
            atEnd: { action in atExit(action) })
    }

    /// What this program is called in histories: the name of its file, else the first argument's.
    package var program: String {
        let path = environment.executable ?? environment.arguments.first.flatMap { FilePath($0) }
        return path?.lastComponent?.description ?? "unknown"
    }
}
