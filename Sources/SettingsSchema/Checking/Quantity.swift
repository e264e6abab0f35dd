internal import PropertyLists

/// Numbers with units: `5m` for a duration, `4K` for a size.
enum Quantity: Sendable {
    /// Parses a duration such as `90`, `90s`, `5m`, `1h30m`, `2d` or `1w` into seconds; nil if it is invalid or too
    /// large.
    static func seconds(_ text: String) -> Int64? {
        number(text, units: ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800], isSum: true)
    }

    /// Parses a size such as `512`, `4K`, `4KiB`, `10MB` or `1G` into bytes. `K` and `KiB` are powers of 1024, `KB` of
    /// 1000.
    static func bytes(_ text: String) -> Int64? {
        var units: [String: Int64] = ["b": 1]
        for (power, letter) in zip(1..., ["k", "m", "g", "t", "p", "e"]) {
            units[letter] = 1 << Int64(10 * power)
            units["\(letter)ib"] = 1 << Int64(10 * power)
            units["\(letter)b"] = (0..<power).reduce(1) { result, _ in result * 1000 }
        }
        return number(text, units: units, isSum: false)
    }

    /// Returns a duration in the notation that `seconds(_:)` parses: `1h30m`.
    static func text(seconds: PropertyList.Integer) -> String {
        var rest = seconds.magnitude
        var text = ""
        for (unit, factor) in [("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)] as [(String, UInt64)] {
            if rest >= factor { text += "\(rest / factor)\(unit)" }
            rest %= factor
        }
        return (seconds < 0 ? "-" : "") + (text.isEmpty ? "0s" : text)
    }

    /// Returns a size in the largest power of 1024 that divides it.
    static func text(bytes: PropertyList.Integer) -> String {
        let magnitude = bytes.magnitude
        let power = magnitude == 0 ? 0 : min(magnitude.trailingZeroBitCount / 10, 6)
        let unit = ["", "K", "M", "G", "T", "P", "E"][power]
        return "\(bytes < 0 ? "-" : "")\(magnitude >> UInt64(10 * power))\(unit)"
    }

    private static func number(_ text: String, units: [String: Int64], isSum: Bool) -> Int64? {
        var rest = text.lowercased()[...]
        let isNegative = rest.first == "-"
        if isNegative { rest.removeFirst() }
        var total: Int64 = 0
        var smallest = Int64.max
        repeat {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(unit.count)
            // A number without a unit must be the only one. Units must decrease, as in 1h30m.
            let isBare = unit.isEmpty && rest.isEmpty && total == 0 && smallest == .max
            guard let count = Int64(digits), let factor = isBare ? 1 : units[String(unit)], factor < smallest else {
                return nil
            }
            let (product, overflow) = count.multipliedReportingOverflow(by: factor)
            let (sum, carry) = total.addingReportingOverflow(product)
            guard !overflow, !carry else { return nil }
            (total, smallest) = (sum, factor)
        } while !rest.isEmpty && isSum
        return rest.isEmpty ? (isNegative ? -total : total) : nil
    }
}
