package import PropertyLists

/// The names that `--format` knows, over all verbs. Which of them a verb takes stands in its row.
package enum FormatName: String, Hashable, Sendable, CaseIterable {
    case classic, xml, binary, json, openstep, gnustep, raw, typed, json5
    case text, lines, commands
    case table, markdown, man
    case jsonSchema = "json-schema"
}

extension FormatName {
    /// The other names by which a format is known.
    package var synonyms: [String] {
        switch self {
        case .xml: ["xml1"]
        case .binary: ["binary1"]
        default: []
        }
    }

    /// The format that a word names, in whatever case.
    package init?(word: String) {
        let word = word.lowercased()
        guard let found = Self.allCases.first(where: { $0.rawValue == word || $0.synonyms.contains(word) }) else {
            return nil
        }
        self = found
    }

    /// What `read`, `export`, `explain`, `find` and `history` take.
    package static let ofValues: [FormatName] = [.classic, .xml, .binary, .json, .openstep, .gnustep, .raw, .typed]

    /// What a file can be written in.
    package static let ofFiles: [FormatName] = [.xml, .binary, .json, .openstep, .gnustep]

    /// What a file can be read as.
    package static let ofReadFiles: [FormatName] = ofFiles + [.json5]

    /// What values are read from.
    package static let ofInput: [FormatName] = ofReadFiles + [.typed]

    /// The format of files that goes by this name. JSON5 is read as a kind of JSON, and written as JSON.
    package var ofPropertyList: PropertyList.Format? {
        self == .json5 ? .json : PropertyList.Format(rawValue: rawValue)
    }
}
