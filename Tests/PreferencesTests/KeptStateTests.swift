import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import Testing

/// The history after failures, reverted changes and changes by other users.
@Suite struct `The kept state of a domain` {
    static let file = StoreBench.file("com.example.editor")

    private func history(_ bench: StoreBench) throws -> History {
        try #require(History(of: Self.file, on: bench.process()))
    }

    private static let large: HistoryPolicy = {
        var policy = HistoryPolicy()
        policy.mostCopiedBytes = 10
        return policy
    }()

    static let policies: [(HistoryPolicy, Set<Limitation>)] = [
        (HistoryPolicy(), []), (large, []), (large, [.noHardLinks]),
    ]

    @Test(arguments: policies)
    func `remains although writes fail repeatedly`(_ policy: HistoryPolicy, _ limitations: Set<Limitation>) throws {
        let bench = try StoreBench()
        bench.simulated.disk.limitations = limitations
        for number in 0..<5 {
            try bench.process().commit([DomainEdit(Self.file) { $0.values = .numbered(number) }], policy: policy)
        }
        let former = try history(bench).versions
        for number in 0..<33 {
            // Without hard links, the first rename is that of the copy of the file to be replaced.
            let first = limitations.isEmpty || number > 0 ? 1 : 2
            let failing = FaultPlan([Fault(.fail(.inputOutput), .from(first), of: .rename)])
            #expect(throws: StoreFailure.self) {
                try bench.process(failing).commit(
                    [DomainEdit(Self.file) { $0.values = .numbered(100 + number) }], policy: policy)
            }
        }
        // For a large domain, the first attempt keeps the contents to be replaced.
        let added = policy.mostCopiedBytes == Self.large.mostCopiedBytes ? 1 : 0
        #expect(try history(bench).versions.dropLast(added) == former[...])
        #expect(try history(bench).newestGood?.values == .numbered(4))
    }

    @Test(arguments: [[], [.noHardLinks]] as [Set<Limitation>])
    func `has a damaged file once, although writes fail repeatedly`(_ limitations: Set<Limitation>) throws {
        let bench = try StoreBench()
        bench.simulated.disk.limitations = limitations
        try bench.process().set("a", 1, in: Self.file)
        try bench.process().scribble([1, 2, 3], to: Self.file.path)
        for attempt in 0..<4 {
            // Without hard links, the copy is renamed first.
            let first = limitations.isEmpty || attempt > 0 ? 1 : 2
            let process = bench.process(FaultPlan([Fault(.fail(.inputOutput), .from(first), of: .rename)]))
            #expect(throws: StoreFailure.self) { try process.set("a", 2, in: Self.file) }
        }
        let names = try #require(try bench.process().fileSystem.names(in: StoreBench.folder))
        #expect(names.count { $0.description.contains(".damaged-") } == 1)
    }

    @Test func `is removed once no versions are to be kept`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        var none = HistoryPolicy()
        none.versions = 0
        try bench.process().commit([DomainEdit(Self.file) { $0.values["a"] = 2 }], policy: none)
        #expect(try history(bench).versions.isEmpty)
        try bench.process().scribble([1, 2, 3], to: Self.file.path)
        #expect { try Self.file.contents(on: bench.process()) } throws: { ($0 as? StoreFailure)?.isDamage == true }
    }

    @Test func `does not replace a file that was created after a removal`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        try bench.process().commit([DomainEdit(Self.file) { $0.removesFile = true }], reason: .delete)
        try bench.process().scribble([1, 2, 3], to: Self.file.path)
        #expect { try Self.file.contents(on: bench.process()) } throws: { ($0 as? StoreFailure)?.isDamage == true }
        #expect { try bench.process().set("b", 2, in: Self.file) } throws: { ($0 as? StoreFailure)?.isDamage == true }
        #expect(try bench.process().fileSystem.contents(of: Self.file.path) == [1, 2, 3])
    }

    @Test func `may be from before 1970`() throws {
        let bench = try StoreBench()
        let now = bench.simulated.clock.wall
        bench.simulated.clock.setWall(Timestamp(seconds: -86_400, nanoseconds: 0))
        try bench.process().scribble(Self.file.serialized(["a": 1], as: .xml), to: Self.file.path)
        bench.simulated.clock.setWall(now)
        try bench.process().set("a", 2, in: Self.file)
        #expect(try history(bench).versions.map { try history(bench).values(of: $0) } == [["a": 1], ["a": 2]])
    }

    @Test func `leads back to no file although a flush replaced the first version`() throws {
        let bench = try StoreBench()
        let process = bench.process()
        for number in 0..<3 {
            try process.commit([DomainEdit(Self.file) { $0.values = .numbered(number) }], reason: .flush)
            bench.simulated.clock.advance(by: .seconds(5))
        }
        #expect(try history(bench).versions.map(\.sequence) == [1])
        let present = DomainState(try Self.file.contents(on: process))
        #expect(try history(bench).back(1, from: present)?.state == .absent)
    }
}
