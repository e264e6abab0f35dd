internal import Digests

/// The random number of a mirror, chosen by the host that created it.
package struct MirrorID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: high)
        bytes.append(littleEndian: low)
        return bytes
    }
}

extension MirrorID: CustomStringConvertible {
    package var description: String { Hexadecimal.text(of: high) + Hexadecimal.text(of: low) }

    /// The first six hexadecimal digits, as in the name of the marker: `4f0c2b`.
    package var abbreviation: String { String(description.prefix(6)) }

    /// The file name of the marker: `mirror-4f0c2b.id`.
    package var markerName: String { "mirror-\(abbreviation).id" }
}

/// The file that makes a directory a mirror.
package struct Marker: Hashable, Sendable {
    package var mirror: MirrorID
    /// The first host that may write to a signed mirror; nil in a mirror without signatures.
    package var signers: Signers?

    package init(mirror: MirrorID, signers: Signers? = nil) { (self.mirror, self.signers) = (mirror, signers) }

    private static let kind = UInt8(ascii: "i")

    package func encoded() -> [UInt8] {
        var envelope = Envelope(kind: Self.kind)
        envelope.fields[.mirror] = mirror.bytes
        envelope.set(.version, Envelope.version)
        envelope.fields[.signers] = signers?.encoded
        return envelope.encoded().bytes
    }

    package init(decoding bytes: [UInt8]) throws(PackFault) {
        let envelope = try Envelope(decoding: bytes)
        guard envelope.kind == Self.kind, try envelope.decodedRecords().isEmpty else { throw .notThisFormat }
        try envelope.expect([.mirror, .version], optional: [.signers])
        signers = try envelope.signers()
        mirror = try envelope.mirror()
    }
}
