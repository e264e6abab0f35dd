package import Foundation
package import PropertyLists

/// A file of the corpus: an input and its expected result.
///
/// The path states the format, whether the input is valid, and the fact that is tested, such as
/// `xml/rejected/an-internal-subset.case`. The file:
///
///     expect: {a: 1}                 or   fails: unknownElement("strnig") in :a
///     options: unwrapsJSON           optional; also `limits: nesting=2`, `encoding: utf-16be`, `note: …`
///     --- text
///     <plist><dict><key>a</key>▶<strnig>…
///
/// `▶` marks the byte at which the failure occurs, and is not part of the input. The forms after `---` are:
///
/// - `text`: the input itself, up to the last line feed;
/// - `escaped`: text with the escapes `\n` `\r` `\t` `\\` `\xFF` `\u{E9}`, in which line feeds are ignored;
/// - `bytes`: hexadecimal digits, with comments after `#`;
/// - `objects`: a description for `BinaryAssembler`.
///
/// Without a mark, as in `objects`, the place follows `at`: `fails: cycle at object 1 in :k`. A failure without
/// arguments is compared by its name alone.
package struct CorpusCase: Sendable, CustomStringConvertible {
    package let name: String
    package let format: PropertyList.Format?
    package let outcome: Outcome
    package let input: Data
    /// The line and column of the mark in plain text.
    package let location: (line: Int, column: Int)?
    package var options = PropertyList.ReadingOptions()
    package var limits = PropertyList.Limits.default

    package enum Outcome: Sendable {
        case value(PropertyList)
        case failure(problem: String, offset: Int, path: String)
    }

    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    package var description: String { name }
}

extension CorpusCase {
    package init(name: String, contents: String) throws {
        guard let divider = contents.range(of: "--- ") else {
            throw Mistake(description: "\(name): no ---")
        }
        let header = Self.header(contents[..<divider.lowerBound])
        let (form, body) = Self.splitLine(contents[divider.upperBound...])
        let folders = name.split(separator: "/")
        self.name = name
        format = folders[0] == "sniffed" ? nil : PropertyList.Format(rawValue: String(folders[0]))
        let source = try Source(form: form, body: body, encoding: header["encoding"])
        input = source.bytes
        location = source.location
        guard (folders[1] == "rejected") == (header["fails"] != nil) else {
            throw Mistake(description: "\(name): in the wrong folder")
        }
        if let fails = header["fails"] {
            outcome = try Self.failure(fails, source)
        } else {
            outcome = .value(try ValueNotation.value(header["expect"] ?? ""))
        }
        try read(options: header["options"] ?? "", limits: header["limits"] ?? "")
    }

    private static func splitLine(_ text: Substring) -> (first: String, rest: String) {
        guard let end = text.unicodeScalars.firstIndex(of: "\n") else { return (String(text), "") }
        let rest = text.unicodeScalars[end...].dropFirst()
        return (String(text[..<end]), String(rest.last == "\n" ? rest.dropLast() : rest))
    }

    /// Parses the fields. An indented line continues the one above.
    private static func header(_ text: Substring) -> [String: String] {
        var fields: [String: String] = [:]
        var last = ""
        for line in text.split(separator: "\n") {
            if line.hasPrefix(" ") {
                fields[last]? += "\n" + line
            } else if let colon = line.firstIndex(of: ":") {
                last = String(line[..<colon])
                fields[last] = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
            }
        }
        return fields
    }

    private static func failure(_ text: String, _ source: Source) throws -> Outcome {
        var problem = text
        var path = ""
        var place: String?
        if let found = problem.range(of: " in :", options: .backwards) {
            path = ":" + problem[found.upperBound...]
            problem = String(problem[..<found.lowerBound])
        }
        if let found = problem.range(of: " at ", options: .backwards) {
            place = String(problem[found.upperBound...])
            problem = String(problem[..<found.lowerBound])
        }
        guard let offset = try place.map(source.offset) ?? source.mark else {
            throw Mistake(description: "no place: \(text)")
        }
        return .failure(problem: problem, offset: offset, path: path)
    }

    private mutating func read(options names: String, limits numbers: String) throws {
        for name in names.split(separator: " ") {
            switch name {
            case "refusesNulls": options.nulls = .refused
            case "unwrapsJSON": options.unwrapsJSON = true
            case "refusesDuplicateKeys": options.refusesDuplicateKeys = true
            case "allowsJSON5": options.allowsJSON5 = true
            case "scalarsAreText": options.readsScalarsAsJSON = false
            default: throw Mistake(description: "\(self.name): no option \(name)")
            }
        }
        for assignment in numbers.split(separator: " ") {
            let sides = assignment.split(separator: "=")
            guard sides.count == 2, let number = Int(sides[1]) else {
                throw Mistake(description: "no limit: \(assignment)")
            }
            switch sides[0] {
            case "nesting": limits.nesting = number
            case "inputBytes": limits.inputBytes = number
            case "expandedNodes": limits.expandedNodes = number
            case "expandedBytes": limits.expandedBytes = number
            default: throw Mistake(description: "\(self.name): no limit \(sides[0])")
            }
        }
    }
}

