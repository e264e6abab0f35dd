internal import Digests

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The notation of keys and scalars.
enum TOMLText {
    /// Whether a key may contain the byte without quotes.
    static func isBare(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- 0x30 <= 9 || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "-")
    }

    static func isBare(_ key: String) -> Bool { !key.isEmpty && key.utf8.allSatisfy { isBare($0) } }
}

/// The end of plain text in a basic string.
private enum BasicRun: RunEnds {
    static func stops(_ word: UInt64) -> UInt64 { JSONEscaping.stops(word) | ByteScan.matches(word, 0x7F) }
}

/// The end of plain text in a literal string.
private enum LiteralRun: RunEnds {
    static func stops(_ word: UInt64) -> UInt64 {
        ByteScan.below(word, 0x20) | ByteScan.matches(word, UInt8(ascii: "'")) | ByteScan.matches(word, 0x7F)
    }
}

// MARK: Strings

extension TOMLReader {
    /// Whether the quote at `place` begins a string of several lines.
    func isTripled(at place: Int) -> Bool {
        place + 2 < end && base[place + 1] == base[place] && base[place + 2] == base[place]
    }

    mutating func readBasicString() throws(Fault) -> String {
        let start = position + 1
        let run = BasicRun.run(in: base, from: start)
        guard run.end < end, base[run.end] == UInt8(ascii: "\"") else {
            return try readText(from: start, quote: UInt8(ascii: "\""), isLong: false)
        }
        position = run.end + 1
        return base.text(start..<run.end, isASCII: isASCII || run.isASCII)
    }

    mutating func readLiteralString() throws(Fault) -> String {
        let start = position + 1
        let run = LiteralRun.run(in: base, from: start)
        guard run.end < end, base[run.end] == UInt8(ascii: "'") else {
            return try readText(from: start, quote: UInt8(ascii: "'"), isLong: false)
        }
        position = run.end + 1
        return base.text(start..<run.end, isASCII: isASCII || run.isASCII)
    }

    mutating func readLongString(_ quote: UInt8) throws(Fault) -> String {
        position += 3
        _ = skipNewline()
        return try readText(from: position, quote: quote, isLong: true)
    }

    /// Reads the rest of a string that is not plain.
    @inline(never)
    private mutating func readText(from start: Int, quote: UInt8, isLong: Bool) throws(Fault) -> String {
        let opening = start - 1
        scratch.removeAll(keepingCapacity: true)
        position = start
        while true {
            guard position < end else { throw Fault(.unterminatedString, at: opening) }
            let byte = base[position]
            switch byte {
            case quote:
                let quotes = base[position...].prefix(isLong ? 5 : 1).prefix { $0 == quote }.count
                position += quotes
                guard isLong, quotes < 3 else {
                    scratch += [UInt8](repeating: quote, count: isLong ? quotes - 3 : 0)
                    return scratch.text(0..<scratch.count, isASCII: false)
                }
                scratch += [UInt8](repeating: quote, count: quotes)
            case UInt8(ascii: "\\") where quote == UInt8(ascii: "\""): try readEscape(ofStringAt: opening, isLong)
            case 0x0A, 0x0D:
                guard isLong, skipNewline() else {
                    let isOpen = byte == 0x0A || position + 1 < end && base[position + 1] == 0x0A
                    throw isLong || !isOpen
                        ? Fault(.invalidCharacter(UInt32(byte)), at: position) : Fault(.unterminatedString, at: opening)
                }
                scratch.append(0x0A)
            case 0x09, 0x20..<0x7F, 0x80...:
                scratch.append(byte)
                position += 1
            default: throw Fault(.invalidCharacter(UInt32(byte)), at: position)
            }
        }
    }

