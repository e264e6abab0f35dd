package import PropertyLists

/// All names that `--format` accepts. Each verb declares the ones that it supports. The name of a property list format
/// is the raw value of its `PropertyList.Format`.
package enum FormatName: String, Hashable, Sendable, CaseIterable {
    case classic, xml, binary, json, openstep, gnustep, raw, typed, json5
    case jsonPlain = "json-plain"
    case text, lines, commands
    case table, markdown, man
    case jsonSchema = "json-schema"
    /// A domain with a file for each key.
    case folder
}

extension FormatName {
    /// The name of a property list format.
    init(_ format: PropertyList.Format) {
        switch format {
        case .xml: self = .xml
        case .binary: self = .binary
        case .json: self = .json
        case .openstep: self = .openstep
        case .gnustep: self = .gnustep
        }
    }

    /// The alternative names of a format.
    package var synonyms: [String] {
        switch self {
        case .xml: ["xml1"]
        case .binary: ["binary1"]
        default: []
        }
    }

    /// Returns the format that a word names, ignoring case.
    package init?(word: String) {
        let word = word.lowercased()
        guard let found = Self.allCases.first(where: { $0.rawValue == word || $0.synonyms.contains(word) }) else {
            return nil
        }
        self = found
    }

    /// The formats of `read`, `export`, `explain`, `find` and `history`.
    package static let ofValues =
        [.json, .jsonPlain] + ofFiles.filter { $0 != .json } + [.raw, .lines, .classic, .typed]

    /// The formats in which a file can be written.
    package static let ofFiles = PropertyList.Format.allCases.map { FormatName($0) }

    /// The formats in which a file can be read.
    package static let readable: [FormatName] = ofFiles + [.json5]

    /// The formats in which values can be read.
    package static let importable: [FormatName] = readable + [.typed]

    /// The property list format. JSON5 is a variant of JSON for reading, and is written as JSON.
    package var ofPropertyList: PropertyList.Format? {
        self == .json5 || self == .jsonPlain ? .json : PropertyList.Format(rawValue: rawValue)
    }
}
