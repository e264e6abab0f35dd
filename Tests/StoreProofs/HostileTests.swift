import Foundation
import Platform
import Preferences
import PropertyLists
import TestSupport
import Testing

extension `The store of this machine` {
    @Suite struct `Meets damage` {
        struct Damage: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let make: @Sendable ([UInt8]) -> [UInt8]
        }

        static let damages = [
            Damage(testDescription: "an empty file") { _ in [] },
            Damage(testDescription: "the first half") { Array($0.prefix($0.count / 2)) },
            Damage(testDescription: "zeros") { [UInt8](repeating: 0, count: $0.count) },
            Damage(testDescription: "all but the last byte") { Array($0.dropLast()) },
            Damage(testDescription: "something else") { _ in Array("#!/bin/sh\nexit 0\n".utf8) },
            Damage(testDescription: "no dictionary") { _ in
                Array("<plist version=\"1.0\"><string>x</string></plist>".utf8)
            },
        ]

        @Test(arguments: damages) func `by another program, and continues from the last good version`(
            _ damage: Damage
        ) throws {
            let bench = try ProofBench()
            for number in 1...3 { try bench.write("key\(number)", .integer(PropertyList.Integer(number)), "domain") }
            let path = try bench.file("domain").path
            let bytes = damage.make(try #require(try bench.system.fileSystem.contents(of: path)))
            try bench.system.fileSystem.replace(path, with: bytes.span.bytes)

            let found = try bench.contents("domain")
            #expect(found.values == ["key1": 1, "key2": 2, "key3": 3])
            #expect(found.recovery?.description.contains(path.description) == true)
            let outcomes = try [1, 2].map { _ in try bench.worker("add", "domain", "counter", "5") }
                .map { try $0.finish().status }
            #expect(outcomes == [0, 0])
            let after = try bench.contents("domain")
            #expect(after.values == ["key1": 1, "key2": 2, "key3": 3, "counter": 10])
            #expect(after.recovery == nil)
            let kept = try #require(try bench.system.fileSystem.names(in: path.parent))
                .filter { $0.description.hasPrefix("domain.plist.damaged-") }
            #expect(kept.count == 1)
            let name = try #require(kept.first)
            #expect(try bench.system.fileSystem.contents(of: path.parent.appending(name)) == bytes)
        }

        @Test func `of which no version is kept, and refuses to write`() throws {
            let bench = try ProofBench()
            try bench.system.fileSystem.makeFolders(try bench.file("domain").path.parent)
            let bytes = Array("bplist00 and no more".utf8)
            try bench.system.fileSystem.replace(try bench.file("domain").path, with: bytes.span.bytes)
            #expect(storeFailure { try bench.write("key", 1, "domain") }?.isDamage == true)
            #expect(storeFailure { _ = try bench.contents("domain") }?.isDamage == true)
            let outcome = try WorkerProcess.run(bench.place, ["add", "domain", "key", "1"])
            #expect(outcome.status == 1)
            #expect(try bench.system.fileSystem.contents(of: bench.file("domain").path) == bytes)
        }
    }

    @Suite struct `Meets anything but a file` {
        struct Obstacle: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let code: ErrorCode
            let make: @Sendable (String) -> Int32
        }

        static let obstacles = [
            Obstacle(testDescription: "a FIFO", code: .invalidArgument) { mkfifo($0, 0o600) },
            Obstacle(testDescription: "a folder", code: .isAFolder) { mkdir($0, 0o700) },
            Obstacle(testDescription: "a link to itself", code: .tooManySymbolicLinks) { symlink("domain.plist", $0) },
        ]

