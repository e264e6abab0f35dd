internal import PropertyLists

/// The meaning of a value beyond its type.
public enum ValueKind: String, Hashable, Sendable, CaseIterable {
    /// The path of a file.
    case file
    /// The path of a folder.
    case folder
    /// The path of a file or folder.
    case path
    /// A URL.
    case url
    /// The name or IP address of a host, optionally with a port.
    case host
    /// A host, or a user and a host, as in mail addresses.
    case address
    /// A time span in seconds, written with units: `1h30m`.
    case duration
    /// A number of bytes, written with a unit: `4K`.
    case size

    /// All that depends on a kind. Another kind needs a case, a row of `facts` and a check below.
    package struct Facts {
        /// With its article, for sentences.
        var noun: String
        /// The types of values of this kind; the first is the default.
        var types: [ValueType] = [.string]
        /// Returns whether text can be of this kind, without accessing the system.
        var admits: (String) -> Bool = { _ in true }
        /// How a number of this kind is written.
        var quantity: Quantity?
        /// What the value leads to if it is a path.
        var target: PathTarget?
        /// The `format` in JSON Schema.
        package var jsonFormat: String?
        /// The keyboard in the settings bundle of an application.
        package var keyboard: String?
    }

    /// What a path leads to, for completions.
    package enum PathTarget: Sendable { case file, folder }

    package var facts: Facts {
        switch self {
        case .file: Facts(noun: "a file", admits: Self.isPath, target: .file)
        case .folder: Facts(noun: "a folder", admits: Self.isPath, target: .folder)
        case .path: Facts(noun: "a path", admits: Self.isPath, target: .file)
        case .url: Facts(noun: "a URL", admits: Self.isURL, jsonFormat: "uri", keyboard: "URL")
        case .host: Facts(noun: "a host", admits: Self.isHost)
        case .address:
            Facts(noun: "an address such as ada@example.com", admits: Self.isAddress, keyboard: "EmailAddress")
        case .duration: Facts(noun: "a duration", types: [.integer, .real], quantity: .seconds)
        case .size: Facts(noun: "a size", types: [.integer], quantity: .bytes)
        }
    }

    package var noun: String { facts.noun }

    /// What a path must be that must exist, or must not.
    package func expectation(exists: Bool) -> String {
        exists ? "an existing \(rawValue)" : "\(noun) that does not exist yet"
    }

    package var quantity: Quantity? { facts.quantity }

    package var target: PathTarget? { facts.target }

    /// Whether values are paths of the file system.
    package var isPath: Bool { facts.target != nil }
}

// MARK: Checks of text

extension ValueKind {
    private static func isPath(_ text: String) -> Bool {
        !text.isEmpty && !text.unicodeScalars.contains("\0")
    }

    /// Returns whether the text is a scheme, a colon and more text without white space.
    private static func isURL(_ text: String) -> Bool {
        let parts = text.unicodeScalars.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[0].first, first.isASCII, first.properties.isAlphabetic else {
            return false
        }
        let schemeCharacters = "+-.0123456789".unicodeScalars
        return parts[0].allSatisfy { $0.isASCII && $0.properties.isAlphabetic || schemeCharacters.contains($0) }
            && !parts[1].isEmpty
            && !parts[1].contains { $0.properties.isWhitespace || $0.value < 0x20 || $0.value == 0x7F }
    }

    /// Returns whether the text is a host, after a user and an at sign if it has one.
    private static func isAddress(_ text: String) -> Bool {
        guard let sign = text.unicodeScalars.lastIndex(of: "@") else { return isHost(text) }
        let user = text.unicodeScalars[..<sign]
        let isUser = user.first.map { $0 != "-" } ?? false
        return isUser && user.allSatisfy { !$0.properties.isWhitespace && $0.value > 0x20 && $0.value != 0x7F }
            && isHost(String(text.unicodeScalars[text.unicodeScalars.index(after: sign)...]))
    }

