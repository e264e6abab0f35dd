internal import MirrorEngine
internal import PropertyLists

/// The join of bases of several writers, with arbitrary contents.
extension Target {
    /// Generates the bases of two writers from bytes, so that no input is rejected for its syntax.
    func checkBases(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        var reader = ByteReader(Array(bytes.prefix(4096)))
        let mirror = MirrorID(high: 1, low: 2)
        let writers = [WriterID(number: 10), WriterID(number: 20)]
        let salt = (try? reader.word()) ?? 0
        var (packs, bases) = ([Pack](), [BasePack]())
        for (number, writer) in writers.enumerated() {
            let base = base(of: writer, other: writers[1 - number], in: mirror, salt, &reader)
            let encoded = base.encoded()
            let blobs = Dictionary(encoded.blobs.map { ($0.name, $0) }) { $1 }
            guard let pack = try? Pack(decoding: encoded.bytes, blobs: blobs), pack.content == .base(base) else {
                throw BrokenProperty(self, "a base is not readable as it is written")
            }
            packs.append(pack)
            bases.append(base)
        }
        try checkJoins(packs, bases, in: mirror)
    }

    private static let last: UInt64 = 32

    /// Returns values of few paths and stamps, so that they often conflict.
    private func base(
        of writer: WriterID, other: WriterID, in mirror: MirrorID, _ salt: UInt64, _ reader: inout ByteReader
    ) -> BasePack {
        var state = SharedState()
        for _ in 0..<Int((try? reader.byte()) ?? 0) % 24 {
            guard let bytes = try? Array(reader.bytes(2)) else { break }
            let dot = TransactionID(
                writer: bytes[0] & 1 == 0 ? writer : other, sequence: UInt64(bytes[0] >> 1) % Self.last + 1)
            var atom = atom(dot, salt)
            atom.region = region(of: atom.path, bytes[1])
            state.live.insert(atom)
        }
        if let byte = try? reader.byte() {
            let known = UInt64(byte) % (Self.last + 1)
            if known > 0 { state.vector.raise(other, to: .init(sequence: known, tag: tag(of: known))) }
        }
        // Names that no vector proves.
        for _ in 0..<Int((try? reader.byte()) ?? 0) % 4 {
            guard let bytes = try? Array(reader.bytes(2)) else { break }
            let name = atom(dot(ofUnknown: bytes[0]), salt)
            state.gone[name.name] = region(of: name.path, bytes[1])
        }
        if let byte = try? reader.byte(), byte & 1 == 1 { state.live.insert(atom(dot(ofUnknown: byte >> 1), salt)) }
        let tags = FileTags(
            stride(from: 1, to: Self.last, by: 8).map { FileTags.Span(first: $0, last: $0 + 7, tag: tag(of: $0)) })
        for (name, region) in state.gone { state.live.cover(name, region) }
        return BasePack(
            mirror: mirror, writer: writer, last: Self.last, state: state, tags: tags, labels: [writer: "a", other: ""])
    }

    private func tag(of sequence: UInt64) -> FileTag { FileTag(number: UInt32((sequence - 1) / 8)) }

    /// A transaction of a writer that none of the bases knows.
    private func dot(ofUnknown byte: UInt8) -> TransactionID {
        TransactionID(writer: WriterID(number: 30), sequence: UInt64(byte & 3) + 1)
    }

