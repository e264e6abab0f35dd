import Foundation
import TestSupport

/// What is kept in the repository, and where.
enum TrackedFiles {
    private static let topLevel: Set = [
        "Package.swift", "README.md", "Sources", "Tests", "man", ".ci", ".gitignore", ".gitattributes", ".swift-format",
    ]

    /// Files outside the fixed top level.
    static func strays(in repository: Repository) throws -> [Violation] {
        try repository.trackedFiles().filter { path in
            !topLevel.contains(String(path.prefix { $0 != "/" }))
        }.map { Violation($0, "outside the fixed top level") }
    }

    /// Folders that exist on somebody's machine only.
    private static let machineFolders = ["work", "root", "tmp/h"].map { "/\($0)/" }

    /// Text that names a folder of one machine.
    static func machinePaths(in repository: Repository) throws -> [Violation] {
        let pattern = "(^|[^A-Za-z0-9_.])(" + machineFolders.joined(separator: "|") + ")"
        let search = try Subprocess.run(
            "git", ["grep", "--untracked", "-n", "-I", "-E", "-e", pattern], in: repository.root)
        guard search.status <= 1 else { throw ToolFailure(description: search.errorText) }
        return search.text.split(separator: "\n").map { line in
            let fields = line.split(separator: ":", maxSplits: 2)
            return Violation("\(fields[0]):\(fields[1])", "the path of one machine")
        }
    }
}
