import Foundation
import Platform
import Preferences
import SimulatedPlatform
import TestSupport
import Testing

/// A file that a user edits by hand, or that a link in the store leads to, is damaged after versions of it were kept.
@Suite struct `A damaged file outside of the store` {
    /// A file with its text before and after the damage, and the place of the damage.
    struct Subject: Sendable, CustomTestStringConvertible {
        let path: FilePath
        let good: String
        let damaged: String
        let place: String

        var testDescription: String { path.description }
    }

    static let subjects = [
        Subject(
            path: "/home/ada/it's \"a\" b.json", good: "{\n  \"name\": \"x\",\n  \"size\": 2\n}\n",
            damaged: "{\n<<<<<<< HEAD\n  \"name\": \"x\",\n", place: ":2:1: "),
        Subject(
            path: "/home/ada/a.plist",
            good: "<plist><dict><key>name</key><string>x</string><key>size</key><integer>2</integer></dict></plist>\n",
            damaged: "<plist><dict><key>name</key><string>x</strnig></dict></plist>\n", place: ":1:"),
        Subject(
            path: "/home/ada/$b/L.strings", good: "name = x;\nsize = 2;\n", damaged: "name = x;\nsize = 2\n=======\n",
            place: ":2:"),
    ]

    /// The verbs that take a file by its path, which is `F` here.
    static let verbs = [
        "read F", "read F size", "read-type F size", "export F -", "diff F F", "diff --versions 3 F", "explain F",
        "explain F size", "write F k v", "write F --plist {}", "delete F size", "delete F", "delete-all F",
        "copy F size other", "copy d k other --to F", "rename d k other --to F", "rename F size other",
        "import F /home/ada/in.json", "edit F",
        "undo F", "convert F xml", "convert F json -o -", "query F TRUEPREDICATE",
    ]

    private func machine(_ subject: Subject) throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders(subject.path.parent)
        try write(#"{"k": 1}"#, to: "/home/ada/in.json", machine)
        try write(subject.good, to: subject.path, machine)
        _ = try machine.run("prefs write d k 1")
        for words in [["size", "3"], ["size", "2"]] {
            let outcome = try runPrefs(["prefs", "write", subject.path.description] + words, on: machine)
            #expect(outcome == Transcript.Outcome())
        }
        try write(subject.damaged, to: subject.path, machine)
        return machine
    }

    private func write(_ text: String, to path: FilePath, _ machine: SimulatedMachine) throws {
        try machine.fileSystem.replace(path, with: Array(text.utf8).span.bytes)
    }

