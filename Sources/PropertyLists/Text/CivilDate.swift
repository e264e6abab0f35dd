#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A date and time in the proleptic Gregorian calendar, in UTC.
struct CivilDate: Equatable {
    var year: Int
    var month: Int
    var day: Int
    var hour = 0
    var minute = 0
    var second = 0

    /// The limit of dates that are read or written, in seconds before or after 2001: 317,000 years.
    static let greatestSeconds = 1e13

    /// The days from 1970-01-01 to 2001-01-01.
    private static let referenceDay = 11_323

    /// Creates a date from whole seconds since 2001-01-01.
    init(secondsSinceReference seconds: Int) {
        let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
        let rest = seconds - days * 86_400
        // Years begin in March here, so that a leap day is the last day of its year.
        let day = days + Self.referenceDay + 719_468
        let era = (day >= 0 ? day : day - 146_096) / 146_097
        let dayOfEra = day - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
    }

    init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// Whether the date and time exist.
    var isValid: Bool {
        guard 1...12 ~= month, 0...23 ~= hour, 0...59 ~= minute, 0...59 ~= second, day >= 1 else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        switch month {
        case 2: return day <= (isLeap ? 29 : 28)
        case 4, 6, 9, 11: return day <= 30
        default: return day <= 31
        }
    }

    /// The seconds since 2001-01-01. A month, day, hour, minute or second beyond its range is carried over.
    var secondsSinceReference: Int {
        let carried = (month + 11) / 12 - 1
        let (year, month) = (year + carried, month - 12 * carried)
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468 - Self.referenceDay
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }
}

extension CivilDate {
    /// Parses `[-]Y+-MM-DDThh:mm:ssZ`, with `separator` in place of `T` and `zone` in place of `Z`.
    ///
    /// Returns nil if the text has another form. A date that does not exist is accepted; see `isValid`.
    init?(_ text: Bytes, separator: UInt8 = UInt8(ascii: "T"), zone: String = "Z") {
        var at = 0
        func number(_ digits: Int) -> Int? {
            guard at + digits <= text.count else { return nil }
            var value = 0
            for _ in 0..<digits {
                let digit = text[at] &- 0x30
                guard digit <= 9 else { return nil }
                value = value * 10 + Int(digit)
                at += 1
            }
            return value
        }
        func skip(_ character: UInt8) -> Bool {
            guard at < text.count, text[at] == character else { return false }
            at += 1
            return true
        }
        let isNegative = skip(UInt8(ascii: "-"))
        var yearDigits = 0
        while at + yearDigits < text.count, text[at + yearDigits] &- 0x30 <= 9 { yearDigits += 1 }
        // A year of more than 18 digits is out of range.
        guard (1...18).contains(yearDigits), let year = number(yearDigits), skip(UInt8(ascii: "-")),
            let month = number(2), skip(UInt8(ascii: "-")), let day = number(2), skip(separator),
            let hour = number(2), skip(UInt8(ascii: ":")), let minute = number(2), skip(UInt8(ascii: ":")),
            let second = number(2)
        else { return nil }
        guard text[at...].elementsEqual(zone.utf8) else { return nil }
        self.init(
            year: isNegative ? -year : year, month: month, day: day, hour: hour, minute: minute, second: second)
    }

    /// Whether the year is within the range that is read and written.
    var isInRange: Bool {
        (-320_000...320_000).contains(year) && abs(Double(secondsSinceReference)) <= Self.greatestSeconds
    }
}

extension OutputBuffer {
    /// Writes `[-]YYYY-MM-DD`, the separator and `hh:mm:ss`, with more digits for the year if required.
    mutating func append(_ date: CivilDate, separator: UInt8) {
        reserve(48)
        if date.year < 0 { append(UInt8(ascii: "-")) }
        let year = date.year.magnitude
        if year < 1000 { append(repeating: 0x30, count: year < 10 ? 3 : year < 100 ? 2 : 1) }
        append(decimal: UInt64(year))
        append(UInt8(ascii: "-"), twoDigits: date.month)
        append(UInt8(ascii: "-"), twoDigits: date.day)
        append(separator, twoDigits: date.hour)
        append(UInt8(ascii: ":"), twoDigits: date.minute)
        append(UInt8(ascii: ":"), twoDigits: date.second)
    }

    private mutating func append(_ mark: UInt8, twoDigits number: Int) {
        append(mark)
        append(0x30 + UInt8(truncatingIfNeeded: number / 10))
        append(0x30 + UInt8(truncatingIfNeeded: number % 10))
    }
}

extension Date {
    /// The date as RFC 3339 text in UTC, or nil if no text represents it exactly.
    package var rfc3339: String? { rfc3339(isLossy: false) }

    /// The date as RFC 3339 text in UTC, rounded down to a second if no text represents it exactly. Nil beyond the
    /// range of years.
    package var nearestRFC3339: String? { rfc3339(isLossy: true) }

    private func rfc3339(isLossy: Bool) -> String? {
        var output = OutputBuffer(capacity: 64)
        guard output.append(rfc3339: self, isLossy: isLossy) else { return nil }
        return String(decoding: output.data(), as: UTF8.self)
    }

    /// The date rounded down to a second, such as `2001-02-03 04:05:06 +0000`. Nil beyond the range of years.
    package var spacedText: String? {
        let seconds = timeIntervalSinceReferenceDate
        guard seconds.isFinite, abs(seconds) <= CivilDate.greatestSeconds else { return nil }
        var output = OutputBuffer(capacity: 64)
        output.append(CivilDate(secondsSinceReference: Int(seconds.rounded(.down))), separator: UInt8(ascii: " "))
        output.append(text: " +0000")
        return String(decoding: output.data(), as: UTF8.self)
    }

    /// Parses `2001-02-03 04:05:06 +0000` in any zone, with an optional fraction of a second.
    package init?(spaced text: String) {
        let fields = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard fields.count == 3, fields[2].count == 5 else { return nil }
        let zone = Array(fields[2])
        let bytes = Array(fields[0]) + [UInt8(ascii: "T")] + fields[1] + zone[..<3] + [UInt8(ascii: ":")] + zone[3...]
        self.init(rfc3339: String(decoding: bytes, as: UTF8.self))
    }
}
