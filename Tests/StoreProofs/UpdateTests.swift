import Glibc
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

extension `The store of this machine` {
    /// Processes that change one domain at the same time.
    @Suite struct `Loses no update` {
        static let crowds = [(2, 1000), (16, 250)]

        /// Starts the workers, waits for all, and expects that none of them failed.
        static func run(_ count: Int, _ bench: ProofBench, _ words: (Int) -> [String]) throws {
            let workers = try (0..<count).map { try WorkerProcess(bench.place, words($0)) }
            for worker in workers { try #require(try worker.finish().status == 0) }
        }

        @Test(arguments: crowds) func `of one number by transactions`(_ processes: Int, _ updates: Int) throws {
            let (bench, count) = (try ProofBench(), Extent.share(of: updates))
            try Self.run(processes, bench) { _ in ["add", "domain", "counter", "\(count)"] }
            #expect(try bench.value("counter", "domain") == processes * count)
        }

        @Test(arguments: crowds) func `of one number by writes on a condition`(_ processes: Int, _ updates: Int) throws
        {
            let (bench, count) = (try ProofBench(), Extent.share(of: updates))
            try Self.run(processes, bench) { _ in ["compete", "domain", "counter", "\(count)"] }
            #expect(try bench.value("counter", "domain") == processes * count)
        }

        @Test(arguments: crowds) func `of one number in a folder`(_ processes: Int, _ updates: Int) throws {
            let (bench, count) = (try ProofBench(), Extent.share(of: updates))
            try bench.makeFolder("domain", ["counter": 0, "other": "text"])
            try Self.run(processes, bench) { _ in ["add", "domain", "counter", "\(count)"] }
            #expect(try bench.value("counter", "domain") == processes * count)
            #expect(try bench.contents("domain").form == .folder)
        }

        static let manners = [
            (2, 1000, "transaction"), (16, 250, "transaction"), (2, 1000, "synchronize"), (16, 250, "set"),
        ]

        @Test(arguments: manners)
        func `of many keys`(_ processes: Int, _ updates: Int, _ manner: String) throws {
            let (bench, count) = (try ProofBench(), Extent.share(of: updates))
            try Self.run(processes, bench) { ["fill", "domain", "writer\($0)", "\(count)", manner] }
            let values = try bench.contents("domain").values
            #expect(values.count == processes * count)
            for process in 0..<processes {
                for number in 0..<count {
                    #expect(values["writer\(process).\(number)"] == .integer(PropertyList.Integer(number)))
                }
            }
        }

        /// Dotfile managers make such links. The writers share only the lock file of the link's target.
        @Test func `of one file that two domains are links to`() throws {
            let (bench, count) = (try ProofBench(), Extent.share(of: 1000))
            let shared = try bench.path.appending("shared.plist")
            try bench.system.fileSystem.makeFolders(try bench.path.appending("prefs"))
            try bench.system.fileSystem.replace(shared, with: try bench.file("any").serialized([:], as: .xml))
            for domain in ["a", "b"] {
                try #require(symlink("../shared.plist", "\(bench.place)/\(domain).plist") == 0)
            }
            try Self.run(4, bench) { ["add", $0.isMultiple(of: 2) ? "a" : "b", "counter", "\(count)"] }
            #expect(try bench.value("counter", "a") == 4 * count)
            #expect(try bench.contents("b").format == .xml)
            #expect(try bench.system.fileSystem.destination(ofLink: bench.file("a").path) == "../shared.plist")
        }
    }

    @Suite struct `Shows one state to many threads` {
        @Test func `of a process`() throws {
            let bench = try ProofBench()
            let outcome = try WorkerProcess.run(bench.place, ["threads", "domain", Extent.isFull ? "100" : "20"])
            #expect(outcome == (0, ["agreed"]))
        }
    }

    @Suite struct `Writes what was set` {
        @Test(arguments: [("return", 0), ("exit", 3)])
        func `at the end of a program that does not ask for it`(_ manner: String, _ status: Int32) throws {
            let bench = try ProofBench()
            let outcome = try WorkerProcess.run(bench.place, ["set", "domain", "key", "7", manner])
            #expect(outcome == (status, []))
            #expect(try bench.value("key", "domain") == 7)
        }

        /// Each file is in its own folder, which only the owner can access.
        @Test func `in the folders of the XDG variables`() throws {
            let bench = try ProofBench()
            let home = try bench.path.description
            let variables = ["XDG_CONFIG_HOME=\(home)/config", "XDG_STATE_HOME=\(home)/state", "XDG_CONFIG_DIRS=/none"]
            for words in [["add", "domain", "key", "3"], ["set", "domain", "other", "1", "return"]] {
                let outcome = try WorkerProcess.run("native", words, environment: variables)
                #expect(outcome == (0, []))
            }
            let files = bench.system.fileSystem
            for (name, mode) in [
                ("config/prefs/domain.plist", 0o600), ("config/prefs/.locks/domain.lock", 0o600),
                ("config/prefs", 0o700), ("state/prefs/history/domain", 0o700),
            ] {
                let path = try bench.path.resolving(try #require(FilePath(name)))
                #expect(try files.status(of: path)?.permissions.rawValue == UInt16(mode), "\(name)")
            }
            let written = try #require(try files.contents(of: bench.path.resolving("config/prefs/domain.plist")))
            #expect(try bench.file("domain").parse(written).0 == ["key": 3, "other": 1])
        }
    }
}
