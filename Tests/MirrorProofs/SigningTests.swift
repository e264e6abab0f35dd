import Foundation
import Platform
import TestSupport
import Testing

/// A signed mirror between real processes, with the keys and signatures of `ssh-keygen`.
@Suite(.serialized) struct `Files signed by ssh-keygen` {
    private let folder: TemporaryFolder
    private let place: String
    private let shared: String
    private let hosts: [RealHost]

    init() throws {
        folder = try TemporaryFolder()
        place = folder.url.path(percentEncoded: false)
        shared = place + "/shared"
        let place = place
        hosts = try ["desk", "laptop", "tablet"].map { try RealHost($0, in: place) }
    }

    /// Makes the key of a host, and returns its fingerprint as `ssh-keygen` prints it.
    private func makeKey(of host: RealHost, _ kind: [String]) throws -> String {
        let file = key(of: host)
        let words = ["-q", "-t"] + kind + ["-N", "", "-C", "", "-f", file]
        try #require(try Subprocess.run("ssh-keygen", words).status == 0)
        let fields = try Subprocess.run("ssh-keygen", ["-l", "-f", file + ".pub"]).text.split(separator: " ")
        return String(try #require(fields.dropFirst().first))
    }

    private func key(of host: RealHost) -> String { "\(host.home)/key" }

    @Test(arguments: [["ed25519"], ["ecdsa"], ["rsa", "-b", "4096"]])
    func `are exchanged by admitted hosts, and not by others`(_ kind: [String]) throws {
        let (desk, laptop, tablet) = (hosts[0], hosts[1], hosts[2])
        let keys = try hosts.map { try makeKey(of: $0, kind) }
        try desk.succeed("mirror", "init", shared, "--label", "desk", "--signed", key(of: desk))
        try desk.succeed("mirror", "add", "com.example.*")
        try desk.succeed("write", "com.example.app", "size", "1")
        try desk.succeed("mirror", "sync")
        #expect(try desk.succeed("mirror", "status").contains(keys[0]))

        // Without the key of an admitted host, nothing is joined.
        for words in [[], ["--signed", key(of: laptop)], ["--signed", key(of: laptop), "--trust", keys[1]]] {
            let run = try laptop.run(["mirror", "join", shared] + words)
            #expect([1, 3].contains(run.status), "\(words): \(run.status) \(run.errorText)")
            #expect(try laptop.run("mirror", "status").status == 1)
        }
        for host in [laptop, tablet] {
            let run = try host.run(
                "mirror", "join", shared, "--label", host.name, "--signed", key(of: host), "--trust", keys[0])
            #expect(run.status == 10, "\(run.text)\(run.errorText)")
            _ = try host.run("mirror", "add", "com.example.*")
            #expect(try host.succeed("read", "com.example.app", "size") == "1\n")
            try host.succeed("write", "com.example.app", host.name, "2")
            #expect(try host.run("mirror", "sync").status == 10)
        }
        #expect(try desk.succeed("mirror", "status").contains("asks to join"))
        #expect(try desk.run("mirror", "admit", "laptop").status == 3)
        try desk.succeed("mirror", "sync")
        #expect(try desk.run("read", "com.example.app", "laptop").status == 1)

        try desk.succeed("mirror", "admit", keys[1])
        #expect(try desk.succeed("read", "com.example.app", "laptop") == "2\n")
        #expect(try desk.run("read", "com.example.app", "tablet").status == 1)
        try laptop.succeed("mirror", "sync")
        try laptop.succeed("mirror", "admit", keys[2])
        for _ in 0..<2 { for host in hosts { try host.succeed("mirror", "sync") } }
        for host in hosts {
            #expect(try host.succeed("read", "com.example.app", "tablet") == "2\n")
            #expect(try host.run("mirror", "fsck").status == 0)
        }

        #expect(try desk.run("mirror", "expel", "laptop").status == 3)
        try desk.succeed("mirror", "expel", keys[1])
        try tablet.succeed("mirror", "sync")
        try laptop.succeed("write", "com.example.app", "laptop", "3")
        #expect(try laptop.run("mirror", "sync").status == 10)
        for host in [desk, tablet] {
            try host.succeed("mirror", "sync")
            #expect(try host.succeed("read", "com.example.app", "laptop") == "2\n")
            #expect(try host.succeed("mirror", "status").contains("expelled"))
        }
        #expect(try desk.run("mirror", "admit", keys[1]).status == 3)
        // The expelled host cannot decide either.
        #expect(try laptop.run("mirror", "expel", keys[0]).status == 3)
        // The tablet, which trusted the desk first, is the last host that can.
        try tablet.succeed("mirror", "expel", keys[0])
        #expect(try tablet.succeed("mirror", "status").contains("was expelled: \(keys[0])"))
        let last = try tablet.run("mirror", "leave")
        #expect(last.status == 9 && last.errorText.contains("no other host is admitted"), "\(last.errorText)")
        #expect(try tablet.run("mirror", "leave", "--anyway").status == 0)
    }

    /// The files of each folder, verified as the manual describes.
    @Test func `are verified by ssh-keygen as prefs-mirror(7) states`() throws {
        let desk = hosts[0]
        let fingerprint = try makeKey(of: desk, ["ed25519"])
        try desk.succeed("mirror", "init", shared, "--label", "desk", "--signed", key(of: desk))
        try desk.succeed("mirror", "add", "com.example.*")
        try desk.succeed("write", "com.example.app", "size", "1")
        try desk.succeed("mirror", "sync")
        try desk.succeed("mirror", "compact")
        let (list, line) = (place + "/allowed", try String(contentsOfFile: key(of: desk) + ".pub", encoding: .utf8))
        let entry = "\(fingerprint) namespaces=\"prefs-mirror\" \(line)"
        try entry.write(toFile: list, atomically: true, encoding: .utf8)
        let files = try FileManager.default.subpathsOfDirectory(atPath: shared).filter {
            $0.hasPrefix("w/") && $0.contains(".")
        }
        #expect(files.count >= 2)
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: "\(shared)/\(file)")))
            let numbers = bytes.suffix(8).prefix(4).map { Int($0) }
            let (count, size) = (numbers[0] | numbers[1] << 8, numbers[2] | numbers[3] << 8)
            let start = bytes.count - size
            let hash = bytes[start - 32..<start].map { String(format: "%02x", $0) }.joined()
            let text = Data(bytes[start..<start + count]).base64EncodedString(options: .lineLength76Characters)
            let signature = place + "/signature"
            try "-----BEGIN SSH SIGNATURE-----\n\(text)\n-----END SSH SIGNATURE-----\n".write(
                toFile: signature, atomically: true, encoding: .utf8)
            for (message, status) in [(hash + "\n", Int32(0)), (hash, 255)] {
                let run = try Subprocess.run(
                    "ssh-keygen",
                    ["-Y", "verify", "-f", list, "-I", fingerprint, "-n", "prefs-mirror", "-s", signature],
                    input: Data(message.utf8))
                #expect(run.status == status, "\(file): \(run.text)\(run.errorText)")
            }
        }
    }
}
