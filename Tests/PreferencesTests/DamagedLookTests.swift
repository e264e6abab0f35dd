import Platform
import Preferences
import SimulatedPlatform
import Synchronization
import Testing

@Suite struct `A look at a damaged file` {
    static let name: DomainName = "com.example.editor"
    static let file = StoreBench.file(name)

    @Test(arguments: [true, false]) func `reads it once, and again when it is another one`(_ hasVersion: Bool) throws {
        let bench = try StoreBench()
        if hasVersion { try bench.process().set("size", 1, in: Self.file) }
        try bench.process().scribble([1, 2, 3], to: Self.file.path)
        var machine = bench.process()
        let files = HookedFileSystem(machine.fileSystem)
        machine.fileSystem = files
        let defaults = Defaults(Self.name, in: Store(.native, on: machine))
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