    private func text(_ path: FilePath, _ machine: SimulatedMachine) throws -> String? {
        try machine.fileSystem.contents(of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the command that the last line of an error prints.
    private func command(_ outcome: Transcript.Outcome) throws -> [String] {
        let line = try #require(outcome.errors.split(separator: "\n").last)
        let parts = line.split(separator: ": ", maxSplits: 1)
        #expect(parts.count == 2 && parts[0].hasPrefix("to restore the version of 20"), "\(outcome)")
        return try ShellScript.words(String(parts[1]))
    }

    @Test(arguments: subjects)
    func `is neither read nor written, and the printed command restores its last good version`(
        _ subject: Subject
    ) throws {
        let machine = try machine(subject)
        let names = try #require(try machine.fileSystem.names(in: subject.path.parent))
        let name = subject.path.description
        let classic = name.hasSuffix(".plist") ? String(name.dropLast(".plist".count)) : name
        let lines =
            Self.verbs.map { (["prefs"] + $0.split(separator: " ").map(String.init), name) }
            + [(["defaults", "write", "F", "k", "v"], classic), (["defaults", "read", "F"], classic)]
        for (words, name) in lines {
            let outcome = try runPrefs(words.map { $0 == "F" ? name : $0 }, on: machine) { _ in 0 }
            #expect(outcome.status == 5 && outcome.output.isEmpty, "\(words): \(outcome)")
            #expect(outcome.errors.contains(subject.path.description + subject.place), "\(words): \(outcome)")
            #expect(try command(outcome).dropLast() == ["prefs", "restore", name], "\(words): \(outcome)")
            #expect(try text(subject.path, machine) == subject.damaged, "\(words)")
            #expect(try machine.fileSystem.names(in: subject.path.parent) == names, "\(words)")
        }
        let restore = try command(runPrefs(["prefs", "read", name], on: machine))
        let outcome = try runPrefs(restore, on: machine)
        #expect(outcome.status == 0 && outcome.errors.contains("set aside"), "\(outcome)")
        #expect(try text(subject.path, machine) == subject.good)
        // The damaged text is next to it.
        let others = try #require(try machine.fileSystem.names(in: subject.path.parent)).filter { !names.contains($0) }
        #expect(others.count == 1)
        #expect(try others.map { try text(subject.path.parent.appending($0), machine) } == [subject.damaged])
    }

    @Test func `without a good version is an error without a command`() throws {
        let machine = try SimulatedMachine()
        try machine.setWorkingFolder("/home/ada")
        try write("{ a = 1; ", to: "/home/ada/new.plist", machine)
        #expect(
            try machine.run("prefs write ./new.plist k v")
                == Transcript.Outcome(
                    errors: "prefs: /home/ada/new.plist:1:10: ends inside a dictionary\n", status: 5))
        #expect(try machine.run("prefs delete ./new.plist").status == 5)
        #expect(try text("/home/ada/new.plist", machine) == "{ a = 1; ")
    }

    @Test func `still has its history`() throws {
        let subject = Self.subjects[1]
        let machine = try machine(subject)
        let outcome = try machine.run("prefs history a.plist".replacing("a.plist", with: subject.path.description))
        #expect(outcome.status == 0 && outcome.output.contains("+ size: 2") && !outcome.output.contains("now "))
        #expect(outcome.errors.contains(":1:"), "\(outcome)")
        #expect(try machine.run("prefs history --show 4 \(subject.path)").output.contains("\"size\": 2"))
    }

    // MARK: Links in the store

    static let domain: FilePath = "/home/ada/.config/prefs/d.plist"
    static let target: FilePath = "/home/ada/dotfiles/d.plist"

    /// Returns a machine on which the file of a domain is a link, and is damaged.
    private func machineWithLink() throws -> SimulatedMachine {
        let machine = try SimulatedMachine()
        try machine.fileSystem.makeFolders(Self.target.parent)
        try machine.fileSystem.makeFolders(Self.domain.parent)
        try machine.fileSystem.makeSymbolicLink(Self.domain, to: Self.target)
        for number in [1, 2] { #expect(try machine.run("prefs write d k -int \(number)").status == 0) }
        try write("<plist><dict><key>k</key><strnig>", to: Self.target, machine)
        return machine
    }

    @Test func `that a link in the store leads to is not replaced`() throws {
        let machine = try machineWithLink()
        for line in [
            "read d", "read d k", "read d --effective", "export d -", "diff d d", "explain d", "write d k v",
            "delete d k", "delete d", "copy d k j", "rename d k j", "undo d", "convert d xml", "query d TRUEPREDICATE",
        ] {
            let outcome = try machine.run("prefs \(line)")
            #expect(outcome.status == 5 && outcome.output.isEmpty, "\(line): \(outcome)")
            #expect(try command(outcome) == ["prefs", "restore", "d", "2"], "\(line): \(outcome)")
            #expect(try text(Self.target, machine) == "<plist><dict><key>k</key><strnig>", "\(line)")
        }
        #expect(try machine.run("prefs restore d 2").status == 0)
        #expect(try machine.run("prefs read d k").output == "2\n")
        #expect(try machine.fileSystem.destination(ofLink: Self.domain) == Self.target)
    }

    @Test func `names the command for its host and its store`() throws {
        let machine = try SimulatedMachine()
        let folder: FilePath = "/home/ada/store"
        try machine.fileSystem.makeFolders(folder.resolving("ByHost"))
        try machine.fileSystem.makeFolders(Self.target.parent)
        try machine.fileSystem.makeSymbolicLink(folder.resolving("ByHost/d.box.plist"), to: Self.target)
        let options = "--store /home/ada/store -host box"
        for number in [1, 2] { #expect(try machine.run("prefs \(options) write d k -int \(number)").status == 0) }
        try write("{", to: Self.target, machine)
        let words = try command(machine.run("prefs \(options) read d"))
        #expect(words == ["prefs", "--store", "/home/ada/store", "-host", "box", "restore", "d", "2"])
        #expect(try runPrefs(words, on: machine).status == 0)
        #expect(try machine.run("prefs \(options) read d k").output == "2\n")
    }

    @Test func `in the store itself is recovered, also by a path that leads there`() throws {
        let machine = try SimulatedMachine()
        for number in [1, 2] { #expect(try machine.run("prefs write d k -int \(number)").status == 0) }
        try machine.fileSystem.makeSymbolicLink("/home/ada/into.plist", to: Self.domain)
        for word in ["d", Self.domain.description, "/home/ada/into.plist"] {
            try write("{", to: Self.domain, machine)
            let read = try machine.run("prefs read \(word) k")
            #expect(read.output == "2\n" && read.errors.contains("is used instead") && read.status == 0, "\(read)")
            let write = try machine.run("prefs write \(word) j -int 1")
            #expect(write.status == 0 && write.errors.contains("is used instead"), "\(write)")
            #expect(try machine.run("prefs read d k").output == "2\n")
        }
    }
}
