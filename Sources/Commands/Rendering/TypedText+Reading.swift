package import PropertyLists
internal import SettingsSchema

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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
