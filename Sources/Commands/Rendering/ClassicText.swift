package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The output of macOS's `defaults read`, byte for byte. It loses types, and exists for scripts that parse it.
///
///     {
///         "a key" = 1;
///         list =     (
///             one,
///             "two words"
///         );
///     }
package enum ClassicText {
    /// Returns the text of a value, without a final newline.
    package static func text(of value: PropertyList) -> String {
        switch value {
        case .string(let text): return text.reducedToASCII
        case .array, .dictionary:
            var output: [UInt8] = []
            append(value, level: 0, to: &output)
            return String(decoding: output, as: UTF8.self).reducedToASCII
        default: return scalar(value).reducedToASCII
        }
    }

    /// Returns the text of entries, formatted as a dictionary.
    package static func text(of entries: PropertyList.Dictionary) -> String { text(of: .dictionary(entries)) }

    // Appends bytes rather than strings, for speed: `find` may print every domain.
    private static func append(_ value: PropertyList, level: Int, to output: inout [UInt8]) {
        switch value {
        case .array(let elements):
            indent(level, &output)
            output += "(\n".utf8
            for (position, element) in elements.enumerated() {
                indent(level + 1, &output)
                append(element, level: level + 1, to: &output)
                output += (position < elements.count - 1 ? ",\n" : "\n").utf8
            }
            indent(level, &output)
            output.append(UInt8(ascii: ")"))
        case .dictionary(let entries):
            indent(level, &output)
            output += "{\n".utf8
            for entry in entries.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                indent(level + 1, &output)
                appendQuotedUnlessPlain(entry.key, to: &output)
                output += " = ".utf8
                append(entry.value, level: level + 1, to: &output)
                output += ";\n".utf8
            }
            indent(level, &output)
            output.append(UInt8(ascii: "}"))
        case .data, .uid, .null: output += scalar(value).utf8
        default: appendQuotedUnlessPlain(scalar(value), to: &output)
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
        case .null: "<null>"
        case .array, .dictionary: ""
        }
    }

    /// Removes the fraction of a whole number, which is printed like an integer.
    private static func withoutFractionOfZero(_ text: String) -> String {
        text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func text(of data: Data) -> String {
        "{length = \(data.count), bytes = 0x\(PropertyList.abridged(data))\(data.count > 24 ? " }" : "}")"
    }

    private static func indent(_ levels: Int, _ output: inout [UInt8]) {
        output += repeatElement(UInt8(ascii: " "), count: 4 * levels)
    }

    /// Appends the text of a key or value within a collection: bare if it has only letters and digits, otherwise
    /// quoted.
    private static func appendQuotedUnlessPlain(_ text: String, to output: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        guard text.isEmpty || !text.utf8.allSatisfy(\.isLetterOrDigit) else {
            output += text.utf8
            return
        }
        output.append(quote)
        if text.utf8.allSatisfy(\.needsNoEscape) {
            output += text.utf8
        } else {
            for unit in text.utf16 { output += escaped(unit).utf8 }
        }
        output.append(quote)
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
        case 0..<0x80: "\\" + digits(unit, radix: 8, 3)
        default: "\\U" + digits(unit, radix: 16, 4)
        }
    }
}

extension String {
    /// The text in ASCII, with other characters as escapes.
    fileprivate var reducedToASCII: String {
        guard utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "\\") }) else { return self }
        var result = ""
        for unit in utf16 {
            switch unit {
            case 0x5C: result += "\\\\"
            case 0..<0x80: result.unicodeScalars.append(UnicodeScalar(UInt8(unit)))
            case 0x80...0xFF: result += "\\" + digits(unit, radix: 8, 3)
            default: result += "\\u" + digits(unit, radix: 16, 4)
            }
        }
        return result
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        0x30...0x39 ~= self || 0x41...0x5A ~= self || 0x61...0x7A ~= self
    }

    /// Whether the character needs no escape within quotes.
    fileprivate var needsNoEscape: Bool { 0x20..<0x7F ~= self && self != 0x22 && self != 0x5C }
}
