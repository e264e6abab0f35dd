import MirrorEngine
import Platform
import Preferences
import PreferencesMirror
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// A daemon whose watcher does not report every change.
@Suite struct `A daemon whose watcher` {
    /// A fault of the watcher of the daemon `b`, around a change on `a` and one on `b`.
    struct Fate: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The longest time until both changes have arrived.
        let patience: Duration
        let befall: @Sendable (Stage) throws -> Void
    }

    /// Two hosts. One is watched.
    struct Stage {
        let bench: MirrorBench
        let hosts: [MirrorHost]
        let watcher: SimulatedFolderWatcher
        let watching: `A watched mirror`.Watching

        init() throws {
            bench = try MirrorBench()
            let hosts = try bench.hosts("a", "b")
            self.hosts = hosts
            watcher = try #require(hosts[1].system.watcher as? SimulatedFolderWatcher)
            watching = try `A watched mirror`.Watching([hosts[1]])
            // By then it polls at its lowest rate.
            watching.pass(.seconds(400))
        }

        /// Both hosts change a value, and `a` publishes its change.
        func change(_ value: PropertyList = 1) throws {
            try hosts[0].write("far", value)
            try hosts[0].sync(.push)
            try hosts[1].again().write("near", value, "com.example.b")
        }

        func hasArrived(_ value: PropertyList = 1) throws -> Bool {
            try hosts[0].sync(.pull)
            return try hosts[1].values()["far"] == value && hosts[0].values("com.example.b")["near"] == value
        }
    }

    static let fates = [
        Fate(testDescription: "reports only that anything may have changed", patience: .seconds(1)) { stage in
            stage.watcher.manner.queueLength = 0
            try stage.change()
            stage.watcher.manner.queueLength = 16_384
        },
        Fate(testDescription: "overflows its queue", patience: .seconds(1)) { stage in
            (stage.watcher.manner.delivery, stage.watcher.manner.queueLength) = (.onRequest, 3)
            try stage.change()
            for number in 0..<20 {
                let junk = try #require(FilePath("junk\(number)"))
                try stage.hosts[0].fileSystem.replace(MirrorBench.directory.resolving(junk), with: [])
            }
            stage.watcher.deliver()
        },
        Fate(testDescription: "loses its folders, which come back", patience: .seconds(2)) { stage in
            stage.watcher.manner.percentLost = 100
            try stage.change()
            stage.watcher.manner.percentLost = 0
            let files = stage.bench.disk.process(user: 1000)
            try files.rename(MirrorBench.directory, to: "/home/ada/away")
            stage.watching.pass(.seconds(5))
            try files.rename("/home/ada/away", to: MirrorBench.directory)
        },
        Fate(testDescription: "finds others in place of its folders", patience: .seconds(2)) { stage in
            let files = stage.bench.disk.process(user: 1000)
            stage.watcher.manner.percentLost = 100
            try stage.change()
            stage.watcher.manner.percentLost = 0
            let writers = MirrorBench.directory.appending("w")
            for name in try files.names(in: writers) ?? [] {
                let (logs, former) = (writers.appending(name).appending("l"), writers.appending(name).appending("m"))
                guard try files.status(of: logs) != nil else { continue }
                try files.rename(logs, to: former)
                _ = try files.makeFolder(logs, .privateFolder)
                for log in try files.names(in: former) ?? [] {
                    try files.rename(former.appending(log), to: logs.appending(log))
                }
            }
        },
        Fate(testDescription: "is dead", patience: .seconds(75)) { stage in
            stage.watcher.manner.percentLost = 100
            try stage.change()
        },
        Fate(testDescription: "was found dead before", patience: .seconds(13)) { stage in
            stage.watcher.manner.percentLost = 100
            try stage.change(0)
            stage.watching.pass(.seconds(75))
            #expect(try stage.hasArrived(0))
            stage.watching.pass(.seconds(200))
            try stage.change()
        },
        Fate(testDescription: "reports everything late", patience: .seconds(1)) { stage in
            stage.watcher.manner.delivery = .after(.seconds(2))
            try stage.change()
            stage.watching.pass(.seconds(2))
        },
    ]

    @Test(arguments: fates) func `misses nothing`(_ fate: Fate) throws {
        let stage = try Stage()
        try fate.befall(stage)
        stage.watching.pass(fate.patience)
        #expect(try stage.hasArrived())
        // After the fault, the watcher reports the next change.
        stage.watcher.manner = SimulatedFolderWatcher.Manner()
        stage.watching.pass(.seconds(60))
        try stage.change(2)
        stage.watching.pass(.seconds(1))
        #expect(try stage.hasArrived(2))
    }
}
