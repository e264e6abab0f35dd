package import Foundation
package import PropertyLists

/// The notation for the expected values of test cases.
///
/// Strings `"a\n\u{E9}"`, integers `1`, reals `1.0` `-0.0` `1e300` `nan` `inf`, `true`, dates `@2001-01-01T00:00:00Z`
/// or in seconds from then `@(0.5)`, data `<00 FF>`, `uid(1)`, arrays `[1, 2]`, dictionaries `{key: 1, "a key": 2}`.
package struct ValueNotation {
    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    private var rest: Substring.UnicodeScalarView

    package static func value(_ text: String) throws -> PropertyList {
        var notation = ValueNotation(rest: text[...].unicodeScalars)
        let value = try notation.value()
        notation.skipSpace()
        guard notation.rest.isEmpty else { throw notation.mistake("unexpected text after the value") }
        return value
    }

    /// Parses a quoted string.
    package static func string(_ text: String) throws -> String {
        guard case .string(let string) = try value(text) else {
            throw Mistake(description: "no string: \(text)")
        }
        return string
    }
}

extension ValueNotation {
    private mutating func value() throws -> PropertyList {
        skipSpace()
        guard let first = rest.first else { throw mistake("no value") }
        switch first {
        case "\"": return .string(try quoted())
        case "<": return .data(try data())
        case "@": return .date(try date())
        case "[":
            var elements: [PropertyList] = []
            try list(until: "]") { notation in elements.append(try notation.value()) }
            return .array(elements)
        case "{":
            var dictionary = PropertyList.Dictionary()
            try list(until: "}") { notation in
                let key = notation.rest.first == "\"" ? try notation.quoted() : notation.word()
                guard notation.take(":") else { throw notation.mistake("a key without a colon") }
                dictionary[key] = try notation.value()
            }
            return .dictionary(dictionary)
        default: return try scalar()
        }
    }

    private mutating func list(until end: Unicode.Scalar, element: (inout Self) throws -> Void) throws {
        rest.removeFirst()
        while !take(end) {
            try element(&self)
            if !take(","), rest.first != end { throw mistake("neither a comma nor \(end)") }
            skipSpace()
        }
    }

    private mutating func scalar() throws -> PropertyList {
        let word = word()
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "null": return .null
        case "uid":
            guard take("("), let number = UInt64(self.word()), take(")") else {
                throw mistake("not a uid")
            }
            return .uid(number)
        default: break
        }
        if let number = Int64(word) { return .integer(PropertyList.Integer(number)) }
        if let number = UInt64(word) { return .integer(PropertyList.Integer(number)) }
        guard let number = Double(word) else { throw mistake("not a value: \(word)") }
        return .real(number)
    }

    private mutating func quoted() throws -> String {
        rest.removeFirst()
        var result = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(result)
            case "\\": result.append(try escape())
            default: result.append(scalar)
            }
        }
        throw mistake("a string without an end")
    }

    private mutating func escape() throws -> Unicode.Scalar {
        switch rest.popFirst() {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "0": return "\0"
        case let other? where other == "\"" || other == "\\": return other
        case "u":
            guard take("{"), let code = UInt32(word(), radix: 16), let scalar = Unicode.Scalar(code),
                take("}")
            else {
                throw mistake("not a character")
            }
            return scalar
        default: throw mistake("an unknown escape")
        }
    }

    private mutating func data() throws -> Data {
        rest.removeFirst()
        let digits = rest.prefix { $0 != ">" }
        rest = rest.dropFirst(digits.count + 1)
        return try Data(hex: String(String.UnicodeScalarView(digits)))
    }

    private mutating func date() throws -> Date {
        rest.removeFirst()
        if take("(") {
            guard let seconds = Double(word()), take(")") else { throw mistake("not seconds") }
            return Date(timeIntervalSinceReferenceDate: seconds)
        }
        let text = String(String.UnicodeScalarView(rest.prefix { $0 != "Z" }))
        rest = rest.dropFirst(text.unicodeScalars.count + 1)
        let isNegative = text.hasPrefix("-")
        let numbers = text.split(whereSeparator: { "-T:".contains($0) }).compactMap { Int($0) }
        guard numbers.count == 6 else { throw mistake("not a date") }
        let days = daysFrom2001(
            year: isNegative ? -numbers[0] : numbers[0], month: numbers[1], day: numbers[2])
        let seconds = days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        return Date(timeIntervalSinceReferenceDate: Double(seconds))
    }

    /// Computed from the lengths of years and months, because the tested code uses a formula.
    private func daysFrom2001(year: Int, month: Int, day: Int) -> Int {
        func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        // 400 years have 146 097 days.
        let cycles = Int((Double(year - 2001) / 400).rounded(.down))
        var days = cycles * 146_097
        for year in 2001 + cycles * 400..<year { days += isLeap(year) ? 366 : 365 }
        return days + lengths[..<(month - 1)].reduce(0, +) + day - 1
    }

    private mutating func word() -> String {
        let scalars = rest.prefix {
            $0.properties.isAlphabetic || "0123456789+-._$".unicodeScalars.contains($0)
        }
        rest = rest.dropFirst(scalars.count)
        return String(String.UnicodeScalarView(scalars))
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        skipSpace()
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipSpace() { rest = rest.drop { $0 == " " || $0 == "\n" || $0 == "\t" } }

    private func mistake(_ what: String) -> Mistake {
        Mistake(description: "\(what), before “\(String(String.UnicodeScalarView(rest.prefix(30))))”")
    }
}

extension Data {
    /// Parses pairs of hexadecimal digits. White space is ignored, and `#` starts a comment.
    package init(hex text: String) throws {
        self.init()
        for line in text.split(whereSeparator: \.isNewline) {
            let digits = line.prefix { $0 != "#" }.filter { !$0.isWhitespace }
            guard digits.count.isMultiple(of: 2) else {
                throw ValueNotation.Mistake(description: "half a byte in: \(line)")
            }
            var at = digits.startIndex
            while at < digits.endIndex {
                let next = digits.index(at, offsetBy: 2)
                guard let byte = UInt8(digits[at..<next], radix: 16) else {
                    throw ValueNotation.Mistake(description: "not hexadecimal: \(line)")
                }
                append(byte)
                at = next
            }
        }
    }

    package var hex: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
