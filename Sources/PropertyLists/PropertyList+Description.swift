#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList: CustomStringConvertible {
    /// The value on one line, for people: `{name: "Ada", tags: ["a", 1.5], since: 2001-01-01T00:00:00Z, id: <0102>}`.
    ///
    /// Use `serialized(as:options:)` for text that a program reads.
    public var description: String {
        var text = ""
        describe(into: &text)
        return text
    }

    private func describe(into text: inout String) {
        switch self {
        case .string(let string): text += string.quoted
        case .integer(let number): text += number.description
        case .real(let number): text += number.description
        case .boolean(let flag): text += flag ? "true" : "false"
        case .date(let date): text += date.shownText
        case .data(let data): text += data.shownText
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                element.describe(into: &text)
            }
            text += "]"
        case .dictionary(let entries): entries.describe(into: &text)
        case .uid(let number): text += "uid \(number)"
        case .null: text += "null"
        }
    }
}

extension PropertyList.Dictionary: CustomStringConvertible {
    /// The entries on one line, for people.
    public var description: String { PropertyList.dictionary(self).description }

    fileprivate func describe(into text: inout String) {
        text += "{"
        for (index, entry) in enumerated() {
            if index > 0 { text += ", " }
            text += "\(entry.key.isWord ? entry.key : entry.key.quoted): \(entry.value)"
        }
        text += "}"
    }
}

extension PropertyList: CustomDebugStringConvertible {
    /// The value as it is written in Swift, with its kinds: `.dictionary(["a": .integer(1)])`.
    public var debugDescription: String {
        switch self {
        case .string(let text): ".string(\(text.quoted))"
        case .integer(let number): ".integer(\(number))"
        case .real(let number): ".real(\(number))"
        case .boolean(let flag): ".boolean(\(flag))"
        case .date(let date): ".date(\(date.shownText))"
        case .data(let data): ".data(\(data.shownText))"
        case .array(let elements): ".array([\(elements.map(\.debugDescription).joined(separator: ", "))])"
        case .dictionary(let entries):
            entries.isEmpty
                ? ".dictionary([:])"
                : ".dictionary([\(entries.map { "\($0.key.quoted): \($0.value.debugDescription)" }.joined(separator: ", "))])"
        case .uid(let number): ".uid(\(number))"
        case .null: ".null"
        }
    }
}

extension String {
    /// The text in quotes, escaped to fit on one line.
    fileprivate var quoted: String {
        let escaped = unicodeScalars.contains { $0 == "\"" || $0 == "\\" }
        let text = escaped ? replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") : self
        return "\"\(text.shown)\""
    }

    /// Whether the text is letters, digits and underscores, so that it needs no quotes.
    fileprivate var isWord: Bool {
        !isEmpty && utf8.allSatisfy { $0 | 0x20 &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == UInt8(ascii: "_") }
    }
}

extension Date {
    fileprivate var shownText: String { nearestRFC3339 ?? "date \(timeIntervalSinceReferenceDate)" }
}

extension Data {
    /// The first bytes in hexadecimal digits.
    fileprivate var shownText: String {
        "<\(Data(prefix(32)).hexadecimal)\(count > 32 ? "… \(count) bytes" : "")>"
    }
}
