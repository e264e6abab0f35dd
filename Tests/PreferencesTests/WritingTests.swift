import Digests
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `A write` {
    static let file = StoreBench.file("com.example.editor")

    @Test func `keeps the keys that another writer has changed meanwhile`() throws {
        let bench = try StoreBench()
        let known = try Self.file.contents(on: bench.process())
        try bench.process().set("theirs", 1, in: Self.file)
        try bench.process().commit([DomainEdit(Self.file, known: known) { $0.values["ours"] = 2 }])
        #expect(try Self.file.contents(on: bench.process()).values == ["theirs": 1, "ours": 2])
    }

    @Test(arguments: [PropertyList.Format.xml, .binary, .gnustep, .json])
    func `keeps the format of the file`(_ format: PropertyList.Format) throws {
        let bench = try StoreBench()
        let values: PropertyList.Dictionary = ["a": 1, "b": ["c": "text"]]
        try bench.process().scribble(Self.file.serialized(values, as: format), to: Self.file.path)
        try bench.process().set("d", true, in: Self.file)
        let contents = try Self.file.contents(on: bench.process())
        #expect(contents.format == format)
        #expect(contents.values == ["a": 1, "b": ["c": "text"], "d": true])
    }

    /// A user can write such a number into a domain that is kept as JSON.
    @Test func `keeps an integer beyond 64 bits, which is read with its digits and never rounded`() throws {
        let bench = try StoreBench()
        let digits = "123456789012345678901"
        try bench.process().scribble([UInt8]("{\n  \"big\": \(digits),\n  \"a\": 1\n}\n".utf8), to: Self.file.path)
        let defaults = Defaults("com.example.editor", in: bench.store())
        #expect(defaults[Setting("big", default: 7)] == 7)
        #expect(defaults.string(forKey: "big") == digits)
        #expect(defaults[Setting("a", default: 7)] == 1)
        defaults.set(2, forKey: "a")
        try defaults.flush()
        let text = String(decoding: try bench.process().fileSystem.contents(of: Self.file.path) ?? [], as: UTF8.self)
        #expect(text == "{\n  \"big\": \(digits),\n  \"a\": 2\n}\n")
        #expect(defaults.string(forKey: "big") == digits)
    }

    @Test func `that changes nothing writes nothing`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        let former = try Self.file.contents(on: bench.process()).generation
        let outcome = try bench.process().set("a", 1, in: Self.file)
        #expect(outcome?.isChanged == false)
        #expect(try Self.file.contents(on: bench.process()).generation == former)
    }

    @Test func `that changes nothing creates no file`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", nil, in: Self.file)
        #expect(try !Self.file.contents(on: bench.process()).exists)
    }

    @Test func `gives other users no access to files and folders`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        let files = bench.simulated.fileSystem
        for folder in [StoreBench.folder, StoreBench.folder.appending(".locks"), StoreBench.history] {
            #expect(try files.status(of: folder)?.permissions == .privateFolder)
        }
        #expect(try files.status(of: Self.file.path)?.permissions == .privateFile)
    }

    @Test func `keeps the permissions that the file has`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        let shared = FilePermissions(rawValue: 0o640)
        try bench.simulated.fileSystem.open(Self.file.path, .reading)?.setPermissions(shared)
        try bench.process().set("a", 2, in: Self.file)
        #expect(try bench.simulated.fileSystem.status(of: Self.file.path)?.permissions == shared)
    }

    @Test(arguments: ["/tmp/prefs-spelling/", "/tmp/./prefs-spelling", "//tmp//prefs-spelling/."])
    func `in one folder share a store, however its path is written`(_ path: String) throws {
        let store = try #require(Store.folder("/tmp/prefs-spelling"))
        #expect(Store.folder(path)?.shared === store.shared)
    }

    /// All folders on the path may be missing, whether the file has a lock file or is locked itself.
    @Test(arguments: [Store.Kind.native, .foundation, .folder("/home/ada/new/folder")])
    func `creates missing folders`(_ kind: Store.Kind) throws {
        let bench = try StoreBench()
        let store = bench.store(kind)
        let defaults = Defaults("com.example.editor", in: store)
        defaults.set(1, forKey: "a")
        try defaults.flush()
        let file = try #require(try store.shared.places.get()).user.file(of: "com.example.editor")
        #expect(try file.contents(on: bench.process()).values == ["a": 1])
    }

    @Test func `creates the target of a dangling link`() throws {
        let bench = try StoreBench()
        try bench.simulated.fileSystem.makeFolders(StoreBench.folder)
        try bench.simulated.fileSystem.makeSymbolicLink(Self.file.path, to: "/home/ada/dotfiles/deep/editor.plist")
        try bench.process().set("a", 1, in: Self.file)
        let target: FilePath = "/home/ada/dotfiles/deep/editor.plist"
        #expect(try bench.simulated.fileSystem.status(of: target, followingLink: false)?.kind == .file)
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 1])
    }

    @Test func `replaces the target of a link, and keeps the link`() throws {
        let bench = try StoreBench()
        let target: FilePath = "/home/ada/dotfiles/editor.plist"
        try bench.process().scribble(Self.file.serialized(["a": 1], as: .xml), to: target)
        try bench.simulated.fileSystem.makeFolders(StoreBench.folder)
        try bench.simulated.fileSystem.makeSymbolicLink(Self.file.path, to: "../../dotfiles/editor.plist")
        try bench.process().set("b", 2, in: Self.file)
        #expect(try bench.simulated.fileSystem.status(of: Self.file.path, followingLink: false)?.kind == .symbolicLink)
        let byPath = StoreBench.store.file(at: target, name: "editor.plist", newFormat: .binary)
        let contents = try byPath.contents(on: bench.process())
        #expect(contents.values == ["a": 1, "b": 2])
        #expect(contents.format == .xml)
    }

    @Test func `takes at most two synchronizations and 40 operations`() throws {
        let bench = try StoreBench()
        for number in 0..<40 { try bench.process().set("a", .integer(.init(number)), in: Self.file) }
        let process = bench.process()
        try process.set("b", 1, in: Self.file)
        let operations = try #require(process.fileSystem as? SimulatedFileSystem).operations.map(\.operation)
        #expect(operations.count <= 40)
        #expect(operations.count { $0 == .synchronize || $0 == .synchronizeFolder } == 2)
    }

    @Test(arguments: ["", "a\u{0}b"])
    func `rejects an invalid key`(_ key: String) throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        #expect(throws: StoreFailure(.invalidKey(key), "com.example.editor", file: Self.file.path)) {
            try bench.process().set(key, 1, in: Self.file)
        }
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 1])
    }

    @Test func `keeps an invalid key that the file already has`() throws {
        let bench = try StoreBench()
        try bench.process().scribble(Self.file.serialized(["": 1], as: .xml), to: Self.file.path)
        try bench.process().set("b", 2, in: Self.file)
        #expect(try Self.file.contents(on: bench.process()).values == ["": 1, "b": 2])
    }

    /// A missing file is locked by its folder, which is the same for both files.
    @Test func `creates two files by path in one folder at once`() throws {
        let bench = try StoreBench()
        let files = (["/home/ada/one.plist", "/home/ada/two.plist"] as [FilePath]).map {
            StoreBench.store.file(at: $0, name: $0.description, newFormat: .xml)
        }
        try bench.process().commit(files.map { DomainEdit($0) { $0.values["a"] = 1 } })
        for file in files { #expect(try file.contents(on: bench.process()).values == ["a": 1]) }
    }

    @Test func `that throws changes no file of its transaction`() throws {
        let bench = try StoreBench()
        let other = StoreBench.file("com.example.other")
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try bench.process().commit([
                DomainEdit(Self.file) { $0.values["a"] = 1 }, DomainEdit(other) { _ in throw Refusal() },
            ])
        }
        #expect(try !Self.file.contents(on: bench.process()).exists)
    }

    @Test func `that names a file twice is rejected`() throws {
        let bench = try StoreBench()
        #expect(throws: StoreFailure(Self.file, .duplicateFile)) {
            try bench.process().commit([
                DomainEdit(Self.file) { $0.values["a"] = 1 }, DomainEdit(Self.file) { $0.values["b"] = 1 },
            ])
        }
        #expect(try !Self.file.contents(on: bench.process()).exists)
    }

    @Test func `a fraction of a second makes a domain in XML binary`() throws {
        let bench = try StoreBench()
        let file = StoreBench.file("com.example.xml", newFormat: .xml)
        try bench.process().set("a", 1, in: file)
        #expect(try file.contents(on: bench.process()).format == .xml)
        let value: PropertyList = ["b": [.date(Date(timeIntervalSinceReferenceDate: 1000.75))]]
        let outcome = try bench.process().set("b", value, in: file)
        #expect(outcome?.convertedFrom == .xml && outcome?.hasDroppedFractions == false)
        #expect(try file.contents(on: bench.process()).values == ["a": 1, "b": value])
        #expect(try file.contents(on: bench.process()).format == .binary)
        #expect(try bench.process().set("c", 1, in: file)?.convertedFrom == nil)
    }

    @Test func `to a read-only store is rejected`() throws {
        let bench = try StoreBench()
        var file = Self.file
        file.isReadOnly = true
        #expect(throws: StoreFailure(file, .readOnly)) { try bench.process().set("a", 1, in: file) }
    }

    @Test func `on a full disk fails and leaves the old values`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        bench.simulated.disk.capacity = bench.simulated.disk.used + 100
        #expect(throws: StoreFailure.self) {
            try bench.process().set("b", .string(String(repeating: "x", count: 5000)), in: Self.file)
        }
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 1])
    }

    @Test func `to a read-only disk reports that`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        bench.simulated.disk.isReadOnly = true
        #expect { try bench.process().set("b", 1, in: Self.file) } throws: { error in
            guard case .system(let code, _)? = (error as? StoreFailure)?.problem else { return false }
            return code == ErrorCode.readOnly.rawValue
        }
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 1])
    }

    @Test func `times out while it waits for a lock, and changes nothing`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        let holder = bench.process()
        guard case .file(let path) = Self.file.lock else { return }
        let lock = try #require(try holder.fileSystem.open(path, .creating(.privateFile)))
        #expect(try lock.lock(.exclusive, patience: .zero))
        let start = bench.simulated.clock.now
        #expect { try bench.process().set("a", 2, in: Self.file) } throws: { error in
            guard case .locked? = (error as? StoreFailure)?.problem else { return false }
            return true
        }
        #expect(start.duration(to: bench.simulated.clock.now) <= .milliseconds(250))
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 1])
        lock.unlock()
    }

    @Test func `leaves a mark with the new contents and the reason`() throws {
        let bench = try StoreBench()
        try bench.process(program: "editor").set("a", 1, in: Self.file)
        guard case .file(let path) = Self.file.lock else { return }
        let lock = try #require(try bench.simulated.fileSystem.open(path, .reading))
        let mark = try #require(WriteMarker(in: lock))
        let bytes = try #require(try bench.simulated.fileSystem.contents(of: Self.file.path))
        #expect(mark.hash == SHA256.hash(bytes))
        #expect(mark.author == WriteAuthor(program: "editor", process: 4711, reason: .write))
        try bench.process().commit([DomainEdit(Self.file) { $0.removesFile = true }], reason: .delete)
        let later = try #require(WriteMarker(in: lock))
        #expect(later.hash == nil && later.author.reason == .delete)
    }
}
