package import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A line for each value with key, type and value, separated by tabs. It can be read back without loss.
///
///     theme<TAB>string<TAB>dark
///     windows<TAB>array<TAB>1
///     :windows:0<TAB>integer<TAB>80
///
/// The value of a container is its number of entries, whose lines follow. Backslash, tab, newline and carriage return
/// are escaped as `\\`, `\t`, `\n` and `\r`, other control characters as `\u` with four hexadecimal digits.
package enum TypedText {
    /// Returns the lines of a domain, sorted by key.
    package static func text(of domain: PropertyList.Dictionary) -> String {
        var output = ""
        for entry in domain.sortedEntries { append(entry.value, [EntryPath.Component(entry.key)], to: &output) }
        return output
    }

    /// Returns the lines of one value with its key.
    package static func text(of value: PropertyList, under key: KeyArgument) -> String {
        var output = ""
        append(value, key.path.components, to: &output)
        return output
    }

    private static func append(_ value: PropertyList, _ way: [EntryPath.Component], to output: inout String) {
        let key = (try? KeyArgument(EntryPath(way)))?.spelling ?? ""
        output += "\(LineText.escaped(key))\t\(value.kind.rawValue)\t\(LineText.escaped(word(of: value)))\n"
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
        // A date that RFC 3339 cannot express exactly is written in seconds since 2001.
        case .date(let date): date.rfc3339 ?? "@\(date.timeIntervalSinceReferenceDate)"
        default: (try? RawText.text(of: value)) ?? ""
        }
    }
}
