import Commands
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport

extension SimulatedMachine {
    /// Writes a file of settings as the administrator, readable by everyone.
    func administrate(
        _ path: FilePath, _ text: String, permissions: FilePermissions = FilePermissions(rawValue: 0o644)
    ) throws {
        let root = disk.process()
        try root.makeFolders(path.parent)
        var folder = path.parent
        while folder != .root {
            try root.open(folder, .reading)?.setPermissions(FilePermissions(rawValue: 0o755))
            folder = folder.parent
        }
        try root.replace(path, with: Array(text.utf8).span.bytes)
        try root.open(path, .reading)?.setPermissions(permissions)
    }

    /// Writes a domain's file as another program would, possibly with keys that no command can write.
    func store(_ values: PropertyList.Dictionary, as domain: String) throws {
        let path =
            try FilePath("/home/ada/.config/prefs/\(domain).plist")
            ?? { throw SystemFailure(.noSuchFile, .open, nil) }()
        try fileSystem.makeFolders(path.parent)
        let bytes = Array(try PropertyList.dictionary(values).serialized(as: .binary))
        try fileSystem.replace(path, with: bytes.span.bytes)
    }

    /// Runs a `prefs` command line, and returns its output and exit status.
    func run(_ line: String, input: String = "") throws -> Transcript.Outcome {
        try runPrefs(ShellScript.words(line), input: input, on: self)
    }
}
