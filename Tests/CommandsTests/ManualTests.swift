import Commands
import Foundation
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// The manual and the table of verbs list the same verbs and options.
@Suite struct ManualTests {
    /// The lines of a section.
    private func section(
        _ name: String, of page: String = "prefs.1", keepsEmpty: Bool = false
    ) throws -> [String] {
        let file = packageRoot.appending(path: "man").appending(path: page)
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: !keepsEmpty).map(String.init)
        let start = try #require(lines.firstIndex(of: ".Sh \(name)"))
        return Array(lines[(start + 1)...].prefix { !$0.hasPrefix(".Sh ") })
    }

    /// The verbs whose options are in a page of their own.
    private static let pages = ["args": "prefs-args", "mirror": "prefs-mirror", "query": "prefs-query"]

    /// The names that `Fl` and `Cm` mark in a line, without dashes.
    private func names(in line: String) -> [String] {
        var isMarked = false
        return line.split(separator: " ").compactMap { word in
            if word.hasSuffix("Fl") || word.hasSuffix("Cm") {
                isMarked = true
            } else if word == "Ar" {
                isMarked = false
            }
            guard isMarked, word != "Ns", let start = word.firstIndex(where: { $0 != "-" }) else { return nil }
            return word[start].isLowercase ? String(word[start...]) : nil
        }
    }

    @Test func `every verb has a section in alphabetical order, and only verbs have one`() throws {
        let verbs = Verb.all.filter { $0.kind != .hidden }
        let lines = try section("VERBS")
        #expect(lines.filter { $0.hasPrefix(".Ss ") }.map { String($0.dropFirst(4)) } == verbs.map(\.name).sorted())
        let shared = try section("OPTIONS").drop { $0 != ".Ss Common options" }.filter { $0.hasPrefix(".It Fl ") }
            .flatMap(names)
        #expect(shared == shared.sorted())
        for verb in verbs {
            let start = try #require(lines.firstIndex(of: ".Ss \(verb.name)"))
            let own = lines[(start + 1)...].prefix { !$0.hasPrefix(".Ss ") }
            let items = own.filter { $0.hasPrefix(".It Fl ") || $0.hasPrefix(".It Cm ") }.flatMap(names)
            let common = own.drop { $0 != "Common options:" }.filter { $0.hasPrefix(".Fl ") }.flatMap(names)
            #expect(Set(common).isSubset(of: shared) && Set(common).isDisjoint(with: items), "\(verb.name)")
            if let page = Self.pages[verb.name] {
                #expect(own.contains(".Xr \(page) 1") && items.isEmpty && common.isEmpty)
                continue
            }
            let options = (verb.options + verb.parts.flatMap(\.options)).map(\.name)
            let types = verb.table.map {
                ($0.rows + $0.modernRows).compactMap { $0.word.split(separator: " ").first.map(String.init) }
            }
            let expected = Set((options + (types ?? [])).map { String($0.drop { $0 == "-" }) } + verb.parts.map(\.name))
            #expect(Set(items + common) == expected, "\(verb.name)")
            for alias in verb.aliases { #expect(own.contains { $0.contains(alias) }, "\(alias)") }
        }
    }

    @Test func `every verb is in the list of tasks`() throws {
        let lines = try section("DESCRIPTION").prefix { $0 != ".El" }.filter { $0.hasPrefix(".Cm ") }
        let verbs = Verb.all.filter { $0.kind != .hidden }.map(\.name)
        #expect(lines.flatMap(names).sorted() == verbs.sorted())
    }

    @Test func `every option of a query has an item in its page`() throws {
        let items = try section("OPTIONS", of: "prefs-query.1").filter { $0.hasPrefix(".It Fl ") }.flatMap(names)
        #expect(items.sorted() == Verb.query.options.map { String($0.name.dropFirst(2)) }.sorted())
    }

    @Test func `the mirror's verbs have sections in its own page`() throws {
        let lines = try section("VERBS", of: "prefs-mirror.1")
        #expect(lines.filter { $0.hasPrefix(".Ss ") }.map { String($0.dropFirst(4)) } == Verb.mirror.parts.map(\.name))
        for verb in Verb.mirror.parts {
            let start = try #require(lines.firstIndex(of: ".Ss \(verb.name)"))
            let own = lines[(start + 1)...].prefix { !$0.hasPrefix(".Ss ") }
            let items = own.filter { $0.hasPrefix(".It Fl ") }
            let named = Set(items.compactMap { $0.split(separator: " ").dropFirst(2).first.map(String.init) })
            // The option that all of these verbs share is documented only with the first one.
            let expected = verb.options.filter { $0.name != Option.mirror.name || verb.name == "add" }
            #expect(named == Set(expected.map { String($0.name.dropFirst()) }), "\(verb.name)")
        }
    }

    @Test func `every option before the verb, status and format has its item`() throws {
        let options = try section("OPTIONS").prefix { !$0.hasPrefix(".Ss ") }.filter { $0.hasPrefix(".It Fl ") }
        #expect(
            options.compactMap { $0.split(separator: " ").dropFirst(2).first.map(String.init) }
                == Option.global.map { String($0.name.dropFirst()) })
        let statuses = try section("EXIT STATUS").filter { $0.hasPrefix(".It ") }.map { $0.dropFirst(4) }
        #expect(statuses.map { Int32($0) } == ExitStatus.allCases.map(\.rawValue))
        let formats = try section("FORMATS").filter { $0.hasPrefix(".It Cm ") }.joined(separator: " ")
        for format in FormatName.ofValues {
            for name in [format.rawValue] + format.synonyms {
                #expect(formats.split(separator: " ").contains { $0 == name })
            }
        }
    }

    @Test func `the meanings of the statuses are the table's`() throws {
        let text = try section("EXIT STATUS").joined(separator: " ").lowercased()
        for status in ExitStatus.allCases { #expect(text.contains(status.meaning.lowercased()), "\(status)") }
    }

    /// The words that the macro marks in the heads of a section's items.
    private func heads(_ macro: String, _ section: String, of page: String) throws -> [String] {
        try self.section(section, of: page).filter { $0.hasPrefix(".It ") }.flatMap { line in
            let words = line.split(separator: " ").map(String.init)
            return words.indices.dropLast().filter { words[$0] == macro || words[$0] == ".\(macro)" }
                .map { words[$0 + 1] }
        }
    }

    @Test func `every variable has an item, and no other`() throws {
        #expect(try heads("Ev", "ENVIRONMENT", of: "prefs.1").sorted() == Variable.allCases.map(\.rawValue).sorted())
    }

    @Test func `every variable that the sources read is in the table`() throws {
        let known = Set(Variable.allCases.map(\.rawValue))
        let sources = packageRoot.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path(percentEncoded: false))
        var found: Set<String> = []
        for file in files where file.hasSuffix(".swift") {
            let text = String(decoding: try Data(contentsOf: sources.appending(path: file)), as: UTF8.self)
            for match in text.matches(of: /(?:variables\[|absolutePath\()"([A-Z_]+)"|"(XDG_[A-Z_]+)"/) {
                found.insert(String(match.1 ?? match.2 ?? ""))
            }
        }
        #expect(found.isSuperset(of: ["HOME", "XDG_STATE_HOME"]))
        #expect(found.subtracting(known).isEmpty)
    }

    @Test func `the doctor's checks are listed`() throws {
        let verbs = try section("VERBS")
        let start = try #require(verbs.firstIndex(of: ".Ss doctor"))
        let own = Array(verbs[start...].prefix { $0 != ".El" })
        let listed = own.indices.dropLast().filter { own[$0] == ".It" }.map { own[$0 + 1] }
        #expect(listed == DoctorCheck.all.map(\.subject))
    }

    @Test func `the layers that can be written are listed`() throws {
        let names = Layer.writable.map(\.name).joined(separator: ", ")
        #expect(try section("OPTIONS").contains { $0.contains(": \(names).") })
    }

    @Test func `the layers are listed in order`() throws {
        #expect(try heads("Cm", "LAYERS", of: "prefs.5") == Layer.allCases.map(\.name))
    }

    @Test func `the listed settings of the store are those that it reads`() throws {
        let keys = try heads("Cm", "THE DOMAIN PREFS", of: "prefs.5")
        #expect(keys == StorePolicy.schema.settings.map(\.key))
        let changed: [PropertyList] = [1, 1, 1, "json", "user", true, "/bin/true", ["delete": "D"]]
        #expect(keys.count == changed.count)
        for (key, value) in zip(keys, changed) {
            let values: PropertyList.Dictionary = [key: value]
            #expect(StorePolicy(values) != StorePolicy(), "\(key)")
        }
    }

    @Test func `the files are where the page states`() throws {
        let machine = try SimulatedMachine()
        var environment = machine.environment
        environment.variables = ["HOME": "/home/ada", "XDG_CONFIG_HOME": "/config", "XDG_STATE_HOME": "/state"]
        let store = SystemServices(
            fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher, environment: environment,
            terminal: machine.terminal)
        let places = try #require(try StorePlaces(.native, on: store))
        let file = places.user.file(of: "DOMAIN")
        let paths: [FilePath?] = [
            file.path, places.user.file(of: "DOMAIN", on: "HOST").path, file.folder,
            places.user.link(of: "DOMAIN"), places.user.linkToProgram(of: "DOMAIN"),
            { if case .file(let path) = file.lock { path } else { nil } }(), file.transactions,
            places.user.folderOfSecrets?.resolving("DOMAIN.plist"), file.history,
            "/state/prefs/reported/DOMAIN", "/state/prefs/unsaved/DOMAIN.plist", places.user.recordOfApplied.path,
            places.site.first?.file(of: "DOMAIN").path,
            places.forced?.file(of: "DOMAIN").path, places.forced?.history.parent,
        ]
        let expected = paths.map { path in
            (path?.description ?? "").replacing("DOMAIN", with: "<domain>").replacing("HOST", with: "<host>")
                .replacing("prefs/etc/prefs/forced", with: "prefs/<folder>").replacing(
                    "/config/", with: "$XDG_CONFIG_HOME/"
                ).replacing("/state/", with: "$XDG_STATE_HOME/")
        }
        let listed = try heads("Pa", "FILES", of: "prefs.5").map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        #expect(listed == expected)
        #expect(places.user.file(of: .global).path.description == "/config/prefs/.GlobalPreferences.plist")
    }

    @Test func `the example of a version's name is valid`() throws {
        let lines = try section("VERSIONS", of: "prefs.5")
        let name = try #require(lines.first { $0.hasPrefix("0000000007-") })
        let machine = try SimulatedMachine()
        let folder: FilePath = "/tmp/history"
        try machine.fileSystem.makeFolders(folder)
        try machine.fileSystem.replace(folder.resolving(#require(FilePath(name))), with: [0].span.bytes)
        let history = try #require(
            History(
                of: DomainFile(name: "d", path: "/tmp/d", lock: .byPath, history: folder),
                on: SystemServices(
                    fileSystem: machine.fileSystem, clock: machine.clock, watcher: machine.watcher,
                    environment: machine.environment, terminal: machine.terminal)))
        let version = try #require(history.versions.first)
        #expect(version.sequence == 7 && version.size == 61 && version.author.program == "prefs")
        #expect(version.fileName?.description == name)
    }

    @Test(arguments: [("prefs.1", 10), ("defaults.1", 5), ("prefs-query.1", 5)])
    func `the examples print what the page shows`(_ page: String, _ least: Int) throws {
        let examples = try Transcript(parsing: transcript(of: displays(page)))
        #expect(examples.steps.count > least)
        let machine = try SimulatedMachine()
        let failures = try examples.failures { words, input in try runPrefs(words, input: input, on: machine) }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }

    /// The displays among a page's examples, each with its lines.
    private func displays(_ page: String, _ name: String = "EXAMPLES") throws -> [[String]] {
        var displays: [[String]] = []
        var isExample = false
        for line in try section(name, of: page, keepsEmpty: true) {
            if line.hasPrefix(".Bd ") || line == ".Ed" {
                isExample = line != ".Ed"
                if isExample { displays.append([]) }
            } else if isExample {
                displays[displays.count - 1].append(Self.plain(line))
            }
        }
        return displays
    }

    private func transcript(of displays: [[String]]) -> String {
        displays.joined().map { line in
            // Messages that start with the program's name are on standard error.
            (line.hasPrefix("$ ") ? "" : line.hasPrefix("prefs: ") ? "! " : "| ") + line + "\n"
        }.joined()
    }

    /// Removes the escapes from a line of a display.
    private static func plain(_ line: String) -> String {
        line.replacing("\\(aq", with: "'").replacing("\\-", with: "-").replacing("\\&", with: "")
            .replacing("\\e", with: "\\").replacing("\\(ti", with: "~").replacing("\\(bu", with: "•")
    }

    // MARK: prefs-schema

    @Test(arguments: [
        ("schema", "ATTRIBUTES OF A SCHEMA"), ("setting", "ATTRIBUTES OF A SETTING"),
        ("command", "ATTRIBUTES OF A COMMAND"), ("migration", "MIGRATIONS"),
        ("query", "QUERIES"),
    ])
    func `the listed attributes of a schema are those that are read`(_ subject: String, _ name: String) throws {
        #expect(try words(name) == Schema.attributeNames[subject])
    }

    @Test func `the listed types and kinds are those that exist`() throws {
        #expect(try words("TYPES") == ValueType.allCases.map(\.rawValue))
        #expect(try words("KINDS") == ValueKind.allCases.map(\.rawValue))
    }

    /// The words of an item's head: `.It Cm Title , Summary` has two.
    private func words(_ section: String) throws -> [String] {
        try self.section(section, of: "prefs-schema.5").filter { $0.hasPrefix(".It Cm ") }.flatMap { line in
            line.split(separator: " ").dropFirst(2).map(String.init).filter { $0 != "," }
        }
    }

    @Test func `the examples of schemas behave as the page states`() throws {
        let displays = try displays("prefs-schema.5", "DESCRIPTION") + displays("prefs-schema.5")
        let machine = try SimulatedMachine()
        let text = try #require(displays.first).joined(separator: "\n")
        // A file in the simulated command's working folder.
        let file: FilePath = "/backup.schema.plist"
        try machine.disk.process().replace(file, with: Array(text.utf8).span.bytes)
        try machine.disk.process().open(file, .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        let examples = try Transcript(parsing: transcript(of: Array(displays.dropFirst())))
        #expect(examples.steps.count > 8)
        let failures = try examples.failures { words, input in
            var outcome = try runPrefs(words, input: input, on: machine)
            // The page shows only the output of a command, not its exit status.
            outcome.status = 0
            return outcome
        }
        #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    }
}
