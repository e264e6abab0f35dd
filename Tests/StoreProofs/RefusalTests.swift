import Glibc
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

extension `The store of this machine` {
    /// A failed write leaves the old data unchanged, and reports the reason.
    @Suite struct `Keeps the old data` {
        static let mayMount = geteuid() == 0

        /// The disk becomes full at each step of a write that needs room.
        @Test(.enabled(if: mayMount, "mounting needs privilege"), arguments: [["a"], ["new"], ["a", "b"]])
        func `on a disk with any number of free pages`(_ names: [String]) throws {
            let mount = try Mount.orCancel(size: 256 << 10)
            let bench = try ProofBench(at: mount.path + "/prefs")
            let domains = try names.map { try DomainName($0) }
            for domain in domains where domain != "new" { try bench.write("key", 0, domain) }
            var (refused, value) = (0, 0)
            for pages in [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24] {
                try mount.fill(leaving: pages)
                let data = PropertyList.data(Data(repeating: UInt8(pages), count: 9000))
                let failure = storeFailure {
                    try DomainWriter(bench.system, WriteAuthor(.write, by: bench.system)).commit(
                        domains.map { domain in
                            DomainEdit(try bench.file(domain)) { draft in
                                draft.values["key"] = .integer(PropertyList.Integer(pages + 1))
                                draft.values["data"] = data
                            }
                        })
                }
                if failure == nil { value = pages + 1 } else { refused += 1 }
                #expect(failure == nil || failure?.code == .noSpace, "\(pages) pages: \(String(describing: failure))")
                for domain in domains {
                    let found = try bench.value("key", domain)
                    #expect(found ?? 0 == value, "\(pages) pages, \(domain)")
                    #expect(try bench.contents(domain).recovery == nil)
                }
                try mount.empty()
            }
            #expect(refused > 0 && value == 25)
            let names = try bench.system.fileSystem.names(in: bench.file("a").path.parent) ?? []
            #expect(!names.contains { $0.isTemporary })
        }

        /// The program need not set the value again. The library writes it as soon as that is possible.
        @Test(.enabled(if: mayMount, "mounting needs privilege"))
        func `on a full disk, and writes what was set as soon as there is room`() throws {
            let mount = try Mount.orCancel(size: 256 << 10)
            let bench = try ProofBench(at: mount.path + "/prefs")
            let defaults = Defaults("domain", in: bench.store)
            defaults.set(1, forKey: "key")
            try defaults.flush()
            try mount.fill(leaving: 0)
            let issues = defaults.issues()
            defaults.set(2, forKey: "key")
            #expect(storeFailure { try defaults.flush() }?.code == .noSpace)
            #expect(!defaults.synchronize())
            #expect(defaults.integer(forKey: "key") == 2)
            #expect(try bench.value("key", "domain") == 1)
            let (isWritten, folder) = (Gate(), try bench.file("domain").path.parent)
            let watch = bench.system.watcher.watch(folder) { _ in
                if (try? bench.value("key", "domain")) == 2 { isWritten.open() }
            }
            try mount.empty()
            #expect(isWritten.wait(until: bench.system.clock.now.advanced(by: .seconds(30))))
            watch.cancel()
            _ = issues
        }

        @Test(.enabled(if: mayMount, "mounting needs privilege"))
        func `on a read-only file system`() throws {
            let mount = try Mount.orCancel(size: 256 << 10)
            let bench = try ProofBench(at: mount.path + "/prefs")
            try bench.write("key", 1, "domain")
            try mount.makeReadOnly()
            #expect(storeFailure { try bench.write("key", 2, "domain") }?.code == .readOnly)
            #expect(storeFailure { try bench.write("key", 2, "new") }?.code == .readOnly)
            #expect(try bench.value("key", "domain") == 1)
            #expect(Defaults("domain", in: bench.store).integer(forKey: "key") == 1)
        }

        @Test func `in a folder that others may only read`() throws {
            let bench = try ProofBench()
            try bench.write("key", 1, "domain")
            let file = try bench.file("domain")
            try bench.setPermissions(0o444, of: file.path)
            try bench.setPermissions(0o555, of: file.path.parent)
            let (failure, found) = withoutPrivilege {
                (storeFailure { try bench.write("key", 2, "domain") }, try? bench.value("key", "domain"))
            }
            #expect(failure?.code == .accessDenied)
            #expect(found == 1)
            #expect(try bench.value("key", "domain") == 1)
            try bench.setPermissions(0o755, of: file.path.parent)
        }

