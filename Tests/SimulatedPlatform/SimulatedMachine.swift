internal import Digests
package import Platform

/// A machine with a user, whose behavior is determined by a seed.
package struct SimulatedMachine: Sendable {
    package let clock: SimulatedClock
    package let disk: SimulatedDisk
    package let watcher: SimulatedFolderWatcher
    package let terminal: SimulatedTerminal
    /// A process of the user.
    package let fileSystem: SimulatedFileSystem
    package var environment: Environment

    package static let home: FilePath = "/home/ada"

    package init(seed: UInt64 = 0, user: UInt32 = 1000, hostName: String = "simulated") throws {
        var randomness = Randomness(seed: seed)
        clock = SimulatedClock()
        disk = SimulatedDisk(seed: randomness.next(), clock: clock)
        watcher = SimulatedFolderWatcher(disk, seed: randomness.next())
        terminal = SimulatedTerminal()
        fileSystem = disk.process(user: user)
        environment = Environment(
            variables: ["HOME": Self.home.description, "PATH": "/usr/bin"], arguments: ["program"],
            executable: "/usr/bin/program", workingFolder: "/", user: user, hostName: hostName)
        let number = [randomness.next() | 1, randomness.next()]
        try install(machineID: number.map { Hexadecimal.text(of: $0) }.joined(), user: user)
    }

    /// Sets up the machine as its administrator would.
    private func install(machineID: String, user: UInt32) throws {
        let root = disk.process()
        for folder: FilePath in ["/etc", "/home", "/tmp", Self.home] {
            _ = try root.makeFolder(folder, FilePermissions(rawValue: folder == "/tmp" ? 0o777 : 0o755))
        }
        let files: [(FilePath, String)] = [
            ("/etc/machine-id", machineID + "\n"),
            ("/etc/passwd", "root:x:0:0::/root:/bin/sh\nada:x:\(user):\(user):Ada:\(Self.home):/bin/sh\n"),
        ]
        for (path, text) in files {
            let file = try root.open(path, .creatingNew(FilePermissions(rawValue: 0o644)))
            try file?.write(Array(text.utf8).span.bytes, at: 0)
        }
        let home = try root.open(Self.home, .reading)
        try home?.setOwner(user, group: user)
        disk.synchronize()
    }

    /// Sets the working folder.
    package func setWorkingFolder(_ path: FilePath) throws {
        let root = disk.process()
        for folder in ["/proc", "/proc/self"] as [FilePath] {
            _ = try root.makeFolder(folder, FilePermissions(rawValue: 0o755))
        }
        try root.makeSymbolicLink(DiskState.workingFolder, to: path)
    }
}

extension EnvironmentVariables {
    /// Returns the variables with `others` replacing those of the same name.
    package func merging(_ others: EnvironmentVariables) -> EnvironmentVariables {
        others.all.reduce(into: self) { $0[$1.name] = $1.value }
    }
}
