package import PropertyLists
internal import SettingsSchema

/// Variables of an environment, as text: lines `KEY=VALUE`, or such entries that end in a NUL, as `env -0` prints them.
///
///     # A comment. White space around a key and a value is ignored.
///     export EDITOR=vi
///     GREETING='it'\''s $5'    # Nothing in a value is expanded.
///     LINES="a
///     \"b\""
///
/// Quotes are those of a POSIX shell, and quote a whole value. In double quotes, a backslash is removed before `"`,
/// `\`, `$`, a grave accent and the end of a line. The last value of a key is used.
package enum EnvironmentText {
    /// Returns the variables as texts.
    package static func settings(in bytes: [UInt8]) throws(ImportedText.Failure) -> ImportedText {
        var result = ImportedText(of: bytes)
        if bytes.contains(0) {
            for entry in bytes.split(separator: 0) {
                guard let sign = entry.firstIndex(of: UInt8(ascii: "=")), sign > entry.startIndex else {
                    throw ImportedText.Failure(.expected("KEY=VALUE"), at: entry.startIndex)
                }
                let value = try entry[(sign + 1)...].text()
                result.set(.string(value), for: try entry[..<sign].text(), at: entry.startIndex)
            }
        } else {
            var reader = AssignmentReader(rest: bytes.withoutMark)
            while let assignment = try reader.next() {
                result.set(.string(assignment.value), for: assignment.name, at: assignment.offset)
            }
        }
        result.finish()
        return result
    }
}

extension EnvironmentText {
    /// Returns lines that a POSIX shell and `settings(in:)` read, sorted by key.
    package static func text(of values: PropertyList.Dictionary) throws(CommandFailure) -> String {
        var (text, failures) = ("", [String]())
        for entry in values.sortedEntries {
            let key = entry.key.onOneLine
            if !entry.key.isVariableName {
                failures.append("\(key): env cannot hold a key that is no name of a shell variable")
            } else if entry.value.kind == .data || entry.value.kind == .null {
                failures.append("\(key): env cannot hold a value of type \(entry.value.kind.rawValue)")
            } else if let value = try? RawText.text(of: entry.value), !value.utf8.contains(0) {
                text += "\(entry.key)=\(ShellQuoting.word(value))\n"
            } else {
                let what =
                    entry.value.kind == .string
                    ? "the character U+0000" : "a value of type \(entry.value.kind.rawValue)"
                failures.append("\(key): env cannot hold \(what)")
            }
        }
        guard failures.isEmpty else { throw CommandFailure(.invalidValue, failures, classic: failures) }
        return text
    }
}

/// Reads assignments on lines.
private struct AssignmentReader {
    /// The text that is not read yet.
    var rest: TextPart

    /// Reads the next assignment, or returns nil at the end.
    mutating func next() throws(ImportedText.Failure) -> (name: String, value: String, offset: Int)? {
        while let first = rest.first {
            if first == UInt8(ascii: "#") {
                rest = rest[line.endIndex...]
            } else if first.isBlank || first == UInt8(ascii: "\n") || first == UInt8(ascii: "\r") {
                rest.removeFirst()
            } else {
                break
            }
        }
        guard !rest.isEmpty else { return nil }
        let offset = rest.startIndex
        let name = try takeName()
        return (name, try takeValue(), offset)
    }

    /// The rest of the line.
    private var line: TextPart { rest.prefix { $0 != UInt8(ascii: "\n") } }

    /// Takes a key and the equals sign.
    private mutating func takeName() throws(ImportedText.Failure) -> String {
        let expected = ImportedText.Failure(.expected("KEY=VALUE"), at: rest.startIndex)
        guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { throw expected }
        var name = line[..<sign].trimmed
        let keyword = Array("export".utf8)
        if name.starts(with: keyword), name.dropFirst(keyword.count).first?.isBlank ?? false {
            name = name.dropFirst(keyword.count).trimmed
        }
        guard !name.isEmpty, !name.contains(where: { $0.isBlank || $0.isQuote }) else { throw expected }
        rest = rest[(sign + 1)...]
        return try name.text()
    }

    private mutating func takeValue() throws(ImportedText.Failure) -> String {
        let line = line
        let start = line.firstIndex { !$0.isBlank } ?? line.endIndex
        guard start < line.endIndex, line[start].isQuote else {
            let end = line.indices.first { index in
                line[index] == UInt8(ascii: "#") && index > line.startIndex && line[index - 1].isBlank
            }
            rest = rest[line.endIndex...]
            return try line[..<(end ?? line.endIndex)].withoutReturn.trimmed.text()
        }
        rest = rest[start...]
        return try takeQuoted().text(at: start)
    }

    /// Takes the quoted parts of a value, and what follows it on its line.
    private mutating func takeQuoted() throws(ImportedText.Failure) -> [UInt8] {
        var value: [UInt8] = []
        while let first = rest.first {
            if first == UInt8(ascii: "'") {
                value += try takeUntil(first)
            } else if first == UInt8(ascii: "\"") {
                value += try takeDoubleQuoted()
            } else if first == UInt8(ascii: "\\"), let escaped = rest.dropFirst().first, escaped > 0x20 {
                value.append(escaped)
                rest.removeFirst(2)
            } else {
                break
            }
        }
        let end = line.withoutReturn.drop(while: \.isBlank)
        guard end.isEmpty || end.first == UInt8(ascii: "#") && end.startIndex > rest.startIndex else {
            throw ImportedText.Failure(.trailingContent, at: rest.startIndex)
        }
        rest = rest[line.endIndex...]
        return value
    }

    /// Takes a string up to the quote that begins it.
    private mutating func takeUntil(_ quote: UInt8) throws(ImportedText.Failure) -> TextPart {
        let text = rest.dropFirst().prefix { $0 != quote }
        guard text.endIndex < rest.endIndex else {
            throw ImportedText.Failure(.unterminatedString, at: rest.startIndex)
        }
        rest = rest[(text.endIndex + 1)...]
        return text
    }

    private mutating func takeDoubleQuoted() throws(ImportedText.Failure) -> [UInt8] {
        let start = rest.startIndex
        var text: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return text }
            guard byte == UInt8(ascii: "\\"), let next = rest.first else {
                text.append(byte)
                continue
            }
            switch next {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"):
                text.append(next)
                rest.removeFirst()
            case UInt8(ascii: "\n"): rest.removeFirst()
            default: text.append(byte)
            }
        }
        throw ImportedText.Failure(.unterminatedString, at: start)
    }
}
