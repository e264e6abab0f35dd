import Commands
import Foundation
import Platform
import Preferences
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@Suite struct DoctorTests {
    /// A problem, the doctor's report of it, and the result of the suggested fix.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// The start of each finding's first line, which is followed by the place.
        let findings: [String]
        /// The suggested commands, without the places in them.
        let fixes: [String]
        let provoke: @Sendable (Clinic) throws -> Void

        var testDescription: String { name }
    }

    static let folder = Clinic.folder.description

    static let cases: [Case] = permissions + damage + folders + layers + writers

    @Test(arguments: cases)
    func `a finding states the problem and how to fix it`(_ row: Case) throws {
        let clinic = try Clinic()
        try clinic.run("prefs write d theme light")
        #expect(try clinic.doctor() == Transcript.Outcome(output: "no problems found\n"))
        try row.provoke(clinic)
        var (findings, fixes): ([String], [String]) = ([], [])
        // A fix may cause another finding, such as a damaged file that was set aside.
        for _ in 0..<3 {
            let outcome = try clinic.doctor()
            guard outcome.status != 0 else { break }
            #expect(outcome.status == 8 && outcome.errors.isEmpty, "\(outcome)")
            let lines = outcome.output.split(separator: "\n").map(String.init)
            let commands = lines.filter { $0.hasPrefix("    ") }.map { String($0.dropFirst(4)) }
            findings += lines.filter { !$0.hasPrefix("    ") }.map(clinic.withoutNumbers)
            fixes += commands.map(clinic.withoutNumbers)
            for command in commands { try clinic.run(command) }
        }
        #expect(findings == row.findings)
        #expect(fixes == row.fixes)
        #expect(try clinic.doctor() == Transcript.Outcome(output: "no problems found\n"))
    }

    @Test func `files that are new or still needed are not stale`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs write d k 1")
        try clinic.write("x", to: ".prefs-0123456789abcdef")
        clinic.machine.clock.advance(by: .seconds(3599))
        #expect(try clinic.doctor().status == 0)
    }

    @Test func `another program's file in the folder of a domain is listed`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs write e k 1")
        try clinic.run("prefs convert e folder")
        #expect(try clinic.doctor() == Transcript.Outcome(output: "no problems found\n"))
        for name in ["notes.md", ".gitignore"] {
            try clinic.write("mine", to: "e.prefs/\(name)")
            try clinic.setPermissions(0o600, "e.prefs/\(name)")
        }
        let outcome = try clinic.doctor()
        #expect(
            outcome.output == """
                \(Self.folder)/e.prefs/notes.md: not a value of the domain; it is ignored
                    # move it elsewhere, or keep it

                """)
    }

    @Test func `a pending change of several domains is reported until it is completed`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs write d k 1")
        try clinic.run("prefs -currentHost write d k 1")
        // The writer dies after the commit, and one file's folder becomes inaccessible.
        let plan = FaultPlan([Fault(.dieBefore, .once(2), of: .rename)])
        _ = try runPrefs(
            ["prefs", "delete-all", "d", "k"], on: clinic.machine, as: clinic.machine.disk.process(user: 1000, plan))
        try clinic.setPermissions(0o500, "ByHost")
        let outcome = try clinic.doctor()
        #expect(outcome.output.contains("a committed change to d, d could not be completed"), "\(outcome)")
        #expect(outcome.output.contains("\n    prefs read d\n"))
        // The age alone does not make a file stale.
        clinic.machine.clock.advance(by: .seconds(7200))
        #expect(try !clinic.doctor().output.contains("left by a killed writer"))
        for line in outcome.output.split(separator: "\n") where line.hasPrefix("    ") {
            try clinic.run(String(line.dropFirst(4)))
        }
        #expect(try clinic.doctor() == Transcript.Outcome(output: "no problems found\n"))
    }

    @Test(arguments: [
        (WatchMethod.Reason.noWatches(.noSpace), "    sudo sysctl 'fs.inotify.max_user_watches=524288'\n"),
        (.noWatches(.tooManyOpenFiles), "    sudo sysctl 'fs.inotify.max_user_instances=1024'\n"),
        (.noWatches(.notImplemented), "    # nothing to be done: no settings are at risk\n"),
        (.remoteFileSystem, "    # set XDG_CONFIG_HOME to a folder on a local disk\n"),
    ])
    func `a store that is polled is reported`(_ reason: WatchMethod.Reason, _ remedy: String) throws {
        let clinic = try Clinic()
        let watcher = PollingWatcher(clinic.files, clinic.machine.clock, reason: reason)
        let outcome = try clinic.doctor(watcher: watcher)
        #expect(outcome.status == 8)
        #expect(outcome.output.hasPrefix("\(Self.folder): ") && outcome.output.hasSuffix(remedy), "\(outcome)")
    }

    @Test(arguments: [["--store", "foundation"], ["--store", "gnustep"], ["--store", "/tmp/own"]])
    func `every kind of store can be checked`(_ store: [String]) throws {
        let clinic = try Clinic()
        let healthy = try runPrefs(["prefs"] + store + ["doctor"], on: clinic.machine)
        #expect(healthy == Transcript.Outcome(output: "no problems found\n"))
        guard store.last != "gnustep" else { return }
        #expect(try runPrefs(["prefs"] + store + ["write", "d", "k", "1"], on: clinic.machine).status == 0)
        let path = try #require(FilePath(store.last == "foundation" ? "/home/ada/.config/d.plist" : "/tmp/own/d.plist"))
        try clinic.files.replace(path, with: [1, 2].span.bytes)
        let outcome = try runPrefs(["prefs"] + store + ["doctor"], on: clinic.machine)
        #expect(outcome.status == 8)
        #expect(outcome.output.contains("\n    prefs \(store.joined(separator: " ")) restore d 1\n"), "\(outcome)")
        try clinic.run("prefs \(store.joined(separator: " ")) restore d 1")
    }

    @Test func `versions of a file that others can read are not reported`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs write /home/ada/open.plist k 1")
        try clinic.root.open("/home/ada/open.plist", .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        try clinic.run("prefs write /home/ada/open.plist k 2")
        #expect(try clinic.doctor() == Transcript.Outcome(output: "no problems found\n"))
    }

    @Test func `a link to another user's file is reported, without a command that changes the file`() throws {
        let clinic = try Clinic()
        try clinic.root.makeFolders("/etc")
        try clinic.root.open("/etc", .reading)?.setPermissions(FilePermissions(rawValue: 0o755))
        try clinic.root.replace("/etc/shadow", with: Array("no settings".utf8))
        try clinic.root.open("/etc/shadow", .reading)?.setPermissions(FilePermissions(rawValue: 0o644))
        try clinic.files.makeFolders(Clinic.folder)
        try clinic.files.makeSymbolicLink(Clinic.folder.resolving("x.plist"), to: "/etc/shadow")
        let outcome = try clinic.doctor()
        #expect(
            outcome.output == """
                \(Self.folder)/x.plist: leads to /etc/shadow, which belongs to another user (0)
                    # replace the link if that is not meant

                """ && outcome.status == 8, "\(outcome)")
    }

    @Test func `a mirror whose directory is missing is reported`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs mirror init /home/ada/shared")
        #expect(try clinic.doctor() == Transcript.Outcome(output: "no problems found\n"))
        let folder: FilePath = "/home/ada/shared"
        let names = try clinic.files.names(in: folder) ?? []
        let marker = try #require(names.first { $0.description.hasPrefix("mirror-") })
        #expect(try clinic.files.remove(folder.appending(marker)))
        let outcome = try clinic.doctor()
        #expect(
            outcome.output == """
                /home/ada/shared: contains no mirror: mount it, or wait until it is synced
                    prefs mirror status

                """ && outcome.status == 8, "\(outcome)")
    }

    @Test func `a domain that the mirror holds is reported`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs mirror init /home/ada/shared")
        try clinic.run("prefs mirror add d")
        try clinic.run("prefs write d k 1")
        try clinic.run("prefs mirror sync")
        try clinic.files.replace(Clinic.folder.appending("d.plist"), with: [])
        clinic.machine.clock.advance(by: .seconds(10))
        #expect(try runPrefs(["prefs", "mirror", "sync"], on: clinic.machine).status == 11)
        let outcome = try clinic.doctor()
        #expect(
            outcome.output.contains("d: held by the mirror: its file is empty\n    prefs mirror status\n")
                && outcome.status == 8, "\(outcome)")
    }

    @Test func `a full disk and a read-only one are reported`() throws {
        let clinic = try Clinic()
        try clinic.run("prefs write d k 1")
        let capacity = clinic.machine.disk.capacity
        clinic.machine.disk.capacity = clinic.machine.disk.used + 100
        let full = try clinic.doctor()
        #expect(full.status == 8)
        #expect(
            full.output.contains(
                "\(Self.folder): not writable: No space left on device\n    # free space on its file system: df -h \(Self.folder)\n"
            ))
        clinic.machine.disk.capacity = capacity
        #expect(try clinic.doctor().status == 0)
        clinic.machine.disk.isReadOnly = true
        let outcome = try clinic.doctor()
        #expect(outcome.status == 8)
        #expect(
            outcome.output.contains(
                "\(Self.folder): not writable: Read-only file system\n    # its file system is mounted read-only: findmnt -T \(Self.folder)\n"
            ))
    }
}
