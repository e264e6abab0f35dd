package import PropertyLists
internal import SettingsSchema

/// The settings in a text of another program, and where each of them is in the text.
///
/// The text is UTF-8, with a byte order mark or without one.
package struct ImportedText: Sendable {
    package private(set) var values: PropertyList.Dictionary = [:]
    private let bytes: [UInt8]
    /// The offset of the line that sets an entry, or of the first line of a section.
    private var offsets: [EntryPath: Int] = [:]
    /// The section that is being read, and its entries.
    private var section: (path: EntryPath, entries: PropertyList.Dictionary) = ([], [:])

    /// Creates settings without a value.
    init(of bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the settings, or returns nil for a format of property lists.
    package init?(_ bytes: [UInt8], as format: FormatName?) throws(ImportedText.Failure) {
        switch format {
        case .dconf: self = try DconfText.settings(in: bytes)
        case .env: self = try EnvironmentText.settings(in: bytes)
        case .ini: self = try INIText.settings(in: bytes)
        default: return nil
        }
    }
}

extension ImportedText {
    /// A problem in the text, and where it is.
    package struct Failure: Error, Hashable {
        package let problem: DecodingFailure.Problem
        /// The offset of the byte at which the problem was found.
        package let offset: Int

        init(_ problem: DecodingFailure.Problem, at offset: Int) { (self.problem, self.offset) = (problem, offset) }
    }

    /// Returns the lines of entries, or of those that contain them.
    package func lines(of paths: [EntryPath]) -> [Int?] {
        let places = paths.map(offset)
        let locations = TextLocation.locations(of: places.compactMap(\.self), inText: bytes)
        return places.map { $0.flatMap { locations[$0]?.line } }
    }

    private func offset(of path: EntryPath) -> Int? {
        for length in stride(from: path.components.count, to: 0, by: -1) {
            if let offset = offsets[EntryPath(Array(path.components.prefix(length)))] { return offset }
        }
        return nil
    }

    /// Returns the settings with entries under other keys. Their locations stay the same.
    ///
    /// - Parameter paths: The new paths of keys. Others are left out.
    func moved(to paths: [(key: String, path: EntryPath)]) throws(EntryPath.Failure) -> ImportedText {
        var result = ImportedText(of: bytes)
        for (key, path) in paths {
            guard let value = values[key] else { continue }
            try result.values.put(value, at: path)
            result.offsets[path] = offsets[[EntryPath.Component(key)]]
        }
        return result
    }
}

// MARK: Reading

extension ImportedText {
    /// Begins a section, or continues it.
    mutating func begin(_ path: EntryPath, at offset: Int) throws(ImportedText.Failure) {
        finish()
        var entries = values
        for length in 1..<(path.components.count + 1) {
            let outer = EntryPath(Array(path.components.prefix(length)))
            let key = outer.components[length - 1].text
            guard let present = entries[key] else {
                for length in length..<(path.components.count + 1) {
                    offsets[EntryPath(Array(path.components.prefix(length)))] = offset
                }
                section = (path, [:])
                return
            }
            guard case .dictionary(let inner) = present else { throw duplicate(outer, at: offset) }
            entries = inner
        }
        section = (path, entries)
    }

    /// Adds an entry to the section. Throws if the section has it.
    mutating func add(_ value: PropertyList, for key: String, at offset: Int) throws(ImportedText.Failure) {
        let path = EntryPath(section.path.components + [EntryPath.Component(key)])
        guard section.entries[key] == nil else { throw duplicate(path, at: offset) }
        set(value, for: key, at: offset)
    }

    /// Adds an entry to the section, or replaces it.
    mutating func set(_ value: PropertyList, for key: String, at offset: Int) {
        section.entries[key] = value
        offsets[EntryPath(section.path.components + [EntryPath.Component(key)])] = offset
    }

    /// Ends the last section.
    mutating func finish() {
        if section.path.components.isEmpty {
            values = section.entries
        } else {
            // `begin` has checked that the path leads only into dictionaries.
            try? values.put(.dictionary(section.entries), at: section.path)
        }
    }

    private func duplicate(_ path: EntryPath, at offset: Int) -> ImportedText.Failure {
        let line = lines(of: [path])[0] ?? 1
        return ImportedText.Failure(.duplicateKeyInLines(path.components.last?.text ?? "", first: line), at: offset)
    }
}

/// A part of a text. Its indices are offsets in the text.
typealias TextPart = ArraySlice<UInt8>

extension [UInt8] {
    /// The text after its byte order mark, if it has one.
    var withoutMark: TextPart { starts(with: [0xEF, 0xBB, 0xBF]) ? self[3...] : self[...] }

    /// The lines of the text, without line feeds and the returns before them.
    var textLines: [TextPart] {
        withoutMark.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(\.withoutReturn)
    }
}

extension TextPart {
    /// The line without the return at its end.
    var withoutReturn: TextPart { last == UInt8(ascii: "\r") ? dropLast() : self }

    /// The part without spaces and tabs around it.
    var trimmed: TextPart {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return prefix(0)
        }
        return self[first...last]
    }

    /// Returns the text of the part. Throws if it is not valid, or has a NUL, which keys and most formats cannot hold.
    func text() throws(ImportedText.Failure) -> String {
        if let offset = firstIndex(of: 0) { throw ImportedText.Failure(.invalidCharacter(0), at: offset) }
        return try Array(self).text(at: startIndex)
    }
}

extension [UInt8] {
    /// Returns the text of the bytes.
    ///
    /// - Parameter offset: Where the bytes are in the input.
    func text(at offset: Int) throws(ImportedText.Failure) -> String {
        guard let text = String(validating: self, as: UTF8.self) else {
            throw ImportedText.Failure(.invalidText(encoding: "UTF-8"), at: offset)
        }
        return text
    }
}

extension UInt8 {
    /// Whether the byte is a space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// Whether the byte is a quote.
    var isQuote: Bool { self == UInt8(ascii: "'") || self == UInt8(ascii: "\"") }
}
