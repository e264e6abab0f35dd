import Foundation
import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// A simulated machine with problems, and a small shell for the commands that fix them.
final class Clinic {
    let machine: SimulatedMachine
    let root: SimulatedFileSystem
    var variables: [String: String] = [:]

    static let folder: FilePath = "/home/ada/.config/prefs"
    static let history: FilePath = "/home/ada/.local/state/prefs/history/d"

    var files: SimulatedFileSystem { machine.fileSystem }

    init() throws {
        machine = try SimulatedMachine()
        root = machine.disk.process()
    }

    func doctor(watcher: (any FolderWatcher)? = nil) throws -> Transcript.Outcome {
        try prefs(["prefs", "doctor"], watcher: watcher)
    }

    private func prefs(
        _ words: [String], isAdministrator: Bool = false, watcher: (any FolderWatcher)? = nil
    ) throws -> Transcript.Outcome {
        var environment = machine.environment
        for (name, value) in variables { environment.variables[name] = value }
        return try runPrefs(
            words, on: machine, as: isAdministrator ? root : files, environment: environment, watcher: watcher)
    }

    func write(_ text: String, to path: String) throws {
        try files.replace(Clinic.folder.resolving(#require(FilePath(path))), with: Array(text.utf8).span.bytes)
    }

    func setPermissions(_ mode: UInt16, _ path: String) throws {
        let place = FilePath(path).map(Clinic.folder.resolving) ?? Clinic.folder
        try root.open(place, .reading)?.setPermissions(FilePermissions(rawValue: mode))
    }

    /// Runs a line like a shell. It supports the few programs that the doctor suggests.
    func run(_ line: String) throws {
        var words = try ShellScript.words(line)
        let isAdministrator = words.first == "sudo"
        if isAdministrator { words.removeFirst() }
        let user = isAdministrator ? root : files
        switch words.first {
        case "prefs":
            let outcome = try prefs(words, isAdministrator: isAdministrator)
            #expect(outcome.status == 0, "\(line): \(outcome)")
        case "chmod": try changeMode(words[1], path(words[2]), as: isAdministrator ? 0 : 1000)
        case "chown":
            #expect(isAdministrator)
            let owner = words[1] == "root" ? 0 : try #require(UInt32(words[1]))
            try root.open(path(words[2]), .reading)?.setOwner(owner, group: owner)
        case "rm": #expect(try words.count == 3 && words[1] == "-f" && user.remove(path(words[2])))
        case "mv":
            #expect(words.count == 4 && words[1] == "-n")
            try user.rename(path(words[2]), to: path(words[3]), .onlyIfAbsent)
        case "unset": variables[words[1]] = nil
        case "export":
            let parts = words[1].split(separator: "=", maxSplits: 1).map(String.init)
            variables[parts[0]] = parts[1]
        default: Issue.record("no such program: \(line)")
        }
    }

    private func path(_ word: String) throws -> FilePath { try #require(FilePath(word)) }

    private func changeMode(_ change: String, _ path: FilePath, as user: UInt32) throws {
        let status = try #require(try root.status(of: path))
        #expect(user == 0 || status.owner == user)
        let bits: [String: (UInt16, Bool)] = [
            "go-rwx": (0o077, false), "go-w": (0o022, false), "u+rw": (0o600, true), "u+rwx": (0o700, true),
            "a+r": (0o444, true), "a+rx": (0o555, true),
        ]
        let (mask, sets) = try #require(bits[change])
        let mode = sets ? status.permissions.rawValue | mask : status.permissions.rawValue & ~mask
        try root.open(path, .reading)?.setPermissions(FilePermissions(rawValue: mode))
    }

    /// Removes text that differs between machines from a line.
    func withoutNumbers(_ line: String) -> String {
        line.replacing(/[0-9a-f]{32}\.plist/, with: "HOST.plist").replacing(
            /-write-[0-9a-f]{16}(\.[0-9a-f]{8})?-/, with: "-write-VERSION-")
    }
}
