import Digests
import Foundation
import MirrorEngine
import Platform
import PropertyLists
import SimulatedPlatform
import TestSupport
import Testing

@testable import PreferencesMirror

/// A mirror whose hosts sign their files, and a stranger who can write to the directory.
@Suite struct `A signed mirror` {
    /// The hosts ada and bob, and carol, who was expelled. Eve was never admitted.
    private struct Scene {
        let bench: MirrorBench
        let hosts: [MirrorHost]
        let carol: MirrorHost
        let eve: MirrorHost

        init(seed: UInt64 = Seed.ofThisRun.number) throws {
            bench = try MirrorBench(seed: seed)
            try SimulatedKeygen(bench.disk).install(for: ["ada", "bob", "carol", "eve"])
            let all = try ["ada", "bob", "carol", "eve"].map { [bench] name in
                let host = try bench.stranger(name)
                try host.enter(isFirst: name == "ada", signing: SimulatedKeygen.signing(name, trusting: "ada"))
                try host.select { $0.add("com.*") }
                try host.sync()
                return host
            }
            (hosts, carol, eve) = (Array(all.prefix(2)), all[2], all[3])
            for name in ["bob", "carol"] { try hosts[0].decide(on: name, isAdmitted: true) }
        }

        /// Carol writes, and is expelled.
        func expelCarol() throws {
            try carol.write("carol", "before")
            try bench.comeToRest(hosts + [carol])
            try hosts[1].decide(on: "carol", isAdmitted: false)
            try bench.comeToRest(hosts)
        }
    }

