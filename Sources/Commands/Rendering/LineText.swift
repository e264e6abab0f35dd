package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Values on lines, for programs that read lines.
///
///     one              an array: an element on each line
///     width<TAB>80     a dictionary: a key and its value on each line
///
/// A container inside the value is lossless JSON.
package enum LineText {
    /// Returns the lines of a value; a scalar has one.
    package static func lines(of value: PropertyList) -> String {
        switch value {
        case .array(let elements): elements.map { line(of: $0) + "\n" }.joined()
        case .dictionary(let entries):
            entries.sortedEntries.map { "\(escaped($0.key))\t\(line(of: $0.value))\n" }.joined()
        default: line(of: value) + "\n"
        }
    }

    /// Returns a value on one line.
    static func line(of value: PropertyList) -> String { escaped(text(of: value)) }

    /// Returns a scalar as raw text, and a container as lossless JSON.
    static func text(of value: PropertyList) -> String {
        (try? RawText.text(of: value)) ?? LosslessJSON.text(of: value) ?? "(\(value.kind.rawValue))"
    }

    /// Returns the text on one line: backslash, tab, newline and return as `\\`, `\t`, `\n` and `\r`, and other control
    /// characters as `\u` with four hexadecimal digits.
    static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x5C: result += "\\\\"
            case 0x09: result += "\\t"
            case 0x0A: result += "\\n"
            case 0x0D: result += "\\r"
            case 0..<0x20, 0x7F:
                result += "\\u" + digits(scalar.value, radix: 16, 4)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

/// Returns a number in digits, with zeros up to a width.
func digits(_ number: some BinaryInteger, radix: Int, _ width: Int) -> String {
    let digits = String(number, radix: radix)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

/// A scalar without quotes, for scripts.
package enum RawText {
    /// Returns the text of a scalar, without a final newline.
    package static func text(of value: PropertyList) throws(RawFailure) -> String {
        switch value {
        case .string(let text): return text
        case .integer(let number): return number.description
        case .real(let number): return number.description
        case .boolean(let flag): return flag ? "true" : "false"
        case .date(let date):
            guard let text = date.nearestRFC3339 else { throw RawFailure(kind: .date) }
            return text
        case .data(let data): return data.base64EncodedString()
        case .uid(let number): return number.description
        case .null: return "null"
        case .array, .dictionary: throw RawFailure(kind: value.kind)
        }
    }
}

/// The value has no raw text: it is a container, or a date outside the supported years.
package struct RawFailure: Reportable, Hashable {
    package let kind: PropertyList.Kind

    package var status: ExitStatus { .invalidValue }

    package var lines: [String] {
        kind == .date
            ? ["raw: the date is outside the supported years"]
            : ["raw: a value of type \(kind.rawValue) is not a scalar; name an entry of it, or use --format json"]
    }
}
