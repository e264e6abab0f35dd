#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension Date {
    /// The moment as RFC 3339 text in UTC; nil where no such text says just this moment.
    package var rfc3339: String? { rfc3339(isLossy: false) }

    /// The moment as RFC 3339 text in UTC, to the second where nothing finer is exact; nil beyond the years that are
    /// written.
    package var nearestRFC3339: String? { rfc3339(isLossy: true) }

    private func rfc3339(isLossy: Bool) -> String? {
        var output = OutputBuffer(capacity: 64)
        guard output.append(rfc3339: self, isLossy: isLossy) else { return nil }
        return String(decoding: output.data(), as: UTF8.self)
    }

    /// The second that holds the moment, as `2001-02-03 04:05:06 +0000`; nil beyond the years that are written.
    package var spacedText: String? {
        let seconds = timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) <= CivilDate.greatestSeconds else { return nil }
        var output = OutputBuffer(capacity: 64)
        output.append(CivilDate(secondsSinceReference: Int(seconds.rounded(.down))), separator: UInt8(ascii: " "))
        output.append(text: " +0000")
        return String(decoding: output.data(), as: UTF8.self)
    }

    /// The moment that `2001-02-03 04:05:06 +0000` says, in whatever zone; a fraction may stand behind the seconds.
    package init?(spaced text: String) {
        let fields = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard fields.count == 3, fields[2].count == 5 else { return nil }
        let zone = Array(fields[2])
        let bytes = Array(fields[0]) + [UInt8(ascii: "T")] + fields[1] + zone[..<3] + [UInt8(ascii: ":")] + zone[3...]
        self.init(rfc3339: String(decoding: bytes, as: UTF8.self))
    }
}
