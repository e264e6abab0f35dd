import Foundation
import Platform
import SimulatedPlatform
import TestSupport
import Testing

/// The file systems that have the same contract.
enum FileSystemSubject: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case real, simulated

    var testDescription: String { rawValue }

    /// Returns a file system with an empty folder.
    func make() throws -> Bench {
        switch self {
        case .real:
            let folder = try TemporaryFolder()
            return Bench(SystemFileSystem(), try present(FilePath(folder.url.path)), keeping: folder)
        case .simulated:
            let machine = try SimulatedMachine()
            return Bench(machine.fileSystem, "/home/ada", keeping: nil)
        }
    }
}

/// A file system and an empty folder in it.
struct Bench: Sendable {
    let fileSystem: any FileSystem
    let folder: FilePath
    /// An object to retain while the folder is in use.
    private let kept: (any Sendable)?

    init(_ fileSystem: any FileSystem, _ folder: FilePath, keeping kept: (any Sendable)?) {
        self.fileSystem = fileSystem
        self.folder = folder
        self.kept = kept
    }

    func path(_ name: FileName) -> FilePath { folder.appending(name) }

    func write(_ text: String, to name: FileName) throws { try fileSystem.write(text, to: path(name)) }

    func text(_ name: FileName) throws -> String? { try fileSystem.text(path(name)) }

    func makeSymbolicLink(_ name: FileName, to target: FilePath) throws {
        try fileSystem.makeSymbolicLink(path(name), to: target)
    }
}

extension FileSystem {
    /// Writes in place, like a careless program.
    func write(_ text: String, to path: FilePath) throws {
        let file = try present(open(path, .creating(.privateFile)))
        try file.truncate(to: 0)
        try file.write(Array(text.utf8).span.bytes, at: 0)
    }

    func replace(_ path: FilePath, with text: String) throws { try replace(path, with: Array(text.utf8).span.bytes) }

    func text(_ path: FilePath) throws -> String? {
        try contents(of: path).map { String(decoding: $0, as: UTF8.self) }
    }
}

struct Absent: Error {}

func present<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Absent() }
    return value
}

func failure(_ body: () throws -> Void) -> ErrorCode? {
    do {
        try body()
        return nil
    } catch {
        return (error as? SystemFailure)?.code
    }
}
