import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

extension `The store of this machine` {
    /// Writers that are killed by `kill -9` at random moments.
    @Suite struct `Survives killed writers` {
        @Test func `of one domain`() throws { try Killing("endless", ["a"]).run(Extent.kills / 4) }

        @Test func `of a domain that is a folder`() throws {
            try Killing("endless-folder", ["a"]).run(Extent.kills / 4)
        }

        @Test func `of a domain that is a folder, on FAT through FUSE`() throws {
            let stick = try FATMount.orCancel()
            try Killing("endless-folder", ["a"], ProofBench(at: stick.path + "/prefs"), isInUserSpace: true)
                .run(max(4, Extent.kills / 12))
        }

        @Test func `that flush`() throws { try Killing("endless-flush", ["a"]).run(Extent.kills / 4) }

        @Test func `of two domains at once`() throws {
            try Killing("endless-pair", ["a", "b"]).run(Extent.kills - 3 * (Extent.kills / 4))
        }

        @Test func `that hold a lock: it is free immediately`() throws {
            let bench = try ProofBench()
            let worker = try bench.worker("hold", "domain")
            try #require(worker.receive() == "held")
            #expect(storeFailure { try bench.write("key", 1, "domain", patience: .zero) } != nil)
            worker.kill()
            #expect(storeFailure { try bench.write("key", 1, "domain", patience: .zero) } == nil)
        }
    }
}

/// Kills one writer after another, and checks the files each time.
private struct Killing {
    private let bench: ProofBench
    private let isInUserSpace: Bool
    private let task: String
    private let domains: [DomainName]
    private var random: SeededGenerator
    private var acknowledged = 0
    private var interrupted = 0
    private var longestWrite = Duration.zero
    /// The duration of a worker's write, so that kills hit all of its steps.
    private var pace = Duration.milliseconds(10)

    init(
        _ task: String, _ domains: [DomainName], _ bench: ProofBench? = nil, isInUserSpace: Bool = false
    ) throws {
        self.bench = try bench ?? ProofBench()
        self.isInUserSpace = isInUserSpace
        self.task = task
        self.domains = domains
        random = SeededGenerator(stream: "kills \(task)")
    }

    consuming func run(_ count: Int) throws {
        var left = 0
        for round in 1...count {
            try killOne()
            left += try temporaries()
            // A reader completes an interrupted transaction, and so does a writer.
            if round.isMultiple(of: 2) { try writeNext(round) }
            try look()
            if !round.isMultiple(of: 2) { try writeNext(round) }
            try look()
            // A file system in user space may carry out a call of a process that is already dead.
            if isInUserSpace, try temporaries() > 0 { try writeNext(-round) }
            #expect(try temporaries() == 0, "after the next write, \(Seed.ofThisRun)")
        }
        #expect(interrupted > 0 || left > 0 || count < 10, "no kill interrupted a write, \(Seed.ofThisRun)")
        print(
            "\(task): \(count) kills, \(interrupted) of them after a write and before its acknowledgement, "
                + "\(left) temporary files left; longest write after a kill: \(longestWrite)")
    }

    /// Starts a writer and kills it a random time after one of its first writes.
    private mutating func killOne() throws {
        let worker = try WorkerProcess(bench.place, [task] + domains.map(\.text))
        var last = ContinuousClock.now
        for number in 0..<Int.random(in: 0...3, using: &random) {
            note(worker.receive())
            if number > 0 { pace = ContinuousClock.now - last }
            last = ContinuousClock.now
        }
        let end = last + pace * Double.random(in: 0...1.5, using: &random)
        while true {
            let left = end - ContinuousClock.now
            guard left > .zero, let line = worker.receive(within: left) else { break }
            note(line)
        }
        worker.kill()
        // The writes that it acknowledged before it died must be kept too.
        for line in worker.receiveAll() { note(line) }
    }

    private mutating func note(_ line: String?) {
        guard let line, let number = Int(line) else {
            Issue.record("the writer printed \(line ?? "nothing")")
            return
        }
        acknowledged = number
    }

    /// Checks that all domains are whole and have the same number: the last acknowledged one or the next.
    private mutating func look() throws {
        var numbers: Set<Int> = []
        for domain in domains {
            let contents = try bench.contents(domain)
            #expect(contents.recovery == nil, "damaged, \(Seed.ofThisRun)")
            let state = contents.values["state"]
            let number = state?["number"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0
            for key in ["second", "third"] {
                guard let other = contents.values[key]?["number"]?.integerValue else { continue }
                #expect(Int(exactly: other) == number, "files of two changes, \(Seed.ofThisRun)")
            }
            let payload = state?["payload"]?.dataValue.map(Array.init) ?? []
            #expect(payload == Array(repeating: UInt8(truncatingIfNeeded: number), count: number == 0 ? 0 : 4_000))
            numbers.insert(number)
        }
        #expect(numbers.count == 1, "a transaction was torn: \(numbers), \(Seed.ofThisRun)")
        let number = try #require(numbers.first)
        #expect((acknowledged...acknowledged + 1).contains(number), "\(Seed.ofThisRun)")
        if number > acknowledged { interrupted += 1 }
        acknowledged = number
    }

    /// Writes without a wait, because the locks of a dead process are free.
    private mutating func writeNext(_ round: Int) throws {
        let start = ContinuousClock.now
        for domain in domains {
            try bench.write("survivor", .integer(PropertyList.Integer(round)), domain, patience: .milliseconds(100))
        }
        longestWrite = max(longestWrite, ContinuousClock.now - start)
    }

    private func temporaries() throws -> Int {
        // A writer may die before it has made the folder.
        let file = try bench.file("a")
        return try [file.path.parent, file.folder ?? file.path.parent].reduce(0) { count, folder in
            count + (try bench.system.fileSystem.names(in: folder) ?? []).count { $0.isTemporary }
        }
    }
}
