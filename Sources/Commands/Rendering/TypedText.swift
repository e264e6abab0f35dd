package import PropertyLists
internal import SettingsSchema

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

    private static func append(_ value: PropertyList, _ path: [EntryPath.Component], to output: inout String) {
        let key = (try? KeyArgument(EntryPath(path)))?.spelling ?? ""
        output += "\(LineText.escaped(key))\t\(value.kind.rawValue)\t\(LineText.escaped(word(of: value)))\n"
        switch value {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                append(element, path + [EntryPath.Component(index)], to: &output)
            }
        case .dictionary(let entries):
            for entry in entries.sortedEntries {
                append(entry.value, path + [EntryPath.Component(entry.key)], to: &output)
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

extension TypedText {
    /// Parses the lines of a domain.
    package static func domain(from bytes: [UInt8]) throws(TypedFailure) -> PropertyList.Dictionary {
        var root: PropertyList = [:]
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            if line.isEmpty { continue }
            do throws(Problem) {
                guard let text = String(validating: line, as: UTF8.self) else { throw Problem("not UTF-8") }
                try read(text.unicodeScalars[...], into: &root)
            } catch {
                throw TypedFailure(line: number, problem: error.description)
            }
        }
        return root.dictionaryValue ?? [:]
    }

    private struct Problem: Error {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private static func read(
        _ line: Substring.UnicodeScalarView.SubSequence, into root: inout PropertyList
    ) throws(Problem) {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
        guard fields.count == 3 else { throw Problem("not three fields between tabs") }
        guard let kind = PropertyList.Kind(rawValue: fields[1]) else { throw Problem("unknown type \(fields[1])") }
        let value = try value(kind, unescaped(fields[2]))
        do {
            try root.set(value, at: place(of: KeyArgument(unescaped(fields[0])).path, in: root))
        } catch let failure as EntryPath.Failure {
            throw Problem(failure.description)
        } catch let failure as KeyFailure {
            throw Problem(failure.lines.joined())
        } catch {
            throw Problem("\(error)")
        }
    }

    /// Returns the path, or the path of the array's end if the index is one past the last element.
    private static func place(of path: EntryPath, in root: PropertyList) -> EntryPath {
        let parent = EntryPath(Array(path.components.dropLast()))
        guard let elements = root[parent]?.arrayValue, path.components.last?.index == elements.count else {
            return path
        }
        return EntryPath(parent.components + [.end])
    }

    private static func value(_ kind: PropertyList.Kind, _ word: String) throws(Problem) -> PropertyList {
        let value: PropertyList? =
            switch kind {
            case .string: .string(word)
            case .integer: PropertyList.Integer(word: word).map { .integer($0) }
            case .real: Double(word: word).map { .real($0) }
            case .boolean: Bool(word: word).map { .boolean($0) }
            case .date: date(word).map { .date($0) }
            case .data: Data(base64Encoded: word).map { .data($0) }
            case .uid: UInt64(word).map { .uid($0) }
            case .null: word == "null" ? .null : nil
            case .array: .array([])
            case .dictionary: .dictionary([:])
            }
        guard let value else { throw Problem("not of type \(kind.rawValue): \(word.onOneLine)") }
        return value
    }

    private static func date(_ word: String) -> Date? {
        guard word.hasPrefix("@") else { return Date(word: word) }
        return Double(word: String(word.dropFirst())).map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    private static func unescaped(_ text: String) throws(Problem) -> String {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
        var result = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                result.unicodeScalars.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "\\": result += "\\"
            case "t": result += "\t"
            case "n": result += "\n"
            case "r": result += "\r"
            case "u":
                let digits = String(rest.prefix(4))
                guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit),
                    let code = UInt32(digits, radix: 16), let scalar = UnicodeScalar(code)
                else { throw Problem("\\u without four hexadecimal digits") }
                rest.removeFirst(4)
                result.unicodeScalars.append(scalar)
            default: throw Problem("unknown escape")
            }
        }
        return result
    }
}

/// An error in text of the format `typed`.
package struct TypedFailure: Error, Hashable {
    package let line: Int
    package let problem: String
}
