import Foundation
import TestSupport

/// A violation of a rule of the project.
struct Violation: Hashable, CustomStringConvertible {
    let place: String
    let problem: String

    init(_ path: String, line: Int? = nil, _ problem: String) {
        place = line.map { "\(path):\($0)" } ?? path
        self.problem = problem
    }

    var description: String { "\(place): \(problem)" }
}

/// A git repository: this package, or one that a test created.
struct Repository {
    let root: URL

    static let package = Repository(root: packageRoot)

    /// The paths of all tracked files and of those that git would add.
    func files() throws -> [String] { try paths("ls-files", "--cached", "--others", "--exclude-standard") }

    /// The paths of the tracked files.
    func trackedFiles() throws -> [String] { try paths("ls-files", "--cached") }

    private func paths(_ arguments: String...) throws -> [String] {
        let listing = try Subprocess.run("git", arguments + ["-z"], in: root)
        guard listing.status == 0 else { throw ToolFailure(description: listing.errorText) }
        return Set(listing.text.split(separator: "\0").map(String.init)).sorted()
            .filter { FileManager.default.fileExists(atPath: root.appending(path: $0).path(percentEncoded: false)) }
    }

    func contents(of path: String) throws -> Data { try Data(contentsOf: root.appending(path: path)) }

    /// The Swift sources to which the rules apply.
    func sources() throws -> [SourceFile] {
        try files().filter { $0.hasSuffix(".swift") }.map { SourceFile($0, [UInt8](try contents(of: $0))) }
    }
}

struct ToolFailure: Error { let description: String }

/// Creates a repository for a test, with a few tracked files.
final class PlantedRepository {
    private let folder: TemporaryFolder
    var repository: Repository { Repository(root: folder.url) }

    init(_ files: [String: String]) throws {
        folder = try TemporaryFolder()
        for (path, text) in files { try folder.write(text, to: path) }
        for arguments in [["init", "--quiet"], ["add", "--all"]] {
            let git = try Subprocess.run("git", arguments, in: folder.url)
            guard git.status == 0 else { throw ToolFailure(description: git.errorText) }
        }
    }
}
