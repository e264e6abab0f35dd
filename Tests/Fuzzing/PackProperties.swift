internal import Digests
internal import MirrorEngine

/// Files that other hosts may put into a mirror.
extension Target {
    /// Reads bytes as a file of a mirror: unchanged, and with valid hashes.
    func checkPack(_ bytes: UnsafeBufferPointer<UInt8>) throws(BrokenProperty) {
        let bytes = Array(bytes)
        try checkPack(bytes)
        if let repaired = repaired(bytes) { try checkPack(repaired) }
        if let value = try? CanonicalValue(decoding: bytes) {
            guard (try? CanonicalValue(value.propertyList))?.bytes == bytes else {
                throw BrokenProperty(self, "a value is read that is written in other bytes")
            }
        }
    }

    private func checkPack(_ bytes: [UInt8]) throws(BrokenProperty) {
        if let marker = try? Marker(decoding: bytes), (try? Marker(decoding: marker.encoded())) != marker {
            throw BrokenProperty(self, "a marker is not readable as it is written")
        }
        if let end = SignedEnd(of: bytes), SignedEnd.bytes(with: end.signature) != Array(bytes.suffix(end.size)) {
            throw BrokenProperty(self, "a signature is read that is written in other bytes")
        }
        guard let pack = try? Pack(decoding: bytes) else { return }
        guard PackName(pack.address.name.description) == pack.address.name else {
            throw BrokenProperty(self, "a file has a name that is not read")
        }
        guard !pack.lines.isEmpty else { throw BrokenProperty(self, "a file without words") }
        guard pack.hasUnknownFields || encoded(pack.content) == bytes else {
            throw BrokenProperty(self, "a file is read that is written in other bytes")
        }
        try checkJoin(pack)
    }

    private func encoded(_ content: Pack.Content) -> [UInt8] {
        switch content {
        case .log(let log): log.encoded().bytes
        case .base(let base): base.encoded().bytes
        case .note(let note): note.encoded().bytes
        }
    }

    /// A readable file can be joined, also twice.
    private func checkJoin(_ pack: Pack) throws(BrokenProperty) {
        var state = LocalState(mirror: pack.mirror, writer: WriterID(number: 1))
        state.apply(.joined(pack, at: 0))
        let once = state
        state.apply(.joined(pack, at: 0))
        guard state.shared == once.shared else { throw BrokenProperty(self, "joined twice is not joined once") }
        try checkView(state.shared.live)
    }

    /// Returns the same file with valid checksums of its records, a valid trailer and a valid hash.
    private func repaired(_ bytes: [UInt8]) -> [UInt8]? {
        let trailer = 48
        guard bytes.count >= trailer + 7 else { return nil }
        var reader = ByteReader(Array(bytes.dropLast(trailer)))
        guard (try? reader.bytes(5)) != nil, (try? reader.run(limit: bytes.count)) != nil else { return nil }
        var repaired = bytes
        var records: UInt64 = 0
        while !reader.isAtEnd {
            guard let body = try? reader.run(limit: bytes.count), (try? reader.halfWord()) != nil else { return nil }
            replace(&repaired, at: reader.position - 4, by: UInt64(CRC32C.checksum(Array(body))), count: 4)
            records += 1
        }
        replace(&repaired, at: bytes.count - trailer, by: records, count: 8)
        replace(&repaired, at: bytes.count - trailer + 8, by: UInt64(bytes.count), count: 8)
        return repaired.dropLast(32) + SHA256.hash(repaired.dropLast(32))
    }

    func replace(_ bytes: inout [UInt8], at start: Int, by number: UInt64, count: Int) {
        for index in 0..<count { bytes[start + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index)) }
    }
}
