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
