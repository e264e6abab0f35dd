import PropertyLists
import Synchronization
import TestSupport
import Testing

@testable import MirrorEngine

@Suite struct `A value too long for a pack` {
    private static func text(_ character: Character, _ count: Int = Blob.longestInPack) -> WrittenValue {
        .text(String(repeating: character, count: count))
    }

    private static func change(_ key: String, _ value: WrittenValue) -> Change {
        Change(WriteID(number: 1), at: Path(domain: "d", key: key), value, stamp: Stamp(number: 1000))
    }

    /// Three writes, two of them with the same long value.
    private static var log: LogPack {
        var log = PackSamples.log
        (log.first, log.previous) = (1, nil)
        let values = [text("a"), text("a"), text("b", Blob.longestInPack - 4)]
        log.transactions = [Transaction(zip(["k", "l", "m"], values).map { change($0, $1) })]
        return log
    }

    private static var base: BasePack {
        var base = PackSamples.base(values: 3)
        let atoms = base.state.live.atoms.map { Atom($0.name, at: $0.path, text("c"), stamp: $0.stamp, in: $0.region) }
        base.state.live = MergeState(sorted: atoms)
        base.deletions = base.state.live.deletions { _ in true }
        return base
    }

    @Test func `is stored once in its own file, and is required to read the pack`() throws {
        for pack in [Self.log.encoded(), Self.base.encoded()] {
            #expect(pack.blobs.count == 1 && pack.bytes.count < 2 * Blob.longestInPack)
            let blob = pack.blobs[0]
            #expect(throws: PackFault.missingBlobs([blob.reference])) { try Pack(decoding: pack.bytes) }
            let read = try Blob(decoding: blob.value.bytes, as: blob.reference)
            let content = try Pack(decoding: pack.bytes, blobs: [read.name: read]).content
            #expect(content == .log(Self.log) || content == .base(Self.base))
        }
    }

    @Test func `is stored in the pack itself up to a limit`() throws {
        // A tag, a length of three bytes, and the text.
        for (count, isLong) in [(Blob.longestInPack - 4, false), (Blob.longestInPack - 3, true)] {
            var log = Self.log
            log.transactions = [Transaction([Self.change("k", Self.text("a", count))])]
            #expect(log.encoded().blobs.isEmpty != isLong)
        }
    }

    @Test func `matches the hash in its name, or is rejected`() throws {
        let blob = Blob(try CanonicalValue(.string(String(repeating: "s", count: Blob.longestInPack))))
        var flipped = blob.value.bytes
        flipped[70] ^= 1
        #expect(throws: PackFault.wrongHash) { try Blob(decoding: flipped, as: blob.reference) }
        #expect(throws: PackFault.endsEarly) { try Blob(decoding: blob.value.bytes.dropLast(), as: blob.reference) }
        let junk = BlobReference(name: BlobName(hash: ContentHash(of: [255, 1])), size: 2)
        #expect(throws: PackFault.unknownTag) { try Blob(decoding: [255, 1], as: junk) }
    }

    @Test func `has a name that is parsed from its path and valid on every medium`() {
        for number in 0..<50 {
            let name = BlobName(hash: ContentHash(of: [UInt8(number)]))
            #expect(BlobName(name.description) == name && PackName(name.description) == nil)
            let path = "w/\(PackSamples.writer)/\(name)"
            #expect(path.utf8.count <= 100 && path.split(separator: "/").allSatisfy { $0.utf8.count <= 60 })
            #expect(name.description.split(separator: "/")[1] == name.description.split(separator: "/")[2].prefix(2))
        }
    }

