import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct `The history of a domain` {
    static let file = StoreBench.file("com.example.editor")

    static func versions(_ bench: StoreBench) throws -> [PropertyList.Dictionary?] {
        let history = try #require(History(of: file, on: bench.process()))
        return history.versions.map { history.values(of: $0) }
    }

    @Test func `has each version that was written`() throws {
        let bench = try StoreBench()
        for number in 1...3 { try bench.process().set("a", .integer(.init(number)), in: Self.file) }
        #expect(try Self.versions(bench) == [["a": 1], ["a": 2], ["a": 3]])
    }

    @Test func `has what another program wrote before our first change`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        try bench.process().scribble(Self.file.serialized(["b": 2], as: .xml), to: Self.file.path)
        try bench.process().set("c", 3, in: Self.file)
        #expect(try Self.versions(bench) == [["a": 1], ["b": 2], ["b": 2, "c": 3]])
        let history = try #require(History(of: Self.file, on: bench.process()))
        #expect(history.versions.map(\.author.reason) == [.write, .found, .write])
    }

    /// The action of a program between a flush and the moment at which its version would be kept automatically.
    enum Afterwards: CaseIterable {
        case waits, ends, changesMore, isKilledBeforeAnotherWrites, isFollowedByAStranger, writesOverAStranger
    }

    static let afterFlush: [(Afterwards, [PropertyList.Dictionary], [WriteReason])] = [
        (.waits, [["a": 1]], [.flush]), (.ends, [["a": 1]], [.flush]),
        (.changesMore, [["a": 1], ["a": 1, "b": 2]], [.flush, .write]),
        (.isKilledBeforeAnotherWrites, [["a": 1], ["a": 1, "b": 2]], [.flush, .write]),
        (.isFollowedByAStranger, [["a": 1], ["b": 3], ["b": 2]], [.flush, .found, .write]),
        (.writesOverAStranger, [["a": 1], ["b": 3], ["b": 3, "c": 4]], [.flush, .found, .flush]),
    ]

    @Test(arguments: afterFlush)
    func `has what a program flushed, whatever happens next`(
        _ afterwards: Afterwards, _ versions: [PropertyList.Dictionary], _ reasons: [WriteReason]
    ) throws {
        let bench = try StoreBench()
        let store = bench.store()
        let defaults = Defaults("com.example.editor", in: store)
        defaults.set(1, forKey: "a")
        #expect(defaults.synchronize())
        #expect(try Self.versions(bench) == [])
        switch afterwards {
        case .waits: bench.simulated.clock.advance(by: .seconds(2))
        case .ends: store.shared.flushAll()
        case .changesMore: try defaults.transaction { $0["b"] = 2 }
        case .isKilledBeforeAnotherWrites: try bench.process().set("b", 2, in: Self.file)
        case .isFollowedByAStranger:
            try bench.process().scribble(Self.file.serialized(["b": 3], as: .xml), to: Self.file.path)
            bench.simulated.clock.advance(by: .seconds(2))
            try bench.process().set("b", 2, in: Self.file)
        case .writesOverAStranger:
            try bench.process().scribble(Self.file.serialized(["b": 3], as: .xml), to: Self.file.path)
            defaults.set(4, forKey: "c")
            store.shared.flushAll()
        }
        let history = try #require(History(of: Self.file, on: bench.process()))
        #expect(try Self.versions(bench) == versions)
        #expect(history.versions.map(\.author.reason) == reasons)
        withExtendedLifetime(defaults) {}
    }

    @Test func `has another program's write although a program of ours read it before it wrote`() throws {
        let bench = try StoreBench()
        let defaults = Defaults("com.example.editor", in: bench.store())
        try bench.process().scribble(Self.file.serialized(["b": 2], as: .xml), to: Self.file.path)
        #expect(defaults.integer(forKey: "b") == 2)
        defaults.set(3, forKey: "b")
        defaults.store.shared.flushAll()
        #expect(try Self.versions(bench) == [["b": 2], ["b": 3]])
    }

    @Test func `begins with number 1 although the first flush was not kept separately`() throws {
        let bench = try StoreBench()
        let defaults = Defaults("com.example.editor", in: bench.store())
        for number in 1...3 {
            defaults.set(number, forKey: "a")
            defaults.synchronize()
        }
        defaults.store.shared.flushAll()
        let history = try #require(History(of: Self.file, on: bench.process()))
        #expect(history.versions.map(\.sequence) == [1])
        #expect(try Self.versions(bench) == [["a": 3]])
    }

    @Test func `has a removal as a version without values`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        try bench.process().commit([DomainEdit(Self.file) { $0.removesFile = true }], reason: .delete)
        #expect(try Self.versions(bench) == [["a": 1], [:]])
    }

    @Test(arguments: [(0, 0), (1, 1), (4, 4), (32, 32)])
    func `keeps no more versions than the limit`(_ most: Int, _ kept: Int) throws {
        let bench = try StoreBench()
        var policy = HistoryPolicy()
        policy.versions = most
        for number in 0..<40 {
            try bench.process().commit(
                [DomainEdit(Self.file) { $0.values = .numbered(number) }], policy: policy)
        }
        #expect(try Self.versions(bench).count == kept)
        if kept > 0 { #expect(try Self.versions(bench).last == .numbered(39)) }
    }

    @Test func `keeps no more bytes than the limit, but always an earlier version`() throws {
        let bench = try StoreBench()
        var policy = HistoryPolicy()
        policy.bytes = 3000
        for number in 0..<10 {
            let text = PropertyList.string(String(repeating: "x", count: 1000 + number))
            try bench.process().commit([DomainEdit(Self.file) { $0.values["a"] = text }], policy: policy)
        }
        #expect(try Self.versions(bench).count == 2)
    }

    @Test(arguments: [WriteReason.found, .mirrored])
    func `keeps the last eight changes of users, however often others write`(_ others: WriteReason) throws {
        let bench = try StoreBench()
        let (process, file) = (bench.process(), Self.file)
        for number in 0..<10 {
            try process.commit([DomainEdit(file) { $0.values["user"] = .integer(.init(number)) }])
        }
        for number in 0..<100 {
            if others == .found {
                let values: PropertyList = ["user": 9, "program": .integer(.init(number))]
                try process.fileSystem.replace(file.path, with: Array(try values.serialized(as: .xml)))
            }
            // A mirror keeps what it finds as a version before it writes.
            try process.commit([DomainEdit(file) { $0.values["mirror"] = .integer(.init(number)) }], reason: .mirrored)
        }
        let versions = try Self.versions(bench).compactMap(\.self)
        #expect(versions.count == 32)
        #expect(versions.prefix(8).map { $0["user"] } == (2..<10).map { .integer(.init($0)) })
        #expect(versions.last?["mirror"] == 99)
    }

    /// An undo of a change by a user must not undo what others wrote before it.
    @Test(arguments: [4, 12, 32]) func `keeps what others wrote directly before the change of a user`(_ most: Int)
        throws
    {
        let bench = try StoreBench()
        let (process, file) = (bench.process(), Self.file)
        var policy = HistoryPolicy()
        policy.versions = most
        func write(_ key: String, _ value: Int, _ reason: WriteReason) throws {
            let edit = DomainEdit(file) { $0.values[key] = .integer(.init(value)) }
            try process.commit([edit], reason: reason, policy: policy)
        }
        try write("user", 1, .write)
        for number in 0..<3 { try write("mirror", number, .mirrored) }
        try write("user", 2, .write)
        for number in 3..<100 { try write("mirror", number, .mirrored) }
        let versions = try Self.versions(bench).compactMap(\.self)
        let first = try #require(versions.firstIndex { $0["user"] == 2 })
        #expect(versions.count == most && versions[first]["mirror"] == 2)
        #expect(first == 0 ? most == 4 : versions[first - 1]["mirror"] == 2)
    }

    @Test func `has one version for the flushes of a process within a minute`() throws {
        let bench = try StoreBench()
        let process = bench.process()
        for number in 0..<5 {
            try process.commit([DomainEdit(Self.file) { $0.values = .numbered(number) }], reason: .flush)
            bench.simulated.clock.advance(by: .seconds(1))
        }
        #expect(try Self.versions(bench) == [.numbered(4)])
        bench.simulated.clock.advance(by: .seconds(61))
        try process.commit([DomainEdit(Self.file) { $0.values = .numbered(5) }], reason: .flush)
        #expect(try Self.versions(bench) == [.numbered(4), .numbered(5)])
    }

    @Test func `follows the user's settings of the store`() throws {
        let bench = try StoreBench()
        try bench.process().commit([
            DomainEdit(StoreBench.file(StorePolicy.domain)) {
                $0.values = ["historyVersions": 2, "newDomainFormat": "xml1"]
            }
        ])
        let defaults = Defaults("com.example.editor", in: bench.store())
        for number in 0..<5 { try defaults.transaction { $0["a"] = .integer(.init(number)) } }
        #expect(try Self.versions(bench) == [["a": 3], ["a": 4]])
        #expect(try Self.file.contents(on: bench.process()).format == .xml)
    }

    @Test func `reads the settings of the store once, and looks once at each folder that is missing`() throws {
        let bench = try StoreBench()
        try bench.process().commit([DomainEdit(Self.file) { $0.values = ["a": 1] }])
        let system = bench.process()
        let (files, places) = (system.fileSystem as? SimulatedFileSystem, try StorePlaces(.native, on: system))
        #expect(places?.policy.history.versions == HistoryPolicy().versions)
        // The host, the four folders, and the records, file and folder of two domains.
        let count = try #require(files).operations.count
        #expect(count <= 4 + 4 + 2 * 3)
        #expect(places?.policy == StorePolicy() && files?.operations.count == count)
    }

    @Test func `of a large domain holds the replaced file itself`() throws {
        let bench = try StoreBench()
        var policy = HistoryPolicy()
        policy.mostCopiedBytes = 500
        let large = PropertyList.string(String(repeating: "x", count: 1000))
        for number in 0..<3 {
            try bench.process().commit(
                [
                    DomainEdit(Self.file) {
                        $0.values = ["text": large, "number": .integer(PropertyList.Integer(number))]
                    }
                ], policy: policy)
        }
        #expect(try Self.versions(bench).map { $0?["number"] } == [0, 1])
    }

    @Test func `is as private as the domain`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        let folder = try #require(Self.file.history)
        let names = try #require(try bench.simulated.fileSystem.names(in: folder))
        for name in names {
            #expect(
                try bench.simulated.fileSystem.status(of: folder.appending(name))?.permissions == .privateFile)
        }
    }

    @Test func `that cannot be written does not prevent a write`() throws {
        let bench = try StoreBench()
        try bench.process().scribble([0], to: StoreBench.history)
        try bench.process().set("a", 1, in: Self.file)
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 1])
    }

    @Test func `begins with the number 1 only if there was nothing before`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        let other = StoreBench.file("com.example.other")
        try bench.process().scribble(other.serialized(["b": 2], as: .xml), to: other.path)
        try bench.process().set("c", 3, in: other)
        #expect(History(of: Self.file, on: bench.process())?.versions.map(\.sequence) == [1])
        #expect(History(of: other, on: bench.process())?.versions.map(\.sequence) == [2, 3])
    }

    @Test func `distinguishes a removed file from one without values`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        try bench.process().set("a", nil, in: Self.file)
        try bench.process().commit([DomainEdit(Self.file) { $0.removesFile = true }], reason: .delete)
        let history = try #require(History(of: Self.file, on: bench.process()))
        #expect(history.versions.map { history.state(of: $0)?.format } == [.binary, .binary, nil])
        #expect(history.versions.last.flatMap { history.state(of: $0) } == .absent)
    }

    static let ways: [(reasons: [WriteReason], way: [Int])] = [
        ([], []), ([.write, .write, .write], [1, 2, 3]), ([.write, .write, .undo(to: 1)], [1]),
        ([.write, .write, .write, .undo(to: 2), .undo(to: 1)], [1]),
        ([.write, .write, .write, .undo(to: 2), .write], [1, 2, 5]), ([.write, .undo(to: 0)], [2]),
        ([.write, .write, .undo(to: 1), .restore], [1, 4]),
        ([.write, .write, .undo(to: 1), .restore, .undo(to: 1)], [1]),
        ([.write, .write, .write, .undo(to: 1), .write, .write, .undo(to: 5)], [1, 5]),
    ]

    @Test(arguments: ways)
    func `goes back over changes that are not undone yet`(_ row: (reasons: [WriteReason], way: [Int])) throws {
        let bench = try StoreBench()
        for (index, reason) in row.reasons.enumerated() {
            try bench.process().commit([DomainEdit(Self.file) { $0.values = .numbered(index) }], reason: reason)
        }
        let history = try #require(History(of: Self.file, on: bench.process()))
        #expect(history.undoChain.map(\.sequence) == row.way)
        #expect(history.versions.map(\.author.reason) == row.reasons)
    }

    @Test(arguments: [
        "0000000007-1767225600123-4711-write-00000000000000ff-120-editor.plist",
        "0000000007-1767225600123-4711-flush-00000000000000ff-0-my-editor%2F2.plist",
    ])
    func `identifies a version by its name`(_ name: String) throws {
        let bench = try StoreBench()
        let folder = try #require(Self.file.history)
        try bench.process().scribble([0], to: folder.resolving(try #require(FilePath(name))))
        let history = try #require(History(of: Self.file, on: bench.process()))
        let version = try #require(history.versions.first)
        #expect(version.sequence == 7)
        #expect(version.time.milliseconds == 1_767_225_600_123)
        #expect(version.fileName?.description == name)
    }

    @Test(arguments: [
        "x.plist", "-1-1-1-write-0-1-a.plist", "1-1-1-write-0-1.plist", ".prefs-0000000000000000",
        "1-1-1-w-0--5-a.plist",
    ])
    func `ignores files that are not versions`(_ name: String) throws {
        let bench = try StoreBench()
        let folder = try #require(Self.file.history)
        try bench.process().scribble([0], to: folder.resolving(try #require(FilePath(name))))
        #expect(try #require(History(of: Self.file, on: bench.process())).versions.isEmpty)
    }
}

@Suite struct `A damaged file` {
    static let file = StoreBench.file("com.example.editor")

    static let damages: [[UInt8]] = [
        [], [0], Array("bplist00".utf8), Array("<plist><dict><key>a</key>".utf8), Array("{ a = 1;".utf8),
        Array("<plist><array/></plist>".utf8), [UInt8](repeating: 0, count: 4096),
    ]

    @Test(arguments: damages)
    func `is replaced by the newest good version`(_ bytes: [UInt8]) throws {
        let bench = try StoreBench()
        for number in 1...2 { try bench.process().set("a", .integer(.init(number)), in: Self.file) }
        try bench.process().scribble(bytes, to: Self.file.path)
        let contents = try Self.file.contents(on: bench.process())
        #expect(contents.values == ["a": 2])
        #expect(contents.recovery?.damage.isDamage == true)
        let (value, recovery) = try Self.file.value(at: ["a"], on: bench.process())
        #expect(value == 2 && recovery != nil)
        #expect(recovery?.description.contains("; the version of 20") == true)
        #expect(try bench.simulated.fileSystem.contents(of: Self.file.path) == bytes)
    }

    @Test(arguments: damages)
    func `without a kept version is an error, and stays as it is`(_ bytes: [UInt8]) throws {
        let bench = try StoreBench()
        try bench.process().scribble(bytes, to: Self.file.path)
        #expect { try Self.file.contents(on: bench.process()) } throws: { ($0 as? StoreFailure)?.isDamage == true }
        #expect { try bench.process().set("a", 1, in: Self.file) } throws: { ($0 as? StoreFailure)?.isDamage == true }
        #expect(try bench.simulated.fileSystem.contents(of: Self.file.path) == bytes)
    }

    @Test(arguments: damages)
    func `is kept beside the new one when the domain is written`(_ bytes: [UInt8]) throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        try bench.process().scribble(bytes, to: Self.file.path)
        try bench.process().set("b", 2, in: Self.file)
        let contents = try Self.file.contents(on: bench.process())
        #expect(contents.values == ["a": 1, "b": 2] && contents.recovery == nil)
        let kept = try #require(
            try bench.simulated.fileSystem.names(in: StoreBench.folder)?.first { $0.description.contains(".damaged-") })
        #expect(try bench.simulated.fileSystem.contents(of: StoreBench.folder.appending(kept)) == bytes)
        let history = try #require(History(of: Self.file, on: bench.process()))
        #expect(history.versions.last?.author.reason == .recovered)
    }

    @Test func `does not damage its versions`() throws {
        let bench = try StoreBench()
        try bench.process().set("a", 1, in: Self.file)
        let file = try #require(try bench.simulated.fileSystem.open(Self.file.path, .writing))
        try file.write([UInt8](repeating: 0xFF, count: 64), at: 0)
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 1])
    }

    @Test func `is skipped in the history as well`() throws {
        let bench = try StoreBench()
        for number in 1...3 { try bench.process().set("a", .integer(.init(number)), in: Self.file) }
        let folder = try #require(Self.file.history)
        let newest = try #require(try bench.simulated.fileSystem.names(in: folder)?.last)
        try bench.process().scribble([1], to: folder.appending(newest))
        try bench.process().scribble([1], to: Self.file.path)
        #expect(try Self.file.contents(on: bench.process()).values == ["a": 2])
    }
}
