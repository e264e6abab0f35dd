internal import PropertyLists

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

// The texts that Apple's tools print for values.

extension PropertyList {
    /// The name of the type that `plutil -type` prints.
    var plutilType: String {
        switch self {
        case .string: "string"
        case .integer: "integer"
        case .real: "float"
        case .boolean: "bool"
        case .date: "date"
        case .data: "data"
        case .array: "array"
        case .dictionary: "dictionary"
        default: "(any)"
        }
    }

    /// The text of `plutil -extract … raw`: a scalar alone, the keys of a dictionary, or the count of an array.
    func rawText() throws(AppleFailure) -> String {
        switch self {
        case .string(let text): text
        case .integer(let number): number.description
        case .real(let number): number.fixed
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let date): date.wholeSecond.nearestRFC3339 ?? ""
        case .data(let data): data.base64EncodedString()
        case .array(let elements): "\(elements.count)"
        case .dictionary(let entries): entries.sortedForPeople.map(\.key).joined(separator: "\n")
        default: throw AppleFailure("Value is a \(plutilType) type and cannot be extracted in raw format")
        }
    }

    /// The text of `plutil -p`.
    func description(indent: Int) -> String {
        let (space, inner) = (String(repeating: " ", count: indent), String(repeating: " ", count: indent + 2))
        switch self {
        case .dictionary(let entries):
            let lines = entries.sortedForPeople.map {
                "\(inner)\"\($0.key)\" => \($0.value.description(indent: indent + 2))\n"
            }
            return "{\n\(lines.joined())\(space)}"
        case .array(let elements):
            let lines = elements.enumerated().map { "\(inner)\($0) => \($1.description(indent: indent + 2))\n" }
            return "[\n\(lines.joined())\(space)]"
        case .string(let text): return "\"\(text)\""
        case .integer(let number): return number.description
        case .real(let number): return number.description
        case .boolean(let flag): return flag ? "true" : "false"
        case .date(let date): return date.spacedText ?? "\(date.timeIntervalSinceReferenceDate)"
        case .data(let data): return "{length = \(data.count), bytes = 0x\(Self.abridged(data))}"
        case .uid(let number): return "<CFKeyedArchiverUID>{value = \(number)}"
        default: return "<null>"
        }
    }

    /// The first 16 and the last 8 bytes of long data in groups of four, as in the description of `NSData`.
    static func abridged(_ data: Data) -> String {
        guard data.count > 24 else { return data.hexadecimal }
        let digits = Array(Data(data.prefix(16) + data.suffix(8)).hexadecimal)
        let groups = stride(from: 0, to: digits.count, by: 8).map { String(digits[$0..<$0 + 8]) }
        return groups[..<4].joined(separator: " ") + " ... " + groups[4...].joined(separator: " ")
    }

    /// The text of a value in JSON, as Apple's tools write it: with `\/`, and without a final line break.
    func appleJSON(isPretty: Bool, indent: Int = 0) -> String {
        let newline = isPretty ? "\n" + String(repeating: "  ", count: indent + 1) : ""
        let end = isPretty ? "\n" + String(repeating: "  ", count: indent) : ""
        switch self {
        case .dictionary(let entries):
            if entries.isEmpty { return isPretty ? "{\n\(end)}" : "{}" }
            let colon = isPretty ? " : " : ":"
            let members = (isPretty ? entries.sortedForPeople : entries.sortedEntries.map { $0 }).map {
                newline + Self.quotedForJSON($0.key) + colon
                    + $0.value.appleJSON(isPretty: isPretty, indent: indent + 1)
            }
            return "{\(members.joined(separator: ","))\(end)}"
        case .array(let elements):
            if elements.isEmpty { return isPretty ? "[\n\(end)]" : "[]" }
            let members = elements.map { newline + $0.appleJSON(isPretty: isPretty, indent: indent + 1) }
            return "[\(members.joined(separator: ","))\(end)]"
        case .string(let text): return Self.quotedForJSON(text)
        case .integer(let number): return number.description
        case .real(let number):
            let text = number.description
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        case .boolean(let flag): return flag ? "true" : "false"
        case .date(let date): return Self.quotedForJSON(date.nearestRFC3339 ?? "")
        case .data(let data): return Self.quotedForJSON(data.base64EncodedString())
        case .uid(let number): return "{\"CF$UID\":\(number)}"
        default: return "null"
        }
    }

    private static func quotedForJSON(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\", "/": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{8}": result += "\\b"
            case "\u{C}": result += "\\f"
            case _ where scalar.value < 0x20:
                result += "\\u" + digits(scalar.value, radix: 16, 4)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Double {
    /// The number with six decimals, as `%f` prints it.
    var fixed: String {
        var buffer = [CChar](repeating: 0, count: 400)
        let count = withVaList([self]) { vsnprintf(&buffer, buffer.count, "%f", $0) }
        return String(decoding: buffer.prefix(max(0, Int(count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

// MARK: The order of keys

extension PropertyList.Dictionary {
    /// The entries in the order that people expect: `a2` before `A10`.
    var sortedForPeople: [Entry] { sorted { $0.key.isBeforeForPeople($1.key) } }
}

extension String {
    /// Compares as macOS's Finder does for ASCII text: punctuation, then numbers by their value, then letters in
    /// either case. Other characters follow.
    func isBeforeForPeople(_ other: String) -> Bool {
        let (left, right) = (Array(unicodeScalars), Array(other.unicodeScalars))
        var (at, to) = (0, 0)
        while at < left.count, to < right.count {
            if left[at].isDigit, right[to].isDigit {
                let (a, b) = (left[at...].prefix(while: \.isDigit), right[to...].prefix(while: \.isDigit))
                let (first, second) = (a.drop { $0 == "0" }, b.drop { $0 == "0" })
                if first.count != second.count { return first.count < second.count }
                for (one, another) in zip(first, second) where one != another { return one < another }
                (at, to) = (a.endIndex, b.endIndex)
                continue
            }
            let (a, b) = (left[at].rank, right[to].rank)
            if a != b { return a < b }
            (at, to) = (at + 1, to + 1)
        }
        if left.count - at != right.count - to { return left.count - at < right.count - to }
        // Equal but for case and zeros: lower case and fewer zeros first.
        if left.count != right.count { return left.count < right.count }
        for (a, b) in zip(left, right) where a != b { return a.value > b.value }
        return false
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }

    /// The place of a character in the order.
    fileprivate var rank: UInt32 {
        switch value {
        case 0x30...0x39: return 1000 + value
        case 0x41...0x5A: return 2000 + value + 0x20
        case 0x61...0x7A: return 2000 + value
        case 0...0x7F: return Self.punctuation[self] ?? value
        default: return 10_000 + value
        }
    }

    private static let punctuation: [Unicode.Scalar: UInt32] = {
        let order = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$".unicodeScalars
        return Dictionary(uniqueKeysWithValues: zip(order, 100...))
    }()
}

// MARK: Source text

/// A property list as a literal of a programming language.
struct SourceLiteral: Sendable {
    enum Language: Sendable { case swift, objectiveC }

    private let language: Language
    /// The name of the file from which the value comes.
    private let source: String
    private let variable: String

    init(_ language: Language, _ path: String) {
        self.language = language
        let source = path.split(separator: "/").last.map(String.init) ?? "a file"
        self.source = source
        let stem = source.lastIndex(of: ".").flatMap { $0 == source.startIndex ? nil : source[..<$0] } ?? source[...]
        var name = ""
        for scalar in stem.unicodeScalars {
            let isPart = scalar == "_" || scalar.properties.isXIDContinue
            name.unicodeScalars.append(isPart ? scalar : "_")
        }
        let first = name.unicodeScalars.first
        variable = first == "_" || first?.properties.isXIDStart == true ? name : "_" + name
    }

    /// The declaration of a constant in Swift.
    func text(of value: PropertyList) -> String {
        "/// Generated from \(source)\nlet \(variable)\(annotation(of: value)) = \(literal(value, indent: 0))"
    }

    /// A literal with values of several types needs a type.
    private func annotation(of value: PropertyList) -> String {
        switch value {
        case .dictionary(let entries): Set(entries.values.map(\.plutilType)).count > 1 ? " : [String : Any]" : ""
        case .array(let elements): Set(elements.map(\.plutilType)).count > 1 ? " : [Any]" : ""
        default: ""
        }
    }

    /// The definition of a constant in Objective-C.
    func implementation(of value: PropertyList, _ kind: String, in file: String) -> String {
        let name = Plutil.Request.Options.replacingExtension(
            of: file.split(separator: "/").last.map(String.init) ?? file, by: "h")
        let include = CommandContext.outputStream(file) == nil ? "#import \"\(name)\"\n\n" : ""
        return include + declaration(kind) + " = \(literal(value, indent: 0));\n"
    }

    /// The declaration of a constant in Objective-C.
    func header(_ kind: String) -> String {
        "#import <Foundation/Foundation.h>\n\n" + declaration("extern \(kind)") + ";\n"
    }

    private func declaration(_ kind: String) -> String {
        "/// Generated from \(source)\n__attribute__((visibility(\"hidden\")))\n\(kind) * const \(variable)"
    }

    private func literal(_ value: PropertyList, indent: Int) -> String {
        let mark = language == .swift ? "" : "@"
        let (space, inner) = (String(repeating: "    ", count: indent), String(repeating: "    ", count: indent + 1))
        switch value {
        case .dictionary(let entries):
            let lines = entries.sortedForPeople.map {
                "\(inner)\(quoted($0.key)) : \(literal($0.value, indent: indent + 1)),\n"
            }
            let brackets = language == .swift ? ("[", "]") : ("{", "}")
            return "\(mark)\(brackets.0)\n\(lines.joined())\(space)\(brackets.1)"
        case .array(let elements):
            let lines = elements.map { "\(inner)\(literal($0, indent: indent + 1)),\n" }
            return "\(mark)[\n\(lines.joined())\(space)]"
        case .string(let text): return quoted(text)
        case .integer(let number): return mark + number.description
        case .real(let number): return mark + number.fixed
        case .boolean(let flag):
            return language == .swift ? (flag ? "true" : "false") : (flag ? "@YES" : "@NO")
        case .date(let date): return "Date(timeIntervalSinceReferenceDate: \(date.timeIntervalSinceReferenceDate))"
        case .data(let data):
            return "Data(bytes: [\(data.map { "0x\(digits($0, radix: 16, 2).uppercased())," }.joined())])"
        case .uid(let number): return "[\"CF$UID\" : \(number)]"
        default: return "nil"
        }
    }

    private func quoted(_ text: String) -> String {
        var result = language == .swift ? "\"" : "@\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case _ where scalar.value < 0x20 && scalar != "\t":
                result +=
                    language == .swift
                    ? "\\u{\(String(scalar.value, radix: 16))}" : "\\" + digits(scalar.value, radix: 8, 3)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension PropertyList {
    /// The class of a literal in Objective-C, or nil for a type without literals.
    var literalClass: String? {
        switch self {
        case .dictionary: "NSDictionary"
        case .array: "NSArray"
        case .string: "NSString"
        case .integer, .real, .boolean: "NSNumber"
        default: nil
        }
    }

    /// Whether all of the value has literals in Objective-C.
    var isForObjectiveC: Bool {
        switch self {
        case .array(let elements): elements.allSatisfy(\.isForObjectiveC)
        case .dictionary(let entries): entries.values.allSatisfy(\.isForObjectiveC)
        default: literalClass != nil
        }
    }
}
