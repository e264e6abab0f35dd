package import PropertyLists
internal import SettingsSchema

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension PropertyList {
    /// The value as a row of a tree shows it, in about `limit` characters at most.
    package func shownValue(limit: Int) -> String {
        switch self {
        case .array(let elements): return elements.count == 1 ? "1 element" : "\(elements.count) elements"
        case .dictionary(let entries): return entries.count == 1 ? "1 entry" : "\(entries.count) entries"
        case .data(let data):
            let digits = data.prefix(max(0, limit / 2)).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return "\(data.count) bytes" + (data.isEmpty ? "" : "  \(digits.joined())")
        case .string(let text):
            return text.isEmpty ? "\"\"" : text.beginning(limit + 1)
        default: return plainText
        }
    }

    /// The beginning of the value in a notation like JSON, for display.
    package func beginning(limit: Int) -> String {
        var text = ""
        append(to: &text, limit)
        return text
    }

    private func append(to text: inout String, _ limit: Int) {
        guard text.utf8.count <= limit else { return }
        switch self {
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() where text.utf8.count <= limit || index == 0 {
                if index > 0 { text += ", " }
                element.append(to: &text, limit)
                if text.utf8.count > limit { return }
            }
            text += "]"
        case .dictionary(let entries):
            text += "{"
            for (index, entry) in entries.enumerated() {
                if index > 0 { text += ", " }
                text += entry.key.beginning(limit).quoted + ": "
                entry.value.append(to: &text, limit)
                if text.utf8.count > limit { return }
            }
            text += "}"
        case .string(let string):
            text += string.beginning(limit).quoted + (string.utf8.count > limit && string.count > limit ? "…" : "")
        case .data: text += shownValue(limit: limit)
        default: text += plainText
        }
    }
}

extension String {
    fileprivate func beginning(_ limit: Int) -> String { utf8.count <= limit ? self : String(prefix(limit)) }

    fileprivate var quoted: String {
        if utf8.allSatisfy({ 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            return "\"" + self + "\""
        }
        return (try? PropertyList.string(self).serialized(as: .json)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

extension ValueRule {
    /// Parses the text that a user typed for a new value without a rule. Valid JSON is read as JSON, other text that
    /// begins with a bracket as a property list, and any other text as a string.
    static func newValue(ofText text: String) -> PropertyList {
        var options = PropertyList.ReadingOptions()
        options.inexactIntegers = .refused
        if let value = try? PropertyList(parsing: text, as: .json, options: options), value != .null { return value }
        if let first = text.first, "[{(<".contains(first),
            let value = try? PropertyList(parsing: text, options: options)
        {
            return value
        }
        return .string(text)
    }

    /// Parses the text that a user typed, and checks it.
    func checkedValue(ofText text: String, isSecret: Bool = false) throws(Schema.Problem.Reason) -> PropertyList {
        let value = try value(ofText: text)
        if let problem = problems(with: value, isSecret: isSecret).first { throw problem.reason }
        return value
    }
}

extension PropertyList {
    /// Returns the value converted to another type, or nil if information would be lost.
    package func converted(to kind: Kind) -> PropertyList? {
        if kind == self.kind { return self }
        if isBlank {
            switch kind {
            case .string: return ""
            case .integer: return .integer(0)
            case .real: return .real(0)
            case .boolean: return .boolean(false)
            case .date: return .date(Date(timeIntervalSinceReferenceDate: 0))
            case .data: return .data(Data())
            case .array: return .array([])
            case .dictionary: return .dictionary([:])
            case .uid, .null: return nil
            }
        }
        switch (self, kind) {
        case (_, .array): return .array([self])
        case (.array(let elements), _) where elements.count == 1: return elements[0].converted(to: kind)
        case (.array, _), (.dictionary, _), (_, .dictionary), (_, .uid), (_, .null): return nil
        case (.data(let data), .string): return String(data: data, encoding: .utf8).map { .string($0) }
        case (.string(let text), .data): return .data(Data(text.utf8))
        case (.data, _), (_, .data): return nil
        case (_, .string): return .string(plainText)
        case (.boolean(let flag), .integer): return .integer(flag ? 1 : 0)
        case (.integer(let number), .boolean): return number == 0 ? false : number == 1 ? true : nil
        case (.integer, .real):
            let real = ValueRule(.real).adapted(self)
            return ValueRule(.integer).adapted(real) == self ? real : nil
        case (.real, .integer):
            let integer = ValueRule(.integer).adapted(self)
            return integer.kind == .integer ? integer : nil
        case (.string(let text), _):
            return ValueType(rawValue: kind.rawValue).flatMap { try? ValueRule($0).value(ofText: text) }
        default: return nil
        }
    }

    /// Whether the value is empty or null, so that a conversion loses nothing.
    private var isBlank: Bool {
        switch self {
        case .string(let text): text.isEmpty
        case .data(let data): data.isEmpty
        case .array(let elements): elements.isEmpty
        case .dictionary(let entries): entries.isEmpty
        case .null: true
        default: false
        }
    }
}