    private mutating func readEscape(ofStringAt opening: Int, _ isLong: Bool) throws(Fault) {
        let start = position
        guard start + 1 < end else { throw Fault(.unterminatedString, at: opening) }
        position += 2
        switch base[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): scratch.append(base[start + 1])
        case UInt8(ascii: "b"): scratch.append(UInt8(8))
        case UInt8(ascii: "t"): scratch.append(UInt8(9))
        case UInt8(ascii: "n"): scratch.append(UInt8(10))
        case UInt8(ascii: "f"): scratch.append(UInt8(12))
        case UInt8(ascii: "r"): scratch.append(UInt8(13))
        case UInt8(ascii: "e"):
            note("the escape \\e", at: start)
            scratch.append(UInt8(27))
        case UInt8(ascii: "x"):
            note("the escape \\x", at: start)
            try readCode(digits: 2, from: start)
        case UInt8(ascii: "u"): try readCode(digits: 4, from: start)
        case UInt8(ascii: "U"): try readCode(digits: 8, from: start)
        case 0x20, 0x09, 0x0A, 0x0D:
            guard isLong, skipLineEnd(from: start + 1) else {
                throw Fault(.invalidEscape(escape(at: start)), at: start)
            }
        default: throw Fault(.invalidEscape(escape(at: start)), at: start)
        }
    }

    /// Skips the white space after a backslash at the end of a line. Returns false if other text follows on the line.
    private mutating func skipLineEnd(from start: Int) -> Bool {
        position = start
        while position < end, base[position] == 0x20 || base[position] == 0x09 { position += 1 }
        guard skipNewline() else { return false }
        while position < end {
            if base[position] == 0x20 || base[position] == 0x09 { position += 1 } else if !skipNewline() { break }
        }
        return true
    }

    private mutating func readCode(digits: Int, from start: Int) throws(Fault) {
        let place = position..<min(position + digits, end)
        guard place.count == digits, let code = UInt64(digits: Bytes(base, place), radix: 16) else {
            throw Fault(.invalidEscape(escape(at: start)), at: start)
        }
        guard let scalar = UInt32(exactly: code).flatMap({ Unicode.Scalar($0) }) else {
            throw Fault(0xD800...0xDFFF ~= code ? .loneSurrogate : .invalidEscape(escape(at: start)), at: start)
        }
        position += digits
        scratch.append(scalar)
    }

    private func escape(at start: Int) -> String {
        String(
            String(decoding: base[start..<min(start + 10, end)], as: UTF8.self).prefix { !$0.isNewline && $0 != "\"" })
    }
}

// MARK: Numbers, dates and booleans

extension TOMLReader {
    mutating func readScalar() throws(Fault) -> PropertyList {
        let start = position
        if let date = try readDate() { return date }
        var stop = start
        while stop < end,
            TOMLText.isBare(base[stop]) || base[stop] == UInt8(ascii: "+") || base[stop] == UInt8(ascii: ".")
        {
            stop += 1
        }
        guard stop > start else { throw Fault(.expected("a value"), at: start) }
        let token = Bytes(base, start..<stop)
        position = stop
        if let small = token.smallInteger { return .integer(PropertyList.Integer(small)) }
        let text = String(decoding: token, as: UTF8.self)
        switch text {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "inf", "+inf": return .real(.infinity)
        case "-inf": return .real(-.infinity)
        case "nan", "+nan", "-nan": return .real(.nan)
        default: break
        }
        guard let first = text.utf8.first, first &- 0x30 <= 9 || "+-.".utf8.contains(first) else {
            position = start
            throw Fault(.expected("a value; a string needs quotes"), at: start)
        }
        let digits = token.filter { $0 != UInt8(ascii: "_") }
        switch TOMLNumber(token) {
        case .integer(let radix):
            let isNegative = digits.first == UInt8(ascii: "-")
            let rest = digits.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
            let magnitude = UInt64(digits: radix == 10 ? rest : rest.dropFirst(2), radix: UInt64(radix))
            let most: UInt64 = isNegative ? 1 << 63 : 1 << 63 - 1
            guard let magnitude, magnitude <= most,
                let number = PropertyList.Integer(magnitude: magnitude, isNegative: isNegative)
            else { throw Fault(.integerOutOfRange(text), at: start) }
            return .integer(number)
        case .real:
            guard let number = Bytes(digits).real().number else { throw Fault(.realOutOfRange(text), at: start) }
            return .real(number)
        case nil: throw Fault(.invalidTOML(text), at: start)
        }
    }
}

extension Bytes {
    /// A decimal integer of at most 18 digits without a sign, or nil.
    fileprivate var smallInteger: Int? {
        guard count <= 18, count == 1 || self[0] != 0x30 else { return nil }
        var value = 0
        for byte in self {
            let digit = byte &- 0x30
            guard digit <= 9 else { return nil }
            value = value &* 10 &+ Int(digit)
        }
        return value
    }
}

/// The grammar of numbers.
private enum TOMLNumber {
    case integer(radix: Int)
    case real