    @Test func `accepts the files of admitted hosts only`() throws {
        let scene = try Scene()
        try scene.hosts[0].write("ada", 1)
        try scene.hosts[1].write("bob", 2)
        try scene.eve.write("eve", 3)
        try scene.bench.comeToRest(scene.hosts + [scene.carol, scene.eve])
        for host in scene.hosts + [scene.carol] {
            #expect(try host.values() == ["ada": 1, "bob": 2], "\(host.name)")
            let status = try host.status()
            #expect(status.condition == .inSync && status.signing?.isAdmitted == true, "\(host.name)")
            #expect(status.signing?.requests.map(\.label) == ["eve"])
            #expect(!status.hosts.map(\.label).contains("eve"))
        }
        scene.bench.disk.clock.advance(by: .seconds(700))
        try scene.bench.comeToRest(scene.hosts)
        for host in scene.hosts { #expect(try host.session().isAtRest, "\(host.name)") }
        let status = try scene.eve.status()
        #expect(try scene.eve.values() == ["ada": 1, "bob": 2, "eve": 3], "eve reads")
        #expect(status.condition == .waiting && status.signing?.isAdmitted == false)
        try scene.hosts[1].decide(on: "eve", isAdmitted: true)
        try scene.bench.comeToRest(scene.hosts + [scene.carol, scene.eve])
        for host in scene.hosts + [scene.carol, scene.eve] {
            #expect(try host.values() == ["ada": 1, "bob": 2, "eve": 3], "\(host.name)")
            #expect(try host.status().condition == .inSync, "\(host.name)")
        }
    }

    @Test func `ignores what an expelled host writes, and keeps what it wrote before`() throws {
        let scene = try Scene()
        try scene.expelCarol()
        try scene.carol.write("carol", "after")
        try scene.bench.comeToRest([scene.carol])
        let joiner = try scene.bench.stranger("eve")
        try scene.hosts[0].decide(on: "eve", isAdmitted: true)
        try scene.bench.comeToRest(scene.hosts + [joiner])
        for host in scene.hosts + [joiner] {
            #expect(try host.values() == ["carol": "before"], "\(host.name)")
            #expect(try host.status().signing?.requests == [], "\(host.name)")
        }
        #expect(try scene.hosts[0].status().hosts.first { $0.label == "carol" }?.isExpelled == true)
        #expect(try scene.carol.status().signing?.isExpelled == true)
        // Nobody can admit the key again.
        #expect(throws: MirrorFailure.self) { try scene.hosts[0].decide(on: "carol", isAdmitted: true) }
        try scene.bench.comeToRest(scene.hosts + [scene.carol])
        #expect(try scene.hosts[1].values() == ["carol": "before"])
    }

    @Test func `knows its last admitted host, and that the key which was trusted first was expelled`() throws {
        let scene = try Scene()
        let (ada, bob) = (scene.hosts[0], scene.hosts[1])
        try scene.bench.comeToRest(scene.hosts + [scene.carol, scene.eve])
        #expect(try !ada.session().isLastAdmitted && ada.status().signing?.expelledTrust == nil)
        try bob.decide(on: "ada", isAdmitted: false)
        let key = try #require(try ada.status().signing?.fingerprint)
        for host in [bob, scene.carol] {
            try host.sync()
            #expect(try host.status().signing?.expelledTrust == key, "\(host.name)")
            #expect(try !host.session().isLastAdmitted, "\(host.name)")
        }
        try bob.decide(on: "carol", isAdmitted: false)
        #expect(try bob.session().isLastAdmitted)
        try bob.decide(on: "eve", isAdmitted: true)
        try scene.bench.comeToRest([bob, scene.eve])
        #expect(try !bob.session().isLastAdmitted)
    }

    @Test func `has neither of two hosts that expel each other`() throws {
        let scene = try Scene()
        try scene.hosts[0].decide(on: "eve", isAdmitted: true)
        try scene.bench.comeToRest(scene.hosts + [scene.carol, scene.eve])
        // Neither knows of the other's decision, and eve reads both at once.
        let (bob, carol) = (scene.hosts[1], scene.carol)
        let files = scene.bench.disk.process(user: 1000)
        let before = try scene.bench.directoryContents()
        try bob.decide(on: "carol", isAdmitted: false)
        let after = try scene.bench.directoryContents()
        for path in after.keys where before[path] == nil { try files.remove(try #require(FilePath(path))) }
        try carol.decide(on: "bob", isAdmitted: false)
        for (path, bytes) in after where before[path] == nil {
            try files.replace(try #require(FilePath(path)), with: bytes)
        }
        try scene.bench.comeToRest([scene.eve, scene.hosts[0]])
        for host in [scene.hosts[0], scene.eve] {
            #expect(try host.session().signers.map(\.label) == ["ada", "eve"], "\(host.name)")
        }
    }

    @Test func `cannot be joined without a key, or with one where no file is signed`() throws {
        let scene = try Scene()
        #expect(throws: MirrorFailure(.signed(directory: MirrorBench.directory.description))) {
            try scene.bench.stranger("dan").enter(isFirst: false)
        }
        let plain = try MirrorBench()
        _ = try plain.hosts("a")
        let failure = #expect(throws: MirrorFailure.self) {
            try plain.stranger("b").enter(isFirst: false, signing: SimulatedKeygen.signing("b", trusting: "a"))
        }
        #expect(failure?.description.contains("not signed") == true)
    }

    @Test func `reports that signatures cannot be made or checked`() throws {
        let scene = try Scene()
        try scene.bench.comeToRest(scene.hosts)
        try scene.hosts[0].write("key", 1)
        try scene.bench.disk.process().remove(SimulatedKeygen.program)
        let session = try scene.hosts[0].sync()
        #expect(session.troubles.contains { $0.contains("ssh-keygen") }, "\(session.troubles)")
        #expect(try scene.hosts[0].status().pending == 1)
        try SimulatedKeygen(scene.bench.disk).install(for: [])
        try scene.bench.comeToRest(scene.hosts)
        #expect(try scene.hosts[1].values() == ["key": 1])
    }

    private static let records = ["allowed_signers", "revoked_keys", "signatures"]

    @Test(arguments: [records] + records.map { [$0] })
    func `is restored from the trusted key if the record of its signatures is lost`(_ names: [String]) throws {
        let scene = try Scene()
        try scene.expelCarol()
        let folder = try scene.hosts[0].session().folder
        for name in names { try scene.bench.disk.process().remove(try #require(FilePath("\(folder)/\(name)"))) }
        try scene.hosts[1].write("key", 1)
        try scene.carol.write("carol", "after")
        try scene.bench.comeToRest([scene.carol] + scene.hosts)
        #expect(try scene.hosts[0].values() == ["carol": "before", "key": 1])
        #expect(try scene.hosts[0].session().signers.map(\.label) == ["ada", "bob"])
    }

    @Test(arguments: records)
    func `accepts nothing new while its record cannot be read`(_ name: String) throws {
        let scene = try Scene()
        try scene.expelCarol()
        let file = try #require(FilePath("\(scene.hosts[0].session().folder)/\(name)"))
        let open = try #require(try scene.bench.disk.process().open(file, .reading))
        try open.setPermissions(FilePermissions(rawValue: 0))
        try scene.hosts[1].write("key", 1)
        try scene.carol.write("carol", "after")
        try scene.bench.comeToRest([scene.carol, scene.hosts[1]])
        let session = try scene.hosts[0].sync()
        #expect(session.troubles.contains { $0.contains(name) }, "\(session.troubles)")
        #expect(try scene.hosts[0].values() == ["carol": "before"])
        try open.setPermissions(.privateFile)
        try scene.bench.comeToRest(scene.hosts)
        #expect(try scene.hosts[0].values() == ["carol": "before", "key": 1])
    }

    @Test func `learns of an expulsion by another program that could not publish it`() throws {
        let scene = try Scene()
        try scene.bench.comeToRest(scene.hosts + [scene.carol])
        var watch = try scene.hosts[0].sync()
        let files = scene.bench.disk.process()
        let away: FilePath = "/home/ada/away"
        try files.rename(MirrorBench.directory, to: away)
        try scene.hosts[0].decide(on: "carol", isAdmitted: false)
        try files.rename(away, to: MirrorBench.directory)
        try scene.carol.write("carol", "after")
        try scene.carol.sync()
        try watch.sync { scene.bench.disk.clock.advance(by: $0) }
        try scene.bench.comeToRest(scene.hosts)
        for host in scene.hosts {
            #expect(try host.values() == [:], "\(host.name)")
            #expect(try host.session().signers.map(\.label) == ["ada", "bob"], "\(host.name)")
        }
    }

    // MARK: A stranger

    /// Files of an admitted host in the folder of one that asks to join, before and after it is admitted.
    @Test func `does not take the files of another host for those of one that joins`() throws {
        let scene = try Scene()
        try scene.hosts[0].write("ada", 1)
        try scene.eve.write("eve", 2)
        try scene.bench.comeToRest(scene.hosts + [scene.eve])
        let files = scene.bench.disk.process(user: 1000)
        let directory = try scene.hosts[0].session().directory
        let listing = try directory.listing(own: WriterID(number: 0), chosen: nil)
        let (ada, eve) = (try scene.hosts[0].sync().writer, try scene.eve.sync().writer)
        for address in listing.packs where address.writer == ada {
            let name = PackName(kind: .note, number: 0, prefix: address.name.hash)
            let copy = PackAddress(writer: eve, name: name)
            let bytes = try #require(try files.contents(of: directory.place(of: address)))
            try files.replace(directory.place(of: copy), with: bytes)
        }
        try scene.bench.comeToRest(scene.hosts)
        try scene.hosts[0].decide(on: "eve", isAdmitted: true)
        try scene.bench.comeToRest(scene.hosts + [scene.eve])
        for host in scene.hosts { #expect(try host.values() == ["ada": 1, "eve": 2], "\(host.name)") }
    }

    /// Notes that name the key of an admitted host.
    private func forge(
        _ count: Int, of key: SignerKey, in session: MirrorSession, _ files: SimulatedFileSystem,
        at address: (Int) -> PackAddress, hash: ContentHash
    ) throws {
        for number in 1...count {
            let signature = try #require(SimulatedKeygen.signature(of: Array("\(number)".utf8), by: key))
            let body = [UInt8](repeating: 7, count: 60)
            var bytes = body
            bytes.append(littleEndian: UInt64(body.count + 40))
            bytes += hash.bytes + (SignedEnd.bytes(with: signature) ?? [])
            let place = session.directory.place(of: address(number))
            try files.makeFolders(place.parent)
            try files.replace(place, with: bytes)
        }
    }

    @Test(arguments: [true, false])
    func `reads the files of its hosts beside many forged ones that share a hash`(_ isKnown: Bool) throws {
        let scene = try Scene()
        try scene.hosts[1].write("before", 1)
        try scene.bench.comeToRest(scene.hosts)
        let (session, files) = (try scene.hosts[0].sync(), scene.bench.disk.process(user: 1000))
        let key = try #require(SimulatedKeygen.key(of: "bob"))
        let bob = try scene.hosts[1].sync()
        let known = try session.directory.listing(own: WriterID(number: 0), chosen: nil).packs
            .first { $0.writer == bob.writer && $0.name.kind == .log }
        let place = session.directory.place(of: try #require(known))
        let contents = try #require(try files.contents(of: place))
        let hash = isKnown ? try #require(SignedEnd(of: contents)).hash : ContentHash(of: [1, 2, 3])
        try forge(
            200, of: key, in: session, files,
            at: { number in
                let name = PackName(kind: .note, number: UInt64(number), prefix: hash.prefix)
                return PackAddress(writer: WriterID(number: UInt64(number)), name: name)
            }, hash: hash)
        try scene.hosts[1].write("after", 2)
        try scene.hosts[1].sync()
        for _ in 0..<5 { try scene.hosts[0].sync() }
        #expect(try scene.hosts[0].values() == ["before": 1, "after": 2])
    }

    @Test func `does not use what an expelled host admits in the same pass`() throws {
        let scene = try Scene()
        try scene.bench.comeToRest(scene.hosts + [scene.carol])
        let (ada, bob) = (scene.hosts[0], scene.hosts[1])
        // Carol has not read that she is expelled, and bob reads both notes at once.
        let files = scene.bench.disk.process(user: 1000)
        let before = try scene.bench.directoryContents()
        try ada.decide(on: "carol", isAdmitted: false)
        let after = try scene.bench.directoryContents()
        for path in after.keys where before[path] == nil { try files.remove(try #require(FilePath(path))) }
        try scene.carol.decide(on: "eve", isAdmitted: true)
        for (path, bytes) in after where before[path] == nil {
            try files.replace(try #require(FilePath(path)), with: bytes)
        }
        try scene.bench.comeToRest([bob, ada])
        for host in [ada, bob] { #expect(try host.session().signers.map(\.label) == ["ada", "bob"], "\(host.name)") }
    }

    @Test func `frees a folder from the key of an expelled host`() throws {
        let scene = try Scene()
        try scene.eve.write("eve", 1)
        try scene.bench.comeToRest(scene.hosts + [scene.carol, scene.eve])
        let (session, files) = (try scene.carol.sync(), scene.bench.disk.process(user: 1000))
        let note = WriterNote(
            mirror: session.id, writer: try scene.eve.sync().writer, number: 9, label: "eve", platform: "",
            software: "", signers: Signers()
        ).encoded()
        let key = try #require(SimulatedKeygen.key(of: "carol"))
        let signature = try #require(
            SimulatedKeygen.signature(of: FileSignature.message(for: note.hash), by: key))
        let address = PackAddress(writer: try scene.eve.sync().writer, name: note.name)
        try files.replace(
            session.directory.place(of: address), with: note.bytes + (SignedEnd.bytes(with: signature) ?? []))
        try scene.bench.comeToRest(scene.hosts)
        try scene.hosts[0].decide(on: "carol", isAdmitted: false)
        try scene.hosts[0].decide(on: "eve", isAdmitted: true)
        try scene.bench.comeToRest(scene.hosts + [scene.eve])
        for host in scene.hosts { #expect(try host.values() == ["eve": 1], "\(host.name)") }
    }

    @Test func `finds a host that asks to join among notes that only name its key`() throws {
        let scene = try Scene()
        try scene.bench.comeToRest(scene.hosts + [scene.eve])
        let key = try #require(SimulatedKeygen.key(of: "eve"))
        let signature = try #require(SimulatedKeygen.signature(of: Array("another".utf8), by: key))
        let (session, files) = (try scene.hosts[0].sync(), scene.bench.disk.process(user: 1000))
        for number in 1...100 {
            let writer = WriterID(number: UInt64(number))
            let note = WriterNote(
                mirror: session.id, writer: writer, number: 1, label: "ada", platform: "", software: "",
                signers: Signers()
            ).encoded()
            let place = session.directory.place(of: PackAddress(writer: writer, name: note.name))
            try files.makeFolders(place.parent)
            try files.replace(place, with: note.bytes + (SignedEnd.bytes(with: signature) ?? []))
        }
        let requests = try scene.hosts[0].sync().requests(of: key.fingerprint)
        #expect(requests == [MirrorSession.Signer(label: "eve", key: key)])
    }

    /// A thousand take a quarter of an hour.
    private static let trials =
        ProcessInfo.processInfo.environment["PREFS_TRIALS"].flatMap { Int($0) } ?? (Extent.isFull ? 100 : 20)

    @Test(arguments: 0..<trials)
    func `withstands a stranger with write access`(_ round: Int) throws {
        var random = SeededGenerator(stream: "stranger", round: round)
        let scene = try Scene(seed: random.next())
        try scene.expelCarol()
        var expected: PropertyList.Dictionary = ["carol": "before"]
        var stranger = DirectoryStranger(scene.bench.disk, random, try scene.hosts[0].session().id)
        for step in 0..<Int.random(in: 3...6, using: &random) {
            for host in scene.hosts where Bool.random(using: &random) {
                expected[host.name] = .integer(PropertyList.Integer(step))
                try host.write(host.name, .integer(PropertyList.Integer(step)))
            }
            for host in [scene.carol, scene.eve] where Bool.random(using: &random) {
                // Both can write where they please, and sign with their own keys.
                try host.write("ada", "evil")
                try host.sync()
            }
            for _ in 0..<Int.random(in: 1...4, using: &random) { try stranger.attack() }
            for host in scene.hosts.shuffled(using: &random) where Int.random(in: 0..<4, using: &random) > 0 {
                try host.sync()
            }
            scene.bench.disk.clock.advance(by: .seconds(Int.random(in: 1...2000, using: &random)))
            for host in scene.hosts { try expectNoEvil(host, stranger) }
        }
        // Lost files are published again once an hour at most.
        for _ in 0..<3 {
            scene.bench.disk.clock.advance(by: .seconds(3700))
            try scene.bench.comeToRest(scene.hosts)
        }
        for host in scene.hosts {
            #expect(try host.values() == expected, "\(host.name) \(stranger.log)")
            var session = try host.session()
            let found = try session.examine { _, _ in }
            let status = try host.status()
            let facts = (status.lost, status.unread, status.signing?.awaited, status.troubles)
            #expect([.inSync, .conflicts].contains(status.condition), "\(host.name) \(facts) \(stranger.log)")
            for address in try stranger.forged() {
                #expect(found.contains(.faulty(address, .unsigned)), "\(address) \(stranger.log)")
                let isNamed = status.signing.map { !$0.ignored.isEmpty || !$0.requests.isEmpty } ?? false
                #expect(isNamed, "\(stranger.log)")
            }
        }
    }

    private func expectNoEvil(_ host: MirrorHost, _ stranger: DirectoryStranger) throws {
        for entry in try host.values() { #expect(entry.value != "evil", "\(host.name) \(entry.key) \(stranger.log)") }
        let live = try host.session()
        live.mergeState.visit { #expect((try? $0.value.value?.decoded()) != "evil", "\(host.name) \(stranger.log)") }
    }
}

extension MirrorHost {
    fileprivate func decide(on name: String, isAdmitted: Bool) throws {
        var session = try sync()
        let key = try #require(SimulatedKeygen.key(of: name))
        try session.decide(on: MirrorSession.Signer(label: name, key: key), isAdmitted: isAdmitted) {
            disk.clock.advance(by: $0)
        }
    }
}

/// A user who can write to the directory of a mirror, and whose key no host admits.
private struct DirectoryStranger {
    private let disk: SimulatedDisk
    private var random: SeededGenerator
    private let mirror: MirrorID
    /// Files that were in the directory at some time.
    private var seen: [FilePath: [UInt8]] = [:]
    /// The files that the stranger made, with their contents.
    private var made: [PackAddress: [UInt8]] = [:]
    private(set) var log: [String] = []

    init(_ disk: SimulatedDisk, _ random: SeededGenerator, _ mirror: MirrorID) {
        (self.disk, self.random, self.mirror) = (disk, random, mirror)
        self.random = SeededGenerator(seed: Seed(number: self.random.next()), stream: "attack")
    }

    private var root: FilePath { MirrorBench.directory }

    private func place(_ address: PackAddress) -> FilePath { FilePath("\(root)/\(address)") ?? root }

    private func files() throws -> [(path: FilePath, bytes: [UInt8])] {
        try MirrorBench(disk).directoryContents().sorted { $0.key < $1.key }
            .compactMap { entry in FilePath(entry.key).map { ($0, entry.value) } }
            .filter { $0.path.description.hasPrefix("\(root)/w/") }
    }

    private func write(_ bytes: [UInt8], to path: FilePath) throws {
        let files = disk.process(user: 1000)
        try files.makeFolders(path.parent)
        try files.replace(path, with: bytes)
    }

    /// The files that the stranger made and that are still in the directory.
    func forged() throws -> [PackAddress] {
        let files = disk.process(user: 1000)
        return try made.filter { try files.contents(of: place($0.key)) == $0.value }.keys.sorted()
    }

    mutating func attack() throws {
        let present = try files()
        for file in present { seen[file.path] = file.bytes }
        guard let victim = present.randomElement(using: &random), let other = present.randomElement(using: &random)
        else {
            return
        }
        let relative = victim.path.description.dropFirst(root.description.utf8.count + 1)
        guard let address = PackAddress(relative) else { return }
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            log.append("deleted \(address)")
            try disk.process(user: 1000).remove(victim.path)
        case 1:
            log.append("truncated \(address)")
            try write(
                Array(victim.bytes.prefix(Int.random(in: 0..<victim.bytes.count, using: &random))), to: victim.path)
        case 2:
            log.append("swapped \(address) with \(other.path)")
            try write(other.bytes, to: victim.path)
            try write(victim.bytes, to: other.path)
        case 3:
            let others = present.compactMap {
                PackAddress($0.path.description.dropFirst(root.description.utf8.count + 1))?.writer
            }
            let writer = (others + [WriterID(number: random.next())]).randomElement(using: &random) ?? address.writer
            let kind = Bool.random(using: &random) ? address.name.kind : .note
            let number = address.name.number + UInt64.random(in: 0...1, using: &random)
            let name = PackName(kind: kind, number: number % 10_000, prefix: address.name.hash)
            log.append("copied \(address) to \(writer)/\(name)")
            let new = PackAddress(writer: writer, name: name)
            try write(victim.bytes, to: place(new))
        case 4:
            var bytes = victim.bytes
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            log.append("changed a bit of \(address)")
            try write(bytes, to: victim.path)
        case 5:
            guard let old = seen.sorted(by: { $0.key.description < $1.key.description }).randomElement(using: &random)
            else { return }
            log.append("replayed \(old.key)")
            try write(old.value, to: old.key)
        default:
            let writer = Bool.random(using: &random) ? WriterID(number: random.next()) : address.writer
            try forge(for: writer, signedLike: victim.bytes)
        }
    }

    /// Makes a file with a value of the stranger.
    private mutating func forge(for writer: WriterID, signedLike victim: [UInt8]) throws {
        let now = disk.clock.wall.milliseconds + 3_600_000
        let pack: EncodedPack
        if Bool.random(using: &random) {
            let path = Path(domain: "com.example.a").appending(
                ["ada", "bob", "carol"].randomElement(using: &random) ?? "")
            let value = WrittenValue.value(try CanonicalValue("evil"))
            let stamp = Stamp(clamping: now)
            let change = Change(
                WriteID(random: random.next(), path: path, stamp: stamp, value: value), at: path, value, stamp: stamp,
                covers: [])
            pack = LogPack(
                mirror: mirror, writer: writer, first: UInt64.random(in: 1...9, using: &random), previous: nil,
                knowledge: VersionVector(), transactions: [Transaction([change])]
            ).encoded()
        } else {
            var signers = Signers()
            for owner in ["eve", "carol"] { SimulatedKeygen.key(of: owner).map { signers.admit($0, as: "ada") } }
            SimulatedKeygen.key(of: "ada").map { signers.expel($0, as: "ada") }
            pack = WriterNote(
                mirror: mirror, writer: writer, number: UInt64.random(in: 1...99, using: &random), label: "ada",
                platform: "", software: "", hasLeft: Bool.random(using: &random), signers: signers
            ).encoded()
        }
        let message = FileSignature.message(for: pack.hash)
        func end(_ owner: String, _ message: [UInt8]) -> [UInt8] {
            SimulatedKeygen.key(of: owner).flatMap { SimulatedKeygen.signature(of: message, by: $0) }
                .flatMap { SignedEnd.bytes(with: $0) } ?? []
        }
        let ends: [(String, [UInt8])] = [
            ("none", []),
            ("the signature of another file", SignedEnd(of: victim).map { Array(victim.suffix($0.size)) } ?? []),
            ("eve", end("eve", message)), ("carol", end("carol", message)),
            ("ada, for another message", end("ada", Array("another".utf8))),
        ]
        let (kind, bytes) = ends[Int.random(in: 0..<ends.count, using: &random)]
        let address = PackAddress(writer: writer, name: pack.name)
        log.append("forged \(address), signed by \(kind)")
        made[address] = pack.bytes + bytes
        try write(pack.bytes + bytes, to: place(address))
    }
}
