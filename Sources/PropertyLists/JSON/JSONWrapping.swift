#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Dictionaries with one key that represent values of types that JSON does not support.
///
///     {"$date": "2001-02-03T04:05:06Z"}   {"$data": "AQID"}   {"$uid": 1}   {"$real": "nan"}
///
/// A date that RFC 3339 text cannot represent exactly is a number: seconds since 2001-01-01 in UTC. Seconds that are
/// not finite are a text, as for a real: `nan`, `infinity` or `-infinity`. If the only key of a dictionary begins with
/// `$`, that `$` is doubled, except in the keys of opened archives, which no wrapping uses.
enum JSONWrapping {
    static let date = "$date"
    static let data = "$data"
    static let uid = "$uid"
    static let real = "$real"

    /// Whether the `$` of a key is doubled if the key is the only one of its dictionary.
    static func isDoubled(_ key: String) -> Bool {
        key.utf8.first == UInt8(ascii: "$") && !ArchiveKey.all.contains { $0.utf8.elementsEqual(key.utf8) }
    }

    /// Returns the value that a dictionary represents.
    static func unwrapped(_ dictionary: PropertyList.Dictionary, at place: Int) throws(Fault) -> PropertyList {
        guard dictionary.count == 1, let entry = dictionary.first, entry.key.utf8.first == UInt8(ascii: "$") else {
            return .dictionary(dictionary)
        }
        switch (entry.key, entry.value) {
        case (date, .string(let text)):
            if let seconds = nonFinite(text) { return .date(Date(timeIntervalSinceReferenceDate: seconds)) }
            guard let date = Date(rfc3339: text) else { throw Fault(.invalidDate(text), at: place) }
            return .date(date)
        case (date, .real(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        // Another tool may have omitted the point.
        case (date, .integer(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: seconds.asDouble))
        case (data, .string(let text)):
            return .data(try decoded(text, at: place))
        case (uid, .integer(let number)):
            guard let number = UInt64(exactly: number) else {
                throw Fault(.integerOutOfRange(number.description), at: place)
            }
            return .uid(number)
        case (real, .string(let text)): return nonFinite(text).map { .real($0) } ?? .dictionary(dictionary)
        default:
            let isDoubled = entry.key.utf8.dropFirst().first == UInt8(ascii: "$")
            guard isDoubled else { return .dictionary(dictionary) }
            return .dictionary([String(entry.key.dropFirst()): entry.value])
        }
    }
}

extension JSONWrapping {
    /// The name of a number that is not finite.
    static func name(ofNonFinite number: Double) -> String {
        number.isNaN ? "nan" : number < 0 ? "-infinity" : "infinity"
    }

    /// The number with the name, or nil if there is none.
    private static func nonFinite(_ name: String) -> Double? {
        switch name {
        case "nan": .nan
        case "infinity": .infinity
        case "-infinity": -.infinity
        default: nil
        }
    }

    /// Decodes base64. A failure has the offset of the dictionary, because escapes shift the offsets inside its text.
    private static func decoded(_ text: String, at place: Int) throws(Fault) -> Data {
        do throws(Fault) {
            return try base64Decoded(Bytes(Array(text.utf8)), at: 0)
        } catch {
            throw Fault(error.problem, at: place)
        }
    }
}

extension Date {
    /// Parses RFC 3339 text: a date, `T` or a space, a time, an optional fraction, and a zone.
    package init?(rfc3339 text: String) {
        let bytes = Array(text.utf8)
        guard let dot = bytes.firstIndex(of: UInt8(ascii: ".")) else {
            self.init(bytes: bytes, fraction: 0)
            return
        }
        var end = dot + 1
        while end < bytes.count, bytes[end] &- 0x30 <= 9 { end += 1 }
        // The fraction is after `:ss` and before `Z` or `±hh:mm`.
        guard dot >= 3, bytes[dot - 3] == UInt8(ascii: ":"), [1, 6].contains(bytes.count - end), end > dot + 1,
            let fraction = Double("0." + String(decoding: bytes[(dot + 1)..<end], as: UTF8.self))
        else { return nil }
        self.init(bytes: Array(bytes[..<dot] + bytes[end...]), fraction: fraction)
    }

    private init?(bytes: [UInt8], fraction: Double) {
        var body = bytes[...]
        var shift = 0
        if let last = body.last, last | 0x20 == UInt8(ascii: "z") {
            body.removeLast()
        } else {
            // ±hh:mm
            guard body.count > 6, let minutes = Self.zone(body.suffix(6)) else { return nil }
            shift = minutes * 60
            body.removeLast(6)
        }
        guard let separator = body.lastIndex(where: { $0 == UInt8(ascii: " ") || $0 | 0x20 == UInt8(ascii: "t") }),
            let date = CivilDate(Bytes(Array(body)), separator: body[separator], zone: ""),
            date.isValid, date.isInRange
        else { return nil }
        self.init(timeIntervalSinceReferenceDate: Double(date.secondsSinceReference - shift) + fraction)
    }

    /// Parses a zone `±hh:mm`. Returns the minutes east of UTC.
    private static func zone(_ text: ArraySlice<UInt8>) -> Int? {
        let text = Array(text)
        guard text[0] == UInt8(ascii: "+") || text[0] == UInt8(ascii: "-"), text[3] == UInt8(ascii: ":"),
            let hours = UInt64(digits: text[1...2], radix: 10), let minutes = UInt64(digits: text[4...5], radix: 10),
            hours < 24, minutes < 60
        else { return nil }
        let east = Int(hours * 60 + minutes)
        return text[0] == UInt8(ascii: "-") ? -east : east
    }
}

extension OutputBuffer {
    /// Writes RFC 3339 text in UTC, with the shortest fraction that is read back as the same date.
    ///
    /// Returns false and writes nothing if no text represents the date exactly, unless `isLossy` allows the whole
    /// second.
    mutating func append(rfc3339 date: Date, isLossy: Bool) -> Bool {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) <= CivilDate.greatestSeconds else { return false }
        let whole = seconds.rounded(.down)
        let exact = seconds == whole ? "" : fraction(of: seconds, above: whole)
        guard let fraction = exact ?? (isLossy ? "" : nil) else { return false }
        append(CivilDate(secondsSinceReference: Int(whole)), separator: UInt8(ascii: "T"))
        append(text: fraction)
        append(UInt8(ascii: "Z"))
        return true
    }
}

/// Returns a point and the fewest digits that, added to `whole`, give `seconds`, or nil if 17 digits do not suffice.
private func fraction(of seconds: Double, above whole: Double) -> String? {
    var scale = 1.0
    for digits in 1...17 {
        scale *= 10
        let rounded = ((seconds - whole) * scale).rounded()
        let text = String(UInt64(rounded))
        let padded = String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
        if rounded < scale, let value = Double("0." + padded), whole + value == seconds { return "." + padded }
    }
    return nil
}
