package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A line for each value: key, type and value between tabs, from which the value can be read back.
///
///     theme<TAB>string<TAB>dark
///     windows<TAB>array<TAB>1
///     :windows:0<TAB>integer<TAB>80
///
/// A container's line says how many it holds, and theirs follow. Backslash, tab, newline and every other control
/// character stand as `\\`, `\t`, `\n`, `\r` and `\u` with four hexadecimal digits.
package enum TypedText {
    /// The lines of a whole domain, keys sorted.
    package static func text(of domain: PropertyList.Dictionary) -> String {
        var output = ""
        for entry in domain.sortedEntries { append(entry.value, [EntryPath.Component(entry.key)], to: &output) }
        return output
    }

    /// The lines of one value, under the key by which it was asked for.
    package static func text(of value: PropertyList, under key: KeyArgument) -> String {
        var output = ""
        append(value, key.path.components, to: &output)
        return output
    }

    private static func append(_ value: PropertyList, _ way: [EntryPath.Component], to output: inout String) {
        let key = (try? KeyArgument(EntryPath(way)))?.spelling ?? ""
        output += "\(escaped(key))\t\(value.kind.rawValue)\t\(escaped(word(of: value)))\n"
        switch value {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                append(element, way + [EntryPath.Component(index)], to: &output)
            }
        case .dictionary(let entries):
            for entry in entries.sortedEntries {
                append(entry.value, way + [EntryPath.Component(entry.key)], to: &output)
            }
        default: break
        }
    }

    private static func word(of value: PropertyList) -> String {
        switch value {
        case .array(let elements): elements.count.description
        case .dictionary(let entries): entries.count.description
        // A moment that no text says exactly is told in seconds from 2001.
        case .date(let date): date.rfc3339 ?? "@\(date.timeIntervalSinceReferenceDate)"
        default: (try? RawText.text(of: value)) ?? ""
        }
    }

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x5C: result += "\\\\"
            case 0x09: result += "\\t"
            case 0x0A: result += "\\n"
            case 0x0D: result += "\\r"
            case 0..<0x20, 0x7F:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
