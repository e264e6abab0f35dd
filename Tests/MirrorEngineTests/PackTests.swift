import Digests
import PropertyLists
import TestSupport
import Testing

@testable import MirrorEngine

extension EncodedPack {
    /// The blobs of the file, as a reader finds them.
    var blobsByName: [BlobName: Blob] { Dictionary(blobs.map { ($0.name, $0) }) { $1 } }
}

extension Pack {
    /// The pack, encoded again.
    fileprivate var encoded: EncodedPack {
        switch content {
        case .log(let log): log.encoded()
        case .base(let base): base.encoded()
        case .note(let note): note.encoded()
        }
    }
}

@Suite struct `A pack` {
    @Test func `is decoded as it was encoded, and encoded as the same bytes`() throws {
        let log = try Pack(decoding: PackSamples.log.encoded().bytes)
        #expect(log.content == .log(PackSamples.log))
        for count in [0, 1, 255, 256, 257, 600] {
            let base = PackSamples.base(values: count)
            #expect(try Pack(decoding: base.encoded().bytes).content == .base(base))
        }
        #expect(try Pack(decoding: PackSamples.note.encoded().bytes).content == .note(PackSamples.note))
        let marker = Marker(mirror: PackSamples.mirror)
        #expect(try Marker(decoding: marker.encoded()) == marker)
    }

    @Test func `with any contents is decoded as it was encoded`() throws {
        for round in 0..<400 {
            var packs = PackGenerator("packs", round: round)
            let comment: Comment = "\(Seed.ofThisRun) round \(round)"
            let contents: [Pack.Content] = [.log(packs.log()), .base(packs.base()), .note(packs.note())]
            for content in contents {
                let encoded =
                    switch content {
                    case .log(let log): log.encoded()
                    case .base(let base): base.encoded()
                    case .note(let note): note.encoded()
                    }
                let pack = try Pack(decoding: encoded.bytes, blobs: encoded.blobsByName)
                #expect(pack.content == content && pack.hash == encoded.hash, comment)
                #expect(pack.address.name == encoded.name && pack.encoded == encoded, comment)
                #expect(!pack.lines.isEmpty && !pack.hasUnknownFields, comment)
            }
        }
    }

    @Test func `is rejected with any bit flipped`() {
        for pack in PackSamples.all {
            for bit in 0..<pack.bytes.count * 8 {
                var flipped = pack.bytes
                flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(throws: PackFault.self) { try Pack(decoding: flipped) }
            }
        }
    }

    @Test func `is rejected at any other length`() {
        for pack in PackSamples.all {
            for count in pack.bytes.indices {
                #expect(throws: PackFault.self) { try Pack(decoding: Array(pack.bytes.prefix(count))) }
            }
            #expect(throws: PackFault.self) { try Pack(decoding: pack.bytes + [0]) }
        }
    }

    /// A valid hash and valid checksums do not protect against a pack that was crafted on purpose.
    @Test func `never traps, and is canonical, even from a hostile writer`() throws {
        var generator = SeededGenerator(stream: "hostile packs")
        var accepted = 0
        for round in 0..<6000 {
            let pack = PackSamples.all[round % 4].bytes
            guard var envelope = try? Envelope(decoding: pack) else { continue }
            envelope.records = try envelope.decodedRecords()
            let fields = envelope.fields.keys.sorted { $0.rawValue < $1.rawValue }
            for _ in 0..<Int.random(in: 1...2, using: &generator) {
                if !envelope.records.isEmpty, Bool.random(using: &generator) {
                    let record = envelope.records.indices.randomElement(using: &generator)!
                    var bytes = Array(envelope.records[record])
                    Self.damage(&bytes, &generator)
                    envelope.records[record] = bytes[...]
                } else {
                    let field = fields.randomElement(using: &generator)!
                    if var bytes = envelope.fields[field] {
                        Self.damage(&bytes, &generator)
                        envelope.fields[field] = bytes
                    }
                }
            }
            let bytes = envelope.encoded().bytes
            guard let read = try? Pack(decoding: bytes) else { continue }
            accepted += 1
            #expect(read.encoded.bytes == bytes, "\(Seed.ofThisRun) round \(round)")
        }
        #expect(accepted > 0)
    }

