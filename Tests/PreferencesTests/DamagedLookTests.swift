import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import Synchronization
import Testing

@Suite struct `A look-up in a damaged file` {
    static let name: DomainName = "com.example.editor"
    static let file = StoreBench.file(name)

    /// A key alone does not show that the root is not a dictionary, but the root's marker does.
    @Test(arguments: [PropertyList.Format.binary, .xml], [1, 20_000])
    func `finds nothing in a value that is not a dictionary`(_ format: PropertyList.Format, _ count: Int) throws {
        let bench = try StoreBench()
        let root = PropertyList.array(Array(repeating: "element", count: count))
        try bench.process().scribble(Array(root.serialized(as: format)), to: Self.file.path)
        for path: EntryPath in [["0"], ["size"], ["0", "1"]] {
            let failure = #expect(throws: StoreFailure.self) {
                try Self.file.value(at: path, on: bench.process())
            }
            #expect(failure?.problem == .notADictionary(.array))
        }
    }

    @Test func `uses the kept version if the file is not a dictionary`() throws {
        let bench = try StoreBench()
        try bench.process().set("size", 1, in: Self.file)
        try bench.process().scribble(Array(PropertyList.array(["element"]).serialized(as: .binary)), to: Self.file.path)
        #expect(try Self.file.value(at: ["size"], on: bench.process()).value == 1)
        #expect(try Self.file.value(at: ["0"], on: bench.process()).value == nil)
    }

    /// It belongs to the program or the user who edits it, and not to the store.
    @Test func `uses no version of a file to which a link leads, and does not replace it`() throws {
        let bench = try StoreBench()
        let system = bench.process()
        try system.fileSystem.makeFolders(Self.file.path.parent)
        let target: FilePath = "/home/ada/dotfiles.plist"
        try #require(system.fileSystem as? SimulatedFileSystem).makeSymbolicLink(Self.file.path, to: target)
        try system.set("size", 1, in: Self.file)
        try system.fileSystem.replace(target, with: Array("{".utf8).span.bytes)
        let failure = #expect(throws: StoreFailure.self) { try Self.file.value(at: ["size"], on: bench.process()) }
        #expect(failure?.goodVersion?.sequence == 1)
        let defaults = Defaults(Self.name, in: bench.store())
        #expect(defaults.integer(forKey: "size") == 0)
        defaults.set(2, forKey: "size")
        #expect(throws: StoreFailure.self) { try defaults.flush() }
        #expect(try bench.process().fileSystem.contents(of: target) == Array("{".utf8))
        // The value is written as soon as the file is readable again.
        try bench.process().fileSystem.replace(target, with: Array("{ other = 1; }".utf8).span.bytes)
        try defaults.flush()
        #expect(try Self.file.contents(on: bench.process()).values == ["other": "1", "size": 2])
    }

    /// The two bytes after the magic number show that it is not a binary property list.
    @Test(arguments: [1, 2000]) func `finds a key in a text that begins like a binary file`(_ count: Int) throws {
        let bench = try StoreBench()
        let lines = (1...count).map { "k\($0) = value;" }.joined()
        try bench.process().scribble(Array("bplistKey = value; \(lines)".utf8), to: Self.file.path)
        #expect(try Self.file.value(at: ["k1"], on: bench.process()).value == "value")
    }

    @Test(arguments: [true, false]) func `reads it once, and again when it changes`(_ hasVersion: Bool) throws {
        let bench = try StoreBench()
        if hasVersion { try bench.process().set("size", 1, in: Self.file) }
        try bench.process().scribble([1, 2, 3], to: Self.file.path)
        var system = bench.process()
        let files = HookedFileSystem(system.fileSystem)
        system.fileSystem = files
        let defaults = Defaults(Self.name, in: Store(.native, on: system))
        let size = hasVersion ? 1 : 0
        #expect(defaults.integer(forKey: "size") == size)
        let wasOpened = Mutex(false)
        files.onceOpened(Self.file.path) { wasOpened.withLock { $0 = true } }
        for _ in 0..<3 {
            bench.simulated.clock.advance(by: .milliseconds(10))
            #expect(defaults.integer(forKey: "size") == size)
        }
        #expect(!wasOpened.withLock { $0 })
        try bench.process().scribble(Self.file.serialized(["size": 2], as: .xml), to: Self.file.path)
        bench.simulated.clock.advance(by: .milliseconds(10))
        #expect(defaults.integer(forKey: "size") == 2)
        #expect(wasOpened.withLock { $0 })
    }
}
