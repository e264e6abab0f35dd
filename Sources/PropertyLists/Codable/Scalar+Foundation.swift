#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Date: Scalar {
    @inline(__always)
    init?(scalar value: PropertyList) {
        guard case .date(let date) = value else { return nil }
        self = date
    }

    @inline(__always)
    var scalar: PropertyList? { .date(self) }
}

extension Data: Scalar {
    @inline(__always)
    init?(scalar value: PropertyList) {
        guard case .data(let data) = value else { return nil }
        self = data
    }

    @inline(__always)
    var scalar: PropertyList? { .data(self) }
}

extension URL: Scalar {
    init?(scalar value: PropertyList) {
        guard case .string(let text) = value else { return nil }
        self.init(string: text)
    }

    static func isNear(_ kind: PropertyList.Kind) -> Bool { kind == .string }

    var scalar: PropertyList? { .string(absoluteString) }
}

extension Decimal: Scalar {
    /// The number that a string says, or a number as its digits say it.
    init?(scalar value: PropertyList) {
        switch value {
        case .string(let text): self.init(digits: text)
        case .integer(let number): self.init(digits: number.description)
        case .real(let number) where number.isFinite: self.init(digits: number.description)
        default: return nil
        }
    }

    static func isNear(_ kind: PropertyList.Kind) -> Bool { kind == .string || kind == .real }

    var scalar: PropertyList? { .string(description) }

    /// `Decimal` itself would read as far as it understands, and leave the rest.
    private init?(digits text: String) {
        if text == Decimal.nan.description {
            self = .nan
            return
        }
        guard Self.isSpelling(text.utf8) else { return nil }
        self.init(string: text)
    }

    /// Whether the text is a number from its first byte to its last: `-12.5e3`.
    private static func isSpelling(_ text: String.UTF8View) -> Bool {
        var rest = text[...]
        rest.dropSign()
        var digits = rest.dropDigits()
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            digits += rest.dropDigits()
        }
        guard digits > 0 else { return false }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            rest.dropSign()
            guard rest.dropDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}

extension Substring.UTF8View {
    fileprivate mutating func dropSign() {
        if first == UInt8(ascii: "-") || first == UInt8(ascii: "+") { removeFirst() }
    }

    /// Drops the digits in front and says how many there were.
    fileprivate mutating func dropDigits() -> Int {
        let count = prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.count
        removeFirst(count)
        return count
    }
}
