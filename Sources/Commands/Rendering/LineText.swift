package import PropertyLists
internal import SettingsSchema

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
