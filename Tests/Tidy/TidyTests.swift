import Foundation
import TestSupport
import Testing

/// Checks the rules of the project.
@Suite struct `The project` {
    /// Read once, because parsing all sources takes longer than checking all rules.
    private static let sources = Result { try Repository.package.sources() }

    @Test func `imports only what each module may`() throws {
        let manifest = String(decoding: try Repository.package.contents(of: "Package.swift"), as: UTF8.self)
        let imports = Imports(PackageGraph(manifest: manifest))
        expectNone(try Self.sources.get().flatMap(imports.violations))
    }

    @Test func `has no banned word`() throws {
        expectNone(try Self.sources.get().flatMap(BannedWord.violations))
    }

    @Test func `has no stale exception for dictionaries with strings as keys`() throws {
        let files = try Self.sources.get().filter { $0.code.contains { $0.contains("[String:") } }.map(\.path)
        #expect(Set(BannedWord.stringKeys.keys).subtracting(files) == [])
    }

    /// The compiler knows better in nearly all cases. `Sources/PropertyLists/PropertyLists.swift` gives the exceptions.
    @Test func `forces at most 30 functions to be inlined`() throws {
        let forced = try Self.sources.get().filter { $0.path.hasPrefix("Sources/") }
            .flatMap(\.code).count { $0.contains("@inline(__always)") }
        #expect(forced <= 30)
    }

    @Test func `has no unclear phrase`() throws {
        let files = try Repository.package.trackedFiles().filter {
            !$0.hasSuffix(".svg") && !$0.hasPrefix("Tests/Corpus/")
        }
        expectNone(
            try files.flatMap { path in
                let bytes = [UInt8](try Repository.package.contents(of: path))
                return BannedWord.phraseViolations(inPlainText: SourceFile(plainText: bytes, at: path))
            })
    }

    @Test func `has nothing outside its top level`() throws {
        expectNone(try TrackedFiles.strays(in: .package))
    }

    @Test func `is formatted`() throws {
        expectNone(try ForeignCheckers.layout(in: .package), "Tests/run format fixes most of it:")
    }

    @Test(.enabled(if: Tool.isExpected("shellcheck"), "\(Tool.absence(of: "shellcheck"))"))
    func `has clean shell scripts`() throws {
        expectNone(try ForeignCheckers.shellScripts(in: .package))
    }

    @Test(.enabled(if: Tool.isExpected("mandoc"), "\(Tool.absence(of: "mandoc"))"))
    func `has pages without warnings by mandoc`() throws {
        expectNone(try ForeignCheckers.pagesByMandoc(in: .package))
    }

    @Test(.enabled(if: Tool.isExpected("groff"), "\(Tool.absence(of: "groff"))"))
    func `has pages without warnings by groff`() throws {
        expectNone(try ForeignCheckers.pagesByGroff(in: .package))
    }
}

/// Records the violations, one per line.
private func expectNone(
    _ violations: [Violation], _ advice: String = "", at location: SourceLocation = #_sourceLocation
) {
    guard !violations.isEmpty else { return }
    // The formatter repeats some messages.
    let lines = Set(violations.map(\.description)).sorted()
    Issue.record(
        "\(lines.count) violations. \(advice)\n    \(lines.joined(separator: "\n    "))", sourceLocation: location)
}
