import Foundation
import TestSupport

/// Rules for the files in the repository.
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
}