    private static func damage(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard let at = bytes.indices.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes.remove(at: at)
        case 1: bytes.insert(.random(in: 0...255, using: &generator), at: at)
        default:
            bytes[at] =
                Bool.random(using: &generator)
                ? .random(in: 0...3, using: &generator) : .random(in: 0...255, using: &generator)
        }
    }

    @Test func `is accepted only under its own name and in its own mirror`() throws {
        let pack = PackSamples.log.encoded()
        let address = PackAddress(writer: PackSamples.writer, name: pack.name)
        _ = try Pack(decoding: pack.bytes, at: address, of: PackSamples.mirror)
        let elsewhere = PackAddress(writer: PackSamples.other, name: pack.name)
        #expect(throws: PackFault.contradiction("name")) {
            try Pack(decoding: pack.bytes, at: elsewhere, of: PackSamples.mirror)
        }
        #expect(throws: PackFault.otherMirror) {
            try Pack(decoding: pack.bytes, at: address, of: MirrorID(high: 1, low: 1))
        }
    }

    @Test func `is printed as lines of text`() throws {
        let lines = try Pack(decoding: PackSamples.log.encoded().bytes).lines
        #expect(lines[1] == "mirror 4f0c2b00000000010000000000000002")
        let changes = PackSamples.log.transactions[0].changes
        #expect(lines.contains(#"    :com.example.app:a = {"x":1,"y":[true]} at 0.1000 as \#(changes[0].id)"#))
        #expect(lines.contains("    :com.example.app:b = deleted at 0.1005 as \(changes[1].id) (written back)"))
        #expect(lines.contains("        over \(changes[1].covers[1].name) in \(changes[1].covers[1].region)"))
        let base = try Pack(decoding: PackSamples.base(values: 1).encoded().bytes).lines
        #expect(base.contains("fork of \(PackSamples.other) from 7") && base.contains { $0.hasPrefix("    replaced ") })
    }
}

@Suite struct `A base` {
    /// The transactions that no listed file contains are in the base itself.
    @Test func `states its own transactions by the tags of its files, or by its own`() {
        let hash = ContentHash(of: [9])
        var base = PackSamples.base(values: 1)
        #expect(base.state(hash: hash).vector.entry(of: base.writer) == .init(sequence: 40, tag: FileTag(hash)))
        #expect(base.tags(hash: hash).spans.last == FileTags.Span(first: 40, last: 40, tag: FileTag(hash)))
        base.last = 39
        #expect(
            base.state(hash: hash).vector.entry(of: base.writer) == .init(sequence: 39, tag: FileTag(number: 2)))
        #expect(base.tags(hash: hash) == base.tags)
        (base.last, base.tags) = (0, FileTags())
        #expect(base.state(hash: hash) == base.state && base.tags(hash: hash) == FileTags())
    }

    @Test func `lists no file after its last transaction, and not itself among the known`() {
        var state = SharedState()
        state.vector = PackSamples.known
        state.vector.raise(PackSamples.writer, to: .init(sequence: 12, tag: FileTag(number: 1)))
        let tags = FileTags([
            FileTags.Span(first: 1, last: 10, tag: FileTag(number: 1)),
            FileTags.Span(first: 11, last: 13, tag: FileTag(number: 2)),
        ])
        let base = BasePack(
            mirror: PackSamples.mirror, writer: PackSamples.writer, last: 12, state: state, tags: tags)
        #expect(base.state.vector == PackSamples.known && base.tags.spans.map(\.last) == [10])
    }
}

@Suite struct `The name of a pack` {
    @Test func `is parsed from its path`() {
        for pack in PackSamples.all { #expect(PackName(pack.name.description) == pack.name) }
        #expect(PackName("l/000000000041.2e9f0a77d1.log")?.number == 41)
        #expect(PackName("who-0001.7b1d9a22c4")?.kind == .note)
    }

    @Test(arguments: [
        "", "l/41.2e9f0a77d1.log", "l/000000000041.2e9f0a77d1.base", "l/000000000041.2e9f0a77d.log",
        "l/000000000041.2e9f0a77d1.log.sync-conflict", "l/0000000000410.2e9f0a77d1.log",
        "b/000000000041.2E9F0A77D1.base",
        "l/000000000041.2e9f0a77d1 (1).log", "who-001.7b1d9a22c4", "~q8x2.tmp", ".DS_Store",
        "l/-00000000041.2e9f0a77d1.log",
        "l/00000000004１.2e9f0a77d1.log", "l/000000000041..2e9f0a77d1.log", "l/000000000041.2e9f0a77di.log",
    ])
    func `has only one form`(_ path: String) { #expect(PackName(path) == nil) }

    @Test func `is valid on every medium`() {
        for pack in PackSamples.all {
            let path = PackAddress(writer: PackSamples.writer, name: pack.name).description
            #expect(path.utf8.count <= 100)
            #expect(path.split(separator: "/").allSatisfy { $0.utf8.count <= 60 })
            #expect(path.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789.-/".utf8.contains($0) })
        }
    }
}
