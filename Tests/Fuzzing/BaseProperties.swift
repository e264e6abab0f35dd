internal import MirrorEngine
internal import PropertyLists

/// The merge of bases of several writers, with arbitrary contents.
extension Target {
    /// Generates the bases of two writers from bytes, so that no input is rejected for its syntax.
    func checkBases(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        var reader = ByteReader(Array(bytes.prefix(4096)))
        let mirror = MirrorID(high: 1, low: 2)
        let writers = [WriterID(number: 10), WriterID(number: 20)]
        var packs: [Pack] = []
        for (number, writer) in writers.enumerated() {
            let base = base(of: writer, other: writers[1 - number], in: mirror, &reader)
            let encoded = base.encoded()
            let blobs = Dictionary(encoded.blobs.map { ($0.name, $0) }) { $1 }
            guard let pack = try? Pack(decoding: encoded.bytes, blobs: blobs), pack.content == .base(base) else {
                throw BrokenProperty(self, "a base is not readable as it is written")
            }
            packs.append(pack)
        }
        try checkJoins(packs, in: mirror)
    }

    /// Returns writes of few paths, stamps and values, so that they often conflict. They are sorted by unique paths.
    private func base(of writer: WriterID, other: WriterID, in mirror: MirrorID, _ reader: inout ByteReader) -> BasePack
    {
        let count = Int((try? reader.byte()) ?? 0) % 24
        var writes: [Path: VersionedWrite] = [:]
        for _ in 0..<count {
            guard let bytes = try? Array(reader.bytes(5)) else { break }
            let path = Self.paths[Int(bytes[0]) % Self.paths.count]
            let author = bytes[1] & 1 == 0 ? writer : other
            let transactionID = TransactionID(writer: author, sequence: UInt64(bytes[3] & 31) + 1)
            // Every file lists the same replaced writes for a write.
            let replaced = TransactionID(writer: author, sequence: transactionID.sequence + 1)
            let seen = ReplacedWrite(path: path, transactionID: replaced, id: WriteID(derivedFrom: replaced, path))
            writes[path] = VersionedWrite(
                path: path, stamp: Stamp(number: UInt64(bytes[2] & 7)), transactionID: transactionID,
                value: value(bytes[4]),
                seen: transactionID.sequence % 2 == 0 ? [] : [seen])
        }
        let knowledge = VersionVector([TransactionID(writer: other, sequence: UInt64((try? reader.byte()) ?? 0))])
        return BasePack(
            mirror: mirror, writer: writer, last: 32, anchor: count % 2 == 0 ? nil : ContentHash(of: [1]),
            knowledge: knowledge, writes: writes.sorted { $0.key < $1.key }.map(\.value))
    }

    private static let paths: [Path] = ["a", "b"].flatMap { domain in
        [
            Path(domain: domain), Path(domain: domain, key: "x"), Path(domain: domain, key: "y"),
            Path([domain, "x", "p"]), Path([domain, "x", "q"]), Path([domain, "x", "p", "r"]),
        ]
    }

    private func value(_ byte: UInt8) -> WrittenValue {
        let values: [PropertyList] = [
            .integer(.init(Int64(byte >> 3))), .string("\(byte >> 3)"), ["p": 1, "q": ["r": 2]], [:], [true, "z"],
        ]
        guard let value = values.indices.contains(Int(byte & 7)) ? values[Int(byte & 7)] : nil else {
            return byte & 7 == 7 ? .left : .deleted
        }
        return (try? CanonicalValue(value)).map(WrittenValue.value) ?? .deleted
    }

    /// In any order and with any repetitions, the bases give the same state, in which no write dominates another.
    private func checkJoins(_ packs: [Pack], in mirror: MirrorID) throws(BrokenProperty) {
        func state(_ order: [Int]) -> LocalState {
            var state = LocalState(mirror: mirror, writer: WriterID(number: 1))
            state.apply(.configured(domain: "a", isMirrored: true))
            for number in order where packs.indices.contains(number) { state.apply(.joined(packs[number], at: 0)) }
            return state
        }
        let (one, other) = (state([0, 1]), state([1, 0, 1, 0]))
        guard one.mergeState == other.mergeState, one.knowledge == other.knowledge else {
            throw BrokenProperty(self, "another order, another state")
        }
        let writes = one.mergeState.writes
        for write in writes where writes.contains(where: { $0.dominates(write) }) {
            throw BrokenProperty(self, "a write that another dominates")
        }
        for write in packs.flatMap(entries) where !writes.contains(where: { $0 == write || $0.dominates(write) }) {
            throw BrokenProperty(self, "a write that is gone without one that dominates it")
        }
        for domain in one.mergeState.domains {
            let keys = one.mergeState.keys(of: domain)
            guard keys.allSatisfy({ one.mergeState.value(at: Path(domain: domain, key: $0.key)) == $0.value }) else {
                throw BrokenProperty(self, "a key with two values")
            }
        }
        var rebuilt = one
        rebuilt.apply(.rebuilt(packs))
        guard rebuilt.mergeState == one.mergeState else {
            throw BrokenProperty(self, "the rebuilt state differs")
        }
    }

    private func entries(_ pack: Pack) -> [VersionedWrite] {
        if case .base(let base) = pack.content { base.writes } else { [] }
    }
}
