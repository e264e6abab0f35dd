internal import SettingsSchema

/// The location of a script's schema.
package enum ScriptReference: Hashable, Sendable {
    /// A file, relative to the script's own folder: `# prefs-schema: FILE`.
    case file(String)
    /// The schema itself, between `#prefs{` and `#}`. The rest of the script is replaced by blanks, so that the
    /// locations of errors match the script.
    case inline(String)
    /// The script, whose schema has one line per option after a line `#prefs`.
    case lines(String)

    package enum Failure: Error, Hashable, Sendable {
        /// No line names a schema.
        case missing
        case emptyName(line: Int)
        /// The schema that begins in this line has no end.
        case unterminated(line: Int)
        /// A line within the schema is not a comment, so the shell would execute it.
        case notAComment(line: Int)
    }

    /// The number of bytes of a script that are searched.
    package static let mostBytes = 1 << 20

    /// Finds the first schema reference in a script.
    package init(script: String) throws(Failure) {
        let lines = Self.lines(of: script)
        if let reference = try Self.reference(in: Self.foreignHead(lines)) {
            self = reference
        } else if let reference = try Self.reference(in: lines) {
            self = reference
        } else {
            throw .missing
        }
    }

    private static func lines(of script: String) -> [String] {
        script.utf8.prefix(mostBytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
    }

    /// The number of bytes that `isScript` needs.
    package static let bytesOfHead = 1 << 16

    /// Returns whether a file is a script, and neither a schema nor the settings of a domain. No format of these begins
    /// like a comment of a shell, and a comment in them does not begin a declaration.
    package static func isScript(beginning: [UInt8]) -> Bool {
        if beginning.first == UInt8(ascii: "#") { return true }
        let head = foreignHead(lines(of: String(decoding: beginning.prefix(bytesOfHead), as: UTF8.self)))
        do throws(Failure) {
            return try reference(in: head) != nil
        } catch {
            // A declaration with an error, which is reported when it is read.
            return true
        }
    }

    /// Returns the first schema reference in comments; nil if there is none.
    private static func reference(in lines: [String]) throws(Failure) -> ScriptReference? {
        for (index, line) in lines.enumerated() {
            let comment = line.drop { $0 == " " || $0 == "\t" }
            guard comment.hasPrefix("#") else { continue }
            if comment.hasPrefix("#prefs{") { return .inline(try inline(lines, from: index)) }
            if DeclarationLines.isHead(comment) { return .lines(lines.joined(separator: "\n")) }
            let text = comment.drop { $0 == "#" || $0 == " " || $0 == "\t" }
            guard text.hasPrefix("prefs-schema:") else { continue }
            let name = text.dropFirst("prefs-schema:".count).trimmed
            guard !name.isEmpty else { throw .emptyName(line: index + 1) }
            return .file(name)
        }
        return nil
    }

    /// What begins a comment in languages other than those of shells.
    private static let foreignMarks = ["//", "--", ";", "\""]

    /// Returns the comments before the first line of code, if the language of the script marks them by something other
    /// than `#`. They are returned as comments of a shell, in which each word has its line and column.
    private static func foreignHead(_ lines: [String]) -> [String] {
        guard let first = lines.first, ScriptOutput(firstLine: first) == nil else { return [] }
        var (head, mark): ([String], String?) = ([], nil)
        for (index, line) in lines.enumerated() {
            let comment = line.drop { $0 == " " || $0 == "\t" }
            if comment.isEmpty || comment == "\r" || index == 0 && comment.hasPrefix("#!") {
                head.append("")
                continue
            }
            mark = mark ?? foreignMarks.first(where: comment.hasPrefix)
            guard let mark, comment.hasPrefix(mark) else { break }
            let text = comment.dropFirst(mark.count)
            let number = line.unicodeScalars.count - text.unicodeScalars.count
            head.append(
                text.hasPrefix("#")
                    ? String(repeating: " ", count: number) + text
                    : String(repeating: " ", count: number - 1) + "#" + text)
        }
        return head
    }

    private static func inline(_ lines: [String], from start: Int) throws(Failure) -> String {
        var result = lines[..<start].map { _ in "" }
        guard let mark = lines[start].firstRange(of: "#prefs{") else { throw .missing }
        // The text after the mark, at its original column.
        result.append(blank(lines[start][..<mark.upperBound]) + lines[start][mark.upperBound...])
        for (index, line) in lines.enumerated().dropFirst(start + 1) {
            let indent = line.prefix { $0 == " " || $0 == "\t" }
            let body = line.dropFirst(indent.count)
            if body.hasPrefix("#}") { return result.joined(separator: "\n") + "\n" }
            guard body.isEmpty || body.hasPrefix("#") || body == "\r" else { throw .notAComment(line: index + 1) }
            result.append(indent + (body.isEmpty ? "" : " ") + body.dropFirst())
        }
        throw .unterminated(line: start + 1)
    }

    private static func blank(_ text: Substring) -> String { String(repeating: " ", count: text.unicodeScalars.count) }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without surrounding white space.
    var trimmed: String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}

extension ScriptReference.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing: "the script has no declaration; add a line #prefs, without a space, or # prefs-schema: FILE"
        case .emptyName(let line): "\(line): missing file name after prefs-schema:"
        case .unterminated(let line): "\(line): missing #} at the end of the schema"
        case .notAComment(let line): "\(line): a line of the schema must begin with #"
        }
    }
}