    @Test func `has only one valid name`() {
        let name = BlobName(hash: ContentHash(of: [1])).description
        let digits = String(name.dropFirst(5).dropLast(5))
        for other in [
            "", "x", "x/", "y" + name.dropFirst(), name + " ", name.uppercased(), "x/zz/" + digits + ".blob",
            "x/" + digits + ".blob", name.replacing(".blob", with: ".blob.tmp"), String(name.dropLast(6)) + ".blob",
            // The last digit encodes only one bit.
            String(name.dropLast(6)) + "1.blob", String(name.dropLast(6)) + "l.blob",
        ] { #expect(BlobName(other) == nil, "\(other)") }
    }

    /// A state, a record by which it joins the log, and the state that results.
    private static func joined() throws -> (LocalState, LocalRecord, LocalState) {
        let encoded = log.encoded()
        let pack = try Pack(decoding: encoded.bytes, blobs: encoded.blobsByName)
        let begin = LocalState(mirror: PackSamples.mirror, writer: PackSamples.other)
        var state = begin
        state.apply(.joined(pack, at: 0))
        return (begin, .joined(pack, at: 0), state)
    }

    @Test func `is restored from the journal`() throws {
        let (begin, record, state) = try Self.joined()
        let reading = try Journal.replay(Journal.beginning(with: begin) + Journal.entry(record))
        #expect(reading.state == state && state.shared.live.count == 3)
    }

    @Test func `is equal to itself in memory once a store keeps it, and is read again when needed`() throws {
        let store = Values()
        let text = PropertyList.string(String(repeating: "k", count: Blob.longestInPack))
        let (kept, inMemory) = (try CanonicalValue(text), try CanonicalValue(text))
        #expect(try #require(kept.long).store(in: store))
        #expect(kept == inMemory && kept.hashValue == inMemory.hashValue && kept.bytes == inMemory.bytes)
        #expect(kept.propertyList == text && kept.count == inMemory.count && store.reads == 2)
        #expect(try kept != CanonicalValue(.string(String(repeating: "l", count: Blob.longestInPack))))
        #expect(try CanonicalValue(["k": text]).isFilledDictionary && !kept.isFilledDictionary)
    }

    @Test func `is referred to by the journal, which is damaged without it`() throws {
        let (begin, record, state) = try Self.joined()
        let store = Values()
        let (entry, checkpoint) = (Journal.entry(of: record), Journal.checkpoint(of: state))
        #expect([entry.bytes, checkpoint.bytes].allSatisfy { $0.count < 2 * Blob.longestInPack })
        let values = entry.longValues + checkpoint.longValues
        #expect(Set(values.map(\.name)).count == 1)
        for value in values { value.store(in: store) }
        let journal = Journal.beginning(with: begin) + entry.bytes
        for bytes in [journal, checkpoint.bytes] {
            let reading = try Journal.replay(bytes, longValues: store)
            #expect(reading.state == state && reading.damage == nil && store.reads == 0)
        }
        #expect(try Journal.replay(checkpoint.bytes, longValues: store).bytesOfLongValues > 2 * Blob.longestInPack)
        let reference = try #require(values.first?.reference)
        #expect(try Journal.replay(journal, longValues: Values()).damage == .missingBlobs([reference]))
        #expect(throws: PackFault.missingBlobs([reference])) { try Journal.replay(checkpoint.bytes) }
    }

    @Test func `that its store no longer has is not recorded as kept`() throws {
        let value = try #require(Self.text("v").value?.long)
        let store = Values()
        #expect(value.store(in: store) && value.store(in: store))
        store.removeAll()
        #expect(!value.store(in: store))
    }

    /// A store in memory.
    private final class Values: LongValueStore {
        private let state = Mutex((values: [BlobName: [UInt8]](), reads: 0))

        var reads: Int { state.withLock(\.reads) }

        func removeAll() { state.withLock { $0.values = [:] } }

        func contains(_ reference: BlobReference) -> Bool {
            state.withLock { $0.values[reference.name]?.count == reference.size }
        }

        func bytes(of reference: BlobReference) -> [UInt8]? {
            state.withLock { state in
                state.reads += 1
                return state.values[reference.name]
            }
        }

        func store(_ bytes: [UInt8], as name: BlobName) -> Bool {
            state.withLock { $0.values[name] = bytes }
            return true
        }
    }

    @Test func `cannot expand a pack beyond the limit of a reader`() {
        var log = Self.log
        let long = WrittenValue.text(String(repeating: "x", count: 1 << 20))
        for (count, isAccepted) in [(511, true), (512, false)] {
            log.transactions = [Transaction((0..<count).map { Self.change("k\($0 + 1000)", long) })]
            let pack = log.encoded()
            let fault = PackFault.beyondLimit("bytes of all values")
            if isAccepted {
                #expect(throws: Never.self) { try Pack(decoding: pack.bytes, blobs: pack.blobsByName) }
            } else {
                #expect(throws: fault) { try Pack(decoding: pack.bytes, blobs: pack.blobsByName) }
            }
        }
    }

    @Test func `with many others is divided into changes that a reader accepts`() {
        let long = Self.text("v", 9 << 20)
        let changes = (0..<7).map { Self.change("k\($0)", $0 == 6 ? .deleted : long) }
        #expect(changes.parts.map(\.count) == [3, 4] && changes.parts.flatMap { $0 } == changes)
        #expect([Change]().parts.isEmpty)
    }
}
