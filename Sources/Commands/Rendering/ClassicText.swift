package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The text that `defaults read` has always printed, to the byte. It loses types: scripts parse it, nothing else should.
///
///     {
///         "a key" = 1;
///         list =     (
///             one,
///             "two words"
///         );
///     }
package enum ClassicText {
    /// The text of a value, without a newline at its end.
    package static func text(of value: PropertyList) -> String {
        var output = ""
        switch value {
        case .string(let text): output = text
        case .array, .dictionary: append(value, level: 0, to: &output)
        default: output = scalar(value)
        }
        return output.reducedToASCII
    }

    /// The text of entries as `find` shows them: a dictionary, though they may come from several places.
    package static func text(of entries: PropertyList.Dictionary) -> String { text(of: .dictionary(entries)) }

    private static func append(_ value: PropertyList, level: Int, to output: inout String) {
        switch value {
        case .array(let elements):
            output += indentation(level) + "(\n"
            for (position, element) in elements.enumerated() {
                output += indentation(level + 1)
                append(element, level: level + 1, to: &output)
                output += position < elements.count - 1 ? ",\n" : "\n"
            }
            output += indentation(level) + ")"
        case .dictionary(let entries):
            output += indentation(level) + "{\n"
            for entry in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                output += indentation(level + 1) + quotedUnlessPlain(entry.key) + " = "
                append(entry.value, level: level + 1, to: &output)
                output += ";\n"
            }
            output += indentation(level) + "}"
        case .data, .uid: output += scalar(value)
        default: output += quotedUnlessPlain(scalar(value))
        }
    }

    private static func scalar(_ value: PropertyList) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): number.description
        case .real(let number): withoutFractionOfZero(number.description)
        case .boolean(let flag): flag ? "1" : "0"
        case .date(let date): date.spacedText ?? date.timeIntervalSinceReferenceDate.description
        case .data(let data): text(of: data)
        case .uid(let number): "<CFKeyedArchiverUID>{value = \(number)}"
        case .array, .dictionary: ""
        }
    }

    /// A number without a fraction prints as an integer does.
    private static func withoutFractionOfZero(_ text: String) -> String {
        text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func text(of data: Data) -> String {
        guard data.count > 24 else {
            return "{length = \(data.count), bytes = 0x\(data.hexadecimal)}"
        }
        let (first, last) = (groups(of: data.prefix(16)), groups(of: data.suffix(8)))
        return "{length = \(data.count), bytes = 0x\(first) ... \(last) }"
    }

    /// The bytes in hexadecimal digits, four in a group.
    private static func groups(of data: Data) -> String {
        stride(from: data.startIndex, to: data.endIndex, by: 4)
            .map { Data(data[$0..<min($0 + 4, data.endIndex)]).hexadecimal }.joined(separator: " ")
    }

    private static func indentation(_ levels: Int) -> String { String(repeating: "    ", count: levels) }

    /// The text as it stands inside a collection: bare if it is letters and digits alone, else quoted and escaped.
    private static func quotedUnlessPlain(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { character in
            (0x30...0x39).contains(character) || (0x41...0x5A).contains(character)
                || (0x61...0x7A).contains(character)
        }
        if isPlain, !text.isEmpty { return text }
        var result = "\""
        for unit in text.utf16 { result += escaped(unit) }
        return result + "\""
    }

    private static func escaped(_ unit: UInt16) -> String {
        switch unit {
        case 0x22: "\\\""
        case 0x5C: "\\\\"
        case 0x07: "\\a"
        case 0x08: "\\b"
        case 0x09: "\\t"
        case 0x0A: "\\n"
        case 0x0B: "\\v"
        case 0x0C: "\\f"
        case 0x0D: "\\r"
        case 0x20..<0x7F: String(UnicodeScalar(UInt8(unit)))
        case 0..<0x80: "\\" + String(unit, radix: 8).padded(to: 3)
        default: "\\U" + String(unit, radix: 16).padded(to: 4)
        }
    }
}

extension String {
    /// The text in ASCII, and so that nothing of it is lost: what is not ASCII stands behind a backslash.
    fileprivate var reducedToASCII: String {
        guard utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "\\") }) else { return self }
        var result = ""
        for unit in utf16 {
            switch unit {
            case 0x5C: result += "\\\\"
            case 0..<0x80: result.unicodeScalars.append(UnicodeScalar(UInt8(unit)))
            case 0x80...0xFF: result += "\\" + String(unit, radix: 8).padded(to: 3)
            default: result += "\\u" + String(unit, radix: 16).padded(to: 4)
            }
        }
        return result
    }

    fileprivate func padded(to width: Int) -> String {
        String(repeating: "0", count: max(0, width - utf8.count)) + self
    }
}