    /// Creates the kind of a number, or returns nil if the text is none.
    init?(_ text: Bytes) {
        var rest = text[...]
        let hasSign = rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-")
        if hasSign { rest = rest.dropFirst() }
        if !hasSign, rest.first == 0x30, let mark = rest.dropFirst().first,
            let radix = [UInt8(ascii: "x"): 16, UInt8(ascii: "o"): 8, UInt8(ascii: "b"): 2][mark]
        {
            rest = rest.dropFirst(2)
            guard Self.takeDigits(&rest, radix: UInt8(radix)) > 0, rest.isEmpty else { return nil }
            self = .integer(radix: radix)
            return
        }
        let beginsWithZero = rest.first == 0x30
        let whole = Self.takeDigits(&rest, radix: 10)
        guard whole > 0, !beginsWithZero || whole == 1 else { return nil }
        self = .integer(radix: 10)
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard Self.takeDigits(&rest, radix: 10) > 0 else { return nil }
            self = .real
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard Self.takeDigits(&rest, radix: 10) > 0 else { return nil }
            self = .real
        }
        guard rest.isEmpty else { return nil }
    }

    /// Takes digits with single underscores between them, and returns the number of bytes; 0 if they are not so.
    private static func takeDigits(_ text: inout Slice<Bytes>, radix: UInt8) -> Int {
        var (count, isAfterDigit) = (0, false)
        while let byte = text.first {
            if byte == UInt8(ascii: "_") {
                guard isAfterDigit else { return 0 }
                isAfterDigit = false
            } else if let digit = Hexadecimal.value(ofDigit: byte), digit < radix {
                isAfterDigit = true
            } else {
                break
            }
            count += 1
            text = text.dropFirst()
        }
        return isAfterDigit ? count : 0
    }
}

// MARK: Dates

extension TOMLReader {
    /// Reads a date, a time, or both, if one begins here.
    private mutating func readDate() throws(Fault) -> PropertyList? {
        guard let notation = TOMLDate(base, from: position, to: end) else { return nil }
        let start = position
        position = notation.range.upperBound
        let text = String(decoding: base[start..<position], as: UTF8.self)
        guard notation.isValid else { throw Fault(.invalidDate(text), at: start) }
        if notation.lacksSeconds { note("a time without seconds", at: start) }
        guard notation.isLocal else {
            guard let date = notation.date(in: base) else { throw Fault(.dateOutOfRange(text), at: start) }
            return .date(date)
        }
        return .string(text)
    }
}

/// The notation of a date, a time, or both.
///
/// Without an offset from UTC it is local, and no instant: its value is a string.
struct TOMLDate {
    let range: Range<Int>
    private var civil = CivilDate(year: 2000, month: 1, day: 1)
    private var fraction: Range<Int>?
    /// The offset from UTC in seconds, or nil if it is local.
    private var offset: Int?
    private(set) var isValid = true
    private(set) var lacksSeconds = false

    var isLocal: Bool { offset == nil }

    /// Scans the text at `start`, or returns nil if neither a date nor a time begins there.
    init?(_ text: [UInt8], from start: Int, to end: Int) {
        var at = start
        func isDigit(_ place: Int) -> Bool { place < end && text[place] &- 0x30 <= 9 }
        func number(_ digits: Int) -> Int? {
            guard (at..<at + digits).allSatisfy(isDigit) else { return nil }
            defer { at += digits }
            return text[at..<at + digits].reduce(0) { $0 * 10 + Int($1 &- 0x30) }
        }
        func skip(_ byte: UInt8) -> Bool {
            guard at < end, text[at] == byte else { return false }
            at += 1
            return true
        }
        let hasDate = start + 4 < end && (start..<start + 4).allSatisfy(isDigit) && text[start + 4] == UInt8(ascii: "-")
        let hasTime = start + 2 < end && isDigit(start) && isDigit(start + 1) && text[start + 2] == UInt8(ascii: ":")
        guard hasDate || hasTime else { return nil }
        var isComplete = true
        var takesTime = hasTime
        if hasDate {
            if let year = number(4), skip(UInt8(ascii: "-")), let month = number(2), skip(UInt8(ascii: "-")),
                let day = number(2)
            {
                civil = CivilDate(year: year, month: month, day: day)
            } else {
                isComplete = false
            }
            if isComplete, at < end {
                takesTime = text[at] | 0x20 == UInt8(ascii: "t") || text[at] == 0x20 && isDigit(at + 1)
                if takesTime { at += 1 }
            }
        }
        if isComplete, takesTime {
            if let hour = number(2), skip(UInt8(ascii: ":")), let minute = number(2) {
                (civil.hour, civil.minute) = (hour, minute)
                if skip(UInt8(ascii: ":")) {
                    if let second = number(2) { civil.second = second } else { isComplete = false }
                    if isComplete, skip(UInt8(ascii: ".")) {
                        let first = at
                        while isDigit(at) { at += 1 }
                        fraction = first..<at
                        if first == at { isComplete = false }
                    }
                } else {
                    lacksSeconds = true
                }
            } else {
                isComplete = false
            }
            if isComplete, hasDate, at < end {
                if text[at] | 0x20 == UInt8(ascii: "z") {
                    at += 1
                    offset = 0
                } else if text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") {
                    let sign = skip(UInt8(ascii: "-")) ? -1 : 1
                    if sign > 0 { at += 1 }
                    if let hours = number(2), skip(UInt8(ascii: ":")), let minutes = number(2), hours < 24, minutes < 60
                    {
                        offset = sign * (hours * 3600 + minutes * 60)
                    } else {
                        isComplete = false
                    }
                }
            }
        }
        // Whatever continues the word makes it another text.
        if at < end, TOMLText.isBare(text[at]) || ".:+".utf8.contains(text[at]) { isComplete = false }
        while at < end, TOMLText.isBare(text[at]) || ".:+".utf8.contains(text[at]) { at += 1 }
        range = start..<at
        // RFC 3339 has a second 60, which is the next minute.
        var checked = civil
        if checked.second == 60 { checked.second = 59 }
        isValid = isComplete && checked.isValid
    }

    /// Whether the text is a local date, time, or both.
    static func isLocal(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let notation = TOMLDate(bytes, from: 0, to: bytes.count) else { return false }
        return notation.isValid && notation.isLocal && notation.range.upperBound == bytes.count
    }

    fileprivate func date(in text: [UInt8]) -> Date? {
        guard let offset else { return nil }
        let whole = Date(timeIntervalSinceReferenceDate: Double(civil.secondsSinceReference - offset))
        guard let fraction, let base = whole.rfc3339 else { return whole }
        // The fraction is read with the seconds, so that the nearest number is found.
        return Date(rfc3339: base.dropLast() + "." + String(decoding: text[fraction], as: UTF8.self) + "Z")
    }
}

