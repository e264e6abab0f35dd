import Commands
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

/// `undo --transaction` restores all that a change of several files changed, or nothing.
@Suite struct TransactionUndoTests {
    static let history: FilePath = "/home/ada/.local/state/prefs/history"

    /// A change of three domains by one `apply`, with the values 1 before it and 2 after it.
    private func applied(_ options: [String] = []) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        for value in 1...2 {
            let text = ["a", "b", "c"].map { "\($0) = { k = \(value); };" }.joined(separator: " ")
            try machine.fileSystem.replace("/home/ada/all", with: Array("{ \(text) }".utf8))
            let isNew = options.contains { $0.hasSuffix("host") } ? ["--new-host"] : []
            let outcome = try runPrefs(
                ["prefs"] + options + ["apply"] + isNew + ["--domains", "--quiet", "~/all"], on: machine)
            #expect(outcome == Transcript.Outcome(), "\(outcome)")
        }
        return machine
    }

    @Test func `has one list of its domains on the disk, also for new ones`() throws {
        let machine = try applied()
        let lists = try ["a", "b", "c"].map { domain in
            let folder = Self.history.appending(try #require(FileName(domain)))
            let names = try #require(try machine.fileSystem.names(in: folder))
            return try Set(
                names.filter { $0.description.hasSuffix(".files") }.map { name in
                    try #require(try machine.fileSystem.status(of: folder.appending(name))).inode
                })
        }
        #expect(Set(lists).count == 1 && lists[0].count == 2, "\(lists)")
    }

    private func values(_ options: [String] = [], on machine: SimulatedMachine) throws -> [String] {
        try ["a", "b", "c"].map { domain in
            let outcome = try runPrefs(
                ["prefs"] + (options.isEmpty ? ["read", "--layer", "user"] : options + ["read"]) + [domain, "k"],
                on: machine)
            return outcome.status == 0 ? outcome.output.trimmingNewline : "-"
        }
    }

    /// Calls `body` with the machine after a writer was killed at each of its operations, and whether its change was
    /// committed.
    private func killed(
        _ kind: String, _ body: (_ machine: SimulatedMachine, _ isCommitted: Bool, _ number: Int) throws -> Void
    ) throws {
        for number in 1... {
            let machine = try applied()
            if kind != "file" { _ = try machine.run("prefs convert b \(kind)") }
            try machine.fileSystem.replace("/home/ada/all", with: Array("{ a={k=3;}; b={k=3;}; c={k=3;}; }".utf8))
            let writer = machine.disk.process(user: 1000, FaultPlan(.dieBefore, at: number))
            _ = try runPrefs(["prefs", "apply", "--domains", "~/all"], on: machine, as: writer)
            let records = try machine.fileSystem.names(in: "/home/ada/.config/prefs/.transactions") ?? []
            try body(machine, !records.allSatisfy(\.isTemporary), number)
            guard writer.hits > 0 else { return }
        }
    }

    @Test(arguments: ["file", "folder"])
    func `restores a change that another process has completed`(_ kind: String) throws {
        for finisher in ["read c k", "history b", "explain a", "undo --transaction b", "write -g x 1"] {
            var count = 0
            try killed(kind) { machine, isCommitted, number in
                guard isCommitted else { return }
                count += 1
                #expect(try machine.run("prefs \(finisher)").status == 0)
                if !finisher.hasPrefix("undo") {
                    #expect(try values(on: machine) == ["3", "3", "3"])
                    let undone = try machine.run("prefs undo --transaction b")
                    #expect(undone.status == 0, "\(number): \(undone)")
                }
                #expect(try values(on: machine) == ["2", "2", "2"], "\(number), \(finisher)")
                let listing = try machine.run("prefs history --format json b").output
                #expect(listing.contains("\"apply\"") && !listing.contains("\"found\""), "\(listing)")
            }
            #expect(count > 2)
        }
    }

    @Test func `restores nothing of a change that another program has changed since`() throws {
        try killed("file") { machine, isCommitted, _ in
            guard isCommitted else { return }
            try machine.fileSystem.replace("/home/ada/.config/prefs/b.plist", with: Array("{ k = 4; }".utf8))
            let undone = try machine.run("prefs undo --transaction a")
            #expect(undone.status != 0 && undone.errors.contains("nothing was changed"), "\(undone)")
            #expect(try values(on: machine) == ["3", "4", "3"])
        }
    }

    /// Commands that read a file of the store by its path.
    private static let readers = [
        ["plutil", "-extract", "k", "raw", "-o", "-", "F"], ["plutil", "-p", "F"],
        ["PlistBuddy", "-c", "Print :k", "F"], ["prefs", "convert", "-o", "-", "F", "json"],
        ["prefs", "read", "F", "k"], ["prefs", "query", "F", "TRUEPREDICATE"],
    ]

    @Test(arguments: readers)
    func `is read by path before it is complete`(_ words: [String]) throws {
        for fault in [
            Fault(.fail(.notImplemented), .from(1), of: .lock), Fault(.fail(.inputOutput), .from(1), of: .rename),
        ] {
            var count = 0
            try killed("file") { machine, isCommitted, number in
                guard isCommitted else { return }
                count += 1
                let reader = machine.disk.process(user: 1000, FaultPlan([fault]))
                for domain in ["a", "b", "c"] {
                    let path = "/home/ada/.config/prefs/\(domain).plist"
                    let outcome = try runPrefs(words.map { $0.replacing("F", with: path) }, on: machine, as: reader)
                    #expect(outcome.status == 0 && outcome.output.contains("3"), "\(number): \(outcome)")
                }
            }
            #expect(count > 2)
        }
    }

    struct Obstacle: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let status: Int32
        let message: String
        /// The values after an undo with `--partial`.
        let partial: [String]
        let make: @Sendable (SimulatedMachine) throws -> Void
    }

    static let obstacles: [Obstacle] = [
        Obstacle(
            testDescription: "a history that was removed", status: 1,
            message: "b: no version of this change is kept in \(history)/b", partial: ["1", "2", "1"],
            make: { machine in
                for name in try versions(of: "b", on: machine) {
                    try machine.fileSystem.remove(history.appending("b").appending(name))
                }
                try machine.fileSystem.remove(history.appending("b"))
            }),
        Obstacle(
            testDescription: "a history that cannot be listed", status: 6,
            message: "cannot list \(history)/b: Permission denied", partial: ["1", "2", "1"],
            make: { machine in
                try machine.disk.process().open(history.appending("b"), .reading)?
                    .setPermissions(FilePermissions(rawValue: 0o300))
            }),
        Obstacle(
            testDescription: "a version of the change that was removed", status: 1,
            message: "b: no version of this change is kept in \(history)/b", partial: ["1", "2", "1"],
            make: { machine in try removeVersion(2, of: "b", on: machine) }),
        Obstacle(
            testDescription: "a version before the change that was removed", status: 1,
            message: "b: the version before this change is not kept", partial: ["1", "2", "1"],
            make: { machine in try removeVersion(1, of: "b", on: machine) }),
        Obstacle(
            testDescription: "a version that cannot be read", status: 6,
            message: "b: version 1 cannot be read: Permission denied", partial: ["1", "2", "1"],
            make: { machine in
                let name = try #require(try versions(of: "b", on: machine).first)
                try machine.disk.process().open(history.appending("b").appending(name), .reading)?.setPermissions([])
            }),
        Obstacle(
            testDescription: "a later change", status: 8, message: "b: changed since the change of a",
            partial: ["1", "3", "1"], make: { _ = try runPrefs(["prefs", "write", "b", "k", "3"], on: $0) }),
        Obstacle(
            testDescription: "a later removal", status: 8, message: "b: changed since the change of a",
            partial: ["1", "-", "1"], make: { _ = try runPrefs(["prefs", "delete", "b"], on: $0) }),
        Obstacle(
            testDescription: "a later change by another program", status: 8,
            message: "b: changed since the change of a", partial: ["1", "3", "1"],
            make: { try $0.fileSystem.replace("/home/ada/.config/prefs/b.plist", with: Array("{ k = 3; }".utf8)) }),
        Obstacle(
            testDescription: "a later change of the named domain by another program", status: 8,
            message: "a: its latest change is not in its history", partial: ["3", "1", "1"],
            make: { try $0.fileSystem.replace("/home/ada/.config/prefs/a.plist", with: Array("{ k = 3; }".utf8)) }),
        Obstacle(
            testDescription: "values that the administrator forces", status: 4,
            message: "b: the administrator forces all values that would change", partial: ["1", "2", "1"],
            make: { try $0.force("b", ["k": "9"]) }),
    ]

    private static func versions(of domain: FileName, on machine: SimulatedMachine) throws -> [FileName] {
        try #require(try machine.fileSystem.names(in: history.appending(domain)))
    }

    private static func removeVersion(_ number: Int, of domain: FileName, on machine: SimulatedMachine) throws {
        let name = try versions(of: domain, on: machine)[number - 1]
        try machine.fileSystem.remove(history.appending(domain).appending(name))
    }

    @Test(arguments: obstacles)
    func `names each domain that it cannot restore, and restores none`(_ obstacle: Obstacle) throws {
        let machine = try applied()
        try obstacle.make(machine)
        let before = try values(on: machine)
        let refused = try runPrefs(["prefs", "undo", "--transaction", "a"], on: machine)
        #expect(refused.status == obstacle.status && refused.errors.contains(obstacle.message), "\(refused)")
        #expect(refused.errors.contains("nothing was changed"), "\(refused)")
        #expect(try values(on: machine) == before)
    }

    @Test(arguments: obstacles)
    func `restores what it can, if that is requested`(_ obstacle: Obstacle) throws {
        let machine = try applied()
        try obstacle.make(machine)
        let outcome = try runPrefs(["prefs", "undo", "--transaction", "--partial", "a"], on: machine)
        #expect(outcome.status == 0 && outcome.errors.contains("not undone: "), "\(outcome)")
        #expect(outcome.errors.contains(obstacle.message), "\(outcome)")
        #expect(try values(on: machine) == obstacle.partial)
    }

    /// The version of `b` could not be kept when it was written.
    @Test func `knows a domain whose version could not be kept at the time`() throws {
        let machine = try applied()
        let folder = try machine.disk.process().open(Self.history.appending("b"), .reading)
        try folder?.setPermissions(FilePermissions(rawValue: 0o500))
        try machine.fileSystem.replace("/home/ada/all", with: Array("{ b = { k = 3; }; a = { k = 3; }; }".utf8))
        #expect(
            try runPrefs(["prefs", "apply", "--domains", "~/all"], on: machine).errors.contains("could not be kept"))
        try folder?.setPermissions(.privateFolder)
        let refused = try runPrefs(["prefs", "undo", "--transaction", "a"], on: machine)
        #expect(refused.status == 1 && refused.errors.contains("b: no version of this change is kept"), "\(refused)")
        #expect(try values(on: machine) == ["3", "3", "2"])
        let partial = try runPrefs(["prefs", "undo", "--transaction", "--partial", "a"], on: machine)
        #expect(partial.status == 0, "\(partial)")
        #expect(try values(on: machine) == ["2", "3", "2"])
    }

    @Test(arguments: [[], ["-currentHost"], ["--host", "other"]])
    func `restores all domains of any host`(_ options: [String]) throws {
        let machine = try applied(options)
        #expect(try values(options, on: machine) == ["2", "2", "2"])
        let undo = try runPrefs(["prefs"] + options + ["undo", "--transaction", "a"], on: machine)
        #expect(undo.status == 0, "\(undo)")
        #expect(try values(options, on: machine) == ["1", "1", "1"])
        // Each printed command reverses its part.
        for line in undo.errors.split(separator: "\n") {
            let command = try #require(line.firstRange(of: ": prefs ").map { line[$0.lowerBound...].dropFirst(2) })
            #expect(try runPrefs(ShellScript.words(String(command)), on: machine).status == 0)
        }
        #expect(try values(options, on: machine) == ["2", "2", "2"])
    }

    /// `delete-all` removes a domain from two layers.
    @Test(arguments: [[], ["-currentHost"]])
    func `restores all layers`(_ options: [String]) throws {
        let machine = try SimulatedMachine()
        let layers = [[], ["-currentHost"]]
        for (number, layer) in layers.enumerated() {
            _ = try runPrefs(["prefs"] + layer + ["write", "d", "k", "\(number)"], on: machine)
        }
        #expect(try runPrefs(["prefs", "delete-all", "d"], on: machine).status == 0)
        let undo = try runPrefs(["prefs"] + options + ["undo", "--transaction", "d"], on: machine)
        #expect(undo.status == 0, "\(undo)")
        for (number, layer) in layers.enumerated() {
            #expect(
                try runPrefs(
                    ["prefs"] + layer + ["read", "--layer", layer.isEmpty ? "user" : "user-host", "d", "k"], on: machine
                ).output
                    == "\(number)\n")
        }
    }

    /// Versions of earlier releases have no list of the domains that were changed together.
    @Test func `finds the domains of a change that an earlier release made`() throws {
        let machine = try applied()
        for domain: FileName in ["a", "b", "c"] {
            for name in try Self.versions(of: domain, on: machine) where name.description.hasSuffix(".files") {
                try machine.fileSystem.remove(Self.history.appending(domain).appending(name))
            }
        }
        #expect(try runPrefs(["prefs", "undo", "--transaction", "a"], on: machine).status == 0)
        #expect(try values(on: machine) == ["1", "1", "1"])
    }

    @Test func `leaves no list without a version`() throws {
        let machine = try applied()
        for value in 3...40 { _ = try runPrefs(["prefs", "write", "a", "k", "\(value)"], on: machine) }
        #expect(try Self.versions(of: "a", on: machine).count == 32)
        _ = try runPrefs(["prefs", "write", "prefs", "historyVersions", "-int", "0"], on: machine)
        _ = try runPrefs(["prefs", "write", "b", "k", "3"], on: machine)
        #expect(try machine.fileSystem.names(in: Self.history.appending("b")) ?? [] == [])
    }
}

extension String {
    fileprivate var trimmingNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}