    /// Returns whether the text is a host name, an IPv4 address or an IPv6 address, optionally with a port.
    private static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            let rest = text[text.index(after: end)...]
            return isIPv6(text[text.index(after: text.startIndex)..<end]) && (rest.isEmpty || isPort(rest))
        }
        if text.filter({ $0 == ":" }).count > 1 { return isIPv6(text[...]) }
        guard let colon = text.firstIndex(of: ":") else { return isName(text[...]) }
        return isName(text[..<colon]) && isPort(text[colon...])
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.first == ":" && text.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
            && (UInt16(text.dropFirst()) ?? 0) > 0
    }

    private static func isName(_ text: Substring) -> Bool {
        let labels = (text.hasSuffix(".") ? text.dropLast() : text).split(
            separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253 && !labels.isEmpty
            && labels.allSatisfy { label in
                1...63 ~= label.utf8.count && label.first != "-" && label.last != "-"
                    && label.allSatisfy { $0 == "-" || $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
            }
    }

    private static func isIPv6(_ text: Substring) -> Bool {
        // The zone after a percent sign can be anything.
        let halves = text.prefix { $0 != "%" }.split(separator: "::", omittingEmptySubsequences: false)
        let hasGap = halves.count == 2
        let groups = halves.filter { !hasGap || !$0.isEmpty }.flatMap {
            $0.split(separator: ":", omittingEmptySubsequences: false)
        }
        return halves.count <= 2 && (hasGap ? groups.count < 8 : groups.count == 8)
            && groups.allSatisfy { 1...4 ~= $0.utf8.count && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}

// MARK: Numbers with units

extension Duration {
    /// Parses a duration such as `90`, `5m` or `1h30m`.
    package init?(word: String) {
        guard let amount = Quantity.seconds.amount(word) else { return nil }
        self = amount.duration
    }
}

/// Numbers with units: `5m` for a duration, `4K` for a size.
package enum Quantity: Sendable {
    /// Seconds: `90`, `5m`, `1h30m`, `1.5h` or `500ms`.
    case seconds
    /// Bytes: `512`, `4K`, `1.5G`, `4KiB` or `10MB`. `K` and `KiB` are powers of 1024, `KB` of 1000.
    case bytes

    /// Parses text; nil if it is invalid or too large.
    func amount(_ text: String) -> Amount? {
        switch self {
        case .seconds: return Self.number(text, units: Self.unitsOfTime, isSum: true)
        case .bytes: return Self.number(text, units: Self.unitsOfSize, isSum: false)
        }
    }

    /// Returns a number in the notation that `amount` parses: a duration as `1h30m`, a size in the largest power of
    /// 1024 that divides it.
    func text(of number: PropertyList.Integer) -> String {
        var rest = number.magnitude
        var text = number < 0 ? "-" : ""
        switch self {
        case .seconds:
            for (unit, factor) in [("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]
                as [(String, UInt64)]
            {
                if rest >= factor { text += "\(rest / factor)\(unit)" }
                rest %= factor
            }
            return number == 0 ? "0s" : text
        case .bytes:
            let power = rest == 0 ? 0 : min(rest.trailingZeroBitCount / 10, 6)
            return text + "\(rest >> UInt64(10 * power))" + ["", "K", "M", "G", "T", "P", "E"][power]
        }
    }

    /// The numbers by which a control steps, the largest first.
    package var steps: [Int64] {
        switch self {
        case .seconds: [604_800, 86_400, 3600, 60]
        case .bytes: (1...6).reversed().map { 1 << (10 * $0) }
        }
    }

    /// A description of valid text.
    func expectation(of type: ValueType) -> String {
        switch self {
        case .seconds where type == .real: "a duration such as 90, 1.5h or 500ms"
        case .seconds: "a duration such as 90, 5m or 1h30m"
        case .bytes: "a size such as 512, 4K or 10MB"
        }
    }

    private static let unitsOfTime = [
        "ms": Unit(1, per: 1000), "s": Unit(1), "m": Unit(60), "min": Unit(60), "h": Unit(3600), "d": Unit(86_400),
        "w": Unit(604_800),
    ]

    private static let unitsOfSize = {
        var units = ["b": Unit(1)]
        for (power, letter) in zip(1..., ["k", "m", "g", "t", "p", "e"]) {
            units[letter] = Unit(1 << Int64(10 * power))
            units["\(letter)ib"] = Unit(1 << Int64(10 * power))
            units["\(letter)b"] = Unit((0..<power).reduce(1) { result, _ in result * 1000 })
        }
        return units
    }()

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
