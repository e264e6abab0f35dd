internal import Digests

extension PropertyList {
    /// Reads bytes whose format was not given.
    ///
    /// Binary files and XML are detected by their first bytes, regardless of the name of the file. Otherwise the
    /// extension determines the format. Other text is JSON if it begins like JSON, GNUstep if it has GNUstep's syntax,
    /// or else OpenStep, or else TOML. If no reader accepts the bytes, the failure names the language that the text
    /// appears to be in, or else is that of the reader that got furthest.
    ///
    /// - Parameter named: The format that the extension of the file states.
    static func readSniffed(
        _ bytes: [UInt8], as named: Format? = nil, limits: Limits, options: ReadingOptions,
        sources: inout SourceMap?
    ) throws(DecodingFailure) -> (value: PropertyList, format: Format) {
        let kind = Sniffing(bytes)
        let candidates: [Format]
        switch (kind, named) {
        case (.binary, _): candidates = [.binary]
        case (.xml, _): candidates = [.xml]
        case (_, .toml): candidates = [.toml]
        case (.nothing, _) where options.acceptsBlank: candidates = [.openstep]
        case (.nothing, _): throw DecodingFailure(.emptyInput, offset: 0, format: named ?? .openstep)
        case (_, .json), (.json, nil): candidates = [.json]
        case (.bareKey, nil), (.bracket, nil): candidates = [.json, .openstep, .gnustep]
        case (.scalar, nil) where options.readsScalarsAsJSON: candidates = [.json, .openstep, .gnustep]
        case (_, .openstep), (_, .gnustep), (_, .xml), (_, .binary), (.scalar, nil), (.text, nil):
            candidates = [.openstep, .gnustep]
        }
        var furthest: DecodingFailure?
        for format in candidates {
            do throws(DecodingFailure) {
                return (
                    try PropertyList.read(bytes, as: format, limits: limits, options: options, sources: &sources),
                    format
                )
            } catch {
                // An unquoted key before a colon is more likely to be JSON5 than OpenStep.
                if kind == .bareKey, furthest != nil { continue }
                // GNUstep is a superset of OpenStep, so at the same offset its failure is more specific.
                let isFurther = furthest.map {
                    error.offset > $0.offset || format == .gnustep && error.offset == $0.offset
                }
                if isFurther ?? true { furthest = error }
            }
        }
        let failure = furthest ?? DecodingFailure(.emptyInput, offset: 0, format: .openstep)
        guard named == nil || named == .json else { throw failure }
        let language = kind.otherLanguage(of: bytes)
        if named == nil, options.detectsTOML, language != .yaml, language != .env,
            [.json, .text, .scalar].contains(kind)
        {
            do throws(DecodingFailure) {
                let value = try read(bytes, as: .toml, limits: limits, options: options, sources: &sources)
                if value != [:] { return (value, .toml) }
            } catch  where language == .toml {
                throw error
            } catch {}
        }
        guard let language else { throw failure }
        throw DecodingFailure(.otherLanguage(language), offset: 0, format: failure.format)
    }
}

extension PropertyList {
    /// Whether the bytes begin like a binary file, or are a truncated header of one.
    package static func isBinary(_ bytes: [UInt8]) -> Bool {
        // A strings file may have a key that begins with `bplist`; a version begins with a digit.
        if bytes.count < 7 { return bytes.count >= 3 && "bplist".utf8.starts(with: bytes) }
        return bytes.starts(with: "bplist".utf8) && bytes[6] &- 0x30 <= 9
    }
}

/// The extensions of file names that state a format.
package enum FileExtension: String, CaseIterable {
    case plist, xml, json, json5, jsonc, strings, toml

    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        self.init(rawValue: fileName[fileName.index(after: dot)...].lowercased())
    }

    /// Returns the name of a file without its folder and without the extension of a format.
    package static func stem(ofFile path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard FileExtension(fileName: name) != nil, let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else {
            return name
        }
        return String(name[..<dot])
    }

    /// The format of a new file.
    package var format: PropertyList.Format {
        switch self {
        case .plist, .xml: .xml
        case .json, .json5, .jsonc: .json
        case .strings: .openstep
        case .toml: .toml
        }
    }

    /// The format of a text that is read; nil if the text itself decides, since XML is recognized by its first bytes.
    var formatOfText: PropertyList.Format? { self == .plist || self == .xml ? nil : format }

    /// Returns the language that the extension of a file's name states, if prefs neither reads nor writes it.
    package static func unsupportedLanguage(ofFile name: String) -> OtherLanguage? {
        let languages: [(String, OtherLanguage)] = [
            (".yaml", .yaml), (".yml", .yaml), (".ini", .ini),
        ]
        return languages.first { name.lowercased().hasSuffix($0.0) }?.1
    }
}

