import Commands
import Foundation
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// `import` reads the output of `export` without loss, in each lossless format and with every value that it supports.
@Suite struct ExportTests {
    /// The arguments of `export` and `import` with which every value of a scope survives a file.
    struct Way: Sendable, CustomStringConvertible {
        let exporting: [String]
        var importing: [String] = []
        var scope = ValueGenerator.Scope.everything
        var isText = true

        var description: String { (exporting + importing).joined(separator: " ") }
    }

    /// The values that GNUstep text supports, in which dates lack fractions of a second.
    private static let wholeSeconds: ValueGenerator.Scope = {
        var scope = ValueGenerator.Scope.everything
        scope.allowsFractionalDates = false
        return scope
    }()

    static let ways = [
        Way(exporting: [], isText: false),
        Way(exporting: ["--format", "binary"], isText: false),
        Way(exporting: ["--format", "binary"], importing: ["--from", "binary"], isText: false),
        Way(exporting: ["--format", "xml"], scope: .xml),
        Way(exporting: ["--format", "gnustep"], scope: wholeSeconds),
        Way(exporting: ["--format", "gnustep"], importing: ["--from", "gnustep"], scope: wholeSeconds),
        Way(exporting: ["--format", "openstep"], scope: .openstep),
        Way(exporting: ["--format", "json"]),
        Way(exporting: ["--format", "typed"], importing: ["--from", "typed"]),
    ]

    @Test(arguments: ways)
    func `an exported file is imported again without a change`(_ way: Way) throws {
        for round in 0..<40 {
            let machine = try SimulatedMachine()
            let domain = try Self.planted(way.scope, way.description, round, on: machine)
            try Self.run(["export"] + way.exporting + ["d", "/tmp/file"], on: machine)
            try Self.run(["import"] + way.importing + ["e", "/tmp/file"], on: machine)
            #expect(try Self.stored("e", on: machine) == domain, "round \(round), \(Seed.ofThisRun)")
        }
    }

    @Test(arguments: ways.filter(\.isText))
    func `an exported domain is imported again through a pipe without a change`(_ way: Way) throws {
        for round in 0..<20 {
            let machine = try SimulatedMachine()
            let domain = try Self.planted(way.scope, way.description, round, on: machine)
            let text = try Self.run(["export"] + way.exporting + ["d", "-"], on: machine)
            try Self.run(["write", "e", "left over", "x"], on: machine)
            try Self.run(["import", "--replace"] + way.importing + ["e", "-"], input: text, on: machine)
            #expect(try Self.stored("e", on: machine) == domain, "round \(round), \(Seed.ofThisRun)")
        }
    }

    @Test(
        arguments: [
            ("x.json", .json), ("x.JSON5", .json), ("x.jsonc", .json), ("x.strings", .openstep), ("x.xml", .xml),
            ("x.plist", .binary), ("x", .binary),
        ] as [(String, PropertyList.Format)])
    func `the extension of the file decides the format`(_ name: String, _ format: PropertyList.Format) throws {
        let machine = try SimulatedMachine()
        try Self.run(["write", "d", "k", "v"], on: machine)
        try Self.run(["export", "d", "/tmp/\(name)"], on: machine)
        let path = try #require(FilePath("/tmp/\(name)"))
        let bytes = try #require(try machine.fileSystem.contents(of: path))
        #expect(try PropertyList.sniffed(bytes).format == format)
    }

    /// Returns a random domain, which is stored as `d`.
    private static func planted(
        _ scope: ValueGenerator.Scope, _ stream: String, _ round: Int, on machine: SimulatedMachine
    ) throws -> PropertyList.Dictionary {
        var values = ValueGenerator(SeededGenerator(stream: "export \(stream)", round: round), scope: scope)
        var domain = values.root(depth: 4).dictionaryValue ?? [:]
        // No domain can have these keys.
        for key in domain.keys where key.isEmpty || key.utf8.contains(0) { domain[key] = nil }
        domain["always"] = "there"
        let folder = "/home/ada/.config/prefs" as FilePath
        try machine.fileSystem.makeFolders(folder)
        let bytes = Array(try PropertyList.dictionary(domain).serialized(as: .binary))
        try machine.fileSystem.replace("/home/ada/.config/prefs/d.plist", with: bytes)
        return domain
    }

    private static func stored(_ domain: String, on machine: SimulatedMachine) throws -> PropertyList.Dictionary {
        let path = try #require(FilePath("/home/ada/.config/prefs/\(domain).plist"))
        let bytes = try #require(try machine.fileSystem.contents(of: path))
        return try PropertyList(parsing: Data(bytes)).dictionaryValue ?? [:]
    }

    @discardableResult
    private static func run(_ words: [String], input: String = "", on machine: SimulatedMachine) throws -> String {
        let outcome = try runPrefs(["prefs"] + words, input: input, on: machine)
        #expect(outcome.status == 0, "\(words): \(outcome.errors)")
        #expect(outcome.errors == "")
        return outcome.output
    }
}
