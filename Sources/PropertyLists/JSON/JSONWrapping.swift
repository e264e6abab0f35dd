#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The dictionaries of one key that carry through JSON what JSON has no type for.
///
///     {"$date": "2001-02-03T04:05:06Z"}   {"$data": "AQID"}   {"$uid": 1}   {"$real": "nan"}
///
/// A dictionary whose only key really begins with `$` is written with the `$` doubled.
enum JSONWrapping {
    static let date = "$date"
    static let data = "$data"
    static let uid = "$uid"
    static let real = "$real"

    /// The value that a dictionary just read stands for.
    static func unwrapped(_ dictionary: PropertyList.Dictionary, at place: Int) throws(Fault) -> PropertyList {
        guard dictionary.count == 1, let entry = dictionary.first, entry.key.utf8.first == UInt8(ascii: "$") else {
            return .dictionary(dictionary)
        }
        switch (entry.key, entry.value) {
        case (date, .string(let text)):
            guard let date = Date(rfc3339: text) else { throw Fault(.invalidDate(text), at: place) }
            return .date(date)
        case (data, .string(let text)):
            return .data(try text.withBytes { bytes in Result { () throws(Fault) in try base64Decoded(bytes, at: place) } }.get())
        case (uid, .integer(let number)):
            guard let number = UInt64(exactly: number) else { throw Fault(.integerOutOfRange(number.description), at: place) }
            return .uid(number)
        case (real, .string("nan")): return .real(.nan)
        case (real, .string("infinity")): return .real(.infinity)
        case (real, .string("-infinity")): return .real(-.infinity)
        default:
            let isDoubled = entry.key.utf8.dropFirst().first == UInt8(ascii: "$")
            guard isDoubled else { return .dictionary(dictionary) }
            return .dictionary([String(entry.key.dropFirst()): entry.value])
        }
    }
}

extension Date {
    /// The moment that an RFC 3339 text says: a date, `T` or a space, a time, an optional fraction, a zone.
    package init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        guard let dot = bytes.firstIndex(of: UInt8(ascii: ".")) else {
            self.init(bytes: bytes, fraction: 0)
            return
        }
        var end = dot + 1
        while end < bytes.count, bytes[end] &- 0x30 <= 9 { end += 1 }
        guard end > dot + 1, let fraction = Double("0." + String(decoding: bytes[(dot + 1)..<end], as: UTF8.self)) else {
            return nil
        }
        self.init(bytes: Array(bytes[..<dot] + bytes[end...]), fraction: fraction)
    }

    private init?(bytes: [UInt8], fraction: Double) {
        var body = bytes[...]
        var shift = 0
        if let last = body.last, last | 0x20 == UInt8(ascii: "z") {
            body.removeLast()
        } else {
            // ±hh:mm
            guard body.count > 6, let (minutes, zone) = Self.zone(body.suffix(6)) else { return nil }
            shift = minutes * 60
            body.removeLast(zone)
        }
        guard let separator = body.lastIndex(where: { $0 == UInt8(ascii: " ") || $0 | 0x20 == UInt8(ascii: "t") }),
            let date = body.withUnsafeBufferPointer({ CivilDate($0, separator: $0[separator - body.startIndex], zone: "") }),
            date.isValid, date.isInRange
        else { return nil }
        self.init(timeIntervalSinceReferenceDate: Double(date.secondsSinceReference - shift) + fraction)
    }

    /// The minutes east that `±hh:mm` says, and its length.
    private static func zone(_ text: ArraySlice<UInt8>) -> (minutes: Int, length: Int)? {
        let text = Array(text)
        guard text[0] == UInt8(ascii: "+") || text[0] == UInt8(ascii: "-"), text[3] == UInt8(ascii: ":"),
            let hours = UInt64(digits: text[1...2], radix: 10), let minutes = UInt64(digits: text[4...5], radix: 10),
            hours < 24, minutes < 60
        else { return nil }
        let east = Int(hours * 60 + minutes)
        return (text[0] == UInt8(ascii: "-") ? -east : east, 6)
    }
}

extension OutputBuffer {
    /// Writes RFC 3339 text in UTC with as much of a fraction as is needed to read the same moment back.
    ///
    /// False, and nothing is written, where the date is out of range.
    mutating func append(rfc3339 date: Date) -> Bool {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) <= CivilDate.greatestSeconds else { return false }
        let whole = seconds.rounded(.down)
        append(CivilDate(secondsSinceReference: Int(whole)), separator: UInt8(ascii: "T"))
        if seconds != whole { append(fractionOf: seconds, above: whole) }
        append(UInt8(ascii: "Z"))
        return true
    }

    /// Writes the fewest digits behind the point that, added to `whole`, give `seconds`.
    private mutating func append(fractionOf seconds: Double, above whole: Double) {
        let fraction = seconds - whole
        for digits in 1...17 {
            let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
            let rounded = (fraction * scale).rounded()
            let text = String(UInt64(rounded))
            guard rounded < scale, let value = Double("0." + String(repeating: "0", count: digits - text.utf8.count) + text),
                whole + value == seconds
            else { continue }
            append(UInt8(ascii: "."))
            append(repeating: UInt8(ascii: "0"), count: digits - text.utf8.count)
            append(text)
            return
        }
        // Far from zero the doubles are coarser than that, next to zero finer: all digits of the exact fraction.
        append(decimalExpansionOf: fraction)
    }

    /// Writes the point and all digits of a fraction below one: doubling powers end, so this does.
    private mutating func append(decimalExpansionOf fraction: Double) {
        append(UInt8(ascii: "."))
        // Each step is exact: the digits of m / 2^k by long division with ten, on the bits of m.
        var rest = fraction
        var digits = 0
        while rest > 0, digits < 40 {
            rest *= 10
            let digit = rest.rounded(.down)
            append(UInt8(ascii: "0") + UInt8(digit))
            rest -= digit
            digits += 1
        }
    }
}