// MARK: Edits

extension TOMLText {
    /// The text of a scalar in the notation of the text that it replaces, or nil.
    static func scalar(_ scalar: PropertyList, like former: [UInt8]) -> [UInt8]? {
        let notation = String(decoding: former, as: UTF8.self)
        switch scalar {
        case .string(let text):
            if TOMLDate.isLocal(notation) { return TOMLDate.isLocal(text) ? Array(text.utf8) : nil }
            return ["\"\"\"", "'''"].first { notation.hasPrefix($0) }.flatMap { long(text, $0, like: notation) }
        case .integer(let number) where !number.isNegative:
            let radices: [(String, Int)] = [("0x", 16), ("0o", 8), ("0b", 2)]
            guard let (mark, radix) = radices.first(where: { notation.hasPrefix($0.0) }),
                number.magnitude < 1 << 63
            else { return nil }
            let isUppercase = notation.dropFirst(2).contains(where: \.isUppercase)
            return Array((mark + String(number.magnitude, radix: radix, uppercase: isUppercase)).utf8)
        default: return nil
        }
    }

    /// A string of several lines in the quotes of a former one, or nil if they cannot hold it.
    private static func long(_ text: String, _ quotes: String, like former: String) -> [UInt8]? {
        let newline = former.contains("\r\n") ? "\r\n" : "\n"
        let beginsLine = former.dropFirst(3).first?.isNewline ?? false || text.utf8.first == 0x0A
        var body = ""
        if quotes == "'''" {
            let runs = text.utf8.split { $0 != UInt8(ascii: "'") }
            guard text.utf8.allSatisfy({ ($0 >= 0x20 || $0 == 0x09 || $0 == 0x0A) && $0 != 0x7F }),
                runs.allSatisfy({ $0.count < 3 }), text.utf8.last != UInt8(ascii: "'")
            else { return nil }
            for scalar in text.unicodeScalars {
                if scalar == "\n" { body += newline } else { body.unicodeScalars.append(scalar) }
            }
        } else {
            var quotesInRow = 0
            for (index, scalar) in text.unicodeScalars.enumerated() {
                let isLast = index == text.unicodeScalars.count - 1
                quotesInRow = scalar == "\"" ? quotesInRow + 1 : 0
                switch scalar {
                case "\n": body += newline
                case "\t": body += "\t"
                case "\"" where quotesInRow < 3 && !isLast: body += "\""
                default:
                    quotesInRow = 0
                    guard let escaped = try? TOMLWriter.text(.string(String(scalar)), .default) else { return nil }
                    body += String(decoding: escaped.dropFirst().dropLast(), as: UTF8.self)
                }
            }
        }
        return Array((quotes + (beginsLine ? newline : "") + body + quotes).utf8)
    }
}
