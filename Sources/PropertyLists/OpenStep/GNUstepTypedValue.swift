#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// GNUstep's typed values, as written in a file:
///
///     <*I-42>  <*R1.5>  <*BY>  <*D2001-02-03 04:05:06 +0000>  <[aGVsbG8=]>
///
/// GNUstep has no fractions of a second. This package writes the fraction after the zone,
/// `<*D2001-02-03 04:05:06 +0000 0.25>`, where GNUstep ignores it and reads the whole second.
extension OpenStepReader {
    mutating func readTypedValue() throws(Fault) -> PropertyList {
        let start = at
        at += 2
        guard at < count else { throw Fault(.unexpectedEnd(inside: "a typed value"), at: count) }
        let type = base[at]
        guard [UInt8(ascii: "I"), UInt8(ascii: "R"), UInt8(ascii: "B"), UInt8(ascii: "D")].contains(type) else {
            throw complaint(.expected("a type: I, R, B or D"))
        }
        at += 1
        let text = try readTypedText()
        switch type {
        case UInt8(ascii: "I"): return .integer(try integer(text, at: start))
        case UInt8(ascii: "R"): return .real(try real(text, at: start))
        case UInt8(ascii: "B"): return .boolean(try boolean(text, at: start))
        default: return .date(try date(text, at: start))
        }
    }

    /// Reads up to and including `>`. Returns the text before it, without quotes and surrounding white space.
    private mutating func readTypedText() throws(Fault) -> Bytes {
        let start = at
        while at < count, base[at] != UInt8(ascii: ">") {
            guard base[at] >= 0x20 || (0x09...0x0D).contains(base[at]) else { throw complaint(.noValue) }
            at += 1
        }
        guard at < count else { throw Fault(.unexpectedEnd(inside: "a typed value"), at: count) }
        defer { at += 1 }
        let text = trimmed(run(start, at))
        guard text.count >= 2, let first = text.first, first == text.last,
            first == UInt8(ascii: "\"") || first == UInt8(ascii: "'")
        else { return text }
        return trimmed(Bytes(rebasing: text[1..<(text.count - 1)]))
    }

    private func trimmed(_ text: Bytes) -> Bytes {
        func isSpace(_ character: UInt8) -> Bool { character == 0x20 || (0x09...0x0D).contains(character) }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return Bytes(rebasing: text[0..<0]) }
        return Bytes(rebasing: text[first...last])
    }

    private func integer(
        _ text: Bytes, at start: Int
    ) throws(Fault) -> PropertyList.Integer {
        if let number = PropertyList.Integer(decimal: text) { return number }
        let sign: [UInt8] = [UInt8(ascii: "-"), UInt8(ascii: "+")]
        let digits = text.first.map { sign.contains($0) } == true ? text.dropFirst() : text[...]
        let isNumber = !digits.isEmpty && digits.allSatisfy { $0 &- 0x30 <= 9 }
        throw Fault(isNumber ? .integerOutOfRange(excerpt(text)) : .invalidInteger(excerpt(text)), at: start)
    }

    private func real(_ text: Bytes, at start: Int) throws(Fault) -> Double {
        let (number, isDecimal) = text.real()
        if let number { return number }
        throw Fault(isDecimal ? .realOutOfRange(excerpt(text)) : .invalidReal(excerpt(text)), at: start)
    }

    private func boolean(_ text: Bytes, at start: Int) throws(Fault) -> Bool {
        guard text.count == 1, text[0] == UInt8(ascii: "Y") || text[0] == UInt8(ascii: "N") else {
            throw Fault(.expected("Y or N for a boolean"), at: start)
        }
        return text[0] == UInt8(ascii: "Y")
    }

    private func date(_ text: Bytes, at start: Int) throws(Fault) -> Date {
        let fields = text.split(separator: 0x20, maxSplits: 3, omittingEmptySubsequences: false)
        guard fields.count >= 3,
            let day = CivilDate(Bytes(rebasing: text[..<fields[1].endIndex]), separator: 0x20, zone: ""),
            day.isValid, let zone = secondsOfZone(fields[2])
        else { throw Fault(.invalidDate(excerpt(text)), at: start) }
        guard day.isInRange else { throw Fault(.dateOutOfRange(excerpt(text)), at: start) }
        var seconds = Double(day.secondsSinceReference - zone)
        if fields.count == 4 {
            let digits = Bytes(rebasing: fields[3])
            guard case (let fraction?, true) = digits.real(), abs(fraction) < 1
            else { throw Fault(.invalidDate(excerpt(text)), at: start) }
            seconds += fraction
        }
        guard abs(seconds) <= CivilDate.greatestSeconds else {
            throw Fault(.dateOutOfRange(excerpt(text)), at: start)
        }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// Parses a zone `±HHMM`. Returns its offset from UTC in seconds.
    private func secondsOfZone(_ zone: Slice<Bytes>) -> Int? {
        guard zone.count == 5, let sign = zone.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
            let number = UInt64(digits: zone.dropFirst(), radix: 10).map({ Int($0) }), number / 100 < 24,
            number % 100 < 60
        else { return nil }
        let seconds = number / 100 * 3600 + number % 100 * 60
        return sign == UInt8(ascii: "-") ? -seconds : seconds
    }

    private func excerpt(_ text: Bytes) -> String {
        String(decoding: text.prefix(200), as: UTF8.self)
    }
}
