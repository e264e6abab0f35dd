import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// A domain with a file for each key.
@Suite struct `A domain that is a folder` {
    static let file = StoreBench.file("com.example.notes")
    static let folder = StoreBench.folder.appending("com.example.notes.prefs")

    static let values: PropertyList.Dictionary = [
        "title": "Groceries", "icon": .data(Data([0, 1, 255])), "window": .dictionary(["x": 1, "y": 2.5]),
    ]

    /// A machine with the domain as a folder.
    static func bench(_ values: PropertyList.Dictionary = values) throws -> StoreBench {
        let bench = try StoreBench()
        try bench.process().makeFolder(file, values)
        return bench
    }

    static func names(_ bench: StoreBench) throws -> [String] {
        try (bench.process().fileSystem.names(in: folder) ?? []).map(\.description).sorted()
    }

    static func text(_ name: String, _ bench: StoreBench) throws -> String? {
        let path = try folder.resolving(#require(FilePath(name)))
        return try bench.process().fileSystem.contents(of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `has a file for each key, of the type of its value`() throws {
        let bench = try Self.bench()
        #expect(try Self.names(bench) == ["icon.data", "title.txt", "window.plist"])
        #expect(try Self.text("title.txt", bench) == "Groceries\n")
        #expect(try Self.text("window.plist", bench)?.hasPrefix("<?xml") == true)
        let contents = try Self.file.contents(on: bench.process())
        #expect(contents.values == Self.values && contents.form == .folder)
        #expect(try bench.process().fileSystem.status(of: Self.file.path) == nil)
    }

    /// Each row: the keys and the names of their files; a pattern that ends in * stands for a hash.
    static let strange: [(keys: [String], names: [String])] = [
        (["a/b"], ["a%2Fb.txt"]), ([".hidden"], ["%2Ehidden.txt"]), ([".."], ["%2E..txt"]),
        (["100%"], ["100%25.txt"]), (["a\nb"], ["a%0Ab.txt"]), (["é"], ["é.txt"]), (["x.plist"], ["x.plist.txt"]),
        (["A", "a"], ["%*", "%*"]), ([String(repeating: "k", count: 300)], ["%*"]),
        (["con:fig"], ["con%3Afig.txt"]), (["-rf"], ["-rf.txt"]),
        (["con"], ["%63on.txt"]), (["Com1.x"], ["%43om1.x.txt"]),
        (["console", "com10"], ["com10.txt", "console.txt"]),
        (["ſt", "ST"], ["%*", "%*"]), (["caf\u{E9}", "cafe\u{301}"], ["%*", "%*"]),
    ]

    @Test(arguments: strange) func `has names that every file system allows`(_ keys: [String], _ names: [String]) throws
    {
        let values = PropertyList.Dictionary(keys.map { ($0, .string("v" + $0)) })
        let bench = try Self.bench(values)
        let found = try Self.names(bench)
        #expect(found.map { $0.hasPrefix("%") && $0.utf8.count == 39 ? "%*" : $0 } == names)
        #expect(try Self.file.contents(on: bench.process()).values == values)
    }

    /// A name that the file system refuses must not fail after the commit, which would tear the change.
    @Test(arguments: [["é"], ["plain", "é"], ["日本", "\u{1F600}", "plain"]])
    func `has keys that its file system cannot have in names`(_ keys: [String]) throws {
        let bench = try Self.bench(["title": "Groceries"])
        bench.simulated.disk.limitations = [.asciiNames]
        var values: PropertyList.Dictionary = ["title": "Groceries"]
        for key in keys { values[key] = .string("v" + key) }
        let all = values
        try bench.process().commit([DomainEdit(Self.file) { $0.values = all }])
        #expect(try Self.file.contents(on: bench.process()).values == all)
        #expect(try Self.names(bench).allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } && !$0.hasPrefix(".") })
        try bench.process().set(keys[0], 5, in: Self.file)
        #expect(try Self.file.contents(on: bench.process()).values[keys[0]] == 5)
    }

    /// An empty file remains if a writer is killed while it tries a name. A file of others is not touched.
    @Test(arguments: ["", "of others"]) func `removes what was left by the test of a name`(_ left: String) throws {
        let bench = try Self.bench(["title": "Groceries"])
        try bench.process().scribble(Array(left.utf8), to: Self.folder.appending(".é.txt"))
        try bench.process().set("é", "text", in: Self.file)
        #expect(try Self.file.contents(on: bench.process()).values["é"] == "text")
        #expect(try Self.names(bench).contains(".é.txt") == !left.isEmpty)
    }

    @Test func `reads the plain name of a device where the file system allows it`() throws {
        let bench = try Self.bench()
        try bench.process().scribble(Array("by hand\n".utf8), to: Self.folder.appending("con.txt"))
        #expect(try Self.file.contents(on: bench.process()).values["con"] == "by hand")
        try bench.process().set("con", "other", in: Self.file)
        #expect(try Self.names(bench).contains("%63on.txt") && !Self.names(bench).contains("con.txt"))
    }

    /// The values of the other files may be in no version.
    @Test func `with a damaged file is deleted, and comes back with all other values`() throws {
        let bench = try Self.bench()
        try bench.process().scribble([1, 2, 3], to: Self.folder.appending("window.plist"))
        try bench.process().scribble(Array("Later\n".utf8), to: Self.folder.appending("title.txt"))
        let edit = DomainEdit(Self.file) { draft in draft.removesFile = true }
        try bench.process().commit([edit], reason: .delete)
        let history = try #require(History(of: Self.file, on: bench.process()))
        let states = history.versions.compactMap { history.state(of: $0) }
        #expect(states.contains { $0.values["title"] == "Later" && $0.values["window"] == Self.values["window"] })
        #expect(try Self.names(bench).allSatisfy { $0.hasPrefix("window.plist.damaged-") })
    }

    @Test func `that is a symbolic link keeps the link`() throws {
        let bench = try StoreBench()
        let target: FilePath = "/home/ada/dotfiles/notes"
        try bench.process().fileSystem.makeFolders(target)
        try bench.process().fileSystem.makeFolders(StoreBench.folder)
        try bench.simulated.fileSystem.makeSymbolicLink(Self.folder, to: target)
        try bench.process().commit([DomainEdit(Self.file) { $0.values = Self.values }])
        #expect(try bench.process().fileSystem.names(in: target)?.count == 3)
        #expect(try Self.file.contents(on: bench.process()).values == Self.values)
        try bench.process().commit([DomainEdit(Self.file) { $0.removesFile = true }], reason: .delete)
        #expect(try bench.process().fileSystem.destination(ofLink: Self.folder) == target)
        #expect(try bench.process().fileSystem.names(in: target) == [])
    }

    static let exact: [PropertyList] = [
        "", "\n", "a\n\n", "a\r\n", "\u{FEFF}a", "\u{0}", .data(Data()), .data(Data([10])), .array([]),
        .dictionary(["Key": "a", "Value": "b"]), .boolean(true), 1, .real(0.1), .real(.infinity),
        .dictionary(["s": "\u{0}\u{1}"]), .date(.init(timeIntervalSinceReferenceDate: 0.25)),
    ]

    @Test(arguments: exact) func `gives back each value as it was`(_ value: PropertyList) throws {
        let bench = try Self.bench(["key": value])
        #expect(try Self.file.contents(on: bench.process()).values == ["key": value])
    }

    @Test func `changes one file, and of a megabyte each no more than that one`() throws {
        let megabyte = PropertyList.data(Data(repeating: 7, count: 1_000_000))
        let bench = try Self.bench(PropertyList.Dictionary((0..<10).map { ("key\($0)", megabyte) }))
        let before = try Self.files(bench)
        try bench.process().set("key3", .data(Data(repeating: 8, count: 1_000_000)), in: Self.file)
        let changed = try Self.files(bench).filter { before[$0.key] != $0.value }
        #expect(Array(changed.keys.map(\.description)) == ["key3.data"])
        #expect(changed.values.reduce(0) { $0 + $1.size } <= 1_100_000)
    }

    struct Identity: Equatable {
        let inode: UInt64
        let size: Int
    }

    private static func files(_ bench: StoreBench) throws -> [FileName: Identity] {
        let files = bench.process().fileSystem
        var found: [FileName: Identity] = [:]
        for name in try files.names(in: folder) ?? [] {
            let status = try #require(try files.status(of: folder.appending(name)))
            found[name] = Identity(inode: status.inode, size: status.size)
        }
        return found
    }

    @Test func `follows a value that changes its type, and a removed key`() throws {
        let bench = try Self.bench()
        try bench.process().set("title", 3, in: Self.file)
        try bench.process().set("icon", nil, in: Self.file)
        #expect(try Self.names(bench) == ["title.plist", "window.plist"])
        try bench.process().commit([DomainEdit(Self.file) { $0.removesFile = true }], reason: .delete)
        #expect(try bench.process().fileSystem.status(of: Self.folder) == nil)
        #expect(try !Self.file.contents(on: bench.process()).exists)
    }

    @Test func `becomes a file again`() throws {
        let bench = try Self.bench()
        try bench.process().commit([
            DomainEdit(Self.file) { draft in
                draft.form = .file(.xml)
            }
        ])
        let contents = try Self.file.contents(on: bench.process())
        #expect(contents.values == Self.values && contents.form == .file(.xml))
        #expect(try bench.process().fileSystem.status(of: Self.folder) == nil)
    }

    @Test func `takes what an editor saves, and leaves the files of others`() throws {
        let bench = try Self.bench()
        for (name, text) in [("title.txt", "Edited"), ("notes.md", "mine"), (".git", "mine"), ("new.txt", "n\n")] {
            try bench.process().scribble(Array(text.utf8), to: Self.folder.resolving(#require(FilePath(name))))
        }
        var expected = Self.values
        (expected["title"], expected["new"]) = ("Edited", "n")
        #expect(try Self.file.contents(on: bench.process()).values == expected)
        try bench.process().commit([DomainEdit(Self.file) { $0.removesFile = true }], reason: .delete)
        #expect(try Self.names(bench) == [".git", "notes.md"])
        #expect(try !Self.file.contents(on: bench.process()).exists)
    }

    @Test func `uses the last kept version of one damaged file, and the others as they are`() throws {
        let bench = try Self.bench()
        try bench.process().set("window", .dictionary(["x": 5]), in: Self.file)
        try bench.process().scribble([1, 2, 3], to: Self.folder.appending("window.plist"))
        try bench.process().scribble(Array("Later\n".utf8), to: Self.folder.appending("title.txt"))
        var expected = Self.values
        (expected["title"], expected["window"]) = ("Later", .dictionary(["x": 5]))
        let contents = try Self.file.contents(on: bench.process())
        #expect(contents.values == expected)
        #expect(contents.recovery?.damage.description.contains("window.plist") == true)
        try bench.process().set("more", 1, in: Self.file)
        expected["more"] = 1
        let next = try Self.file.contents(on: bench.process())
        #expect(next.values == expected && next.recovery == nil)
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let mentions: [String]
        let prepare: @Sendable (StoreBench) throws -> Void
    }

    static let refusals: [Refusal] = [
        Refusal(testDescription: "a symbolic link", mentions: ["link.txt", "symbolic link"]) { bench in
            try bench.process().scribble(Array("secret".utf8), to: "/home/ada/precious")
            try bench.simulated.fileSystem.makeSymbolicLink(folder.appending("link.txt"), to: "/home/ada/precious")
        },
        Refusal(testDescription: "a folder in place of a file", mentions: ["box.txt"]) { bench in
            try bench.process().fileSystem.makeFolders(folder.appending("box.txt"))
        },
        Refusal(testDescription: "a file next to the folder", mentions: ["com.example.notes.plist", "notes.prefs"]) {
            try $0.process().scribble(Array("{}".utf8), to: file.path)
        },
        Refusal(testDescription: "two files of one key", mentions: ["title.plist", "title.txt"]) { bench in
            try bench.process().scribble(Array("<plist><true/></plist>".utf8), to: folder.appending("title.plist"))
        },
    ]

    @Test(arguments: refusals) func `rejects unusable files by name, and changes nothing`(_ refusal: Refusal) throws {
        let bench = try Self.bench()
        try refusal.prepare(bench)
        let names = try Self.names(bench)
        let process = bench.process()
        for attempt in [
            { _ = try Self.file.contents(on: process) }, { _ = try process.set("title", "other", in: Self.file) },
        ] {
            let text = storeFailure { try attempt() }?.description ?? ""
            for part in refusal.mentions { #expect(text.contains(part), "\(text)") }
        }
        #expect(try Self.names(bench) == names)
        #expect(try Self.text("title.txt", bench) == "Groceries\n")
    }

    @Test func `a file with the name of the folder is ignored`() throws {
        let bench = try StoreBench()
        try bench.process().scribble([1], to: Self.folder)
        #expect(try !Self.file.contents(on: bench.process()).exists)
        try bench.process().set("a", 1, in: Self.file)
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 1])
    }

    @Test func `keeps its values on a full disk`() throws {
        let bench = try Self.bench()
        bench.simulated.disk.capacity = 1
        #expect(storeFailure { try bench.process().set("title", "other", in: Self.file) } != nil)
        #expect(try Self.file.contents(on: bench.process()).values == Self.values)
        #expect(try Self.names(bench) == ["icon.data", "title.txt", "window.plist"])
    }

    @Test func `is restored from its history`() throws {
        let bench = try Self.bench()
        try bench.process().set("title", "other", in: Self.file)
        let history = try #require(History(of: Self.file, on: bench.process()))
        let states = history.versions.compactMap { history.state(of: $0) }
        #expect(states.contains { $0.form == .folder && $0.values == Self.values })
    }
}

extension SystemServices {
    /// Makes a domain a folder with these values.
    func makeFolder(_ file: DomainFile, _ values: PropertyList.Dictionary) throws {
        try commit([
            DomainEdit(file) { draft in
                draft.values = values
                draft.form = .folder
            }
        ])
    }
}

private func storeFailure(_ body: () throws -> Void) -> StoreFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? StoreFailure
    }
}
