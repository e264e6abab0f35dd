internal import PropertyLists

/// The text of an INI file, whose sections are dictionaries.
///
///     ; A comment, as on a line that begins with #.
///     theme = dark
///     [window]
///     width: 80
///
/// All values are texts, without the white space around them. They may contain comment characters and quotes.
package enum INIText {
    /// Returns the settings. The keys before the first section are those of the root.
    package static func settings(in bytes: [UInt8]) throws(ImportedText.Failure) -> ImportedText {
        var result = ImportedText(of: bytes)
        /// The number of blanks before the last key of the section.
        var indent: Int?
        for line in bytes.textLines {
            let content = line.trimmed
            guard let first = content.first, first != UInt8(ascii: ";"), first != UInt8(ascii: "#") else { continue }
            let start = content.startIndex
            // Some programs take such a line for a part of the value before it, and others for a key.
            if let indent, start - line.startIndex > indent {
                throw ImportedText.Failure(
                    .expected("a line that is not indented more than the key before it"), at: start)
            }
            if first == UInt8(ascii: "[") {
                guard content.count > 2, content.last == UInt8(ascii: "]") else {
                    throw ImportedText.Failure(.expected("[SECTION]"), at: start)
                }
                let name = try content.dropFirst().dropLast().text()
                try result.begin([EntryPath.Component(name)], at: start)
                indent = nil
                continue
            }
            guard let sign = content.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }),
                sign > start
            else { throw ImportedText.Failure(.expected("KEY=VALUE or [SECTION]"), at: start) }
            let value = try content[(sign + 1)...].trimmed.text()
            try result.add(.string(value), for: content[..<sign].trimmed.text(), at: start)
            indent = start - line.startIndex
        }
        result.finish()
        return result
    }
}