    /// Returns the value that a transaction has in every base.
    private func atom(_ dot: TransactionID, _ salt: UInt64) -> Atom {
        var mixed = (salt ^ dot.writer.number &* 0x9E37_79B9_7F4A_7C15) &+ dot.sequence &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 31) &* 0x94D0_49BB_1331_11EB
        let path = Self.paths[Int(mixed >> 8) % Self.paths.count]
        let reason = Atom.Reason(rawValue: UInt8(mixed >> 40 & 3)) ?? .written
        return Atom(
            AtomName(WriteID(number: mixed), dot), at: path, value(UInt8(mixed >> 48 & 0xFF)),
            stamp: Stamp(number: mixed >> 60 & 7), reason: reason)
    }

    private static let paths: [Path] = ["a", "b"].flatMap { domain in
        [
            Path(domain: domain, key: "x"), Path(domain: domain, key: "y"), Path([domain, "x", "p"]),
            Path([domain, "x", "q"]), Path([domain, "x", "p", "r"]),
        ]
    }

    private func region(of path: Path, _ byte: UInt8) -> Region {
        let below = ["p", "q"].map { path.appending($0) }
        switch byte & 7 {
        case 0: return Region(path, except: [below[0]])
        case 1: return Region(path, except: below)
        case 2: return Region(below[0])
        case 3: return Region(path, except: [below[1]]).union(Region(below[1].appending("r")))
        default: return Region(path)
        }
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

    /// In any order and with any repetitions, the bases give the same state, in which a value is missing only where a
    /// base shows that it was replaced.
    private func checkJoins(_ packs: [Pack], _ bases: [BasePack], in mirror: MirrorID) throws(BrokenProperty) {
        func state(_ order: [Int], recordsChanges: Bool = false) -> LocalState {
            var state = LocalState(mirror: mirror, writer: WriterID(number: 1))
            state.apply(.configured(domain: "a", isMirrored: true))
            for number in order where packs.indices.contains(number) {
                let pack = packs[number]
                state.apply(recordsChanges ? state.record(ofJoining: pack, at: 0) : .joined(pack, at: 0))
            }
            return state
        }
        let (one, other) = (state([0, 1]), state([1, 0, 1, 0]))
        guard one.shared == other.shared else { throw BrokenProperty(self, "another order, another state") }
        guard other == state([1, 0, 1, 0], recordsChanges: true) else {
            throw BrokenProperty(self, "a record of changes with another effect")
        }
        for (base, peer) in [(bases[0], bases[1]), (bases[1], bases[0])] {
            for atom in base.state.live.atoms {
                for place in Self.probes where atom.region.contains(place) {
                    let isLive = isLive(atom, at: place, one.shared.live)
                    guard isLive || isReplaced(atom, at: place, peer) else {
                        throw BrokenProperty(self, "a value that is gone without having been replaced")
                    }
                }
            }
        }
        try checkView(one.shared.live)
        var rebuilt = one
        rebuilt.apply(.rebuilt(packs))
        guard rebuilt.shared == one.shared else { throw BrokenProperty(self, "the rebuilt state differs") }
    }

    private static let probes = paths + paths.flatMap { path in ["p", "q", "s"].map { path.appending($0) } }

    private func isLive(_ atom: Atom, at place: Path, _ live: MergeState) -> Bool {
        live.atom(atom.name, at: atom.path)?.region.contains(place) ?? false
    }

    /// Whether another base shows that a value was replaced at a place.
    private func isReplaced(_ atom: Atom, at place: Path, _ base: BasePack) -> Bool {
        guard let dot = atom.name.dot else { return false }
        if base.state.gone[atom.name]?.contains(place) ?? false { return true }
        let isKnown = dot.writer == base.writer ? dot.sequence <= base.last : base.state.vector.includes(dot)
        return isKnown && !isLive(atom, at: place, base.state.live)
    }

    /// Each key has one value, and what is listed as lost is live.
    func checkView(_ live: MergeState) throws(BrokenProperty) {
        for domain in live.domains {
            let keys = live.keys(of: domain)
            guard keys.allSatisfy({ live.value(at: Path(domain: domain, key: $0.key)) == $0.value }) else {
                throw BrokenProperty(self, "a key with two values")
            }
        }
        for conflict in live.conflicts {
            let isOpen = conflict.losers.allSatisfy { loser in
                live.overlapping(conflict.place).contains {
                    $0.name == loser.name && loser.region.subtracting($0.region).isEmpty
                }
            }
            guard isOpen, conflict.losers.first?.name == conflict.loser.name else {
                throw BrokenProperty(self, "a conflict of a value that is not live")
            }
        }
    }
}
