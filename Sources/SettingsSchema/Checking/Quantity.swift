internal import PropertyLists

/// Numbers with units: `5m` for a duration, `4K` for a size.
enum Quantity: Sendable {
    /// A number with a fraction of at most nine digits.
    struct Amount: Hashable, Sendable {
        fileprivate(set) var whole: Int64 = 0
        /// The fraction in billionths.
        fileprivate(set) var billionths: Int64 = 0
        fileprivate(set) var isNegative = false

        /// The number if it has no fraction.
        var integer: Int64? { billionths == 0 ? (isNegative ? -whole : whole) : nil }
        /// The number as seconds.
        var duration: Duration {
            let magnitude = Duration.seconds(whole) + .nanoseconds(billionths)
            return isNegative ? .zero - magnitude : magnitude
        }
        var real: Double {
            let magnitude = Double(whole) + Double(billionths) / 1_000_000_000
            return isNegative ? -magnitude : magnitude
        }
    }

    /// Parses a duration such as `90`, `5m`, `1h30m`, `1.5h` or `500ms` into seconds; nil if it is invalid or too
    /// large.
    static func seconds(_ text: String) -> Amount? {
        let units: [String: Unit] = [
            "ms": Unit(1, per: 1000), "s": Unit(1), "m": Unit(60), "min": Unit(60), "h": Unit(3600), "d": Unit(86_400),
            "w": Unit(604_800),
        ]
        return number(text, units: units, isSum: true)
    }

    /// Parses a size such as `512`, `4K`, `1.5G`, `4KiB` or `10MB` into bytes. `K` and `KiB` are powers of 1024, `KB`
    /// of 1000.
    static func bytes(_ text: String) -> Amount? {
        var units: [String: Unit] = ["b": Unit(1)]
        for (power, letter) in zip(1..., ["k", "m", "g", "t", "p", "e"]) {
            units[letter] = Unit(1 << Int64(10 * power))
            units["\(letter)ib"] = Unit(1 << Int64(10 * power))
            units["\(letter)b"] = Unit((0..<power).reduce(1) { result, _ in result * 1000 })
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

    /// A unit as a fraction of the base unit.
    fileprivate struct Unit {
        let count, divisor: Int64

        init(_ count: Int64, per divisor: Int64 = 1) { (self.count, self.divisor) = (count, divisor) }
    }

    private static func number(_ text: String, units: [String: Unit], isSum: Bool) -> Amount? {
        var rest = text.lowercased()[...]
        var total = Amount()
        total.isNegative = rest.first == "-"
        if total.isNegative { rest.removeFirst() }
        var smallest: Unit?
        repeat {
            let digits = takeDigits(&rest)
            var fraction: Substring = ""
            if rest.first == "." {
                rest.removeFirst()
                fraction = takeDigits(&rest)
                guard !fraction.isEmpty else { return nil }
            }
            let name = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(name.count)
            // A number without a unit must be the only one. Units must decrease, as in 1h30m.
            let isBare = name.isEmpty && rest.isEmpty && smallest == nil
            guard let unit = isBare ? Unit(1) : units[String(name)], !digits.isEmpty, fraction.count <= 9,
                smallest.map({ unit.count * $0.divisor < $0.count * unit.divisor }) ?? true,
                total.add(digits + fraction, fraction.count, of: unit)
            else { return nil }
            smallest = unit
        } while !rest.isEmpty && isSum
        return rest.isEmpty ? total : nil
    }

    private static func takeDigits(_ rest: inout Substring) -> Substring {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        rest = rest.dropFirst(digits.count)
        return digits
    }
}

extension Quantity.Amount {
    /// Adds a decimal number of a unit. Returns false if the sum is too large or has more than nine decimal places.
    fileprivate mutating func add(_ digits: Substring, _ places: Int, of unit: Quantity.Unit) -> Bool {
        let divisor = (0..<places).reduce(unit.divisor) { result, _ in result * 10 }
        guard let number = Int64(digits) else { return false }
        let product = number.multipliedFullWidth(by: unit.count)
        guard product.high << 1 | Int64(product.low >> 63) < divisor else { return false }
        let (quotient, remainder) = divisor.dividingFullWidth(product)
        let (part, rest) = divisor.dividingFullWidth(remainder.multipliedFullWidth(by: 1_000_000_000))
        guard rest == 0 else { return false }
        let carry = billionths + part >= 1_000_000_000
        billionths = billionths + part - (carry ? 1_000_000_000 : 0)
        let (sum, overflow) = whole.addingReportingOverflow(quotient)
        let (next, isTooLarge) = sum.addingReportingOverflow(carry ? 1 : 0)
        whole = next
        return !overflow && !isTooLarge
    }
}