        @Test(arguments: obstacles) func `and reports it immediately`(_ obstacle: Obstacle) throws {
            let bench = try ProofBench()
            try bench.system.fileSystem.makeFolders(try bench.file("domain").path.parent)
            try #require(obstacle.make(try bench.file("domain").path.description) == 0)
            #expect(storeFailure { _ = try bench.contents("domain") }?.code == obstacle.code)
            #expect(storeFailure { try bench.write("key", 1, "domain") }?.code == obstacle.code)
            #expect(try WorkerProcess.run(bench.place, ["add", "domain", "key", "1"]).status == 1)
            #expect(try WorkerProcess.run(bench.place, ["read", "domain", "key"]) == (0, ["0"]))
            #expect(
                try bench.system.fileSystem.names(in: bench.file("domain").path.parent)?.count { $0.isTemporary } == 0)
        }

        /// Something in the folder of a domain that is not a file with a value.
        struct Member: Sendable, CustomTestStringConvertible {
            let testDescription: String
            var name = "evil.txt"
            let reason: String
            let make: @Sendable (String) -> Int32
        }

        static let members = [
            Member(testDescription: "a FIFO", reason: "it is a pipe, a device or a socket") { mkfifo($0, 0o600) },
            Member(testDescription: "a socket", reason: "it is a pipe, a device or a socket") {
                mknod($0, S_IFSOCK | 0o600, 0)
            },
            Member(testDescription: "a device", reason: "it is a pipe, a device or a socket") {
                // The device of /dev/zero, which has no end.
                mknod($0, S_IFCHR | 0o600, 1 << 8 | 5)
            },
            Member(testDescription: "a link to outside", reason: "it is a symbolic link") {
                symlink("/etc/passwd", $0)
            },
            Member(testDescription: "a link to a value", reason: "it is a symbolic link") { symlink("title.txt", $0) },
            Member(testDescription: "a dangling link", reason: "it is a symbolic link") { symlink("nothing", $0) },
            Member(testDescription: "a link to itself", reason: "it is a symbolic link") { symlink("evil.txt", $0) },
            Member(testDescription: "a folder", reason: "Is a directory") { mkdir($0, 0o700) },
            Member(testDescription: "a huge file", reason: "File too large") { path in
                let file = creat(path, 0o600)
                defer { close(file) }
                return file < 0 ? file : ftruncate(file, 1 << 40)
            },
        ]

        @Test(arguments: members) func `in the folder of a domain, and names it immediately`(_ member: Member) throws {
            let bench = try ProofBench()
            try bench.makeFolder("domain", ["title": "first"])
            let folder = try #require(try bench.file("domain").folder)
            guard member.make("\(folder)/\(member.name)") == 0 else {
                try #require(errno == EPERM)
                try Test.cancel("no privilege to make a device")
            }
            let names = try bench.system.fileSystem.names(in: folder)
            for failure in [
                storeFailure { _ = try bench.contents("domain") },
                storeFailure { try bench.write("title", "second", "domain") },
                storeFailure { try bench.write("evil", "value", "domain") },
            ] {
                #expect(failure?.description == "cannot read \(folder)/\(member.name): \(member.reason)")
            }
            #expect(try WorkerProcess.run(bench.place, ["add", "domain", "key", "1"]).status == 1)
            #expect(try bench.system.fileSystem.names(in: folder) == names)
            _ = Glibc.remove("\(folder)/\(member.name)")
            #expect(try bench.contents("domain").values == ["title": "first"])
        }

        @Test func `except a dangling link, and creates its target`() throws {
            let bench = try ProofBench()
            try bench.system.fileSystem.makeFolders(try bench.file("domain").path.parent)
            try #require(symlink("../dotfiles/domain", try bench.file("domain").path.description) == 0)
            #expect(try WorkerProcess.run(bench.place, ["add", "domain", "key", "2"]).status == 0)
            #expect(try bench.value("key", "domain") == 2)
            let target = try bench.path.appending("dotfiles").appending("domain")
            #expect(try bench.system.fileSystem.status(of: target, followingLink: false)?.kind == .file)
        }
    }

    @Suite struct `Never uses a name` {
        static let hostile = [
            "../../evil", String(repeating: "x", count: 300), "a\u{0}b", "", ".", "..", ".hidden", "a/b", "/etc/passwd",
            "a\nb", "\u{1B}[2J",
        ]

        @Test(arguments: hostile) func `that leads elsewhere`(_ text: String) throws {
            let bench = try ProofBench()
            #expect(throws: DomainName.Failure.self) { try DomainName(text) }
            #expect(Defaults(suiteName: text) == nil)
            let defaults = Defaults("domain", in: bench.store)
            defaults.setPersistentDomain(["key": 1], forName: text)
            try defaults.flush()
            if !text.utf8.contains(0) {
                let outcome = try WorkerProcess.run(bench.place, ["fill", text, "key", "1", "transaction"])
                #expect(outcome.status == 1 && outcome.lines.count == 1)
            }
            #expect(try bench.system.fileSystem.names(in: bench.path)?.isEmpty == true)
        }

        static let odd = [
            "-rf", "a b", "%2F", "e\u{301}", "\u{E9}", String(repeating: "\u{1F600}", count: 45),
            String(repeating: "x", count: 180), "*", "a.plist", "$(id)", "domain.lock", "CON", "~",
        ]

        @Test(arguments: odd) func `other than the given one`(_ text: String) throws {
            let bench = try ProofBench()
            try bench.write("key", 1, "a")
            let outcome = try WorkerProcess.run(bench.place, ["add", text, "key", "4"])
            #expect(outcome == (0, []))
            #expect(try bench.value("key", DomainName(text)) == 4)
            #expect(try bench.value("key", "a") == 1)
            let domains = try StoreFolder(
                try #require(FilePath(bench.place)), .own, history: "/none", coordination: "/none"
            ).domains(in: bench.system.fileSystem)
            #expect(try Set(domains) == ["a", DomainName(text)])
        }
    }
}