// MARK: The input

extension CorpusCase {
    private struct Source {
        var bytes = Data()
        var mark: Int?
        var location: (line: Int, column: Int)?
        var assembler: BinaryAssembler?

        init(form: String, body: String, encoding: String?) throws {
            switch form {
            case "objects":
                let assembler = try BinaryAssembler(body)
                (bytes, self.assembler) = (assembler.bytes, assembler)
            case "text":
                try read(body, encoding: encoding) { Data($0.utf8) }
                let lines = body.unicodeScalars.prefix { $0 != "▶" }.split(
                    separator: "\n", omittingEmptySubsequences: false)
                location = mark == nil ? nil : (lines.count, lines[lines.count - 1].count + 1)
            case "escaped":
                try read(body.replacing("\n", with: ""), encoding: encoding) { try Self.unescaped($0) }
            case "bytes": try read(body, encoding: nil) { try Data(hex: $0) }
            default: throw Mistake(description: "no form \(form)")
            }
        }

        private mutating func read(
            _ text: String, encoding: String?, _ decoded: (String) throws -> Data
        ) throws {
            func transcoded(_ text: String) throws -> Data {
                let bytes = try decoded(text)
                return try encoding.map { try Self.encoded(String(decoding: bytes, as: UTF8.self), as: $0) }
                    ?? bytes
            }
            let sides = text.unicodeScalars.split(
                separator: "▶", maxSplits: 1, omittingEmptySubsequences: false)
            bytes = Self.byteOrderMark(encoding)
            bytes += try transcoded(String(sides[0]))
            if sides.count == 2 {
                mark = bytes.count
                bytes += try transcoded(String(sides[1]))
            }
        }

        func offset(of place: String) throws -> Int {
            if let assembler { return try assembler.offset(of: place) }
            if place == "end" { return bytes.count }
            guard let offset = Int(place) else { throw Mistake(description: "no place: \(place)") }
            return offset
        }

        /// Returns the byte order mark of an encoding such as `utf-16be-bom`. `utf-16be` has none.
        private static func byteOrderMark(_ encoding: String?) -> Data {
            guard let encoding, encoding.hasSuffix("-bom") else { return Data() }
            return (try? encoded("\u{FEFF}", as: String(encoding.dropLast(4)))) ?? Data()
        }

        private static func encoded(_ text: String, as name: String) throws -> Data {
            let encodings: [String: String.Encoding] = [
                "utf-8": .utf8, "utf-16be": .utf16BigEndian, "utf-16le": .utf16LittleEndian,
                "utf-32be": .utf32BigEndian, "utf-32le": .utf32LittleEndian, "latin1": .isoLatin1,
                "windows-1252": .windowsCP1252,
            ]
            let name = name.hasSuffix("-bom") ? String(name.dropLast(4)) : name
            guard let encoding = encodings[name], let data = text.data(using: encoding) else {
                throw Mistake(description: "not in \(name): \(text)")
            }
            return data
        }

        private static func unescaped(_ text: String) throws -> Data {
            var result = Data()
            var rest = text.unicodeScalars[...]
            while let scalar = rest.popFirst() {
                guard scalar == "\\" else {
                    result += Data(String(scalar).utf8)
                    continue
                }
                switch rest.popFirst() {
                case "n": result.append(0x0A)
                case "r": result.append(0x0D)
                case "t": result.append(0x09)
                case "\\": result.append(0x5C)
                case "x":
                    result += try Data(hex: String(String.UnicodeScalarView(rest.prefix(2))))
                    rest = rest.dropFirst(2)
                case "u":
                    let digits = rest.dropFirst().prefix { $0 != "}" }
                    guard let code = UInt32(String(String.UnicodeScalarView(digits)), radix: 16),
                        let scalar = Unicode.Scalar(code)
                    else { throw Mistake(description: "no character in: \(text)") }
                    result += Data(String(scalar).utf8)
                    rest = rest.dropFirst(digits.count + 2)
                default: throw Mistake(description: "no escape in: \(text)")
                }
            }
            return result
        }
    }
}

// MARK: Finding cases

extension CorpusCase {
    /// Returns all cases in a folder, sorted by name, and the errors in invalid ones.
    package static func all(in folder: URL) -> (cases: [CorpusCase], mistakes: [String]) {
        let files = FileManager.default.enumerator(atPath: folder.path)
        let names = (files?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".case") }.sorted()
        var (cases, mistakes): ([CorpusCase], [String]) = ([], [])
        for name in names {
            do {
                let contents = String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
                cases.append(try CorpusCase(name: String(name.dropLast(5)), contents: contents))
            } catch {
                mistakes.append("\(name): \(error)")
            }
        }
        return (cases, mistakes)
    }
}
