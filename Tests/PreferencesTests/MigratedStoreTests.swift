import Platform
import Preferences
import PropertyLists
import SettingsSchema
import SimulatedPlatform
import TestSupport
import Testing

/// Migrations, with a fault at each of their operations in turn.
@Suite struct `A migration of stored settings` {
    static let schema: Schema = {
        var schema = Schema("com.example.backup", version: 3) {
            Setting<Int>("keep", default: 7)
            Setting<Int>("port", default: 80)
        }.migrating(from: 1, rename: ["copies": "keep"], remove: ["gone"])
        return schema.migrating(from: 2, convert: ["port": .integer])
    }()

    static let user = StoreBench.file(SchemaBench.domain)

    private func byHost(_ system: SystemServices) throws -> DomainFile {
        let places = try #require(try StorePlaces(.native, on: system))
        return places.user.file(of: SchemaBench.domain, on: try places.host())
    }

    private func values(_ disk: SimulatedDisk) throws -> [PropertyList.Dictionary] {
        let system = StoreBench.process(on: disk)
        return try [Self.user, byHost(system)].map { try $0.contents(on: system).values }
    }

    private func prepared(as kind: DomainKind) throws -> SchemaBench {
        let bench = try SchemaBench(nil, as: kind)
        if kind == .folder { try bench.makeFolder(of: byHost(bench.bench.process())) }
        try bench.stored(["copies": 5, "gone": true, "port": "8080"])
        let system = bench.bench.process()
        try system.commit([DomainEdit(byHost(system)) { $0.values = ["copies": 6] }])
        #expect(try (Self.user.contents(on: system).form == .folder) == (kind == .folder))
        #expect(try (byHost(system).contents(on: system).form == .folder) == (kind == .folder))
        bench.bench.simulated.disk.synchronize()
        return bench
    }

    @Test(arguments: DomainKind.allCases)
    func `changes both of the user's files in one step, once, and can be undone`(_ kind: DomainKind) throws {
        let bench = try prepared(as: kind)
        let disk = bench.bench.simulated.disk
        _ = try Self.schema.parse(["b"], in: bench.store())
        let after: [PropertyList.Dictionary] = [
            ["keep": 5, "port": 8080, "$schemaVersion": 3], ["keep": 6, "$schemaVersion": 3],
        ]
        #expect(try values(disk) == after)
        let system = bench.bench.process()
        let history = try #require(History(of: Self.user, on: system))
        #expect(history.versions.map(\.author.reason) == [.write, .migrate])
        #expect(
            history.versions.last?.transaction
                == History(of: try byHost(system), on: system)?.versions.last?.transaction)
        let count = history.versions.count
        _ = try Self.schema.parse(["b"], in: bench.store())
        #expect(History(of: Self.user, on: system)?.versions.count == count)
    }

    @Test(arguments: DomainKind.allCases)
    func `leaves the old values or the new ones, wherever it is interrupted`(_ kind: DomainKind) throws {
        let bench = try prepared(as: kind)
        let old = try values(bench.bench.simulated.disk.copy())
        let flawless = bench.bench.simulated.disk.copy()
        _ = try Self.schema.parse(["b"], in: Store(.native, on: StoreBench.process(on: flawless)))
        let new = try values(flawless)
        #expect(old != new)
        for effect in `A write that is interrupted`.effects {
            // A folder has several times as many operations, and all of a write's are interrupted elsewhere.
            let operations =
                kind == .folder && Extent.isFull
                ? stride(from: 1, to: .max, by: 7) : Extent.operations(every: 23, stream: "migration \(effect)")
            let last = try operations.first { number in
                try !interrupt(effect, at: number, bench.bench.simulated.disk.copy(), old, new)
            }
            #expect(try #require(last) > 20, "the fault met hardly any operation")
        }
    }

    /// Returns whether the operation was reached.
    private func interrupt(
        _ effect: Fault.Effect, at number: Int, _ disk: SimulatedDisk, _ old: [PropertyList.Dictionary],
        _ new: [PropertyList.Dictionary]
    ) throws -> Bool {
        let system = StoreBench.process(on: disk, FaultPlan(effect, at: number))
        let files = try #require(system.fileSystem as? SimulatedFileSystem)
        let isDone = (try? Self.schema.parse(["b"], in: Store(.native, on: system))) != nil
        let wasHit = files.hits > 0
        files.kill()
        let ways: [SimulatedDisk.Survivors?] = [
            nil, SimulatedDisk.Survivors.none, .all, .some(Seed.ofThisRun.number &+ UInt64(number)),
        ]
        for survivors in ways {
            let after = disk.copy()
            if let survivors { after.crash(survivors) }
            let found = try values(after)
            let place = "\(effect) at \(number), \(Seed.ofThisRun), \(String(describing: survivors))"
            #expect(isDone && !wasHit ? found == new : found == old || found == new, "\(place)")
            // In every case, the next start completes the migration.
            _ = try Self.schema.parse(["b"], in: Store(.native, on: StoreBench.process(on: after)))
            #expect(try values(after) == new, "\(place), later")
        }
        return wasHit
    }
}