        /// An unreadable file is not treated as empty.
        @Test func `in a file without read permission`() throws {
            let bench = try ProofBench()
            try bench.write("key", 1, "domain")
            try bench.setPermissions(0, of: try bench.file("domain").path)
            try bench.setPermissions(0o755, of: try bench.file("domain").path.parent)
            let failures = withoutPrivilege {
                [
                    storeFailure { _ = try bench.contents("domain") },
                    storeFailure { try bench.write("key", 2, "domain") },
                ]
            }
            #expect(failures.map(\.?.code) == [.accessDenied, .accessDenied])
            try bench.setPermissions(0o600, of: try bench.file("domain").path)
            #expect(try bench.value("key", "domain") == 1)
        }

        /// If no variable gives the user's folder, the files are not in the root of the file system.
        @Test(arguments: [[], ["HOME="], ["HOME=relative", "XDG_CONFIG_HOME=relative"]])
        func `without a home folder`(_ variables: [String]) throws {
            let stranger = ["unshare", "--user", "--map-user=12345"]
            guard try Subprocess.run("unshare", stranger.dropFirst() + ["true"]).status == 0 else {
                try Test.cancel("no privilege to be another user")
            }
            let outcome = try WorkerProcess.run(
                "native", ["fill", "org.example.stranger", "key", "1", "transaction"], by: stranger,
                environment: variables + ["PATH=/usr/bin:/bin"])
            #expect(outcome.status == 1)
            #expect(outcome.lines == ["failed: HOME is not set, and /etc/passwd has no home for this user"])
            for folder in ["/.config", "/prefs", "relative"] { #expect(access(folder, F_OK) != 0) }
        }
    }

    @Suite struct `Waits for a lock` {
        @Test func `until the timeout, and names the holder`() throws {
            let bench = try ProofBench()
            try bench.write("key", 1, "domain")
            let worker = try bench.worker("hold", "domain")
            try #require(worker.receive() == "held")
            let start = ContinuousClock.now
            let failure = storeFailure { try bench.write("key", 2, "domain", patience: .milliseconds(200)) }
            #expect(ContinuousClock.now - start >= .milliseconds(200))
            guard case .locked(let holder)? = failure?.problem else {
                Issue.record("not locked: \(String(describing: failure))")
                return
            }
            #expect(holder == "process \(worker.id) (StoreWorker)")
            #expect(failure?.description == "domain is locked by process \(worker.id) (StoreWorker): timed out")
            #expect(try bench.value("key", "domain") == 1)
            worker.send("go on")
            try #require(worker.receive() == "released")
            try bench.write("key", 3, "domain")
            #expect(try bench.contents("domain").values["held"] == true)
        }

        /// Readers never wait for a lock.
        @Test func `only for writes`() throws {
            let bench = try ProofBench()
            try bench.write("key", 1, "domain")
            let worker = try bench.worker("hold", "domain")
            try #require(worker.receive() == "held")
            #expect(try bench.value("key", "domain") == 1)
            try bench.write("key", 2, "other", patience: .zero)
            #expect(try WorkerProcess.run(bench.place, ["read", "domain", "key"]) == (0, ["1"]))
        }
    }
}

extension ProofBench {
    func setPermissions(_ mode: UInt32, of path: FilePath) throws {
        try #require(chmod(path.description, mode_t(mode)) == 0)
    }
}

/// Sets the user of this thread for file access. Swift's Glibc module lacks this function.
@_silgen_name("setfsuid") private func setFileSystemUser(_ user: UInt32) -> Int32

/// Runs `body` as an unprivileged user, because root can access every file.
private func withoutPrivilege<Result>(_ body: () -> Result) -> Result {
    // Only this thread changes its user for file access, and only while the body runs.
    let isRoot = geteuid() == 0
    if isRoot { _ = setFileSystemUser(65_534) }
    defer { if isRoot { _ = setFileSystemUser(0) } }
    return body()
}
