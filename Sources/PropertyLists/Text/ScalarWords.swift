#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// What one word says, where its type is known.
extension PropertyList.Integer {
    /// Decimal digits, or hexadecimal ones behind `0x`, with or without a sign.
    package init?(word: String) {
        var digits = word.utf8[...]
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        let isHexadecimal = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
        if isHexadecimal { digits.removeFirst(2) }
        // `UInt64` would take a second sign.
        guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
            let magnitude = UInt64(Substring(digits), radix: isHexadecimal ? 16 : 10)
        else { return nil }
        guard isNegative else {
            self.init(magnitude)
            return
        }
        guard magnitude <= 1 << 63 else { return nil }
        self.init(Int64(truncatingIfNeeded: 0 &- magnitude))
    }
}

extension Bool {
    /// Any of the eight words for yes and no, in any case.
    package init?(word: String) {
        switch word.lowercased() {
        case "true", "yes", "on", "1": self = true
        case "false", "no", "off", "0": self = false
        default: return nil
        }
    }
}

extension Date {
    /// RFC 3339 text, or Apple's with spaces.
    package init?(word: String) {
        guard let date = Date(rfc3339: word) ?? Date(spaced: word) else { return nil }
        self = date
    }
}
