import Foundation
import TestSupport

/// The toolchain's formatter of Swift, and linters for the other languages of this project.
enum ForeignCheckers {
    static let formatRules = packageRoot.appending(path: "Tests/Tidy/swift-format.json")

    /// The lines that `swift format` would change. One process checks all files, because each start takes half a
    /// second.
    static func layout(in repository: Repository) throws -> [Violation] {
        let files = try repository.files().filter { $0.hasSuffix(".swift") }
        guard !files.isEmpty else { return [] }
        return try complaints(
            of: "swift",
            ["format", "lint", "--strict", "--parallel", "--configuration", formatRules.path(percentEncoded: false)]
                + files, in: repository) + files.flatMap { try longComments(in: $0, of: repository) }
    }

    /// Comments beyond the last column, because the formatter checks only code.
    private static func longComments(in file: String, of repository: Repository) throws -> [Violation] {
        let text = String(decoding: try repository.contents(of: file), as: UTF8.self)
        return zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)).compactMap { number, line in
            guard line.utf8.count > 120, line.count > 120, line.drop(while: { $0 == " " }).hasPrefix("//") else {
                return nil
            }
            return Violation(file, line: number, "a comment of \(line.count) columns")
        }
    }

    static func shellScripts(in repository: Repository) throws -> [Violation] {
        let scripts = try repository.files().filter { path in
            try path.hasSuffix(".sh") || repository.beginning(of: path).hasShellInterpreter
        }
        return scripts.isEmpty ? [] : try complaints(of: "shellcheck", ["--format=gcc"] + scripts, in: repository)
    }

    static func pagesByMandoc(in repository: Repository) throws -> [Violation] {
        let pages = try pages(in: repository)
        guard !pages.isEmpty else { return [] }
        // References to pages of this project are valid even if they are not installed.
        let known = pages.map { page in
            let parts = page.dropFirst("man/".count).split(separator: ".")
            return "referenced manual not found: Xr \(parts.joined(separator: " "))"
        }
        return try complaints(of: "mandoc", ["-T", "lint", "-W", "style"] + pages, in: repository)
            .filter { complaint in
                // The index of this machine's pages does not matter.
                !complaint.problem.contains("outdated mandoc.db")
                    && !known.contains { complaint.problem.hasSuffix($0) || complaint.problem.contains($0 + " (") }
            }
    }

    static func pagesByGroff(in repository: Repository) throws -> [Violation] {
        try pages(in: repository).flatMap {
            try complaints(of: "groff", ["-ww", "-mandoc", "-Tutf8", "-z", $0], in: repository)
        }
    }

    private static func pages(in repository: Repository) throws -> [String] {
        try repository.files().filter { $0.hasPrefix("man/") && $0.suffix(2).wholeMatch(of: /\.[1-9]/) != nil }
    }

    /// Each line of a checker's output is a violation. A failure without output is one too.
    private static func complaints(
        of program: String, _ arguments: [String], in repository: Repository
    ) throws -> [Violation] {
        let run = try Subprocess.run(program, arguments, in: repository.root)
        let lines = (run.text + run.errorText).split(separator: "\n").map { Violation(program, String($0)) }
        return run.status != 0 && lines.isEmpty ? [Violation(program, "ended with status \(run.status)")] : lines
    }
}

extension Repository {
    fileprivate func beginning(of path: String) throws -> Data {
        let handle = try FileHandle(forReadingFrom: root.appending(path: path))
        return try handle.read(upToCount: 64) ?? Data()
    }
}

extension Data {
    fileprivate var hasShellInterpreter: Bool {
        let line = String(decoding: prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return line.hasPrefix("#!") && ["/sh", "/bash", " sh", " bash"].contains { line.contains($0) }
    }
}
