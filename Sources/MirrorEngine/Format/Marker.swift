/// The file that makes a directory a mirror.
package struct Marker: Hashable, Sendable {
    package var mirror: MirrorID

    package init(mirror: MirrorID) { self.mirror = mirror }

    private static let kind = UInt8(ascii: "i")

    package func encoded() -> [UInt8] {
        var envelope = Envelope(kind: Self.kind)
        envelope.fields[.mirror] = mirror.bytes
        envelope.set(.version, Envelope.firstVersion)
        return envelope.encoded().bytes
    }

    package init(decoding bytes: [UInt8]) throws(PackFault) {
        let envelope = try Envelope(decoding: bytes)
        guard envelope.kind == Self.kind, envelope.records.isEmpty else { throw .notThisFormat }
        try envelope.expect([.mirror, .version])
        mirror = try envelope.mirror()
    }
}