extension String {
    /// Whether files of this name are JSON that has comments by convention, although their extension states no syntax.
    var namesJSONWithComments: Bool {
        let parts = utf8.split(separator: UInt8(ascii: "/")).suffix(2).map { (String($0) ?? "").lowercased() }
        guard let name = parts.last else { return false }
        if name.hasSuffix(".json") {
            return ["tsconfig", "jsconfig"].contains { name.hasPrefix($0) } || parts.first == ".vscode"
                || ["devcontainer.json", ".devcontainer.json", ".eslintrc.json"].contains(name)
        }
        return [".babelrc", ".swcrc", ".eslintrc", ".jshintrc"].contains(name) || name.contains(".sublime-")
            || [".code-workspace", ".code-snippets"].contains { name.hasSuffix($0) }
    }
}

extension PropertyList.Format {
    /// The format of a new file of this name.
    package static func ofNewFile(named name: String) -> Self {
        FileExtension(fileName: name)?.format ?? (name.namesJSONWithComments ? .json : .xml)
    }

    /// The format of a new file of another program, which is more often JSON if its name states none.
    package static func ofNewFile(ofProgramAt path: String) -> Self { FileExtension(fileName: path)?.format ?? .json }
}

/// The format that the first bytes of an input suggest.
enum Sniffing {
    case binary, xml, json, text, nothing
    /// Text that begins with a brace and no entry that shows a format.
    case bracket
    /// Text that begins with a brace and a key without quotes before a colon.
    case bareKey
    /// Text that begins like a JSON scalar.
    case scalar

    init(_ bytes: [UInt8]) {
        if PropertyList.isBinary(bytes) {
            self = .binary
            return
        }
        let mark = TextEncoding.byteOrderMark(in: bytes)
        if mark == nil, TextEncoding.ofLeadingTag(in: bytes) != nil {
            self = .xml
            return
        }
        func kind(of bytes: [UInt8], isWhole: Bool) -> Sniffing? {
            let text = DecodedText(bytes, as: mark?.encoding ?? .utf8, from: mark?.length ?? 0)
            var scan = SniffingScan(text.text(of: bytes))
            return scan.kind() ?? (isWhole ? scan.kindAtEnd : nil)
        }
        // The first 4,096 bytes usually contain the first key, in any encoding.
        let head = bytes.count > 4096 ? kind(of: Array(bytes.prefix(4096)), isWhole: false) : nil
        self = head ?? kind(of: bytes, isWhole: true) ?? .nothing
    }

    /// The language that the lines of a text show if no reader accepts it, or nil.
    fileprivate func otherLanguage(of bytes: [UInt8]) -> OtherLanguage? {
        guard [.json, .text, .scalar].contains(self) else { return nil }
        let mark = TextEncoding.byteOrderMark(in: bytes)
        let text = DecodedText(bytes, as: mark?.encoding ?? .utf8, from: mark?.length ?? 0)
        return OtherLanguage(ofText: text.text(of: bytes))
    }
}

/// A scan of the first white space, comments and key of a text.
private struct SniffingScan {
    private let text: [UInt8]
    private var at = 0
    /// The kind if the text ends where the scan has stopped.
    private(set) var kindAtEnd = Sniffing.nothing

    init(_ text: [UInt8]) { self.text = text }

    /// Returns the kind of the text, or nil if the text ends before it is known.
    mutating func kind() -> Sniffing? {
        skipSpace()
        guard at < text.count else { return nil }
        let start = at
        kindAtEnd = .text
        guard skipComments(), at < text.count else { return nil }
        switch text[at] {
        case UInt8(ascii: "{"): return kindOfBrace()
        case UInt8(ascii: "["): return .json
        case UInt8(ascii: "<") where at == start:
            kindAtEnd = isTag ? .xml : .text
            // A longer name may continue after the head.
            return text.count - at > 16 ? kindAtEnd : nil
        case UInt8(ascii: "\""), UInt8(ascii: "-"), 0x30...0x39, UInt8(ascii: "t"), UInt8(ascii: "f"):
            return at == start ? .scalar : .text
        default: return .text
        }
    }

    private mutating func kindOfBrace() -> Sniffing? {
        at += 1
        kindAtEnd = .bracket
        guard skipComments(), at < text.count else { return nil }
        let start = at
        switch text[at] {
        case UInt8(ascii: "}"): return .json
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            at += 1
            while at < text.count, text[at] != text[start] { at += text[at] == UInt8(ascii: "\\") ? 2 : 1 }
            at += 1
        default:
            while at < text.count, text[at] > 0x20, !":=;{}()[]<>,\"'/".utf8.contains(text[at]) { at += 1 }
        }
        let isQuoted = "\"'".utf8.contains(text[start])
        guard at > start, skipComments(), at < text.count else { return at > start ? nil : .text }
        guard text[at] == UInt8(ascii: ":") else { return .text }
        return isQuoted ? .json : .bareKey
    }

    private mutating func skipSpace() {
        while at < text.count, isXMLSpace(text[at]) || text[at] == 0x0B || text[at] == 0x0C { at += 1 }
    }

    /// Skips white space and comments. Returns false if the text ends inside a comment.
    private mutating func skipComments() -> Bool {
        skipSpace()
        while at + 1 < text.count, text[at] == UInt8(ascii: "/"), "/*".utf8.contains(text[at + 1]) {
            let isLine = text[at + 1] == UInt8(ascii: "/")
            at += 2
            while at < text.count {
                if isLine ? text[at] == 0x0A || text[at] == 0x0D : text[at...].starts(with: "*/".utf8) { break }
                at += 1
            }
            guard at < text.count else { return isLine }
            at += isLine ? 1 : 2
            skipSpace()
        }
        return true
    }

    /// Whether `<` begins a tag and not data in hexadecimal digits.
    private var isTag: Bool {
        let rest = text[(at + 1)...].prefix { $0 != UInt8(ascii: ">") }
        guard let first = rest.first else { return false }
        if first == UInt8(ascii: "?") || first == UInt8(ascii: "!") { return true }
        let name = rest.prefix { ($0 | 0x20) &- UInt8(ascii: "a") < 26 }
        if XMLElement(rawValue: String(decoding: name.prefix(16), as: UTF8.self)) != nil { return true }
        return !name.isEmpty && !rest.allSatisfy { isXMLSpace($0) || Hexadecimal.value(ofDigit: $0) != nil }
    }
}

/// The languages of settings that are no formats of property lists.
package enum OtherLanguage: Hashable, Sendable {
    case env, ini, toml, yaml

    /// The texts of the language.
    package var name: String {
        switch self {
        case .env: ".env files"
        case .ini: "INI files"
        case .toml: "TOML"
        case .yaml: "YAML"
        }
    }

    /// A text in the language, with its article.
    var text: String {
        switch self {
        case .env: "a .env file"
        case .ini: "an INI file"
        case .toml, .yaml: name
        }
    }
}

extension OtherLanguage {
    /// Creates the language that the first lines of a text show, or returns nil.
    fileprivate init?(ofText text: [UInt8]) {
        let lines = text.prefix(4096).split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).lazy
            .map { String(decoding: $0, as: UTF8.self) }
            .filter { line in line.trimmed.first.map { !"#;/*".contains($0) } ?? false }
        guard let first = lines.first else { return nil }
        if Self.isSection(first.trimmed) {
            let hasQuotes = lines.prefix(16).contains { Self.isAssignment($0) && $0.contains("= \"") }
            self = hasQuotes || first.hasPrefix("[[") ? .toml : .ini
        } else if lines.prefix(16).allSatisfy(Self.isAssignment) {
            self = lines.prefix(16).allSatisfy(Self.isVariable) ? .env : .ini
        } else if Self.isOfYAML(first) {
            self = .yaml
        } else {
            return nil
        }
    }

    /// Whether a line is only `[name]` or `[[name]]`.
    private static func isSection(_ line: String) -> Bool {
        let name = line.dropFirst(line.hasPrefix("[[") ? 2 : 1)
        return line.hasPrefix("[") && line.hasSuffix("]") && name.first?.isLetter ?? false
            && name.allSatisfy { $0.isLetter || $0.isNumber || " ._-:/\"]".contains($0) }
    }

    /// Whether a line assigns to a name, without the semicolon of OpenStep.
    private static func isAssignment(_ line: String) -> Bool {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
        guard parts.count == 2, !parts[1].hasSuffix(";") else { return false }
        let name = parts[0].hasPrefix("export ") ? parts[0].dropFirst(7) : parts[0][...]
        return !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || "_.-[] ".contains($0) }
    }

    /// Whether a line assigns to the name of a shell variable, without spaces around the sign.
    private static func isVariable(_ line: String) -> Bool {
        let text = line.hasPrefix("export ") ? line.dropFirst(7) : line[...]
        let name = text.prefix { $0 != "=" }
        return !(name.first?.isNumber ?? true)
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }

    private static func isOfYAML(_ line: String) -> Bool {
        if line.trimmed == "---" || ["- ", "%YAML"].contains(where: { line.hasPrefix($0) }) { return true }
        guard let colon = line.firstIndex(of: ":") else { return false }
        let (key, rest) = (line[..<colon], line[line.index(after: colon)...])
        return (rest.isEmpty || rest.hasPrefix(" ")) && !key.isEmpty && !key.contains { "{}=;<>".contains($0) }
    }
}

extension StringProtocol {
    /// The text without white space around it.
    fileprivate var trimmed: String {
        guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace })
        else { return "" }
        return String(self[first...last])
    }
}
